"""The test of the system (kind of network) `winner`: the accuracy and the example positions, as in the blog post that
first described this network. Calibration, baselines, and results for groups of positions are added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.baselines import StockfishBaseline, baseline
from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.positions.split import by_position
from kibitz.evaluation.rows import WINNER, EligiblePositions, Rows, make_rows, measure_in_batches, winner_right
from kibitz.evaluation.samples import DiverseSampler, curve, game_curve, position, records
from kibitz.evaluation.slices import PHASES, VALUES, per_rating, per_speed, slices_as_json
from kibitz.evaluation.tables import Metric
from kibitz.games.chess.material import phase
from kibitz.games.chess.replay import SIDE
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap, log_loss, reliability, slices
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store

OUTPUT, MEANING = "white_wins", "White wins"

GALLERY = (
    (0.9, 1.0, "Surely White"), (0.8, 0.9, "White"), (0.65, 0.8, "Rather White"), (0.45, 0.55, "Even"),
    (0.2, 0.35, "Rather Black"), (0.1, 0.2, "Black"), (0.0, 0.1, "Surely Black"),
)  # fmt: skip
"""The bands (ranges) of White's win probability for which the page shows examples, as in the blog post: lowest and
highest value, and title.
"""

IN_BAND, SHOWN = 4, 12
"""The number of right and of wrong positions that the page shows for each band, and the number of hardest positions and
of mistakes.
"""

PLIES = (0, 10, 20, 30, 40, 60, 80, 100, 140, np.inf)
MATERIAL = (-np.inf, -8, -4, -2, 0, 1, 3, 5, 9, np.inf)
MATERIAL_WORDS = (
    "Black 9 or more up", "Black 5 to 8 up", "Black 3 or 4 up", "Black 1 or 2 up", "equal",
    "White 1 or 2 up", "White 3 or 4 up", "White 5 to 8 up", "White 9 or more up",
)  # fmt: skip


@dataclass(frozen=True)
class PositionResults:
    """The tested positions of a network that predicts the winner. All arrays have one entry per position.

    store: the database of games.
    games, plies: int64, the positions: the index of a game in the store, and the number of moves before the position.
    chance: float32, the predicted probability that White wins.
    won: bool, whether White won.
    material: int16, White's material minus Black's, in pawns.
    phase: int64, 0 opening, 1 middlegame, 2 endgame.
    side: uint8, the side to move, 0 White, 1 Black.
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
    def right(self) -> NDArray[Any]:
        """Whether the network predicts the right winner, [n]. A win probability of exactly 0.5 is half right (see
        `winner_right`).
        """
        return winner_right(self.chance, self.won)

    def of_game(self, column: str) -> NDArray[Any]:
        """Return a property of the game of each position, such as White's rating, as an array [n].

        column: the name of the property, which is a column of the store's table of games.
        """
        return self.store.column(column)[self.games]


def measure(session: Session, batch: Batch) -> dict[str, NDArray[Any]]:
    """Evaluate a batch of positions. Returns a dict of the arrays "chance", "material", "phase" and "side", [n] each,
    which `PositionResults` describes.
    """
    return {
        "chance": session.evaluate(batch.codes, batch.state)[OUTPUT],
        "material": VALUES[batch.codes].sum(1, dtype=np.int16),
        "phase": phase(batch.codes),
        "side": batch.state[:, SIDE],
    }


