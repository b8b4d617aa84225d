"""An outside engine that judges chess moves: its values, marks, lines and mates, and its failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import chess
import chess.engine
import numpy as np
import pytest

from kibitz.analysis import load
from kibitz.analysis.checkers import Checker, find_checker
from kibitz.analysis.chess import engine_judge
from kibitz.analysis.chess.engine_judge import EngineJudge
from kibitz.analysis.chess.judging import Judge
from kibitz.analysis.chess.moves import AnalysedGame, analyse
from kibitz.analysis.chess.pgn import annotated
from kibitz.analysis.chess.rows import COLUMNS, rows
from kibitz.errors import UsageError
from kibitz.external import EngineDied, uci
from kibitz.external.programs import Program
from kibitz.external.uci import ExternalEngine
from kibitz.games.chess.io.reader import Record, parse
from kibitz.play.chess.score import win_chance
from kibitz.play.session import Session
from support.helpers import program
from support.opinion_fakes import fake
from support.processes import is_gone

NODES = 2_000
SHORT = "1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0"
HANGS = "1. e4 e5 2. Nf3 Nc6 3. Bb5 Qg5 4. Nxg5 a6 5. O-O axb5 *"
"""Black's third move loses the queen."""

SMOTHERED = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1"


@pytest.fixture(scope="module")
def session() -> Session:
    return Session("human")


def record(text: str) -> Record:
    found = parse(text)
    assert found is not None
    return found


def stockfish(nodes: int | None = NODES, depth: int | None = None) -> Checker:
    program("stockfish")
    return find_checker("stockfish", "chess", "human", {"Hash": "16"}, nodes, depth)


def judged(session: Session, text: str, checker: Checker) -> AnalysedGame:
    analysis = load(session.system)
    with EngineJudge(session, analysis, checker) as judge:
        return analyse(record(text), session, analysis, 0.1, (1500, 1500), judge=judge)


def test_the_engine_gives_values_and_the_network_what_people_play(session: Session) -> None:
    game = judged(session, HANGS, stockfish())
    analysis = load(session.system)
    plain = analyse(record(HANGS), session, analysis, 0.1, (1500, 1500), judge=Judge(session, analysis, 2, 0))
    assert game.checked_by is not None
    assert game.checked_by.engine.startswith("Stockfish")
    assert [move.expected for move in game.moves] == [move.expected for move in plain.moves]
    assert [move.by_strength and move.by_strength.player for move in game.moves] == [
        move.by_strength and move.by_strength.player for move in plain.moves
    ]
    queen = game.moves[5]
    assert queen.sign == "??"
    assert queen.judged is not None
    assert queen.judged.best != queen.uci
    assert queen.judged.risk is not None
    assert queen.reason is not None
    assert queen.reason.code == "loses"
    assert queen.reason.parameters["lost"] == ["queen"]
    assert plain.checked_by is None  # the control: without an engine nothing names one
    assert "checked_by" in game.as_json()
    assert "checked_by" not in plain.as_json()


def test_losses_are_those_of_searches_one_by_one(session: Session) -> None:
    """The slow way: a new engine searches each position, and a formula turns pawns into win probabilities."""
    checker = stockfish()
    game = judged(session, HANGS, checker)
    board, chances = chess.Board(), []
    moves = [move.uci for move in game.moves]
    for ply in range(len(moves) + 1):
        with ExternalEngine(checker.program.command) as engine:
            engine.set_options({"Threads": 1, "Hash": 16})
            score = engine.search(board, chess.engine.Limit(nodes=NODES), 1, 20).score
        assert score is not None
        chances.append(score.white().wdl(model="lichess").expectation())
        if ply < len(moves):
            board.push_uci(moves[ply])
    assert game.white == pytest.approx(chances, abs=0.002)
    for i, move in enumerate(game.moves):
        assert move.judged is not None
        change = (chances[i] - chances[i + 1]) * (1 if i % 2 == 0 else -1)
        assert move.judged.loss == pytest.approx(0 if move.judged.best == move.uci else max(0, change), abs=0.003)


