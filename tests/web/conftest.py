"""A served board."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support.board_client import Client, WithFakes, served
from support.opinion_fakes import fake


@pytest.fixture(scope="module")
def shared(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Any]]:
    """A board in a folder without runs; it is given a run that was trained for a moment."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("here"))
    try:
        with served([str(small_run)]) as found:
            yield found
    finally:
        os.chdir(before)


@pytest.fixture
def with_fake(tmp_path: Path) -> Iterator[WithFakes]:
    with ExitStack() as stack:

        def make(protocol: str, fault: str) -> tuple[Client, Any, Path]:
            return *stack.enter_context(served([], [], engines=[fake(protocol, fault, tmp_path)])), tmp_path

        yield make


@pytest.fixture(scope="module")
def real() -> Iterator[Client]:
    """A board with nothing but what is installed."""
    with served([]) as (client, _):
        yield client


@pytest.fixture(scope="module")
def client(shared: tuple[Client, Any]) -> Client:
    return shared[0]
