"""Report how many points one Go player's moves lost: by phase, area of the board, kind of move, color and result.

If the records have ranks, the moves are compared with the likely moves of players of the same rank. On 19×19, the
losses are also compared with the usual losses of players of this rank. The report needs games whose moves were
evaluated by searches or by an engine.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kibitz.analysis.checkers import CheckedBy
from kibitz.analysis.glyphs import SIGNS
from kibitz.analysis.go.changes import SIDES
from kibitz.analysis.go.games import AnalysedGame, Move
from kibitz.analysis.go.kinds import AREAS, KINDS, area_of, kind_of
from kibitz.analysis.go.losses import SIZE, UsualLosses
from kibitz.analysis.go.predictions import PHASES, phase_of
from kibitz.analysis.go.reasons import Why
from kibitz.analysis.lately import Lately, lately
from kibitz.analysis.parts import (
    A_GAME,
    MAX_WORST,
    Measure,
    Part,
    Parts,
    count_results,
    figure_of,
    known_interval,
    mean_over_games,
)
from kibitz.analysis.repeats import Seen
from kibitz.errors import KibitzError
from kibitz.games.go.io.headers import first_day
from kibitz.games.go.io.sgf import Record, Unreadable, read_records
from kibitz.games.go.points import BLACK, NONE, PASS, SIZES, WHITE, to_gtp
from kibitz.games.go.ranks import rank_of, rank_value, read_rank
from kibitz.personal.names import Player, find_among, key, players_among
from kibitz.records import printable
from kibitz.stats import ClusterBootstrap, Estimate
from kibitz.text import rounded

LABELS: Mapping[str, Mapping[str, str]] = {
    "phase": {name: f"the {name}" for name in PHASES},
    "area": {"corner": "in the corners", "side": "on the sides", "centre": "in the center"},
    "kind": {
        "capture": "captures", "atari": "ataris", "contact": "contact moves", "extension": "next to own stones",
        "loose": "next to no stone",
    },
    "side": {"black": "as Black", "white": "as White"},
    "result": {"won": "games won", "drawn": "games drawn", "lost": "games lost"},
    "board": {str(size): f"on {size}×{size}" for size in SIZES},
}  # fmt: skip
"""The groups of a player's moves: for each division, such as "phase", the key and the label of each group."""
_NAMES = {BLACK: ("PB", "BR"), WHITE: ("PW", "WR")}
"""The headers with a player's name and rank."""
_HALF_95 = 1.96
"""Half of the width of a 95% interval, in standard errors."""
_STONES = np.array([".", "X", "O"])


class GoSides(Seen):
    """Finds which color one player has in a game of Go. It also selects the player's games, each game once.

    players: the names of this one player, with all spellings that occur in the files.
    again: the number of repeated games so far.
    empty: the number of the player's games without moves so far.
    both: the number of games so far in which the player has both colors.
    """

    _HEADERS = ("PB", "PW", "DT", "RO", "RE")

    def __init__(self, players: Iterable[Player]):
        super().__init__()
        self._wanted = {key(player.name) for player in players}
        self.both = self.empty = 0

    def wants(self, record: Record) -> bool:
        """Return whether to use a game, and count it if it is skipped. Call this method once for each game."""
        if self.colour(record) == NONE:
            self.both += all(key(record.headers.get(name, "")) in self._wanted for name, _ in _NAMES.values())
            return False
        if not record.moves:
            self.empty += 1
            return False
        return self.is_new(record)

    def colour(self, record: Record) -> int:
        """Return the player's color in a game: 1 for Black, 2 for White, or 0 if the player has neither color or
        both.
        """
        found = [one for one, (name, _) in _NAMES.items() if key(record.headers.get(name, "")) in self._wanted]
        return found[0] if len(found) == 1 else NONE

    def is_new(self, record: Record) -> bool:
        """Return True at the first call with a game, False at each further call with the same game."""
        moves = map(str, record.moves)
        return self.is_new_text("\n".join([*(record.headers.get(name, "") for name in self._HEADERS), *moves]))


