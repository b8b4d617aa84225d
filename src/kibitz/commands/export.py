"""The command `kibitz export`: write a network as a folder that other programs can use without kibitz."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kibitz.errors import KibitzError, UsageError, need_training, one_line
from kibitz.messages import note
from kibitz.text import number_of


def export(
    run: Annotated[str, typer.Argument(show_default=False, metavar="RUN")],
    to: Annotated[Path | None, typer.Option("--to", show_default=False, metavar="FOLDER")] = None,
    web: Annotated[Path | None, typer.Option("--web", show_default=False, metavar="DIR")] = None,
    name: Annotated[str | None, typer.Option("--name", show_default=False, metavar="NAME")] = None,
    int8: Annotated[
        bool,
        typer.Option("--int8"),
    ] = False,
    half: Annotated[
        bool,
        typer.Option("--half"),
    ] = False,
    card: Annotated[str | None, typer.Option("--card", show_default=False, metavar="KIND")] = None,
) -> None:
    """Write a network for other programs: model.onnx, a description of its inputs and outputs, and an example.

    The command works for chess networks that evaluate a single position: all except deepchess, which compares two
    positions. For deepchess and for Go networks, copy the file model.onnx instead. The example, example.py, needs
    onnxruntime, numpy and python-chess.

    With --web, the command writes a static site that plays and analyzes in the visitor's browser.
    """
    if (to is None) == (web is None):
        got = "neither" if to is None else "both"
        raise UsageError(f"kibitz export needs --to or --web (got {got}). Give one of them, for example --web site.")
    if name is not None and not name.strip():
        raise UsageError(
            f"--name must not be empty (got {name!r}). Choose the name of the network that users of the export will"
            " see."
        )
    if card is not None and card != HUB:
        raise UsageError(f"--card must be {HUB} (got {card})")
    if web is not None:
        if card is not None:
            raise UsageError(f"--card cannot be combined with --web (got {card}). Use --to instead of --web.")
        if int8 or half:
            raise UsageError("--web cannot be combined with --int8 or --half. Leave --int8 and --half out.")
        _export_site(run, web, name)
    elif to is not None:
        _export_folder(run, to, name, int8, half, card is not None)


HUB = "hub"
"""The value of the option --card for a model card that model hubs, such as Hugging Face, can read."""


def _export_folder(run: str, to: Path, name: str | None, int8: bool, half: bool, has_card: bool) -> None:
    from kibitz.report.hub import hub_card
    from kibitz.runs import Run
    from kibitz.training.standalone import check, write_folder

    opened = Run(run)
    opened.trained()
    check(opened)
    text = hub_card(opened, name) if has_card else None
    if int8 and half:
        raise UsageError("--int8 cannot be combined with --half (got both). Choose one.")
    numbers = "int8" if int8 else "half" if half else ""
    if numbers:
        need_training(f"kibitz export --{numbers}")
    _must_be_empty("--to", to)
    if name is None and opened.person is not None:
        name = _name_of_person(opened.person["name"])
    try:
        to.mkdir(parents=True, exist_ok=True)
        files = write_folder(opened, to, name, numbers)
        if text is not None:
            files.append(to / "README.md")
            files[-1].write_text(text, encoding="utf-8")
    except OSError as error:
        raise KibitzError(f"{to}: {one_line(error)}. Choose another folder with --to.") from None
    if opened.person is not None:
        print("Exported the network only. The opening book and the games stay in the run.")
    print(f"{to}: {', '.join(file.name for file in files)}. Try: python {to / 'example.py'}")


def _export_site(run: str, folder: Path, name: str | None) -> None:
    from kibitz.runs import Run
    from kibitz.web.site import check, write_site

    opened = Run(run)
    opened.trained()
    check(opened)
    _must_be_empty("--web", folder)
    if name is None and opened.person is not None:
        name = _name_of_person(opened.person["name"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = write_site(opened, folder, name)
    except OSError as error:
        raise KibitzError(f"{folder}: {one_line(error)}. Choose another folder with --web.") from None
    if opened.person is not None:
        print("Exported the network only. The opening book and the games stay in the run.")
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    print(
        f"{folder}: {number_of(len(files), 'file')}, {megabytes:.1f} MB."
        f" Try: python -m http.server 8080 --directory {folder}"
    )


def _must_be_empty(option: str, folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{option} must be a new or empty folder (got {folder}). Choose another name.")


def _name_of_person(name: str) -> str:
    """Return the name of a personal network in a folder that may be shared. The result contains the person's name only
    if the user confirms this; otherwise it contains "a person".
    """
    is_interactive = sys.stdin is not None and sys.stdin.isatty()
    if is_interactive and typer.confirm(
        f"This network plays like {name}. Write the name into the folder?", default=False
    ):
        return name
    note("the folder does not name the player")
    return "a person"
