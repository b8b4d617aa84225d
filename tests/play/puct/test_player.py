"""PUCT: mates and draws by proof, limits, the tree that is kept, and what is refused."""

from __future__ import annotations

import threading
import time
from collections import Counter

import chess
import numpy as np
import pytest

from kibitz.errors import UsageError
from kibitz.play.puct.pace import LONGEST_BATCH
from kibitz.play.puct.player import PuctPlayer
from kibitz.play.puct.search import BatchSizes
from kibitz.play.puct.tree import DRAW, LOSS, UNKNOWN, WIN, PuctTree
from kibitz.play.result import ProgressThrottle, SearchLimits, SearchResult, TimeManager
from support.chess_fakes import Fake, before_a_repetition
from support.patience import PATIENCE

MATES = {
    "6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1": 1,
    "8/8/8/8/8/6k1/4p3/7K b - - 0 1": 1,
    "6rk/6pp/8/6N1/8/8/8/6K1 w - - 99 99": 1,
    "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1": 2,
}


def think(fen: str = chess.STARTING_FEN, **limits: object) -> SearchResult:
    """With a policy that likes all moves alike."""
    result = PuctPlayer(Fake(sharp=0.0)).think(chess.Board(fen), SearchLimits(**limits))  # type: ignore[arg-type]
    assert result
    return result


@pytest.mark.parametrize("fen", MATES)
def test_a_mate_is_proven_and_shown(fen: str) -> None:
    line = think(fen, nodes=20_000).lines[0]
    assert (line.mate, line.score) == (MATES[fen], 2000)
    board = chess.Board(fen)
    for move in line.pv:
        board.push(move)
    assert board.is_checkmate()


def test_who_is_mated_by_force_resists_longest() -> None:
    assert think("7k/R7/6K1/8/8/8/8/8 b - - 0 1", nodes=500).lines[0].mate == -1


def check(tree: PuctTree, whole: bool = True) -> None:
    """What holds between two batches: visits add up, nothing is pending, proofs follow from children. whole: nothing
    was cut back, so that each node was a leaf once."""
    n = int(tree.size[0])
    assert not tree.pending[:n].any()
    for node in np.flatnonzero(tree.first[:n] >= 0):
        children = slice(int(tree.first[node]), int(tree.first[node]) + int(tree.children[node]))
        ended = tree.visits[node] - tree.visits[children].sum()
        assert ended == 1 or (ended > 1 and not whole) or tree.proven[node] != UNKNOWN
        assert tree.prior[children].sum() == pytest.approx(1, abs=1e-4)
        assert (tree.parent[children] == node).all()
        assert abs(tree.total[node]) <= tree.visits[node] + 1e-6
        proven = tree.proven[children]
        if tree.proven[node] == WIN:
            assert (proven == LOSS).any()
        elif tree.proven[node] == LOSS:
            assert (proven == WIN).all()
        elif tree.proven[node] == DRAW and node:
            assert not (proven == LOSS).any()


@pytest.mark.parametrize(
    "fen",
    [chess.STARTING_FEN, "8/8/8/8/8/4k3/4p3/4K3 b - - 0 1", "8/5k2/8/8/8/2q5/8/K7 b - - 0 1", *MATES],
)
def test_the_tree_adds_up(fen: str) -> None:
    player = PuctPlayer(Fake(noise=0.3))
    assert player.think(chess.Board(fen), SearchLimits(nodes=700))
    check(player.search.tree)


def test_the_tree_goes_on_with_the_game() -> None:
    player, board = PuctPlayer(Fake(sharp=3.0)), chess.Board()
    first = player.think(board, SearchLimits(nodes=600))
    assert first
    for move in first.lines[0].pv[:2]:
        board.push(move)
    before = player.nodes
    second = player.think(board, SearchLimits(nodes=1))
    assert second
    assert player.nodes - before <= 1
    assert player.search.tree.visits[0] > 10, "visits of the earlier thought are kept"
    check(player.search.tree)
    player.new_game()
    assert player.search.tree.size[0] == 0


def test_what_is_proven_of_the_kept_tree_ends_the_next_thought_at_once() -> None:
    """The king is mated by force: after two moves there is nothing left to look at, and no limit but nodes."""
    player, board = PuctPlayer(Fake(sharp=0.0)), chess.Board("7k/R7/6K1/8/8/8/8/8 b - - 0 1")
    for _ in range(2):
        result = player.think(board, SearchLimits(nodes=200))
        assert result
        assert result.lines[0].mate == -1
    board.push(result.lines[0].pv[0])
    final = player.think(board, SearchLimits(nodes=200))
    assert final
    assert final.lines[0].mate == 1
    several = PuctPlayer(Fake(sharp=0.0), lines=3)
    for _ in range(2):
        assert several.think(chess.Board("7k/R7/6K1/8/8/8/8/8 b - - 0 1"), SearchLimits(nodes=200))


