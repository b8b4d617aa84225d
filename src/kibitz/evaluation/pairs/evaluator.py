"""The test of the system (kind of network) `deepchess`, a network that compares two positions.

A pair is a position of a game that White won and a position of a game that Black won. The network is right if it
prefers the position from the game that White won. It gets the two positions in random order, as in training.

The main result is on games that were not used in training. For comparison, a second result is on other positions of the
training games. The authors of the paper about `deepchess` probably tested in this way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, UsageError
from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.pairs.answers import PairResults, as_tested, fill, intransitive, networks, pairs, preferred
from kibitz.evaluation.pairs.baselines import as_baselines, run_baselines, table
from kibitz.evaluation.pairs.distilled import distilled
from kibitz.evaluation.pairs.samples import page_samples
from kibitz.evaluation.pairs.split import LearnedPairs, learned, nothing_learned, split_figures, split_tables
from kibitz.evaluation.rows import PAIR, Eligible, Rows
from kibitz.evaluation.slices import PHASES, per_rating, slices_as_json
from kibitz.evaluation.tables import Cell, Column, Curve, CurvePoint, Metric, Metrics, Table, curve_points
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import log_loss, reliability, slices
from kibitz.store.store import Store
from kibitz.systems.deepchess import ComparisonNet, Settings, positions
from kibitz.text import number_of

TRIPLES = 50_000
PLIES = (0, 10, 20, 30, 40, 60, 80, 100, 140, np.inf)
MATERIAL_EDGES = (-np.inf, -8, -4, -2, 0, 1, 3, 5, 9, np.inf)
MATERIAL_WORDS = (
    "9 or more behind", "5 to 8 behind", "3 or 4 behind", "1 or 2 behind", "equal",
    "1 or 2 ahead", "3 or 4 ahead", "5 to 8 ahead", "9 or more ahead",
)  # fmt: skip
CURVE_STEP = 10
"""The number of plies (moves of one side) between two points of the curve of the accuracy."""
CURVE_MIN_GAMES = 20
"""The curve of the accuracy ends at the ply that fewer than this number of games reach. If the test has fewer games,
the curve ends with the shortest game.
"""


def evaluate(
    run: Run, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> dict[str, Any]:
    """Test a network on games of a store, and return the results as a dict. `kibitz.evaluation.Evaluation.evaluate`
    explains the arguments and the keys of the dict.

    The results are means over pairs of positions, and `config.positions` is the largest number of pairs.
    """
    settings, parts = as_tested(run.settings), networks(run)
    sample = positions(store, chosen.games, settings)
    of = pairs(store, sample, config.positions, config.seed)
    if of is None:
        raise KibitzError(_one_sided(store, chosen))
    results = fill(of, parts, on_progress, "unseen games")
    if chosen.seen:
        known = nothing_learned("the tested games are training games")
    else:
        known = learned(run, store, parts, config, on_progress)
    session = Session(run)
    others = run_baselines(results, config, session.threads, on_progress, log)
    on_progress("figures", 0, 1)
    data = describe(store, chosen, len(sample), len(sample))
    data |= {"pairs": of.possible, "pairs_tested": len(of)}
    data["split"] += (
        f"; {len(of):,} of the {number_of(of.possible, 'pair')} of their {number_of(len(sample), 'position')},"
        f" {drawn(settings)}"
    )
    data["note"] = note(store, chosen, parts)
    figures = {
        "accuracy": Metric(results.groups.mean(results.main.right, score=True)), **split_figures(known),
        **main_figures(results),
    }  # fmt: skip
    result = {
        "data": data,
        "headline": "accuracy",
        "figures": figures,
        "by": per_slice(results),
        "calibration": calibration(results),
        "baselines": as_baselines(others),
        "tables": [
            *split_tables(results, known), table(others), *distilled(run, results, known.other),
            properties(results, config.seed),
        ],
        "curves": [by_ply(results, known)],
        "texts": TEXTS,
        **page_samples(results, session, config.seed),
        "rows": _rows(results),
    }  # fmt: skip
    on_progress("figures", 1, 1)
    return result


def row_questions(run: Run) -> tuple[str, ...]:
    """Return the quantities by which the network can be compared with other networks. The result is ("pair",): the
    network predicts which of two positions is from the game that White won.
    """
    return (PAIR,)


def eligible(run: Run, store: Store, games: NDArray[np.int64], question: str | None) -> Eligible:
    """Raise UsageError, because these networks are tested on pairs and not on single positions. Use `rows_of_pairs`."""
    raise UsageError(
        f"{run.name} is tested on pairs of positions. Compare it with another network of the system 'deepchess'."
    )


def measure_rows(
    run: Run,
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    question: str,
    on_progress: Callable[[int, int], None],
) -> Rows:
    """Raise UsageError, because these networks are tested on pairs and not on single positions. Use `rows_of_pairs`."""
    raise UsageError(
        f"{run.name} is tested on pairs of positions. Compare it with another network of the system 'deepchess'."
    )


def rows_of_pairs(
    runs: Sequence[Run], store: Store, games: NDArray[np.int64], count: int, seed: int, on_progress: OnProgress
) -> list[Rows]:
    """Sample pairs of positions, and evaluate the same pairs with several networks. Returns the results of each network
    for each pair, see `kibitz.evaluation.rows.Rows`.

    runs: the networks; the settings of the first one determine how positions are sampled. games: int64 [k], the games
    to sample from, as indices in the store. count: the largest number of pairs. Raises KibitzError if no pair can be
    made.
    """
    of = pairs(store, positions(store, games, as_tested(runs[0].settings)), count, seed)
    if of is None:
        raise KibitzError(
            f"{store.path}: no pair of positions can be made from the unseen games. Choose another store."
        )
    return [_rows(fill(of, networks(run), on_progress, run.name)) for run in runs]


def _rows(results: PairResults) -> Rows:
    (games, other_games), (plies, other_plies) = (
        results.pairs.both(values) for values in (results.pairs.games, results.pairs.plies)
    )
    answers = results.main
    loss = log_loss(answers.chance, 1.0)
    return Rows(PAIR, games, plies, answers.right, loss, np.ones(len(games)), other_games, other_plies)


TEXTS = {
    "unit": "pairs",
    "counted": "pairs",
    "figures": "The bootstrap resamples games, separately for the games that White won and that Black won,"
    " because pairs with a common game are not independent.",
    "baselines": "How often simpler predictions prefer the position of the game that White won. If a baseline"
    " has fewer positions, the row below it shows the network on pairs of the same positions. The"
    " network `winner` is tested on games that it has not seen.",
    "calibration": "The predicted probability that the first position is better for White, and how often it is"
    " from the game that White won. On the dashed line, the two are equal.",
    "by": "Accuracy over parts of the pairs: by the mean ply of the two positions; by White's material"
    " in the position of the won game minus that in the lost game, in pawns; by the phase of both"
    " positions; by the mean rating of the four players. The dashed line is the accuracy over all"
    " pairs.",
    "games": "The games of the largest errors, with the probability after every move that the position is"
    " better for White than a balanced position.",
    "course": "Probability after every move that the position is better for White than a balanced"
    " position, from 0 (bottom) to 1 (top)",
}


def drawn(settings: Settings) -> str:
    """Return a description, for readers, of how a network's settings sample positions, such as "10 a game, not after a
    capture".
    """
    each = f"{settings.positions} a game" if settings.positions else "all of a game that qualify"
    opening = f"not from the first {settings.opening} moves" if settings.opening else ""
    captures = "" if settings.captures else "not after a capture"
    return ", ".join(words for words in (each, opening, captures) if words)


def note(store: Store, chosen: Chosen, parts: Mapping[str, ComparisonNet]) -> str:
    """Return remarks for readers of the result page: how the paper about the system (kind of network) `deepchess` forms
    pairs, which networks the tested run contains, and the source of the games.
    """
    lines = [
        "The paper's result is on pairs from 386,082 decisive games of engines (CCRL). As we read it, a game can have "
        "positions in training and in the test. The main result here is on "
        + ("games that the network has not seen." if not chosen.seen else f"{chosen.words}.")
    ]
    if list(parts) == ["distilled"]:
        lines.append("This is the distilled network. This run does not contain the full network, its teacher.")
    if bundled := bundled_note(store, chosen.games):
        lines.append(bundled)
    return " ".join(lines)


def _one_sided(store: Store, chosen: Chosen) -> str:
    result = store.column("result")[chosen.games]
    won, lost = int((result > 0).sum()), int((result < 0).sum())
    return (
        f"{store.path}: a pair needs a game that White won and a game that Black won. Of the {len(chosen.games):,}"
        f" games to test on ({chosen.words}), White won {won:,} and Black {lost:,}, or one side has no position that"
        " qualifies. Choose another store or another --split."
    )


def main_figures(results: PairResults) -> Metrics:
    """Return a dict of three metrics of the main network (`results.main`): its log loss in nats, its calibration error,
    and the difference in accuracy. The difference is the network's accuracy minus the accuracy of counting material, in
    percentage points.
    """
    answers, groups = results.main, results.groups
    chance, first = shown_first(results)
    return {
        "ahead_of_material_in_points": Metric(
            groups.difference(answers.right, preferred(results.material_difference)), "points"
        ),
        "log_loss": Metric(groups.mean(log_loss(answers.chance, 1.0)), "number"),
        "calibration_error": Metric(groups.calibration_error(chance, first), "number"),
    }


def shown_first(results: PairResults) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return two arrays, float64 [pairs] and bool [pairs]. The first is the predicted probability that the network's
    first input is the better position for White. The second is whether this input is from the game that White won.
    """
    first = results.pairs.first
    return np.where(first, results.main.chance, 1 - results.main.chance), first


