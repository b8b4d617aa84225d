"""Choose a player's move in a chess position, and a human thinking time for it. A player is a network with a method to
choose moves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kibitz.play.result import SearchLimits
from kibitz.web.chess.line import ChessLine

if TYPE_CHECKING:
    import chess

    from kibitz.play.result import SearchResult
    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo
    from kibitz.web.players import MoverClock, PlayRequest


def think(
    player: Callable[[], Any],
    line: ChessLine,
    request: PlayRequest,
    report: Callable[[Mapping[str, Any]], None],
    stop: threading.Event,
) -> str | None:
    """Return the move that a player (a network with a method to choose moves) chooses in the last position of a line,
    in UCI notation; None if there is no legal move. `kibitz.web.positions.Line.think` describes the arguments.
    """
    board = line.since_null()
    if not any(board.generate_legal_moves()):
        return None
    limits = SearchLimits(nodes=request.nodes, seconds=request.seconds)
    result = player().think(board.copy(), limits, stop, lambda result: report(_as_json(board, result)))
    if result is None:
        return None
    report(_as_json(board, result))
    move: str = result.lines[0].move.uci()
    return move


def people_seconds(
    session: Session, network: NetworkInfo, line: ChessLine, clock: MoverClock, rating: int | None, move: str
) -> float:
    """Return a random human thinking time for a move, in seconds; 0 without a clock. The time is sampled from the
    thinking times of people in similar positions, with a similar clock and rating.

    rating: the rating of both players, for a network with rating inputs; None for the highest rating. clock: the clock
    of the side to move. move: a move in the last position of the line (a start position and moves), in UCI notation.

    For a personal network, the time is sampled from the times of its player. The result is then 0 if the player's games
    had no clock times.
    """
    import chess
    import numpy as np

    from kibitz.personal.habits import Pace, PersonalPace
    from kibitz.play.chess.thinking_time import PaceOfPeople
    from kibitz.play.session import STRONGEST, with_rating

    board, random = line.since_null(), np.random.default_rng()
    limits = SearchLimits(clock=clock.left, increment=clock.increment)
    pace: Pace
    if network.rated:
        conditioned = with_rating(session, rating or STRONGEST)
        pace = PaceOfPeople(conditioned, conditioned.side_inputs, rating or STRONGEST, random, start=clock.start)
    else:
        assert network.run
        pace = PersonalPace(network.run.info.get("habits", {}).get("think", []), random)
    return round(pace.seconds(board, chess.Move.from_uci(move), limits), 2)


def _as_json(board: chess.Board, result: SearchResult) -> dict[str, Any]:
    """Return a search result for the page, in White's view.

    score: in pawns. mate: moves to mate, or None. white: White's win probability, 0 to 1; a draw counts as half a win.
    """
    line = result.lines[0]
    sign = 1 if board.turn else -1
    win, draw, _ = line.wdl
    chance = (win + draw / 2) / 1000
    after, san = board.copy(stack=False), []
    for move in line.pv or (line.move,):
        san.append(after.san_and_push(move))
    return {
        "depth": result.depth,
        "nodes": result.nodes,
        "seconds": round(result.seconds, 3),
        "score": sign * line.score / 100,
        "mate": None if line.mate is None else sign * line.mate,
        "white": round(chance if board.turn else 1 - chance, 4),
        "pv": [move.uci() for move in line.pv or (line.move,)],
        "san": san,
    }
