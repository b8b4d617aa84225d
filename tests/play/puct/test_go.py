"""Go behind PUCT's seam, against the board that plays one move at a time; what a tree knows, against loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kibitz.games.go.endings.counting import area, territory
from kibitz.games.go.points import BLACK, GRID, PASS, POINTS, WHITE
from kibitz.games.go.replay import encode_board
from kibitz.games.go.rules import Board
from kibitz.play.go.ownership import settled, without_early_passes
from kibitz.play.go.player import own_eyes
from kibitz.play.go.puct import GoPuctPlayer
from kibitz.play.go.thought import Terms
from kibitz.play.puct import go
from kibitz.play.puct.search import Entered, children
from kibitz.play.puct.tree import FORBIDDEN, SCORED, UNKNOWN, PuctTree
from support.go_fakes import FakeGo


def a_game(size: int, moves: int, seed: int) -> list[Board]:
    """The boards of a game at random, without own eyes; the first one is empty."""
    random, board = np.random.default_rng(seed), Board(size, superko=True)
    found = [board.copy()]
    for _ in range(moves):
        eyes = own_eyes(board, board.to_move)
        legal = [point for point in board.legal(board.to_move) if not eyes[point]]
        board.play(board.to_move, int(random.choice(legal)) if legal and random.random() > 0.03 else PASS)
        found.append(board.copy())
    return found


def last_move(before: Board, after: Board) -> int:
    """The move between two boards: a new stone is not always there (suicide is not allowed), else a pass."""
    changed = np.flatnonzero((before.colours() == 0) & (after.colours() > 0))
    return int(changed[0]) if len(changed) else PASS


def entered(before: Board, move: int) -> Entered:
    rules = go.GoSearchRules(FakeGo())
    return rules.enter(go.row_of(before, before.to_move)[None].copy(), np.array([move], np.uint16))


@pytest.mark.parametrize(("size", "moves", "seed"), [(9, 130, 1), (9, 130, 2), (13, 150, 3), (19, 120, 4)])
def test_positions_and_moves_are_those_of_the_board(size: int, moves: int, seed: int) -> None:
    network = FakeGo()
    rules = go.GoSearchRules(network)
    game = a_game(size, moves, seed)
    for before, after in itertools.pairwise(game):
        found = entered(before, last_move(before, after))
        np.testing.assert_array_equal(found.rows[0, : go.BARE], go.row_of(after, after.to_move)[: go.BARE])
        rules.predict(found.rows)
        codes, state = encode_board(after)
        np.testing.assert_array_equal(network.asked[-1][0][0], codes)
        told = without_early_passes(codes[None], state[None])[0]
        np.testing.assert_array_equal(network.asked[-1][1][0, :4], told)
        after.superko = False
        eyes = own_eyes(after, after.to_move)
        legal = [point for point in after.legal(after.to_move) if not eyes[point]]
        assert found.moves.tolist() == [*legal, PASS]
        assert found.ended[0] == (SCORED if after.passes > 1 else UNKNOWN)


def test_suicide_where_the_rules_allow_it() -> None:
    board = Board(9, suicide=True)
    for colour, point in ((WHITE, 0), (BLACK, GRID), (WHITE, 80), (BLACK, GRID + 1), (WHITE, 81), (BLACK, 2)):
        board.play(colour, point)
    assert board.why_not(WHITE, 1) is None
    board.to_move = WHITE
    rules = go.GoSearchRules(FakeGo())
    rules.scoring = go.Scoring(suicide=True)
    start, _ = rules.start(board, WHITE, go.hashes(()))
    assert 1 in start.moves
    found = rules.enter(start.rows.copy(), np.array([1], np.uint16))
    board.play(WHITE, 1)
    np.testing.assert_array_equal(found.rows[0, : go.BARE], go.row_of(board, BLACK)[: go.BARE])


def test_equal_positions_have_equal_keys() -> None:
    one, two = Board(9), Board(9)
    for point in (0, 40, 60, 20):
        one.play(one.to_move, point)
    for point in (60, 20, 0, 40):
        two.play(two.to_move, point)
    other = two.copy()
    other.play(other.to_move, PASS)
    rules = go.GoSearchRules(FakeGo())
    starts = [rules.start(board, board.to_move, go.hashes(()))[0] for board in (one, two, other)]
    assert starts[0].keys[0] == starts[1].keys[0] != starts[2].keys[0]
    assert starts[0].again[0] == starts[1].again[0] != starts[2].again[0]


@pytest.mark.parametrize("by_territory", [False, True])
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_the_count_is_that_of_the_settled_owners(by_territory: bool, seed: int) -> None:
    board = a_game(9, 90, seed)[-1]
    row = go.row_of(board, board.to_move)
    shades = np.random.default_rng(seed).integers(0, 256, POINTS).astype(np.uint8)
    row[go.OWNERS_AT : go.OWNERS_AT + POINTS] = shades
    owner = np.empty(POINTS, np.uint8)
    lead, unsure = go.count(row, board.board, 6.5, by_territory, owner)
    expected = settled((shades / 255).astype(np.float32), board.colours(), 9)
    np.testing.assert_array_equal(owner, expected)
    captured = (board.captured[BLACK], board.captured[WHITE])
    assert lead == (territory(expected, board.colours(), captured) if by_territory else area(expected)) - 6.5
    inside = shades[board.colours() != 3].astype(float)
    assert unsure == pytest.approx(2 * np.minimum(inside, 255 - inside).sum() / 255)


def test_two_passes_end_the_game_with_the_count() -> None:
    board = Board(9)
    for row in range(9):
        for column, colour in ((4, BLACK), (5, WHITE)):
            board.put(colour, row * GRID + column)
    board.play(BLACK, PASS)
    rules = go.GoSearchRules(FakeGo())
    rules.scoring = go.Scoring(komi=0.0)
    row = go.row_of(board, WHITE)
    rules.evaluate(row[None], np.array([PASS], np.uint16), np.array([0, 1]))
    found = rules.enter(row[None].copy(), np.array([PASS], np.uint16))
    assert found.ended[0] == SCORED
    assert go._get(found.rows[0], go.LEAD_AT) / go.POINT_STEPS == 45 - 36  # Black is to move
    assert found.values[0] > 0.1


class Tired(FakeGo):
    """A pass is as likely as not."""

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        said = super().evaluate(codes, state)
        said["policy"] /= 2
        said["policy"][:, PASS] += 0.5
        return said


def grown(visits: int = 600, seed: int = 8) -> tuple[GoPuctPlayer, Board]:
    """A player after a search of a position in which the other side has passed; captures and kos are near."""
    board = a_game(9, 60, seed)[-1]
    board.play(board.to_move, PASS)
    player = GoPuctPlayer(Tired(), visits=visits)
    player.choose(board, board.to_move, Terms(6.5))
    return player, board


def check(tree: PuctTree) -> None:
    """What holds between two batches."""
    n = int(tree.size[0])
    assert not tree.pending[:n].any()
    for node in np.flatnonzero(tree.first[:n] >= 0).tolist():
        below = children(tree, node)
        assert tree.visits[node] == 1 + tree.visits[below].sum()
        assert tree.prior[below].sum() == pytest.approx(1, abs=1e-4)
        assert tree.move[below[-1]] == PASS
        assert node == 0 or len(below) <= go.MOST_CHILDREN
        assert (tree.parent[below] == node).all()


def test_the_tree_adds_up() -> None:
    player, _ = grown()
    tree = player.search.tree
    check(tree)
    assert (tree.proven[: tree.size[0]] == SCORED).any(), "it looked at the end of the game"
    before = tree.total[: tree.size[0]].copy()
    preference = player.rules.preference
    go.weigh_again(tree, preference.share, preference.centre)
    np.testing.assert_allclose(tree.total[: tree.size[0]], before, atol=1e-3 * tree.visits[0])
    go.weigh_again(tree, preference.share, preference.centre + 30)
    assert not np.allclose(tree.total[0], before[0])


def test_means_over_the_tree() -> None:
    player, _ = grown(visits=200)
    tree = player.search.tree
    sums = go.sums_below(tree, go.LEAD_AT)

    def below(node: int) -> float:
        if tree.row[node] < 0:
            return 0.0
        own = float(go.number_at(tree, node, go.LEAD_AT))
        if tree.first[node] < 0:
            return own * int(tree.visits[node])
        return own - sum(below(child) for child in children(tree, node).tolist())

    tops = children(tree, 0)[tree.visits[children(tree, 0)] > 0]
    for node in [0, *tops.tolist()]:
        assert sums[node] == pytest.approx(below(node))
    maps = np.empty((len(tops), POINTS))
    go.owners_below(tree, tops, maps)
    whole = np.empty((1, POINTS))
    go.owners_below(tree, np.array([0]), whole)
    weights = tree.visits[tops].astype(float)
    own = tree.rows[tree.row[0]][go.OWNERS_AT : go.OWNERS_AT + POINTS] / 255
    np.testing.assert_allclose(whole[0], (weights @ maps + own) / (weights.sum() + 1), atol=1e-9)


def test_no_position_comes_again() -> None:
    """A ko was just taken; whoever passes in between may not take it back, at the root or in the tree."""
    board = Board(9, superko=True)
    for i, line in enumerate((".XO......", "X.XO.....", ".XO......")):
        for j, stone in enumerate(line):
            if stone != ".":
                board.put(BLACK if stone == "X" else WHITE, i * GRID + j)
    board.to_move = WHITE
    ko, back = GRID + 1, GRID + 2
    board.play(WHITE, ko)
    player = GoPuctPlayer(FakeGo(), visits=500)
    player.choose(board, BLACK, Terms())
    tree = player.search.tree
    assert back not in tree.move[children(tree, 0)]
    passed = next(child for child in children(tree, 0).tolist() if tree.move[child] == PASS)
    start, whole = player.rules.start(board, BLACK, go.hashes(board.positions))
    assert back not in start.moves, "the simple ko forbids it"
    board.play(BLACK, PASS)
    board.play(WHITE, PASS)
    start, whole = player.rules.start(board, BLACK, go.hashes(board.positions))
    assert back not in start.moves, "the position was there before"
    assert not whole
    found = player.rules.enter(go.row_of(board, BLACK)[None].copy(), np.array([back], np.uint16))
    assert int(found.again[0]) in board.positions
    assert player.rules.repetition == FORBIDDEN
    assert passed > 0


@pytest.mark.parametrize("known", [0, 1, 40])
def test_what_is_no_number_counts_as_nothing(known: int) -> None:
    """Where a network knows some moves the others are not played; where it knows none, all are alike."""
    start, _ = go.GoSearchRules(FakeGo()).start(Board(9), BLACK, go.hashes(()))
    odds = np.full(len(start.moves), np.nan, np.float32)
    odds[:known] = np.random.default_rng(2).random(known)

    class Mad(FakeGo):
        def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
            said = {name: np.full_like(each, np.nan) for name, each in super().evaluate(codes, state).items()}
            said["policy"][0, start.moves] = odds
            return said

    values, priors = go.GoSearchRules(Mad(), temperature=2.0).evaluate(start.rows, start.moves, start.offsets)
    weights = np.sqrt(np.nan_to_num(odds)) if known else np.ones(len(odds))
    np.testing.assert_allclose(priors, weights / weights.sum(), rtol=1e-5)
    assert values.tolist() == [0]
    assert set(start.rows[0, go.OWNERS_AT : go.OWNERS_AT + POINTS].tolist()) == {128}


def test_answers_of_a_turned_board_are_turned_back() -> None:
    board = Board(9)
    for name in (3, 44, 60):
        board.play(board.to_move, name)
    rules = go.GoSearchRules(FakeGo())
    row = go.row_of(board, board.to_move)[None]
    plain = rules.predict(row)
    for symmetry in range(8):
        turned = rules.predict(row, symmetry)
        for name, values in plain.items():
            np.testing.assert_allclose(turned[name], values, atol=1e-5)
