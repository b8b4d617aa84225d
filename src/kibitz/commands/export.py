"""kibitz export: a network as a folder that other programs can use without kibitz."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kibitz.errors import KibitzError, UsageError, one_line


def export(
    run: Annotated[
        str, typer.Argument(help="A run, or the name of a packaged network.", show_default=False, metavar="RUN")
    ],
    to: Annotated[Path, typer.Option("--to", help="The folder to make.", show_default=False, metavar="DIR")],
) -> None:
    """Write a network for other programs: model.onnx, a description of its inputs and outputs, and an example.

    The example, example.py, needs onnxruntime and numpy (and python-chess, for a network of chess).
    """
    from kibitz.runs import Run
    from kibitz.training.standalone import write_folder

    opened = Run(run)
    opened.trained()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UsageError(f"--to {to}: there is something already; name a folder that is new or empty")
    try:
        to.mkdir(parents=True, exist_ok=True)
        files = write_folder(opened, to)
    except OSError as error:
        raise KibitzError(f"{to}: {one_line(error)}; choose another --to") from None
    print(f"{to}: {', '.join(file.name for file in files)}; try: python {to / 'example.py'}")
