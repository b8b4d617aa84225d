"""The command `kibitz info`: show the contents of a store (a database of games), or what a network was trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.analysis.glyphs import figure
from kibitz.commands.tables import print_table
from kibitz.errors import KibitzError
from kibitz.games import GAME_NAMES
from kibitz.keys import counted, key_of, labelled_reasons
from kibitz.messages import did_you_mean
from kibitz.text import number_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kibitz.store.store import Store

SHOWN = 3
"""The number of rejected games that are listed for each reason. --json lists all rejected games that the store contains
as examples.
"""


PLAYERS = 10
"""The number of players that are listed, the most frequent ones first."""

_RESULTS = {"1-0": "white_won", "1/2-1/2": "drawn", "0-1": "black_won"}
"""JSON keys of the results that contain no words, such as "1-0". Other keys are made from the words."""


def info(
    store: Annotated[
        Path,
        typer.Argument(
            show_default=False,
            metavar="STORE",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Show the contents of a store: counts, ratings, dates, results, the games of each part of the split, and the
    rejected games by reason.

    If the argument is a network, show its outputs, its training data and its measured accuracy.
    """
    from kibitz.runs import INFO, packaged
    from kibitz.store.store import Store

    if (store / INFO).is_file() or (str(store) in packaged() and not store.exists()):
        _show_network(str(store), as_json)
        return
    if not store.exists():
        near = did_you_mean(str(store), packaged())
        raise KibitzError(f"{store} is not a store, run or bundled network.{near} Check the path.")
    summary = describe(Store(store))
    if as_json:
        print(json.dumps(summary, indent=1, ensure_ascii=False))
    else:
        _report(summary)


def _show_network(name: str, as_json: bool) -> None:
    """Print a network's card if it has one; otherwise print the facts from its run.json."""
    from kibitz import manifest
    from kibitz.runs import Run
    from kibitz.systems import find

    run = Run(name)
    declared, card = find(run.info["system"]), run.path / "CARD.md"
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    changes = manifest.changes_of(name) if run.path.parent == manifest.NETWORKS else {}
    if as_json:
        known: dict[str, Any] = {
            "network": name,
            "system": declared.name,
            "game": declared.game,
            "title": declared.title,
        }
        known |= {"settings": run.info["settings"], "card": text or None}
        if run.person is not None:
            known |= {
                "person": run.person,
                "games": run.info["data"]["games"],
                "split": run.info["data"]["split_in_words"],
            }
        print(json.dumps(known, indent=1, ensure_ascii=False))
        return
    if text:
        print(text.rstrip())
        if changes:
            print("\n## Versions\n")
            print("\n".join(f"- {version}: {brings}" for version, brings in changes.items()))
        return
    print(f"{name}: a run of {declared.name} ({declared.title})")
    if run.person is not None:
        games, who = run.info["data"]["games"], run.person
        print(
            f"{who['name']}: {number_of(sum(games.values()), 'game')}"
            f" from {who['first']} to {who['last']}, {_line(games)}"
        )
        print(f"based on {run.info['base']}, with adjusted weights: {run.info['kept']}")
        if not run.info.get("finished"):
            print(f"The training is unfinished. The network can already play. To resume: {run.info['command']}")
    else:
        print("settings: " + ", ".join(f"{key} {value}" for key, value in run.info["settings"].items()))
    if best := [
        row for row in run.metrics() if row.get("kind") == "validation" and {"iteration", "stage"} <= row.keys()
    ]:
        last = best[-1]
        figures = ", ".join(f"{key} {value:.4g}" for key, value in last.items() if isinstance(value, float))
        print(f"last validation, at iteration {last['iteration']:,} of {last['stage']}: {figures}")
    print(f"To test the network on games that it was not trained on: kibitz test {name}")


def describe(store: Store) -> dict[str, Any]:
    """Return a summary of a store (a database of games) as a dict for JSON.

    Counts are plain numbers. Means and medians are under "figures", each as a dict {"value", "low", "high", "n"}. They
    are computed from all the data, so they have no interval: "low" and "high" are None.
    """
    import numpy as np

    from kibitz.games import game_of

    game = game_of(store.game)
    columns = [name for name in ("white_rating", "black_rating") if name in game.COLUMNS.names]
    ratings = np.concatenate([store.column(name) for name in columns] or [np.empty(0, np.int16)])
    positions, on_disk = store.info["positions"], store.bytes_on_disk()
    results = store.column("result")
    return {
        "store": str(store.path),
        "game": store.game,
        "version": store.info["kibitz_store"],
        "fingerprint": store.fingerprint,
        "games": len(store),
        "positions": positions,
        "moves": store.info["moves"],
        "bytes": on_disk,
        "figures": {
            "bytes_per_position": figure(on_disk / positions if positions else None, positions),
            "rating": figure(_ratings(ratings)["median"], int((ratings > 0).sum())),
            "plies_per_game": figure(float(np.mean(store.plies)) if len(store) else None, len(store)),
        },
        "ratings": _ratings(ratings),
        "dates": _dates(store),
        "results": {
            _RESULTS.get(name) or key_of(name): {"label": name, "games": int((results == value).sum())}
            for value, name in game.RESULTS.items()
        },
        **{
            key_of(label): counted(_counts(store.column(column)), column)
            for label, column in game.SUMMARY_COLUMNS.items()
        },
        "players": _players(store),
        **_division(store),
        "counts": [key_of(label) for label in game.SUMMARY_COLUMNS],
        "beside": sorted([*store.info["beside"], *store.info.get("carried", {})]),
        "read": store.info["read"],
        "left_out": labelled_reasons(store.info["left_out"]),
        "history": store.info["history"],
    }


