"""Routes for a network's results on the positions of a line (a start position and moves): analysis, evaluations of
moves, heat maps, input planes, and a player's moves.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kibitz.web.judged import remembered
from kibitz.web.params import BadRequest, Fields, text, whole, words
from kibitz.web.routing import StreamJob, get, post, post_for_stream, post_to_network
from kibitz.web.state import AppState

if TYPE_CHECKING:
    from starlette.requests import Request

    from kibitz.web.networks import NetworkInfo
    from kibitz.web.positions import Line

MAX_SEQ = 2**53
PUCT = "puct"
"""The name of the method that chooses moves with a PUCT search, for both games."""
MOST_CANDIDATES = 12
"""The largest number of moves in a request to /api/candidates."""
_FILES, _RANKS = "abcdefgh", "12345678"


def read_request(state: AppState, fields: Fields) -> tuple[NetworkInfo, Line]:
    """Parse the network and the line (a start position and moves) in a request. fields: the JSON of the request. Raises
    BadRequest if they are invalid, or if the network does not support the line's game or board size.
    """
    from kibitz.web import positions

    name = text(fields, "network")
    network = state.networks.find(name) if fields.get("snapshot") is not None else state.networks.ready(name)
    line = positions.read_line(fields)
    line.check(network)
    return network, line


def targets(state: AppState, fields: Fields) -> Callable[[], dict[str, Any]]:
    """Parse `fields`, the JSON of a request to `/api/targets`. Return a function that computes with the network where
    the piece on a square would move.
    """
    from kibitz.web import answers

    network, line = read_request(state, fields)
    square = _read_square(text(fields, "square"))
    return lambda: answers.targets(state.networks, network, line, square)


def planes(state: AppState, fields: Fields) -> Callable[[], dict[str, Any]]:
    """Parse `fields`, the JSON of a request to `/api/planes`. Return a function that computes the network's input
    planes for a position.
    """
    from kibitz.web import planes

    network, line = read_request(state, fields)
    return lambda: planes.planes(network, line)


def ratings(state: AppState, fields: Fields) -> Callable[[], dict[str, Any]]:
    """Parse `fields`, the JSON of a request to `/api/ratings`. Return a function that computes the moves that players
    of each rating are likely to choose. The network predicts these moves; no games are counted.
    """
    network, line = read_request(state, fields)
    if line.game != "chess":
        raise BadRequest("moves by rating can be shown only for chess")

    def answer() -> dict[str, Any]:
        by_rating: Callable[..., dict[str, Any]] = importlib.import_module("kibitz.web.chess.ratings").by_rating
        return by_rating(state.networks, network, line)

    return answer


def occlusion(state: AppState, fields: Fields) -> Callable[[], dict[str, Any]]:
    """Parse `fields`, the JSON of a request to `/api/occlusion`. Return a function that computes how much each piece or
    stone affects the network's output.
    """
    network, line = read_request(state, fields)
    return lambda: line.occlusion(state.networks.session(network.name), network)


def analyse(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/analyse`. Return a job that computes the network's predictions for
    the positions of a line (a start position and moves), and sends them to the browser page of `kibitz board`.
    """
    from kibitz.web import answers

    network, line = read_request(state, fields)
    last = len(line.moves)
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)
    first = whole(fields, "from", 0, 0, last)
    last = whole(fields, "to", last, first, last)
    checkpoint = None if fields.get("snapshot") is None else text(fields, "snapshot")
    return StreamJob(
        f"network {network.name}",
        seq,
        lambda on_step, stop: answers.analyse(state.networks, network, line, first, last, seq, checkpoint),
    )


def preparing(state: AppState, request: Request) -> dict[str, int | bool | None]:
    """Return the response of /api/preparing: the progress of compiling kibitz's numba functions."""
    return state.preparing.state()


