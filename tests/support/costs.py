"""A plugin of pytest: gives each test its tier, measures what it costs, and enforces the tier.

`--costs FILE` writes the seconds of each test file, and of which kind they are, for tools/write_test_times.py. A fast
test that starts a process or a training fails with a line that names the cause.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import json
import multiprocessing.process
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from numba.core import event

from support.meter import METER
from support.tiers import TESTS, TIERS, tier

KINDS = ("compiling", "training", "processes", "browser")
HARMLESS = ("uname", "lscpu", "cp", "gcc", "ldconfig", "file")
"""Programs that end at once, and that libraries call."""
TRAINER = "kibitz.training.trainer"


class _WatchTrainer(importlib.abc.MetaPathFinder):
    """Wraps `Trainer.train` when its module is imported; it is not imported for this, as it brings PyTorch."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        if name != TRAINER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def then_wrap(module: ModuleType) -> None:
            execute(module)
            module.Trainer.train = timed(module.Trainer.train, "training", "trains a network")  # type: ignore[attr-defined]

        spec.loader.exec_module = then_wrap  # type: ignore[method-assign]
        return spec


def timed(function: Callable[..., Any], kind: str, refusal: str) -> Callable[..., Any]:
    """A function whose seconds are counted as of that kind, and that the fast tier refuses."""

    def call(*arguments: Any, **options: Any) -> Any:
        METER.refuse(refusal)
        begun, before = time.perf_counter(), METER.seconds["compiling"]
        try:
            return function(*arguments, **options)
        finally:
            METER.seconds[kind] += time.perf_counter() - begun - (METER.seconds["compiling"] - before)

    return call


def watch() -> None:
    """Count processes, trainings and the compiling of kernels from now on."""
    event.register("numba:compile", METER)  # type: ignore[no-untyped-call]
    begin = subprocess.Popen.__init__
    start = multiprocessing.process.BaseProcess.start

    def begin_counted(self: Any, *arguments: Any, **options: Any) -> None:
        if not _is_harmless(arguments[0] if arguments else options.get("args")):
            METER.processes += 1
            METER.refuse("starts a process")
        begin(self, *arguments, **options)

    def start_counted(self: Any) -> None:
        METER.processes += 1
        METER.refuse("starts a process")
        start(self)

    subprocess.Popen.__init__ = begin_counted  # type: ignore[method-assign]
    multiprocessing.process.BaseProcess.start = start_counted  # type: ignore[method-assign]
    if TRAINER in sys.modules:
        trainer: Any = sys.modules[TRAINER].Trainer
        trainer.train = timed(trainer.train, "training", "trains a network")
    else:
        sys.meta_path.insert(0, _WatchTrainer())


def _is_harmless(command: Any) -> bool:
    words = [command] if isinstance(command, (str, bytes, os.PathLike)) else list(command or [""])
    return Path(os.fsdecode(words[0])).name in HARMLESS


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", metavar="FILE", help="write the seconds of each test file, by kind, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    for name, command in TIERS.items():
        config.addinivalue_line("markers", f"{name}: of the tests that `{command}` runs")
    config.pluginmanager.register(Left(config), "what-is-left")
    watch()


class Left:
    """Collects, here and from the processes of pytest-xdist, what was measured and what the markers deselected."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.left: Counter[str] = Counter()
        self.files: dict[str, Counter[str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Before pytest leaves out what `-m` does not name."""
        for item in items:
            item.add_marker(tier(item))

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.left.update(tier(item) for item in items)

    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["left"] = dict(self.left)
        elif path := self.config.getoption("--costs"):
            files = {name: dict(counts) for name, counts in sorted(self.files.items())}
            Path(path).write_text(json.dumps({"cores": os.cpu_count(), "files": files}, indent=1))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.left = Counter(getattr(node, "workeroutput", {}).get("left", {})) or self.left

    def pytest_runtest_logreport(self, report: Any) -> None:
        counts = self.files.setdefault(report.nodeid.partition("::")[0], Counter())
        counts["tests"] += report.when == "call"
        counts["seconds"] += report.duration
        counts.update(getattr(report, "costs", {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        left = ", ".join(f"{TIERS[name]}: {count}" for name, count in self.left.items() if count and name in TIERS)
        if left:
            terminalreporter.write_line(f"Left to other commands: {left} tests. `.ci/run` runs all of them.")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """The garbage collector does not go through all modules and tests again and again: a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    METER.fast = item.get_closest_marker("fast") is not None
    try:
        return (yield)
    finally:
        METER.fast = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if METER.violation:
        report.outcome, report.longrepr = "failed", f"{item.nodeid}: {METER.violation}"
    costs = dict(METER.seconds)
    rest = max(0.0, call.duration - sum(costs.values()))
    if item.path.is_relative_to(TESTS / "browser"):
        costs["browser"] = rest
    elif METER.processes or METER.waited:
        costs["processes"] = rest
    report.costs = {**costs, "started": METER.processes}
    METER.seconds.clear()
    METER.processes, METER.waited, METER.violation = 0, False, ""
    return report
