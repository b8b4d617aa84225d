"""The test of the system (kind of network) `gocnn`, which predicts territory: the accuracy by phase of the game, and
the error of the predicted score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.owners.baselines import OwnerBaseline, as_baselines, run_baselines, table
from kibitz.evaluation.owners.points import BINS, KINDS, LINES, SURE, PointCounts
from kibitz.evaluation.owners.results import OwnerResults, measure, owners_of
from kibitz.evaluation.owners.samples import page_samples
from kibitz.evaluation.owners.volatility import by_owners, followed, volatility
from kibitz.evaluation.rows import OWNERS, EligiblePositions, Rows, make_rows, measure_in_batches
from kibitz.evaluation.slices import slices_as_json
from kibitz.evaluation.tables import Cell, Column, Curve, CurvePoint, Metric, Metrics, Table, curve_points
from kibitz.games.go.endings.referees import METHODS
from kibitz.games.go.ranks import FIRST_PROFESSIONAL, value_or_nan
from kibitz.play.go.ownership import SymmetryAverage, steady
from kibitz.play.session import NetworkSession, Session
from kibitz.runs import Run
from kibitz.stats import binned_reliability, slices
from kibitz.store.positions import Positions
from kibitz.store.store import Store

BATCH_SIZE = 512
"""The number of positions that are evaluated in one batch. A large network needs a second for a batch."""

MOVES = (*range(0, 301, 20), np.inf)
MOST_RIGHT = 0.96
"""An accuracy limit. The original description of `gocnn` states: "for most games the model achieves > 96% accuracy at
the end of the game".
"""
CURVE_STEP = 10
"""The number of moves between two points of the curve of the accuracy."""
CURVE_MIN_GAMES = 10
"""The curve of the accuracy ends at the move number that fewer than this number of games reach. If the test has fewer
games, the curve ends with the shortest game.
"""
STAGES = tuple(f"{10 * i} to {10 * i + 10}%" for i in range(10))
RANKS = (-np.inf, -8, 1, 4, 7, FIRST_PROFESSIONAL, np.inf)
RANK_WORDS = ("10 kyu and weaker", "9 to 1 kyu", "1 to 3 dan", "4 to 6 dan", "7 to 9 dan", "professional")
"""The names of the groups of ranks, in the order of their limits in RANKS."""


def evaluate(
    run: Run, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> dict[str, Any]:
    """Test a network on games of a store, and return the results as a dict. `kibitz.evaluation.Evaluation.evaluate`
    explains the arguments and the keys of the dict.

    Results over points use all points with a known final owner, so a large board has more weight than a small board.
    Results over positions (score, winner) count each position once.
    """
    session: NetworkSession = SymmetryAverage(Session(run)) if config.all_symmetries else Session(run)
    owners = owners_of(store)
    positions = Positions(store, chosen.games)
    indices = sample_indices(positions, config.positions, config.seed)
    marks = evaluate_in_batches(
        positions, indices, lambda batch: measure(session, owners, batch),
        lambda done, total: on_progress("positions", done, total), BATCH_SIZE,
    )  # fmt: skip
    results = OwnerResults(store, *positions.locate(indices), marks)
    data = describe(store, chosen, len(indices), len(positions))
    data["points_tested"] = int(marks["known"].sum(dtype=np.int64))
    data["note"] = note(store, chosen.games)
    followed_games = followed(chosen.games, config.positions)
    volatile = volatility(
        store, followed_games, by_owners(steady(session), store), lambda done, total: on_progress("games", done, total)
    )
    others = run_baselines(results, session, chosen.games, config, on_progress, log)
    on_progress("figures", 0, 1)
    result = {
        "data": data,
        "headline": "accuracy",
        "figures": figures(results) | volatile,
        "by": per_slice(results),
        "calibration": binned_reliability(marks["predicted"], marks["black"], marks["counts"], results.groups),
        "baselines": as_baselines(others),
        "tables": [through(results), table(others)],
        "curves": [by_move(results, others)],
        "texts": TEXTS,
        **page_samples(results, session, config.seed),
        "rows": _rows(results.games, results.plies, marks),
    }
    on_progress("figures", 1, 1)
    return result


def row_questions(run: Run) -> tuple[str, ...]:
    """Return the name of the quantity by which the network can be compared with other networks: the owners of
    points.
    """
    return (OWNERS,)


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
    session, owners = Session(run), owners_of(store)
    marks = measure_in_batches(
        store, games, plies, lambda batch: measure(session, owners, batch), on_progress, BATCH_SIZE
    )
    return _rows(games, plies, marks)


def _rows(games: NDArray[np.int64], plies: NDArray[np.int64], marks: PointCounts) -> Rows:
    known = np.maximum(marks["known"].astype(np.float64), 1)
    return make_rows(
        OWNERS, games, plies, marks["right"] / known, marks["squared"] / known, marks["known"].astype(np.float64)
    )


TEXTS = {
    "baselines": "Ownership accuracy of simpler predictions. If a baseline has other positions, the row below"
    " it shows the network on the same positions.",
    "calibration": "The predicted probability that Black owns an intersection, and how often Black owns it at"
    " the end. On the dashed line, the two are equal.",
    "by": "Ownership accuracy over parts of the positions, and over parts of the intersections: by the"
    " network's certainty, by the stone on the intersection, and by its line from the edge. The"
    " dashed line is the accuracy over all intersections.",
    "gallery": "Games at several stages. The color of a square shows the predicted owner, and its size the certainty. "
    "A cross marks an intersection with another owner at the end. The last move has a ring. A confident error is a "
    f"probability of {SURE:.0%} or more for the wrong side.",
    "mistakes": "Positions from the second half of a game with the most confident errors: intersections with a "
    f"probability of {SURE:.0%} or more for the wrong side.",
    "games": "The games of these positions. The curve is the ownership accuracy after every move.",
    "course": "Ownership accuracy after every move, from 0 (bottom) to 1 (top)",
    "counted": "points",
}


def figures(results: OwnerResults) -> Metrics:
    """Return a dict of metrics of the predicted territory and score, such as "accuracy" and "score_error"."""
    marks = results.marks
    last = results.plies == results.store.plies[results.games]
    return {
        "accuracy": Metric(results.accuracy()),
        "accuracy_over_all_points": Metric(results.accuracy_over_all_points()),
        "accuracy_in_last_tenth": Metric(results.accuracy(results.stage == 9)),
        "accuracy_after_last_move": Metric(results.accuracy(last)),
        "games_over_96_percent_at_the_end": Metric(results.games_over(MOST_RIGHT, last)),
        "squared_error": Metric(results.squared_error(), "error"),
        "calibration_error": Metric(
            results.groups.binned_calibration_error(
                marks["predicted"] - marks["black"].astype(np.float64), marks["known"]
            ),
            "number",
        ),
        "score_error": Metric(results.score_error(), "score"),
        "winner_accuracy": Metric(results.winner_accuracy()),
    }


def through(results: OwnerResults) -> Table:
    """Return a table with the accuracy and the errors of the predicted owners and score, for each tenth of the game,
    from the opening to the end.
    """
    rows: list[list[Cell]] = []
    for stage, words in enumerate(STAGES):
        mask = results.stage == stage
        if mask.any():
            of = (results.accuracy, results.squared_error, results.score_error, results.winner_accuracy)
            rows.append([words, *(figure(mask) for figure in of), int(mask.sum())])
    by_owners = results.winner_accuracy(score=results.area).value
    exact = "" if np.isnan(by_owners) else f" The final territory itself gives {by_owners:.1%} of the winners."
    return Table(
        "Accuracy by stage of the game",
        "By tenths of the game's moves. The score is Black's points minus White's, predicted over the whole board; its "
        "error is in points, relative to the final territory. The winner follows from this score and komi under the "
        f"game's rules.{exact}",
        "stage",
        [
            Column("points right"),
            Column("squared error", "error"),
            Column("score error", "score"),
            Column("winner accuracy"),
            Column("positions", "count"),
        ],
        rows,
    )


def by_move(results: OwnerResults, others: list[OwnerBaseline]) -> Curve:
    """Return a curve of the accuracy by the number of moves played, with one line for the network and one for each
    baseline.

    others: the baselines (simpler predictors).
    """
    groups = results.groups
    needed = min(CURVE_MIN_GAMES, groups.games)
    lines = [("the network", _points(results, None, CURVE_STEP, needed))]
    for one in filter(lambda each: each.names_owners, others):
        step = CURVE_STEP if one.network is results else 1  # baselines exist only after every 20 moves
        name = one.name.partition(" (")[0].partition(",")[0]
        lines.append((name, _points(one.network, one.own, step, needed)))
    return Curve(
        "Through the moves",
        "The share of points right by the number of moves played, with 95% intervals. Late moves are those of "
        f"long games; the lines end where fewer than {needed} games last.",
        "moves played",
        lines,
    )


def _points(results: OwnerResults, of: PointCounts | None, step: int, min_games: int) -> list[CurvePoint]:
    return curve_points(
        results.plies // step,
        lambda band: band * step + (step - 1) / 2,
        lambda mask: results.accuracy(mask, of),
        min_games,
    )


def per_slice(results: OwnerResults) -> dict[str, list[dict[str, Any]]]:
    """Return a dict from names to tables (lists of rows) of the accuracy. The rows are for groups of positions, such as
    those on 9 × 9, or groups of points, such as those on the first line. Empty groups, and tables with a single group,
    are omitted.
    """
    marks, groups = results.marks, results.groups
    right, known = marks["right"], marks["known"]

    def over_positions(key: NDArray[Any], **parts: Any) -> list[dict[str, Any]]:
        return slices(right, groups, key, over=known, **parts)

    def over_points(names: Any, right: NDArray[Any], known: NDArray[Any]) -> list[dict[str, Any]]:
        estimates = [groups.mean(right[:, i], over=known[:, i]) for i in range(len(names))]
        return [{"slice": name, "figure": figure} for name, figure in zip(names, estimates, strict=True)]

    counts, black = marks["counts"].astype(np.int64), marks["black"].astype(np.int64)
    # both slices go from the least certain bin to the most certain one
    for_black, for_white = slice(BINS // 2, None), slice(BINS // 2 - 1, None, -1)
    white_right = counts[:, for_white] - black[:, for_white]
    sure = [f"{50 + 10 * i} to {60 + 10 * i}% sure" for i in range(BINS // 2)]
    tables = {
        "move number": over_positions(results.plies, edges=MOVES),
        "stage": over_positions(results.stage, labels=STAGES),
        "confidence": over_points(sure, black[:, for_black] + white_right, counts[:, for_black] + counts[:, for_white]),
        "point": over_points(KINDS, marks["kind_right"], marks["kind_known"]),
        "line": over_points([str(i + 1) for i in range(LINES)], marks["line_right"], marks["line_known"]),
        "side to move": over_positions(marks["side"], labels=("Black", "White")),
        "weaker player": over_positions(_rank(results), edges=RANKS, labels=RANK_WORDS),
        "handicap": over_positions(results.of_game("handicap"), edges=(0, 1, 4, 7, np.inf)),
    }
    for name, column in (("board", "size"), ("rules", "rules"), ("ownership from", "labels")):
        words = [str(value) if value is not None else "unknown" for value in results.store.column(column)]
        labels = sorted({words[game] for game in np.unique(results.games)}, key=lambda word: (len(word), word))
        numbers = np.array([labels.index(word) if word in labels else -1 for word in words])
        tables[name] = over_positions(numbers[results.games], labels=labels)
    return {name: rows for name, rows in slices_as_json(tables).items() if len(rows) > 1}


def _rank(results: OwnerResults) -> NDArray[np.float64]:
    """Return the rank of the weaker player in each position's game, float64 [n]; NaN if a rank is unknown."""
    black, white = (
        np.array([value_or_nan(rank) for rank in results.store.column(f"{side}_rank")], np.float64)
        for side in ("black", "white")
    )
    return np.asarray(np.minimum(black, white)[results.games])


