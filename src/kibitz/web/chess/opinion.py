"""Analyze chess positions and choose moves with an external UCI engine, for the page of `kibitz board`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import chess
import chess.engine

from kibitz.cores import cores
from kibitz.external import EngineDied
from kibitz.external.uci import TOO_MANY, ExternalEngine, Watched
from kibitz.play.chess.score import win_chance
from kibitz.text import rounded
from kibitz.web.chess.line import ChessLine
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from kibitz.external.programs import Program
    from kibitz.web.opinions import MoveLimits
    from kibitz.web.positions import Line

PERIOD = 0.15
"""Seconds between two updates of an analysis."""
STOPPED = 5.0
"""The number of seconds in which an engine must react to the UCI command `stop`."""
LIMITED, RATING = "UCI_LimitStrength", "UCI_Elo"
"""The names of the UCI options by which an engine imitates a player with a rating: on or off, and the rating."""
HASH = 64
"""Size of the engine's hash table in megabytes."""
MOST_SHOWN = 12
"""The largest number of moves of a line that are shown."""


class UciThinker:
    """A running UCI engine that analyzes positions and plays moves. It implements `kibitz.web.opinions.Thinker`, where
    its methods are described.
    """

    def __init__(self, program: Program):
        self._engine = ExternalEngine(program.command, program.name)
        self.name = self._engine.name
        self._engine.set_options({"Threads": max(1, cores() // 2), "Hash": HASH}, known_only=True)
        self.ratings = self._engine.range_of(RATING)
        self._board = chess.Board()
        self._watched: Watched | None = None
        self._played = ChessLine("")
        self._game = object()

    def begin(self, line: Line, lines: int) -> None:
        self._turn_to(line, None)
        self._watched = self._engine.watch(self._board, lines)

    def play(self, line: Line, limits: MoveLimits) -> None:
        assert isinstance(line, ChessLine)
        self._turn_to(line, limits.rating)
        before, self._played = self._played, line
        if before.fen != line.fen or before.moves != line.moves[: len(before.moves)]:
            self._game = object()
        search_limit = chess.engine.Limit(time=limits.seconds, nodes=limits.nodes)
        self._watched = self._engine.watch(self._board, 1, search_limit, self._game)

    def _turn_to(self, line: Line, rating: int | None) -> None:
        """Set up the last position, and the rating to imitate; None for full strength."""
        assert isinstance(line, ChessLine)
        self._board = line.since_null()
        if self._board.status() & TOO_MANY:
            raise BadRequest("one side has too many pieces, so engines reject this position. Remove some of them")
        if not any(self._board.generate_legal_moves()):
            raise BadRequest("the game is over here")
        strength = {LIMITED: rating is not None} | ({} if rating is None else {RATING: rating})
        self._engine.set_options(strength, known_only=True)

    def look(self, stop: threading.Event) -> dict[str, Any] | None:
        assert self._watched
        if not self._watched.over:
            stop.wait(PERIOD)
        lines, first = [], set()
        for _, info in sorted(self._watched.lines.items()):
            move = info["pv"][0]
            if move not in first:  # while a depth is in progress, lines of two depths can have the same first move
                first.add(move)
                lines.append(as_json(self._board, info))
        if not lines:
            return None
        watched = self._watched
        return {"depth": watched.depth, "nodes": watched.nodes, "speed": watched.nodes_a_second, "lines": lines}

    @property
    def over(self) -> bool:
        return self._watched is None or self._watched.over

    @property
    def move(self) -> str:
        assert self._watched
        if not self._watched.best:
            raise EngineDied(f"{self.name} played no move in a position with legal moves", "died")
        return self._watched.best.uci()

    def halt(self) -> None:
        watched, self._watched = self._watched, None
        if watched is not None and not watched.over:
            watched.stop(STOPPED)

    def kill(self) -> None:
        self._engine.kill()


def as_json(board: chess.Board, info: chess.engine.InfoDict) -> dict[str, Any]:
    """Convert one variation of an engine's analysis (a score and a sequence of moves) to a dict for the browser page of
    `kibitz board`. Scores are from White's point of view. board: the analyzed position. info: the variation and its
    score, as python-chess returns them.

    The dict has these keys, among others:

    score: the score in pawns; None for a mate.
    mate: the number of moves to the mate, negative if Black mates; None if there is no mate.
    white: White's win probability, 0 to 1.
    moves: the moves in UCI notation.
    san: the same moves in SAN.
    """
    score = info["score"].white()
    after, moves = board.copy(stack=False), info["pv"][:MOST_SHOWN]
    mate = score.mate()
    pawns = score.score()
    return {
        "moves": [move.uci() for move in moves],
        "san": [after.san_and_push(move) for move in moves],
        "score": None if pawns is None else rounded(pawns / 100, 2),
        "mate": mate,
        "white": round(win_chance(score), 4),
        "depth": info.get("depth", 0),
    }
