"""Evaluate chess positions with a network, as dicts for the page of `kibitz board`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.web.answers import batches, rounded, rounded_list
from kibitz.web.chess.line import ChessLine, end_of

if TYPE_CHECKING:
    import chess

    from kibitz.play.session import Answers, Session
    from kibitz.web.networks import NetworkInfo
    from kibitz.web.torch_process import TorchSession

N_MOVES = 8
"""The number of likely moves that the page lists for a position."""
COMPARED_RATINGS = (1200, 2200)
"""The ratings, of both players, for which the page lists the most likely moves. This list exists only for networks with
rating inputs.
"""
_WHITE_WINS_AT_END = {"checkmate": None, "stalemate": 0.5, "dead": 0.5}


def results(
    session: Session | TorchSession, network: NetworkInfo, line: ChessLine, first: int, last: int
) -> Iterator[list[dict[str, Any]]]:
    """Yield the network's results for the positions of a line (a start position and moves) from ply `first` to ply
    `last`, batch by batch. Each result is a dict for the browser page of `kibitz board`. session: the loaded network.

    If the network has rating inputs, moves are predicted for the ratings, speed and rating scale of the game. The win
    probability is always predicted without these inputs, because the value of a position must not depend on the
    players.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.ratings import OPPONENT, RATING

    analysis = load(network.system)
    codes, state = line.rows(first, last)
    conditioned_state = telling(session.side_inputs, line, state, first)
    plain = telling(session.side_inputs, replace(line, headers=()), state, first)((0, 0))
    own = conditioned_state(line.ratings) if any(line.ratings) and RATING in session.side_inputs else None
    compared = COMPARED_RATINGS if network.rated and OPPONENT in session.side_inputs else ()
    others = [(rating, conditioned_state((rating, rating))) for rating in compared]
    boards = islice(line.boards(), first, None)
    for part in batches(len(codes)):
        answers = session.evaluate(codes[part], plain[part])
        white = analysis.white_wins(answers, state[part])
        if own is not None:
            answers = session.evaluate(codes[part], own[part])
        expected = analysis.expected_moves(answers, codes[part], state[part])
        by_rating = [
            (rating, at[2])
            for rating, rows in others
            if (at := analysis.expected_moves(session.evaluate(codes[part], rows[part]), codes[part], state[part]))
        ]
        batch = []
        for i, ply in enumerate(range(first + part.start, first + part.stop)):
            board = next(boards)
            result: dict[str, Any] = {
                "ply": ply,
                "white": None if white is None else _chance(white[i], board),
                "moves": None,
                "origin": None,
                "owners": None,
                "score": None,
            }
            if expected is not None:
                moves, offsets, probabilities = expected
                its = slice(int(offsets[i]), int(offsets[i + 1]))
                result["moves"] = best_moves(board, moves[its], probabilities[its])
                result["origin"] = rounded_list(answers["origin"][i])
                if network.rated and own is not None and (rating := line.ratings[not board.turn]):
                    result["rating"] = rating
                if by_rating:
                    result["by_rating"] = [
                        {"rating": rating, "moves": best_moves(board, moves[its], at_rating[its])}
                        for rating, at_rating in by_rating
                    ]
            batch.append(result)
        yield batch


def telling(
    side_inputs: Mapping[str, int], line: ChessLine, state: NDArray[np.uint8], first: int
) -> Callable[[tuple[int, int]], NDArray[np.uint8]]:
    """Return a function that appends a network's side inputs to the positions of a line (a start position and moves).
    Side inputs are inputs in addition to the position: the ratings, the game's speed and rating scale, and the last
    moves.

    The returned function takes White's and Black's rating (0 if unknown). It returns `state` with one more column per
    side input, uint8 [n, 4 + len(side_inputs)].

    side_inputs: a dict from the name of each side input to its default. state: the state of the positions from ply
        `first` on, uint8 [n, 4], see `kibitz.PositionArrays`.
    """
    import chess
    import chess.pgn

    from kibitz.analysis.chess.ratings import add_side_inputs
    from kibitz.play.side_inputs import LAST_MOVES

    if not side_inputs:
        return lambda ratings: state
    before = min(first, len(LAST_MOVES))
    moves = [chess.Move.from_uci(move) for move in line.moves[first - before : first + len(state) - 1]]
    rows = np.concatenate([np.zeros((before, state.shape[1]), np.uint8), state])
    with_ratings = partial(add_side_inputs, rows, chess.pgn.Headers(dict(line.headers)), side_inputs, moves)
    return lambda ratings: with_ratings(ratings)[before:]


def _chance(white_wins: Any, board: chess.Board) -> float | None:
    """Return White's win probability, rounded. At the end of a game, it is the game's result."""
    end = end_of(board)
    if end in _WHITE_WINS_AT_END:
        return _WHITE_WINS_AT_END[end] if end != "checkmate" else float(not board.turn)
    return rounded(white_wins)


def best_moves(
    board: chess.Board, moves: NDArray[np.uint16], probabilities: NDArray[np.float32], limit: int = N_MOVES
) -> list[dict[str, Any]]:
    """Return the most likely legal moves, at most `limit`, as dicts for the browser page of `kibitz board`. The
    probability of a move is its share among all legal moves.

    moves: all legal moves, uint16 [n], packed into integers (see `games.chess.moves.from_move`). probabilities: float32
    [n]. If the network does not predict promotion pieces, only the promotion to a queen is listed.
    """
    from kibitz.games.chess.moves import to_move
    from kibitz.play.chess.policy import QUEEN, normalised

    if not len(moves):
        return []
    promotion = moves >> 12
    listed = (promotion == 0) | (promotion == QUEEN) | (probabilities > 0)
    shares = normalised(probabilities, np.array([0, len(moves)]))
    order = np.argsort(-shares, kind="stable")
    result = []
    for i in order[listed[order]][:limit]:
        move = to_move(int(moves[i]))
        result.append({"move": move.uci(), "san": board.san(move), "p": rounded(shares[i])})
    return result


def first_choice(network: NetworkInfo, line: ChessLine, answers: Answers, codes: Any, state: Any) -> tuple[str, int]:
    """Return the network's most likely legal move in the last position of a line (a start position and moves), as SAN
    and packed into an integer. Return "" and 0 if there is no legal move.

    answers: the network's outputs for this position. codes, state: the position, see `kibitz.PositionArrays`.
    """
    from kibitz.analysis import load
    from kibitz.games.chess.moves import from_move

    expected = load(network.system).expected_moves(answers, codes, state)
    board = line.board()
    best = best_moves(board, expected[0], expected[2], 1) if expected else []
    return (best[0]["san"], from_move(board.parse_uci(best[0]["move"]))) if best else ("", 0)
