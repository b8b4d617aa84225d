from __future__ import annotations

import functools
import random
import threading
import time

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.errors import UsageError
from kibitz.games.chess.replay import encode_board
from kibitz.play.chess import position as positions
from kibitz.play.chess.evaluator import Evaluator
from kibitz.play.chess.player import METHODS, SPREAD, ChessPlayer
from kibitz.play.chess.score import of_centipawns
from kibitz.play.result import SearchLimits, SearchResult
from support.chess_fakes import Fake
from support.examples import share
from support.patience import PATIENCE

SEARCHES = METHODS[2:]


@functools.cache
def drawn(seed: int, plies: int) -> chess.Board:
    """The position after random moves. Not to be changed: several tests share it."""
    draw = random.Random(seed)
    board = chess.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(draw.choice(moves))
    return board


def random_board(seed: int, plies: int) -> chess.Board:
    return drawn(seed, plies).copy()


def check(board: chess.Board, thought: SearchResult | None, lines: int = 1) -> None:
    """What holds for every answer."""
    if not any(board.legal_moves):
        assert thought is None
        return
    assert thought is not None
    assert 1 <= len(thought.lines) <= lines
    assert len({line.move for line in thought.lines}) == len(thought.lines)
    for line in thought.lines:
        assert line.pv[0] == line.move
        after = board.copy()
        for move in line.pv:
            assert move in after.legal_moves
            after.push(move)
        assert isinstance(line.score, int)
        assert -2000 <= line.score <= 2000
        assert sum(line.wdl) == 1000
        assert min(line.wdl) >= 0
        assert 0 <= line.probability <= 1.0001
        if line.mate is not None and line.mate > 0 and after.is_checkmate():
            assert len(line.pv) == 2 * line.mate - 1


@pytest.mark.parametrize("method", METHODS)
def test_never_an_illegal_move_in_random_positions(method: str) -> None:
    nodes, games = (150, min(60, share(1))) if method in SEARCHES else (1, min(400, share(3)))
    player = ChessPlayer(Fake("piece", noise=0.1), method=method, lines=2, hash_mb=1)
    for seed in range(games):
        board = random_board(seed, seed * 7 % 130)
        check(board, player.think(board, SearchLimits(nodes=nodes)), lines=2)


@given(
    seed=st.integers(0, 10**6),
    plies=st.integers(0, 200),
    method=st.sampled_from(METHODS),
    temperature=st.sampled_from([0, 0.5, 3]),
    nodes=st.integers(0, 60),
    lines=st.integers(1, 300),
)
def test_any_settings_in_any_position(
    seed: int, plies: int, method: str, temperature: float, nodes: int, lines: int
) -> None:
    player = ChessPlayer(Fake(sharp=3), method=method, temperature=temperature, lines=lines, seed=1, cut=0.8, width=3)
    board = random_board(seed, plies)
    check(board, player.think(board, SearchLimits(nodes=nodes)), lines)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "fen",
    [
        "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",  # mated
        "k7/2Q5/1K6/8/8/8/8/8 b - - 0 1",  # stalemate
    ],
)
def test_no_move_where_there_is_none(method: str, fen: str) -> None:
    assert ChessPlayer(Fake(), method=method).think(chess.Board(fen), SearchLimits(seconds=1)) is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/8/8/8/8/KB5k w - - 0 1",  # dead
        "4k3/8/8/8/8/8/8/R3K3 w - - 130 200",  # fifty moves are over
        "4k3/8/8/8/8/8/8/R3K3 w - - 99 90",
        "6bk/5Qp1/8/8/8/8/8/K7 b - - 99 90",
    ],
)
def test_drawn_positions_have_moves_all_the_same(method: str, fen: str) -> None:
    board = chess.Board(fen)
    check(board, ChessPlayer(Fake(), method=method).think(board, SearchLimits(nodes=200)))


@pytest.mark.parametrize("method", METHODS)
def test_only_the_wanted_moves(method: str) -> None:
    board = chess.Board("8/P6k/8/8/8/8/7K/8 w - - 0 1")
    only = (chess.Move.from_uci("a7a8n"), chess.Move.from_uci("h2h1"))
    for temperature in (0, 2):
        player = ChessPlayer(Fake(), method=method, lines=3, temperature=temperature)
        thought = player.think(board, SearchLimits(nodes=100, moves=only))
        assert thought
        assert {line.move for line in thought.lines} <= set(only)
    assert ChessPlayer(Fake(), method=method).think(board, SearchLimits(moves=(chess.Move.from_uci("a1a2"),))) is None


