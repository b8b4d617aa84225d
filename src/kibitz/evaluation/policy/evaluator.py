"""The examination of the systems that predict moves: both papers' tables, for whole moves and network by network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import Plan, Table, Tell
from kibitz.evaluation.baselines import Yardstick, baseline
from kibitz.evaluation.batches import draw, gather
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.policy.heatmaps import heat_maps
from kibitz.evaluation.policy.metrics import Sheet, measure, played_in, told
from kibitz.evaluation.policy.openings import opening_moves
from kibitz.evaluation.policy.topk import questions, selectors, whole_moves
from kibitz.evaluation.policy.value_head import LEFT, LEFT_WORDS, left, valued
from kibitz.evaluation.positions.tsne import landscape
from kibitz.evaluation.slices import PHASES, as_by, by_rating, by_speed
from kibitz.evaluation.stockfish import Answer
from kibitz.games.chess.moves import to_move
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ByGame, Figure, slices
from kibitz.store.positions import Batch
from kibitz.store.store import Store
from kibitz.systems.movers import system as movers
from kibitz.systems.movers.nets import PIECES, VALUE

MOVES = (1, 6, 11, 16, 21, 31, 41, 61, np.inf)
"""Bounds of the bands of move numbers."""

MAIN = (
    "accuracy", "accuracy_at_3", "accuracy_at_5", "accuracy_at_10", "log_loss", "top_move_accuracy", "move_rank",
    "sign_accuracy", "value_squared_error", "material_correlation",
)  # fmt: skip
"""Figures that stand in no other table."""

TEXTS = {
    "accuracy": "How often the first choice among the legal moves is the move that was played, a pawn that promotes "
    "being taken to become a queen; the rating is the mover's. The dashed line is the accuracy over all positions.",
    "sign_accuracy": "In decided games, how often the value's sign says who won; material in pawns, as the mover sees "
    "it. The dashed line is the figure over all positions.",
}


def examine(
    run: Run, store: Store, chosen: Chosen, plan: Plan, tell: Tell, say: Callable[[str], None]
) -> dict[str, Any]:
    """The system's part of a result, see `kibitz.evaluation.Examination`.

    The headline is the whole move's accuracy; of a run of some networks only, the first network's; of a value network
    alone, how often its sign is right.
    """
    session = Session(run)
    settings: movers.Settings = run.settings
    names = movers.selected_networks(settings, run.system.networks)
    tested = replace(settings, games=0, moves=0, min_rating=settings.min_rating if names != (VALUE,) else 0)
    moves = movers.MoveExamples(store, chosen.games, tested)
    if not len(moves):
        raise KibitzError(
            f"{store.path}: all moves of its games to test on are by players rated under {settings.min_rating}, whose "
            f"moves {run.info['system']} does not learn; test on another store"
        )
    numbers = draw(moves, plan.positions, plan.seed)
    data = describe(store, chosen, len(numbers), len(moves))
    if low := len(moves.positions) - len(moves):
        data["split"] += f"; {low:,} moves of players rated under {settings.min_rating} left out"

    def marks(batch: Batch) -> dict[str, NDArray[Any]]:
        answers = session.evaluate(batch.codes, told(session, settings, store, batch))
        return measure(answers, batch, played_in(store, batch.games, batch.plies))

    places = numbers if moves.chosen is None else moves.chosen[numbers]
    found = gather(moves.positions, places, marks, lambda done, total: tell("positions", done, total))
    games, plies = moves.positions.locate(places)
    sheet = Sheet(store, settings, names, _by_square(session), games, plies, ByGame(games), found)
    if note := _note(sheet, chosen):
        data["note"] = note
    figures, tables = _figures(sheet, tell)
    headline, right, among = _headline(sheet)
    yardstick = Yardstick(plan, session.threads, tell, say)
    result: dict[str, Any] = {
        "data": data,
        "headline": headline,
        "main": [headline, *(name for name in MAIN if name in figures and name != headline)],
        "figures": {name: figure.as_json() for name, figure in figures.items()},
        "by": by(sheet, right, among),
        "baselines": baselines(sheet, yardstick),
        "tables": tables,
        "texts": {
            "by": TEXTS.get(headline, "The same figure over parts of the positions."),
            "baselines": "How often simpler answers are right. Where one was asked for some of the positions only, the "
            "network's figure on those very positions stands below it.",
        },
    }
    if sheet.whole:
        tables += opening_moves(session, store, chosen.games)
        result["heat_maps"] = heat_maps(session, sheet, plan.seed)
    tell("landscape", 0, 1)
    if picture := landscape(run, session, sheet, plan.seed, say):
        result["landscape"] = picture
    tell("landscape", 1, 1)
    return result


def _by_square(session: Session) -> bool:
    """Whether targets are by origin square."""
    answers = session.evaluate(np.empty((0, 64), np.uint8), np.empty((0, 4), np.uint8))
    return "target" in answers and answers["target"].shape[1] == 64


def _figures(sheet: Sheet, tell: Tell) -> tuple[dict[str, Figure], list[Table]]:
    """Every figure by name, and the tables."""
    parts = [selectors]
    if sheet.whole:
        parts.insert(0, whole_moves)
    if VALUE in sheet.names:
        parts.append(valued)
    figures: dict[str, Figure] = {}
    tables: list[Table] = []
    for done, part in enumerate(parts):
        tell("figures", done, len(parts))
        more, its_tables = part(sheet)
        figures |= more
        tables += its_tables
    tell("figures", len(parts), len(parts))
    return figures, sorted(tables, key=lambda table: table["title"] == "Special moves")  # last of them


def _headline(sheet: Sheet) -> tuple[str, NDArray[np.bool_], NDArray[np.bool_]]:
    """The headline's name, where it is right, and the positions that it is about."""
    every = np.ones(len(sheet.games), np.bool_)
    if sheet.whole:
        return "accuracy", sheet.right, every
    if sheet.names == (VALUE,):
        decided = sheet.result != 0
        return "sign_accuracy", (sheet.marks["value"] > 0) == (sheet.result > 0), decided
    key, _, asks, piece = questions(sheet)[0]
    among = every if piece is None else sheet.marks["piece"] == piece
    return f"{key}_accuracy", sheet.marks[f"{asks}_rank"] == 1, among


