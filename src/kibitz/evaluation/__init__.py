"""The work of `kibitz test`: measure how well a trained network predicts in games that were not used to train it.

This package contains the parts that all tests share: the configuration, the description of the data, and the names of
the results. Each kind of network has an evaluator, a module that computes the numbers and tables. The evaluators are in
`positions`, `policy`, `pairs` and `owners`.
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
    from kibitz.evaluation.rows import Rows
    from kibitz.parallel import Workers
    from kibitz.runs import Run
    from kibitz.store.store import Store

OnProgress = Callable[[str, int, int], None]
"""A function that is called to report progress. Its arguments are the name of the present step, the amount done in this
step, and the total amount.
"""


@dataclass(frozen=True)
class EvalConfig:
    """The settings of a test of a network.

    positions: the largest number of positions, sampled uniformly; 0 for all.
    stockfish: the path of Stockfish, with which a chess network is compared; None for no comparison.
    stockfish_positions: how many positions Stockfish evaluates at depth 1; 0 for none. Stockfish also evaluates a fifth
        of these positions at depth 10.
    gnugo: the path of GNU Go, with which a Go network is compared; None for no comparison.
    gnugo_positions: how many positions GNU Go evaluates; 0 for none.
    playout_positions: for Go networks, from how many positions random games are played for comparison; 0 for none.
    all_symmetries: whether a Go network's predictions are means over the eight symmetries of the board.
    stranger: for a personal network, the path of another person's network for comparison; None for none.
    curve: for a personal network, whether to also train networks on fewer games, for a learning curve.
    seed: the random seed of every sample.
    workers: worker processes for Stockfish, GNU Go and the random games; None if this process starts the programs and
        plays the random games.
    """

    positions: int = 400_000
    stockfish: str | None = None
    stockfish_positions: int = 2000
    gnugo: str | None = None
    gnugo_positions: int = 300
    playout_positions: int = 2000
    all_symmetries: bool = False
    stranger: str | None = None
    curve: bool = False
    seed: int = 0
    workers: Workers | None = None


class Evaluation(Protocol):
    """The interface of an evaluator, the module that tests the networks of a system (kind of network). The declaration
    of the system contains the module's name in the attribute `evaluation`.
    """

    def evaluate(
        self,
        run: Run,
        store: Store,
        chosen: Chosen,
        config: EvalConfig,
        on_progress: OnProgress,
        log: Callable[[str], None],
    ) -> dict[str, Any]:
        """Test a network, and return the results as a dict with the keys below.

        run: the network to test.
        store: the database of games.
        chosen: the games of the store to test on, see `kibitz.evaluation.games.choose`.
        config: how many positions are tested, and which baselines.
        on_progress: a function that is called with the name of a step, the amount done, and the total.
        log: a function that is called with one line of text for each thing that had to be skipped.

        These keys are needed:

        data
            The description of the tested games, a dict as `games.describe` makes it. Its keys are "store",
            "fingerprint", "games", "positions", "positions_tested", "seen_games", "seen_games_left_out" and "split".
            The key "note" is optional: a sentence for readers of the result.
        headline
            The name of the main metric (a key of "figures"). Baselines and slices show this metric.
        figures
            The metrics, a dict. A key is the name of a metric in the JSON output. Its value is a `tables.Metric`.

        These keys are optional:

        main
            The names of the metrics that the first table shows.
        baselines
            The results of baselines (simple predictors), a dict. A key is the name of a baseline in the JSON output.
            Its value is a result of `baselines.baseline`.
        by
            Tables of the main metric on slices (groups of positions), a dict. A key is the label of a table. Its value
            is the list of the table's rows, a result of `slices.slices_as_json`.
        tables, curves
            A list of further tables, each a `tables.Table`, and a list of curves, each a `tables.Curve`.
        texts
            Sentences for the page, a dict. A key is the name of a section of the page. Its value is the text.
        rows
            The result of each position, a `rows.Rows`, for callers in Python.
        pictures
            A function without arguments that makes the pictures of the page, because the pictures take long. The
            function returns a dict. The entries of this dict are added to the result.

        The dict may have further keys, which `kibitz.report.page` shows. Their values must be valid JSON.
        `check_result` raises KibitzError if a value of the result has a wrong type.
        """


def load(name: str) -> Evaluation:
    """Return the evaluator (see `Evaluation`) of a system. Raises UsageError if there is no system with this name.

    name: the name of the system, which is a kind of network, such as "winner".
    """
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
    on_rows: Callable[[Rows], None] = lambda rows: None,
    on_pictures: Callable[[Callable[[], dict[str, Any]]], None] | None = None,
) -> dict[str, Any]:
    """Test a network on some games of a store, and return the whole result as a dict, which `kibitz test --json`
    prints.

    run: the network. store: the database of games. chosen: the games to test on. config: the settings of the test.
    command: the command line, which becomes part of the result.
    on_progress, log: see `Evaluation.evaluate`.
    on_rows: a function that is called once with the results of all positions, if the evaluator returns them.
    on_pictures: a function that is called if the evaluator has pictures. Its argument is a function without arguments,
        which makes the pictures and returns them as a dict. The caller adds the entries of this dict to the result. If
        `on_pictures` is None, the result already contains the pictures.

    The test evaluates the ONNX export of the run's best weights, and the result identifies these weights. Raises
    KibitzError if the run (the folder of a trained network) has no trained weights, or if its weights are damaged.
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
    own = load(system.name).evaluate(run, store, chosen, config, on_progress, log)
    check_result(own, system.declaration.evaluation)
    if (rows := own.pop("rows", None)) is not None:
        on_rows(rows)
    if (pictures := own.pop("pictures", None)) is not None:
        if on_pictures is None:
            own |= pictures()
        else:
            on_pictures(pictures)
    own = labelled(own)
    return result | own | {"metrics": [_finite(row) for row in run.metrics()]}


