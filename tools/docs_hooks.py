"""What `make docs` adds to the pages of docs/: the commands, made from the program, and the model cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.structure.files import File, Files

from kibitz import cli
from kibitz.commands import help
from kibitz.runs import packaged

PAGE = "reference/commands.md"
CARDS = "reference/models/"
COLUMNS = 90
"""Columns of the help on that page."""


def on_files(files: Files, config: Any) -> Files:
    """Adds the page of the commands, and one for each model card."""
    files.append(File.generated(config, PAGE, content="\n".join(commands())))
    for name, folder in packaged().items():
        card = (folder / "CARD.md").read_text(encoding="utf-8")
        files.append(File.generated(config, f"{CARDS}{name}.md", content=card))
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
