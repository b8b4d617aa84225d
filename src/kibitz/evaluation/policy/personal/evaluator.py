"""The test of personal networks: how well several models predict a person's newest moves, and a description of the
person's style.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from kibitz.errors import UsageError
from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.baselines import baseline
from kibitz.evaluation.games import Chosen, describe
from kibitz.evaluation.policy.personal import character, gocharacter
from kibitz.evaluation.policy.personal.arms import ADAPTED, BASE, BOOK_ARM, BOTH, STRANGER, Arms, compare
from kibitz.evaluation.policy.personal.curve import learning_curve
from kibitz.evaluation.slices import PHASES, slices_as_json
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table, metrics
from kibitz.games import GAME_NAMES
from kibitz.games.chess.material import phase
from kibitz.games.chess.replay import SIDE
from kibitz.personal.adapter import NOTHING
from kibitz.runs import Run
from kibitz.stats import slices
from kibitz.store.store import Store

LABELS = {
    BASE: "the base, at the player's rating",
    BOOK_ARM: "base and book",
    ADAPTED: "adapters alone",
    BOTH: "adapters and book",
    STRANGER: "a stranger's adapters",
}
FIGURES = {BOTH: "accuracy", **{arm: f"accuracy_{arm}" for arm in (BASE, BOOK_ARM, ADAPTED, STRANGER)}}
LATE = "_past_move_10"
MOVES = (0, 20, 50, 100, 150, 200, 250, np.inf)
"""The limits of the groups of positions by the number of moves played, for Go."""
MAIN = ("accuracy", "accuracy_base", "gain", "accuracy_past_move_10", "accuracy_base_past_move_10", "gain_past_move_10",
        "log_loss", "log_loss_base")  # fmt: skip
TEXTS = {
    "unit": "moves",
    "by": "Top-1 accuracy of the person's network. The dashed line is the accuracy over all moves.",
    "baselines": "The same network without some of its parts, on the same moves.",
    "gallery": "Moves of the person that other players of this rating seldom play. The probability is for these other"
    " players. The gain compares the network's evaluations of the two positions.",
    "mistakes": "Moves of the person that lose much and that other players of this rating seldom play, with the same"
    " numbers.",
}


def evaluate(
    run: Run, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> dict[str, Any]:
    """Test a network on games of a store, and return the results as a dict. `kibitz.evaluation.Evaluation.evaluate`
    explains the arguments and the keys of the dict.
    """
    if config.curve and chosen.seen:
        raise UsageError(f"--learning-curve cannot use training games (got {chosen.words}). Leave --split out.")
    stranger = _stranger(config.stranger, store.game)
    arms = compare(run, store, chosen.games, stranger, on_progress)
    figures = figures_of(arms)
    special = gocharacter.character if store.game == "go" else character.character
    own = special(run, store, config.seed, functools.partial(on_progress, "what is special"))
    curves = [learning_curve(run, store, chosen.games, on_progress, log)] if config.curve else []
    data = describe(store, chosen, len(arms.positions), len(arms.positions))
    if text := _note(run):
        data["note"] = text
    return {
        "data": data,
        "headline": "accuracy",
        "main": [name for name in MAIN if name in figures],
        "figures": figures,
        "baselines": {
            name: baseline(LABELS[name], figures[FIGURES[name]].estimate) for name in arms.judged if name != BOTH
        },
        "by": by_part(arms),
        "curves": curves,
        "texts": TEXTS,
        **own,
        "tables": [_table(arms), *own["tables"]],
    }


def _note(run: Run) -> str:
    """Return the necessary notes on the results."""
    notes = []
    if not run.info["finished"]:
        notes.append(
            "The training has not finished. So far, the run keeps the initial network, with the opening book. To resume"
            " the training, run the same kibitz personal command again."
        )
    elif run.info["kept"] == NOTHING:
        notes.append(
            "Training did not improve the initial network, so the run keeps the initial network, with the opening book."
        )
    if Run(run.info["base"]).weights_sha256() != run.info["started_from"]:
        notes.append(
            f"{run.info['base']} has other weights now than at the start of this run."
            " The baseline uses today's weights."
        )
    return " ".join(notes)


def _stranger(name: str | None, game: str) -> Run | None:
    """Open the run of another person. Raises UsageError for a run (the folder of a trained network) of another kind."""
    if name is None:
        return None
    other = Run(name)
    if other.person is None:
        raise UsageError(f"--stranger must be a run of kibitz personal (got {name}, a run of {other.info['system']})")
    if other.info["game"] != game:
        raise UsageError(
            f"--stranger must be a network for {GAME_NAMES[game]} (got {name}, a network for"
            f" {GAME_NAMES[other.info['game']]})"
        )
    return other


def figures_of(arms: Arms) -> Metrics:
    """Return a dict of metrics: the accuracy and log loss of each compared model, and the differences between models on
    the same moves. Each metric exists twice: over all moves, and over the moves after move 10.

    arms: the person's moves and the predictions of each model.
    """
    figures: Metrics = {}
    groups, everywhere = arms.groups, np.ones(len(arms.positions), np.bool_)
    for ending, mask in (("", everywhere), (LATE, arms.late)):
        if not mask.any():
            continue
        for arm, judged in arms.judged.items():
            figures[FIGURES[arm] + ending] = Metric(groups.mean(judged.right, mask))
        pairs = {"gain": (BOTH, BASE), "gain_book": (BOOK_ARM, BASE), "gain_adapters": (ADAPTED, BASE)}
        if STRANGER in arms.judged:
            pairs["self_minus_stranger"] = (ADAPTED, STRANGER)
        for name, (one, other) in pairs.items():
            gap = groups.difference(arms.judged[one].right, arms.judged[other].right, mask)
            figures[name + ending] = Metric(gap, "points")
        losses = {
            "log_loss" if arm == BOTH else f"log_loss_{arm}": groups.mean(judged.loss, mask)
            for arm, judged in arms.judged.items()
        }
        figures |= metrics("number", {name + ending: loss for name, loss in losses.items()})
    return figures


def _table(arms: Arms) -> Table:
    """Return the table with a row for each model: accuracy in all moves and in parts of them, and the log loss."""
    parts = {"first 10 moves": ~arms.late, "past move 10": arms.late, "seen": arms.seen, "unseen": ~arms.seen}
    rows: list[list[Cell]] = []
    for arm, judged in arms.judged.items():
        inside: list[Cell] = [arms.groups.mean(judged.right, mask) for mask in parts.values()]
        rows.append([LABELS[arm], arms.groups.mean(judged.right), *inside, arms.groups.mean(judged.loss)])
    rows.append(["moves", *(_count(len(arms.positions)), *(_count(int(mask.sum())) for mask in parts.values())), None])
    return Table(
        "Prediction of the person's moves",
        "Top-1 accuracy over all moves and over parts of them: a position is seen if the person moved in it in a "
        "training game. Log loss in nats.",
        "predicted by",
        [Column("all moves"), *(Column(name) for name in parts), Column("log loss", "number")],
        rows,
    )


def _count(number: int) -> str:
    return f"{number:,}"


def by_part(arms: Arms) -> dict[str, list[dict[str, Any]]]:
    """Return a dict from names to tables (lists of rows) of the accuracy on groups of moves, such as the first ten
    moves of a game. The accuracy is that of the complete personal model: the adapted network with the opening book.
    """
    right, groups, positions = arms.judged[BOTH].right, arms.groups, arms.positions
    parts = {
        "opening": slices(right, groups, arms.late.astype(int), labels=("first 10 moves", "after")),
        "position": slices(right, groups, (~arms.seen).astype(int), labels=("seen before", "not seen")),
    }
    colours = ("White", "Black")
    if positions.store.game == "go":
        parts["move number"] = slices(right, groups, positions.plies, edges=MOVES)
        colours = ("Black", "White")
    else:
        parts["phase"] = slices(right, groups, phase(positions.codes), labels=PHASES)
    parts["colour"] = slices(right, groups, positions.state[:, SIDE], labels=colours)
    return slices_as_json(parts)
