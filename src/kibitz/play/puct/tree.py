"""The tree of a PUCT search: flat arrays, and compiled functions that select leaves, expand them and back up values.

The algorithm is from Rosin 2011 and AlphaZero (Silver et al. 2018). Two parts are from Leela Chess Zero: first-play
urgency (a value for unvisited moves), and a factor of exploration that grows with the visits. Proofs of wins and losses
are from MCTS-Solver (Winands et al. 2008).

A node also represents the edge that leads to it: the children of a node are consecutive slots, each with its move and
prior (the predicted probability). A node gets its position at the first visit. Values are for the side to move at the
node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.kernels import fill, inner, is_among, kernel
from kibitz.play.puct.cache import recall, remember

UNKNOWN, WIN, LOSS, DRAW, SCORED = 0, 1, 2, 3, 4
"""What is proven about a node: the result for the side to move, or UNKNOWN. SCORED: the game is over with the node's
value, which proves nothing for its parent.
"""
FORBIDDEN = 5
"""The result of a position to which the rules forbid to move, because it repeats an earlier one."""


class Constants(NamedTuple):
    """The constants of the PUCT formula, which selects a move at a node by the values and the priors of the moves.
    Values are from −1 to 1, and priors are predicted probabilities.

    start, growth, base: the factor of exploration is `start + growth · ln((visits + base) / base)`. `visits` is the
        number of visits of the node.
    reduction: an unvisited move has the assumed value `v − reduction · sqrt(p)` (first-play urgency). v is the
        network's value of the node, and p is the sum of the priors of the visited moves.
    root_reduction: replaces `reduction` at the root.
    pending: a pending visit counts as this number of losses, until its value is known.
    """

    start: float = 1.0
    growth: float = 0.45
    base: float = 500.0
    reduction: float = 0.2
    root_reduction: float = 0.1
    pending: float = 0.2


class PuctTree(NamedTuple):
    """The arrays of a search tree. Most have one entry per node, and `rows` has one per visited position. Values are
    for the side to move at the node.

    size: int64 [2], the number of nodes and the number of positions in use.
    visits: int32, the number of completed visits.
    pending: int32, the number of visits that have begun but are not completed, which count as losses until then.
    total: float64, the sum of the values of all visits.
    prior, move: float32 and uint16, the prior (probability) of the move that leads to the node, and this move as an
        integer.
    parent: int32, the index of the parent; -1 at the root.
    first: int32, the index of the first child; -1 if there are no children yet.
    children: int16, the number of children.
    value: float32, the network's value.
    proven: int8, the proven (certain) result: UNKNOWN, WIN, LOSS, DRAW or SCORED.
    plies: int16, the number of plies to the proven end of the game.
    key: uint64, the key (a 64-bit hash) for repetitions.
    row: int32, the index of the position in `rows`; -1 before the first visit.
    rows: uint8 [positions, width], the positions.
    """

    size: NDArray[np.int64]
    visits: NDArray[np.int32]
    pending: NDArray[np.int32]
    total: NDArray[np.float64]
    prior: NDArray[np.float32]
    move: NDArray[np.uint16]
    parent: NDArray[np.int32]
    first: NDArray[np.int32]
    children: NDArray[np.int16]
    value: NDArray[np.float32]
    proven: NDArray[np.int8]
    plies: NDArray[np.int16]
    key: NDArray[np.uint64]
    row: NDArray[np.int32]
    rows: NDArray[np.uint8]


BYTES = 4 + 4 + 8 + 4 + 2 + 4 + 4 + 2 + 4 + 1 + 2 + 8 + 4
"""The size of a node in bytes, without its position."""


def empty_tree(nodes: int, positions: int, width: int) -> PuctTree:
    """Return an empty tree with room for this number of nodes and positions. width: the number of uint8 values in a
    position's row.
    """
    n = nodes
    return PuctTree(
        np.zeros(2, np.int64), np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n), np.zeros(n, np.float32),
        np.zeros(n, np.uint16), np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.zeros(n, np.int16),
        np.zeros(n, np.float32), np.zeros(n, np.int8), np.zeros(n, np.int16), np.zeros(n, np.uint64),
        np.full(n, -1, np.int32), np.empty((positions, width), np.uint8),
    )  # fmt: skip


def with_room(tree: PuctTree, nodes: int, positions: int, limit: int) -> PuctTree | None:
    """Return a tree with the same content and with room for further nodes and positions; None if it would need more
    than `limit` bytes. If the given tree has enough room, it is returned itself.

    nodes, positions: the numbers of further nodes and positions.
    """
    needed, had = tree.size + np.array([nodes, positions]), np.array([len(tree.visits), len(tree.rows)])
    if (needed <= had).all():
        return tree
    width = tree.rows.shape[1]
    for factor in (2.0, 1.125):  # the size doubles, or grows by an eighth if twice the size would exceed the limit
        sizes = np.where(needed > had, np.maximum(needed, (had * factor).astype(np.int64)), had)
        if sizes[0] * BYTES + sizes[1] * width <= limit:
            bigger = empty_tree(int(sizes[0]), int(sizes[1]), width)
            arrays: list[tuple[NDArray[Any], NDArray[Any]]] = list(zip(tree, bigger, strict=True))
            for old, new in arrays:
                new[: len(old)] = old
            return bigger
    return None


@inner
def _pick(tree, constants, node, at_root):  # type: ignore[no-untyped-def]
    """Return the child to follow from an expanded, unproven node: the child with the largest sum of its value and its
    exploration bonus.
    """
    visits = tree.visits[node] + tree.pending[node]
    growth = constants.growth * np.log((visits + constants.base) / constants.base)
    explore = (constants.start + growth) * np.sqrt(max(1.0, visits))
    start, end = tree.first[node], tree.first[node] + tree.children[node]
    seen = 0.0
    for child in range(start, end):
        if tree.visits[child] > 0:
            seen += tree.prior[child]
    urgency = tree.value[node] - (constants.root_reduction if at_root else constants.reduction) * np.sqrt(seen)
    best, best_score = start, -1e9
    for child in range(start, end):
        if tree.proven[child] == WIN:  # a win for the opponent
            continue
        done, waiting = tree.visits[child], tree.pending[child]
        if tree.proven[child] == DRAW:
            value = 0.0
        elif done == 0:
            value = urgency if waiting == 0 else urgency + (-1 - urgency) * constants.pending
        else:
            losses = constants.pending * waiting
            value = (-tree.total[child] - losses) / (done + losses)
        score = value + explore * tree.prior[child] / (1 + done + waiting)
        if score > best_score:
            best, best_score = child, score
    return best


@inner
def back_up(tree, node, value, waited):  # type: ignore[no-untyped-def]
    """Add a completed visit to a node and all its ancestors. tree: a PuctTree. node: the index of the node. value: the
    value for the side to move at the node. waited: 1 if the visit was pending until now, else 0.
    """
    while node >= 0:
        tree.visits[node] += 1
        tree.total[node] += value
        tree.pending[node] -= waited
        value = -value
        node = tree.parent[node]


@inner
def prove(tree, node):  # type: ignore[no-untyped-def]
    """Go from a node with a proven (certain) result toward the root. If the results of an ancestor's children prove the
    ancestor's result, mark the ancestor as proven; otherwise stop. tree: a PuctTree. node: the index of the node.
    """
    node = tree.parent[node]
    while node >= 0 and tree.proven[node] == UNKNOWN:
        won, all_known, drawn = False, True, False
        shortest, longest = 32000, 0
        for child in range(tree.first[node], tree.first[node] + tree.children[node]):
            proven = tree.proven[child]
            if proven == LOSS:
                won = True
                shortest = min(shortest, tree.plies[child])
            elif proven == UNKNOWN:
                all_known = False
            elif proven == DRAW:
                drawn = True
            else:
                longest = max(longest, tree.plies[child])
        if won:
            tree.proven[node], tree.plies[node] = WIN, shortest + 1
        elif all_known and drawn:
            tree.proven[node] = DRAW
        elif all_known:
            tree.proven[node], tree.plies[node] = LOSS, longest + 1
        else:
            return
        node = tree.parent[node]


@inner
def proven_value(tree, node):  # type: ignore[no-untyped-def]
    """Return the value of a node with a proven (certain) result, for the side to move: 1, −1 or 0, or the value of its
    final score. tree: a PuctTree. node: the index of the node.
    """
    proven = tree.proven[node]
    if proven == SCORED:
        return np.float64(tree.value[node])
    return 1.0 if proven == WIN else -1.0 if proven == LOSS else 0.0


@inner
def _wait(tree, node, change):  # type: ignore[no-untyped-def]
    """Change the pending visits of a node and its ancestors."""
    while node >= 0:
        tree.pending[node] += change
        node = tree.parent[node]


@kernel
def select(tree, constants, wanted, leaves):  # type: ignore[no-untyped-def]
    """Select up to `wanted` different leaves of the tree by the PUCT formula. The leaves are written to `leaves`, and
    the nodes on their paths are marked as pending. Returns the number of leaves.

    If a path ends at a proven node, the value of this node is backed up immediately. If a path ends at a leaf that is
    already selected, the path stays pending until the batch is complete, so that the next path ends at another leaf. If
    this happens too often, the batch ends early. constants: the constants of the formula. leaves: int64, the output,
    with room for the indices of `wanted` leaves.
    """
    found, met, ended = 0, 0, 0
    again = np.empty(2 * wanted, np.int64)
    while found < wanted and met < again.shape[0] and ended < 8 * wanted and tree.proven[0] == UNKNOWN:
        node = np.int64(0)
        while tree.first[node] >= 0 and tree.proven[node] == UNKNOWN:
            node = _pick(tree, constants, node, node == 0)
        if tree.proven[node] != UNKNOWN:
            back_up(tree, node, proven_value(tree, node), np.int64(0))
            ended += 1
            continue
        if tree.pending[node] > 0:
            again[met] = node
            met += 1
        else:
            leaves[found] = node
            found += 1
        _wait(tree, node, np.int64(1))
    for i in range(met):
        _wait(tree, again[i], np.int64(-1))
    return found


@inner
def repeats(tree, node, key):  # type: ignore[no-untyped-def]
    """Return whether an ancestor of a node has this key, so that the node's position repeats an earlier one. tree: a
    PuctTree. node: the index of the node. key: uint64, the key (a 64-bit hash) for repetitions of the node's position.
    """
    node = tree.parent[node]
    while node >= 0:
        if tree.key[node] == key:
            return True
        node = tree.parent[node]
    return False


@inner
def end(tree, node, proven):  # type: ignore[no-untyped-def]
    """Record the proven (certain) result of a leaf where the game is over, and back it up to the root. tree: a
    PuctTree. node: the index of the leaf. proven: WIN, LOSS or DRAW, for the side to move.
    """
    tree.proven[node], tree.plies[node] = proven, 0
    back_up(tree, node, proven_value(tree, node), np.int64(1))
    prove(tree, node)


@inner
def _hold(tree, node, key, row, value):  # type: ignore[no-untyped-def]
    """Set a node's position and value. If a leaf kept its row after a cut, the row is not changed."""
    tree.key[node], tree.value[node] = key, value
    if tree.row[node] < 0:
        at = tree.size[1]
        fill(tree.rows[at], row)
        tree.row[node], tree.size[1] = at, at + 1