def test_the_engine_decides_whether_a_move_is_the_only_good_one(session: Session) -> None:
    analysis = load(session.system)
    plain = analyse(record(SMOTHERED), session, analysis, 0.1, (1500, 1500), judge=Judge(session, analysis, 2, 0))
    checked = judged(session, SMOTHERED, stockfish(20_000))
    alone = [[move.san for move in game.moves if move.judged and move.judged.only] for game in (plain, checked)]
    assert alone == [["Qxg2", "Qxe4+"], ["Qxg2"]]  # 6… Nxc2+ is about as good as 6… Qxe4+


def test_a_mate_is_certain_and_keeps_its_distance(session: Session) -> None:
    game = judged(session, SHORT, stockfish())
    blunder, mate = game.moves[3:]
    assert blunder.worth is not None
    assert (blunder.worth.after, blunder.worth.mate, blunder.sign) == (1.0, 1, "??")
    assert blunder.reason is not None
    assert blunder.reason.code == "allows_mate"
    assert mate.mark == "#"
    assert game.white is not None
    assert game.white[-1] == 1.0
    text = annotated(game)
    assert "[%eval #1]" in text
    assert f"checked by: {game.checked_by.words()}" in " ".join(text.split())  # type: ignore[union-attr]
    again = judged(session, text, stockfish())
    assert annotated(again) == text
    row = list(rows(game, "file"))[3]
    assert set(row) == set(COLUMNS)
    assert (row["mate"], row["checked_by"]) == (1, game.checked_by.words())  # type: ignore[union-attr]


def test_a_position_alone_has_the_value_that_it_has_in_a_game(session: Session) -> None:
    game = judged(session, HANGS, stockfish())
    board = record(HANGS).game.board()
    with EngineJudge(session, load(session.system), stockfish()) as judge:
        for at, node in enumerate(record(HANGS).game.mainline()):
            assert game.white is not None
            assert judge.value(board).chance == game.white[at]
            board.push(node.move)


def test_limits_are_the_engines() -> None:
    assert stockfish(None).limit_nodes == 100_000
    assert stockfish(None, 7).limit_nodes is None
    assert (stockfish(500, 7).limit_nodes, stockfish(500, 7).depth) == (500, 7)
    with pytest.raises(UsageError, match="from 1 to 100"):
        stockfish(None, 101)
    with pytest.raises(UsageError, match="from 1 to"):
        stockfish(0)


