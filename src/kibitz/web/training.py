"""The data of a training run in the form for the page: the rows of its metrics, and its checkpoints."""

from __future__ import annotations

from typing import Any

from kibitz.errors import KibitzError
from kibitz.runs import Run
from kibitz.training.checkpoints import stage_and_iteration
from kibitz.web.networks import NetworkRegistry
from kibitz.web.params import BadRequest


def metrics(networks: NetworkRegistry, name: str, after: str) -> dict[str, Any]:
    """Return the metrics of a training run, as they are in its file metrics.jsonl.

    name: the network's name. after: the number of rows that the page already has, as text; only later rows are
    returned. The result also has the total number of rows, and the state of the run. "finished": whether the run is
    complete. "stopped": whether the run was stopped before its end and can be resumed.
    """
    if not (after.isascii() and after.isdigit() and len(after) < 12):
        raise BadRequest("after must be a whole number, 0 or more")
    run = networks.find(name).run
    assert run
    rows = run.metrics()
    try:
        info = Run(name).info  # run.json has the key "finished" after the training has ended
    except KibitzError:
        info = run.info
    finished = bool(info.get("finished", False))
    return {
        "rows": rows[int(after) :],
        "total": len(rows),
        "finished": finished,
        "stopped": not finished and "ended" in info,
    }


def checkpoints(networks: NetworkRegistry, name: str) -> dict[str, Any]:
    """Return the checkpoints in the order in which they were written."""
    run = networks.find(name).run
    assert run
    stages: dict[str, int] = {}
    for row in run.metrics():
        stages.setdefault(str(row.get("stage")) if isinstance(row, dict) else "", len(stages))
    series = []
    for path in run.checkpoints():
        if parts := stage_and_iteration(path):
            stage, iteration = parts
            series.append((stages.get(stage, len(stages)), stage, iteration, path.stem))
    series.sort()
    return {"snapshots": [{"id": id_, "stage": stage, "iteration": iteration} for _, stage, iteration, id_ in series]}
