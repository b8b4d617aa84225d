"""What a call of kibitz may have: read by the tests of calls in tests and in the documentation."""

from __future__ import annotations

from functools import cache

import typer

from kibitz import cli
from kibitz.systems import SYSTEMS

ALWAYS = {"--help", "-h", "--version"}


@cache
def options_of(command: str) -> frozenset[str]:
    """All options of a command, of every system where the command has settings."""
    calls = [[command, system] for system in SYSTEMS] if command in cli.OF_A_SYSTEM else [[command]]
    found = set(ALWAYS)
    for call in calls:
        for parameter in typer.main.get_command(cli._app(call)).commands[command].params:  # type: ignore[attr-defined]
            found.update(parameter.opts, parameter.secondary_opts)
    return frozenset(found)
