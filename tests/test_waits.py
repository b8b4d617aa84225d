"""Tests wait long enough: a limit of seconds fails on a busy machine."""

from __future__ import annotations

import re
from pathlib import Path

from support.patience import PATIENCE

TESTS = Path(__file__).parent
WAIT = re.compile(
    r"(?:timeout=|\.(?:wait|join|acquire)\(|perf_counter\(\) - \w+ < |monotonic\(\) - \w+ < )(\d+(?:\.\d+)?)\b"
)
ITS_OWN = {"support/attacks.py"}
"""Its connections have limits that are a part of the attack."""
PAUSE = 0.5
"""Seconds, at most, of a wait that is only a pause."""


def short_waits(text: str) -> list[str]:
    """Waits with a limit of their own that is no pause."""
    return [found[0] for found in WAIT.finditer(text) if PAUSE < float(found[1]) < PATIENCE]


def test_waits_have_the_limit_that_all_share() -> None:
    """`PATIENCE` of support/patience.py. See "Tests must not fail by chance" in docs/dev/testing.md."""
    wrong = {}
    for path in sorted(TESTS.rglob("*.py")):
        name = path.relative_to(TESTS).as_posix()
        if name in ITS_OWN or name.startswith("soak/") or path == Path(__file__):
            continue
        if found := short_waits(path.read_text(encoding="utf-8")):
            wrong[name] = found
    assert not wrong
    assert PATIENCE >= 600


def test_a_short_wait_is_found() -> None:
    assert short_waits("process.wait(60)\nrun(timeout=2.5)\nassert time.perf_counter() - begun < 60") != []
    assert short_waits("process.wait(PATIENCE)\nrun(timeout=PATIENCE)\nevent.wait(0.05)") == []
