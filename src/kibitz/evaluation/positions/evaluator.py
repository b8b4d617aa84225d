"""The examination of `winner`: the post's accuracy and gallery; calibration, slices and baselines beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kibitz.evaluation import Plan, Tell
from kibitz.evaluation.baselines import Yardstick, baseline
from kibitz.evaluation.batches import draw, gather
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.samples import Picker, curve, position, records, story
from kibitz.evaluation.slices import PHASES, VALUES, as_by, by_rating, by_speed
from kibitz.games.chess.replay import SIDE
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ByGame, log_loss, reliability, slices
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store
from kibitz.systems.winner import phase

OUTPUT, MEANING = "white_wins", "White wins"

GALLERY = (
    (0.9, 1.0, "Surely White"), (0.8, 0.9, "White"), (0.65, 0.8, "Rather White"), (0.45, 0.55, "Even"),
    (0.2, 0.35, "Rather Black"), (0.1, 0.2, "Black"), (0.0, 0.1, "Surely Black"),
)  # fmt: skip
"""The post's bands of probability."""

IN_BAND, SHOWN = 4, 12
"""Positions of a band that are right, and as many that are wrong; hardest positions, and as many mistakes."""

PLIES = (0, 10, 20, 30, 40, 60, 80, 100, 140, np.inf)
MATERIAL = (-np.inf, -8, -4, -2, 0, 1, 3, 5, 9, np.inf)
MATERIAL_WORDS = (
    "Black 9 or more up", "Black 5 to 8 up", "Black 3 or 4 up", "Black 1 or 2 up", "equal",
    "White 1 or 2 up", "White 3 or 4 up", "White 5 to 8 up", "White 9 or more up",
)  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """The tested positions, one entry of each array a position.

    games, plies: where they are; chance: the network's probability that White wins; won: White did; material: in pawns,
    White's view; phase: 0 opening, 1 middlegame, 2 endgame; side: 0 White to move, 1 Black.
    """

    store: Store
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    chance: NDArray[np.float32]
    won: NDArray[np.bool_]
    material: NDArray[np.int16]
    phase: NDArray[np.int64]
    side: NDArray[np.uint8]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Where the network is right, at threshold 0.5."""
        right: NDArray[np.bool_] = (self.chance > 0.5) == self.won
        return right

    def of_game(self, column: str) -> NDArray[Any]:
        """A column of the store's table, position by position."""
        return self.store.column(column)[self.games]


def measure(session: Session, batch: Batch) -> dict[str, NDArray[Any]]:
    """What a Sheet keeps of a batch of positions."""
    return {
        "chance": session.evaluate(batch.codes, batch.state)[OUTPUT],
        "material": VALUES[batch.codes].sum(1, dtype=np.int16),
        "phase": phase(torch.from_numpy(batch.codes)).numpy(),
        "side": batch.state[:, SIDE],
    }


def examine(
    run: Run, store: Store, chosen: Chosen, plan: Plan, tell: Tell, say: Callable[[str], None]
) -> dict[str, Any]:
    """The system's part of a result, see `kibitz.evaluation.Examination`."""
    session = Session(run)
    positions = Positions(store, chosen.games)
    numbers = draw(positions, plan.positions, plan.seed)
    found = gather(
        positions, numbers, lambda batch: measure(session, batch), lambda done, total: tell("positions", done, total)
    )
    games, plies = positions.locate(numbers)
    sheet = Sheet(store, games, plies, won=store.column("result")[games] > 0, **found)
    data = describe(store, chosen, len(numbers), len(positions))
    if note := bundled_note(store, chosen.games) or protocol_note(store, chosen.games):
        data["note"] = note
    groups = ByGame(sheet.games)
    beside = baselines(sheet, groups, Yardstick(plan, session.threads, tell, say))
    tell("figures", 0, 1)
    figures = {
        "accuracy": groups.mean(sheet.right),
        "log_loss": groups.mean(log_loss(sheet.chance, sheet.won)),
        "calibration_error": groups.calibration_error(sheet.chance, sheet.won),
    }
    result = {
        "data": data,
        "headline": "accuracy",
        "figures": {name: figure.as_json() for name, figure in figures.items()},
        "by": by(sheet, groups),
        "calibration": reliability(sheet.chance, sheet.won, sheet.games),
        "baselines": beside,
        "texts": {
            "baselines": "How often simpler answers are right. Where one was asked for some of the positions only, the "
            "network's figure on those very positions stands below it.",
            "by": "Accuracy over parts of the positions; material in pawns, rating as the mean of both players. "
            "The dashed line is the accuracy over all positions.",
        },
        **shown(sheet, session, plan.seed),
    }
    tell("figures", 1, 1)
    return result


