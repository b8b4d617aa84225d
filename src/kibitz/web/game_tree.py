"""Trees of moves as the page has them: a list of nodes, the root first, a parent before its children, the main child
before its siblings. Walked without recursion: a line may be thousands of moves deep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kibitz.web.params import BadRequest, Fields, objects, text

MAX_NODES = 20_000
"""Positions of one game, variations included, that the page is given."""
MAX_COMMENT_LENGTH = 100_000
MAX_GAMES = 500
"""Games of a file that are listed."""
MAX_PROBLEMS = 20


@dataclass
class Written:
    """A node that the page wants written: its move, words and marks; children by their places in the list."""

    move: str | None
    comment: str
    nags: list[int]
    fields: Fields
    children: list[int] = field(default_factory=list)


def read_tree(fields: Fields) -> list[Written]:
    """The tree of a request. Raises BadRequest where it is none."""
    nodes = objects(fields.get("tree"), "tree", MAX_NODES)
    found: list[Written] = []
    places: dict[Any, int] = {}
    for place, node in enumerate(nodes):
        name, parent, move = node.get("id", place), node.get("parent"), node.get("move")
        if isinstance(name, list | dict) or name in places:
            raise BadRequest(f"tree: node {place} has no id of its own")
        if place:
            if isinstance(parent, list | dict) or parent not in places:
                raise BadRequest(f"tree: the parent of node {place} does not stand before it")
            if not isinstance(move, str):
                raise BadRequest(f"tree: node {place} has no move")
            found[places[parent]].children.append(place)
        places[name] = place
        comment = text(node, "comment", "")[:MAX_COMMENT_LENGTH]
        nags = node.get("nags") or []
        if not isinstance(nags, list) or not all(isinstance(nag, int) and 0 <= nag < 256 for nag in nags):
            raise BadRequest(f"tree: the nags of node {place} must be numbers from 0 to 255")
        found.append(Written(move if place else None, comment, sorted(set(nags)), node))
    if not found:
        raise BadRequest("tree: has no root")
    return found


def few(problems: list[str]) -> list[str]:
    """Not more lines than anybody reads."""
    rest = len(problems) - MAX_PROBLEMS
    return problems if rest <= 0 else [*problems[:MAX_PROBLEMS], f"and {rest:,} more"]


def loaded(
    line: Any, headers: dict[str, str], tree: list[dict[str, Any]], games: list[str], count: int, problems: list[str]
) -> dict[str, Any]:
    """What /api/load answers. line: the start; games: titles."""
    return {
        "game": line.game,
        "headers": headers,
        "line": line.as_json(),
        "tree": tree,
        "games": [{"index": i, "title": title} for i, title in enumerate(games)],
        "count": count,
        "problems": few(problems),
    }
