"""Moves judged by search, with a network whose opinion a test writes down."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import chess
import numpy as np
import pytest
from rich.console import Console

import kibitz
from kibitz.analysis import load
from kibitz.analysis.chess import answers
from kibitz.analysis.chess.judging import FirstLook, Judge, Stopped, _as_both, _as_shown, _Thought
from kibitz.analysis.chess.limits import QUICK_DEPTH
from kibitz.analysis.chess.moves import AnalysedGame, analyse
from kibitz.analysis.chess.pgn import annotated
from kibitz.analysis.chess.terminal import show
from kibitz.games.chess.io.reader import parse
from kibitz.games.chess.replay import encode_board
from kibitz.play.session import Session

Analysed = Callable[..., AnalysedGame]

HANGS = "1. e4 e5 2. Qh5 Nf6 3. Qxe5+ Be7 4. Qxe7+ Qxe7 *"
"""Black leaves a pawn, then White gives the queen for a bishop."""


@pytest.fixture
def judged(make_fake: Any) -> Analysed:
    """A game judged by search with a network that has no opinion."""

    def one(text: str, depth: int = 3) -> AnalysedGame:
        session = make_fake(white_wins=[0.5])
        session.system = "winner"
        record = parse(text, allow_null=True)
        assert record is not None
        return analyse(record, session, answers, 0.1, judge=Judge(session, answers, depth, nodes=0))

    return one


def test_marked_moves_have_reasons_in_every_output(judged: Analysed, capsys: pytest.CaptureFixture[str]) -> None:
    game = judged(HANGS)
    marked = [move for move in game.moves if move.sign]
    assert [move for move in game.moves if "reason" in move.as_json()] == marked
    queen = game.moves[6]
    assert queen.reason is not None
    assert (queen.reason.code, queen.reason.parameters["gained"]) == ("loses", ["bishop"])
    text = queen.as_json()["reason"]["text"]
    assert text == queen.reason.text()
    show(game, 0.1, Console(width=100))
    lines = capsys.readouterr().out.splitlines()
    row = next(i for i, line in enumerate(lines) if "Qxe7+??" in line)
    assert lines[row + 1] == f"      {text}"
    once = annotated(game)
    assert f"[%kibitz ??] reason: {text}" in " ".join(once.split())
    again = judged(once)
    assert annotated(again) == once
    for move in again.moves:
        object.__setattr__(move, "reason", None)
    text = " ".join(annotated(again).split())
    assert "reason:" not in text
    for move in marked:
        assert move.judged is not None
        assert f"[%kibitz {move.sign}] better: {' '.join(move.judged.line)}" in text
    assert text.count("better:") == len(marked)


def test_what_hangs_is_lost(judged: Analysed) -> None:
    game = judged(HANGS)
    queen = game.moves[6]
    assert queen.judged is not None
    assert (queen.san, queen.mark, queen.judged.piece, queen.judged.phase) == ("Qxe7+", "??", "queen", "opening")
    assert queen.judged.loss > 0.3
    assert queen.judged.best != "e5e7"
    board = chess.Board()
    for move in game.moves[:6]:
        board.push_uci(move.uci)
    assert board.parse_san(queen.judged.line[0]).uci() == queen.judged.best
    for san in queen.judged.line:
        board.push_san(san)
    recapture = game.moves[7]
    assert recapture.judged is not None
    assert (recapture.mark, recapture.judged.loss, recapture.judged.best) == ("", 0.0, "d8e7")
    assert not recapture.judged.only  # whoever is taken from takes back


def test_a_trade_costs_nothing(judged: Analysed) -> None:
    game = judged("1. e4 d5 2. exd5 Qxd5 3. Nc3 Qd8 *")
    assert [move.mark for move in game.moves] == [""] * 6
    assert all(move.judged and move.judged.loss < 0.1 for move in game.moves)


def test_mates_and_what_the_rules_end(judged: Analysed) -> None:
    game = judged("1. f3 e5 2. g4 Qh4# 0-1")
    assert game.white is not None
    assert game.white[-1] == 0
    blunder, last = game.moves[2:]
    assert (blunder.mark, last.mark, last.change) == ("??", "#", None)
    assert last.judged is not None
    assert (last.judged.best, last.judged.loss) == ("d8h4", 0.0)
    stalemate = judged('[FEN "7k/5K2/8/8/6Q1/8/8/8 w - - 9 60"]\n\n60. Qg6 1/2-1/2')
    assert stalemate.white is not None
    assert stalemate.white[-1] == 0.5
    assert judged('[White "A"]\n\n*').moves == []


def test_losses_are_the_movers_and_agree_with_the_figures_before_and_after(judged: Analysed) -> None:
    for move in judged(HANGS).moves:
        assert move.judged is not None
        assert move.worth is not None
        sign = 1 if move.side == "white" else -1
        assert sign * (move.worth.before - move.worth.after) == pytest.approx(move.judged.loss)
        assert 0 <= move.judged.loss <= 1


def test_report_sums_by_side_phase_and_piece(judged: Analysed) -> None:
    game = judged(HANGS)
    found = game.as_json()["report"]
    assert found["games"] == 1
    assert found["white"]["marks"]["blunders"] == 1
    assert found["white"]["by_piece"]["queen"]["marks"]["blunders"] == 1
    assert found["white"]["moves"] == sum(one["moves"] for one in found["white"]["by_piece"].values()) == 4
    losses = [move["loss"] for move in game.as_json()["moves"] if move["side"] == "white"]
    assert found["white"]["loss"]["value"] == pytest.approx(np.mean(losses), abs=1e-3)
    assert set(game.as_json()["moves"][0]) >= {"loss", "best", "line", "mark", "only_move", "phase", "piece"}


def test_the_loss_that_is_expected_of_some_shares() -> None:
    options = FirstLook(np.array([5, 2, 9], np.uint16), np.array([0, 0.5, 0.2]))
    shares = np.array([0.5, 0.25, 0.25], np.float32)
    assert options.expected(np.array([2, 9, 7], np.uint16), shares) == pytest.approx((0.25 + 0.05) / 0.75)
    assert options.expected(np.array([7], np.uint16), shares[:1]) is None


def test_players_of_a_higher_rating_usually_lose_less() -> None:
    session = Session("human")
    analysis = load("human")

    def report(rating: int) -> Any:
        record = parse(HANGS)
        assert record is not None
        judge = Judge(session, analysis, 2, nodes=0)
        game = analyse(record, session, analysis, 0.1, (rating, rating), judge=judge).as_json()
        found = game["moves"][6]["reason"]["found"]
        assert (found["rating"], 0 < found["probability"] < 1) == (rating, True)
        return game["report"]

    weak, strong = report(900), report(2200)
    for side in ("white", "black"):
        assert weak[side]["usual_loss"]["value"] > strong[side]["usual_loss"]["value"] > 0
        assert weak[side]["loss"] == strong[side]["loss"]


def test_the_risk_of_a_position_falls_with_the_rating() -> None:
    session, analysis, record = Session("human"), load("human"), parse(HANGS)
    assert record is not None
    game = analyse(record, session, analysis, 0.1, (1400, 2000), judge=Judge(session, analysis, 2, nodes=0))
    found = game.as_json()["moves"]
    risks = np.array([list(move["risk_by_rating"].values()) for move in found])
    assert list(found[0]["risk_by_rating"]) == ["1000", "1400", "1800", "2200"]
    assert risks[:, 0].mean() > risks[:, -1].mean() > 0
    assert all(0 <= move["risk"] <= 1 for move in found)


def test_without_ratings_nothing_is_usual(judged: Analysed) -> None:
    found = judged(HANGS).as_json()
    assert "usual_loss" not in found["report"]["white"]
    assert not {"usual_loss", "risk", "risk_by_rating"} & set(found["moves"][0])


def test_a_position_is_worth_the_same_in_a_game_and_alone() -> None:
    """Its value depends on nothing that was searched before."""
    moves = [chess.Move.from_uci(move) for move in ["e2e4", "e7e5", "d1h5", "g8f6", "h5e5", "f8e7", "e5e7", "d8e7"]]
    judge = Judge(Session("human"), load("human"), nodes=20)
    board, rows = chess.Board(), [encode_board(chess.Board())]
    alone = [Judge(judge.session, load("human"), nodes=20).value(board)]
    for move in moves:
        board.push(move)
        rows.append(encode_board(board))
        alone.append(Judge(judge.session, load("human"), nodes=20).value(board))
    white, found = judge.judge(chess.Board(), moves, np.stack(rows))
    assert [value.source for value in alone] == ["search"] * len(rows)
    assert white.tolist() == [value.chance for value in alone]
    assert [one.before for one in found] == white[:-1].tolist()
    assert [one.after for one in found] == white[1:].tolist()
    assert len(set(white.tolist())) > 4
    assert max(one.loss for one in found) == found[6].loss > 0.2


@pytest.mark.parametrize("name", ["winner", "chessnet"])
def test_what_is_proven_is_certain(name: str) -> None:
    judge = Judge(Session(name), load(name))
    mate = judge.value(chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"))
    assert (mate.chance, mate.source) == (1.0, "search")
    if name == "chessnet":
        assert (mate.mate, mate.moves[0]) == (2, "a1a6")
    black = judge.value(chess.Board("r7/8/8/8/8/1p6/PP6/KBk5 b - - 0 1"))
    assert black.chance == 0.0
    assert black.mate in (None, -2)
    over = judge.value(chess.Board("7k/5KQ1/8/8/8/8/8/8 b - - 0 1"))
    assert (over.chance, over.source) == (1.0, "rules")
    for fen in ("8/8/8/4k3/8/8/8/KQ6 w - - 0 1", "8/8/8/4k3/8/8/8/KQ6 b - - 0 1"):
        assert judge.value(chess.Board(fen)).chance > 0.95
    assert judge.value(chess.Board("7k/8/8/8/8/8/8/K1B5 w - - 0 1")).chance == 0.5


STALEMATE = '[SetUp "1"]\n[FEN "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1"]\n\n1. Qg6 1/2-1/2'


def test_a_stalemate_may_be_a_blunder(judged: Analysed) -> None:
    game = judged(STALEMATE)
    (move,) = game.moves
    assert move.judged is not None
    assert (move.mark, move.sign, move.change) == ("½", "??", -move.judged.loss)
    assert move.judged.loss > 0.3
    assert game.swings == [move]
    found = game.as_json()
    assert found["report"]["white"]["marks"] == {"inaccuracies": 0, "mistakes": 0, "blunders": 1}
    assert found["average_loss"]["white"] == found["report"]["white"]["loss"]
    assert found["summary"]["white"]["marks"] == found["report"]["white"]["marks"]
    assert found["summary"]["white"]["accuracy"]["value"] < 0.3
    assert found["summary"]["turning_point"] == {"ply": 1, "ahead": None}
    assert '[WhiteAccuracy "' in annotated(game)
    assert "BlackAccuracy" not in annotated(game)
    assert "1. Qg6 $4 {" in " ".join(annotated(game).split())


def test_a_stalemate_that_was_best_costs_nothing(judged: Analysed) -> None:
    game = judged('[FEN "8/8/8/8/8/8/5K1p/7k w - - 0 1"]\n\n1. Kf1 1/2-1/2')
    assert [(move.mark, move.sign, move.change) for move in game.moves] == [("½", "", 0.0)]
    assert game.swings == []


def test_a_null_move_is_not_judged(judged: Analysed) -> None:
    passed = judged("1. e4 -- *").moves[1]
    assert (passed.san, passed.uci, passed.mark, passed.judged, passed.change) == ("--", "0000", "", None, None)
    assert passed.worth is not None
    moved = judged("1. e4 e5 *").moves[1]
    assert moved.judged is not None
    assert moved.change is not None


def test_a_player_without_a_legal_move_may_pass(judged: Analysed) -> None:
    """At the end of the moves, too, where no further position has legal moves."""
    found = judged('[FEN "7k/8/6Q1/8/8/8/8/K7 w - - 0 1"]\n\n1. Qf7 -- 2. Kb2 -- *').moves
    assert [(move.san, move.judged is None) for move in found] == [
        ("Qf7", False), ("--", True), ("Kb2", False), ("--", True),
    ]  # fmt: skip


@pytest.mark.parametrize("raw", [False, True])
def test_moves_after_a_null_move_are_judged_like_those_of_the_position(raw: bool) -> None:
    """Also by a network that searches, whose players know no null move."""
    game = kibitz.analyse("1. e4 e5 2. -- Nc6 3. Nf3 *", "human", nodes=None if raw else 20, raw=raw)
    assert [move.san for move in game.moves] == ["e4", "e5", "--", "Nc6", "Nf3"]
    passed, *rest = game.moves[2:]
    assert (passed.expected, passed.judged, passed.change, passed.mark) == (None, None, None, "")
    board = chess.Board()
    for move in game.moves[:3]:
        board.push_uci(move.uci)
    alone = kibitz.analyse(f'[FEN "{board.fen()}"]\n\n2... Nc6 3. Nf3 *', "human", nodes=None if raw else 20, raw=raw)
    for move, same in zip(rest, alone.moves, strict=True):
        assert move.worth is not None
        assert same.worth is not None
        assert move.worth.after == pytest.approx(same.worth.after, abs=1e-6)
        assert move.expected is not None
    assert game.predictable("white").moves == 2


@pytest.mark.parametrize("name", ["winner", "chessnet", "human"])
@pytest.mark.parametrize("moves", ["e2e4 e7e5 d1h5 b8c6 h5e5", "f2f3 e7e5 g2g4", "e2e4 e7e5 f1c4 f8c5 d1h5 g8f6"])
def test_a_blunder_costs_the_difference_of_the_shown_values(name: str, moves: str) -> None:
    """A hung queen, and mates that are allowed: before the move, after it, and the loss."""
    board = chess.Board()
    *before, last = map(chess.Move.from_uci, moves.split())
    for move in before:
        board.push(move)
    after = board.copy()
    after.push(last)
    rows = np.stack([encode_board(board), encode_board(after)])
    _, (found,) = Judge(Session(name), load(name)).judge(board, [last], rows)
    sign = 1 if board.turn else -1
    assert found.loss == pytest.approx(sign * (found.before - found.after), abs=1e-6)
    assert found.loss > 0.3
    assert found.best != last


def test_a_short_search_confirms_a_suspected_mistake() -> None:
    """Two plies after Qxc3, Black has won a queen. Four plies later, White mates or wins the queen back."""
    board = chess.Board("6k1/5ppp/R3pn2/3p4/1q1P3P/2r1P3/2Q2PP1/6K1 w - - 0 21")
    rows, start, moves = [encode_board(board)], board.copy(), []
    for san in ["Qxc3", "Qxc3", "Ra8+", "Ne8", "Rxe8#"]:
        moves.append(board.push_san(san))
        rows.append(encode_board(board))
    white, found = Judge(Session("human"), load("human"), QUICK_DEPTH, 0).judge(start, moves, np.stack(rows))
    assert white[1] > 0.5
    assert found[0].loss < 0.3
    assert found[1].loss > 0.3
    for at, one in enumerate(found):
        if one.loss >= 0.1:
            assert one.loss == pytest.approx((1 if at % 2 == 0 else -1) * (one.before - one.after), abs=1e-6)


@pytest.mark.parametrize(
    ("lost", "change", "exact", "loss"),
    [(0.22, 0.28, False, 0.28), (0.84, 0.29, False, 0.84), (0.18, 0.28, False, 0.18), (0.05, 0.4, False, 0.05),
     (0.02, 0.4, True, 0.4)],
)  # fmt: skip
def test_the_loss_of_a_mistake_is_the_shown_difference_if_the_mark_is_the_same(
    lost: float, change: float, exact: bool, loss: float
) -> None:
    assert _as_shown(np.array([lost]), np.array([change]), np.array([exact])).tolist() == [loss]


@pytest.mark.parametrize(
    ("lost", "change", "loss"), [(0.18, 0.28, 0.28), (0.84, 0.29, 0.29), (0.4, 0.05, 0.05), (0.05, 0.4, 0.05)]
)
def test_short_searches_need_two_signs_of_a_mistake(lost: float, change: float, loss: float) -> None:
    assert _as_both(np.array([lost]), np.array([change])).tolist() == [loss]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('[FEN "8/8/8/3k4/3P4/8/8/K7 b - - 0 1"]\n\n1... Kxd4 2. Kb2 Ke3 3. Kb3 Kd4 1/2-1/2', 1),
        ('[FEN "8/8/8/3k4/8/8/8/KB6 w - - 0 1"]\n\n1. Ba2+ Ke4 2. Kb1 Ke3 1/2-1/2', 0),
    ],
)
def test_nobody_loses_anything_where_nobody_can_win(text: str, first: int, make_fake: Any) -> None:
    session = make_fake(white_wins=[0.9, 0.2, 0.6, 0.1, 0.7])
    session.system = "winner"
    record = parse(text)
    assert record is not None
    game = analyse(record, session, answers, 0.1, judge=Judge(session, answers, 3, nodes=0))
    assert game.white is not None
    assert game.white[first:].tolist() == [0.5] * (len(game.white) - first)
    for move in game.moves:
        assert move.judged is not None
        assert (move.mark, move.judged.loss, move.judged.only) == ("", 0.0, False)
    assert [move.worth.before for move in game.moves[first:] if move.worth] == [0.5] * (len(game.moves) - first)


def test_the_curve_is_what_the_moves_are_judged_by() -> None:
    """The moves that were searched again, too."""
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1"
    game = kibitz.analyse(moves, "winner")
    assert game.white is not None
    for i, move in enumerate(game.moves):
        assert move.worth
        assert game.white[i] == pytest.approx(move.worth.before, abs=1e-6)


def test_positions_of_a_game_have_the_values_of_separate_searches() -> None:
    session = Session("human", threads=2)
    board, boards = chess.Board(), [chess.Board()]
    for san in ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Bxc6", "dxc6", "Nxe5", "Qd4", "Nf3", "Qxe4+"]:
        board.push_san(san)
        boards.append(board.copy())
    moves = boards[-1].move_stack
    judge = Judge(session, load("human"), depth=2, nodes=48)
    white, _ = judge.judge(boards[0], moves, np.stack([encode_board(each) for each in boards]))
    alone = [Judge(session, load("human"), depth=2, nodes=48).value(each).chance for each in boards]
    assert white.tolist() == alone


@pytest.mark.parametrize("call", [1, 25])
def test_a_stopped_analysis_searches_no_further_position(call: int) -> None:
    """Nor does it end the searches of the first position, which is alone, or of the others, which are at once."""
    session, stop = Session("human", threads=1), threading.Event()
    board = chess.Board()
    rows = [encode_board(board)]
    for san in ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"]:
        board.push_san(san)
        rows.append(encode_board(board))
    judge = Judge(session, load("human"), depth=1, nodes=16, stop=stop)
    white, _ = judge.judge(chess.Board(), board.move_stack, np.stack(rows))
    assert len(white) == len(rows)
    judged = Judge(session, load("human"), depth=1, nodes=160, stop=stop)
    evaluate, calls = session.evaluate, []

    def stopping(*arguments: Any) -> Any:
        calls.append(len(arguments[0]))
        if len(calls) == call:
            stop.set()
        return evaluate(*arguments)

    session.evaluate = stopping  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        judged.judge(chess.Board(), board.move_stack, np.stack(rows))
    assert len(calls) <= call + 1


@pytest.mark.parametrize(("instead", "loss"), [(0.45, 0.25), (0.1, 0.3), (0.7, 0.0), (0.9, 0.0)])
@pytest.mark.parametrize("drop", [0.3, 0.05])
def test_a_move_that_the_search_chose_loses_what_its_second_choice_keeps(
    instead: float, loss: float, drop: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """White's value falls from 60% after the search's own choice. instead: Black's value after the second choice."""
    session = Session("human")
    judge = Judge(session, load(session.system))
    chosen, second = chess.Move.from_uci("e2e4"), chess.Move.from_uci("d2d4")
    searched: list[tuple[chess.Move, ...]] = []

    def thought(player: Any, board: chess.Board, times: int, only: tuple[chess.Move, ...] = ()) -> _Thought:
        searched.append(only)
        if not board.move_stack:
            return _Thought(0.5 if only else 0.6, None, (second if only else chosen,), 0.5)
        reply = chess.Move.from_uci("g8f6")
        return _Thought(0.4 + drop if board.peek() == chosen else instead, None, (reply,), 0.5)

    monkeypatch.setattr(judge, "_thought", thought)
    start = chess.Board()
    after = start.copy()
    after.push(chosen)
    _, (found,) = judge.judge(start, [chosen], np.stack([encode_board(start), encode_board(after)]))
    if drop < 0.1:
        assert (found.loss, found.best, searched.count(())) == (0.0, chosen, len(searched))
        return
    assert found.loss == pytest.approx(loss, abs=1e-6)
    assert found.best == (second if loss else chosen)
    assert [move.uci() for move in found.line] == (["d2d4", "g8f6"] if loss else ["e2e4"])
    assert (found.before, found.after) == (pytest.approx(0.6), pytest.approx(0.3))
    assert set(searched[-2]) == set(start.legal_moves) - {chosen}
