"""Where the best-first search looks next and what it chooses, against plain loops over its tree."""

from __future__ import annotations

import math

import chess
import pytest

from kibitz.play.chess import position as positions
from kibitz.play.chess.best_first import BestFirstSearch, SearchTuning
from kibitz.play.chess.evaluator import Evaluator
from kibitz.play.chess.score import to_parent
from kibitz.play.chess.tactics import MATE
from kibitz.play.chess.tree import Tree
from kibitz.play.result import SearchLimits
from support.chess_fakes import Fake

TACTICS = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
"""Qxf7 mates at once."""
MATED_SOON = "5rk1/5ppp/p7/1p6/2p5/6Q1/1B4PP/6K1 b - - 0 1"
"""Three black moves allow a mate in one."""


def grown(fen: str, nodes: int = 300) -> Tree:
    fake = Fake(noise=0.4)
    evaluator = Evaluator(fake, fake, cut=0.95, width=12, hash_mb=16)
    position, seen = positions.root(chess.Board(fen))
    search = BestFirstSearch(evaluator, SearchTuning(), position, seen, SearchLimits(nodes=nodes), 1, 1)
    search.think(None, lambda thought: None)
    return search.tree


def edges_of(tree: Tree, node: int) -> range:
    return range(int(tree.first[node]), int(tree.first[node] + tree.width[node]))


def ways(
    tree: Tree, focus: float, factor: float, max_ply: int, min_path: float, lines: int
) -> dict[int, tuple[int, float]]:
    """Edge -> its node and probability, by the words of `Tree.frontier`."""
    found: dict[int, tuple[int, float]] = {}

    def walk(node: int, path: float) -> None:
        several = node == 0 and lines > 1
        proven = abs(tree.value[node]) > 1 and focus > 0 and not several
        if path < min_path or tree.final[node] or proven:
            return
        odds = {}
        for edge in edges_of(tree, node):
            child = int(tree.child[edge])
            value = to_parent(float(tree.value[child])) if child >= 0 else None
            if value is None:
                odds[edge] = float(tree.weight[edge])
            elif focus == 0 or value >= -1:  # else it loses by force
                odds[edge] = float(tree.weight[edge]) * math.exp(focus * (value - float(tree.static_eval[node])))
            else:
                odds[edge] = 0.0
        if several and len(odds) > 1:
            best = sorted((odd for odd in odds.values() if odd), reverse=True)[:lines]
            odds = {edge: min(odd, best[-1] if best else 0.0) for edge, odd in odds.items()}
        total = sum(odds.values())
        for edge, odd in odds.items():
            share = path * odd / total if total else 0.0
            if tree.child[edge] >= 0:
                walk(int(tree.child[edge]), share)
            elif tree.ply[node] < max_ply and share > 0:
                if tree.mark[edge]:
                    share = 1.0 if tree.mark[edge] == MATE else min(1.0, share * factor)
                found[edge] = node, share

    walk(0, 1.0)
    return found


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, TACTICS, MATED_SOON])
@pytest.mark.parametrize(
    ("focus", "factor", "max_ply", "min_path", "lines"),
    [
        (5.0, 3.0, 40, 0.0, 1), (0.0, 1.0, 40, 0.0, 1), (5.0, 3.0, 2, 0.0, 1), (5.0, 50.0, 40, 0.01, 1),
        (5.0, 3.0, 40, 0.0, 3), (0.0, 3.0, 1, 0.0, 2), (5.0, 3.0, 40, 0.0, 300),
    ],
)  # fmt: skip
def test_where_it_looks_next(fen: str, focus: float, factor: float, max_ply: int, min_path: float, lines: int) -> None:
    tree = grown(fen)
    tree.backup(0.05)
    expected = ways(tree, focus, factor, max_ply, min_path, lines)
    edges, parents, shares = tree.frontier(focus, factor, max_ply, min_path, lines)
    assert dict(zip(edges.tolist(), parents.tolist(), strict=True)) == {e: node for e, (node, _) in expected.items()}
    for edge, share in zip(edges.tolist(), shares.tolist(), strict=True):
        assert share == pytest.approx(expected[edge][1], rel=1e-9)


@pytest.mark.parametrize("doubt", [0.0, 0.2])
@pytest.mark.parametrize("fen", [chess.STARTING_FEN, TACTICS])
def test_what_it_chooses(fen: str, doubt: float) -> None:
    """By value, less for moves that were unlikely and hardly looked at; what is proven needs no doubt."""
    tree = grown(fen)
    tree.backup(doubt)
    chosen = 0

    def rank(first: int, edge: int) -> float:
        child = int(tree.child[edge])
        value = to_parent(float(tree.value[child]))
        if abs(value) > 1:
            return value
        return value - doubt * math.log(tree.weight[first] / tree.weight[edge]) / math.sqrt(tree.size[child])

    for node in range(tree.n):
        edges = edges_of(tree, node)
        tried = [edge for edge in edges if tree.child[edge] >= 0]
        if tree.final[node] or not tried:
            assert tree.best[node] == -1
            continue
        ranks = {edge: rank(edges[0], edge) for edge in tried}
        assert ranks[int(tree.best[node])] == pytest.approx(max(ranks.values()), abs=1e-6)
        chosen += 1
        if node:
            continue
        moves = tree.sorted_moves(doubt)
        assert [edge for edge, _ in moves[: len(tried)]] == sorted(tried, key=lambda edge: (-ranks[edge], edge))
        values = {edge: to_parent(float(tree.value[int(tree.child[edge])])) for edge in tried}
        assert dict(moves[: len(tried)]) == pytest.approx(values)
        rest = moves[len(tried) :]
        assert [edge for edge, _ in rest] == [edge for edge in edges if tree.child[edge] < 0]
        assert {value for _, value in rest} <= {min([float(tree.static_eval[0]), *values.values()])}
    assert chosen > (20 if fen == chess.STARTING_FEN else 0)