def test_a_tree_whose_outcome_is_proven_does_not_grow() -> None:
    player = PuctPlayer(Fake(sharp=0.0))
    assert player.think(chess.Board("7k/R7/6K1/8/8/8/8/8 b - - 0 1"), SearchLimits(nodes=200))
    assert player.search.solved
    assert not player.search.grow(8, np.empty(0, np.uint64))


def test_a_repetition_that_would_be_the_third_is_a_draw() -> None:
    """White is a queen down; going back and forth has brought the position twice."""
    board = chess.Board("6k1/5ppp/8/8/8/7q/8/R5K1 w - - 0 1")
    result = PuctPlayer(Fake()).think(board, SearchLimits(nodes=300))
    assert result
    board = chess.Board("k7/8/8/8/8/8/q7/2K4R w - - 0 1")
    for move in ("h1h8", "a8b7", "h8h1", "b7a8") * 2:
        board.push_uci(move)
    result = PuctPlayer(Fake()).think(board, SearchLimits(nodes=400))
    assert result
    assert result.lines[0].score > -300


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_position_that_came_twice_is_a_draw_and_one_that_came_once_is_not(rounds: int) -> None:
    board, back = before_a_repetition(rounds)
    result = PuctPlayer(Fake(sharp=0.0), lines=40).think(board, SearchLimits(nodes=200))
    assert result
    score = next(line.score for line in result.lines if line.move == back)
    assert (score == 0) == (rounds == 2)


def a_queen_down() -> tuple[chess.Board, chess.Move]:
    """A game in which Black, a queen down, can bring about a position for the third time; and that move."""
    board = chess.Board("6k1/5pp1/7p/8/8/8/3Q1PPP/6K1 w - - 0 1")
    for move in ("d2d8", "g8h7", "d8d2", "h7g8", "d2d8", "g8h7", "d8d2"):
        board.push_uci(move)
    return board, chess.Move.from_uci("h7g8")


@pytest.mark.parametrize("nodes", [1, 100])
def test_a_draw_at_once_is_seen_however_unlikely(nodes: int) -> None:
    board, draws = a_queen_down()
    result = PuctPlayer(Fake(sharp=9.0)).think(board, SearchLimits(nodes=nodes))
    assert result
    assert (result.lines[0].move, result.lines[0].score) == (draws, 0)


@pytest.mark.parametrize("limits", [{"nodes": 1}, {"depth": 1}, {"seconds": 0.0}])
def test_a_draw_is_not_played_where_another_move_wins(limits: dict[str, object]) -> None:
    """However short the search: of the moves that are known of there is one that does not draw."""
    fen = "8/P7/8/8/8/5k2/8/5K2 w - - 3 80"
    assert think(fen, **limits).lines[0].move.uci() in ("a7a8q", "a7a8r", "f1e1", "f1g1")
    board = chess.Board("4k3/pppp1ppp/8/8/8/8/PPPP1PPP/3QK3 w - - 0 1")
    for move in ("d1e2", "e8d8", "e2d1", "d8e8", "d1e2", "e8d8", "e2d1", "d8e8"):
        board.push_uci(move)
    result = PuctPlayer(Fake(sharp=9.0)).think(board, SearchLimits(**limits))  # type: ignore[arg-type]
    assert result
    board.push(result.lines[0].move)
    assert not board.is_repetition(3)


def test_of_the_moves_that_are_allowed_the_one_that_mates() -> None:
    fen = "k7/8/8/8/8/7p/1R3Q1P/2R4K w - - 0 1"
    some = tuple(map(chess.Move.from_uci, ("c1c8", "c1c5")))
    for moves in (some, tuple(chess.Board(fen).legal_moves)):
        line = think(fen, nodes=50, moves=moves).lines[0]
        assert (line.mate, len(line.pv)) == (1, 1)
        assert line.move in moves


def test_a_tree_of_another_game_is_not_gone_on_with() -> None:
    """The same position with and without the moves that led to it: a repetition is one of the game's own."""
    board, _ = a_queen_down()
    alone, player, scores = chess.Board(board.fen()), PuctPlayer(Fake(sharp=0.0)), []
    for each in (board, alone, board, alone):
        result = player.think(each, SearchLimits(nodes=100))
        assert result
        scores.append(result.lines[0].score)
    assert scores[0] == scores[2] == 0
    assert scores[1] < -100
    assert scores[3] < -100
    for move in result.lines[0].pv[:2]:  # the tree is kept where the game goes on
        alone.push(move)
    before = player.nodes
    result = player.think(alone, SearchLimits(nodes=1))
    assert result
    assert player.nodes - before <= 1
    assert sum(line.visits for line in result.lines) > 1


