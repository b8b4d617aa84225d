"""The audit of `python -m soak.mutate --functions`: what it removes of a module, and how."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "soak" / "site"))

import removal

MODULE = '''
from functools import cache

class Box:
    """A box."""

    def __init__(self, size):
        self.size = size

    @property
    def double(self):
        """Twice the size."""
        return 2 * self.size

    def times(self, many):
        return many * self.size

def counted(last):
    for number in range(last):
        yield number

def adder(step):
    def add(value):
        return value + step
    return add

@cache
def square(number):
    return number * number

def declared(number):
    """Nothing yet."""
    raise NotImplementedError

def empty():
    pass
'''


def loaded(name: str, way: str) -> dict[str, Any]:
    """The module without one function."""
    found = next(one for one in removal.functions("box.py", MODULE) if one.name == name)
    names: dict[str, Any] = {"__name__": "box"}
    exec(compile(removal.without(MODULE, name, found.line, way), "box.py", "exec"), names)
    return names


def test_the_functions_that_do_something() -> None:
    found = {one.name: one.ways for one in removal.functions("box.py", MODULE)}
    assert list(found) == [
        "Box.__init__", "Box.double", "Box.times", "counted", "adder", "adder.<locals>.add", "square",
    ]  # fmt: skip
    assert found["Box.times"] == (removal.NONE, removal.ARGUMENT, removal.RAISE)
    assert found["Box.double"] == found["counted"] == (removal.NONE, removal.RAISE)


def test_each_way_of_removal() -> None:
    whole = loaded("counted", removal.RAISE)
    assert (whole["Box"](3).double, whole["Box"](3).times(5), whole["adder"](2)(5), whole["square"](4)) == (
        6,
        15,
        7,
        16,
    )
    assert loaded("Box.times", removal.NONE)["Box"](3).times(5) is None
    assert loaded("Box.times", removal.ARGUMENT)["Box"](3).times(5) == 5
    assert loaded("square", removal.ARGUMENT)["square"](4) == 4
    assert loaded("Box.double", removal.NONE)["Box"](3).double is None
    assert list(loaded("counted", removal.NONE)["counted"](3)) == []
    assert loaded("adder.<locals>.add", removal.NONE)["adder"](2)(5) is None
    with pytest.raises(RuntimeError, match="removed"):
        loaded("adder", removal.RAISE)["adder"](2)
    with pytest.raises(LookupError):
        removal.without(MODULE, "square", 1, removal.NONE)


def test_free_variables_and_generators_stay_what_they_are() -> None:
    """A fork puts the code of the removed function in place of the original, which needs the same of both."""
    for one in removal.functions("box.py", MODULE):
        original = compile(MODULE, "box.py", "exec")
        for way in one.ways:
            changed = compile(removal.without(MODULE, one.name, one.line, way), "box.py", "exec")
            before, after = (
                next(
                    code
                    for code in removal.codes(whole)
                    if (code.co_qualname, code.co_firstlineno) == (one.name, one.line)
                )
                for whole in (original, changed)
            )
            assert (before.co_freevars, before.co_flags) == (after.co_freevars, after.co_flags)


TESTS_OF_BOX = """
import gc

import pytest

from box import Box, square

gc.freeze()  # as the plugin `support.costs` does


@pytest.fixture(scope="module")
def shared():
    return Box(3)


def test_double(shared):
    assert shared.double == 6


def test_square(tmp_path, shared):
    assert square(shared.size) == 9
"""


@pytest.mark.process
def test_each_fork_runs_its_tests_without_one_function(tmp_path: Path) -> None:
    """A test can run again and again, and a fork that lacks nothing passes. The removal does not change the file."""
    module, tests = tmp_path / "box.py", tmp_path / "test_box.py"
    module.write_text(MODULE)
    tests.write_text(TESTS_OF_BOX)
    line = next(one.line for one in removal.functions("box.py", MODULE) if one.name == "Box.double")
    names = [f"test_box.py::{name}" for name in ("test_double", "test_square")]
    removed = [str(module), "Box.double", line, removal.NONE]
    requests: list[dict[str, Any]] = [{"warm": names}]
    for more in ({}, {"removed": removed}, {}):
        requests += [{"tests": [name], "seconds": 60, **more} for name in names]
    ended = subprocess.run(
        [sys.executable, "-m", "soak.forks", "test_box.py", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=tmp_path, input="".join(json.dumps(request) + "\n" for request in requests), capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(tmp_path)])},
    )  # fmt: skip
    collected, warm, *forks = (json.loads(reply) for reply in ended.stdout.splitlines())
    assert (collected, warm) == ({"collected": names}, {"passed": names})
    assert [fork["outcome"] for fork in forks] == ["passed", "passed", "failed", "passed", "passed", "passed"]
    assert module.read_text() == MODULE
