"""The command `kibitz merge`: join several stores (databases of games) into one."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.import_.options import SplitOptions
from kibitz.commands.interruption import describes_store_if_interrupted
from kibitz.commands.progress import BAR, ELAPSED, LEFT, Progress
from kibitz.commands.tables import print_table
from kibitz.errors import UsageError
from kibitz.records import printable
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.store.split import Split
    from kibitz.store.store import Store


def merge(
    stores: Annotated[list[str], typer.Argument(show_default=False, metavar="STORES")],
    into: Annotated[Path, typer.Option(show_default=False, metavar="STORE")],
    *,
    division: SplitOptions,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Join stores (databases of games) to form a new store. A game that is in several stores is included once. The old
    stores stay unchanged.
    """
    from kibitz.store.store import Store

    opened = [Store(path) for path in stores]
    if len({store.game for store in opened}) > 1:
        raise UsageError(
            f"stores of chess games and of Go games cannot be merged (got {stores[0]} and other stores). Merge only"
            " stores of the same game."
        )
    split = _split(opened, division.values())
    with describes_store_if_interrupted(into, f"{into} was not made; run the same command to begin again"):
        merged, duplicates = _merge(opened, into, split)
    read = sum(map(len, opened))
    if as_json:
        print(json.dumps({"store": str(into), "read": read, "kept": len(merged), "duplicates": duplicates}, indent=1))
    else:
        rows = [(str(store.path), f"{len(store):,}") for store in opened]
        rows += [("duplicates", f"{duplicates:,}"), (str(into), f"{len(merged):,}")]
        print_table("", ("store", "games"), rows, right=[1])


def _split(stores: list[Store], options: dict[str, Any]) -> Split:
    """Return the split of the new store: the split that all stores have, with the given changes. Raises UsageError if
    their splits also differ after these changes.
    """
    splits = [store.split.changed(options) for store in stores]
    if options:  # no option changes `together`, which an earlier version of kibitz did not have
        splits = [replace(split, together=splits[0].together) for split in splits]
    if any(split != splits[0] for split in splits):
        raise UsageError(
            f"{stores[0].path} and the other stores have different splits. Choose the split of the new store, for"
            " example: --validate-share 5 --test-share 5"
        )
    splits[0].check()
    return splits[0]


def _merge(stores: list[Store], into: Path, split: Split) -> tuple[Store, int]:
    """Write the games of all stores. Returns the new store, and the number of duplicate games."""
    from kibitz.games import game_of
    from kibitz.games.batch import Rejections
    from kibitz.store.merge import blocks
    from kibitz.store.writer import StoreWriter, refuse_existing

    rules = game_of(stores[0].game)
    total = sum(map(len, stores))
    refuse_existing(into, "Choose another name.")
    with contextlib.ExitStack() as held:
        writer = held.enter_context(StoreWriter(
            into, stores[0].game, rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE, split, per_game=rules.PER_GAME
        ))  # fmt: skip
        progress = held.enter_context(Progress("{task.fields[games]}", BAR, ELAPSED, LEFT, patient=True))
        progress.begin("", 100.0 if total else None, games=number_of(0, "game"))
        read = 0
        for store in stores:
            for block in blocks(store, rules.COLUMNS):
                writer.add(block)
                read += len(block)
                games = number_of(read, "game")
                progress.update(100 * read / total, f"kibitz: {games} read", games=games)
        duplicates = writer.rejections.counts["duplicate"]
        for store in stores:  # the new store also lists the games that the imports of the old stores rejected
            writer.rejections.merge(Rejections.from_json(store.info["left_out"]))
            writer.read += store.info["read"] - len(store)
        report = {"merged": [printable(str(store.path)) for store in stores], "read": read, "kept": writer.games}
        return writer.commit(report), duplicates
