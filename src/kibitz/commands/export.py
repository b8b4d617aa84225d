"""kibitz export: a network as a folder that other programs can use without kibitz."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kibitz.errors import KibitzError, UsageError, need_training, one_line
from kibitz.messages import note


def export(
    run: Annotated[str, typer.Argument(show_default=False, metavar="RUN")],
    to: Annotated[Path, typer.Option("--to", show_default=False, metavar="DIR")],
    int8: Annotated[
        bool,
        typer.Option("--int8"),
    ] = False,
    half: Annotated[
        bool,
        typer.Option("--half"),
    ] = False,
) -> None:
    """Write a network for other programs: model.onnx, a description of its inputs and outputs, and an example.

    For networks of chess that answer for one position: all but deepchess, which compares two. Of deepchess and of Go,
    copy the model.onnx alone.

    The example, example.py, needs onnxruntime, numpy and python-chess.
    """
    from kibitz.runs import Run
    from kibitz.training.standalone import check, write_folder

    opened = Run(run)
    opened.trained()
    check(opened)
    if int8 and half:
        raise UsageError("--int8 cannot be combined with --half (got both). Choose one.")
    numbers = "int8" if int8 else "half" if half else ""
    if numbers:
        need_training(f"kibitz export --{numbers}")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UsageError(f"--to must be a new or empty folder (got {to}). Choose another name.")
    name = None if opened.person is None else _name_of_person(opened.person["name"])
    try:
        to.mkdir(parents=True, exist_ok=True)
        files = write_folder(opened, to, name, numbers)
    except OSError as error:
        raise KibitzError(f"{to}: {one_line(error)}. Choose another folder with --to.") from None
    if opened.person is not None:
        print("Exported the network only. The opening book and the games stay in the run.")
    print(f"{to}: {', '.join(file.name for file in files)}. Try: python {to / 'example.py'}")


def _name_of_person(name: str) -> str:
    """What a person's network is called in a folder that may be shared: the person's name only if the user confirms it,
    else "a person"."""
    asked = sys.stdin is not None and sys.stdin.isatty()
    if asked and typer.confirm(f"This network plays like {name}. Write the name into the folder?", default=False):
        return name
    note("the folder does not name the player")
    return "a person"
