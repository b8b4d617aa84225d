"""A plugin of pytest for `soak.functions`: seconds of each test that passes, and which functions each executes."""

from __future__ import annotations

import json
import os
import sys

import pytest


def pytest_runtest_logstart(nodeid: str) -> None:
    begin()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    begin()


def begin() -> None:
    tracer = getattr(sys.modules.get("sitecustomize"), "tracer", None)
    if tracer is not None:
        tracer.begin()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        with open(os.environ["AUDIT_TIMES"], "a", encoding="utf-8") as out:
            out.write(json.dumps([report.nodeid, report.duration]) + "\n")
