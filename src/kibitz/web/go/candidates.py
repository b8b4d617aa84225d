"""Search a Go position with a network for its best moves, with the lead, the win probability and the visits of each
move, and the moves that follow.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kibitz.games.go.points import BLACK, to_gtp
from kibitz.web.answers import rounded
from kibitz.web.go.line import GoLine, read_point

if TYPE_CHECKING:
    from kibitz.play.go.thought import GoThought, Look, MoveThought
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line

LINES = 20
"""The largest number of moves in a result."""
MOST_SHOWN = 8
"""The page shows at most this number of moves of each line (sequence of moves)."""
PERIOD = 0.5
"""Seconds between two reports of interim results."""


def search(
    networks: NetworkRegistry,
    network: NetworkInfo,
    line: Line,
    report: Callable[[dict[str, Any]], None],
    stop: threading.Event,
) -> dict[str, Any]:
    """Search the last position of a Go line (a start position and moves), and return its best moves as a dict for the
    browser page of `kibitz board`.

    report: a function that is called with interim results. stop: an event that ends the search.
    """
    from kibitz.play.go.value import search_board

    assert isinstance(line, GoLine)
    due = time.monotonic() + PERIOD

    def on_look(look: Look) -> None:
        nonlocal due
        if time.monotonic() >= due:
            report(_as_json(look(LINES), line.size))
            due = time.monotonic() + PERIOD

    thought = search_board(networks.session(network.name), line.board(), line.terms, on_progress=on_look, stop=stop)
    return _as_json(thought, line.size)


def values_after(
    networks: NetworkRegistry, network: NetworkInfo, line: Line, names: Sequence[str], stop: threading.Event
) -> Iterator[dict[str, Any]]:
    """Yield, for each move in `names`, the value after this move and the moves that follow, as a dict for the browser
    page of `kibitz board`. A separate search finds the value. If the move is then played, the page shows the same
    value.

    names: moves in the last position of the line (a start position and moves), in GTP notation. An illegal move has no
    result: a network may predict a suicide or a repetition, which the rules forbid. stop: an event that ends the
    search. Raises BadRequest for a text that is not a move.
    """
    from kibitz.play.go.value import value_board

    assert isinstance(line, GoLine)
    board = line.board()
    for name in names:
        point = read_point(name, line.size)
        if board.why_not(board.to_move, point) is not None:
            continue
        after = replace(line, moves=(*line.moves, point))
        value = value_board(networks.session(network.name), after.board(), after.terms, stop=stop)
        if stop.is_set():
            return
        moves = [name, *value.moves][:MOST_SHOWN]
        assert value.lead is not None
        yield {"moves": moves, "san": moves, "black": rounded(value.chance), "score": rounded(value.lead, 1)}


def _as_json(thought: GoThought, size: int) -> dict[str, Any]:
    lines = [_line(move, thought.colour, size) for move in thought.moves[:LINES] if move.visits]
    return {"nodes": thought.visits, "lines": lines}


def _line(move: MoveThought, colour: int, size: int) -> dict[str, Any]:
    """Convert a move to JSON, in Black's view. p: the network's probability of the move, 0 to 1."""
    names = [to_gtp(point, size) for point in (move.pv or (move.point,))[:MOST_SHOWN]]
    black = colour == BLACK
    return {
        "moves": names,
        "san": names,
        "p": rounded(move.prior),
        "black": rounded(move.winrate if black else 1 - move.winrate),
        "score": rounded(move.lead if black else -move.lead, 1),
        "visits": move.visits,
    }