@inner
def score(tree, node, key, row, value):  # type: ignore[no-untyped-def]
    """Record a leaf where the game is over and has a score, and back up the value of the score to the root. The tree
    must have room for the leaf's position.

    node: the index of the leaf. key: uint64, the position's key (a 64-bit hash) for repetitions. row: uint8 [width],
    the position. value: the value for the side to move.
    """
    value = np.float64(value)
    _hold(tree, node, key, row, value)
    tree.proven[node], tree.plies[node] = SCORED, 0
    back_up(tree, node, value, np.int64(1))


@inner
def _likeliest(moves, priors, most):  # type: ignore[no-untyped-def]
    """Return those moves of a position that become children, in their order, and their normalized priors.

    At most `most` moves are returned, those with the highest priors. The last move is always one of them.
    """
    n = priors.shape[0]
    followed = np.zeros(n, np.bool_)
    followed[n - 1] = True
    for _ in range(most - 1):
        best = -1
        for i in range(n):
            if not followed[i] and (best < 0 or priors[i] > priors[best]):
                best = i
        followed[best] = True
    some, their = np.empty(most, np.uint16), np.empty(most, np.float32)
    at = 0
    for i in range(n):
        if followed[i]:
            some[at], their[at] = moves[i], priors[i]
            at += 1
    their /= their.sum()
    return some, their


