"""What the check by the rules finds of single moves, and what it makes of a search's value."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import chess
import numpy as np
import pytest

from kibitz.games.chess.replay import encode_board
from kibitz.play import result
from kibitz.play.chess import line_values
from kibitz.play.chess.line_values import (
    ALL_VISITS,
    BARE_KING_VALUE,
    FALLING_CENTIPAWNS,
    FALLING_SHARE,
    LIMIT_CENTIPAWNS,
    LINE_CHECK_NODES,
    LINE_VISITS,
    LOST_CENTIPAWNS,
    LOST_SHARE,
    REPLY_SHARE,
    MoveCheck,
    MoveEvaluator,
    check_moves,
    find_mate,
)
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.chess.quiescence import QuiescenceResult
from kibitz.play.chess.score import STEP, of_centipawns
from kibitz.play.puct.player import search_line
from kibitz.play.result import SearchLimits, TimeManager
from kibitz.play.session import Session

SCHOLAR = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4"


def after(fen: str, san: str) -> np.ndarray:
    board = chess.Board(fen)
    board.push_san(san)
    return encode_board(board)


def check(fen: str, san: str) -> MoveCheck:
    (found,) = check_moves(after(fen, san)[None])
    assert found is not None
    return found


def test_checks_end_in_time_however_slow_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of this test runs on only in the checks, by what each of them may visit at most."""
    now, sizes, rows = 0.0, [], np.repeat(after(SCHOLAR, "g6")[None], 40, 0)
    real = line_values.quiescence_search

    def slow(row: np.ndarray, plies: int, max_nodes: int, threads: int) -> QuiescenceResult:
        nonlocal now
        sizes.append(max_nodes)
        now += max_nodes / line_values.FIRST_SPEED
        return real(row, plies, max_nodes, threads)._replace(nodes=np.array([max_nodes]))

    watch = SimpleNamespace(perf_counter=lambda: now)
    monkeypatch.setattr(line_values, "time", watch)
    monkeypatch.setattr(result, "time", watch)
    monkeypatch.setattr(line_values, "_pace", line_values._CheckSpeed())
    monkeypatch.setattr(line_values, "quiescence_search", slow)
    assert None not in check_moves(rows, TimeManager(SearchLimits(seconds=2.0), None, 0))
    assert now == pytest.approx(2.0, abs=line_values.GRACE)
    late = TimeManager(SearchLimits(seconds=0.0), None, 0)
    check_moves(rows, late)
    assert late.seconds() <= line_values.GRACE
    sizes.clear()
    stopped = threading.Event()
    stopped.set()
    clock = TimeManager(SearchLimits(), stopped, 0)
    check_moves(rows, clock)
    assert clock.seconds() <= line_values.GRACE
    check_moves(rows[:2])
    assert sizes[-2:] == [line_values.MAX_NODES] * 2


def test_a_line_without_time_for_its_value_has_none() -> None:
    board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    player = ChessPlayer(Session("human"), method="top-prob", lines=40)
    for seconds in (0.0, 10.0):
        found = player.think(board, SearchLimits(seconds=seconds))
        assert found is not None
        assert len(found.lines) == 40
        assert all(line.own_value for line in found.lines) == (seconds > 0)


def test_a_mate_in_one_by_the_other_side() -> None:
    found = check(SCHOLAR, "h6")
    assert found.value == -2 + 2 * STEP
    assert found.corrected(0.9, 400) == found.value, "whatever a search says"
    assert check(SCHOLAR, "g6").value is None


def test_a_mate_in_three_by_the_other_side() -> None:
    """White's queen takes on f5 or d7 with mate: four plies are too few to see it."""
    found = check("R2nr3/1kpr4/p2p2p1/5nqp/6B1/P2Q2PP/2P2PK1/5R2 b - - 3 24", "Kxa8")
    assert found.value is not None
    assert -2 < found.value < -1


def test_a_piece_that_hangs() -> None:
    fen = "4k3/8/8/3r4/8/8/3Q4/5K2 w - - 0 1"
    assert (check(fen, "Kg1").centipawns, check(fen, "Qxd5").centipawns) == (-500, 900)
    board = chess.Board(fen)
    assert find_mate(encode_board(board)) is None
    value, line = find_mate(encode_board(chess.Board("7k/8/5KQ1/8/8/8/8/8 w - - 0 1"))) or (0.0, ())
    assert (value, len(line)) == (2 - STEP, 1)


@pytest.mark.parametrize(
    ("centipawns", "value", "most"),
    [(600, 0.7, 640), (900, 0.85, 835), (1000, 0.85, 900), (500, 0.75, 575)],
)
def test_material_limits_the_value_of_a_won_position(centipawns: int, value: float, most: int) -> None:
    """Stockfish gave these moves between 500 and 630 centipawns."""
    found = MoveCheck(centipawns).corrected(value, 400)
    assert found == pytest.approx(of_centipawns(most))
    assert MoveCheck(centipawns)._with_material(value) > of_centipawns(most + 200)


