"""Moves of chess judged by search, as the page shows them: quickly all of them, then exactly, a few at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.analysis.glyphs import CHESS_SWING, mark
from kibitz.web.answers import rounded
from kibitz.web.chess.line import NULL, ChessLine
from kibitz.web.networks import WHITE, NetworkInfo, NetworkRegistry
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    import chess

    from kibitz.analysis.chess.judging import Judge, Judgement
    from kibitz.play.value import PositionValue
    from kibitz.web.positions import Line

QUICK_CHUNK, CHUNK = 8, 4
"""Moves judged in one step of a quick and of an exact pass: few enough that a cancelled request ends soon, and enough
that the searches of neighbouring positions help each other."""


def judged(network: NetworkInfo, line: Line) -> ChessLine:
    """The line, if this network can judge its moves. Raises BadRequest."""
    if not isinstance(line, ChessLine):
        raise BadRequest("only moves of chess are judged by search")
    if WHITE not in network.answers:
        raise BadRequest(f"{network.name} does not evaluate positions, so it cannot check moves. Choose winner")
    return line


def judge(
    networks: NetworkRegistry, network: NetworkInfo, line: ChessLine, first: int, last: int, seq: int,
    stop: threading.Event,
) -> Iterator[list[dict[str, Any]]]:  # fmt: skip
    """The lines of a stream: how many moves are judged, a quick judgement of each of the moves first..last (counted
    from 1; 0 is the start position, of which only the value is given), an exact one of each, the end."""
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import DEPTH, NODES, QUICK_DEPTH, Judge, Stopped

    began = time.perf_counter()
    yield [{"seq": seq, "total": max(0, last - first + 1)}]
    session, analysis = networks.session(network.name), load(network.system)
    passes = (QUICK_DEPTH, 0, QUICK_CHUNK), (DEPTH, NODES, CHUNK)
    for depth, nodes, size in passes:
        one = Judge(session, analysis, depth, nodes, stop=stop)
        try:
            for found in _in_chunks(one, line, first, last, size):
                yield [{"seq": seq, **each, "exact": depth == DEPTH} for each in found]
        except Stopped:
            return
    yield [{"seq": seq, "done": True, "seconds": round(time.perf_counter() - began, 3)}]


def _in_chunks(judge: Judge, line: ChessLine, first: int, last: int, size: int) -> Iterator[list[dict[str, Any]]]:
    """The judgements of the moves first..last, so many at a time. Nothing is lost by a null move."""
    import chess

    if first == 0:
        yield [_value_alone(0, judge.value(replace(line, moves=()).since_null()))]
        first = 1
    board = replace(line, moves=line.moves[: first - 1]).since_null()
    at = first - 1
    while at < last:
        if line.moves[at] == NULL:
            yield [_unjudged(at + 1)]
            board.push(chess.Move.null())
            board.clear_stack()
            at += 1
            continue
        stretch = takewhile(lambda move: move != NULL, line.moves[at : min(at + size, last)])
        moves = [chess.Move.from_uci(move) for move in stretch]
        rows = np.concatenate(line.rows(at, at + len(moves)), 1)
        # The board has the moves before it, by which repetitions are known.
        _, found = judge.judge(board, moves, rows)
        yield _as_json(board, at + 1, moves, found)
        at += len(moves)


def _value_alone(ply: int, value: PositionValue) -> dict[str, Any]:
    """What is known of a position without the move before it."""
    return {**_unjudged(ply), "white": {"before": None, "after": rounded(value.chance)}}


def _unjudged(ply: int) -> dict[str, Any]:
    """The judgement of a null move."""
    best, white = {"move": NULL, "san": "--"}, {"before": None, "after": None}
    return {"ply": ply, "loss": 0.0, "mark": "", "best": best, "line": [], "only": False, "white": white}


def _as_json(
    board: chess.Board, ply: int, moves: Sequence[chess.Move], found: Sequence[Judgement]
) -> list[dict[str, Any]]:
    """Judgements of moves in a row, the first of which leads from the board to that ply. The board is moved on."""
    result = []
    for at, (move, each) in enumerate(zip(moves, found, strict=True), ply):
        result.append(
            {
                "ply": at,
                "loss": rounded(each.loss),
                "mark": mark(-each.loss, CHESS_SWING),
                "best": {"move": each.best.uci(), "san": board.san(each.best)},
                "line": _sans(board, each.line),
                "only": each.only,
                "white": {"before": rounded(each.before), "after": rounded(each.after)},
            }
        )
        board.push(move)
    return result


def _sans(board: chess.Board, line: Sequence[chess.Move]) -> list[str]:
    """Moves in a row from a position, in SAN."""
    after = board.copy(stack=False)
    return [after.san_and_push(move) for move in line]
