"""kibitz systems: what there is to train, one line each; of one system, its recipes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from kibitz.commands.tables import print_table


def systems(
    system: Annotated[str | None, typer.Argument(help="Show this system's recipes.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """List the systems: game, what each does, its paper and the paper's figure. With a name: that system's recipes."""
    from kibitz.systems import SYSTEMS

    if system is not None:
        _show_recipes(system, as_json)
        return
    if as_json:
        print(json.dumps({"systems": [{"name": name, **entry.as_json()} for name, entry in SYSTEMS.items()]}, indent=1))
        return
    rows = [(name, entry.game, entry.title, entry.paper, entry.anchor) for name, entry in SYSTEMS.items()]
    print_table("", ("name", "game", "what it does", "paper", "the paper's figure"), rows)
    print("the recipes of one: kibitz systems NAME")


def _show_recipes(name: str, as_json: bool) -> None:
    from kibitz.systems import SYSTEMS, load

    system = load(name)
    if as_json:
        recipes = [{"name": recipe, **asdict(entry)} for recipe, entry in system.recipes.items()]
        print(json.dumps({"name": name, **SYSTEMS[name].as_json(), "recipes": recipes}, indent=1, ensure_ascii=False))
        return
    declared = system.declaration
    print(f"{name}: {declared.title}\nafter: {declared.paper}\nthe paper's figure: {declared.anchor}")
    for recipe, entry in system.recipes.items():
        print(f"\n--recipe {recipe}: {entry.title}")
        for line in entry.reaches:
            print(f"  reaches: {line}")
        for line in entry.departures:
            print(f"  departs: {line}")
        if entry.settings:
            print("  settings: " + ", ".join(f"{key} {value}" for key, value in entry.settings.items()))
    print(f"\nevery setting of a recipe can be changed: kibitz train {name} STORE --recipe NAME --help lists them")