_DATA = (
    "store", "fingerprint", "games", "positions", "positions_tested", "seen_games", "seen_games_left_out", "split"
)  # fmt: skip
_FIGURE = {"value", "low", "high", "n", "games"}


def check_result(own: Any, module: str) -> None:
    """Raise KibitzError if the result of an evaluator does not have the form that `Evaluation.evaluate` describes. The
    message contains the name of the evaluator's module.

    own: the result. module: the name of the module.
    """
    from kibitz.evaluation.rows import Rows
    from kibitz.evaluation.tables import Curve, Metric, Table

    def fail(what: str, wanted: str, value: Any) -> None:
        raise KibitzError(
            f"{module}.evaluate: {what} must be {wanted} (got {type(value).__name__}). The contract is in the docstring"
            " of kibitz.evaluation.Evaluation."
        )

    if not isinstance(own, dict):
        fail("the result", "a dict", own)
    for key, wanted, kind in (
        ("data", "a dict", dict), ("headline", "the name of a metric", str), ("figures", "a dict of Metric", dict)
    ):  # fmt: skip
        if not isinstance(own.get(key), kind):
            fail(f'"{key}"', wanted, own.get(key))
    for key in _DATA:
        if key not in own["data"]:
            fail(f'"data" → "{key}"', "a value from kibitz.evaluation.games.describe", None)
    for name, metric in own["figures"].items():
        if not isinstance(metric, Metric) or not hasattr(metric.estimate, "as_json"):
            fail(f'the metric "{name}"', "a kibitz.evaluation.tables.Metric of an Estimate", metric)
    for name in (own["headline"], *own.get("main", ())):
        if name not in own["figures"]:
            raise KibitzError(f'{module}.evaluate: "{name}" is not one of its "figures" ({", ".join(own["figures"])}).')
    for name, figure in own.get("baselines", {}).items():
        if not isinstance(figure, dict) or not figure.keys() >= _FIGURE:
            fail(f'the baseline "{name}"', "a result of kibitz.evaluation.baselines.baseline", figure)
    for key, type_ in (("tables", Table), ("curves", Curve)):
        for part in own.get(key, ()):
            if not isinstance(part, type_):
                fail(f'each of "{key}"', f"a kibitz.evaluation.tables.{type_.__name__}", part)
    for label, rows in own.get("by", {}).items():
        if not isinstance(rows, list) or not all(
            isinstance(row, dict) and {"slice", "figure"} <= set(row) for row in rows
        ):
            fail(f'"by" → "{label}"', "a list from kibitz.evaluation.slices.slices_as_json", rows)
    if not isinstance(own.get("rows"), Rows | None):
        fail('"rows"', "kibitz.evaluation.rows.Rows", own["rows"])
    if "pictures" in own and not callable(own["pictures"]):
        fail('"pictures"', "a function", own["pictures"])


def labelled(own: dict[str, Any]) -> dict[str, Any]:
    """Convert the result of an evaluator to JSON data. The keys of the data do not change between versions of kibitz,
    and each "label" is a text for readers.

    own: the result. Each entry of "figures" and "baselines" gets a "label". "by" becomes {name: {"label", "rows"}}.
    Each entry of "tables" and "curves" gets a "name".
    """
    result = dict(own)
    result["figures"] = {
        name: {"label": name.replace("_", " "), **metric.as_json()} for name, metric in own.get("figures", {}).items()
    }
    result.setdefault("texts", {})
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
    """Return the path of the store (the database of games) on which a network was trained. Raises KibitzError if the
    store no longer exists.
    """
    from kibitz.runs import packaged

    path = str(run.info["data"]["store"])
    # A run may have been moved together with a store in its folder.
    if not Path(path).exists() and (inside := run.path / Path(path).name).is_dir():
        path = str(inside)
    if not Path(path).exists():
        if run.name in packaged():
            raise KibitzError(
                f"{run.name} is bundled without its training games. Name a store: kibitz test {run.name} STORE"
            )
        raise KibitzError(
            f"{path}: the store that {run.name} was trained on is missing. Choose another store: kibitz test"
            f" {run.name} STORE"
        )
    return path


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of metrics with None for NaN and infinity, which JSON does not have."""
    return {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()}
