"""The command `kibitz explore`: the moves that were played in a position, in all games of a store (a database of
games).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.progress import BAR, ELAPSED, LEFT, Progress
from kibitz.commands.tables import print_table
from kibitz.text import number_of

LISTED = 20
"""The largest number of moves in the table."""

if TYPE_CHECKING:
    from kibitz.explorer.answers import Explorer


def explore(
    store: Annotated[
        Path,
        typer.Argument(show_default=False, metavar="STORE"),
    ],
    moves: Annotated[
        list[str] | None,
        typer.Argument(
            show_default=False,
            metavar="[MOVES]...",
        ),
    ] = None,
    fen: Annotated[str | None, typer.Option(show_default=False, metavar="FEN")] = None,
    rating: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            metavar="RANGE",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Show the moves that were played in a position, with their number of games and results. Games that reach the
    position by another order of moves also count.

    The first call makes an index next to the store, which takes a few seconds.
    """
    from kibitz.explorer.answers import read_band
    from kibitz.explorer.report import explore
    from kibitz.store.store import Store

    opened = Store(store)
    band = read_band(rating, opened.game) if rating is not None else None
    found = explore(_explorer(opened), moves or (), fen, band)
    if as_json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        _report(found)


def _explorer(store: Any) -> Explorer:
    from kibitz.explorer.answers import Explorer

    with Progress("index of {task.fields[games]}", BAR, ELAPSED, LEFT, patient=True) as progress:
        progress.begin("", 1.0, games=number_of(len(store), "game"))
        return Explorer(store, lambda share: progress.update(share, "index"))


def _report(found: dict[str, Any]) -> None:
    opening = found["opening"]
    title = f"{opening['eco']} {opening['name']}" if opening else found["store"]
    sides = ("white", "draws", "black") if found["game"] == "chess" else ("black", "draws", "white")
    headings = ("move", "games", "share", *_HEADINGS[found["game"]], "rating")
    rows = [
        (
            each["san"],
            f"{each['games']:,}",
            _percent(each["games"], found["games"]),
            *_shares(each, sides),
            _rated(each, found),
        )
        for each in found["moves"][:LISTED]
    ]
    rows.append(("all", f"{found['games']:,}", "", *_shares(found, sides), _rated(found, found)))
    print_table(title, headings, rows, right=range(1, len(headings)))
    if (rest := len(found["moves"]) - LISTED) > 0:
        print(f"and {rest} more. To print all of them, add --json.")
    if found["examples"]:
        print()
        games = [
            (
                str(one["game"]),
                _player(one, "white"),
                _player(one, "black"),
                _result(one, found["game"]),
                one["date"] or "",
            )
            for one in found["examples"]
        ]
        print_table("some of the games, the highest rated first", ("game", "White", "Black", "result", "date"), games)


_HEADINGS = {"chess": ("White won", "drawn", "Black won"), "go": ("Black won", "drawn", "White won")}


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else ""


def _shares(entry: dict[str, Any], sides: tuple[str, ...]) -> list[str]:
    return [_percent(entry[side], entry["games"]) for side in sides]


def _rated(entry: dict[str, Any], found: dict[str, Any]) -> str:
    value = entry["average_rating"]
    if value is None:
        return ""
    if found["game"] == "chess":
        return f"{value:.0f}"
    from kibitz.games.go.ranks import rank_of

    return rank_of(round(value))


def _player(game: dict[str, Any], colour: str) -> str:
    rating = game.get(f"{colour}_rating") or game.get(f"{colour}_rank")
    return f"{game[colour] or '?'} ({rating})" if rating else str(game[colour] or "?")


def _result(game: dict[str, Any], kind: str) -> str:
    if kind == "chess":
        return {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[game["result"]]
    return {1: "B+", 0: "drawn", -1: "W+"}[game["result"]]