def test_without_a_large_gain_or_with_a_decisive_attack_there_is_no_such_limit() -> None:
    assert MoveCheck(200).corrected(0.9, 400) == MoveCheck(200)._with_material(0.9)
    assert MoveCheck(600).corrected(0.995, 400) > of_centipawns(1200)
    values = [MoveCheck(600).corrected(value, 400) for value in np.linspace(-0.99, 0.99, 50)]
    assert values == sorted(values), "a better search never gives a worse value"


def test_few_visits_count_less_than_the_check() -> None:
    assert MoveCheck(0).corrected(0.9, 1) < MoveCheck(0).corrected(0.9, 32) < MoveCheck(0).corrected(0.9, 64)
    assert MoveCheck(0).corrected(0.9, 64) == MoveCheck(0).corrected(0.9, 1000)


def test_bare_kings_and_proven_mates() -> None:
    assert MoveCheck(900, bare_king=1).corrected(0.1, 10) == BARE_KING_VALUE
    assert MoveCheck(-900, bare_king=-1).corrected(0.1, 10) == -BARE_KING_VALUE
    assert MoveCheck(0).corrected(1.99, 10) == 1.99


def test_the_check_only_lowers_the_value_of_a_search() -> None:
    assert MoveCheck(300).limited(0.2) == 0.2
    assert MoveCheck(0).limited(0.9) == pytest.approx(of_centipawns(100))
    assert MoveCheck(-500).limited(0.3) == pytest.approx(of_centipawns(-600))
    for score, lower in ((-100, LOST_SHARE * 100), (-600, LOST_CENTIPAWNS)):
        assert MoveCheck(0).limited(of_centipawns(score)) == pytest.approx(of_centipawns(score - lower), abs=0.002)
    assert MoveCheck(500).limited(0.85) == pytest.approx(of_centipawns(575)), "the limit of won positions"
    assert MoveCheck(0, value=-1.9).limited(0.9) == -1.9
    assert MoveCheck(0).limited(1.99) == 1.99
    assert MoveCheck(900, bare_king=1).limited(0.1) == BARE_KING_VALUE


def test_a_balance_that_falls_with_the_depth_lowers_the_value() -> None:
    """Both pieces of White are attacked after Qc7, and the check sees one loss more at each second depth."""
    found = line_values._check(after("r3k2r/1p3ppp/p3b3/2P1Q1q1/4n3/P3P3/2P2PPP/RN2KB1R w KQkq - 5 17", "Qc7"), 6)
    assert found.falling >= 100
    assert check("4k3/8/8/3r4/8/8/3Q4/5K2 w - - 0 1", "Kg1").falling == 0
    for falling, lower in ((0, 0.0), (200, FALLING_SHARE * 200), (2000, FALLING_CENTIPAWNS)):
        limited = MoveCheck(300, falling=falling).limited(of_centipawns(200))
        assert limited == pytest.approx(of_centipawns(200 - lower), abs=0.002)
    assert MoveCheck(0, value=-1.9, falling=200).limited(0.9) == -1.9


@pytest.mark.parametrize(
    ("fen", "can_win"),
    [
        ("8/8/7k/8/6NP/4n3/4n2K/8 b - - 1 59", False),
        ("8/8/7k/8/6NP/4n3/4b2K/8 b - - 1 59", True),
        ("8/8/p6k/8/6NP/4n3/4n2K/8 b - - 1 59", True),
    ],
)
def test_a_side_that_cannot_mate_is_not_winning(fen: str, can_win: bool) -> None:
    found = check(fen, "Nxg4+")
    assert (found.can_win, found.centipawns >= 500) == (can_win, True)
    assert (found.limited(0.9) == pytest.approx(of_centipawns(LIMIT_CENTIPAWNS))) == (not can_win)


LINES = [  # a position, a move that the network values too high, and Stockfish's centipawns at depth 12
    ("r3r3/pp1q1kbp/2n3p1/3p1p2/1P1PP1n1/PQN1B1P1/4P1BP/R3K2R w KQ - 1 19", "b3d5", -268),
    ("r2k4/1pp3r1/pbn2q2/3p2pQ/5B2/1Np3P1/PP3P1P/4RRK1 b - - 7 28", "g7e7", -561),
    ("r1bqr1k1/pp3p1p/2np1np1/2pP2B1/2P5/PQbB1N1P/1P3PP1/R4RK1 b - - 0 15", "c3b2", -198),
]


@pytest.mark.parametrize(("fen", "move", "true"), LINES)
def test_several_lines_of_a_policy_show_values_of_searches(fen: str, move: str, true: int) -> None:
    session, board = Session("human", 1), chess.Board(fen)
    player = ChessPlayer(session, method="top-prob", lines=5)
    searched = player.think(board, SearchLimits(nodes=400, moves=(chess.Move.from_uci(move),)))
    once = player.think(board, SearchLimits(nodes=1, moves=(chess.Move.from_uci(move),)))
    assert searched
    assert once
    assert once.nodes == 2, "the position, and the one after the move"
    assert once.lines[0].score > true + 300, "one evaluation is too high"
    assert abs(searched.lines[0].score - true) < 300
    assert len(searched.lines[0].pv) > 1, "the line of the search"
    assert LINE_VISITS // 2 < searched.nodes <= LINE_VISITS + 1


