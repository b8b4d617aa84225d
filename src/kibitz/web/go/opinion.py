"""Analyze Go positions and choose moves with an external GTP engine, for the browser page of `kibitz board`.

An engine with the command kata-analyze or lz-analyze sends new results until the next command. GNU Go has neither of
these commands. It lists moves with top_moves, and estimates the score after each move with estimate_score.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kibitz.analysis.go.gtp_engine import ANSWERS, COLORS, KATA, LEELA, STARTS, THINKS, EngineMove, read_moves, set_up
from kibitz.external import EngineDied
from kibitz.external.gtp import CommandRefused, GtpProgram, read_score
from kibitz.games.go.points import BLACK, PASS, WHITE, from_gtp, to_gtp
from kibitz.text import rounded, shown
from kibitz.web.go.line import GoLine
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from kibitz.external.programs import Program
    from kibitz.web.opinions import MoveLimits
    from kibitz.web.positions import Line

PERIOD = 0.15
"""Seconds to wait for an update of the analysis."""
RESIGN = "resign"


class GtpThinker:
    """A running GTP program that analyzes positions and plays moves. It implements `kibitz.web.opinions.Thinker`, where
    its methods are described.
    """

    ratings: tuple[int, int] | None = None
    """The range of ratings that the program can imitate: always None, because GTP has no command for ratings."""

    def __init__(self, program: Program):
        self._program = GtpProgram(program.command, program.name)
        try:
            self._commands = set(self._program.request("list_commands", STARTS).split())
            named = [self._program.request(word, ANSWERS).split("\n")[0] for word in ("name", "version")]
        except CommandRefused:
            self._commands, named = set(), []
        except BaseException:
            self.kill()
            raise
        self.name = " ".join(named)[:60] or program.name
        self._line = GoLine()
        self._analysis = next((word for word in (KATA, LEELA) if word in self._commands), "")
        self._running = self._over = self._plays = False
        self.move = ""
        self._steps: Iterator[dict[str, Any]] = iter(())

    def begin(self, line: Line, lines: int) -> None:
        self._lines = lines
        if not self._analysis and "top_moves_black" not in self._commands:
            raise BadRequest(f"{self.name} cannot analyze: it supports none of kata-analyze, lz-analyze and top_moves")
        self._turn_to(line)
        if self._analysis:
            most = f" maxmoves {max(lines, 10)}" if self._analysis == KATA else ""
            self._program.begin(f"{self._analysis} {self._side} 20{most}")
            self._running = True
        else:
            self._steps = self._estimates()

    def play(self, line: Line, limits: MoveLimits) -> None:
        if limits.seconds is None:
            raise BadRequest(f"{self.name} is a GTP engine. Limit its seconds instead of its nodes")
        self._turn_to(line)
        time = f"time_settings 0 {max(1, round(limits.seconds))} 1"
        if "kata-time_settings" in self._commands:
            time = f"kata-time_settings byoyomi 0 {limits.seconds:g} 1"
        with contextlib.suppress(CommandRefused):  # a program that refuses this command uses its own time limit
            self._request(time)
        self._program.begin(f"genmove {self._side}")
        self._running = self._plays = True

    def _turn_to(self, line: Line) -> None:
        assert isinstance(line, GoLine)
        self._line = line
        self._black = line.board().to_move == BLACK
        try:
            self._set_up(line)
        except CommandRefused as refused:
            raise BadRequest(f"{self.name} rejects this position: {refused}") from None
        self._over = self._plays = False

    @property
    def _side(self) -> str:
        return "black" if self._black else "white"

    def _set_up(self, line: GoLine) -> None:
        """Set up the position, move by move."""
        set_up(self._request, self._commands, line.size, line.komi, line.rules, line.black, line.white, line.handicap)
        side = line.side
        for point in line.moves:
            self._request(f"play {COLORS[side]} {to_gtp(point, line.size)}")
            side = BLACK if side == WHITE else WHITE

    def _request(self, command: str, limit: float = ANSWERS) -> str:
        return self._program.request(command, limit)

    def look(self, stop: threading.Event) -> dict[str, Any] | None:
        if self._plays:
            if not self._over:
                self._look_for_move()
            return None
        try:
            if not self._analysis:
                found = next(self._steps, None)
                self._over = found is None
                return found
            replies = [line for line in self._program.received_lines(PERIOD) if line.startswith("info ")]
        except CommandRefused as refused:
            raise BadRequest(f"{self.name} did not analyze: {refused}") from None
        lines = self._read(replies[-1]) if replies else []
        if not lines:
            return None
        return {"visits": sum(each["visits"] for each in lines), "lines": lines[: self._lines]}

    @property
    def over(self) -> bool:
        return self._over

    def _look_for_move(self) -> None:
        try:
            reply = self._program.answered(PERIOD)
        except CommandRefused as refused:
            raise BadRequest(f"{self.name} did not play a move: {refused}") from None
        if reply is None:
            return
        self._running, self._over = False, True
        if reply.lower() == RESIGN:
            self.move = RESIGN
            return
        board = self._line.board()
        try:
            point = from_gtp(reply, board.size)
            board.play(board.to_move, point)
        except ValueError:
            raise EngineDied(f"{self.name} played {shown(reply)}, which is not a legal move here", "died") from None
        self.move = to_gtp(point, board.size)

    def halt(self) -> None:
        if self._running:
            self._running = False
            with contextlib.suppress(CommandRefused):
                self._request("protocol_version")  # any command ends the analysis
        self._steps = iter(())

    def kill(self) -> None:
        self._program.kill()

    def _read(self, text: str) -> list[dict[str, Any]]:
        """Parse the moves of an analysis line, the best first."""
        size, color = self._line.size, BLACK if self._black else WHITE
        return [_as_json(one, size) for one in read_moves(text, size, color, self._analysis)]

    def _estimates(self) -> Iterator[dict[str, Any]]:
        """Yield GNU Go's moves. Each step adds its estimate of the score after one more move.

        GNU Go chooses moves by other values than this estimate. So the moves are in the order of what is shown: those
        with a score come first, the best for the side to move before the others.
        """

        def found() -> dict[str, Any]:
            sign = 1 if self._black else -1
            known = [each for each in lines if each["score"] is not None]
            known.sort(key=lambda each: -sign * each["score"])
            others = [each for each in lines if each["score"] is None]
            return {"visits": 0, "estimates": True, "lines": [dict(each) for each in [*known, *others]]}

        words = self._request(f"top_moves_{self._side}", THINKS).split()
        lines: list[dict[str, Any]] = []
        for move in self._legal(words[::2])[: self._lines] or ["pass"]:
            lines.append({"moves": [move], "san": [move], "black": None, "score": None, "visits": 0})
        yield found()
        for each in list(lines):
            try:
                self._request(f"play {self._side} {each['moves'][0]}")
            except CommandRefused:  # the move is illegal by GNU Go's rules, for example a forbidden ko recapture
                lines.remove(each)
                continue
            reply = self._request("estimate_score", THINKS)
            self._request("undo")
            with contextlib.suppress(ValueError):  # a reply without a score
                each["score"] = read_score(reply)
            yield found()

    def _legal(self, names: list[str]) -> list[str]:
        """Return the moves among some names that are legal. GNU Go also lists forbidden ko recaptures."""
        board, found = self._line.board(), list[str]()
        for name in names:
            with contextlib.suppress(ValueError):
                point = from_gtp(name, self._line.size)
                if point == PASS or board.why_not(board.to_move, point) is None:
                    found.append(to_gtp(point, self._line.size))
        return found


def _as_json(move: EngineMove, size: int) -> dict[str, Any]:
    moves = [to_gtp(point, size) for point in move.line]
    score = None if move.lead is None else rounded(move.lead, 1)
    return {"moves": moves, "san": moves, "black": round(move.black_wins, 4), "score": score, "visits": move.visits}