def players_in(path: str, named: Sequence[str]) -> list[Player]:
    """Return the players with the given names in the SGF files at a path.

    named: the names. Several names are the accounts of one player. Without a name, the result is the player who is in
    nearly all games.

    Games without moves, and games with the same name on both sides, do not count. In an incomplete game, the moves
    before the error count. Raises UsageError for an unknown player, and KibitzError if there is no game with moves.
    """
    written: Counter[str] = Counter()
    copies, games, found, problem = GoSides(()), 0, 0, ""
    for record in read_records([path], cut=True):
        if isinstance(record, Unreadable):
            problem = problem or ("" if record.number or record.is_stray else f"{record.file}: {record.reason}")
            continue
        if not record.moves or not copies.is_new(record):
            continue
        found += 1
        black, white = record.headers.get("PB", ""), record.headers.get("PW", "")
        if key(black) != key(white):
            games += 1
            written.update((black, white))
    where = printable(path)
    if not found:
        raise KibitzError(problem or f"{where}: no game has a move. Check the files.")
    return find_among(players_among(written), games, named, where)


@dataclass(frozen=True)
class GoMistake:
    """A move by which the player of a report lost many points.

    file: the path of the file that contains the game.
    game: the game's number in the file, from 1.
    move: the move and its evaluation.
    stones: the position before the move: one string for each row from the top, with X for Black, O for White and a dot
        for an empty point.
    phase, area, kind: the names of the phase of the game, of the part of the board, and of the kind of the move.
    opponent, opponent_rank: the opponent's name and rank; None if the rank is unknown.
    date: the property DT of the record; "?" without it.
    """

    file: str
    game: int
    move: Move
    stones: Sequence[str]
    phase: str
    area: str
    kind: str
    opponent: str
    opponent_rank: str | None
    date: str

    @property
    def loss(self) -> float:
        """The points that the move lost, 0 or more."""
        return -self.move.change

    @property
    def reason(self) -> Why | None:
        """The reason why the move was a mistake; None if no reason is found."""
        return self.move.better.why if self.move.better else None

    def as_json(self) -> dict[str, Any]:
        move, better = self.move, self.move.better
        line = better.line if better else move.prediction.line if move.prediction else ()
        return {
            "file": self.file, "game": self.game, "ply": move.ply, "side": move.side, "vertex": move.vertex,
            "mark": move.mark, "loss": rounded(self.loss, 2), "before": rounded(move.before.lead, 2),
            "after": rounded(move.after.lead, 2), "line": [to_gtp(point, move.size) for point in line],
            "phase": self.phase, "area": self.area, "kind": self.kind, "size": move.size, "stones": list(self.stones),
            "opponent": self.opponent, "opponent_rank": self.opponent_rank, "date": self.date,
            "reason": self.reason and self.reason.as_json(),
        }  # fmt: skip


