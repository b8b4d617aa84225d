"""Report what one player's moves lost: by phase, piece, opening, time left, color and result.

If the network has rating inputs, every loss is compared with the loss of players of the same rating in the same
positions. The confidence intervals are computed by resampling the games.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import chess
import chess.pgn
import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.checkers import CheckedBy
from kibitz.analysis.chess.clocks import times_left
from kibitz.analysis.chess.moves import PIECES, SIDES, AnalysedGame, Move
from kibitz.analysis.chess.ratings import ratings_of
from kibitz.analysis.chess.reasons import Reason
from kibitz.analysis.chess.strength.player import PlayerStrength
from kibitz.analysis.glyphs import SIGNS
from kibitz.analysis.parts import A_GAME, MAX_WORST, Measure, Part, Parts, count_results, figure_of, mean_over_games
from kibitz.explorer.openings import Opening, opening_of
from kibitz.games.chess.filters import RESULTS
from kibitz.games.chess.material import PHASES
from kibitz.stats import Estimate
from kibitz.text import rounded

MOST_OPENINGS = 12
"""The largest number of openings in the report. If there are more, the openings with the most games are listed."""
TIMES = {
    "under_10_seconds": "under 10 s",
    "10_to_30_seconds": "10 to 30 s",
    "30_to_60_seconds": "30 s to 1 min",
    "1_to_3_minutes": "1 to 3 min",
    "3_to_10_minutes": "3 to 10 min",
    "over_10_minutes": "over 10 min",
}
"""The groups of moves by the time on the player's clock before the move: the key of each group, and its label for
people.
"""
_BOUNDS = (10, 30, 60, 180, 600)
"""Limits of TIMES in seconds."""
LABELS = {
    "phase": {name: f"the {name}" for name in PHASES},
    "piece": {name: f"{name} moves" for name in PIECES},
    "time_left": {key: f"with {words} left" for key, words in TIMES.items()},
    "side": {"white": "as White", "black": "as Black"},
    "result": {"won": "games won", "drawn": "games drawn", "lost": "games lost"},
}
"""The groups of a player's moves: for each division, such as "phase", the key and the label of each group. The division
by opening is not included.
"""
_WITH_SCORE = ("side",)
"""Divisions of games whose parts have a score. A score by result would be meaningless."""


@dataclass(frozen=True)
class Mistake:
    """A move by which the player of a report lost much win probability.

    file: the path of the file that contains the game.
    game: the game's number in the file, from 1.
    move: the move and its evaluation.
    fen: the position before the move.
    before, after: the player's win probability, 0 to 1, after the best move and after the played move.
    opponent, opponent_rating: the opponent's name and rating; 0 if the rating is unknown.
    date: the header `Date`; "?" without it.
    seconds: the time on the player's clock before the move, in seconds; None if the record has no clocks.
    """

    file: str
    game: int
    move: Move
    fen: str
    before: float
    after: float
    opponent: str
    opponent_rating: int
    date: str
    seconds: float | None

    @property
    def loss(self) -> float:
        """The player's loss of win probability, 0 to 1."""
        return self.move.judged.loss if self.move.judged else 0.0

    @property
    def reason(self) -> Reason | None:
        """The reason why the move was a mistake; None if the searches prove no reason."""
        return self.move.reason

    def as_json(self) -> dict[str, Any]:
        move, judged = self.move, self.move.judged
        assert judged is not None
        return {
            "file": self.file, "game": self.game, "ply": move.ply,
            "move_number": move.move_number, "side": move.side, "san": move.san,
            "uci": move.uci, "mark": move.sign, "loss": rounded(judged.loss, 4),
            "usual_loss": None if judged.usual is None else rounded(judged.usual, 4), "before": round(self.before, 4),
            "after": round(self.after, 4), "best": judged.best, "line": list(judged.line), "phase": judged.phase,
            "piece": judged.piece, "fen": self.fen, "opponent": self.opponent,
            "opponent_rating": self.opponent_rating or None, "date": self.date, "time_left": self.seconds,
            "reason": self.reason and self.reason.as_json(),
        }  # fmt: skip