@inner
def expand(tree, node, key, row, value, moves, priors, most):  # type: ignore[no-untyped-def]
    """Add the position and the children of a leaf to the tree, and back up the leaf's value to the root. The tree must
    have room for them.

    node: the index of the leaf. key: uint64, the key (a 64-bit hash) of its position for repetitions. row: uint8
    [width], the position. value: for the side to move. moves, priors: the legal moves and their probabilities. most:
    the largest number of children; the most likely moves become children. The root always gets a child for every move.
    """
    value = np.float64(value)
    if not -1 <= value <= 1:  # NaN counts as 0
        value = 1.0 if value > 1 else -1.0 if value < -1 else 0.0
    if moves.shape[0] > most and node > 0:
        moves, priors = _likeliest(moves, priors, most)
    begin = tree.size[0]
    _hold(tree, node, key, row, value)
    tree.first[node], tree.children[node] = begin, moves.shape[0]
    for i in range(moves.shape[0]):
        child = begin + i
        tree.move[child], tree.prior[child], tree.parent[child] = moves[i], priors[i], node
        tree.first[child], tree.row[child] = -1, -1
        tree.visits[child], tree.pending[child], tree.total[child], tree.proven[child] = 0, 0, 0.0, UNKNOWN
    tree.size[0] = begin + moves.shape[0]
    back_up(tree, node, value, np.int64(1))


