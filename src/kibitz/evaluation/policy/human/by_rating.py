"""Metrics and tables of the system (kind of network) `human` by the rating of the player to move, for predicted moves
and game results.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.policy.human.results import HumanResults, rating_bands, winner_right
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table, metrics
from kibitz.stats import ClusterBootstrap, Estimate, log_loss


def moves_by_rating(results: HumanResults) -> tuple[Metrics, Table]:
    """Return the accuracy, log loss and perplexity of the predicted moves: as a dict of metrics over all positions, and
    as a table by the rating of the player to move.
    """
    marks, groups = results.marks, results.groups
    loss = log_loss(marks["chance"], 1)
    columns = [*(marks["rank"] <= k for k in (1, 3, 5)), loss]
    one, three, five, nats = groups.means(columns)
    figures = metrics("share", {"accuracy": one, "accuracy_at_3": three, "accuracy_at_5": five})
    figures |= metrics("number", {"log_loss": nats, "perplexity": _exp(nats)})
    rows: list[list[Cell]] = []
    for band, inside in rating_bands(results.rating):
        row = groups.means(columns, inside)
        rows.append([band, *row, float(np.exp(row[3].value)), row[0].n])
    return figures, Table(
        "Move prediction by rating",
        "Top-k accuracy, log loss in nats, and perplexity: the number of equally likely moves that would have this log "
        "loss. The rating is that of the player to move.",
        "rating",
        [
            Column("top-1"),
            Column("top-3"),
            Column("top-5"),
            Column("log loss", "number"),
            Column("perplexity", "number"),
            Column("moves", "count"),
        ],
        rows,
    )


def _exp(estimate: Estimate) -> Estimate:
    value, low, high = (float(np.exp(end)) for end in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high, estimate.n, estimate.games)


def results_by_rating(results: HumanResults) -> tuple[Metrics, Table]:
    """Return the accuracy, log loss and calibration of the predicted probabilities of win, draw and loss: as a dict of
    metrics over all positions, and as a table by the rating of the player to move. The network must have the output
    `outcome`, which contains these probabilities.
    """
    marks, groups = results.marks, results.groups
    given = np.select([results.result > 0, results.result == 0], [marks["win"], marks["draw"]], marks["loss"])
    loss = log_loss(given, 1)
    winner = winner_right(marks, results.result)
    losses = {
        "outcome_log_loss": groups.mean(loss),
        "outcome_log_loss_of_shares": groups.mean(_share_loss(results.result)),
    }
    errors = {
        "win_calibration_error": groups.calibration_error(marks["win"], results.result > 0),
        "first_choice_calibration_error": groups.calibration_error(marks["surest"], results.right),
    }
    figures = metrics("number", losses) | _winner_figures(results, winner) | metrics("number", errors)
    rows: list[list[Cell]] = []
    for band, inside in rating_bands(results.rating):
        own, decided = ClusterBootstrap(results.games[inside]), results.result[inside] != 0
        rows.append([
            band, own.mean(winner[inside], decided, score=True), own.mean(loss[inside]),
            own.calibration_error(marks["win"][inside], results.result[inside] > 0),
            own.calibration_error(marks["draw"][inside], results.result[inside] == 0),
            own.calibration_error(marks["surest"][inside], results.right[inside]), int(inside.sum()),
        ])  # fmt: skip
    return figures, Table(
        "Result prediction by rating",
        "Winner accuracy in decisive games, log loss of win, draw and loss in nats, and expected calibration errors: "
        "of the probabilities of a win, of a draw, and of the top-1 move.",
        "rating",
        [
            Column("winner accuracy"),
            Column("log loss", "number"),
            Column("error of wins"),
            Column("error of draws"),
            Column("error of top-1"),
            Column("moves", "count"),
        ],
        rows,
    )


def _winner_figures(results: HumanResults, winner: NDArray[np.float64]) -> Metrics:
    """Return how often the predicted winner won and, for comparison, how often the player with the higher rating
    won.
    """
    decided = results.result != 0
    if not decided.any():
        return {}
    groups = results.groups
    figures = {"winner_accuracy": Metric(groups.mean(winner, decided, score=True))}
    rated = decided & (results.rating > 0) & (results.opponent > 0)
    if rated.any():
        gap = results.rating - results.opponent
        higher = np.where(gap == 0, 0.5, (gap > 0) == (results.result > 0))
        figures["winner_accuracy_of_higher_rating"] = Metric(groups.mean(higher, rated, score=True))
        figures["winner_accuracy_where_rated"] = Metric(groups.mean(winner, rated, score=True))
    return figures


def _share_loss(result: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log loss of predicting the frequencies of wins, draws and losses in every position."""
    shares = np.bincount(result + 1, minlength=3) / len(result)
    return log_loss(shares[result + 1], 1)
