"""The kernels of the PUCT tree on trees that are made by hand, against plain loops."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from kibitz.play.puct import tree as kernels
from kibitz.play.puct.cache import empty_cache
from kibitz.play.puct.search import Entered, PuctSearch, children
from kibitz.play.puct.tree import (
    BYTES,
    DRAW,
    LOSS,
    UNKNOWN,
    WIN,
    Constants,
    PuctTree,
    abandon,
    cut_out,
    empty_tree,
    expand_all,
    lead,
    reserve,
    select,
    with_room,
)
from kibitz.store.sampling import splitmix64

WIDTH = 5


@numba.njit
def pick(tree, constants, node, at_root):  # type: ignore[no-untyped-def]
    return kernels._pick(tree, constants, node, at_root)


@numba.njit
def carry_up(tree, node):  # type: ignore[no-untyped-def]
    kernels.prove(tree, node)


def family(count: int) -> PuctTree:
    """A root with so many children that were not looked at, with equal priors."""
    tree = empty_tree(1 + count, 4, WIDTH)
    tree.size[0] = 1 + count
    tree.first[0], tree.children[0] = 1, count
    tree.parent[1:] = 0
    tree.prior[1:] = 1 / count
    return tree


def worth(tree: PuctTree, constants: Constants, child: int, at_root: bool) -> float:
    """What a child counts where the way down is chosen, by the words of `Constants`."""
    node = 0
    visits = tree.visits[node] + tree.pending[node]
    explore = constants.start + constants.growth * math.log((visits + constants.base) / constants.base)
    explore *= math.sqrt(max(1, visits))
    seen = sum(float(tree.prior[c]) for c in children(tree, node) if tree.visits[c])
    reduction = constants.root_reduction if at_root else constants.reduction
    done, waiting = int(tree.visits[child]), int(tree.pending[child])
    if tree.proven[child] == DRAW:
        value = 0.0
    elif done:
        value = (-tree.total[child] - constants.pending * waiting) / (done + constants.pending * waiting)
    else:
        value = float(tree.value[node]) - reduction * math.sqrt(seen)
        if waiting:
            value = (1 - constants.pending) * value - constants.pending
    return float(value + explore * tree.prior[child] / (1 + done + waiting))


@pytest.mark.parametrize("at_root", [True, False])
def test_the_way_down_is_that_of_the_words(at_root: bool) -> None:
    draw = np.random.default_rng(3)
    constants = Constants(start=1.3, growth=0.9, base=20.0, reduction=0.6, root_reduction=0.25, pending=0.4)
    chosen = set()
    for _ in range(300):
        tree = family(6)
        below = np.arange(1, 7)
        tree.prior[below] = draw.dirichlet(np.ones(6))
        tree.visits[below] = draw.integers(0, 4, 6) * draw.integers(0, 2, 6)
        tree.pending[below] = draw.integers(0, 3, 6) * draw.integers(0, 2, 6)
        tree.total[below] = draw.uniform(-1, 1, 6) * tree.visits[below]
        tree.proven[below] = draw.choice([UNKNOWN, UNKNOWN, UNKNOWN, DRAW, WIN], 6)
        if (tree.proven[below] == WIN).all():
            continue
        tree.visits[0], tree.pending[0] = 1 + tree.visits[below].sum(), tree.pending[below].sum()
        tree.value[0] = draw.uniform(-1, 1)
        scores = {c: worth(tree, constants, c, at_root) for c in below.tolist() if tree.proven[c] != WIN}
        best = pick(tree, constants, np.int64(0), at_root)
        assert scores[best] == pytest.approx(max(scores.values()), abs=1e-6)
        chosen.add((int(tree.proven[best]), bool(tree.visits[best]), bool(tree.pending[best])))
    assert len(chosen) > 6, "ways of every kind were the best once"


@pytest.mark.parametrize(
    ("outcomes", "proven", "plies"),
    [
        ([(LOSS, 4), (LOSS, 2), (UNKNOWN, 0)], WIN, 3),
        ([(WIN, 9), (LOSS, 6), (DRAW, 0)], WIN, 7),
        ([(WIN, 3), (WIN, 7), (WIN, 1)], LOSS, 8),
        ([(WIN, 3), (DRAW, 0), (WIN, 1)], DRAW, 0),
        ([(DRAW, 0), (DRAW, 0), (UNKNOWN, 0)], UNKNOWN, 0),
        ([(WIN, 3), (WIN, 3), (UNKNOWN, 0)], UNKNOWN, 0),
    ],
)
def test_what_is_proven_follows_from_the_children(outcomes: list[tuple[int, int]], proven: int, plies: int) -> None:
    tree = family(3)
    for child, (outcome, length) in enumerate(outcomes, 1):
        tree.proven[child], tree.plies[child] = outcome, length
    carry_up(tree, np.int64(1))
    assert (tree.proven[0], tree.plies[0]) == (proven, plies)


def test_proofs_go_up_as_far_as_they_prove_something() -> None:
    """Root, 1 and 2; below 1 are 3 and 4, below 2 is 5. 3 is lost, so 1 is won; the root waits for 2."""
    tree = family(2)
    tree = with_room(tree, 3, 0, 1 << 20) or tree
    tree.size[0] = 6
    tree.first[1], tree.children[1], tree.first[2], tree.children[2] = 3, 2, 5, 1
    tree.parent[3:6] = 1, 1, 2
    tree.proven[3] = LOSS
    carry_up(tree, np.int64(3))
    assert tree.proven[:6].tolist() == [UNKNOWN, WIN, UNKNOWN, LOSS, UNKNOWN, UNKNOWN]
    tree.proven[5] = LOSS
    carry_up(tree, np.int64(5))
    assert tree.proven[:6].tolist() == [LOSS, WIN, WIN, LOSS, UNKNOWN, LOSS]
    assert tree.plies[:3].tolist() == [2, 1, 1]


def test_a_lead_is_that_over_the_second_one() -> None:
    for visits, expected in (([5, 9, 7], 2), ([9, 5, 7], 2), ([3, 3], 0), ([4], 4), ([2, 9, 1, 8], 1), ([0, 0], 0)):
        tree = family(len(visits))
        tree.visits[1:] = visits
        assert lead(tree) == expected


def expanded(priors: list[float], most: int, at: int) -> tuple[list[int], list[float]]:
    """The moves and priors of the children that a node gets. at: 0 the root, 1 its child."""
    tree = with_room(family(1), 20, 4, 1 << 20)
    assert tree
    if at == 0:
        tree.size[0], tree.first[0] = 1, -1
    tree.pending[: at + 1] = 1
    n = len(priors)
    expand_all(
        tree, empty_cache(1), most, np.array([at]), np.array([7], np.uint64), np.array([7], np.uint64),
        np.zeros((1, WIDTH), np.uint8), np.array([0.5], np.float32), np.arange(100, 100 + n, dtype=np.uint16),
        np.array(priors, np.float32), np.array([0, n]),
    )  # fmt: skip
    below = children(tree, at)
    assert tree.visits[at] == 1
    assert tree.total[at] == 0.5
    assert tree.total[0] == (-0.5 if at else 0.5)
    assert not tree.pending.any()
    return tree.move[below].tolist(), tree.prior[below].tolist()


def test_the_likeliest_moves_are_followed_and_the_last() -> None:
    priors = [0.1, 0.3, 0.05, 0.35, 0.15, 0.05]
    moves, their = expanded(priors, 3, 1)
    assert moves == [101, 103, 105]
    assert their == pytest.approx([0.3 / 0.7, 0.35 / 0.7, 0.05 / 0.7])
    assert expanded(priors, 6, 1) == (list(range(100, 106)), pytest.approx(priors))
    assert expanded(priors, 3, 0) == (list(range(100, 106)), pytest.approx(priors)), "the root has all"


class Toy:
    """A game without a board: a position is a number, which says how many moves there are, and how it ends."""

    width, tail, usual, most, repetition = 8, 0, 8, 64, DRAW

    def describe(self, keys: np.ndarray) -> Entered:
        counts = 3 + keys % 5
        ended = np.select([keys % 23 == 0, keys % 29 == 0], [LOSS, DRAW], UNKNOWN).astype(np.int8)
        moves = np.concatenate([np.arange(count) for count in counts.tolist()]).astype(np.uint16)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rows = keys.view(np.uint8).reshape(-1, 8).copy()
        return Entered(rows, keys, ended, moves, offsets, keys, np.empty(0, np.float32))

    def enter(self, rows: np.ndarray, moves: np.ndarray) -> Entered:
        return self.describe(splitmix64(rows.copy().view(np.uint64)[:, 0] * np.uint64(31) + moves.astype(np.uint64)))

    def evaluate(self, rows: np.ndarray, moves: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        keys = rows.copy().view(np.uint64)[:, 0]
        values = ((keys >> np.uint64(8)) % np.uint64(2001)).astype(np.float32) / 1000 - 1
        draws = [
            np.random.default_rng(key).dirichlet(np.ones(n)) for key, n in zip(keys, np.diff(offsets), strict=True)
        ]
        return values, np.concatenate(draws).astype(np.float32)


def grown(visits: int = 300) -> PuctTree:
    search = PuctSearch(Toy(), Constants(), 8_000_000)
    search.begin(Toy().describe(np.array([1], np.uint64)))
    while search.tree.visits[0] < visits and search.grow(8, np.empty(0, np.uint64)):
        pass
    assert not search.solved
    return search.tree


def test_leaves_are_different_and_marked_and_can_be_taken_back() -> None:
    tree = grown()
    leaves = np.empty(16, np.int64)
    found = leaves[: select(tree, Constants(), 16, leaves)]
    assert len(set(found.tolist())) == len(found) > 8
    assert (tree.first[found] < 0).all()
    expected = np.zeros(len(tree.pending), np.int64)
    for leaf in found.tolist():
        node = leaf
        while node >= 0:
            expected[node] += 1
            node = int(tree.parent[node])
    np.testing.assert_array_equal(tree.pending, expected)
    abandon(tree, found)
    assert not tree.pending.any()
    reserve(tree, found)
    np.testing.assert_array_equal(tree.pending, expected)


def test_a_way_that_ends_at_a_proven_node_is_a_visit() -> None:
    """Both moves draw: nothing is left to look at, and each way that ends there counts once."""
    tree = family(2)
    tree.visits[:] = 3, 1, 1
    tree.proven[1:] = DRAW
    leaves = np.empty(2, np.int64)
    assert select(tree, Constants(), 2, leaves) == 0
    assert tree.visits[0] - 3 == tree.visits[1:].sum() - 2 > 0
    assert not tree.pending.any()
    assert not tree.total.any()


def test_the_part_below_a_move_is_the_same_tree() -> None:
    tree = grown(600)
    top = int(max(children(tree, 0).tolist(), key=lambda child: tree.visits[child]))
    into = empty_tree(len(tree.visits), len(tree.rows), tree.rows.shape[1])
    cut_out(tree, np.int64(top), into)
    assert into.parent[0] == -1
    pairs, compared = [(top, 0)], 0
    while pairs:
        old, new = pairs.pop()
        compared += 1
        for name in ("visits", "total", "prior", "move", "value", "proven", "plies", "key", "children"):
            assert getattr(tree, name)[old] == getattr(into, name)[new], name
        assert (tree.row[old] < 0) == (into.row[new] < 0)
        if tree.row[old] >= 0:
            assert tree.rows[tree.row[old]].tolist() == into.rows[into.row[new]].tolist()
        assert (tree.first[old] < 0) == (into.first[new] < 0)
        if tree.first[old] >= 0:
            below = children(into, new)
            assert (into.parent[below] == new).all()
            pairs += zip(children(tree, old).tolist(), below.tolist(), strict=True)
    assert compared == into.size[0] > 100
    assert into.size[1] == (into.row[: into.size[0]] >= 0).sum()


def test_what_was_seldom_visited_is_cut_back() -> None:
    """Its visits and values stay; what is proven stays whole; the root's children keep their slots."""
    tree = grown(600)
    into = empty_tree(len(tree.visits), len(tree.rows), tree.rows.shape[1])
    cut_out(tree, np.int64(0), into, 5)
    n = int(into.size[0])
    assert n < tree.size[0] * 0.7
    top = children(tree, 0)
    assert children(into, 0).tolist() == top.tolist()
    for name in ("visits", "total", "move", "value", "proven"):
        assert getattr(into, name)[top].tolist() == getattr(tree, name)[top].tolist(), name
    inner = np.flatnonzero(into.first[:n] >= 0)
    assert ((into.visits[inner] >= 5) | (into.proven[inner] != UNKNOWN) | (inner == 0)).all()
    assert (into.visits[:n][into.row[:n] < 0] > 1).any(), "a leaf that was more before"
    assert into.size[1] == (into.row[:n] >= 0).sum()