def _ratings(ratings: NDArray[Any]) -> dict[str, Any]:
    """Return the lowest, the median and the highest known rating, in Elo points (None if none is known), and the number
    of unknown ratings.

    ratings: [n], 0 if unknown.
    """
    import numpy as np

    known = ratings[ratings > 0]
    return {
        "min": int(known.min()) if len(known) else None,
        "median": float(np.median(known)) if len(known) else None,
        "max": int(known.max()) if len(known) else None,
        "unknown": len(ratings) - len(known),
    }


def _players(store: Store) -> list[dict[str, Any]]:
    """Return the most frequent players with their numbers of games, and the spellings of their names."""
    from kibitz.personal.names import players_of

    return [
        {"name": player.name, "games": player.games, "spellings": list(player.spellings)}
        for player in players_of(store)[:PLAYERS]
    ]


def _dates(store: Store) -> dict[str, Any]:
    """Return the first and the last day of the store's games; None if no day is known."""
    import numpy as np

    dates = store.column("date").astype("datetime64[D]")
    known = dates[~np.isnat(dates)]
    return {
        "first": str(known.min()) if len(known) else None,
        "last": str(known.max()) if len(known) else None,
        "unknown": len(dates) - len(known),
    }


def _division(store: Store) -> dict[str, Any]:
    """Return how the store's games are split, and how many begin like another game."""
    from kibitz.store.split import SIDES

    sides, alike = store.sides(), store.near_duplicates()
    return {
        "split": {
            "how": store.split.describe(),
            "near_duplicates_together": store.split.together and alike is not None,
            **{name: int((sides == number).sum()) for number, name in enumerate(SIDES)},
        },
        "near_duplicates": alike,
    }


def _counts(values: NDArray[Any]) -> dict[str, int]:
    """Return how many games have each value, the most frequent value first; "unknown" for games without a value."""
    from collections import Counter

    names = Counter("unknown" if value in (None, "") else _number(value) for value in values.tolist())
    return dict(names.most_common())


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _alike(count: int | None, together: bool) -> str:
    from kibitz.games.hashing import SHARED

    if count is None:
        return (
            "unknown, because an earlier version of kibitz made the store. Import the games again to put such games "
            "into one split."
        )
    if not count:
        return "none"
    where = (
        "in the same split"
        if together
        else "possibly in another split. Import the games again to put such games into one split."
    )
    return f"{count:,} with the first {SHARED} plies of an earlier game, {where}"


def _report(summary: dict[str, Any]) -> None:
    from kibitz.store.split import SIDES

    ratings, dates, split = summary["ratings"], summary["dates"], summary["split"]
    size = summary["figures"]["bytes_per_position"]["value"]
    rated = "none known"
    if ratings["median"] is not None:
        rated = f"{ratings['min']} to {ratings['max']}, median {ratings['median']:g}, {ratings['unknown']:,} unknown"
    dated = (
        "none known" if dates["first"] is None else f"{dates['first']} to {dates['last']}, {dates['unknown']:,} unknown"
    )
    rows = [
        ("games", f"{summary['games']:,} ({GAME_NAMES[summary['game']]})"),
        ("positions", f"{summary['positions']:,}"),
        ("moves", f"{summary['moves']:,}"),
        ("size", f"{summary['bytes'] / 1e6:,.1f} MB, {size or 0:.2f} bytes a position"),
        *([("ratings", rated)] if summary["figures"]["rating"]["n"] or ratings["unknown"] else []),
        ("dates", dated),
        ("results", _line(_games(summary["results"]))),
        *((key.replace("_", " "), _line(_games(summary[key]))) for key in summary["counts"]),
        *(
            [("players", _line({one["name"]: one["games"] for one in summary["players"]}))]
            if summary["players"]
            else []
        ),
        ("split", f"{_line({name: split[name] for name in SIDES})} ({split['how']})"),
        ("near-duplicates", _alike(summary["near_duplicates"], split["near_duplicates_together"])),
        ("data per move", ", ".join(summary["beside"]) or "the move only"),
    ]
    print_table(summary["store"], ("", ""), rows)
    print()
    out = [
        ("" if i else entry["label"], "" if i else f"{entry['games']:,}", _example(example) if example else "")
        for entry in summary["left_out"].values()
        for i, example in enumerate(entry["first"][:SHOWN] or [None])
    ]
    if out:
        left = sum(entry["games"] for entry in summary["left_out"].values())
        print_table(
            f"skipped: {left:,} of {number_of(summary['read'], 'game')}",
            ("reason", "games", "first examples"),
            out,
            right=[1],
        )
    else:
        print("skipped: no games")
    print()
    for number, step in enumerate(summary["history"], 1):
        filters = ", ".join(f"{key} {_words(value)}" for key, value in step.get("filter", {}).items()) or "none"
        files = step.get("files", [])
        if "merged" in step:
            stores = ", ".join(Path(store).name for store in step["merged"])
            print(f"import {number}: {step['kept']:,} of {number_of(step['read'], 'game')} merged from {stores}")
            continue
        named = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
        print(
            f"import {number}: {step.get('kept', 0):,} of {number_of(step.get('read', 0), 'game')} from {named}"
            f" (filter: {filters})"
        )


def _games(counted: dict[str, dict[str, Any]]) -> dict[str, int]:
    return {entry["label"]: entry["games"] for entry in counted.values()}


def _line(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def _words(value: Any) -> str:
    return " or ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _example(example: dict[str, Any]) -> str:
    """Format one rejected game in a line: file, number, players, detail."""
    headers = example["headers"]
    players = f", {headers.get('White', '?')} – {headers.get('Black', '?')}" if headers else ""
    detail = f": {example['detail']}" if example["detail"] else ""
    return f"{example['file']} game {example['game']}{players}{detail}"
