"""A network's candidate moves in a position of chess: the value after each and its line, from the network's search."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kibitz.play.result import SearchLimits
from kibitz.web.answers import rounded
from kibitz.web.chess.line import ChessLine

if TYPE_CHECKING:
    import chess

    from kibitz.play.chess.player import ChessPlayer
    from kibitz.play.result import PvLine, SearchResult
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line

NODES = 200
"""Evaluations of a position."""
LINES = 20
"""Moves that are told of at most."""
LIKELY = 8
"""Of the likeliest moves, so many have a value even if the search leaves them out."""
MOST_SHOWN = 8
"""Moves of a line."""


def search(
    networks: NetworkRegistry,
    network: NetworkInfo,
    line: Line,
    report: Callable[[dict[str, Any]], None],
    stop: threading.Event,
) -> dict[str, Any] | None:
    """What the search says of the last position; None where there is no move. report: called with interim results."""
    from kibitz.play import open_player

    assert isinstance(line, ChessLine)
    assert network.run
    board = line.since_null()
    if not any(board.generate_legal_moves()):
        return None
    opened = partial(open_player, network.run, lambda: networks.session(network.name), method="puct")
    # With one line it finds a mate in two at once; with several it goes by what the network thinks of.
    quick = opened()
    mate = quick.think(board.copy(), SearchLimits(nodes=1), stop).lines[0]
    mates = [mate] if mate.mate is not None and mate.mate > 0 else []

    def as_json(found: SearchResult) -> dict[str, Any]:
        others = [line for line in found.lines if line.visits and line.move not in [each.move for each in mates]]
        return {"nodes": found.nodes, "lines": [_line(board, line) for line in (*mates, *others)]}

    player = opened(lines=LINES)
    result = player.think(board.copy(), SearchLimits(nodes=NODES), stop, lambda found: report(as_json(found)))
    if result is None:
        return None
    likely = sorted(result.lines, key=lambda line: line.probability, reverse=True)[:LIKELY]
    looked_at = {line.move: _glance(quick, board, line, stop) for line in likely if not line.visits}
    return as_json(replace(result, lines=tuple(looked_at.get(line.move, line) for line in result.lines)))


def _glance(player: ChessPlayer, board: chess.Board, line: PvLine, stop: threading.Event) -> PvLine:
    """The value after a move that was not searched, by one look at the position."""
    after = board.copy()
    after.push(line.move)
    found = player.think(after, SearchLimits(nodes=1), stop)
    if found is None:
        return line
    reply = found.lines[0]
    mate = None if reply.mate is None else -reply.mate if reply.mate > 0 else 1 - reply.mate
    win, draw, loss = reply.wdl
    return replace(line, score=-reply.score, mate=mate, wdl=(loss, draw, win), pv=(line.move, *reply.pv), visits=1)


def _line(board: chess.Board, line: PvLine) -> dict[str, Any]:
    """A move as White sees it; p: how likely the search took it to be before, 0..1."""
    after, pv = board.copy(stack=False), (line.pv or (line.move,))[:MOST_SHOWN]
    win, draw, _ = line.wdl
    chance = (win + draw / 2) / 1000
    mate = None if line.mate is None else line.mate * (1 if board.turn else -1)
    return {
        "moves": [move.uci() for move in pv],
        "san": [after.san_and_push(move) for move in pv],
        "p": rounded(line.probability),
        "white": rounded(chance if board.turn else 1 - chance),
        "mate": mate,
        "visits": line.visits,
    }