def test_a_single_move_needs_no_time() -> None:
    fake, only = Fake(), (chess.Move.from_uci("e2e4"), chess.Move.from_uci("e2e5"))
    result = PuctPlayer(fake).think(chess.Board(), SearchLimits(seconds=20.0, moves=only))
    assert result
    assert result.lines[0].move == only[0]
    assert sum(fake.calls) == 2  # the position, and the one after the move


def test_limits_are_kept() -> None:
    assert think(nodes=37).nodes <= 37
    only = (chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4"))
    assert think(nodes=200, moves=only).lines[0].move in only
    begun = time.perf_counter()
    think(seconds=0.3)
    assert time.perf_counter() - begun < PATIENCE
    assert len(think(depth=3, nodes=5000).lines[0].pv) >= 3


@pytest.mark.parametrize("fen", ["6k1/6p1/8/7Q/8/8/1rq3PP/6K1 w - - 0 1", "8/8/8/8/8/2k5/4p3/4K3 w - - 0 1"])
def test_a_limit_of_depth_ends_where_the_line_gets_no_longer(fen: str) -> None:
    """A perpetual check, and a game that is drawn in a few moves: the first line ends in a proven draw."""
    result = PuctPlayer(Fake(sharp=0.0), hash_mb=2).think(chess.Board(fen), SearchLimits(depth=40))
    assert result is not None
    assert len(result.lines[0].pv) < 40


def test_a_limit_of_depth_ends_with_the_memory() -> None:
    assert PuctPlayer(Fake(sharp=0.0), hash_mb=1).think(chess.Board(), SearchLimits(depth=60)) is not None


def test_the_tree_is_not_kept_for_another_count_of_fifty_moves() -> None:
    """A queen up with four plies left until the draw: no part of a tree that had a hundred says so."""
    fresh, used = PuctPlayer(Fake(sharp=0.0)), PuctPlayer(Fake(sharp=0.0))
    late = chess.Board("8/8/8/3k4/8/8/4Q3/4K3 w - - 98 80")
    used.think(chess.Board("8/8/8/3k4/8/8/4Q3/4K3 w - - 0 1"), SearchLimits(nodes=300))
    told = [player.think(late, SearchLimits(nodes=300)) for player in (fresh, used)]
    assert told[0] is not None
    assert told[1] is not None
    assert told[1].lines[0].score == pytest.approx(told[0].lines[0].score, abs=3)


def test_a_stop_ends_it() -> None:
    stop = threading.Event()
    stop.set()
    result = PuctPlayer(Fake()).think(chess.Board(), SearchLimits(), stop)
    assert result
    assert result.lines


def test_where_there_is_no_move_there_is_no_answer() -> None:
    assert PuctPlayer(Fake()).think(chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), SearchLimits(nodes=9)) is None


def test_several_lines_and_their_order() -> None:
    result = PuctPlayer(Fake(), lines=4).think(
        chess.Board("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1"), SearchLimits(nodes=90)
    )
    assert result
    assert len({line.move for line in result.lines}) == 4
    assert result.lines[0].mate == 1


