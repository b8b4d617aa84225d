"""The progress of a network's training as dicts for the browser page of `kibitz board`: the rows of its metrics, and
its checkpoints.
"""

from __future__ import annotations

from typing import Any

from kibitz.errors import KibitzError
from kibitz.runs import Run
from kibitz.training.checkpoints import stage_and_iteration
from kibitz.web.networks import NetworkRegistry
from kibitz.web.params import BadRequest


def metrics(networks: NetworkRegistry, name: str, after: str) -> dict[str, Any]:
    """Return the metrics of a run (the folder of a trained network) from its metrics.jsonl. name: the name of the
    network. after: the number of rows that the browser page of `kibitz board` already has, as text. Raises BadRequest
    for an unknown network, or if `after` is not a number.

    The result has these keys:

    rows: the rows that the page does not have.
    total: the number of all rows.
    finished: whether the training is complete.
    stopped: whether the training was stopped before its end, so that it can be resumed.
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
    """Return {"snapshots": one dict per checkpoint of a network, in the order of training}. name: the name of the
    network. Raises BadRequest for an unknown network.

    The dict of a checkpoint has these keys:

    id: the name of the checkpoint.
    stage: the part of the training in which it was saved.
    iteration: the iteration at which it was saved.
    """
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
