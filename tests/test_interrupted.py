"""A program that is told to end, at a bad moment."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.patience import PATIENCE

FINALISER = """
import os, signal, sys, time
from kibitz import cli

class HalfMade:
    def __del__(self):
        self.what_was_never_set

def work(arguments):
    half = HalfMade()
    try:
        if arguments:
            os.kill(os.getpid(), int(arguments[0]))
            time.sleep(10)
    except KeyboardInterrupt:
        del half
        return 130
    del half
    return 0

cli.run = work
cli.main()
"""


@pytest.mark.parametrize(("number", "code", "told"), [("2", 130, False), ("15", 143, False), ("", 0, True)])
def test_finalisers_that_fail_then_say_nothing(number: str, code: int, told: bool) -> None:
    command = [sys.executable, "-c", FINALISER, *([number] if number else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == code
    assert ("what_was_never_set" in done.stderr) == told
