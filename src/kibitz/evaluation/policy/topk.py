"""Tables about predicted chess moves.

Two tables are about the networks that predict one square of a move: the top-k accuracy, and illegal predictions. The
third table is about complete moves: the accuracy in special moves, such as castling. A complete move has a from-square
and a to-square.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.policy.metrics import PolicyResults
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table, metrics
from kibitz.stats import Kind, log_loss
from kibitz.systems.movers.nets import PIECES

AT = (1, 3, 5, 10)
SPECIAL = {
    "castling": "castling", "en passant": "en_passant", "promotion": "promotion", "underpromotion": "underpromotion",
}  # fmt: skip
RULES: dict[str, Kind] = {
    "illegal": "share", "squared_gap": "number", "largest_gap": "number", "rank": "number", "legal_rank": "number",
}  # fmt: skip
"""Metrics about illegal predictions: the end of each metric's name, and the kind of its value."""


def at_names(name: str) -> list[str]:
    """Return the names of the top-k accuracies of a prediction, such as "pawn_accuracy_at_3", for k = 1, 3, 5 and 10.

    name: the name of the prediction, such as "pawn".
    """
    return [f"{name}_accuracy" if k == 1 else f"{name}_accuracy_at_{k}" for k in AT]


def questions(results: PolicyResults) -> list[tuple[str, str, str, int | None]]:
    """Return the testable predictions of a square, such as the from-square of a move or the to-square of a pawn move.

    Each prediction is a tuple of four values: its name in the results, a text for tables, the prefix of its arrays in
    `results.marks` (see `metrics.measure`), and the type of piece whose moves are tested. This type is from 0 for a
    pawn to 5 for a king, or None for all moves.

    The papers about `convchess` and `chessnet` test the probability of the to-square given the type of the piece. Some
    networks predict the to-square for each from-square instead. For these networks, the probability is a mean over the
    from-squares of pieces of the type, weighted by the predicted probabilities of the from-squares.
    """
    listed: list[tuple[str, str, str, int | None]] = []
    if "piece" in results.names:
        listed.append(("origin", "origin", "origin", None))
    if not results.by_square or "piece" in results.names:
        listed += [(name, name, "target", kind) for kind, name in enumerate(PIECES) if name in results.names]
    if results.by_square:
        listed += [
            (f"{name}_from_square", f"{name} on its square", "from_square", kind)
            for kind, name in enumerate(PIECES)
            if name in results.names
        ]
    return listed


def selectors(results: PolicyResults) -> tuple[Metrics, list[Table]]:
    """Return a dict of metrics of all predictions of squares (see `questions`), and two tables of these metrics.

    The first table contains top-k accuracies. The second table contains the share of positions in which the most likely
    square is illegal. It also contains two measures of the probability on illegal squares, and the mean rank of the
    played square. If the run has no network that predicts a square, the dict and the list are empty.
    """
    figures: Metrics = {}
    at_rows: list[list[Cell]] = []
    rule_rows: list[list[Cell]] = []
    for key, words, chosen, piece in questions(results):
        mask = None if piece is None else results.marks["piece"] == piece
        mark = {kind: results.marks[f"{chosen}_{kind}"] for kind in ("rank", "legal_rank")}
        columns: list[NDArray[Any]] = [mark[kind] <= k for kind in ("rank", "legal_rank") for k in AT]
        columns += [
            results.marks[f"{chosen}_{kind}"] for kind in ("illegal", "squared", "largest", "rank", "legal_rank")
        ]
        estimates = results.groups.means(columns, mask)
        at, rules = estimates[: 2 * len(AT)], estimates[2 * len(AT) :]
        figures |= metrics("share", dict(zip([*at_names(key), *at_names(f"{key}_legal")], at, strict=True)))
        for (name, kind), estimate in zip(RULES.items(), rules, strict=True):
            figures[f"{key}_{name}"] = Metric(estimate, kind)
        at_rows.append([words, *at, at[0].n])
        rule_rows.append([words, *rules, at[0].n])
    if not at_rows:
        return {}, []
    square = ", or, “on its square”, given also its origin" if results.by_square else ""
    accuracy = Table(
        "Top-k accuracy",
        "Share of positions in which the played square is among the k most probable ones; “legal”: among the legal "
        f"ones. A piece's row shows the target square, given that a piece of this type moves{square}.",
        "network",
        [*(Column(f"top-{k}") for k in AT), *(Column(f"legal top-{k}") for k in AT), Column("positions", "count")],
        at_rows,
    )
    rules_table = Table(
        "Legality of the predictions",
        "Illegal: no legal move of this type of piece has the most probable square as its origin or target. ‖p−q‖²"
        " and max|p−q| are means, with p the network's distribution and q the same with illegal squares at 0. Rank is"
        " the mean rank of the played square among all 64 squares, and legal rank among the legal squares.",
        "network",
        [
            Column("illegal", "small share"),
            *(Column(name, "number") for name in ("‖p−q‖²", "max|p−q|", "rank", "legal rank")),
            Column("positions", "count"),
        ],
        rule_rows,
    )
    return figures, [accuracy, rules_table]


def whole_moves(results: PolicyResults) -> tuple[Metrics, list[Table]]:
    """Return a dict of metrics of complete moves (from-square and to-square), and a list with one table. The table is
    about special moves, such as castling.

    results: the results of a run (the folder of a trained network) for which `PolicyResults.whole` is True.
    """
    rank = results.marks["rank"]
    loss = log_loss(results.marks["chance"], 1)
    *at, nats, top_move, rank_mean = results.groups.means(
        [*(rank <= k for k in AT), loss, results.marks["top_move"], rank]
    )
    figures = metrics("share", dict(zip([name.removeprefix("_") for name in at_names("")], at, strict=True)))
    figures |= {
        "log_loss": Metric(nats, "number"),
        "top_move_accuracy": Metric(top_move),
        "move_rank": Metric(rank_mean, "number"),
    }
    rows: list[list[Cell]] = []
    for words, mark in SPECIAL.items():
        mark_values = results.marks[mark]
        share = results.groups.mean(mark_values)
        right, pair = results.groups.means([results.right, results.marks["pair"]], mark_values)
        rows.append([words, int(np.count_nonzero(mark_values)), share, right, pair])
    special = Table(
        "Special moves",
        "How often each was played, and how often it was the network's top-1 move. Promotions count as promotions to a "
        "queen, so the top-1 move is never an underpromotion; its two squares can be right.",
        "move",
        [
            Column("played", "count"),
            Column("share of moves", "small share"),
            Column("top-1 accuracy"),
            Column("squares right"),
        ],
        rows,
    )
    return figures, [special]