def test_a_mate_is_first_in_every_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also before the tree has seen it."""
    monkeypatch.setattr(ProgressThrottle, "due", lambda throttle: True)
    told: list[SearchResult] = []
    board = chess.Board("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1")
    assert PuctPlayer(Fake(), lines=3).think(board, SearchLimits(nodes=60))
    assert PuctPlayer(Fake(), lines=3).think(board, SearchLimits(nodes=60), on_result=told.append)
    assert told
    for result in told:
        assert result.lines[0].mate == 1
        assert len({line.move for line in result.lines}) == len(result.lines) <= 3


def test_each_of_several_lines_is_searched() -> None:
    """Half of the evaluations are shared by the lines after the first one."""
    result = PuctPlayer(Fake(sharp=4.0), lines=4).think(chess.Board(), SearchLimits(nodes=200))
    assert result
    assert all(30 < line.visits < 36 for line in result.lines[1:])
    assert all(len(line.pv) > 3 for line in result.lines)


def test_a_small_table_does_not_end_the_search() -> None:
    player = PuctPlayer(Fake(), hash_mb=1)
    player.search.limit = 0
    result = player.think(chess.Board(), SearchLimits(nodes=5000))
    assert result
    assert result.nodes == 5000
    check(player.search.tree, whole=False)


@pytest.mark.parametrize("megabytes", [3, 4])
def test_memory_stays_within_the_hash(megabytes: int) -> None:
    """A search for which the table is too small goes on in what is kept of it."""
    player, board = PuctPlayer(Fake(), hash_mb=megabytes), chess.Board()
    for _ in range(2):
        result = player.think(board, SearchLimits(nodes=6000))
        assert result
        assert result.nodes == 6000
        used = sum(array.nbytes for array in (*player.search.tree, *player.search.cache))
        assert 0.4 < used / (megabytes * 1_000_000) <= 1
        check(player.search.tree, whole=False)
        board.push(result.lines[0].move)


def test_evaluations_are_kept_from_move_to_move() -> None:
    fake = Fake()
    player, board = PuctPlayer(fake), chess.Board()
    assert player.think(board, SearchLimits(nodes=100))
    elsewhere = chess.Board("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1")
    assert player.think(elsewhere, SearchLimits(nodes=1))
    before = sum(fake.calls)
    player.search.drop_tree()
    result = player.think(board, SearchLimits(nodes=40))
    assert result
    assert player.search.tree.visits[0] > result.nodes + 20, "known positions cost no evaluation"
    assert sum(fake.calls) == before + result.nodes
    check(player.search.tree)


def test_batches_grow_with_the_tree_and_end_soon() -> None:
    fake = Fake()
    assert PuctPlayer(fake).think(chess.Board(), SearchLimits(nodes=3000))
    sizes = BatchSizes()
    assert fake.calls[0] == 1
    assert max(fake.calls[:3]) <= sizes.least
    assert max(fake.calls) <= sizes.most
    player = PuctPlayer(fake)
    assert player.think(chess.Board(), SearchLimits(nodes=3000))
    clock = TimeManager(SearchLimits(), None, 0)
    assert player._batch(clock) == sizes.of(int(player.search.tree.visits[0])) == sizes.most
    clock.rate = 1.2 * sizes.least / LONGEST_BATCH
    assert player._batch(clock) == int(1.2 * sizes.least), "of a slow network"
    clock.rate = 1.0
    assert player._batch(clock) == sizes.least
    clock = TimeManager(SearchLimits(nodes=3000), None, 0)
    clock.rate = 1.0
    assert player._batch(clock) == sizes.most, "a number of evaluations means the same on every machine"


def test_so_many_evaluations_always_find_the_same() -> None:
    first, second = (PuctPlayer(Fake()).think(chess.Board(), SearchLimits(nodes=500)) for _ in range(2))
    assert first
    assert second
    assert (first.lines, first.nodes) == (second.lines, second.nodes)


def test_it_stops_when_no_other_move_can_catch_up() -> None:
    limits = SearchLimits(nodes=2000, seconds=3600)
    result = PuctPlayer(Fake(sharp=3.0)).think(chess.Board(), limits)
    assert result
    assert result.nodes < 2000
    several = PuctPlayer(Fake(sharp=3.0), lines=2).think(chess.Board(), limits)
    assert several
    assert several.nodes > 1900, "the order of several lines is still open"
    alone = PuctPlayer(Fake(sharp=3.0)).think(chess.Board(), SearchLimits(nodes=2000))
    assert alone
    assert alone.nodes == 2000, "without a clock the value is wanted, and not only the move"


def test_the_best_line_is_the_same_for_one_line_and_for_many() -> None:
    """Half of the evaluations of a search for many lines are the tree's."""
    for fen in (
        chess.STARTING_FEN,
        "4k3/8/8/8/8/8/8/KQ6 w - - 0 1",
        "8/8/8/8/8/4k3/8/KQ6 b - - 0 1",
        next(iter(MATES)),
    ):
        one = PuctPlayer(Fake()).think(chess.Board(fen), SearchLimits(nodes=100))
        many = PuctPlayer(Fake(), lines=8).think(chess.Board(fen), SearchLimits(nodes=200))
        assert one
        assert many
        assert one.lines[0].wdl == many.lines[0].wdl
        assert (one.lines[0].move, one.lines[0].mate) == (many.lines[0].move, many.lines[0].mate)


