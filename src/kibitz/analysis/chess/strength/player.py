"""Estimate the rating of one player from the moves in all games, and from groups of the moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import chess.pgn
import numpy as np
from numpy.typing import NDArray

from kibitz import manifest, records
from kibitz.analysis.chess.player_sides import PlayerSides, own_games
from kibitz.analysis.chess.ratings import ratings_of
from kibitz.analysis.chess.strength.estimate import WHOLE, RatingEstimate, estimate_rating, fitted_for
from kibitz.analysis.chess.strength.likelihoods import MoveLikelihoods, side_likelihoods
from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.filters import speed_of
from kibitz.games.chess.material import PHASES
from kibitz.games.chess.sides import scale_of
from kibitz.personal.names import Player
from kibitz.play.session import Session
from kibitz.runs import ONNX

NETWORK = "human"
"""The name of the bundled network that evaluates the moves."""
SHORTEST = 29
"""The smallest time per player, in seconds, of a game that counts."""
ENOUGH = 5
"""The smallest number of games for an estimate. With fewer games, one good or bad day would decide the estimate."""
SCALE_NAMES = {"lichess": "Lichess", "chess.com": "Chess.com", "fics": "FICS", "fide": "FIDE", "": "an unknown scale"}
"""The names of rating scales as people write them, by their keys in `kibitz.games.chess.sides.SCALES`."""
FITTED_SCALES = ("lichess", "chess.com")
"""The rating scales that have separate parameters of the estimate."""
TIME_LEFT = {"under_30_seconds": (0, 30), "30_seconds_to_2_minutes": (30, 120), "over_2_minutes": (120, float("inf"))}
"""The groups of moves by the seconds on the player's clock before the move: the key of each group, and its lower and
upper limit.
"""


def rating_network() -> Session:
    """Return the bundled network with which ratings are estimated, loaded.

    Raises KibitzError if the parameters of the estimate were not fitted to this version of the network.
    """
    session = Session(NETWORK)
    if not is_fitted_for(session):
        raise KibitzError(
            "kibitz has no measurements of this version of the network 'human', so it cannot estimate ratings. Install"
            " a released version of kibitz."
        )
    return session


def is_fitted_for(session: Session) -> bool:
    """Return whether the parameters of the rating estimate were fitted to this network."""
    path = session.run.path / ONNX
    return path.is_file() and manifest.sha256(path) == fitted_for()


@dataclass(frozen=True)
class PlayerGame:
    """A player's moves in one game, and the facts about the game that the rating estimate needs.

    moves: the likelihoods of the player's moves for several ratings.
    side: "white" or "black".
    scale: the rating scale, one of `kibitz.games.chess.sides.SCALES`.
    speed: the speed class, such as "blitz"; "" if it is unknown.
    month: the month of the game, such as "2026-11"; "" if it is unknown.
    rating: the player's rating in the record; 0 if it is unknown.
    too_fast: whether the time control gives each player less than 29 seconds for the game.
    """

    moves: MoveLikelihoods
    side: str
    scale: str
    speed: str
    month: str
    rating: int
    too_fast: bool = False


def player_game(game: chess.pgn.Game, side: str, moves: MoveLikelihoods) -> PlayerGame:
    """Return the likelihoods of one player's moves in a game, together with the facts that the rating estimate needs.

    side: the player's side, "white" or "black". moves: the likelihoods of this side's moves.
    """
    headers = game.headers
    days = (headers.get(name, "") for name in ("UTCDate", "Date"))
    months = (day[:7].replace(".", "-") for day in days if day[:4].isdecimal() and day[5:7].isdecimal())
    return PlayerGame(
        moves, side, scale_of(headers.get("Site", "")),
        speed_of(headers.get("TimeControl", ""), headers.get("Event", "")) or "", next(months, ""),
        ratings_of(headers)[side == "black"], _seconds(headers.get("TimeControl", "")) < SHORTEST,
    )  # fmt: skip


def _seconds(control: str) -> float:
    """Parse a time control such as "180+2", and return the seconds for a game of 40 moves; infinite if it is
    unknown.
    """
    base, _, bonus = control.partition("+")
    if not base.isdecimal() or not (bonus or "0").isdecimal():
        return float("inf")
    return int(base) + 40 * int(bonus or 0)


@dataclass
class PlayerStrength:
    """One player's games, and the rating that is estimated from the moves. Only games on the most frequent rating scale
    are used for the estimate.

    name: the player's name as it is displayed.
    games: the games that were added.
    too_fast: the number of games with less than 29 seconds per player, which are not in `games`.
    """

    name: str
    games: list[PlayerGame] = field(default_factory=list)
    too_fast: int = 0

    def add(self, game: PlayerGame) -> None:
        """Add a game of the player. The method ignores a game without a move of the player. A game with less than 29
        seconds per player only raises the number `too_fast`, and its moves are not used.
        """
        if not len(game.moves):
            return
        if game.too_fast:
            self.too_fast += 1
        else:
            self.games.append(game)

    def add_side(self, game: chess.pgn.Game, side: str, session: Session) -> None:
        """Compute the likelihoods of the moves of one side of a game, and add the game.

        side: the player's side, "white" or "black". session: a network for which `is_fitted_for` returns True.
        """
        self.add(player_game(game, side, side_likelihoods(game, side == "white", session)))

    @property
    def scale(self) -> str:
        """The most frequent rating scale of the games, such as "lichess"; "" without games."""
        return Counter(game.scale for game in self.games).most_common(1)[0][0] if self.games else ""

    @property
    def counted(self) -> list[PlayerGame]:
        """The games on the most frequent rating scale. Games on other scales don't count, because ratings of different
        scales can't be averaged.
        """
        scale = self.scale
        return [game for game in self.games if game.scale == scale]

    def rating(self) -> RatingEstimate | None:
        """Return the rating that is estimated from the moves of all games in `counted`. Return None if `counted` has
        fewer than five games.
        """
        return self._estimate([game.moves for game in self.counted])

    def recorded(self) -> int | None:
        """Return the median of the player's ratings in the game records; None if no record has a rating."""
        known = [game.rating for game in self.counted if game.rating]
        return int(np.median(known)) if known else None

    def parts(self) -> dict[str, dict[str, RatingEstimate]]:
        """Return rating estimates for groups of the moves: {division: {group: estimate}}. For example, the division
        "by_phase" has the group "endgame".

        Groups with fewer than five games are omitted, and so are divisions with fewer than two groups.
        """
        games = self.counted
        found: dict[str, dict[str, RatingEstimate]] = {
            "by_phase": dict(self._by_move(PHASES, lambda i, moves: moves.phase == i, of_phases=True)),
            "by_side": dict(self._by_game(games, lambda game: game.side)),
            "by_speed": dict(self._by_game(games, lambda game: game.speed)),
            "by_time_left": dict(self._by_move(tuple(TIME_LEFT), _with_time_left)),
            "by_month": dict(sorted(self._by_game(games, lambda game: game.month))),
        }
        return {name: parts for name, parts in found.items() if len(parts) > 1}

    def _by_game(
        self, games: Sequence[PlayerGame], part_of: Callable[[PlayerGame], str]
    ) -> Iterator[tuple[str, RatingEstimate]]:
        for part in sorted({part_of(game) for game in games} - {""}):
            estimate = self._estimate([game.moves for game in games if part_of(game) == part])
            if estimate is not None:
                yield part, estimate

    def _by_move(
        self,
        parts: Sequence[str],
        mask: Callable[[int, MoveLikelihoods], NDArray[np.bool_]],
        of_phases: bool = False,
    ) -> Iterator[tuple[str, RatingEstimate]]:
        for i, part in enumerate(parts):
            some = [game.moves.where(mask(i, game.moves)) for game in self.counted]
            estimate = self._estimate(some, part if of_phases else WHOLE)
            if estimate is not None:
                yield part, estimate

    def _estimate(self, games: Sequence[MoveLikelihoods], part: str = WHOLE) -> RatingEstimate | None:
        some = [moves for moves in games if len(moves)]
        return estimate_rating(some, self.scale, part) if len(some) >= ENOUGH else None

    def as_json(self) -> dict[str, Any]:
        """Return the estimates as a dict for JSON. The keys do not change from version to version."""
        whole, skipped = self.rating(), len(self.games) - len(self.counted)
        return {
            "name": self.name, "games": len(self.counted), "other_scales": skipped, "scale": self.scale or None,
            "calibrated": self.scale in FITTED_SCALES, "rating": None if whole is None else whole.as_json(),
            "recorded_rating": self.recorded(),
            **{name: {part: one.as_json() for part, one in parts.items()} for name, parts in self.parts().items()},
        }  # fmt: skip


