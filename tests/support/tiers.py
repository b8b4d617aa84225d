"""Which tier a test belongs to, by what it costs: docs/dev/testing.md explains the tiers.

The tier is derived from the code of the test, of its fixtures and of what they use in tests/. Nobody has to remember
a marker; `@pytest.mark.process`, `@pytest.mark.slow` and `@pytest.mark.fast` decide where the code does not show it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parents[1]
TIERS = {
    "fast": "make test",
    "process": "make test-process",
    "browser": "make test-browser",
    "slow": "make test-slow",
}
"""Each tier and the command that runs it."""
PROCESS = {
    "ChessEngine", "ExternalEngine", "GnuGo", "GtpEngine", "GtpProgram", "Popen", "executable", "find_program", "fork",
    "multiprocessing", "popen_uci", "program", "subprocess",
}  # fmt: skip
"""Names that only code mentions which starts a program."""
PROCESS_WORDS = {"--gnugo", "--ray", "--stockfish", "--workers"}
"""Options with which a command starts programs, or may."""
TRAINING = {
    "kibitz.training.fit.train",
    "kibitz.personal.fitting.make",
    "kibitz.training.fit.fit",
    "kibitz.training.trainer.Trainer",
    "kibitz.api.training.train",
}
"""Functions and classes that train a network."""
TRAINING_MODULES = {key.rpartition(".")[0] for key in TRAINING}
FOLDERS = {"install": "slow", "parallel": "process"}
"""Tiers of whole folders."""
RECORDED = {"trained", "recorded"}
"""Functions that take a run from its record: what they call otherwise does not count."""
TRAINING_COMMANDS = ({"train"}, {"personal", "fit"}, {"tune"})
"""Words of a command that trains, as constants of the code that calls it."""


def _key(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


class Reach:
    """What a function of a test uses, directly or through others in tests/. `found`: "process", "slow"."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self._seen: set[int] = set()

    def visit(self, value: Any, trains: bool = True) -> None:
        """Look into a function or a class, if it is one of the tests'. trains: a training counts."""
        value = getattr(value, "__wrapped__", value)
        if isinstance(value, types.MethodType):
            value = value.__func__
        if trains and _key(value) in TRAINING:
            self.found.add("slow")
        if id(value) in self._seen or not self._is_ours(value):
            return
        self._seen.add(id(value))
        if isinstance(value, type):
            for part in vars(value).values():
                self.visit(part)
        elif isinstance(value, types.FunctionType):
            self._function(value)

    def _is_ours(self, value: Any) -> bool:
        if isinstance(value, types.FunctionType):
            return value.__code__.co_filename.startswith(f"{TESTS}{os.sep}")
        return isinstance(value, type) and value.__module__.partition(".")[0] not in ("kibitz", "builtins")

    def _function(self, function: types.FunctionType) -> None:
        names: set[str] = set()
        words: set[str] = set()
        for code in _codes(function.__code__):
            names |= set(code.co_names)
            words |= {constant for constant in code.co_consts if isinstance(constant, str)}
            for constant in code.co_consts:
                if isinstance(constant, tuple):
                    words |= {part for part in constant if isinstance(part, str)}
        if names & PROCESS or words & PROCESS_WORDS:
            self.found.add("process")
        if names & {"train", "Trainer"} and names & TRAINING_MODULES:  # imported inside the function
            self.found.add("slow")
        if names & {"run", "kibitz", "main", "call"} and any(command <= words for command in TRAINING_COMMANDS):
            self.found.add("slow")
        for name in names - RECORDED:
            if (value := function.__globals__.get(name)) is not None:
                self.visit(value, trains=not names & RECORDED)
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # not yet filled
                self.visit(cell.cell_contents)


def tier(item: pytest.Item) -> str:
    """The tier of a test."""
    folder = item.path.relative_to(TESTS).parts[0]
    if folder == "browser":
        return folder
    for name in ("slow", "process", "fast"):
        if item.get_closest_marker(name):
            return name
    if folder in FOLDERS:
        return FOLDERS[folder]
    found = reached(item.function) if isinstance(item, pytest.Function) else frozenset()
    definitions: dict[str, Any] = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for name in getattr(item, "fixturenames", ()):
        for definition in definitions.get(name, ()):
            found |= reached(definition.func)
    return next((name for name in ("slow", "process") if name in found), "fast")


@functools.cache
def reached(function: Callable[..., Any]) -> frozenset[str]:
    """What a test or a fixture uses: "process", "slow"."""
    reach = Reach()
    reach.visit(function)
    return frozenset(reach.found)
