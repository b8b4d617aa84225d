"""kibitz systems: what there is to train, one line each."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from kibitz.commands.printing import print_table


def systems(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """List the systems: game, what each does, its paper and the paper's figure."""
    from kibitz.systems import SYSTEMS

    if as_json:
        print(json.dumps({"systems": [{"name": name, **asdict(entry)} for name, entry in SYSTEMS.items()]}, indent=1))
        return
    rows = [(name, entry.game, entry.title, entry.paper, entry.anchor) for name, entry in SYSTEMS.items()]
    print_table("", ("name", "game", "what it does", "paper", "the paper's figure"), rows)