REFUTED = [  # a position, a move whose refutation the search finds late or not at all, and Stockfish's centipawns
    ("r1bqk3/pp6/6pr/4p1b1/P3P2p/1Q1R2P1/1PP3BP/1K5R b q - 2 20", "d8b6", -668),
    ("5k2/4pn2/pp5r/2qB3p/2pb3P/P4QP1/1P2R1K1/R7 b - - 3 31", "h6h7", -484),
    ("r3k2r/1p3ppp/p3b3/2P1Q1q1/4n3/P3P3/2P2PPP/RN2KB1R w KQkq - 5 17", "e5c7", -395),
    ("5r2/1p2kp2/8/1P1pKQ2/p2Pp1R1/P3P3/5q2/1r6 b - - 1 40", "f2e3", 0),
    ("8/8/7k/8/6NP/4n3/4n2K/8 b - - 1 59", "e3g4", 58),
]


@pytest.mark.parametrize(("fen", "move", "true"), REFUTED)
def test_a_refuted_move_is_not_shown_far_too_high(fen: str, move: str, true: int) -> None:
    player = ChessPlayer(Session("human", 1), method="top-prob", lines=5)
    found = player.think(chess.Board(fen), SearchLimits(nodes=400))
    assert found
    shown = {line.move.uci(): line.score for line in found.lines}
    assert abs(shown[move] - true) < 250
    assert found.nodes <= 400


def test_the_best_reply_with_enough_visits_counts() -> None:
    """The most visited reply is not always the best: a refutation that is found late has fewer visits."""
    session = Session("human", 1)
    evaluator = MoveEvaluator(session, session)
    lower = []
    for fen, move, _ in [*REFUTED, *LINES]:
        board = chess.Board(fen)
        board.push_uci(move)
        row = encode_board(board)
        most, best = (
            search_line(
                evaluator._rules, evaluator._tuning, row, 79, np.zeros(0, np.uint64), lambda done, size: size, share
            )
            for share in (1.0, REPLY_SHARE)
        )
        assert most[0]
        assert best[0]
        assert (best[1], best[0].visits) == (most[1], most[0].visits), "no further evaluations"
        assert best[0].value <= most[0].value
        assert (best[0].value == most[0].value) == (best[0].line[0] == most[0].line[0])
        lower.append(best[0].value < most[0].value)
    assert any(lower)
    assert not all(lower)


def test_the_first_choices_do_not_depend_on_the_searches() -> None:
    session, board = Session("human", 1), chess.Board(LINES[0][0])
    few, many = (
        ChessPlayer(session, method="top-prob", lines=lines).think(board, SearchLimits(nodes=nodes))
        for lines, nodes in ((1, 1), (5, 400))
    )
    assert few
    assert many
    assert [few.lines[0].move, few.lines[0].probability] == [many.lines[0].move, many.lines[0].probability]
    assert few.nodes == 1 < many.nodes <= ALL_VISITS
    assert [line.probability for line in many.lines] == sorted((line.probability for line in many.lines), reverse=True)


def test_single_evaluations_count_as_nodes() -> None:
    board = chess.Board()
    one, three = (
        ChessPlayer(Session("human", 1), method="top-prob", lines=lines).think(board, SearchLimits(nodes=1))
        for lines in (1, 3)
    )
    assert one
    assert three
    assert (one.nodes, three.nodes, len(three.lines)) == (1, 1 + 3, 3)


def test_after_a_stop_the_remaining_checks_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks of many lines would take seconds. Without a stop, each line that was searched has the long check."""
    stop, sizes, own = threading.Event(), list[int](), line_values._check
    stops_at = 2

    def recorded(row: np.ndarray, plies: int, most: int, clock: TimeManager, checks: int) -> MoveCheck | None:
        sizes.append(line_values._pace.affordable(clock, checks, most))
        if len(sizes) == stops_at:
            stop.set()
        return own(row, plies, 100)

    monkeypatch.setattr(line_values, "_check", recorded)
    monkeypatch.setattr(line_values, "_pace", line_values._CheckSpeed())
    player = ChessPlayer(Session("human", 1), method="top-prob", lines=4)
    player.think(chess.Board(), SearchLimits(nodes=40), stop)
    assert sizes[:stops_at] == [LINE_CHECK_NODES] * stops_at
    assert len(sizes) == 4
    assert max(sizes[stops_at:]) <= line_values.GRACE * line_values.FIRST_SPEED
    stops_at = 0
    sizes.clear()
    stop.clear()
    player.think(chess.Board(), SearchLimits(nodes=40), stop)
    assert sizes == [LINE_CHECK_NODES] * 4