def note(store: Store, games: NDArray[np.int64]) -> str:
    """Return remarks for readers of the result page: how the games differ from those of the original work on the system
    (kind of network) `gocnn`, and which programs determined the final owners.

    games: int64 [n], indices in the store.
    """
    lines = [
        "The paper's result is over all positions of 150 games of professionals on 19 × 19 that were played to the "
        "end. It includes neutral intersections, with a random owner. Here neutral intersections are excluded. "
        "Only the accuracy over all intersections counts half of them as right."
    ]
    counted = store.column("ending")[games] == "counted"
    size, handicap = store.column("size")[games], store.column("handicap")[games]
    for words, like in (
        ("on 19 × 19", size == 19),
        ("even", handicap == 0),
        ("scored at the end", counted),
    ):
        if not like.all():
            lines.append(f"Of these games, {np.mean(like):.1%} are {words}.")
    referees = Counter("nobody" if name is None else str(name) for name in store.column("labels")[games])
    lines.append(f"The territory labels come from {' and '.join(_referees(referees))}.")
    if bundled := bundled_note(store, games):
        lines.append(bundled)
    return " ".join(lines)


def _referees(games: Counter[str]) -> list[str]:
    total = sum(games.values())
    return [
        METHODS.get(name, name) + (f" ({count / total:.1%} of the games)" if len(games) > 1 else "")
        for name, count in games.most_common()
    ]