def test_top_move_and_top_prob_are_the_thesis_s() -> None:
    fake = Fake("piece")
    differ = 0
    for seed in range(60):
        board = random_board(seed, 20)
        row = encode_board(board)[None]
        answers = fake.evaluate(row[:, :64], row[:, 64:])
        pairs = {}
        for move in board.legal_moves:
            origin = answers["origin"][0, move.from_square]
            target = answers["target"][0, board.piece_type_at(move.from_square) - 1, move.to_square]
            if move.promotion in (None, chess.QUEEN):
                pairs[move] = origin, target
        top_move = max(pairs, key=lambda move: pairs[move])
        top_prob = max(pairs, key=lambda move: pairs[move][0] * pairs[move][1])
        for method, move in (("top-move", top_move), ("top-prob", top_prob)):
            thought = ChessPlayer(fake, method=method).think(board, SearchLimits())
            assert thought
            assert thought.lines[0].move == move
            assert thought.nodes == 1
        differ += top_move != top_prob
    assert differ


@pytest.mark.parametrize("method", ["top-move", "top-prob"])
def test_without_a_value_network_each_move_is_worth_nothing(method: str) -> None:
    board = chess.Board("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    unknown, known = (ChessPlayer(Fake(value=v), method=method).think(board, SearchLimits()) for v in (False, True))
    assert unknown
    assert known
    assert unknown.lines[0].move == known.lines[0].move
    assert (unknown.lines[0].score, unknown.lines[0].wdl, unknown.lines[0].own_value) == (0, (250, 500, 250), False)
    assert known.lines[0].score > 300


def test_a_full_table_loses_its_oldest_quarter() -> None:
    """And only when it holds more than it may."""
    fake = Fake()
    evaluator = Evaluator(fake, fake, cut=1.0, width=256, hash_mb=1)
    evaluator.max_entries = 8
    nodes = [positions.root(random_board(seed, 20))[0] for seed in range(10)]
    keys = [node.key for node in nodes]
    evaluator.evaluate(nodes[:8])
    evaluated = evaluator.nodes
    evaluator.evaluate(nodes[:8])
    assert (list(evaluator.table), evaluator.nodes) == (keys[:8], evaluated)
    evaluator.evaluate(nodes[8:9])
    assert list(evaluator.table) == keys[:9]
    evaluator.evaluate(nodes[9:])
    assert list(evaluator.table) == keys[2:]


def test_temperature_draws_in_proportion() -> None:
    board = chess.Board("8/8/8/8/8/k7/8/K7 w - - 0 1")
    assert board.legal_moves.count() == 1
    board = chess.Board("7k/8/8/8/8/8/P7/K7 w - - 0 1")
    fake = Fake()
    certain = ChessPlayer(fake, method="top-prob", lines=9).think(board, SearchLimits())
    assert certain
    want = {line.move: line.probability**0.5 for line in certain.lines}
    player = ChessPlayer(fake, method="top-prob", temperature=2, seed=3)
    counts = dict.fromkeys(want, 0)
    for _ in range(2000):
        thought = player.think(board, SearchLimits())
        assert thought
        counts[thought.lines[0].move] += 1
    for move, weight in want.items():
        assert counts[move] / 2000 == pytest.approx(weight / sum(want.values()), abs=0.04)


@pytest.mark.parametrize("method", SEARCHES)
def test_temperature_varies_searched_moves_but_keeps_a_mate(method: str) -> None:
    player = ChessPlayer(Fake(), method=method, temperature=1, seed=1)
    drawn = set()
    for _ in range(15):
        thought = player.think(chess.Board(), SearchLimits(nodes=100))
        assert thought
        drawn.add(thought.lines[0].move)
    assert len(drawn) > 2
    for _ in range(10):
        thought = player.think(chess.Board("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1"), SearchLimits(nodes=100))
        assert thought
        assert thought.lines[0].mate == 1


@pytest.mark.parametrize("temperature", [0.5, 2.0])
@pytest.mark.parametrize("method", SEARCHES)
def test_searched_moves_are_drawn_by_value_and_policy(method: str, temperature: float) -> None:
    class Noted:
        """Draws the first, and keeps the odds."""

        def choice(self, count: int, p: np.ndarray) -> int:
            self.odds = p
            return 0

    player = ChessPlayer(Fake(noise=0.1), method=method, temperature=temperature, lines=50)
    noted = Noted()
    player._random = noted  # type: ignore[assignment]
    thought = player.think(chess.Board(), SearchLimits(nodes=300))
    assert thought
    assert len(thought.lines) == len(noted.odds) > 3
    values = np.array([of_centipawns(line.score) for line in thought.lines])  # of centipawns, which are rounded
    odds = np.exp((values - values.max()) / (SPREAD * temperature)) * [line.probability for line in thought.lines]
    assert noted.odds == pytest.approx(odds / odds.sum(), rel=0.1, abs=1e-3)


def test_methods_by_default_and_what_they_lack() -> None:
    assert ChessPlayer(Fake()).method == "topprob-negamax"
    assert ChessPlayer(Fake(value=False)).method == "top-prob"
    assert ChessPlayer(Fake(value=False), value=Fake(None)).method == "topprob-negamax"
    assert ChessPlayer(Fake(None)).method == "value-negamax"
    for session, settings_ in (
        (Fake(value=False), {"method": "topprob-negamax"}),
        (Fake(value=False), {"method": "value-negamax"}),
        (Fake(None), {"method": "top-prob"}),
        (Fake(None), {"method": "topprob-negamax"}),
        (Fake(), {"method": "guess"}),
        (Fake(), {"value": Fake(value=False)}),
        (Fake(), {"temperature": -1}),
        (Fake(), {"lines": 0}),
        (Fake(), {"cut": 0}),
        (Fake(), {"cut": 1.01}),
        (Fake(), {"width": 0}),
        (Fake(), {"hash_mb": 0}),
    ):
        with pytest.raises(UsageError):
            ChessPlayer(session, **settings_)
    assert ChessPlayer(Fake(), cut=1, width=1, lines=1, hash_mb=1).think(chess.Board(), SearchLimits(nodes=9))


@pytest.mark.parametrize("method", SEARCHES)
def test_two_networks_are_asked_together(method: str) -> None:
    policy, value = Fake(value=False), Fake(None)
    both = ChessPlayer(policy, method=method, value=value).think(chess.Board(), SearchLimits(nodes=100))
    one = ChessPlayer(Fake(), method=method).think(chess.Board(), SearchLimits(nodes=100))
    assert both
    assert one
    assert both.nodes == 100
    assert sum(value.calls) == 100
    if method == "topprob-negamax":
        assert [line.pv for line in both.lines] == [line.pv for line in one.lines]
        assert policy.calls == value.calls


class Slow(Fake):
    """A network that takes its time: 2 ms a call and 0.3 ms a position."""

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        time.sleep(0.002 + 0.0003 * len(codes))
        return super().evaluate(codes, state)


@pytest.mark.parametrize("method", METHODS)
def test_time_is_kept(method: str) -> None:
    player = ChessPlayer(Slow(), method=method)
    player.think(chess.Board(), SearchLimits(nodes=200))  # compiled, and warm
    for seconds in (0.0, 0.05, 0.3):
        player.new_game()
        begun = time.perf_counter()
        thought = player.think(chess.Board(), SearchLimits(seconds=seconds))
        assert thought
        assert thought.lines
        # Generous: the machine may be busy; a search that does not look at its clock never ends at all.
        assert time.perf_counter() - begun < seconds + PATIENCE


@pytest.mark.parametrize("method", SEARCHES)
def test_nodes_are_kept(method: str) -> None:
    fake = Fake()
    player = ChessPlayer(fake, method=method)
    for nodes in (1, 2, 40, 333):
        player.new_game()
        fake.calls.clear()
        thought = player.think(chess.Board(), SearchLimits(nodes=nodes))
        assert thought
        assert thought.nodes == sum(fake.calls) == nodes


@pytest.mark.parametrize("method", SEARCHES)
def test_stop_is_heard(method: str) -> None:
    player = ChessPlayer(Slow(), method=method)
    stop = threading.Event()
    begun = time.perf_counter()
    threading.Timer(0.3, stop.set).start()
    told: list[SearchResult] = []
    thought = player.think(chess.Board(), SearchLimits(), stop, told.append)
    assert thought
    assert thought.lines
    assert 0.3 <= time.perf_counter() - begun < PATIENCE
    assert told
    assert [one.depth for one in told] == sorted(one.depth for one in told)
    for one in told:
        check(chess.Board(), one)


@pytest.mark.parametrize("method", SEARCHES)
def test_the_same_answer_again(method: str) -> None:
    for limits in (SearchLimits(nodes=300), SearchLimits(depth=2)):
        answers = []
        for _ in range(2):
            thought = ChessPlayer(Fake(noise=0.2), method=method, lines=3).think(chess.Board(), limits)
            assert thought
            answers.append((thought.depth, thought.nodes, thought.lines))
        assert answers[0] == answers[1]


@pytest.mark.parametrize("method", SEARCHES)
def test_a_new_game_forgets(method: str) -> None:
    fake = Fake()
    player = ChessPlayer(fake, method=method)
    player.think(chess.Board(), SearchLimits(depth=2))
    first = sum(fake.calls)
    player.think(chess.Board(), SearchLimits(depth=2))
    assert sum(fake.calls) < first * 1.5  # most was in the table
    player.new_game()
    fake.calls.clear()
    player.think(chess.Board(), SearchLimits(depth=2))
    assert sum(fake.calls) == first


@pytest.mark.parametrize("method", METHODS)
def test_a_network_gone_mad_plays_legal_moves(method: str) -> None:
    class Mad(Fake):
        def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
            answers = super().evaluate(codes, state)
            for values in answers.values():
                values[:] = np.nan
            return answers

    check(chess.Board(), ChessPlayer(Mad(), method=method).think(chess.Board(), SearchLimits(nodes=300)))