def test_each_of_several_lines_has_a_value_of_its_own() -> None:
    """A move that is mated at once, or that hangs the queen, says so however few visits it got."""
    board = chess.Board("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4")
    for nodes in (1, 20, 400):
        result = PuctPlayer(Fake(), lines=40).think(board, SearchLimits(nodes=nodes))
        assert result
        assert len(result.lines) == board.legal_moves.count()
        lines = {board.san(line.move): line for line in result.lines}
        assert all(line.visits for line in result.lines)
        assert [lines[move].mate for move in ("h6", "a6", "Ng8", "g6", "Qe7")] == [-1, -1, -1, None, None]
    hung = chess.Board("4k3/8/8/3p4/8/8/3Q4/4K3 w - - 0 1")
    result = PuctPlayer(Fake(), lines=40).think(hung, SearchLimits(nodes=60))
    assert result
    scores = {hung.san(line.move): line.score for line in result.lines}
    assert scores["Qe2+"] > 300
    assert scores["Qe3+"] > 300
    assert scores["Kd1"] > 300


def test_temperature_draws_other_moves_and_keeps_mates() -> None:
    board = chess.Board()
    moves = set()
    for seed in range(8):
        result = PuctPlayer(Fake(), temperature=1.0, seed=seed).think(board, SearchLimits(nodes=60))
        assert result
        moves.add(result.lines[0].move)
    assert len(moves) > 2
    mate = PuctPlayer(Fake(), temperature=2.0, seed=1).think(chess.Board(next(iter(MATES))), SearchLimits(nodes=60))
    assert mate
    assert mate.lines[0].mate == 1


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(UsageError, match="predicts moves"):
        PuctPlayer(Fake(policy=None))
    with pytest.raises(UsageError, match="value network"):
        PuctPlayer(Fake(value=False))
    with pytest.raises(UsageError, match="at least 1"):
        PuctPlayer(Fake(), lines=0)
    assert PuctPlayer(Fake(value=False), value=Fake(policy=None)).think(chess.Board(), SearchLimits(nodes=20))


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_moves_are_drawn_by_their_visits(temperature: float) -> None:
    player = PuctPlayer(Fake(), temperature=temperature, lines=30, seed=4)
    clock = TimeManager(SearchLimits(), None, 0)
    player.think(chess.Board(), SearchLimits(nodes=150))
    report, _ = player._report(clock, 30)
    weights = {line.move: line.visits ** (1 / temperature) for line in report.lines}
    draws = 2000
    drawn = Counter(player._drawn(report).lines[0].move for _ in range(draws))
    for move, weight in weights.items():
        share = weight / sum(weights.values())
        assert abs(drawn[move] / draws - share) < 4 * (share / draws) ** 0.5 + 0.01


MATED_EVERYWHERE = "5rk1/5ppp/p7/1p6/2p5/6Q1/1B4PP/6K1 b - - 0 1"
"""Three black moves allow a mate in one."""


def test_lines_are_not_lost_with_the_tree_that_is_kept() -> None:
    player, board = PuctPlayer(Fake(sharp=0.0), lines=3), chess.Board(MATED_EVERYWHERE)
    player.think(board, SearchLimits(nodes=400))
    board.push_uci("a6a5")
    kept = player.think(board, SearchLimits(nodes=400))
    assert kept
    assert len(kept.lines) == 3
    assert kept.lines[0].mate == 1


def test_a_drawn_move_is_not_one_that_loses_by_force() -> None:
    seen = set()
    for seed in range(40):
        player = PuctPlayer(Fake(sharp=0.0), temperature=3.0, seed=seed)
        thought = player.think(chess.Board(MATED_EVERYWHERE), SearchLimits(nodes=80))
        assert thought
        assert thought.lines[0].mate is None
        seen.add(thought.lines[0].move)
    assert len(seen) > 1


def test_a_mate_in_two_is_seen_without_a_search() -> None:
    player, board = PuctPlayer(Fake(sharp=0.0)), chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1")
    for mate in (2, -1, 1):
        thought = player.think(board, SearchLimits(nodes=1 if mate > 0 else 100))
        assert thought
        assert thought.lines[0].mate == mate
        board.push(thought.lines[0].move)
    assert board.is_checkmate()
    two = PuctPlayer(Fake(sharp=0.0), lines=2).think(
        chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"), SearchLimits(nodes=300)
    )
    assert two
    assert len(two.lines) == 2


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("lines", [1, 3])
def test_a_mate_in_three_does_not_begin_with_a_third_repetition(rounds: int, lines: int) -> None:
    board, mating = chess.Board("8/p7/8/6k1/8/6R1/K7/5R2 b - - 0 1"), chess.Move.from_uci("e3g3")
    back = ("g5h6", "g3e3", "h6g5")
    for uci in (*back, *("e3g3", *back) * (rounds - 1)):
        board.push_uci(uci)
    result = PuctPlayer(Fake(sharp=0.0), lines=lines).think(board, SearchLimits(nodes=50))
    assert result
    first = result.lines[0]
    assert (first.move == mating, first.mate == 3) == (rounds == 1, rounds == 1)
