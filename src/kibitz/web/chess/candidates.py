"""Search a chess position with a network for its best moves, with the value of each move and the moves that follow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kibitz.play.result import SearchLimits
from kibitz.web.answers import rounded
from kibitz.web.chess.line import ChessLine, read_move
from kibitz.web.chess.ratings import by_rating

if TYPE_CHECKING:
    import chess

    from kibitz.play.result import PvLine, SearchResult
    from kibitz.play.value import PositionValue
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line

LINES = 12
"""The largest number of moves that are shown. Each has a separate value."""
MOST_SHOWN = 8
"""The page shows at most this number of moves of each line (sequence of moves)."""


def search(
    networks: NetworkRegistry,
    network: NetworkInfo,
    line: Line,
    report: Callable[[dict[str, Any]], None],
    stop: threading.Event,
) -> dict[str, Any] | None:
    """Search the last position of a chess line (a start position and moves), and return its best moves as a dict for
    the browser page of `kibitz board`. Returns None if there is no legal move, or if the search was stopped before it
    had a result.

    report: a function that is called with interim results. stop: an event that ends the search.

    For a network with rating inputs, the final result has the key "risk": the probability of a mistake at each rating,
    which `by_rating` computes from this search.
    """
    from kibitz.analysis.chess.limits import NODES
    from kibitz.analysis.chess.ratings import OPPONENT
    from kibitz.analysis.chess.risk import searched_losses
    from kibitz.play import open_player
    from kibitz.play.puct.player import TREE_SHARE

    assert isinstance(line, ChessLine)
    assert network.run
    board = line.since_null()
    if not any(board.generate_legal_moves()):
        return None
    player = open_player(network.run, lambda: networks.session(network.name), method="puct", lines=LINES)

    def as_json(found: SearchResult) -> dict[str, Any]:
        return {"nodes": found.nodes, "lines": [_line(board, line) for line in found.lines if line.own_value]}

    # A search for several lines gives the tree only the share TREE_SHARE of its evaluations. With this limit, the tree
    # gets NODES evaluations, as in all other interfaces.
    limits = SearchLimits(nodes=round(NODES / TREE_SHARE))
    result = player.think(board.copy(), limits, stop, lambda found: report(as_json(found)))
    if result is None or not network.rated or OPPONENT not in networks.session(network.name).side_inputs:
        return None if result is None else as_json(result)
    return as_json(result) | {"risk": by_rating(networks, network, line, searched_losses(player.root_moves))["risk"]}


def values_after(
    networks: NetworkRegistry, network: NetworkInfo, line: Line, names: Sequence[str], stop: threading.Event
) -> Iterator[dict[str, Any]]:
    """Yield, for each move in `names`, the value after this move and the moves that follow, as a dict for the browser
    page of `kibitz board`. A separate search finds the value. If the move is then played, the page shows the same
    value.

    names: legal moves in the last position of the line (a start position and moves), in UCI or SAN notation. stop: an
    event that ends the search. Raises BadRequest for an illegal move, and Stopped when `stop` is set.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import Judge

    assert isinstance(line, ChessLine)
    board = line.since_null()
    judge = Judge(networks.session(network.name), load(network.system), stop=stop)
    for name in names:
        after, move = board.copy(), read_move(board, name)
        after.push(move)
        value = judge.value(after)
        yield valued_line(board, (move.uci(), *value.moves), value)


def valued_line(board: chess.Board, moves: Sequence[str], value: PositionValue) -> dict[str, Any]:
    """Return a line of moves in UCI notation, and the value after its first move in White's view, as a dict for the
    browser page of `kibitz board`.
    """
    after, shown = board.copy(stack=False), moves[:MOST_SHOWN]
    sans = [after.san_and_push(after.parse_uci(name)) for name in shown]
    return {"moves": list(shown), "san": sans, "white": rounded(value.chance), "mate": value.mate}


def _line(board: chess.Board, line: PvLine) -> dict[str, Any]:
    """Convert a candidate move to JSON, with values in White's view. p: the move's probability before the search, 0 to
    1.
    """
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
