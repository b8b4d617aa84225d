"""`kibitz test`: the evaluation of a trained network on games that it has not seen.

What the results of all systems share is here: the configuration, provenance, and stable keys. A system's own figures
and tables are made by the evaluator of its family: `positions`, `policy`, `pairs` or `owners`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from kibitz.errors import KibitzError
from kibitz.keys import key_of
from kibitz.systems import find

if TYPE_CHECKING:
    from kibitz.evaluation.games import Chosen
    from kibitz.parallel import Workers
    from kibitz.runs import Run
    from kibitz.store.store import Store

OnProgress = Callable[[str, int, int], None]
"""Called with the name of the step, the amount done, and the total."""


@dataclass(frozen=True)
class EvalConfig:
    """How a network is evaluated.

    positions: the maximum, drawn evenly; 0 takes all. stockfish: path of the baseline program, None for none.
    stockfish_positions: how many it evaluates at depth 1; at depth 10 a fifth of them; 0 for none.
    gnugo, gnugo_positions: the same of GNU Go, for networks of Go; playout_positions: positions for random playouts;
    all_ways: a network of Go answers with the mean over the eight symmetries of the board. stranger: of a person's
    network, another person's run that stands beside it; curve: whether networks of fewer games do, too. seed: of every
    draw. workers: those that ask Stockfish and GNU Go and play games out; None: this process.
    """

    positions: int = 400_000
    stockfish: str | None = None
    stockfish_positions: int = 2000
    gnugo: str | None = None
    gnugo_positions: int = 300
    playout_positions: int = 2000
    all_ways: bool = False
    stranger: str | None = None
    curve: bool = False
    seed: int = 0
    workers: Workers | None = None


class Evaluation(Protocol):
    """The evaluator module of a system, which its declaration names."""

    def evaluate(
        self,
        run: Run,
        store: Store,
        chosen: Chosen,
        config: EvalConfig,
        on_progress: OnProgress,
        log: Callable[[str], None],
    ) -> dict[str, Any]:
        """The system's part of a result: data, headline, figures, baselines, by, and what else its page shows.

        As report.page describes it; "figures" are `tables.Metrics`, "tables" and "curves" those of `tables`, and the
        rest is ready for JSON. `log` is called with a line for each thing that had to be left out.
        """


def load(name: str) -> Evaluation:
    """The evaluator of the system of that name. Raises UsageError where there is none."""
    return cast(Evaluation, importlib.import_module(find(name).evaluation))


def evaluate(
    run: Run,
    store: Store,
    chosen: Chosen,
    config: EvalConfig,
    *,
    command: str = "",
    on_progress: OnProgress,
    log: Callable[[str], None],
) -> dict[str, Any]:
    """The whole result of testing a run on some games of a store: what `kibitz test --json` prints.

    Raises KibitzError where the run has no trained weights, or damaged ones: what answers is the export made of them,
    and the result names them.
    """
    run.load_weights()
    system = run.system
    result = {
        "system": system.name,
        "title": system.declaration.title,
        "run": run.name,
        "weights": run.trained().name,
        "weights_sha256": run.weights_sha256(),
        "command": command,
        "paper": {"title": system.declaration.paper, "figure": system.declaration.anchor},
    }
    own = labelled(load(system.name).evaluate(run, store, chosen, config, on_progress, log))
    return result | own | {"metrics": [_finite(row) for row in run.metrics()]}


def labelled(own: dict[str, Any]) -> dict[str, Any]:
    """A system's part of a result as JSON has it: keys are stable names, and what people read stands in a "label".

    "figures" and "baselines": each with its label. "by": {name: {"label", "rows"}}. Each of the "tables" and
    "curves" has its "name".
    """
    result = dict(own)
    result["figures"] = {
        name: {"label": name.replace("_", " "), **metric.as_json()} for name, metric in own.get("figures", {}).items()
    }
    result["baselines"] = {
        key if "label" in figure else key_of(key): {"label": key, **figure}
        for key, figure in own.get("baselines", {}).items()
    }
    result["by"] = {key_of(label): {"label": label, "rows": rows} for label, rows in own.get("by", {}).items()}
    if "tables" in own:
        result["tables"] = [{"name": key_of(table.title), **table.as_json()} for table in own["tables"]]
    if "curves" in own:
        result["curves"] = [{"name": key_of(curve.title), **curve.as_json()} for curve in own["curves"]]
    return result


def own_store(run: Run) -> str:
    """The path of the store that a run was trained on. Raises KibitzError where it has gone."""
    from kibitz.runs import packaged

    path = str(run.info["data"]["store"])
    if not Path(path).exists() and (inside := run.path / Path(path).name).is_dir():  # a run that was moved
        path = str(inside)
    if not Path(path).exists():
        if run.name in packaged():
            raise KibitzError(
                f"{run.name} comes with kibitz, and the games that it has learned from do not; name a store: "
                f"kibitz test {run.name} STORE"
            )
        raise KibitzError(
            f"{path}: the store that {run.name} was trained on is not there; name one: kibitz test {run.name} STORE"
        )
    return path


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row of metrics with None for NaN and infinity, which JSON does not have."""
    return {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()}