def evaluate(
    run: Run, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> dict[str, Any]:
    """Test a network on games of a store, and return the results as a dict. `kibitz.evaluation.Evaluation.evaluate`
    explains the arguments and the keys of the dict.
    """
    session = Session(run)
    positions = Positions(store, chosen.games)
    indices = sample_indices(positions, config.positions, config.seed)
    columns = evaluate_in_batches(
        positions,
        indices,
        lambda batch: measure(session, batch),
        lambda done, total: on_progress("positions", done, total),
    )
    games, plies = positions.locate(indices)
    won = store.column("result") > 0
    results = PositionResults(store, games, plies, won=won[games], **columns)
    data = describe(store, chosen, len(indices), len(positions))
    if note := bundled_note(store, chosen.games) or protocol_note(store, chosen.games):
        data["note"] = note
    groups = ClusterBootstrap(results.games)
    beside = baselines(results, groups, StockfishBaseline(config, session.threads, on_progress, log))

    def answers(games: NDArray[np.int64], plies: NDArray[np.int64]) -> list[NDArray[Any]]:
        marks = measure_in_batches(
            store, games, plies, lambda batch: measure(session, batch),
            lambda done, total: on_progress("training games", done, total),
        )  # fmt: skip
        return judged(marks["chance"], marks["material"], won[games])

    split_figures, split_tables = by_position(
        run, store, config, answers, (groups, judged(results.chance, results.material, results.won))
    )
    on_progress("figures", 0, 1)
    figures = {
        "accuracy": Metric(groups.mean(results.right, score=True)),
        "log_loss": Metric(groups.mean(log_loss(results.chance, results.won)), "number"),
        "calibration_error": Metric(groups.calibration_error(results.chance, results.won), "number"),
    } | split_figures
    result = {
        "data": data,
        "headline": "accuracy",
        "figures": figures,
        **({"tables": split_tables} if split_tables else {}),
        "by": per_slice(results, groups),
        "calibration": reliability(results.chance, results.won, results.games),
        "baselines": beside,
        "texts": {
            "baselines": "Accuracy of simpler predictions. If a baseline has fewer positions, the row below"
            " it shows the network on the same positions.",
            "by": "Accuracy over parts of the positions. Material is in pawns, and the rating is the"
            " mean of both players. The dashed line is the accuracy over all positions.",
        },
        **page_samples(results, session, config.seed),
        "rows": _rows(games, plies, results.chance, results.won),
    }
    on_progress("figures", 1, 1)
    return result


def row_questions(run: Run) -> tuple[str, ...]:
    """Return the name of the quantity by which the network can be compared with other networks: "winner"."""
    return (WINNER,)


def eligible(run: Run, store: Store, games: NDArray[np.int64], question: str | None) -> EligiblePositions:
    """Return the positions on which the network can be tested: all positions of these games, including the last one.

    games: int64 [k], indices in the store. question: the predicted quantity, which has no effect here.
    """
    return EligiblePositions(Positions(store, games))


def measure_rows(
    run: Run,
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    question: str,
    on_progress: Callable[[int, int], None],
) -> Rows:
    """Evaluate positions of a store, and return the result of each position, see `kibitz.evaluation.rows.Rows`.

    games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
    position. question: the predicted quantity, which has no effect here.
    """
    session = Session(run)
    chance = measure_in_batches(
        store, games, plies, lambda batch: {"chance": session.evaluate(batch.codes, batch.state)[OUTPUT]}, on_progress
    )["chance"]
    return _rows(games, plies, chance, store.column("result")[games] > 0)


def _rows(
    games: NDArray[np.int64], plies: NDArray[np.int64], chance: NDArray[np.float32], won: NDArray[np.bool_]
) -> Rows:
    return make_rows(WINNER, games, plies, winner_right(chance, won), log_loss(chance, won))


def protocol_note(store: Store, games: NDArray[np.int64]) -> str | None:
    """Return a text that describes how the games differ from the games of the blog post about the system (kind of
    network) `winner`; None if they don't differ.

    games: int64 [k], indices in the store.
    """
    mates = float(np.mean(store.column("ending")[games] == "checkmate"))
    ratings = np.minimum(store.column("white_rating")[games], store.column("black_rating")[games])
    strong = float(np.mean(ratings > 2000))
    if mates == 1 and strong == 1:
        return None
    return (
        "The paper's result is on games of players rated over 2000 that ended in mate. "
        f"Of these games {_share(mates)} ended in mate, and {_share(strong)} are known to be of two such players."
    )


def _share(share: float) -> str:
    return "none" if share == 0 else "all" if share == 1 else "nearly all" if share > 0.999 else f"{share:.1%}"


# Slices


def per_slice(results: PositionResults, groups: ClusterBootstrap) -> dict[str, list[dict[str, Any]]]:
    """Return a dict from names to tables (lists of rows) of the accuracy on groups of positions, such as those in one
    phase of the game. Empty groups are omitted.

    groups: the positions grouped by game, for computing means with confidence intervals.
    """
    right = results.right
    white, black = (results.of_game(f"{side}_rating").astype(np.int64) for side in ("white", "black"))
    rating = np.where((white > 0) & (black > 0), (white + black) // 2, -1)
    tables = {
        "ply": slices(right, groups, results.plies, edges=PLIES, score=True),
        "phase": slices(right, groups, results.phase, labels=PHASES, score=True),
        "material": slices(right, groups, results.material, edges=MATERIAL, labels=MATERIAL_WORDS, score=True),
        "side to move": slices(right, groups, results.side, labels=("White", "Black"), score=True),
    }
    tables |= per_rating(right, groups, rating)
    return slices_as_json(tables | per_speed(right, groups, results.store, results.games))


# Baselines


def answered(score: NDArray[Any], won: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return whether a score predicts the winner, float64 [n]: 1 if the side with the better score won, 0 if it lost,
    0.5 if the score is 0.

    score: [n], above 0 if White is better. won: bool [n], whether White won.
    """
    return np.where(score == 0, 0.5, (score > 0) == won)


def judged(chance: NDArray[np.float32], material: NDArray[np.int16], won: NDArray[np.bool_]) -> list[NDArray[Any]]:
    """Return the correctness of two predictors in each position, as two arrays, [n] each, 0 to 1. The predictors are
    the network, and the rule that the side with more material wins.

    chance: float32 [n], White's win probability. material: int16 [n], White's material minus Black's, in pawns. won:
    bool [n], whether White won.
    """
    return [winner_right(chance, won), answered(material, won)]


def baselines(results: PositionResults, groups: ClusterBootstrap, stockfish: StockfishBaseline) -> dict[str, Any]:
    """Return a dict from the keys of the baselines (simpler predictors) to their results. If a baseline was tested on
    only some of the positions, a second entry is the network's result on the same positions.

    results: the network's results. groups: the positions grouped by game. stockfish: the object that tests Stockfish.
    """
    white, black = (results.of_game(f"{side}_rating").astype(np.int64) for side in ("white", "black"))
    rated = (white > 0) & (black > 0)
    baselines = {
        "always_white": baseline("always White", groups.mean(results.won)),
        "material": baseline(
            "more material (ties count half)", groups.mean(answered(results.material, results.won), score=True)
        ),
    }
    if rated.any():
        higher = groups.mean(answered(white - black, results.won), rated, score=True)
        baselines["rating"] = baseline("higher rating (ties count half)", higher)
        if not rated.all():
            same = groups.mean(results.right, rated, score=True)
            baselines["network_beside_rating"] = baseline("the network, where both ratings are known", same)
    return baselines | stockfish.compare(
        results.store, results.games, results.plies, results.right,
        lambda answers, some: answered(np.array([answer.centipawns for answer in answers]), results.won[some]),
    )  # fmt: skip


# The samples of the HTML report: the gallery, the hardest positions and the mistakes


def page_samples(results: PositionResults, session: Session, seed: int) -> dict[str, Any]:
    """Return the examples for the result page by their JSON keys: positions in which the prediction is uncertain, or
    certain and wrong, and their games.
    """
    order = np.random.default_rng(seed).permutation(len(results.games))
    sampler = DiverseSampler(results.store, results.games, results.plies)
    bands = []
    for low, high, _ in GALLERY:
        inside = (results.chance >= low) & ((results.chance < high) | (high == 1))
        bands.append(
            [sampler.take(order[(inside & (results.right == right))[order]], IN_BAND) for right in (True, False)]
        )
    hardest = _pick(results, np.abs(results.chance - 0.5), np.ones_like(results.won))
    mistakes = _pick(results, -np.abs(results.chance - 0.5), results.right == 0)
    linked = [*hardest, *mistakes]
    known = records(
        results.store, (int(results.games[i]) for i in [*linked, *(i for band in bands for p in band for i in p)])
    )

    def row(index: int) -> dict[str, Any]:
        game_ply = (int(results.games[index]), int(results.plies[index]))
        return position(known[game_ply[0]], game_ply, round(float(results.chance[index]), 4), MEANING)

    # The ply that a link to a game opens. If several positions of a game are shown, a mistake is preferred.
    link_to = {int(results.games[i]): int(results.plies[i]) for i in linked}
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
            str(game): game_curve(known[game], curve(session, results.store, game, OUTPUT), ply)
            for game, ply in link_to.items()
        },
    }


def _pick(results: PositionResults, key: NDArray[np.float32], among: NDArray[np.bool_]) -> list[int]:
    """Return the positions with the smallest keys, each from a different game."""
    candidates = np.flatnonzero(among)
    order = candidates[np.argsort(key[candidates], kind="stable")]
    return DiverseSampler(results.store, results.games, results.plies).take(order, SHOWN)