@inner
def win(tree, node, key, row, move):  # type: ignore[no-untyped-def]
    """Add the position of a leaf to the tree, with a move that ends and wins the game as its only child. node: the
    index of the leaf. key: uint64, the key (a 64-bit hash) of its position for repetitions. row: uint8 [width], the
    position. move: packed (see `kibitz.games.chess.moves.from_move`).
    """
    moves, priors = np.empty(1, np.uint16), np.ones(1, np.float32)
    moves[0] = move
    expand(tree, node, key, row, np.float32(1), moves, priors, np.int64(1))
    child = np.int64(tree.first[node])
    tree.proven[child], tree.plies[child], tree.visits[child], tree.total[child] = LOSS, 0, 1, -1.0
    prove(tree, child)


@kernel
def expand_all(tree, cache, most, leaves, keys, again, rows, values, moves, priors, offsets):  # type: ignore[no-untyped-def]
    """Expand leaves after the network has evaluated them: add their positions to the tree, and a child for each move.
    The evaluations are also stored in the cache.

    leaves: [n], the indices of the leaves' nodes.
    most: the largest number of children of a node.
    keys: uint64 [n], the keys of the leaves in the cache.
    again: uint64 [n], the keys of the leaves for repetitions.
    rows: uint8 [n, width], the positions of the leaves.
    values: float32 [n], the values for the side to move.
    moves, priors: the moves of all leaves and their priors. Those of leaf i begin at `offsets[i]` and end before
        `offsets[i + 1]`.
    """
    for i in range(leaves.shape[0]):
        begin, end = offsets[i], offsets[i + 1]
        remember(cache, keys[i], values[i], priors[begin:end], rows[i])
        expand(tree, leaves[i], again[i], rows[i], values[i], moves[begin:end], priors[begin:end], most)


@kernel
def settle(tree, cache, most, often, repetition, leaves, keys, again, ended, values, rows, moves, offsets):  # type: ignore[no-untyped-def]
    """Finish the leaves that need no network evaluation, and move the other leaves to the front of all arrays. Returns
    the number of the other leaves.

    A leaf is finished in these cases: the rules end the game there, its only move wins, it repeats a position, or the
    cache has its evaluation.

    most: the largest number of children of a node.
    often: uint64, the keys (64-bit hashes) for repetitions of some positions of the game. A leaf with such a key gets
        the result `repetition`.
    repetition: the result of a repeated position, DRAW or FORBIDDEN.
    leaves: [n], the indices of the nodes.
    keys: uint64 [n], the keys of the cache.
    again: uint64 [n], the keys of the leaves for repetitions.
    ended: int8 [n], how the rules end the game.
    values: [n], used if `ended` is SCORED.
    rows, moves, offsets: the positions and their moves, see search.Entered.
    """
    left, room, tail = 0, cache.priors.shape[0], cache.tails.shape[1]
    for i in range(leaves.shape[0]):
        node, begin, count = leaves[i], offsets[i], offsets[i + 1] - offsets[i]
        outcome = ended[i]
        if outcome != LOSS and (repeats(tree, node, again[i]) or is_among(again[i], often)):
            outcome = repetition
        if outcome == FORBIDDEN:  # such a leaf is never chosen: it has no visit and counts as a lost move
            tree.proven[node], tree.plies[node] = WIN, 0
            _wait(tree, node, np.int64(-1))
            continue
        if outcome == WIN:
            win(tree, node, again[i], rows[i], moves[begin])
            continue
        if outcome == SCORED:
            score(tree, node, again[i], rows[i], values[i])
            continue
        if outcome != UNKNOWN:
            tree.key[node] = again[i]
            end(tree, node, outcome)
            continue
        slot = recall(cache, keys[i], count)
        if slot >= 0:
            at = cache.begins[slot] % room
            priors = cache.priors[at : at + count]
            if tail:
                fill(rows[i, rows.shape[1] - tail :], cache.tails[slot])
            expand(tree, node, again[i], rows[i], cache.values[slot], moves[begin : begin + count], priors, most)
            continue
        to = offsets[left]  # moves data in place; the place to write is never after the place to read
        for k in range(count):
            moves[to + k] = moves[begin + k]
        leaves[left], keys[left], again[left] = node, keys[i], again[i]
        fill(rows[left], rows[i])
        left += 1
        offsets[left] = to + count
    return left


