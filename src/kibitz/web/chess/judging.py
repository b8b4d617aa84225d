"""Evaluate all moves of a chess line (a start position and moves) with a network, for the browser page of `kibitz
board`: first quickly, and then with a longer search, a few moves at a time.
"""

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
from kibitz.web.reason_lines import reason_lines

if TYPE_CHECKING:
    import chess

    from kibitz.analysis.chess.judging import Judge, Judgement
    from kibitz.analysis.chess.reasons import Case, Reason
    from kibitz.play.value import PositionValue
    from kibitz.web.positions import Line

QUICK_CHUNK, CHUNK = 8, 4
"""The numbers of moves that are evaluated in one step: in the quick pass, and in the pass with the longer search.

These numbers are so small that a canceled request ends soon, and so large that searches of neighboring positions help
each other.
"""


def judged(network: NetworkInfo, line: Line, by_engine: bool = False) -> ChessLine:
    """Return the line (a start position and moves) if its moves can be evaluated. Raises BadRequest if the line is not
    a chess line, or if the network does not evaluate positions.

    by_engine: whether an engine evaluates the moves, so that any network is accepted.
    """
    if not isinstance(line, ChessLine):
        raise BadRequest("the check by search works only for chess. Open a chess game")
    if not by_engine and WHITE not in network.answers:
        raise BadRequest(
            f"{network.name} does not evaluate positions, so it cannot check moves. Choose the network 'winner'"
        )
    return line


def limits() -> list[object]:
    """Return the settings, such as the search depth, that affect the evaluations. They are part of the key under which
    evaluations are stored.
    """
    from kibitz.analysis.chess.limits import DEPTH, NODES
    from kibitz.analysis.chess.reason_texts import LANGUAGES

    return ["judge", DEPTH, NODES, sorted(LANGUAGES)]


def judge(
    networks: NetworkRegistry, network: NetworkInfo, line: ChessLine, first: int, last: int, seq: int,
    stop: threading.Event,
) -> Iterator[list[dict[str, Any]]]:  # fmt: skip
    """Evaluate the moves `first` to `last` of a line (a start position and moves) with a network. Moves are counted
    from 1. Yields lists of dicts. Each dict becomes one line of JSON in the response.

    The first dict has the number of moves, and the last dict marks the end. Between them are a quick evaluation of each
    move, and then an exact evaluation of each move. If `first` is 0, the value of the start position is sent too. seq:
    the number of the request. stop: an event that cancels the work.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import Judge, Stopped
    from kibitz.analysis.chess.limits import DEPTH, NODES, QUICK_DEPTH

    began = time.perf_counter()
    yield [{"seq": seq, "total": max(0, last - first + 1)}]
    session, analysis = networks.session(network.name), load(network.system)
    passes = (QUICK_DEPTH, 0, QUICK_CHUNK), (DEPTH, NODES, CHUNK)
    for depth, nodes, size in passes:
        one = Judge(session, analysis, depth, nodes, stop=stop)
        try:
            for found in in_chunks(one, line, first, last, size, explained=depth == DEPTH):
                yield [{"seq": seq, **each, "exact": depth == DEPTH} for each in found]
        except Stopped:
            return
    yield [{"seq": seq, "done": True, "seconds": round(time.perf_counter() - began, 3)}]


def in_chunks(
    judge: Judge, line: ChessLine, first: int, last: int, size: int, explained: bool
) -> Iterator[list[dict[str, Any]]]:
    """Yield the evaluations of the moves `first` to `last` of a line (a start position and moves), `size` at a time.
    Moves are counted from 1. For a null move, the loss is 0.

    judge: an object that evaluates moves by search. first: if it is 0, the value of the start position comes first.
    explained: whether to add the reasons why moves were bad.
    """
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
        # The board has the earlier moves of the game, which are needed to detect repetitions
        _, found = judge.judge(board, moves, rows)
        reasons = _reasons(judge, board, moves, found) if explained else {}
        yield _as_json(board, at + 1, moves, found, reasons)
        at += len(moves)


def _value_alone(ply: int, value: PositionValue) -> dict[str, Any]:
    """Return the data for the start position, which has a value but no move before it."""
    return {**_unjudged(ply), "white": {"before": None, "after": rounded(value.chance)}}


def _unjudged(ply: int) -> dict[str, Any]:
    """Return the evaluation of a null move."""
    best, white = {"move": NULL, "san": "--"}, {"before": None, "after": None}
    return {"ply": ply, "loss": 0.0, "mark": "", "best": best, "line": [], "only": False, "white": white}


def _reasons(
    judge: Judge, board: chess.Board, moves: Sequence[chess.Move], found: Sequence[Judgement]
) -> dict[int, dict[str, Any]]:
    """Return the reasons why annotated moves were bad, by their index: the code, the text in each language, and the
    lines that the text mentions.

    The first move is played on the board.
    """
    from kibitz.analysis.chess.moves import case_of
    from kibitz.analysis.chess.reason_texts import LANGUAGES
    from kibitz.analysis.chess.reasons import explain

    after, cases = board.copy(stack=False), {}
    for at, (move, each) in enumerate(zip(moves, found, strict=True)):
        if mark(-each.loss, CHESS_SWING):
            cases[at] = case_of(after, move, each)
        after.push(move)
    explained = zip(cases, explain(list(cases.values()), judge.threads), strict=True)
    return {
        at: {
            "code": one.code,
            "texts": {language: one.text(language) for language in LANGUAGES},
            "lines": _lines(cases[at], one),
        }
        for at, one in explained
        if one
    }


def _lines(case: Case, reason: Reason) -> list[dict[str, Any]]:
    """Return the lines that a reason mentions. Each line is a dict:

    instead: whether the moves begin instead of the played move; if False, they follow it.
    moves: the moves in UCI notation.
    written: the line as it is written in the text.
    """
    from kibitz.analysis.chess.reasons import INSTEAD

    lines = []
    for instead, sans in reason_lines(reason.as_json(), INSTEAD):
        board = case.board.copy(stack=False)
        if not instead:
            board.push(case.played)
        moves = [board.push_san(san).uci() for san in sans]
        lines.append({"instead": instead, "moves": moves, "written": " ".join(sans)})
    return lines


def _as_json(
    board: chess.Board, ply: int, moves: Sequence[chess.Move], found: Sequence[Judgement],
    reasons: dict[int, dict[str, Any]],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return evaluations of successive moves. The first move is played on the board and leads to `ply`. The board
    changes.
    """
    result = []
    for at, (move, each) in enumerate(zip(moves, found, strict=True), ply):
        reason = {"reason": reasons[at - ply]} if at - ply in reasons else {}
        result.append(
            {
                "ply": at,
                "loss": rounded(each.loss),
                "mark": mark(-each.loss, CHESS_SWING),
                "best": {"move": each.best.uci(), "san": board.san(each.best)},
                "line": _sans(board, each.line),
                "only": each.only,
                "white": {"before": rounded(each.before), "after": rounded(each.after)},
                **({} if each.mate is None else {"mate": each.mate}),
                **reason,
            }
        )
        board.push(move)
    return result


def _sans(board: chess.Board, line: Sequence[chess.Move]) -> list[str]:
    """Return successive moves from a position, in SAN."""
    after = board.copy(stack=False)
    return [after.san_and_push(move) for move in line]