@dataclass
class PlayerReport:
    """A report on one player's games of chess: how much the moves lost, by phase, opening and so on, and the worst
    mistakes. The method `add` adds a game.

    name: the player's name as it is displayed.
    swing: the smallest loss of win probability that counts as a mistake, 0 to 1.
    games: the number of games that were added.
    """

    name: str
    swing: float
    games: int = 0
    worst: list[Mistake] = field(default_factory=list)
    """The player's moves with the largest losses, the largest loss first."""
    strength: PlayerStrength | None = None
    """The rating that is estimated from the moves; None if the network cannot estimate it."""
    checked_by: CheckedBy | None = None
    """The engine that evaluated the moves; None if the network evaluated them."""
    _moves: list[tuple[float, ...]] = field(default_factory=list)
    _scores: list[float] = field(default_factory=list)
    _sides: list[int] = field(default_factory=list)
    _ratings: list[int] = field(default_factory=list)
    _openings: list[Opening | None] = field(default_factory=list)
    _accuracies: list[float] = field(default_factory=list)

    def add(self, game: AnalysedGame, side: str, file: str = "") -> None:
        """Add an analyzed game to the report. side: the player's side, "white" or "black". file: the path of the game's
        file.
        """
        headers, number = game.record.game.headers, SIDES.index(side)
        result = RESULTS.get(headers.get("Result", "").strip())
        own = math.nan if result is None else (1 + (-result if number else result)) / 2
        self._scores.append(own)
        self._sides.append(number)
        self._ratings.append(ratings_of(headers)[number])
        self._openings.append(opening_of(_boards(game.record.game)))
        accuracy = game.summary.sides[side].accuracy if game.summary else None
        self._accuracies.append(math.nan if accuracy is None else accuracy)
        clocks = times_left(game.record.game)
        found = []
        for move, seconds in zip(game.moves, clocks, strict=True):
            judged = move.judged
            if judged is None or move.side != side:
                continue
            usual = math.nan if judged.usual is None else judged.usual
            time = -1 if seconds is None else int(np.searchsorted(_BOUNDS, seconds, side="right"))
            mark = list(SIGNS).index(move.sign) if move.sign in SIGNS else -1
            parts = PHASES.index(judged.phase), PIECES.index(judged.piece), time, mark
            self._moves.append((self.games, judged.loss, usual, *parts))
            if judged.loss >= self.swing and move.worth:
                found.append((move, seconds))
        self._keep(game, side, file, found)
        self.games += 1

    def _keep(self, game: AnalysedGame, side: str, file: str, found: Sequence[tuple[Move, float | None]]) -> None:
        """Update the list of the worst mistakes with those of a game."""
        if not found:
            return
        headers, number = game.record.game.headers, SIDES.index(side)
        fens = [board.fen() for board in _boards(game.record.game)]
        other = SIDES[1 - number].capitalize()
        costliest = sorted(found, key=lambda pair: -pair[0].judged.loss if pair[0].judged else 0.0)[:A_GAME]
        for move, seconds in costliest:
            assert move.worth is not None
            after = 1 - move.worth.after if number else move.worth.after
            before = after + move.judged.loss if move.judged else after
            self.worst.append(
                Mistake(
                    file, game.record.number, move, fens[move.ply - 1], before, after, headers.get(other, "?"),
                    ratings_of(headers)[1 - number], headers.get("Date", "?"), seconds,
                )
            )  # fmt: skip
        self.worst.sort(key=lambda mistake: -mistake.loss)
        del self.worst[MAX_WORST:]

    @property
    def rating(self) -> int | None:
        """The median of the player's ratings in the game records; None if no record has a rating."""
        known = [rating for rating in self._ratings if rating]
        return int(np.median(known)) if known else None

    @property
    def accuracy(self) -> Estimate:
        """The mean accuracy of the player per game, 0 to 1, computed by Lichess's formula from the losses. Games
        without an evaluated move of the player do not count.
        """
        return mean_over_games(self._accuracies)

    def results(self) -> dict[str, int]:
        """Return the number of games won, drawn and lost, with the keys "won", "drawn" and "lost". Games without a
        result don't count.
        """
        return count_results(self._scores)

    def parts(self) -> Parts:
        """Return the mean losses and the results in all added games: for all moves, for each group of moves such as one
        phase, and for each opening.
        """
        table = np.array(self._moves, np.float64).reshape(-1, 7)
        game = table[:, 0].astype(np.int64)
        sides, scores = np.array(self._sides, np.int64), np.array(self._scores, np.float64)
        measure = Measure(game, table[:, 1], table[:, 2], table[:, 6], scores)
        ends = np.select([scores == 1, scores == 0.5, scores == 0], [0, 1, 2], -1)
        keys = {
            "phase": table[:, 3], "piece": table[:, 4], "time_left": table[:, 5], "side": sides[game],
            "result": ends[game],
        }  # fmt: skip
        by = {}
        for name, labels in LABELS.items():
            rows = {
                key: measure.part(label, keys[name] == i, sides == i if name in _WITH_SCORE else None)
                for i, (key, label) in enumerate(labels.items())
            }
            by[name] = {key: part for key, part in rows.items() if part.loss.n}
        return Parts(measure.part("all moves", np.ones(len(game), bool), np.ones(self.games, bool)), by,
                     list(self._by_opening(measure, game, sides)))  # fmt: skip

    def _by_opening(self, measure: Measure, game: NDArray[np.int64], sides: NDArray[np.int64]) -> Iterator[Part]:
        """Yield the openings with the most games, separately for White and Black. Each part has all moves of its games,
        not only the moves of the opening.
        """
        families = [None if one is None else one.family for one in self._openings]
        pairs = [(family, side) for family, side in zip(families, self._sides, strict=True) if family]
        codes = {family: one for family, one in zip(families[::-1], self._openings[::-1], strict=True) if one}
        for (family, side), _ in Counter(pairs).most_common(MOST_OPENINGS):
            inside = np.array([own == family for own in families]) & (sides == side)
            label = f"{family}, {LABELS['side'][SIDES[side]]}"
            opening = Opening(codes[family].eco, str(family))
            part = measure.part(label, inside[game], inside, opening, SIDES[side])
            if part.loss.n:
                yield part

    def as_json(self) -> dict[str, Any]:
        """Return the report as a dict for JSON. The keys do not change from version to version."""
        parts = self.parts()
        by = {f"by_{name}": {key: part.as_json() for key, part in rows.items()} for name, rows in parts.by.items()}
        whole = {name: value for name, value in parts.whole.as_json().items() if name not in ("label", "games")}
        return {
            "name": self.name, "games": self.games, **self.results(), "rating": self.rating,
            "accuracy": figure_of(self.accuracy), **whole, **by,
            "by_opening": [part.as_json() for part in parts.openings],
            "stands_out": [
                {"label": part.label, "difference": figure_of(part.difference)} for part in parts.standing_out()
            ],
            "worst": [one.as_json() for one in self.worst],
            **({} if self.strength is None else {"strength": self.strength.as_json()}),
            **({} if self.checked_by is None else {"checked_by": self.checked_by.as_json()}),
        }  # fmt: skip


def _boards(game: chess.pgn.Game) -> Iterator[chess.Board]:
    """Yield the positions of a main line from its start. Every position is the same board object, which changes from
    step to step.
    """
    board = game.board()
    yield board
    for node in game.mainline():
        board.push(node.move)
        yield board