@kernel
def reserve(tree, leaves):  # type: ignore[no-untyped-def]
    """Mark the nodes on the paths to these leaves as pending: a visit has begun there. leaves: [n], the indices of
    their nodes.
    """
    for i in range(leaves.shape[0]):
        _wait(tree, leaves[i], np.int64(1))


@kernel
def abandon(tree, leaves):  # type: ignore[no-untyped-def]
    """Undo the marks of `reserve` on the paths to these leaves. leaves: [n], the indices of their nodes."""
    for i in range(leaves.shape[0]):
        _wait(tree, leaves[i], np.int64(-1))


@kernel
def lead(tree):  # type: ignore[no-untyped-def]
    """Return by how many visits the most visited move of the root exceeds the second most visited one. If there is only
    one move, return its number of visits. tree: a PuctTree.
    """
    first, second = 0, 0
    for child in range(tree.first[0], tree.first[0] + tree.children[0]):
        visits = tree.visits[child]
        if visits > first:
            first, second = visits, first
        elif visits > second:
            second = visits
    return first - second


def cut_out(tree: PuctTree, root: int, into: PuctTree, least: int = 0, rows: bool = False) -> None:
    """Copy the subtree below a node into an empty tree, whose root is then this node. root: the node. into: the empty
    tree, with enough room.

    least: nodes below the root with fewer visits and without a proven (certain) result lose their children, but keep
    their visits. rows: whether these nodes keep their positions.
    """
    # The arguments are converted to NumPy's types, so that the kernel is compiled for one combination of types only.
    _cut_out(tree, np.int64(root), into, np.int64(least), rows)


def trimmed(tree: PuctTree) -> PuctTree:
    """Return a copy of the tree whose arrays have no unused entries."""
    nodes, positions = (int(size) for size in tree.size)
    cut = tree._replace(**{name: array[:nodes].copy() for name, array in tree._asdict().items()})
    return cut._replace(size=tree.size.copy(), rows=tree.rows[:positions].copy())


@kernel
def _cut_out(tree, root, into, least, rows):  # type: ignore[no-untyped-def]
    """Copy a subtree, see `cut_out`. tree, into: PuctTree. root, least: int64."""
    source = np.empty(into.visits.shape[0], np.int32)
    source[0] = root
    n, at = 1, 0
    into.parent[0] = -1
    while at < n:
        old = source[at]
        into.visits[at], into.pending[at], into.total[at] = tree.visits[old], 0, tree.total[old]
        into.prior[at], into.move[at], into.value[at] = tree.prior[old], tree.move[old], tree.value[old]
        into.proven[at], into.plies[at] = tree.proven[old], tree.plies[old]
        into.key[at], into.row[at] = tree.key[old], -1
        into.first[at], into.children[at] = -1, 0
        cut = at > 0 and tree.visits[old] < least and tree.first[old] >= 0 and tree.proven[old] == UNKNOWN
        if tree.row[old] >= 0 and (rows or not cut):
            into.row[at] = into.size[1]
            fill(into.rows[into.size[1]], tree.rows[tree.row[old]])
            into.size[1] += 1
        if tree.first[old] >= 0 and not cut:
            into.first[at], into.children[at] = n, tree.children[old]
            for i in range(tree.children[old]):
                source[n] = tree.first[old] + i
                into.parent[n] = at
                n += 1
        at += 1
    into.size[0] = n
