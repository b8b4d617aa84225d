"""Examinations: what a trained network is worth on games that it has not seen.

What every system's table shares is here (games, files, provenance); the table itself is in the module of the system's
own name, as the paper has it.
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
    from kibitz.runs import Run
    from kibitz.store.store import Store

Tell = Callable[[str, int, int], None]
"""Called with what is being done, and how many of how many are."""

Table = dict[str, Any]
"""What page and terminal print: title, text, heading (of the first column), columns, kinds (a column's way to be
written, as report.numbers has it), rows (each a name and its cells: words, counts, or figures)."""


@dataclass(frozen=True)
class Plan:
    """How an examination is made.

    positions: at most so many, drawn evenly; 0 takes all. stockfish: the program that answers beside the network, None
    for none. stockfish_positions: how many it answers at depth 1; at depth 10 a fifth of them; 0 for none.
    gnugo, gnugo_positions: likewise GNU Go beside a network of Go; playout_positions: how many random playouts answer;
    all_ways: a network of Go answers with the mean over the board's eight ways.
    seed: of every draw.
    """

    positions: int = 400_000
    stockfish: str | None = None
    stockfish_positions: int = 2000
    gnugo: str | None = None
    gnugo_positions: int = 300
    playout_positions: int = 2000
    all_ways: bool = False
    seed: int = 0


class Examination(Protocol):
    """A module of this package, of a system's name."""

    def examine(
        self, run: Run, store: Store, chosen: Chosen, plan: Plan, tell: Tell, say: Callable[[str], None]
    ) -> dict[str, Any]:
        """The system's part of a result: data, headline, figures, baselines, by, and what else its page shows.

        As report.page describes it and ready for JSON. `tell` hears of progress, `say` of what had to be left out.
        """


def load(name: str) -> Examination:
    """The examination of the system of that name. Raises UsageError where there is none."""
    return cast(Examination, importlib.import_module(find(name).evaluation))


def examine(
    run: Run, store: Store, chosen: Chosen, plan: Plan, *, command: str = "", tell: Tell, say: Callable[[str], None]
) -> dict[str, Any]:
    """The whole result of testing a run on some games of a store: what `kibitz test --json` prints.

    Raises KibitzError where the run has no trained weights.
    """
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
    own = labelled(load(system.name).examine(run, store, chosen, plan, tell, say))
    return result | own | {"metrics": [_finite(row) for row in run.metrics()]}


def labelled(own: dict[str, Any]) -> dict[str, Any]:
    """A system's part of a result as it is told: keys are stable names, and what people read stands in a "label".

    "figures" and "baselines": each with its label. "by": {name: {"label", "rows"}}. Each of the "tables" and
    "curves" has its "name".
    """
    found = dict(own)
    found["figures"] = {
        name: {"label": name.replace("_", " "), **figure} for name, figure in own.get("figures", {}).items()
    }
    found["baselines"] = {
        key if "label" in figure else key_of(key): {"label": key, **figure}
        for key, figure in own.get("baselines", {}).items()
    }
    found["by"] = {key_of(label): {"label": label, "rows": rows} for label, rows in own.get("by", {}).items()}
    for part in ("tables", "curves"):
        if part in own:
            found[part] = [{"name": key_of(table["title"]), **table} for table in own[part]]
    return found


def own_store(run: Run) -> str:
    """The path of the store that a run was trained on. Raises KibitzError where it has gone."""
    path = str(run.info["data"]["store"])
    if not Path(path).exists():
        raise KibitzError(
            f"{path}: the store that {run.name} was trained on is not there; name one: kibitz test {run.name} STORE"
        )
    return path


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row of metrics with None for NaN and infinity, which JSON does not have."""
    return {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()}
