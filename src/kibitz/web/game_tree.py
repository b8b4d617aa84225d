"""Trees of moves, as the browser page of `kibitz board` sends and receives them: a list of nodes with the root first,
parents before children, and the main move before variations.

The functions use no recursion, because a line may be thousands of moves deep.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kibitz.web.params import BadRequest, Fields, objects, optional_object, text

MAX_NODES = 20_000
"""The largest number of positions of one game, including variations, that the page gets."""
MAX_COMMENT_LENGTH = 100_000
MAX_GAMES = 500
"""The largest number of games of a file that are listed."""
MAX_PROBLEMS = 20
MAX_NAG = 255


@dataclass
class Written:
    """A node of a tree of moves that is to be written as PGN or SGF.

    move: the move that leads to the node; None for the root.
    comment: the comment on this move.
    nags: the annotations of the move, as numeric annotation glyphs of PGN.
    fields: all fields of the node in the request.
    children: the node's children, as indices in the list of nodes.
    """

    move: str | None
    comment: str
    nags: list[int]
    fields: Fields
    children: list[int] = field(default_factory=list)


def read_tree(fields: Fields) -> list[Written]:
    """Parse the tree of moves in a request, and return its nodes, the root first. fields: the JSON of the request.
    Raises BadRequest if the tree is malformed.
    """
    nodes = objects(fields.get("tree"), "tree", MAX_NODES)
    tree: list[Written] = []
    index_of: dict[Any, int] = {}
    for index, node in enumerate(nodes):
        name, parent, move = node.get("id", index), node.get("parent"), node.get("move")
        if isinstance(name, list | dict) or name in index_of:
            raise BadRequest(f"tree: the id of node {index} is not unique")
        if index:
            if isinstance(parent, list | dict) or parent not in index_of:
                raise BadRequest(f"tree: the parent of node {index} is not among the nodes before it")
            if not isinstance(move, str):
                raise BadRequest(f"tree: node {index} has no move")
            tree[index_of[parent]].children.append(index)
        index_of[name] = index
        comment = text(node, "comment", "")[:MAX_COMMENT_LENGTH]
        nags = [] if node.get("nags") is None else node["nags"]
        if not isinstance(nags, list) or not all(isinstance(nag, int) and 0 <= nag <= MAX_NAG for nag in nags):
            raise BadRequest(f"tree: the nags of node {index} must be numbers from 0 to {MAX_NAG}")
        tree.append(Written(move if index else None, comment, sorted(set(nags)), node))
    if not tree:
        raise BadRequest("tree must have a root")
    return tree


def texts(fields: Fields, name: str) -> dict[str, str]:
    """Return a field of a request: a dict from strings to strings; {} if the field is missing. fields: the
    JSON of the request. name: the name of the field. Raises BadRequest for any other value.
    """
    value = optional_object(fields, name)
    if not all(isinstance(item, str) for item in value.values()):
        raise BadRequest(f"{name} must be an object of strings")
    return dict(value)


def few(problems: list[str]) -> list[str]:
    """Return the lines of `problems` if there are at most MAX_PROBLEMS (20). Otherwise, return the first 20 lines, and
    one more line with the number of omitted lines.
    """
    rest = len(problems) - MAX_PROBLEMS
    return problems if rest <= 0 else [*problems[:MAX_PROBLEMS], f"and {rest:,} more"]


def loaded(
    line: Any, headers: dict[str, str], tree: list[dict[str, Any]], games: list[str], count: int, problems: list[str]
) -> dict[str, Any]:
    """Return the response of /api/load, with games that were read, as a dict.

    line: the start position.
    headers: the PGN tags or SGF properties of the game.
    tree: the nodes of the game, the root first.
    games: the titles of the first games in the text.
    count: the number of games in the text.
    problems: what could not be read, one line each.
    """
    return {
        "game": line.game,
        "headers": headers,
        "line": line.as_json(),
        "tree": tree,
        "games": [{"index": i, "title": title} for i, title in enumerate(games)],
        "count": count,
        "problems": few(problems),
    }
