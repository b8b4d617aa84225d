"""The thesis' search against a loop without levels, tables and batches."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import encode_board
from kibitz.play.chess import position as positions
from kibitz.play.chess import score
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.result import SearchLimits, SearchResult
from support.chess_fakes import Fake

MATE_IN_ONE = chess.Board("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1")


class Mover(Fake):
    """Asks for one pair of squares nearly always, where there is one; values material."""

    def __init__(self, pairs: dict[int, int]):
        super().__init__("square")
        self.pairs = pairs

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        answers = super().evaluate(codes, state)
        for origin, target in self.pairs.items():
            answers["origin"][:] = 1e-6
            answers["origin"][:, origin] = 1
            answers["target"][:, origin] = 1e-6
            answers["target"][:, origin, target] = 1
        return answers


def think(board: chess.Board, limits: SearchLimits, fake: Fake | None = None, **settings: object) -> SearchResult:
    thought = ChessPlayer(fake or Fake(), method="thesis-negamax", **settings).think(board, limits)
    assert thought
    return thought


def likely(fake: Fake, board: chess.Board, cut: float, width: int) -> list[chess.Move]:
    """The likeliest legal moves that hold the part `cut` of the probability, by the thesis' formula."""
    row = encode_board(board)[None]
    answers = fake.evaluate(row[:, :64], row[:, 64:])
    odds = {}
    for code in positions.root(board)[0].legal():  # the search's order, so that equals come in the same one
        move = to_move(code)
        odds[move] = float(
            answers["origin"][0, move.from_square] * answers["target"][0, move.from_square, move.to_square]
        )
        if move.promotion not in (None, chess.QUEEN):
            odds[move] = 0.0
    within, chosen = 0.0, []
    for move in sorted(odds, key=lambda move: -odds[move]):
        if within >= cut * sum(odds.values()) or len(chosen) == width:
            break
        within += odds[move]
        chosen.append(move)
    return chosen


def negamax(fake: Fake, board: chess.Board, depth: int, seen: list[str], cut: float, width: int) -> float:
    """The value of a position to its mover. seen: the positions of the line before it."""
    if board.is_checkmate():
        return score.MATED
    here = board.epd()
    if here in seen or board.halfmove_clock >= 100 or board.is_stalemate() or board.is_insufficient_material():
        return 0.0
    if depth == 0:
        row = encode_board(board)[None]
        return float(fake.evaluate(row[:, :64], row[:, 64:])["value"][0])
    best = -9.0
    for move in likely(fake, board, cut, width):
        board.push(move)
        best = max(best, score.to_parent(negamax(fake, board, depth - 1, [*seen, here], cut, width)))
        board.pop()
    return best


@pytest.mark.parametrize(("cut", "width", "depth"), [(0.8, 5, 3), (0.5, 3, 4), (0.98, 20, 2)])
def test_it_is_negamax_over_the_likely_moves(cut: float, width: int, depth: int) -> None:
    compared = 0
    for seed in range(8):
        draw = random.Random(seed)
        board = chess.Board()
        for _ in range(10 + 12 * seed):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(draw.choice(moves))
        board.clear_stack()
        if board.is_game_over():
            continue
        fake = Fake(noise=0.3, sharp=2)
        want = negamax(fake, board, depth, [], cut, width)
        got = think(board, SearchLimits(depth=depth), Fake(noise=0.3, sharp=2), cut=cut, width=width)
        assert got.depth == depth
        assert got.lines[0].score == score.centipawns(want)
        assert got.lines[0].mate == score.mate(want)
        compared += 1
    assert compared >= 6


def test_a_depth_is_the_same_everywhere() -> None:
    for depth in (1, 2, 3):
        thought = think(chess.Board(), SearchLimits(depth=depth), lines=3)
        assert thought.depth == depth
        assert [len(line.pv) for line in thought.lines] == [depth] * 3


def test_a_mate_is_seen_only_among_likely_moves() -> None:
    unlikely = Mover({chess.G1: chess.H1})
    assert think(MATE_IN_ONE, SearchLimits(depth=3), unlikely).lines[0].move.uci() == "g1h1"
    assert think(MATE_IN_ONE, SearchLimits(depth=1), unlikely, cut=1.0, width=256).lines[0].mate == 1
    line = think(MATE_IN_ONE, SearchLimits(depth=2), Mover({chess.B1: chess.B8})).lines[0]
    assert (line.mate, line.score, len(line.pv)) == (1, 2000, 1)


def test_a_capture_is_no_likelier_than_the_network_says() -> None:
    board = chess.Board("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1")
    assert think(board, SearchLimits(depth=1), Mover({chess.E1: chess.E2})).lines[0].move.uci() == "e1e2"
    assert think(board, SearchLimits(depth=1), cut=1.0, width=256).lines[0].move.uci() == "c3d5"


def test_the_rules_end_a_line() -> None:
    fifty = chess.Board("7k/8/8/8/8/8/R3P3/K7 w - - 99 99")
    assert think(fifty, SearchLimits(depth=2, moves=(chess.Move.from_uci("a2b2"),))).lines[0].score == 0
    board = chess.Board("7k/8/8/8/8/8/R7/K7 w - - 0 1")
    for uci in ("a2b2", "h8g8", "b2a2", "g8h8", "a2b2", "h8g8", "b2a2", "g8h8"):
        board.push_uci(uci)
    assert think(board, SearchLimits(depth=2, moves=(chess.Move.from_uci("a2b2"),))).lines[0].score == 0


def test_an_interrupted_level_does_not_count() -> None:
    whole = think(chess.Board(), SearchLimits(depth=2), lines=20)
    cut_short = think(chess.Board(), SearchLimits(nodes=whole.nodes + 5), lines=20)
    assert cut_short.depth == 2
    assert cut_short.nodes == whole.nodes + 5
    assert [line.pv for line in cut_short.lines] == [line.pv for line in whole.lines]


def test_without_a_level_the_likeliest_moves_are_told() -> None:
    """Where the first level is cut short, and where there is nothing to think about."""
    board = chess.Board()
    thought = think(board, SearchLimits(nodes=3), lines=4)
    assert (thought.depth, thought.nodes) == (1, 3 + 4), "each line has an evaluation of its own"
    assert [line.pv for line in thought.lines] == [(move,) for move in likely(Fake(), board, 0.98, 20)[:4]]
    assert {line.score for line in thought.lines} == {0}, "what the network says of the position itself"
    alone = think(chess.Board("8/8/8/8/8/k7/8/K7 w - - 0 1"), SearchLimits(seconds=1000.0))
    assert (alone.nodes, [line.move.uci() for line in alone.lines]) == (1, ["a1b1"])


def test_the_tree_has_bounds() -> None:
    thought = think(chess.Board(), SearchLimits(), hash_mb=1)
    assert 2 <= thought.depth <= 4


def test_a_level_is_asked_for_in_batches() -> None:
    fake = Fake()
    think(chess.Board(), SearchLimits(nodes=4000), fake)
    assert np.mean(fake.calls) > 50