@dataclass
class GoPlayerReport:
    """A report on one player's games of Go: how many points the moves lost, by phase, area of the board and kind of
    move, and the worst mistakes. The method `add` adds a game.

    name: the player's name as it is displayed.
    games: the number of games that were added.
    """

    name: str
    games: int = 0
    worst: list[GoMistake] = field(default_factory=list)
    """The player's annotated moves with the largest losses, the largest loss first."""
    checked_by: CheckedBy | None = None
    """The engine that evaluated the moves; None if the network evaluated them."""
    usual: UsualLosses | None = None
    """The usual losses of players of each rank; None if the report does not compare losses with them."""
    _moves: list[tuple[float, ...]] = field(default_factory=list)
    _scores: list[float] = field(default_factory=list)
    _sides: list[int] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _ranks: list[int] = field(default_factory=list)
    _accuracies: list[float] = field(default_factory=list)
    _days: list[datetime.date | None] = field(default_factory=list)

    def add(self, game: AnalysedGame, colour: int, file: str = "") -> None:
        """Add an analyzed game to the report. The player's passes do not count as moves.

        colour: the player's color, 1 for Black or 2 for White. file: the path of the game's file.
        """
        record = game.record
        known = record.result is not None and record.ending != "void"
        own = (1 + (record.result or 0) * (1 if colour == BLACK else -1)) / 2 if known else math.nan
        self._scores.append(own)
        self._sides.append(list(SIDES).index(colour))
        self._sizes.append(SIZES.index(record.size) if record.size in SIZES else -1)
        if rank := _rank(record, colour):
            self._ranks.append(rank_value(rank))
        self._days.append(first_day(record.headers.get("DT", "")))
        accuracy = game.summary.sides[SIDES[colour]].accuracy
        self._accuracies.append(math.nan if accuracy is None else accuracy)
        compared = self.usual if rank and record.size == SIZE else None
        found = []
        for move in game.moves:
            if move.colour != colour or move.point == PASS:
                continue
            before, after = (game.positions[ply].colours for ply in (move.ply - 1, move.ply))
            parts = phase_of(move.ply, move.size), area_of(move.point, move.size), kind_of(move.point, before, after)
            mark = list(SIGNS).index(move.mark) if move.mark in SIGNS else -1
            same, expected = math.nan, math.nan
            if move.prediction is not None and move.predicted:
                (first, chance), *_ = move.prediction.likely(1)
                same, expected = float(first == move.point), chance
            usual = compared.loss(rank_value(rank), *parts) if compared and rank else math.nan
            self._moves.append((self.games, max(0.0, -move.change), *parts, mark, same, expected, usual))
            if mark >= 0:
                found.append((move, parts))
        self._keep(game, colour, file, found)
        self.games += 1

    def _keep(
        self, game: AnalysedGame, colour: int, file: str, found: Sequence[tuple[Move, tuple[int, int, int]]]
    ) -> None:
        """Update the list of the worst mistakes with those of a game."""
        record, other = game.record, BLACK + WHITE - colour
        for move, (phase, area, kind) in sorted(found, key=lambda pair: pair[0].change)[:A_GAME]:
            position = game.positions[move.ply - 1]
            stones = ["".join(_STONES[row]) for row in position.grid(position.colours)]
            self.worst.append(
                GoMistake(
                    file, game.number, move, stones, PHASES[phase], AREAS[area], KINDS[kind],
                    record.headers.get(_NAMES[other][0], "?"), _rank(record, other), record.headers.get("DT", "?"),
                )
            )  # fmt: skip
        self.worst.sort(key=lambda mistake: -mistake.loss)
        del self.worst[MAX_WORST:]

    @property
    def rank(self) -> str | None:
        """The median of the player's ranks in the records, such as "3k"; None if no record has a rank."""
        return rank_of(round(float(np.median(self._ranks)))) if self._ranks else None

    @property
    def accuracy(self) -> Estimate:
        """The mean accuracy of the player per game, 0 to 1, computed by KaTrain's formula from the lost points. Games
        without a move of the player do not count.
        """
        return mean_over_games(self._accuracies)

    def results(self) -> dict[str, int]:
        """Return the number of games won, drawn and lost, with the keys "won", "drawn" and "lost". Games without a
        result don't count.
        """
        return count_results(self._scores)

    def first_choices(self) -> tuple[Estimate, Estimate]:
        """Return two shares of the player's moves, each 0 to 1. For each position, the network predicts which move is
        most likely for players of the player's rank.

        The first share is how often the player chose this most likely move. The second share is how often players of
        the same rank choose it: the mean of the probabilities that the network predicts for the most likely moves.
        """
        table = self._table()
        groups, known = ClusterBootstrap(table[:, 0].astype(np.int64)), np.isfinite(table[:, 6])
        own, others = groups.means([table[:, 6], table[:, 7]], known)
        return known_interval(own), known_interval(others)

    def parts(self) -> Parts:
        """Return the mean losses and the results in all added games: for all moves, and for each group of moves, such
        as one phase.
        """
        table, measure = self._table(), self._measure()
        game, scores = measure.game, measure.scores
        sides, sizes = np.array(self._sides, np.int64), np.array(self._sizes, np.int64)
        ends = np.select([scores == 1, scores == 0.5, scores == 0], [0, 1, 2], -1)
        keys = {
            "phase": table[:, 2], "area": table[:, 3], "kind": table[:, 4], "side": sides[game], "result": ends[game],
            "board": sizes[game],
        }  # fmt: skip
        by = {}
        for name, labels in LABELS.items():
            rows: dict[str, Part] = {
                label_key: self._widened(measure.part(label, keys[name] == i, sides == i if name == "side" else None))
                for i, (label_key, label) in enumerate(labels.items())
            }
            by[name] = {label_key: part for label_key, part in rows.items() if part.loss.n}
        whole = measure.part("all moves", np.ones(len(game), bool), np.ones(self.games, bool))
        return Parts(self._widened(whole), by, [])

    def lately(self) -> Lately | None:
        """Return how the losses in the games of the last month differ from those in the earlier games: for all moves,
        and by phase, area of the board and kind of move. The last month is explained in
        `kibitz.analysis.lately.Lately`. Return None if one of the two periods has no moves in dated games.

        Only games on the player's most frequent board size count, because a mistake costs fewer points on a small
        board.
        """
        table = self._table()
        columns = (("phase", PHASES), ("area", AREAS), ("kind", KINDS))
        parts = {
            LABELS[name][label]: table[:, column] == i
            for column, (name, labels) in enumerate(columns, 2)
            for i, label in enumerate(labels)
        }
        board = max(set(self._sizes), key=self._sizes.count, default=-1)
        days = [day if size == board else None for day, size in zip(self._days, self._sizes, strict=True)]
        return lately(self._measure(), days, parts)

    def _measure(self) -> Measure:
        table = self._table()
        game, scores = table[:, 0].astype(np.int64), np.array(self._scores, np.float64)
        return Measure(game, table[:, 1], table[:, 8], table[:, 5], scores)

    def _widened(self, part: Part) -> Part:
        """Return the part with a wider interval of the difference, which also includes the error of the usual loss."""
        if self.usual is None or not part.usual.n or not self._ranks:
            return part
        known, error = part.difference, self.usual.error(float(np.median(self._ranks))) * part.usual.value
        low, high = (
            known.value + sign * math.hypot(known.value - end, _HALF_95 * error)
            for sign, end in ((-1, known.low), (1, known.high))
        )
        return replace(part, difference=replace(known, low=low, high=high))

    def _table(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array(self._moves, np.float64).reshape(-1, 9)

    def as_json(self) -> dict[str, Any]:
        """Return the report as a dict for JSON. The keys do not change from version to version."""
        parts, (own, others) = self.parts(), self.first_choices()
        by = {f"by_{name}": {label: part.as_json() for label, part in rows.items()} for name, rows in parts.by.items()}
        whole = {name: value for name, value in parts.whole.as_json().items() if name not in ("label", "games")}
        change = self.lately()
        return {
            "name": self.name, "games": self.games, **self.results(), "rank": self.rank,
            "accuracy": figure_of(self.accuracy), "first_choice": figure_of(own),
            "usual_first_choice": figure_of(others), **whole, **by, "lately": change and change.as_json(),
            "worst": [one.as_json() for one in self.worst],
            **({} if self.checked_by is None else {"checked_by": self.checked_by.as_json()}),
        }  # fmt: skip


def _rank(record: Record, colour: int) -> str | None:
    return read_rank(record.headers.get(_NAMES[colour][1], ""))