def test_an_unknown_option_is_refused_and_the_engine_has_ended(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[ExternalEngine] = []
    begin = ExternalEngine.set_options
    monkeypatch.setattr(
        ExternalEngine, "set_options", lambda self, *a, **k: (started.append(self), begin(self, *a, **k))
    )
    program("stockfish")
    checker = find_checker("stockfish", "chess", "human", {"Hush": 1}, NODES)
    with pytest.raises(UsageError, match="Hush"):
        EngineJudge(session, load(session.system), checker)
    assert started
    assert not started[0].runs


# The engine's own choice


OVERLOOKED = "1. e4 c5 2. Bc4 Nc6 3. Bxf7+ Kxf7 *"
"""White's third move takes a pawn, but the king takes the bishop. Every other move keeps the balance."""
NO_BETTER = "1. e4 a6 2. Qg4 h6 3. Qxg7 Bxg7 *"
"""Greedy's second choice, Qxd7+, loses the queen, too."""


def test_an_own_choice_whose_value_drops_is_compared_with_the_second_one(
    session: Session, faulty: Callable[[str], Checker]
) -> None:
    """The greedy fake sees only captures of its next move, so it chooses 3. Bxf7+ itself."""
    move = judged(session, OVERLOOKED, faulty("greedy")).moves[4]
    assert move.judged is not None
    assert move.worth is not None
    even, after = (win_chance(chess.engine.Cp(score)) for score in (0, -200))
    assert move.worth.after == pytest.approx(after)
    assert move.judged.loss == pytest.approx(even - after)
    assert move.sign == "?!"
    assert move.judged.best not in (move.uci, None)
    other = judged(session, NO_BETTER, faulty("greedy")).moves[4]
    assert other.judged is not None
    assert other.worth is not None
    assert other.worth.after < 0.1  # the control: this value drops even more, but no move is better
    assert (other.judged.loss, other.judged.best, other.sign) == (0, other.uci, "")


def test_an_engine_that_cannot_leave_out_a_move(session: Session, faulty: Callable[[str], Checker]) -> None:
    move = judged(session, OVERLOOKED, faulty("stubbornly greedy")).moves[4]
    assert move.judged is not None
    assert (move.judged.loss, move.judged.best, move.sign) == (0, move.uci, "")


# Engines that fail


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[Callable[[str], Checker]]:
    """A fake engine with a fault; at the end all of its processes have ended."""

    def make(fault: str) -> Checker:
        command = fake("uci", fault, tmp_path)
        return find_checker(command, "chess", "human", None, 100)

    yield make
    started = tmp_path / "started"  # missing if the program was ended before it wrote anything
    for line in started.read_text().splitlines() if started.exists() else ():
        assert all(is_gone(int(number)) for number in line.split())


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("crash", "exit code 3"),
        ("crash from 4", "exit code 3"),
        ("silent", "0.52 s"),
        ("liar", "illegal"),
        ("mindless", ""),
    ],
)
def test_a_failure_is_one_error(
    session: Session, faulty: Callable[[str], Checker], fault: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "silent":
        monkeypatch.setattr(engine_judge, "PATIENCE", 0.5)
    if fault == "mindless":  # a null move at the end is no failure: the score and the line count
        assert judged(session, "1. e4 *", faulty(fault)).moves
        return
    with pytest.raises(EngineDied, match=why) as raised:
        judged(session, "1. e4 e5 2. d4 *", faulty(fault))
    assert "\n" not in str(raised.value)


def test_an_engine_that_ends_once_is_started_again(session: Session, faulty: Callable[[str], Checker]) -> None:
    game = judged(session, "1. e4 e5 2. d4 *", faulty("crash once"))
    assert [move.worth and move.worth.after for move in game.moves] == pytest.approx(
        judged(session, "1. e4 e5 2. d4 *", faulty("sound")).white[1:]  # type: ignore[index]
    )


def test_a_program_that_is_no_engine(
    session: Session, faulty: Callable[[str], Checker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci, "PATIENCE", 1.0)
    with pytest.raises(EngineDied, match=r"--checked-by: .* 1 s"):
        EngineJudge(session, load(session.system), faulty("mute"))


@pytest.mark.parametrize(
    ("words", "game", "why"),
    [
        ("no-such-engine", "chess", "--checked-by"),
        ("gnugo", "chess", "engine for chess"),
        ("stockfish", "go", "engine for Go"),
    ],
)
def test_an_engine_for_the_other_game(
    words: str, game: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz.external.programs.GAMES", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("stockfish", "gnugo"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(UsageError, match=why):
        find_checker(words, game, "human")
    right = {"chess": "stockfish", "go": "gnugo"}[game]
    assert find_checker(right, game, "human").program.name == right


def test_an_engine_judges_for_a_network_that_only_predicts_moves(session: Session) -> None:
    """Such a network estimates no moves, so there is no risk; the rest is the engine's."""
    judge = EngineJudge(session, load(session.system), stockfish())
    judge._evaluates = False
    with judge:
        moves = [chess.Move.from_uci("e2e4")]
        board = chess.Board()
        from kibitz.games.chess.replay import encode_board

        lines = [encode_board(board)]
        board.push(moves[0])
        _, (found,) = judge.judge(chess.Board(), moves, np.stack([*lines, encode_board(board)]))
    assert found.options is None
    assert 0 < found.before < 1


def test_the_known_arguments_of_a_name_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kibitz.external.programs.GAMES", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("katago", "gnuchess"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    path = str(tmp_path / "katago")
    assert find_checker("katago", "go", "gohuman").program == Program("katago", (path, "gtp"), "go")
    assert find_checker("katago gtp -model m", "go", "gohuman").program.command == (path, "gtp", "-model", "m")
    assert find_checker("gnuchess", "chess", "human").program.command[1:] == ("--uci",)
