"""What `make docs` adds to the pages of docs/: the reference of the commands, made from the program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.structure.files import File, Files

from kibitz import cli
from kibitz.commands import help

PAGE = "reference/commands.md"
COLUMNS = 90
"""Columns of the help on that page."""


def on_files(files: Files, config: Any) -> Files:
    """Adds the page of the commands."""
    files.append(File.generated(config, PAGE, content="\n".join(commands())))
    return files


def commands() -> Iterator[str]:
    """The overview, and for each command its help as the terminal shows it."""
    yield from ("# Commands", "", "```text", help.overview(COLUMNS), "```")
    yield ""
    yield "`kibitz train SYSTEM --help` and `kibitz tune SYSTEM --help` also list the settings of a system."
    group: Any = typer.main.get_command(cli._app([]))
    for name in cli.COMMANDS:
        shown = help.of_command(name, group.commands[name].params, COLUMNS, everything=True)
        yield from ("", f"## kibitz {name}", "", "```text", shown, "```")
