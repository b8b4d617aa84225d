"""What a network says of the positions of a line: White's or Black's chance, the moves, the owners of points."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.web.networks import NetworkInfo, NetworkRegistry
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    import chess

    from kibitz.analysis import Analysis
    from kibitz.play.session import Answers, Session
    from kibitz.web.chess.line import ChessLine
    from kibitz.web.go.line import GoLine
    from kibitz.web.networks import TorchSession
    from kibitz.web.positions import Line

FIRST_BATCH, LARGEST_BATCH = 1, 32
"""Positions asked about at once: few at first, so that something can be shown, then more, which is faster; never so
many that an analysis which nobody wants any more goes on for long."""
BEST = 8
"""Moves that are told of a position."""

_WHITE = {"checkmate": None, "stalemate": 0.5, "dead": 0.5}


def check(known: NetworkInfo, line: Line) -> None:
    """Raises BadRequest where the network does not know the line's game, or boards of its size."""
    if known.game != line.game:
        raise BadRequest(f"{known.name} is a network for {'Go' if known.game == 'go' else known.game}")
    if line.game == "go" and line.size not in known.sizes:
        raise BadRequest(f"{known.name} knows boards of {', '.join(map(str, known.sizes))}, not of {line.size}")


def analyse(
    networks: NetworkRegistry, known: NetworkInfo, line: Line, first: int, last: int, seq: int, snapshot: str | None
) -> Iterator[list[dict[str, Any]]]:
    """The lines of a stream: how many results follow, the results of positions first..last in pieces, the end."""
    begun = time.perf_counter()
    yield [{"seq": seq, "total": last - first + 1}]
    network = networks.evaluator(known.name, snapshot)
    told = (
        _of_go(network, known, line, first, last) if line.game == "go" else _of_chess(network, known, line, first, last)
    )
    for piece in told:
        yield [{"seq": seq, **result} for result in piece]
    yield [{"seq": seq, "done": True, "seconds": round(time.perf_counter() - begun, 3)}]


def _pieces(count: int) -> Iterator[slice]:
    """0 .. count in pieces that grow."""
    at, size = 0, FIRST_BATCH
    while at < count:
        yield slice(at, min(at + size, count))
        at += size
        size = min(2 * size, LARGEST_BATCH)


def _of_chess(
    network: Session | TorchSession, known: NetworkInfo, line: ChessLine, first: int, last: int
) -> Iterator[list[dict[str, Any]]]:
    from kibitz.analysis import load
    from kibitz.web.chess.line import end_of

    analysis = load(known.system)
    codes, state = line.rows(first, last)
    boards = islice(line.boards(), first, None)
    for some in _pieces(len(codes)):
        answers = network.evaluate(codes[some], state[some])
        white = analysis.white_wins(answers, state[some])
        expected = analysis.expected_moves(answers, codes[some], state[some])
        tables = _at_ratings(network, analysis, codes[some], state[some])
        found = []
        for i, ply in enumerate(range(first + some.start, first + some.stop)):
            board = next(boards)
            chance = None
            if white is not None:
                chance = _share(white[i])
                if (end := end_of(board)) in _WHITE:
                    chance = _WHITE[end] if end != "checkmate" else float(not board.turn)
            result: dict[str, Any] = {
                "ply": ply,
                "white": chance,
                "moves": None,
                "origin": None,
                "owners": None,
                "score": None,
            }
            if expected is not None:
                moves, offsets, shares = expected
                one = slice(int(offsets[i]), int(offsets[i + 1]))
                result["moves"] = best_moves(board, moves[one], shares[one])
                result["origin"] = _shares(answers["origin"][i])
                if tables:
                    result["by_rating"] = [
                        {"rating": rating, "moves": best_moves(board, moves[one], chances[one])}
                        for rating, chances in tables
                    ]
            found.append(result)
        yield found


SIDE_BY_SIDE = (1200, 2200)
"""Ratings, of both players, whose first moves are shown beside each other by networks that are told ratings."""


