"""Evaluate moves of Go with a GTP engine, which gives the lead and the best line of each position.

KataGo and other engines with the command kata-analyze also give the win probability and the owner of each point. GNU
Go's estimate of the score ignores which side moves next, so it favors the player who has just moved. For this reason,
the lead is the mean of two estimates: one of the position, and one of the position after GNU Go's best move.

The loss of a move is the change of the lead from the position before the move to the position after it.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz import ongoing
from kibitz.analysis.checkers import VISITS, CheckedBy, Checker, GameRejected
from kibitz.analysis.go.gtp_engine import ANSWERS, COLORS, KATA, STARTS, THINKS, read_moves, read_owners, set_up
from kibitz.errors import UsageError
from kibitz.external import EngineDied
from kibitz.external.gtp import CommandRefused, GtpProgram, read_score
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import BLACK, PASS, WHITE, from_gtp, to_gtp

ESTIMATE, TOP_MOVES, SEED = "estimate_score", "top_moves_black", "set_random_seed"
PERIOD = 0.05
"""The seconds between two results that the engine command kata-analyze prints."""
PATIENCE = 60.0
"""If an engine adds no visit for this number of seconds, its search counts as complete. If the engine has no result by
then, it counts as hung.
"""
RULES = "chinese"
"""The name of the rules that an engine uses for a record without rules. kibitz scores such a record by area."""


@dataclass(frozen=True)
class EnginePosition:
    """An engine's evaluation of a position, from Black's point of view.

    lead: the lead in points, komi included.
    black_wins: Black's win probability, 0 to 1; None if the engine does not report it.
    line: the best move and the moves that the engine expects after it, as points (row · 19 + column) or 361 for a pass;
        () if the engine reports no move.
    owners: the probability that each point belongs to Black, float64 [361]; None if the engine does not report it.
    """

    lead: float
    black_wins: float | None
    line: tuple[int, ...]
    owners: NDArray[np.float64] | None


_Key = tuple[tuple[object, ...], tuple[int, ...]]
"""A position: its start, and the moves from the start."""


def _start_of(record: Record) -> tuple[object, ...]:
    return (record.size, record.komi, record.rules, record.black, record.white, record.handicap, record.side)


def _color(record: Record, ply: int) -> int:
    """Return the side to move after `ply` moves."""
    return record.side if ply % 2 == 0 else BLACK + WHITE - record.side


class GoEngineJudge:
    """Evaluates the positions of games with a GTP engine. Use it as a context manager, which ends the engine's process.

    checker: the engine and its limits. max_positions: the largest number of positions whose results stay in memory.

    Raises EngineDied if the engine does not start, and UsageError if the engine has no command that evaluates
    positions.
    """

    def __init__(self, checker: Checker, max_positions: int = 1):
        self.checker, self._max_positions = checker, max_positions
        self._known: dict[_Key, EnginePosition] = {}
        self._at: _Key | None = None
        """The position that the engine currently has; None if it is not known."""
        self._program = self._start()

    def _start(self) -> GtpProgram:
        checker = self.checker
        program = GtpProgram(checker.program.command, checker.program.name)
        try:
            self._commands = set(program.request("list_commands", STARTS).split())
            names = [program.request(word, ANSWERS).split("\n")[0] for word in ("name", "version")]
        except EngineDied as error:
            raise EngineDied(
                f"{checker.option}: {error}. Run the engine in a terminal to see why.", error.how
            ) from None
        except CommandRefused:
            self._commands, names = set(), []
        except BaseException:
            program.kill()
            raise
        self._name = " ".join(names)[:60].strip() or checker.program.name
        self._searches = KATA in self._commands
        problem = ""
        if not self._searches and ESTIMATE not in self._commands:
            problem = (
                f"{checker.option}: {self._name} reports no score, so it cannot judge moves. Use KataGo or GNU Go."
            )
        elif not self._searches and checker.nodes is not None:
            problem = f"nodes cannot be set for {self._name}, which does not count them. Set its level in the command."
        if problem:
            program.kill()
            raise UsageError(problem)
        return program

    @property
    def searches(self) -> bool:
        """Whether the engine's values come from a search, which also chooses its moves."""
        return self._searches

    @property
    def checked_by(self) -> CheckedBy:
        """The engine's name and the limit of its searches, as the results show them."""
        return CheckedBy(self._name, self._visits if self._searches else None, None, visits=True)

    @property
    def _visits(self) -> int:
        return self.checker.nodes or VISITS

    def judge(self, record: Record) -> list[EnginePosition]:
        """Return the evaluations of all positions of a game, from the start to the position after the last move. All
        moves of the game must be legal. Raises GameRejected if the engine rejects a move or the start, and EngineDied
        if the engine fails.
        """
        positions = len(record.moves) + 1
        return [self.position(record, ply) for ply in ongoing.counted(range(positions), positions)]

    def position(self, record: Record, ply: int) -> EnginePosition:
        """Return the evaluation of the position after `ply` moves of a game. If the engine's process ends, it is
        started once more. Raises GameRejected if the engine rejects a command, and EngineDied if it fails again or
        hangs.
        """
        key = _start_of(record), tuple(record.moves[:ply])
        if (known := self._known.get(key)) is not None:
            return known
        for attempt in range(2):
            if not self._program.running:
                self._program.kill()
                self._at, self._program = None, self._start()
            try:
                color = self._turn_to(record, key)
                found = self._analyze(record.size, color) if self._searches else self._estimate(record, ply, color)
                break
            except CommandRefused as error:
                self._at = None
                raise GameRejected(f"{self._name} rejects this game ({error})") from None
            except EngineDied as error:
                self._at = None
                if error.how == "hung" or attempt:
                    raise
        self._known[key] = found
        while len(self._known) > self._max_positions:
            del self._known[next(iter(self._known))]
        return found

    def second(self, record: Record, ply: int, best: int) -> EnginePosition | None:
        """Return the evaluation of the position after `ply` moves of a game, from a search that excludes the best move.
        So the first move of the result is the engine's second choice.

        best: the move that the search excludes. The result is None if the engine can't exclude moves, or if it fails
        during this search.
        """
        if not self._searches:
            return None
        try:
            color = self._turn_to(record, (_start_of(record), tuple(record.moves[:ply])))
            return self._analyze(record.size, color, f" avoid {COLORS[color]} {to_gtp(best, record.size)} 1")
        except (CommandRefused, EngineDied):  # `position` starts the engine again
            self._at = None
            return None

    def _turn_to(self, record: Record, key: _Key) -> int:
        """Set up a position in the engine, and return the side to move. Moves that the engine already has are not sent
        again.
        """
        start, moves = key
        done_moves = len(self._at[1]) if self._at is not None and self._at[0] == start else -1
        if done_moves < 0 or self._at != (start, moves[:done_moves]):
            rules = (record.rules or RULES).replace(" ", "-")
            handicap = record.handicap if record.side == WHITE and not record.white else 0
            set_up(self._request, self._commands, record.size, record.komi, rules, record.black, record.white, handicap)
            done_moves = 0
        self._at = None
        for ply in range(done_moves, len(moves)):
            self._request(f"play {COLORS[_color(record, ply)]} {to_gtp(moves[ply], record.size)}")
        self._at = key
        return _color(record, len(moves))

    def _request(self, command: str, limit: float = ANSWERS) -> str:
        return self._program.request(command, limit)

    def _analyze(self, size: int, color: int, limits: str = "") -> EnginePosition:
        """Analyze the position until the engine has made enough visits. limits: further words of kata-analyze."""
        self._program.begin(f"{KATA} {COLORS[color]} {round(100 * PERIOD)} ownership true{limits}")
        best, owners, most, until = None, None, -1, time.monotonic() + PATIENCE
        while most < self._visits and time.monotonic() < until:
            for line in self._program.received_lines(PERIOD):
                moves = read_moves(line, size, color, KATA) if line.startswith("info ") else []
                visits = sum(each.visits for each in moves)
                if not moves or visits <= most:
                    continue
                if moves[0].lead is None:
                    self._program.kill()
                    raise EngineDied(f"{self._name} reports no score", "died")
                best, most, until = moves[0], visits, time.monotonic() + PATIENCE
                owners = read_owners(line, size, color)
        if best is None or best.lead is None:
            self._program.kill()
            raise EngineDied(f"{self._name} gave no result for this position within {PATIENCE:g} s", "hung")
        with contextlib.suppress(CommandRefused):
            self._request("protocol_version")  # any command ends the analysis
        return EnginePosition(best.lead, best.black_wins, best.line, owners)

    def _estimate(self, record: Record, ply: int, color: int) -> EnginePosition:
        """Return the mean of two estimates of GNU Go: of the position, and of the position after its best move.

        An estimate ignores who moves next, so it favors the player who has just moved. This cancels out in the mean.
        """
        if SEED in self._commands:  # without this seed, the same position would get another score each time
            self._request(f"{SEED} 1")
        lead = self._score()
        words = self._request(f"top_moves_{COLORS[color]}", THINKS).split() if TOP_MOVES in self._commands else []
        board = record.board(ply, superko=False, suicide=True)
        for word in words[::2]:
            try:
                point = from_gtp(word, record.size)
                # GNU Go also lists moves that ko forbids
                if point == PASS or board.why_not(color, point) is not None:
                    continue
                self._request(f"play {COLORS[color]} {word}")
            except (ValueError, CommandRefused):
                continue
            after = self._score()
            self._request("undo")
            return EnginePosition((lead + after) / 2, None, (point,), None)
        return EnginePosition(lead, None, (), None)

    def _score(self) -> float:
        """Return Black's lead in points from an estimate of GNU Go."""
        reply = self._request(ESTIMATE, THINKS)
        try:
            return read_score(reply)
        except ValueError:
            self._program.kill()
            raise EngineDied(f"{self._name} reports no score (got {reply[:40]!r})", "died") from None

    def close(self) -> None:
        """End the engine's process."""
        self._program.kill()

    def __enter__(self) -> GoEngineJudge:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
