"""The learning curve of a personal network: its accuracy after training on 20, 50, 100, … of the games."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import OnProgress
from kibitz.evaluation.policy.personal.arms import ADAPTED, BASE, BOOK_ARM, BOTH, compare
from kibitz.evaluation.tables import Curve, CurvePoint
from kibitz.personal.fitting import PersonalRequest, make
from kibitz.personal.games import LEAST, add_games, in_time
from kibitz.personal.names import present
from kibitz.runs import Run
from kibitz.store.split import TEST
from kibitz.store.store import Store
from kibitz.text import number_of

SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000)
NAMES = {BOTH: "adapters and book", BOOK_ARM: "book", ADAPTED: "adapters", BASE: "base"}


def learning_curve(
    run: Run, store: Store, tested: NDArray[np.int64], on_progress: OnProgress, log: Callable[[str], None]
) -> Curve:
    """Return the learning curve of a personal network: the accuracy on the tested games by the number of training
    games. The diagram has four lines: the base network and the adapted network, each with and without the opening book.

    run: the personal network. tested: int64 [n], the tested games, as indices in the store.

    The numbers of training games are 20, 50, 100, …. The last number is that of all games outside the test split. For
    each number except the last, a temporary network is trained on this number of the person's newest games outside the
    test split. For the last number, `run` itself is tested.

    Raises KibitzError if the run (the folder of a trained network) was trained on another store.
    """
    if store.fingerprint != run.info["data"]["fingerprint"]:
        raise KibitzError(
            f"--learning-curve needs the store that {run.name} was trained on (got {store.path}). Leave the store out."
        )
    order = in_time(store)
    before = order[~np.isin(order, np.flatnonzero(store.sides(run.split) == TEST))]
    games = len(before)
    sizes = [size for size in SIZES if LEAST <= size < games]
    lines: dict[str, list[CurvePoint]] = {name: [] for name in NAMES}
    with tempfile.TemporaryDirectory(prefix="kibitz-") as folder:
        for done, size in enumerate(sizes):
            on_progress("learning curve", done, len(sizes) + 1)
            learned = add_games(store, before[-size:], Path(folder) / f"{size}.store", [])
            players = present(learned, run.info["person"]["names"])
            request = PersonalRequest([str(learned.path)], players, run.info["base"], Path(folder) / str(size), test=0)
            result = make(request)
            if result.reason != "done":
                raise KeyboardInterrupt(f"{result.reason}. To measure the learning curve again, run the same command")
            arms = compare(Run(result.path), store, tested)
            for name, points in lines.items():
                points.append((float(size), arms.groups.mean(arms.judged[name].right)))
            log(
                f"{number_of(size, 'game')}: "
                + ", ".join(f"{NAMES[name]} {of[-1][1].value:.1%}" for name, of in lines.items())
            )
    whole = compare(run, store, tested)
    for name, points in lines.items():
        points.append((float(games), whole.groups.mean(whole.judged[name].right)))
    on_progress("learning curve", len(sizes) + 1, len(sizes) + 1)
    return Curve(
        "Learning curve",
        "Top-1 accuracy in the newest games, by the number of earlier training games.",
        "training games",
        [(NAMES[name], points) for name, points in lines.items()],
    )
