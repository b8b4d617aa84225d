"""Label scored games with the final owner of each point. A label must agree with the recorded score.

Game records don't list the dead stones. Two referees determine them: random playouts, and GNU Go if it is installed. A
label is accepted only if its score under the game's rules equals the recorded score. A game that no referee confirms is
rejected, because a wrong label is worse than a lost game.

Resigned games have no score. GNU Go can play them to their end. The label is accepted if the recorded winner also wins
that continuation; otherwise the game stays without a label.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz.cores import cores
from kibitz.errors import KibitzError, UsageError
from kibitz.external import EngineDied
from kibitz.external.programs import find_gnugo
from kibitz.games.batch import GameBatch
from kibitz.games.go.endings import dead
from kibitz.games.go.endings.counting import TERRITORY, area, compensation, lead, settle
from kibitz.games.go.endings.journal import Journal
from kibitz.games.go.endings.playouts import black_share
from kibitz.games.go.endings.referees import METHODS, REFEREES
from kibitz.games.go.points import BLACK, OUTSIDE, PASS, POINTS, WHITE
from kibitz.games.go.replay import STANDARD_START
from kibitz.games.go.rules import CELL, CELLS, COLOUR, ROWS, place, set_up
from kibitz.games.hashing import hash_games
from kibitz.kernels import kernel
from kibitz.messages import not_one_of
from kibitz.parallel import Workers, map_unordered

VERDICTS = (
    "", "playouts", "gnugo", "score not confirmed", "referee hung", "referee died", "referee made no sense",
    "played out", "winner not confirmed", "far from its end",
)  # fmt: skip
"""The possible results of labeling a game: the method that confirmed the recorded score, or the reason why no method
did. "" means that the game was not labeled. The journal contains indices into this tuple, so append new verdicts.
"""
NO_ANSWER = ("referee hung", "referee died", "referee made no sense")
"""Verdicts that show a failure of the referee program. A later import labels these games again."""
Verdict = tuple[str, NDArray[np.uint8] | None]
"""One of VERDICTS, and the owner of each point, uint8 [361]. The owners are None if no method confirmed the game."""
Answer = TypeVar("Answer")
_NOT_CONFIRMED = ("score not confirmed", None)
_OTHER_WINNER = ("winner not confirmed", None)
_GIVE_UP = 3
"""GNU Go is not used any more after this number of failures without a success."""
_PART = 8
"""Number of games that a worker labels at a time."""
_PLAYING_OUT = 6
"""The time limit in which GNU Go plays out a game, as a multiple of the time limit per game."""
_EXACT = 0.01
_LITTLE, _SURE = 3.0, 0.05
"""Limits for skipping GNU Go, in points and in distance from a survival of 0.5.

The playouts agree on a chain if it lives in less than 45% or more than 55% of them. If they agree on every chain, and
the score differs from the recorded score by up to 3 points, the record probably lacks moves at the end. No referee can
repair such a record. GNU Go confirmed none of 24 such games. Skipping them saves a third of its work.
"""


MAX_OPEN_PART = 0.8
"""A position is too far from its end to be scored if random playouts leave more than this share of the board open, 0 to
1. A point is open to the degree that it changes its owner between playouts.

