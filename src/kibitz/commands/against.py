"""The option --against of `kibitz test`: compare two networks on the same positions."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from kibitz.commands.tables import print_table
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.evaluation import OnProgress
    from kibitz.runs import Run
    from kibitz.store.store import Store


def compare_with(run: Run, other: str, store: Store, positions: int, as_json: bool, on_progress: OnProgress) -> None:
    """Compare the accuracy of two runs (trained networks) on the same positions, and print the result. The positions
    are from games that neither network was trained on.

    run: the first run. other: the name or folder of the second run.
    store: the database of games.
    positions: the largest number of positions.
    as_json: whether to print JSON in place of a table.
    on_progress: a function that is called with the progress.

    Raises UsageError if the networks predict different quantities, and KibitzError if no suitable game is left.
    """
    from kibitz.evaluation.compare import compare_runs
    from kibitz.evaluation.rows import QUESTIONS
    from kibitz.runs import Run

    opponent = Run(other)
    opponent.trained()
    found = compare_runs(run, opponent, store, count=positions, on_progress=on_progress)
    estimates = {"a": found.a, "b": found.b, "difference": found.difference}
    if found.loss is not None:
        estimates["loss_difference"] = found.loss
    if as_json:
        figures = {name: estimate.as_json() for name, estimate in estimates.items()}
        result = {
            "a": run.name, "b": opponent.name, "question": found.question, "store": str(store.path),
            "fingerprint": store.fingerprint, "games": found.games, "seen_games_left_out": found.seen,
            "positions_tested": len(found.rows_a), "figures": figures,
        }  # fmt: skip
        print(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from kibitz.report.numbers import figure_text, interval_text
    from kibitz.stats import Kind

    labels: dict[str, tuple[str, Kind]] = {
        "a": (run.name, "share"),
        "b": (opponent.name, "share"),
        "difference": (f"{run.name} minus {opponent.name}, percentage points", "points"),
        "loss_difference": (f"{run.name} minus {opponent.name}, log loss", "number"),
    }
    rows = []
    for name, estimate in estimates.items():
        label, kind = labels[name]
        figure = estimate.as_json()
        rows.append((label, figure_text(figure["value"], kind), interval_text(figure, kind), f"{estimate.n:,}",
                     f"{estimate.games:,}"))  # fmt: skip
    print(
        f"{run.name} and {opponent.name} on {store.path}: {number_of(found.games, 'game')} that neither network was"
        " trained on"
    )
    print(f"question: {QUESTIONS.get(found.question, found.question.replace('_', ' '))}")
    print()
    print_table("", ("right answers", "value", "95% interval", "positions", "games"), rows, right=(1, 2, 3, 4))
    print()
    if math.isnan(found.difference.low):
        print(
            "There is no interval, because all positions are from one game. One game does not show which network is "
            "better."
        )
    elif found.difference.low > 0 or found.difference.high < 0:
        better = run.name if found.difference.value > 0 else opponent.name
        print(f"{better} is better: the interval of the difference does not contain 0.")
    else:
        print("The interval of the difference contains 0: these positions do not show which network is better.")