def _at_ratings(
    network: Session | TorchSession, analysis: Analysis, codes: NDArray[np.uint8], state: NDArray[np.uint8]
) -> list[tuple[int, NDArray[np.float32]]]:
    """The probabilities of all legal moves, as `expected_moves` gives them, at each of SIDE_BY_SIDE; nothing for a
    network that is not told both ratings."""
    from kibitz.games.chess.sides import RATING_UNIT
    from kibitz.runs import with_default_side_inputs

    if "opponent_rating" not in network.beyond:
        return []
    found = []
    for rating in SIDE_BY_SIDE:
        told = {**network.beyond, "rating": rating // RATING_UNIT, "opponent_rating": rating // RATING_UNIT}
        answers = network.evaluate(codes, with_default_side_inputs(state, told))
        if expected := analysis.expected_moves(answers, codes, state):
            found.append((rating, expected[2]))
    return found


def best_moves(
    board: chess.Board, moves: NDArray[np.uint16], probabilities: NDArray[np.float32], most: int = BEST
) -> list[dict[str, Any]]:
    """The likeliest legal moves with their probabilities among all; a promotion is to a queen where the network does
    not tell the pieces apart."""
    from kibitz.games.chess.moves import to_move
    from kibitz.play.chess.policy import QUEEN, normalised

    if not len(moves):
        return []
    promotion = moves >> 12
    meant = (promotion == 0) | (promotion == QUEEN) | (probabilities > 0)
    shares = normalised(probabilities, np.array([0, len(moves)]))
    order = np.argsort(-shares, kind="stable")
    found = []
    for i in order[meant[order]][:most]:
        move = to_move(int(moves[i]))
        found.append({"move": move.uci(), "san": board.san(move), "p": _share(shares[i])})
    return found


def _of_go(
    network: Session | TorchSession, known: NetworkInfo, line: GoLine, first: int, last: int
) -> Iterator[list[dict[str, Any]]]:
    codes, state = line.rows(first, last)
    for some in _pieces(len(codes)):
        owners = owners_of(network, known, codes[some], state[some])
        found = []
        for i, ply in enumerate(range(first + some.start, first + some.stop)):
            lead, chance, here = worth(owners[i], line)
            found.append(
                {"ply": ply, "black": _share(chance), "moves": None, "origin": None, "owners": _shares(here, 3),
                 "score": round(lead, 2)}
            )  # fmt: skip
        yield found


def owners_of(
    network: Session | TorchSession, known: NetworkInfo, codes: NDArray[np.uint8], state: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """The probability that Black owns each point, float32 [n, 361]."""
    from kibitz.analysis import load_owners

    return load_owners(known.system).black_owns(network.evaluate(codes, state)).astype(np.float32)


def worth(owners: NDArray[np.float32], line: GoLine) -> tuple[float, float, NDArray[np.float32]]:
    """Of a map [361]: Black's lead, komi and the price of handicap stones taken off; Black's chance, as the GTP engine
    computes it; the map of the board's points alone [size²]."""
    from kibitz.play.go import ownership

    lead = float(ownership.lead(owners, line.size)) - line.terms.komi
    chance = ownership.winrate(lead, ownership.spread(owners, line.size))
    return lead, chance, owners[ownership.points_of(line.size)]


def targets(networks: NetworkRegistry, known: NetworkInfo, line: Line, square: int) -> dict[str, Any]:
    """Where the piece of that square would go, as a mover says: probabilities of the 64 squares, a1 first; all 0 where
    no piece of the side to move stands there."""
    if line.game != "chess" or "moves" not in known.answers:
        raise BadRequest(f"{known.name} does not predict moves")
    last = len(line.moves)
    codes, state = line.rows(last, last)
    code = int(codes[0, square])
    if code == 0 or (code > 6) != bool(state[0, 0]):
        return {"targets": [0] * 64}
    found = networks.session(known.name).evaluate(codes, state)["target"][0]
    return {"targets": _shares(found[square if len(found) == 64 else (code - 1) % 6])}


def first_choice(known: NetworkInfo, line: ChessLine, answers: Answers, codes: Any, state: Any) -> tuple[str, int]:
    """The likeliest legal move of the line's last position: its name, and packed; empty and 0 where there is none."""
    from kibitz.analysis import load
    from kibitz.games.chess.moves import from_move

    expected = load(known.system).expected_moves(answers, codes, state)
    board = line.board()
    best = best_moves(board, expected[0], expected[2], 1) if expected else []
    return (best[0]["san"], from_move(board.parse_uci(best[0]["move"]))) if best else ("", 0)


def _share(value: Any) -> float:
    return round(float(value), 4)


def _shares(values: NDArray[Any], digits: int = 4) -> list[float]:
    found: list[float] = values.astype(np.float64).round(digits).tolist()
    return found