def chess_files(path: str) -> list[str]:
    """Return the PGN files at a path: the file itself, or all files in a folder. Raises UsageError if the path has only
    games of Go, and KibitzError if it has no game file.
    """
    games = records.games_by_ending(records.find([path], tuple(records.ENDINGS)))
    if "chess" not in games:
        raise UsageError(f"ratings are estimated for chess only (got {records.printable(path)}). Give a PGN file.")
    return records.find([path], (".pgn",))


def add_games(
    strength: PlayerStrength, files: Sequence[str], players: Sequence[Player], on_problem: Callable[[str], None]
) -> Iterator[int]:
    """Add a player's games from the given PGN files. After each game, yield the number of games read so far.

    strength: the player's games, to which the function adds games.
    files: the paths of the files.
    players: the names of this one player, as the files spell them.
    on_problem: a function that is called with each message about damaged or skipped games.

    Raises KibitzError for the same reasons as `own_games` and `rating_network`.
    """
    session = rating_network()
    for number, (record, side) in enumerate(own_games(files, PlayerSides(players), on_problem), 1):
        strength.add_side(record.game, side, session)
        yield number


def _with_time_left(i: int, moves: MoveLikelihoods) -> NDArray[np.bool_]:
    least, most = list(TIME_LEFT.values())[i]
    return (moves.seconds >= least) & (moves.seconds < most)
