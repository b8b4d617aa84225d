"""What `make docs` adds to the pages of docs/: the reference of the commands, made from the program itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.structure.files import File, Files

from kibitz import cli

PAGE = "reference/commands.md"


def on_files(files: Files, config: Any) -> Files:
    """Adds the page of the commands."""
    files.append(File.generated(config, PAGE, content="\n".join(commands())))
    return files


def commands() -> Iterator[str]:
    """A heading, the help and a table of the parameters of each command."""
    yield "# Commands"
    yield ""
    yield "`kibitz train SYSTEM --help` and `kibitz tune SYSTEM --help` also list the settings of a system."
    group: Any = typer.main.get_command(cli._app([]))
    for name in cli.COMMANDS:
        command = group.commands[name]
        yield from ("", f"## kibitz {name}", "", text(command.help), "", "| | | |", "|---|---|---|")
        for parameter in command.params:
            if not getattr(parameter, "hidden", False):
                yield row(parameter)


def row(parameter: Any) -> str:
    """A row of the table: how it is written, what it takes, what it does."""
    names = (
        list(parameter.opts) if parameter.param_type_name == "option" else [parameter.metavar or parameter.name.upper()]
    )
    written = ", ".join(f"`{each}`" for each in names + list(parameter.secondary_opts))
    takes = "" if getattr(parameter, "is_flag", False) else parameter.metavar or parameter.bare_type.__name__
    takes = f"`{text(takes)}`" if takes else ""
    return f"| {written} | {takes} | {text(getattr(parameter, 'help', ''))} |"


def text(words: str | None) -> str:
    """One line that may stand in a table."""
    return " ".join((words or "").split()).replace("|", "\\|")
