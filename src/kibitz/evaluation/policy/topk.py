"""Tables of single networks and of whole moves: accuracy at k, what was learned of the rules, special moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation import Table
from kibitz.evaluation.policy.metrics import Sheet
from kibitz.stats import Figure, log_loss
from kibitz.systems.movers.nets import PIECES

AT = (1, 3, 5, 10)
SPECIAL = {
    "castling": "castling", "en passant": "en_passant", "promotion": "promotion", "underpromotion": "underpromotion",
}  # fmt: skip


def at_names(name: str) -> list[str]:
    """Names of the figures that say how often what was played is among the first k choices: "pawn_accuracy_at_3"."""
    return [f"{name}_accuracy" if k == 1 else f"{name}_accuracy_at_{k}" for k in AT]


def questions(sheet: Sheet) -> list[tuple[str, str, str, int | None]]:
    """What the run's networks are asked about single squares: name in figures, words, prefix of the marks, and the type
    of the piece that the question is about.

    A network that answers by square has the answer by type too, which is the papers' question, from its own origin.
    """
    found: list[tuple[str, str, str, int | None]] = []
    if "piece" in sheet.names:
        found.append(("origin", "origin", "origin", None))
    if not sheet.by_square or "piece" in sheet.names:
        found += [(name, name, "target", kind) for kind, name in enumerate(PIECES) if name in sheet.names]
    if sheet.by_square:
        found += [
            (f"{name}_from_square", f"{name} on its square", "from_square", kind)
            for kind, name in enumerate(PIECES)
            if name in sheet.names
        ]
    return found


def selectors(sheet: Sheet) -> tuple[dict[str, Figure], list[Table]]:
    """Figures of each network that predicts squares by name, and two tables of them."""
    figures: dict[str, Figure] = {}
    at_rows, rule_rows = [], []
    for key, words, asks, piece in questions(sheet):
        mask = None if piece is None else sheet.marks["piece"] == piece
        mark = {kind: sheet.marks[f"{asks}_{kind}"] for kind in ("rank", "legal_rank")}
        columns: list[NDArray[Any]] = [mark[kind] <= k for kind in ("rank", "legal_rank") for k in AT]
        columns += [sheet.marks[f"{asks}_{kind}"] for kind in ("illegal", "squared", "largest", "rank", "legal_rank")]
        found = sheet.groups.means(columns, mask)
        at, rules = found[: 2 * len(AT)], found[2 * len(AT) :]
        figures |= dict(zip([*at_names(key), *at_names(f"{key}_legal")], at, strict=True))
        kinds = ("illegal", "squared_gap", "largest_gap", "rank", "legal_rank")
        figures |= {f"{key}_{kind}": figure for kind, figure in zip(kinds, rules, strict=True)}
        at_rows.append([words, *(figure.as_json() for figure in at), found[0].n])
        rule_rows.append([words, *(figure.as_json() for figure in rules), found[0].n])
    if not at_rows:
        return {}, []
    square = ", or of that piece, given its square" if sheet.by_square else ""
    accuracy: Table = {
        "title": "Accuracy at k",
        "text": "How often the square that was played is among the first k choices; “legal”: among the choices that "
        f"the rules allow. A piece's row is the target of such a piece, given that one moves{square}.",
        "heading": "network",
        "columns": [*(f"@{k}" for k in AT), *(f"legal @{k}" for k in AT), "positions"],
        "kinds": ["share"] * (2 * len(AT)) + ["count"],
        "rows": at_rows,
    }
    rules_table: Table = {
        "title": "The rules, learned",
        "text": "Illegal: the first choice is a square from which no legal move starts, or to which no such "
        "piece can go. Then the mean ‖p−q‖² and max|p−q|, p the network's answer and q the same with illegal "
        "squares at 0; and the mean place of what was played among the 64 squares, and among the legal ones.",
        "heading": "network",
        "columns": ["illegal", "‖p−q‖²", "max|p−q|", "place", "legal place", "positions"],
        "kinds": ["small share", "number", "number", "number", "number", "count"],
        "rows": rule_rows,
    }
    return figures, [accuracy, rules_table]


def whole_moves(sheet: Sheet) -> tuple[dict[str, Figure], list[Table]]:
    """Figures of whole moves by name, and the table of special moves. Only for a sheet that is whole."""
    rank = sheet.marks["rank"]
    loss = log_loss(sheet.marks["chance"], 1)
    found = sheet.groups.means([*(rank <= k for k in AT), loss, sheet.marks["top_move"], rank])
    names = [*(name.removeprefix("_") for name in at_names("")), "log_loss", "top_move_accuracy", "move_rank"]
    rows = []
    for words, mark in SPECIAL.items():
        some = sheet.marks[mark]
        share = sheet.groups.mean(some)
        right, pair = sheet.groups.means([sheet.right, sheet.marks["pair"]], some)
        rows.append([words, int(np.count_nonzero(some)), *(figure.as_json() for figure in (share, right, pair))])
    special: Table = {
        "title": "Special moves",
        "text": "How often each was played, and how often it was the network's first choice. A pawn that promotes "
        "is taken to become a queen, so an underpromotion is never right; its two squares may be.",
        "heading": "move",
        "columns": ["played", "share of moves", "accuracy", "squares right"],
        "kinds": ["count", "small share", "share", "share"],
        "rows": rows,
    }
    return dict(zip(names, found, strict=True)), [special]
