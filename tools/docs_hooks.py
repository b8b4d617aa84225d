"""What `make docs` adds to docs/: the commands, made from the program, the model cards, and networks to try."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File, Files

from kibitz import cli
from kibitz.commands import help
from kibitz.errors import KibitzError
from kibitz.runs import Run, packaged
from kibitz.web.site import write_site

PAGE = "reference/commands.md"
CARDS = "reference/models/"
TRY = ("human", "gohuman")
"""The networks of docs/try.md."""
COLUMNS = 90
"""Columns of the help on that page."""


def on_files(files: Files, config: Any) -> Files:
    """Adds the page of the commands, and one for each model card."""
    files.append(File.generated(config, PAGE, content="\n".join(commands())))
    for name, folder in packaged().items():
        card = (folder / "CARD.md").read_text(encoding="utf-8")
        files.append(File.generated(config, f"{CARDS}{name}.md", content=card))
    return files


def on_post_build(config: Any) -> None:
    """Adds the sites of the networks that a reader can try, where the page is built."""
    for name in TRY:
        try:
            write_site(Run(name), Path(config.site_dir) / "try" / name)
        except KibitzError as error:
            logging.getLogger("mkdocs.hooks").info("%s: %s", name, error)


def commands() -> Iterator[str]:
    """The overview, and for each command its help as the terminal shows it."""
    yield from ("# Commands", "", "```text", help.overview(COLUMNS), "```")
    yield ""
    yield "`kibitz train SYSTEM --help` and `kibitz tune SYSTEM --help` also list the settings of a system."
    group: Any = typer.main.get_command(cli._app([]))
    for name in cli.COMMANDS:
        shown = help.of_command(name, group.commands[name].params, COLUMNS, everything=True)
        yield from ("", f"## kibitz {name}", "", "```text", shown, "```")