@pytest.mark.parametrize("batch", [8, 64])
def test_a_full_tree_is_cut_back_and_the_search_goes_on(batch: int) -> None:
    search = PuctSearch(Toy(), Constants(), 1)
    search.begin(Toy().describe(np.array([1], np.uint64)))
    while search.tree.visits[0] < 20_000:
        assert search.grow(batch, np.empty(0, np.uint64))
        assert sum(array.nbytes for array in search.tree) < 2.2e6
    tree, n = search.tree, int(search.tree.size[0])
    assert not tree.pending.any()
    for node in np.flatnonzero(tree.first[:n] >= 0):
        assert tree.visits[node] >= 1 + tree.visits[children(tree, node)].sum()
        assert abs(tree.total[node]) <= tree.visits[node] + 1e-6


def test_moves_of_the_root_are_visited_in_a_full_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    search = PuctSearch(Toy(), Constants(), 1)
    search.begin(Toy().describe(np.array([1], np.uint64)))
    while search.tree.visits[0] < 600:
        assert search.grow(8, np.empty(0, np.uint64))
    search.tree.visits[1] = 0
    full = [None]
    monkeypatch.setattr("kibitz.play.puct.search.with_room", lambda tree, *room: full.pop() if full else tree)
    assert search.visit(np.array([1]), np.empty(0, np.uint64))
    assert search.tree.visits[1] == 1
    assert not search.tree.pending.any()


def test_room_is_taken_within_the_limit() -> None:
    tree = family(3)
    tree.move[:4] = 1, 2, 3, 4
    assert with_room(tree, 0, 4, 0) is tree, "there is room"
    bigger = with_room(tree, 1, 0, 1000)
    assert bigger
    assert len(bigger.visits) == 8
    assert len(bigger.rows) == 4
    assert bigger.move[:4].tolist() == [1, 2, 3, 4]
    just = 5 * BYTES + 4 * WIDTH
    small = with_room(tree, 1, 0, just)
    assert small
    assert len(small.visits) == 5
    assert sum(array.nbytes for array in small) - small.size.nbytes == just
    assert with_room(tree, 1, 0, just - 1) is None