def judge(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/judge`. Return a job that evaluates the moves of a line (a start
    position and moves) with the network or an engine. The job sends the evaluations to the browser page of `kibitz
    board`.
    """
    network, line = read_request(state, fields)
    program = state.judges.program(fields, line.game)
    last = len(line.moves)
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)
    first = whole(fields, "from", min(1, last), 0, last)
    last = whole(fields, "to", last, first, last)
    if program is not None:

        def steps(stop: threading.Event) -> Iterator[list[dict[str, Any]]]:
            for lines in by_engine(line).judge(*state.judges.judge(program, network), line, first, last, seq, stop):
                state.judges.keep()
                yield lines

        return StreamJob(f"checker {program.name}", seq, lambda on_step, stop: steps(stop))
    from kibitz.web.chess import judging

    chess_line = judging.judged(network, line)

    def own(stop: threading.Event) -> Iterator[list[dict[str, Any]]]:
        def stretch(first: int, last: int) -> Iterator[list[dict[str, Any]]]:
            return judging.judge(state.networks, network, chess_line, first, last, seq, stop)

        if state.judged is None:
            return stretch(first, last)
        keys = state.judged.keys(network, chess_line, judging.limits())
        return remembered(state.judged, keys, first, last, seq, stretch)

    return StreamJob(f"judge {network.name}", seq, lambda on_step, stop: own(stop))


def judged(state: AppState, fields: Fields) -> dict[str, list[dict[str, Any]]]:
    """Return the response of /api/judged: {"judged": the stored evaluations of the moves of a line (a start position
    and moves)}. fields: the JSON of the request. Each evaluation is a dict that also has the "ply" of the move. Nothing
    is evaluated.
    """
    network, line = read_request(state, fields)
    if state.judged is None or not line.moves:
        return {"judged": []}
    module = importlib.import_module(f"kibitz.web.{'chess.judging' if line.game == 'chess' else 'go.checking'}")
    keys = state.judged.keys(network, line, module.limits())
    known = state.judged.get(keys)
    return {"judged": [{**known[key], "ply": ply} for ply, key in enumerate(keys) if key in known]}


def check(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/check`. Return a job that evaluates the last move of a line (a
    start position and moves) with the network or an engine. The job sends the evaluation to the browser page of `kibitz
    board`.
    """
    network, line = read_request(state, fields)
    program = state.judges.program(fields, line.game)
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)

    def found(stop: threading.Event) -> dict[str, Any]:
        module = by_engine(line) if program else importlib.import_module(f"kibitz.web.{line.game}.checking")
        judged_store = state.judged if program is None and line.game == "go" and line.moves else None
        key = judged_store.keys(network, line, module.limits())[-1] if judged_store else b""
        if judged_store and (known := judged_store.get([key])):
            return known[key]
        judge = state.judges.judge(program, network) if program else (state.networks, network)
        checked: dict[str, Any] = module.check(*judge, line, stop)
        if judged_store:
            judged_store.put({key: checked})
        return checked

    def steps(on_step: Callable[[Any], None], stop: threading.Event) -> Iterator[list[dict[str, Any]]]:
        yield [{"seq": seq, **found(stop), "done": True}]

    return StreamJob(f"checker {program.name}" if program else f"judge {network.name}", seq, steps)


def by_engine(line: Line) -> Any:
    """Return the module that evaluates moves with an external engine, for the game of the line (a start position and
    moves).
    """
    return importlib.import_module(f"kibitz.web.{line.game}.by_engine")


def value(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/value`. Return a job that computes the value of the last position
    with the network's search, and sends it to the browser page of `kibitz board`.
    """
    network, line = read_request(state, fields)
    if line.game == "chess":
        importlib.import_module("kibitz.web.chess.judging").judged(network, line)
    elif PUCT not in network.methods:
        raise BadRequest(f"{network.name} does not search, so it has no search value. Choose another network")
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)

    def steps(on_step: Callable[[Any], None], stop: threading.Event) -> Iterator[list[dict[str, Any]]]:
        module = importlib.import_module(f"kibitz.web.{line.game}.value")
        yield [{"seq": seq, **module.value(state.networks, network, line, stop), "done": True}]

    return StreamJob(f"value {network.name}", seq, steps)


def candidates(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/candidates`. Return a job that searches the last position with the
    network or an engine, and sends the best moves to the browser page of `kibitz board`. The moves in "moves" have
    values too, even if they are not among the best. The result of the network's search has "searched": true. It comes
    before the values of the other moves. If "searched" of the request is true, the page has this result already, and
    only the moves in "moves" are evaluated.
    """
    network, line = read_request(state, fields)
    program = state.judges.program(fields, line.game)
    names = words(fields, "moves", MOST_CANDIDATES)
    if program is None and PUCT not in network.methods:
        raise BadRequest(f"{network.name} does not search, so it cannot judge single moves. Choose another network.")
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)

    def found(report: Callable[[dict[str, Any]], None], stop: threading.Event) -> dict[str, Any] | None:
        best: dict[str, Any] | None
        if program is not None:
            best = by_engine(line).candidates(*state.judges.judge(program, network), line, names, report, stop)
        else:
            module = importlib.import_module(f"kibitz.web.{line.game}.candidates")
            known = fields.get("searched") is True
            best = {"lines": []} if known else module.search(state.networks, network, line, report, stop)
            if best is not None and not stop.is_set():
                among = {one["moves"][0] for one in best["lines"]}
                others = [name for name in names if name not in among]
                if others and not known:
                    report({**best, "lines": list(best["lines"]), "searched": True})
                for one in module.values_after(state.networks, network, line, others, stop):
                    best["lines"].append(one)
                    report(best)
        return best

    def steps(on_step: Callable[[Any], None], stop: threading.Event) -> Iterator[list[dict[str, Any]]]:
        best = found(lambda some: on_step([{"seq": seq, **some}]), stop)
        yield [{"seq": seq, **(best or {"lines": []}), "done": True}]

    return StreamJob(f"checker {program.name}" if program else f"candidates {network.name}", seq, steps)


def think(state: AppState, fields: Fields) -> StreamJob:
    """Parse `fields`, the JSON of a request to `/api/think`. Return a job that lets the network choose a move, and
    sends the move to the browser page of `kibitz board`.
    """
    from kibitz.web.players import read_request as read_play_request

    network, line = read_request(state, fields)
    play = read_play_request(fields, network)
    seq = whole(fields, "seq", 0, 0, MAX_SEQ)
    return StreamJob(
        f"player {network.name}",
        seq,
        lambda on_step, stop: state.players.think(network, line, play, seq, on_step, stop),
    )


def _read_square(name: str) -> int:
    """Parse the name of a square, and return its index, from 0 for a1 to 63 for h8."""
    if len(name) != 2 or name[0] not in _FILES or name[1] not in _RANKS:
        raise BadRequest("square must be one from a1 to h8")
    return _FILES.index(name[0]) + 8 * (int(name[1]) - 1)


ROUTES = [
    get("/api/preparing", preparing),
    post_to_network("/api/targets", targets),
    post_to_network("/api/planes", planes),
    post_to_network("/api/occlusion", occlusion),
    post_to_network("/api/ratings", ratings),
    post_for_stream("/api/analyse", analyse),
    post_for_stream("/api/judge", judge),
    post("/api/judged", judged),
    post_for_stream("/api/check", check),
    post_for_stream("/api/candidates", candidates),
    post_for_stream("/api/value", value),
    post_for_stream("/api/think", think),
]
