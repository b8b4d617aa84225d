"""The guard of the fast tier: docs/dev/testing.md explains the tiers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.meter import METER, TierError


@pytest.mark.fast
def test_a_fast_test_that_starts_a_process_fails_whichever_command_runs_it() -> None:
    with pytest.raises(TierError, match="starts a process"):
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    assert "starts a process" in METER.violation
    METER.violation = ""  # else this test fails, as it should
