"""The command `kibitz systems`: a list of the systems (kinds of networks). For one system, it lists the recipes, which
are sets of training settings.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.tables import print_table
from kibitz.errors import UsageError
from kibitz.games import GAME_NAMES
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.systems.base import Recipe


def systems(
    system: Annotated[str | None, typer.Argument(show_default=False, metavar="SYSTEM")] = None,
    new: Annotated[str | None, typer.Option("--new", metavar="NAME")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """List the systems (kinds of networks) and the bundled networks. If a system is named, show the paper that
    describes the system, the result reported in the paper, and the recipes (sets of training settings) of the system.
    """
    from kibitz.systems import SYSTEMS

    if new is not None:
        _copy_template(new, system, as_json)
        return

    if system is not None:
        _show_recipes(system, as_json)
        return
    if as_json:
        known = [{"name": name, **entry.as_json()} for name, entry in SYSTEMS.items()]
        print(json.dumps({"systems": known, "networks": _networks()}, indent=1))
        return

    rows = [(name, GAME_NAMES.get(entry.game, entry.game), entry.title) for name, entry in SYSTEMS.items()]
    print_table("", ("name", "game", "what it does"), rows)
    print()
    networks = [(entry["name"], entry["version"] or "", f"{entry['bytes'] / 1e6:.1f} MB") for entry in _networks()]
    print_table("Bundled networks:", ("name", "version", "size"), networks, right=[2])
    print("Model card and versions of a network: kibitz info NAME\nPaper and recipes of a system: kibitz systems NAME")


def _networks() -> list[dict[str, Any]]:
    """Return the bundled networks: name, version, the changes in each version, bytes, and the SHA-256 of the
    weights.
    """
    from kibitz import manifest
    from kibitz.runs import WEIGHTS, packaged

    return [
        {
            "name": name,
            "version": manifest.version_of(name),
            "changes": [{"version": version, "brings": text} for version, text in manifest.changes_of(name).items()],
            "bytes": sum(file.stat().st_size for file in folder.iterdir()),
            "weights_sha256": manifest.entries().get(name, {}).get("files", {}).get(WEIGHTS),
        }
        for name, folder in packaged().items()
    ]


def _copy_template(name: str, system: str | None, as_json: bool) -> None:
    """Copy the template into the folder NAME, and print the next steps. Raises UsageError if a SYSTEM is given too."""
    from kibitz.systems.template import copy_template

    if system is not None:
        raise UsageError(f"--new cannot be combined with the name of a system (got {system}). Leave one of them out.")
    files = copy_template(name, Path(name))
    if as_json:
        print(json.dumps({"system": name, "files": [str(path) for path in files]}, indent=1))
        return
    print(
        f"{name}: the template of a system, {number_of(len(files), 'file')}."
        f" Install it, and kibitz has the system {name}:"
    )
    print(f"  pip install -e {name}\n  kibitz train {name} STORE")


_KINDS = {
    "document": "settings from the document",
    "reading": "settings inferred from the document",
    "ours": "settings not in the document",
}


def _show_sources(settings: Any, recipe: Recipe) -> None:
    """Print each setting of a recipe with its value, grouped by its source."""
    sources = recipe.sources
    for kind, words in _KINDS.items():
        print(f"  {words}:")
        for name, source in sources.items():
            if source.kind == kind:
                note = f" ({source.note})" if source.note else ""
                print(f"    {name.replace('_', '-')} {recipe.value(name, settings)}{note}")
    off = [name.replace("_", "-") for name, source in sources.items() if source.kind == "off"]
    if off:
        print(f"  options of kibitz that are turned off: {', '.join(off)}")


def _show_recipes(name: str, as_json: bool) -> None:
    from kibitz.systems import SYSTEMS, load

    system = load(name)
    if as_json:
        recipes = [{"name": recipe, **asdict(entry)} for recipe, entry in system.recipes.items()]
        print(json.dumps({"name": name, **SYSTEMS[name].as_json(), "recipes": recipes}, indent=1, ensure_ascii=False))
        return
    declared = system.declaration
    print(f"{name}: {declared.title}")
    if declared.paper:
        print(f"paper: {declared.paper}\nresult in the paper: {declared.anchor}")
    elif declared.anchor:
        print(f"related results: {declared.anchor}")
    if declared.document:
        print(f"document: {declared.document}")
    for recipe, entry in system.recipes.items():
        print(f"\n--recipe {recipe}: {entry.title}")
        for line in entry.reaches:
            print(f"  result: {line}")
        for line in entry.departures:
            print(f"  differs from the document: {line}")
        if entry.sources:
            _show_sources(system.settings_type(**entry.settings), entry)
        elif entry.settings:
            print("  settings: " + ", ".join(f"{key} {value}" for key, value in entry.settings.items()))
    print(f"\nEach setting is an option of kibitz train. All settings: kibitz train {name} --help")
