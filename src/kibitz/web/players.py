"""Players: a network that thinks about its move, and tells what it thinks on the way."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from kibitz.web.networks import NetworkInfo, NetworkRegistry, stamp
from kibitz.web.params import BadRequest, Fields, number, text, whole

if TYPE_CHECKING:
    import chess

    from kibitz.play.go.player import Study
    from kibitz.play.result import SearchResult
    from kibitz.web.chess.line import ChessLine
    from kibitz.web.go.line import GoLine
    from kibitz.web.positions import Line

DEFAULT_SECONDS = 1.0
LONGEST = 600.0
MOST_NODES = 10**7
HOTTEST = 2.0
"""Temperature at most, as the engines take it."""
PLAYERS_KEPT = 6
BETWEEN = 0.15
"""Seconds between two lines about a study, at least."""

Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class PlayRequest:
    """How to play: the method, None for the usual one; temperature 0 for the best move; limits, one at least."""

    method: str
    temperature: float
    nodes: int | None
    seconds: float | None


def read_wanted(fields: Fields, known: NetworkInfo) -> PlayRequest:
    """Raises BadRequest, also for a network that does not play."""
    methods = known.methods
    if not methods:
        raise BadRequest(f"{known.name} does not choose moves; chessnet does, say")
    method = text(fields, "method", methods[0])
    if method not in methods:
        raise BadRequest(f"{known.name} has no method {method[:40]!r}; choose from {', '.join(methods)}")
    temperature = number(fields, "temperature", 0.0, 0, HOTTEST) or 0.0
    nodes = whole(fields, "nodes", 0, 0, MOST_NODES) or None
    seconds = number(fields, "seconds", None, 0, LONGEST)
    if nodes is None and seconds is None:
        seconds = DEFAULT_SECONDS
    return PlayRequest(method, temperature, nodes, seconds)


class Cancelled(Exception):
    """Nobody wants the answer any more."""


class Players:
    """Players, made when first asked for and kept with what they remember. Used in their desks' threads."""

    def __init__(self, networks: NetworkRegistry):
        self.networks = networks
        self._kept: OrderedDict[tuple[str, str, float], tuple[object, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def player(self, known: NetworkInfo, wanted: PlayRequest) -> Any:
        """What has `think` as play.player.Player has it."""
        assert known.run
        key, now = (known.name, wanted.method, wanted.temperature), stamp(known.run)
        with self._lock:
            kept = self._kept.get(key)
            if kept and kept[0] == now:
                self._kept.move_to_end(key)
                return kept[1]
        made = self._open(known, wanted)
        with self._lock:
            self._kept[key] = now, made
            while len(self._kept) > PLAYERS_KEPT:
                self._kept.popitem(last=False)
        return made

    def _open(self, known: NetworkInfo, wanted: PlayRequest) -> Any:
        from kibitz.play import open_player

        assert known.run
        network = partial(self.networks.session, known.name)
        return open_player(known.run, network, method=wanted.method, temperature=wanted.temperature)

    def think(
        self,
        known: NetworkInfo,
        line: Line,
        wanted: PlayRequest,
        seq: int,
        tell: Callable[[Any], None],
        stop: threading.Event,
    ) -> Iterator[list[dict[str, Any]]]:
        """One step: the move. What is thought on the way is told."""

        def say(thought: dict[str, Any]) -> None:
            tell([{"seq": seq, **thought}])

        move: str | None
        if line.game == "go":
            move = self._of_go(known, line, wanted, say, stop)
        else:
            move = self._of_chess(known, line, wanted, say, stop)
        yield [{"seq": seq, "move": move, "done": True}]

    def _of_chess(
        self, known: NetworkInfo, line: ChessLine, wanted: PlayRequest, say: Tell, stop: threading.Event
    ) -> str | None:
        from kibitz.play.result import SearchLimits

        board = line.board()
        if not any(board.generate_legal_moves()):
            return None
        player = self.player(known, wanted)
        limits = SearchLimits(nodes=wanted.nodes, seconds=wanted.seconds)
        thought = player.think(board.copy(), limits, stop, lambda thought: say(_told(board, thought)))
        if thought is None:
            return None
        say(_told(board, thought))
        move: str = thought.lines[0].move.uci()
        return move

    def _of_go(self, known: NetworkInfo, line: GoLine, wanted: PlayRequest, say: Tell, stop: threading.Event) -> str:
        from kibitz.games.go.points import BLACK, PASS, to_gtp
        from kibitz.play.go import ownership

        board = line.board()
        side, begun, last_said = board.to_move, time.perf_counter(), 0.0

        def tell(study: Study) -> None:
            nonlocal last_said
            if stop.is_set():
                raise Cancelled
            seconds = time.perf_counter() - begun
            if seconds - last_said < BETWEEN and last_said:
                return
            last_said = seconds
            found = study.candidates()
            lead = found[0].lead if side == BLACK else -found[0].lead
            name = to_gtp(found[0].point, line.size)
            chance = ownership.winrate(lead, ownership.spread(found[0].owners, line.size))
            say(
                {"depth": 1, "nodes": int(study.looks.sum()), "seconds": round(seconds, 3), "score": round(lead, 2),
                 "black": round(chance, 4), "pv": [name], "san": [name]}
            )  # fmt: skip

        player = self.player(known, wanted)
        last = line.moves[-1] if line.moves else PASS
        chosen = player.choose(board, side, line.terms, last=last, seconds=wanted.seconds, tell=tell)
        return to_gtp(chosen.point, line.size)


def _told(board: chess.Board, thought: SearchResult) -> dict[str, Any]:
    """A thought as the page reads it. score: pawns, mate: moves to mate, white: White's chance, a draw being half a
    win; all in White's view."""
    line = thought.lines[0]
    sign = 1 if board.turn else -1
    win, draw, _ = line.wdl
    chance = (win + draw / 2) / 1000
    after, san = board.copy(stack=False), []
    for move in line.pv or (line.move,):
        san.append(after.san_and_push(move))
    return {
        "depth": thought.depth,
        "nodes": thought.nodes,
        "seconds": round(thought.seconds, 3),
        "score": sign * line.score / 100,
        "mate": None if line.mate is None else sign * line.mate,
        "white": round(chance if board.turn else 1 - chance, 4),
        "pv": [move.uci() for move in line.pv or (line.move,)],
        "san": san,
    }
