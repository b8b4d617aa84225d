"""Run the process of a chess engine in a match: start the process, request its moves, and end it in every case, even
after an error.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import chess
import chess.engine

from kibitz.arena.contest import ATTEMPTS, Fault, StartFailed, in_words
from kibitz.arena.players import Participant
from kibitz.external import EngineDied, kill_group
from kibitz.external.uci import MATE, ExternalEngine, OptionRefused

START_PATIENCE = 20.0
"""The seconds in which an engine must reply to `uci`, the first command. If the engine loads its files later, the time
limit of a move applies.
"""


@dataclass(frozen=True)
class MoveAnswer:
    """A move that an engine played, and what the engine reported about it.

    move: the move.
    seconds: the time that the move took.
    score: the evaluation in centipawns from the mover's point of view; None if the engine did not report it. A mate in
        n moves is 100,000 − n for the mover, and −(100,000 − n) for the opponent.
    depth, nodes: the depth in plies and the number of nodes of the search; None if the engine did not report them.
    """

    move: chess.Move
    seconds: float
    score: int | None = None
    depth: int | None = None
    nodes: int | None = None


class ChessEngine:
    """The process of the chess engine of one player.

    participant: the player. hang: the seconds after which the engine counts as hung, if no time limit applies.

    `start` starts the process. After the exception Fault, the process has ended, and `start` can start a new process.
    """

    def __init__(self, participant: Participant, hang: float):
        self.participant = participant
        self.hang = hang
        self.identity = participant.name
        self._engine: ExternalEngine | None = None
        self._process: int | None = None
        self._closed = False

    def start(self) -> None:
        """Start the process if it isn't running. Raises StartFailed if three attempts fail, or if the error shows that
        further attempts would fail, too.
        """
        if self._engine is not None:
            if self._engine.runs:
                return
            self.stop()  # the process has ended between two games
        reason = ""
        for _ in range(ATTEMPTS):
            if self._closed:
                break
            try:
                self._start()
                return
            except (EngineDied, OptionRefused) as error:
                reason = self._start_problem(error)
                self.stop()
                if isinstance(error, OptionRefused) or error.how == "absent":
                    break  # starting it again would fail, too
        name, command = self.participant.name, " ".join(self.participant.command)
        raise StartFailed(f"{name} cannot be started ({reason}). Try it in a terminal: {command}")

    def _start(self) -> None:
        def begun(process: int) -> None:
            self._process = process

        self._engine = engine = ExternalEngine(self.participant.command, self.participant.name, START_PATIENCE, begun)
        if self._closed:  # another thread closed the engine while it started
            self.stop()
            raise EngineDied(f"{engine.name}: the match has ended", "died")
        self.identity = engine.name
        engine.set_options(dict(self.participant.options))
        engine.ping(self.hang)  # an engine replies only after it has loaded its files

    def _start_problem(self, error: EngineDied | OptionRefused) -> str:
        if isinstance(error, OptionRefused):
            return in_words(error)
        if error.how == "hung":
            # an engine that has replied to `uci` only has to load its files
            return (
                f"it was not ready within {self.hang:g} s" if self._engine else "it does not reply in the UCI protocol"
            )
        return f"it ends at once, {error.detail}" if error.how == "died" else error.detail

    def begin_game(self, game: object) -> None:
        """Announce a new game to the engine before the game's clock runs. game: an object that identifies the game.

        Raises Fault if the engine's process has ended, or if the engine is not ready within `hang` seconds. In both
        cases, the method also ends the process.
        """
        if self._engine is None:
            raise Fault("crash", "ended")
        try:
            self._engine.begin_game(game, self.hang)
        except EngineDied as error:
            raise self._fault(error, f"was not ready for the next game within {self.hang:g} s") from None

    def _fault(self, error: EngineDied, if_hung: str) -> Fault:
        """End the process, and return the Fault for the caller to raise. if_hung: the description of the fault if the
        engine has hung.
        """
        self.stop()
        return Fault("hang", if_hung) if error.how == "hung" else Fault("crash", f"crashed ({error.detail})")

    def answer(self, board: chess.Board, limit: chess.engine.Limit, game: object, patience: float | None) -> MoveAnswer:
        """Return the engine's move in a position.

        board: the position.
        limit: the limit of the search, which is sent to the engine.
        game: an object that identifies the game.
        patience: the seconds after which the engine counts as hung; None for the engine's `hang`.

        Raises Fault if the engine crashes, hangs or plays no legal move. In each of these cases, the method also ends
        the process.
        """
        engine = self._engine
        if engine is None:
            raise Fault("crash", "ended")
        begun = time.perf_counter()
        try:
            result = engine.play(board, limit, game, self.hang if patience is None else patience)
        except EngineDied as error:
            raise self._fault(error, f"found no move within {time.perf_counter() - begun:.1f} s") from None
        except chess.engine.EngineError as error:
            self.stop()
            raise Fault("illegal", f"played an illegal move ({in_words(error)})") from None
        seconds = time.perf_counter() - begun
        if not result.move:  # a null move, sent as 0000, doesn't count as a move either
            self.stop()
            raise Fault("illegal", "played no move in a position with legal moves")
        info = result.info
        score = info["score"].pov(board.turn).score(mate_score=MATE) if "score" in info else None
        return MoveAnswer(result.move, seconds, score, info.get("depth"), info.get("nodes"))

    def stop(self) -> None:
        """End the engine's process and all processes that it started."""
        engine, self._engine = self._engine, None
        process, self._process = self._process, None
        if engine is not None:
            engine.kill()
        elif process is not None:  # the process has been started, but has not replied yet
            kill_group(process)

    def close(self) -> None:
        """End the process, so that it can't be started again.

        You can call this method while another thread waits for a move of the engine. The call in the other thread then
        raises Fault.
        """
        self._closed = True
        self.stop()
