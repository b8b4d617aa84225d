"""human-search: its distribution, mates with the packaged network, limits, and what is refused."""

from __future__ import annotations

import math
import threading
from collections import Counter
from typing import ClassVar

import chess
import numpy as np
import pytest

from kibitz.errors import UsageError
from kibitz.games.chess.moves import from_move, to_move
from kibitz.play.chess import score
from kibitz.play.chess.line_values import LINE_VISITS
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.puct.human import (
    IS_MATED,
    MATES,
    RATING_OF_SEARCH,
    USUAL_RATING,
    VISITS,
    HumanSearchPlayer,
    HumanWeights,
    RootSearch,
    shares,
)
from kibitz.play.puct.search import children
from kibitz.play.result import SearchLimits, SearchResult, TimeManager
from kibitz.play.session import Session
from support.causes import naming
from support.chess_fakes import Fake, before_a_repetition


class RatedFake(Fake):
    """A fake that is told ratings, and keeps those that it heard: the mover's and the opponent's."""

    side_inputs: ClassVar[dict[str, int]] = {"rating": 0, "opponent_rating": 0}

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[int, int]] = []

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        self.heard += [tuple(row) for row in state[:, 4:].tolist()]
        return super().evaluate(codes, state[:, :4])


def think(player: HumanSearchPlayer, fen: str = chess.STARTING_FEN, **limits: object) -> SearchResult:
    result = player.think(chess.Board(fen), SearchLimits(**limits))  # type: ignore[arg-type]
    assert result
    return result


def test_shares_are_those_of_a_plain_loop() -> None:
    priors, values, alpha, beta = [0.5, 0.3, 0.2, 0.0], [0.1, -1.99, 0.3, 1.99], 0.8, 3.5
    odds = []
    for prior, value in zip(priors, values, strict=True):
        worth = MATES if value > 1 else IS_MATED if value < -1 else value
        odds.append(math.exp(alpha * math.log(max(prior, 1e-9)) + beta * worth))
    assert shares(priors, values, alpha, beta) == pytest.approx([each / sum(odds) for each in odds])
    assert shares(priors[:3], [0.0] * 3, 1.0, beta) == pytest.approx(priors[:3])


def test_a_single_line_shows_what_the_small_search_saw() -> None:
    session, board = RatedFake(), chess.Board()
    result = HumanSearchPlayer(session, lines=1).think(board, SearchLimits())
    seen = RootSearch(session).look(board, TimeManager(SearchLimits(), None, 0))
    assert result
    value, moves = seen[from_move(result.lines[0].move)]
    assert result.lines[0].score == score.centipawns(value)
    assert result.lines[0].pv == tuple(to_move(move) for move in moves)


def test_beta_is_linear_between_the_ratings_of_the_games() -> None:
    weights = HumanWeights(beta=2.0, growth=-1.0, lowest=1000, highest=2000)
    assert weights.beta_at(USUAL_RATING) == 2.0
    assert weights.beta_at(1800) == pytest.approx(1.8)
    assert weights.beta_at(400) == weights.beta_at(1000) == pytest.approx(2.6)
    assert weights.beta_at(2800) == weights.beta_at(2000)