def calibration(results: PairResults) -> list[dict[str, Any]]:
    """Return the observed frequency for each range of predicted probabilities, as rows of
    `kibitz.stats.reliability`.
    """
    return reliability(*shown_first(results), results.groups)


# Slices


def per_slice(results: PairResults) -> dict[str, list[dict[str, Any]]]:
    """Return a dict from names to tables (lists of rows) of the accuracy on groups of pairs, such as those in one phase
    of the game. Empty groups are omitted.
    """
    of, right, groups = results.pairs, results.main.right, results.groups
    stage, other = of.both(results.phase)
    tables = {
        "ply": slices(right, groups, mean_ply(results), edges=PLIES, labels=_ply_words(), score=True),
        "material difference": slices(
            right, groups, results.material_difference, edges=MATERIAL_EDGES, labels=MATERIAL_WORDS, score=True
        ),
        "phase": slices(
            right, groups, np.where(stage == other, stage, 3), labels=(*PHASES, "in two phases"), score=True
        ),
    }
    return slices_as_json(tables | per_rating(right, groups, rating(results)))


def mean_ply(results: PairResults) -> NDArray[np.float64]:
    """Return the mean ply (number of moves before the position) of the two positions of each pair, float64 [pairs]."""
    won, lost = results.pairs.both(results.pairs.plies)
    return np.asarray((won + lost) / 2)


