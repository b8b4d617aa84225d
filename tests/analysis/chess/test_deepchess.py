"""What `deepchess` says of a game, and that nobody takes it for a probability of winning."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import chess.pgn
import numpy as np
import pytest
from rich.console import Console

from kibitz.analysis.chess.moves import AnalysedGame
from kibitz.analysis.chess.notes import centipawns
from kibitz.analysis.chess.pgn import annotated
from kibitz.analysis.chess.terminal import show
from kibitz.systems import SYSTEMS
from kibitz.systems.deepchess import N_REFERENCES
from support.causes import mentions

MEANING = SYSTEMS["deepchess"].meaning
TEXT = '[White "A"]\n\n{ before } 1. e4 e5 2. Nf3 *'
WHITE = [0.5, 0.6, 0.55, 0.7]

JudgePairs = Callable[[str, Sequence[float]], AnalysedGame]


@pytest.fixture
def judge_pairs(judge_fake: Callable[..., AnalysedGame], make_fake: Callable[..., object]) -> JudgePairs:
    return lambda text, white: judge_fake(text, make_fake(white_better=white), MEANING)


def printed(judged: AnalysedGame, width: int = 80) -> str:
    file = io.StringIO()
    show(judged, 0.1, Console(file=file, width=width))
    return file.getvalue()


def test_its_only_output_is_the_evaluation(judge_pairs: JudgePairs) -> None:
    judged = judge_pairs(TEXT, WHITE)
    assert judged.white is not None
    np.testing.assert_allclose(judged.white, WHITE, rtol=1e-6)
    assert [round(move.change or 0, 6) for move in judged.moves] == [0.1, 0.05, 0.15]
    assert not judged.predicts


def test_the_table_says_what_the_figures_are(judge_pairs: JudgePairs) -> None:
    text = printed(judge_pairs(TEXT, WHITE))
    assert mentions(text, "White's")
    assert MEANING.note in " ".join(text.split())
    assert "change   White better\n" in text
    assert "White wins" not in text
    assert "winning" not in text
    alone = " ".join(printed(judge_pairs('[White "A"]\n\n*', [0.55])).split())
    assert mentions(alone, f"White's & 55% & {MEANING.note} & moves")


@pytest.mark.parametrize("width", [30, 50, 60, 100])
def test_no_line_is_wider_than_the_terminal(width: int, judge_pairs: JudgePairs) -> None:
    assert max(map(len, printed(judge_pairs(TEXT, WHITE), width).splitlines())) <= width


def test_the_note_is_about_the_networks_own_positions() -> None:
    assert mentions(MEANING.note, f"{N_REFERENCES} & balanced")
    assert all(len(declaration.meaning.short) <= 12 for declaration in SYSTEMS.values())


def test_written_games_say_it_once(judge_pairs: JudgePairs, judge_text: JudgePairs) -> None:
    text = annotated(judge_pairs(TEXT, WHITE))
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert game.comment == f"before / net: {MEANING.note}"
    for node, probability in zip(game.mainline(), WHITE[1:], strict=True):
        score = node.eval()
        assert score is not None
        assert score.white().score() == centipawns(probability)
    assert annotated(judge_pairs(text, WHITE)) == text
    bare = annotated(judge_pairs(TEXT.replace("{ before } ", ""), WHITE))
    assert f"{{ net: {MEANING.note} }}\n1. e4" in bare
    assert annotated(judge_pairs(bare, WHITE)) == bare
    assert "net:" not in annotated(judge_text(TEXT, WHITE))