def test_a_line_is_reported_with_its_share_and_what_the_search_saw() -> None:
    session = RatedFake()
    weights = HumanWeights(alpha=0.9, beta=3.0, growth=1.0)
    fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3"
    result = think(HumanSearchPlayer(session, lines=100, side_inputs=told(1200), weights=weights), fen)
    policy = ChessPlayer(session, method="top-prob", lines=100, side_inputs=told(1200))
    looked = policy.think(chess.Board(fen), SearchLimits())
    assert looked
    search = RootSearch(session)
    seen = search.look(chess.Board(fen), TimeManager(SearchLimits(), None, 0))
    assert {line.move for line in looked.lines} == {line.move for line in result.lines}
    shown = {line.move: line for line in result.lines}
    odds = {}
    for line in looked.lines:
        value, moves = seen[from_move(line.move)]
        worth = MATES if value > 1 else IS_MATED if value < -1 else value
        odds[line.move] = math.exp(0.9 * math.log(line.probability) + 2.6 * worth)
        assert shown[line.move].own_value, "each of several lines has a search or an evaluation of its own"
        if score.mate(value) is not None:
            assert shown[line.move].pv == tuple(to_move(move) for move in moves)
            assert shown[line.move].mate == score.mate(value)
    expected = {move: each / sum(odds.values()) for move, each in odds.items()}
    assert {line.move: line.probability for line in result.lines} == pytest.approx(expected)
    assert [line.probability for line in result.lines] == pytest.approx(sorted(expected.values(), reverse=True))
    assert set(session.heard) - {()} == {(75, 75), (RATING_OF_SEARCH // 16,) * 2}


def test_every_move_gets_a_visit_before_the_others() -> None:
    search = RootSearch(RatedFake(), visits=40)
    search.look(chess.Board(), TimeManager(SearchLimits(), None, 0))
    tree = search.search.tree
    visits = tree.visits[children(tree, 0)]
    assert tree.visits[0] == 40
    assert visits.sum() == 39
    assert visits.min() == 1
    assert not tree.pending[: tree.size[0]].any()


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_position_that_came_twice_is_a_draw_and_one_that_came_once_is_not(rounds: int) -> None:
    board, back = before_a_repetition(rounds)
    value, _ = RootSearch(RatedFake()).look(board, TimeManager(SearchLimits(), None, 0))[from_move(back)]
    assert (value == 0) == (rounds == 2)
    if rounds == 1:
        assert value > 0.5


def test_the_hash_is_room_for_the_tree() -> None:
    assert 60e6 < RootSearch(RatedFake(), hash_mb=80).search.limit < 80e6


def test_the_work_is_the_same_whatever_the_time() -> None:
    session = RatedFake()
    player = HumanSearchPlayer(session, lines=3)
    first = think(player, seconds=1000.0)
    assert VISITS + LINE_VISITS / 2 < first.nodes <= VISITS + 1 + 3 * LINE_VISITS
    again = think(player)
    assert again.lines == first.lines
    assert again.nodes < first.nodes  # evaluations are kept
    player.new_game()
    assert think(player, seconds=500.0).nodes == first.nodes


@pytest.mark.parametrize("nodes", [1, 2, 5, 30])
def test_limits_of_evaluations(nodes: int) -> None:
    session = RatedFake()
    result = think(HumanSearchPlayer(session), nodes=nodes)
    assert result.nodes == sum(session.calls) <= nodes


def test_a_stop_leaves_the_policy() -> None:
    stop = threading.Event()
    stop.set()
    player = HumanSearchPlayer(RatedFake(), lines=20)
    result = player.think(chess.Board(), SearchLimits(), stop)
    assert result
    assert (result.nodes, len(result.lines)) == (1 + 20, 20)


def test_only_some_moves_and_none() -> None:
    player = HumanSearchPlayer(RatedFake(), lines=20)
    moves = (chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4"))
    result = think(player, moves=moves)
    assert {line.move for line in result.lines} == set(moves)
    assert sum(line.probability for line in result.lines) == pytest.approx(1)
    assert player.think(chess.Board("7k/5KQ1/8/8/8/8/8/8 b - - 0 1"), SearchLimits()) is None


def test_moves_are_drawn_as_often_as_is_said() -> None:
    def player(lines: int) -> HumanSearchPlayer:
        return HumanSearchPlayer(RatedFake(), temperature=1.0, lines=lines, seed=1, weights=HumanWeights(beta=5.0))

    said = {line.move: line.probability for line in think(player(20), nodes=5).lines}
    assert len(said) == 20
    drawing = player(1)  # a single line needs no value of its own, which would take most of the time
    drawn = Counter(think(drawing, nodes=5).lines[0].move for _ in range(400))
    for move, share in said.items():
        assert abs(drawn[move] / 400 - share) < 4 * math.sqrt(share / 400) + 0.01


def test_the_smallest_temperature_plays_the_most_likely_move() -> None:
    best = think(HumanSearchPlayer(RatedFake())).lines[0].move
    for temperature in (0.01, 0.001, 1e-6):
        assert think(HumanSearchPlayer(RatedFake(), temperature=temperature, seed=1)).lines[0].move == best


def test_what_it_needs() -> None:
    with pytest.raises(UsageError, match=naming("fake & human & rating inputs")):
        HumanSearchPlayer(Fake())
    silent = RatedFake()
    silent.outputs = ("origin", "target")
    with pytest.raises(UsageError, match=naming("fake & network")):
        HumanSearchPlayer(silent)
    for wrong in ({"lines": 0}, {"temperature": -1.0}, {"hash_mb": 0}):
        with pytest.raises(UsageError, match="at least"):
            HumanSearchPlayer(RatedFake(), **wrong)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def human() -> Session:
    return Session("human", 1)


def of_rating(session: Session, rating: int, lines: int) -> HumanSearchPlayer:
    return HumanSearchPlayer(session, lines=lines, side_inputs=told(rating))


def told(rating: int) -> dict[str, int]:
    return dict.fromkeys(("rating", "opponent_rating"), rating // 16)


MATES_IN_TWO = [
    ("4r3/pp2r1pk/8/8/6p1/P4pP1/1P1R1P1P/3R2K1 b - - 4 1", "e7e1"),
    ("r6k/7p/5R1P/4pP2/8/2nB4/5PP1/5K2 b - - 0 31", "a8a1"),
    ("6k1/b4pp1/1qp4p/8/1P6/P2Q2NP/5PP1/6K1 b - - 1 33", "b6f2"),
    ("3r4/6kp/6p1/3q4/5QB1/5p2/1P3P1P/R6K b - - 6 41", "d5d1"),
]
"""Positions of people's games, and the first move."""
BLUNDERS = [
    ("R7/1p3kp1/2pK3p/3p1PP1/1r1B2nP/8/1P6/8 b - - 2 39", "b4d4", 2),
    ("r1bqk2r/pp1np1bp/2p3p1/3pNB2/3P1B2/4P3/PPP2PPP/R2QK2R b KQkq - 0 10", "g6f5", 5),
    ("2rq2k1/1R3pp1/p5bp/8/1P2RQ1P/8/6P1/7K b - - 0 38", "g6e4", 5),
    ("r6k/5R1p/5p1P/4pP2/8/2nB4/5PP1/5K2 w - - 0 31", "f7f6", 14),
]
"""Positions of people's games, a move after which the other side mates in two, and how many lines contain the move.

Each line has a search of its own, so that all lines would take seconds.
"""


def of_policy(session: Session, rating: int, fen: str, move: str) -> float:
    """The policy's probability of a move."""
    policy = ChessPlayer(session, method="top-prob", lines=250, side_inputs=told(rating))
    policy.own_values = False
    looked = policy.think(chess.Board(fen), SearchLimits())
    assert looked
    return next(line.probability for line in looked.lines if line.move.uci() == move)


@pytest.mark.parametrize("rating", [1200, 1800])
@pytest.mark.parametrize(("fen", "move"), MATES_IN_TWO)
def test_a_mate_in_two_is_found(human: Session, fen: str, move: str, rating: int) -> None:
    """And played more often than not, where the policy alone plays something else."""
    (found,) = think(of_rating(human, rating, 1), fen).lines
    assert found.move.uci() == move
    assert found.mate == 2
    assert found.probability > 0.5 > of_policy(human, rating, fen, move)


@pytest.mark.parametrize("rating", [1200, 1800])
@pytest.mark.parametrize(("fen", "move", "lines"), BLUNDERS)
def test_a_mate_in_two_is_not_allowed(human: Session, fen: str, move: str, lines: int, rating: int) -> None:
    """Which it allows five times as rarely as the policy alone."""
    found = next(line for line in think(of_rating(human, rating, lines), fen).lines if line.move.uci() == move)
    assert found.mate == -2
    alone = of_policy(human, rating, fen, move)
    assert alone > 0.1
    assert found.probability < alone / 5