def protocol_note(store: Store, games: NDArray[np.int64]) -> str | None:
    """Where the games differ from those of the post, in words; None where they do not."""
    mates = float(np.mean(store.column("ending")[games] == "checkmate"))
    ratings = np.minimum(store.column("white_rating")[games], store.column("black_rating")[games])
    strong = float(np.mean(ratings > 2000))
    if mates == 1 and strong == 1:
        return None
    return (
        "The paper's figure is on games of players rated over 2000 that ended in mate. "
        f"Of these games {_share(mates)} ended in mate, and {_share(strong)} are known to be of two such players."
    )


def _share(share: float) -> str:
    return "none" if share == 0 else "all" if share == 1 else "nearly all" if share > 0.999 else f"{share:.1%}"


# Slices


def by(sheet: Sheet, groups: ByGame) -> dict[str, list[dict[str, Any]]]:
    """Accuracy over parts of the positions; parts without any are left out."""
    right = sheet.right
    white, black = (sheet.of_game(f"{side}_rating").astype(np.int64) for side in ("white", "black"))
    rating = np.where((white > 0) & (black > 0), (white + black) // 2, -1)
    tables = {
        "ply": slices(right, groups, sheet.plies, edges=PLIES),
        "phase": slices(right, groups, sheet.phase, labels=PHASES),
        "material": slices(right, groups, sheet.material, edges=MATERIAL, labels=MATERIAL_WORDS),
        "side to move": slices(right, groups, sheet.side, labels=("White", "Black")),
    }
    tables |= by_rating(right, groups, rating)
    return as_by(tables | by_speed(right, groups, sheet.store, sheet.games))


# Baselines


def answered(score: NDArray[Any], won: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How right the side is that a score (White's view) prefers: 1, 0, or one half where it prefers none."""
    return np.where(score == 0, 0.5, (score > 0) == won)


def baselines(sheet: Sheet, groups: ByGame, yardstick: Yardstick) -> dict[str, Any]:
    """Figures of simpler answers by key; one over some of the positions is followed by the network's there."""
    white, black = (sheet.of_game(f"{side}_rating").astype(np.int64) for side in ("white", "black"))
    rated = (white > 0) & (black > 0)
    found = {
        "always_white": baseline("always White", groups.mean(sheet.won)),
        "material": baseline("more material (equal: half right)", groups.mean(answered(sheet.material, sheet.won))),
    }
    if rated.any():
        higher = groups.mean(answered(white - black, sheet.won), rated)
        found["rating"] = baseline("higher rating (equal: half right)", higher)
        if not rated.all():
            same = groups.mean(sheet.right, rated)
            found["network_beside_rating"] = baseline("the network, where both ratings are known", same)
    return found | yardstick.beside(
        sheet.store, sheet.games, sheet.plies, sheet.right,
        lambda answers, some: answered(np.array([answer.centipawns for answer in answers]), sheet.won[some]),
    )  # fmt: skip


# Gallery, hardest positions and mistakes


def shown(sheet: Sheet, session: Session, seed: int) -> dict[str, Any]:
    """What the page shows of single positions, and the games of the hardest and of the mistakes."""
    order = np.random.default_rng(seed).permutation(len(sheet.games))
    picker = Picker(sheet.store, sheet.games, sheet.plies)
    bands = []
    for low, high, _ in GALLERY:
        inside = (sheet.chance >= low) & ((sheet.chance < high) | (high == 1))
        bands.append([picker.take(order[(inside & (sheet.right == right))[order]], IN_BAND) for right in (True, False)])
    hardest = _pick(sheet, np.abs(sheet.chance - 0.5), np.ones_like(sheet.won))
    mistakes = _pick(sheet, -np.abs(sheet.chance - 0.5), ~sheet.right)
    kept = [*hardest, *mistakes]
    known = records(
        sheet.store, (int(sheet.games[i]) for i in [*kept, *(i for band in bands for p in band for i in p)])
    )

    def row(index: int) -> dict[str, Any]:
        place = (int(sheet.games[index]), int(sheet.plies[index]))
        return position(known[place[0]], place, round(float(sheet.chance[index]), 4), MEANING)

    link_to = {int(sheet.games[i]): int(sheet.plies[i]) for i in kept}  # a mistake's ply, where a game has both
    return {
        "gallery": [
            {
                "band": [low, high],
                "title": title,
                "correct": [row(i) for i in correct],
                "wrong": [row(i) for i in wrong],
            }
            for (low, high, title), (correct, wrong) in zip(GALLERY, bands, strict=True)
        ],
        "hardest": [row(i) for i in hardest],
        "mistakes": [row(i) for i in mistakes],
        "games": {
            str(game): story(known[game], curve(session, sheet.store, game, OUTPUT), ply)
            for game, ply in link_to.items()
        },
    }


def _pick(sheet: Sheet, key: NDArray[np.float32], among: NDArray[np.bool_]) -> list[int]:
    """Positions of the smallest keys, each of another game."""
    candidates = np.flatnonzero(among)
    order = candidates[np.argsort(key[candidates], kind="stable")]
    return Picker(sheet.store, sheet.games, sheet.plies).take(order, SHOWN)
