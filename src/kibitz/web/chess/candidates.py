"""A network's candidate moves in a position of chess: the value after each and its line, from the network's search."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from kibitz.play.result import SearchLimits
from kibitz.web.answers import rounded
from kibitz.web.chess.line import ChessLine

if TYPE_CHECKING:
    import chess

    from kibitz.play.result import PvLine, SearchResult
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line

NODES = 200
"""Evaluations of a position."""
LINES = 20
"""Moves that are told of at most."""
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
    mate = opened().think(board.copy(), SearchLimits(nodes=1), stop).lines[0]
    mates = [mate] if mate.mate is not None and mate.mate > 0 else []

    def as_json(found: SearchResult) -> dict[str, Any]:
        others = [line for line in found.lines if line.visits and line.move not in [each.move for each in mates]]
        return {"nodes": found.nodes, "lines": [_line(board, line) for line in (*mates, *others)]}

    player = opened(lines=LINES)
    result = player.think(board.copy(), SearchLimits(nodes=NODES), stop, lambda found: report(as_json(found)))
    return None if result is None else as_json(result)


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