Finished games on 19×19 have a median of 0.36, and 99 of 100 are below 0.66. After 100 moves, the share is over 0.8.
"""
_LOOK_PLAYOUTS = 50


def _is_far_from_end(colours: NDArray[np.uint8]) -> bool:
    """Return whether a position is so far from its end that it can't be scored. GNU Go would need minutes for such a
    position.
    """
    share = black_share(colours, playouts=_LOOK_PLAYOUTS)[colours != OUTSIDE]
    return float((4 * share * (1 - share)).mean()) > MAX_OPEN_PART


@dataclass(frozen=True)
class Final:
    """The final position of a game that was scored or resigned, and the recorded result.

    colours: uint8 [361], all stones on the board.
    captured: how many black stones and how many white stones have been captured.
    komi: the komi in points; NaN if unknown.
    rules: the name of the rules; None if unknown.
    handicap: the number of handicap stones.
    mover: BLACK or WHITE, the side to move.
    lead: Black's recorded lead in points: negative if White won, infinite or minus infinite if one side resigned.
    """

    colours: NDArray[np.uint8]
    captured: tuple[int, int]
    size: int
    komi: float
    rules: str | None
    handicap: int
    mover: int
    lead: float


def count(
    final: Final, dead: NDArray[np.bool_], seki: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.uint8], float]:
    """Return the owner of each point of a game's final position, uint8 [361], and the absolute difference in points
    between the score by these owners and the recorded score.

    dead: bool [361], the dead stones. seki: bool [361], the stones alive in seki; None if unknown. If the rules are
    unknown, the function uses the scoring method with the smaller difference.
    """
    counts: list[tuple[float, NDArray[np.uint8]]] = []
    for rules in (final.rules,) if final.rules else ("japanese", "chinese"):
        owner = settle(final.colours, dead, seki if rules in TERRITORY else None)
        counted = lead(owner, final.colours, final.captured, final.komi, rules, final.handicap)
        counts.append((abs(counted - final.lead), owner))
    missed, owner = min(counts, key=lambda one: one[0])
    return owner, missed


@kernel
def _play_to_the_end(moves, ends, starts, colours, lost):  # type: ignore[no-untyped-def]
    """Replay games to their ends: fill colours, uint8 [n, 361], and lost, int64 [n, 2], the stones lost by Black and
    White.
    """
    board = np.empty((ROWS, CELLS), np.int16)
    for game in range(ends.shape[0]):
        row = starts[game]
        set_up(board, row)
        first = ends[game - 1] if game else 0
        for i in range(first, ends[game]):
            if moves[i] < PASS:
                colour = 1 + (row[POINTS] + i - first) % 2
                captured, _ = place(board, np.int64(CELL[moves[i]]), colour, 0)
                if captured > 0:
                    lost[game, 2 - colour] += captured
                else:  # suicide, if the rules allow it
                    lost[game, colour - 1] -= captured
        for point in range(POINTS):
            colours[game, point] = board[COLOUR, CELL[point]]


def finals(batch: GameBatch, games: NDArray[np.int64]) -> list[Final]:
    """Return the final positions of some games that were scored or resigned. games: int64 [k], the games' indices in
    the batch.
    """
    starts = (
        np.broadcast_to(STANDARD_START, (len(batch), len(STANDARD_START))) if batch.starts is None else batch.starts
    )
    colours, lost = np.empty((len(batch), POINTS), np.uint8), np.zeros((len(batch), 2), np.int64)
    ends = np.cumsum(batch.plies, dtype=np.int64)
    _play_to_the_end(batch.moves, ends, np.ascontiguousarray(starts), colours, lost)
    columns = ["size", "komi", "rules", "handicap", "result", "margin"]
    rows = batch.table.select(columns).take(pa.array(games)).to_pylist()
    return [
        Final(
            colours[game],
            (int(lost[game, 0]), int(lost[game, 1])),
            row["size"],
            float("nan") if row["komi"] is None else row["komi"],
            row["rules"],
            row["handicap"] or 0,
            WHITE if (int(starts[game, POINTS]) + int(batch.plies[game])) % 2 else BLACK,
            row["result"] * (math.inf if row["margin"] is None else row["margin"]),
        )
        for game, row in zip(games.tolist(), rows, strict=True)
    ]


class Referee:
    """Labels games with the final owner of each point. The referee is a context manager that ends its processes and
    threads on exit.

    which: the name of the referee: "playouts", "gnugo", "none", or "auto" for playouts and, if it is installed, GNU Go.
    gnugo: the path of GNU Go; None to search for GNU Go.
    journal: the file in which the referee saves its verdicts, so that a later process doesn't label the same games
        again; None for no file.
    workers: the worker processes that label games, or the number of threads that label games in this process; None for
        one thread per core. Each worker or thread uses a separate GNU Go process.
    limit_s: the time limit in seconds that GNU Go has for a game.
    seed: the random seed of the playouts.
    command: the command that starts GNU Go, for tests.
    keep_unconfirmed: whether to keep scored games that no method confirms. They get no owners, but their moves and
        winners are useful.
    play_out: whether to label resigned games too; GNU Go plays them to their end.

    `note` is a line for the user if GNU Go is missing or fails; otherwise None. Raises KibitzError if GNU Go is
    requested but not installed.
    """

    def __init__(
        self,
        which: str = "auto",
        gnugo: str | None = None,
        journal: Path | None = None,
        workers: Workers | int | None = None,
        limit_s: float = 10.0,
        seed: int = 0,
        command: Sequence[str] = (),
        keep_unconfirmed: bool = False,
        play_out: bool = False,
    ):
        if which not in REFEREES:
            raise UsageError(not_one_of("referee", which, REFEREES))
        self.which, self.limit_s, self.seed = which, limit_s, seed
        self._keep_unconfirmed, self._play_out = keep_unconfirmed, play_out
        of_name = {"playouts": self._by_playouts, "gnugo": self._by_gnugo}
        self._methods = [of_name[method] for method in REFEREES[which]]
        self.note: str | None = None
        self._command = tuple(command) or self._find(gnugo)
        self._answers, self._losses, self._given_up_apart = 0, 0, False
        self._all: list[dead.GnuGo] = []
        self._idle: list[dead.GnuGo] = []
        self._closed = False
        self._labels = bool(self._methods) or play_out
        self._journal = Journal(journal) if journal and self._labels else None
        self._apart = None if workers is None or isinstance(workers, int) else workers
        threads = workers if isinstance(workers, int) else cores()
        self._threads = ThreadPoolExecutor(threads, "kibitz referee")

    def _find(self, gnugo: str | None) -> tuple[str, ...]:
        """Return the command that starts GNU Go; empty if it is not requested or not installed."""
        methods = REFEREES[self.which]
        if "gnugo" not in methods and not self._play_out:
            return ()
        if path := find_gnugo(gnugo):
            return (path, *dead.GNUGO_ARGUMENTS)
        if methods == ("gnugo",) or gnugo or self._play_out:
            raise KibitzError(
                f"{gnugo or 'gnugo'} is not installed. Install GNU Go (Debian: apt install gnugo) or use --referee"
                " playouts."
            )
        self.note = (
            "GNU Go is not installed, so only random playouts label territory. They confirm about"
            " 80% of the scored games instead of 90%. Install GNU Go (Debian: apt install gnugo)."
        )
        return ()

    def label(self, batch: GameBatch, on_progress: Callable[[int, int], None] | None = None) -> GameBatch:
        """Return the batch with the final owner of each point, `per_game["owner"]`, uint8 [games, 361]: 1 Black, 2
        White, 0 neutral or unknown. The column `labels` gets the name of the method that determined the owners, or
        None.

        Scored games are labeled, and resigned games if play_out is set. Scored games that no method confirms are
        removed and counted in `rejections`. If keep_unconfirmed is set, they stay, without owners and without a label.
        Other games stay unlabeled. If the referee is "none", all games stay unlabeled. on_progress: called after each
        game, with the number of games labeled so far and the number of games to label.
        """
        owner = np.zeros((len(batch), POINTS), np.uint8)
        verdicts = np.zeros(len(batch), np.uint8)
        ending = np.array(batch.table["ending"].to_pylist())
        counted = (ending == "counted") & batch.table["margin"].is_valid().to_numpy()
        if self._labels:
            games = np.flatnonzero((counted & bool(self._methods)) | ((ending == "resignation") & self._play_out))
            try:
                self._label_all(batch, games, owner, verdicts, on_progress or (lambda done, total: None))
            except BaseException:
                self.close()
                raise
        names = [VERDICTS[verdict] if VERDICTS[verdict] in METHODS else None for verdict in verdicts]
        column = batch.table.schema.get_field_index("labels")
        batch.table = batch.table.set_column(column, "labels", pa.array(names, pa.string()))
        batch.per_game = {**batch.per_game, "owner": owner}
        if self._keep_unconfirmed:
            return batch
        refused = np.array([name is None for name in names], np.bool_) & (verdicts > 0) & counted
        for row, verdict in zip(batch.table.filter(pa.array(refused)).to_pylist(), verdicts[refused], strict=True):
            batch.rejections.add_row(VERDICTS[verdict], row, _recorded(row))
        return batch.take(~refused)

    def _label_all(
        self,
        batch: GameBatch,
        games: NDArray[np.int64],
        owner: NDArray[np.uint8],
        verdicts: NDArray[np.uint8],
        on_progress: Callable[[int, int], None],
    ) -> None:
        keys = self._keys(batch)
        new = []
        done = 0
        for game in games.tolist():
            known = self._journal.get(keys[game]) if self._journal else None
            if known and VERDICTS[known[0]] not in NO_ANSWER:
                verdicts[game], owner[game] = known
                done += 1
            else:
                new.append(game)
        on_progress(done, len(games))
        positions = [
            (final, keys[game]) for game, final in zip(new, finals(batch, np.array(new, np.int64)), strict=True)
        ]
        with contextlib.closing(self._verdicts(positions)) as found:
            for i, (verdict, owners) in found:
                game = new[i]
                verdicts[game] = VERDICTS.index(verdict)
                if owners is not None:
                    owner[game] = owners
                # A failure of GNU Go is not stored, because GNU Go may succeed in a later import, with more time or in
                # another version.
                if self._journal and verdict not in NO_ANSWER and not self._gave_up():
                    self._journal.add(keys[game], int(verdicts[game]), owners)
                done += 1
                on_progress(done, len(games))

    def _verdicts(self, positions: list[tuple[Final, int]]) -> Generator[tuple[int, Verdict]]:
        """Yield (index, verdict) of each position, in the order of completion. positions: each position with its
        key.
        """
        if self._apart is None:
            futures = {self._threads.submit(self._label_one, *position): i for i, position in enumerate(positions)}
            for future in as_completed(futures):
                yield futures[future], future.result()
            return
        function = functools.partial(_label_apart, (self.which, self.limit_s, self.seed, self._command))
        parts = [positions[i : i + _PART] for i in range(0, len(positions), _PART)]
        with contextlib.closing(map_unordered(function, parts, self._apart)) as labelled:
            for part, (verdicts, note, gave_up) in labelled:
                self.note, self._given_up_apart = note or self.note, self._given_up_apart or gave_up
                yield from enumerate(verdicts, part * _PART)

    def _keys(self, batch: GameBatch) -> list[int]:
        """Return a 64-bit hash for each game, of its moves, the data for its score, and the referees."""
        table = batch.table
        hashes = hash_games(batch.moves, batch.plies, batch.starts, table["result"].to_numpy(), STANDARD_START)
        columns = (table[name].to_pylist() for name in ("margin", "komi", "rules", "handicap"))
        referees = (self.which, bool(self._command))
        return [
            int.from_bytes(hashlib.blake2b(repr((referees, *row)).encode(), digest_size=8).digest(), "little")
            for row in zip(hashes.tolist(), *columns, strict=True)
        ]

    def _label_one(self, final: Final, key: int) -> Verdict:
        """Return the verdict on a game from the first method that has one. The method runs in a worker thread."""
        if np.isnan(final.komi):
            return _NOT_CONFIRMED
        if np.isinf(final.lead):
            return self._by_playing_out(final)
        for method in self._methods:
            if verdict := method(final, key):
                return verdict
        return _NOT_CONFIRMED

    def _by_playouts(self, final: Final, key: int) -> Verdict | None:
        """Return the verdict of random playouts; None to try the next method."""
        alive = dead.playout_survival(final.colours, self.seed + key)
        owner, missed = count(final, alive < 0.5)
        if missed < _EXACT:
            return "playouts", owner
        return _NOT_CONFIRMED if missed <= _LITTLE and abs(alive - 0.5).min() > _SURE else None

    def _by_gnugo(self, final: Final, key: int) -> Verdict | None:
        """Return the verdict of GNU Go; None if it isn't available, gives no reply, or doesn't confirm the score."""
        if not self._command or self._closed or self._gave_up():
            return None
        if _is_far_from_end(final.colours):
            return "far from its end", None
        answer = self._query_gnugo(lambda gnugo: gnugo.dead(final.colours, final.size))
        if isinstance(answer, str):
            return answer, None
        owner, missed = count(final, *answer)
        return ("gnugo", owner) if missed < _EXACT else None

    def _by_playing_out(self, final: Final) -> Verdict:
        """Return the verdict on a resigned game that GNU Go plays to its end: the owners of all points, by area
        scoring."""
        if self._closed or self._gave_up():
            return _OTHER_WINNER
        komi = final.komi + compensation(final.rules, final.handicap)
        limit = _PLAYING_OUT * self.limit_s
        answer = self._query_gnugo(lambda gnugo: gnugo.play_out(final.colours, final.size, komi, final.mover, limit))
        if isinstance(answer, str):
            return answer, None
        owner = settle(*answer)
        return ("played out", owner) if (area(owner) - komi) * final.lead > 0 else _OTHER_WINNER

    def _gave_up(self) -> bool:
        return self._given_up_apart or (self._losses >= _GIVE_UP and not self._answers)

    def _query_gnugo(self, question: Callable[[dead.GnuGo], Answer]) -> Answer | str:
        """Return GNU Go's reply; if there is no reply, one of VERDICTS as the reason."""
        try:
            gnugo = self._idle.pop()
        except IndexError:
            gnugo = dead.GnuGo(self._command, self.limit_s)
            self._all.append(gnugo)
        try:
            answer = question(gnugo)
            self._answers += 1
            return answer
        except EngineDied as lost:
            self._losses += 1
            if self._gave_up() and not self._closed:
                self.note = self._why_given_up(lost.how)
            return f"referee {lost.how}"
        except ValueError:
            return "referee made no sense"
        finally:
            self._idle.append(gnugo)
            if self._closed:
                gnugo.close()

    def _why_given_up(self, how: str) -> str:
        name = f"GNU Go ({self._command[0]})"
        if how == "hung":
            slow = f"took longer than {self.limit_s:g} s for each of {self._losses} positions"
            return f"{name} {slow}, so only playouts label the rest"
        return f"{name} does not answer, so only playouts label the rest. Check that program."

    def close(self) -> None:
        """End all processes and threads of the referee immediately."""
        self._closed = True
        for gnugo in self._all:
            gnugo.close()
        self._threads.shutdown(cancel_futures=True)
        for gnugo in self._all:  # a process may have been started in the meantime
            gnugo.close()
        if self._journal:
            self._journal.close()

    def __enter__(self) -> Referee:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@functools.lru_cache(maxsize=1)
def _own_referee(which: str, limit_s: float, seed: int, command: tuple[str, ...]) -> Referee:
    """Return the referee of a worker. The worker keeps its GNU Go for its next work."""
    referee = Referee("playouts" if which == "auto" and not command else which, None, None, 1, limit_s, seed, command)
    Finalize(None, referee.close, exitpriority=10)  # atexit functions don't run when a worker ends
    return referee


def _label_apart(
    settings: tuple[str, float, int, tuple[str, ...]], positions: list[tuple[Final, int]]
) -> tuple[list[Verdict], str | None, bool]:
    """Label some positions in a worker. Returns the verdicts, the referee's note, and whether the referee has stopped
    using GNU Go.

    positions: each position with its key.
    """
    referee = _own_referee(*settings)
    return [referee._label_one(*position) for position in positions], referee.note, referee._gave_up()


def _recorded(row: dict[str, object]) -> str:
    """Format the recorded score, komi and rules of a game for messages."""
    winner = "B" if row["result"] == 1 else "W"
    komi = "unknown" if row["komi"] is None else f"{row['komi']:g}"
    return f"{winner}+{row['margin']:g}, komi {komi}, rules {row['rules'] or 'not named'}"