def _note(sheet: Sheet, chosen: Chosen) -> str:
    """What must be said with the figures."""
    lines = []
    if bundled := bundled_note(sheet.store, chosen.games):
        lines.append(bundled)
    if set(sheet.names) != {VALUE}:
        rating = sheet.mover_rating()
        if not bundled and (share := float(np.mean(rating >= 2000))) < 1:
            lines.append(
                "The paper's figures are on moves of FICS players rated over 2000; "
                f"{share:.1%} of these moves are known to be of players rated 2000 or more."
            )
        if not sheet.whole:
            lines.append(f"The run has no whole moves: only these networks were trained: {', '.join(sheet.names)}.")
    if sheet.settings.outcome_plane:
        lines.append(
            "The network is told the result by a plane; here it was told in every position that the mover wins."
        )
    return " ".join(lines)


# Slices


def by(sheet: Sheet, right: NDArray[np.bool_], among: NDArray[np.bool_]) -> dict[str, list[dict[str, Any]]]:
    """The headline over parts of the positions that it is about; parts without any are left out."""
    some = np.flatnonzero(among)
    right, games, marks = right[some], sheet.games[some], {name: mark[some] for name, mark in sheet.marks.items()}
    groups = ByGame(games)
    tables = {
        "move number": slices(right, groups, sheet.plies[some] // 2 + 1, edges=MOVES),
        "phase": slices(right, groups, marks["phase"], labels=PHASES),
        "piece": slices(right, groups, marks["piece"], labels=PIECES),
        "side to move": slices(right, groups, marks["side"], labels=("White", "Black")),
    }
    if VALUE in sheet.names and not sheet.whole:
        tables["plies to the end"] = slices(right, groups, left(sheet)[some], edges=LEFT, labels=LEFT_WORDS)
    tables |= by_rating(right, groups, sheet.mover_rating()[some])
    return as_by(tables | by_speed(right, groups, sheet.store, games))


# Baselines


def baselines(sheet: Sheet, yardstick: Yardstick) -> dict[str, Any]:
    """Figures of simpler answers to the headline's question, by key."""
    groups, marks = sheet.groups, sheet.marks
    if not sheet.whole:
        _, _, among = _headline(sheet)
        if sheet.names[0] == VALUE:
            better = np.where(marks["material"] == 0, 0.5, (marks["material"] > 0) == (sheet.result > 0))
            return {"material": baseline("more material (equal: half right)", groups.mean(better, among))}
        _, _, asks, _ = questions(sheet)[0]
        square = groups.mean(1 / marks[f"{asks}_choices"], among)
        return {"random_square": baseline("a random legal square", square)}
    played = played_in(sheet.store, sheet.games, sheet.plies)

    def agrees(answers: Sequence[Answer], some: NDArray[np.int64]) -> NDArray[np.bool_]:
        moves = (to_move(int(move)).uci() for move in played[some])
        return np.array([answer.move == move for answer, move in zip(answers, moves, strict=True)])

    random = {"random_move": baseline("a random legal move", groups.mean(1 / marks["choices"]))}
    return random | yardstick.beside(sheet.store, sheet.games, sheet.plies, sheet.right, agrees)