def _ply_words() -> list[str]:
    inner = [f"{low}-{high - 1}" for low, high in pairwise(PLIES[:-1])]
    return [*inner, f"{PLIES[-2]} and over"]


def rating(results: PairResults) -> NDArray[np.int64]:
    """Return the mean rating of the four players of each pair's games, int64 [pairs]; -1 if a rating is unknown."""
    store, of = results.pairs.store, results.pairs
    columns = [store.column(f"{side}_rating").astype(np.int64)[of.games] for side in ("white", "black")]
    four = np.stack([column for values in columns for column in of.both(values)])
    return np.where((four > 0).all(0), four.sum(0) // 4, -1)


# Curve


def by_ply(results: PairResults, known: LearnedPairs) -> Curve:
    """Return three curves of the accuracy by ply, the number of moves before the positions.

    Two curves are for the network: on pairs of the tested games, and on held-out pairs of its training games. The third
    curve is for counting material on pairs of the tested games.
    """
    lines = [("games tested", results, results.main.right)]
    if known.other:
        lines.append(("training games", known.other, known.other.main.right))
    lines.append(("material, games tested", results, preferred(results.material_difference)))
    return Curve(
        "Through the game",
        "Accuracy by the mean ply of a pair's two positions, with 95% intervals: the network on pairs from the tested "
        "games, the network on held-out pairs from its training games, and material on pairs from the tested games. "
        "The lines end when few games are left.",
        "ply",
        [(name, _points(right, of)) for name, of, right in lines],
    )


def _points(right: NDArray[np.float64], of: PairResults) -> list[CurvePoint]:
    return curve_points(
        (mean_ply(of) // CURVE_STEP).astype(np.int64),
        lambda band: band * CURVE_STEP + CURVE_STEP / 2,
        functools.partial(of.groups.mean, right, score=True),
        min(CURVE_MIN_GAMES, of.groups.games),
    )


# Properties


def properties(results: PairResults, seed: int) -> Table:
    """Return a table of inconsistent predictions of each network: how often swapped inputs give contradictory
    predictions, and how often preferences form a circle.
    """
    rows: list[list[Cell]] = []
    for name, answers in results.answers.items():
        gap, changed = results.groups.means([answers.gap, answers.changed])
        games = results.pairs.games
        circles = intransitive(results.parts[name], results.features[name], games, TRIPLES, seed)
        rows.append([name, gap, changed, circles, circles.n])
    return Table(
        "Properties",
        "If the two positions of a pair are swapped, the outputs should add up to 1 and the decision should stay. "
        "If the network prefers a to b and b to c, it should not prefer c to a. Of random triples of tested positions, "
        "random decisions would make a quarter intransitive.",
        "network",
        [
            Column("error of p(a, b) + p(b, a) = 1", "number"),
            Column("order matters", "small share"),
            Column("intransitive triples", "small share"),
            Column("triples", "count"),
        ],
        rows,
    )
