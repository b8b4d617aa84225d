"""A limit on memory: one line and exit code 1, also where a library calls abort()."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.causes import mentions
from support.patience import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")

LINE = "error: not enough memory: this shell allows a program {} MB (ulimit -v). "


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_a_library_that_calls_abort_under_a_limit() -> None:
    program = (
        "import os, resource; resource.setrlimit(resource.RLIMIT_AS, ({0}, {0}));"
        "from kibitz import cli; cli.run = lambda arguments: os.abort(); cli.main()"
    )
    done = python(program.format(2 << 30))
    assert (done.returncode, done.stderr.startswith(LINE.format("2,048"))) == (1, True), done.stderr
    assert done.stderr.count("\n") == 1


def test_abort_without_a_limit_is_a_fault() -> None:
    done = python("import os; from kibitz import cli; cli.run = lambda arguments: os.abort(); cli.main()")
    assert (done.returncode, done.stderr) == (-6, "")


@pytest.mark.parametrize(
    "fails", ["memory.check()", "raise_(ImportError('failed to map segment'))", "raise_(OSError('not loaded'))"]
)
def test_too_little_is_left(fails: str) -> None:
    """To compile: OpenBLAS would wait for more without end. To load a library: LLVM's has an error without a number."""
    program = """
import resource, sys
import kibitz.kernels
from kibitz import cli, memory
def raise_(error):
    raise error
limit = memory._taken() + (100 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
cli._app = lambda arguments: FAILS
sys.exit(cli.run(["info"]))
"""
    done = python(program.replace("FAILS", fails))
    assert done.returncode == 1, done.stderr
    assert mentions(done.stderr, "program")
