"""Read SGF games as trees with variations: for the browser page of `kibitz board`, and for games that the fast scanner
of main lines does not understand.

The library sgfmill parses the text after two repairs: a missing semicolon at the root, as in files of the server Sina,
and a missing end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sgfmill import sgf_grammar

from kibitz.games.go.points import GRID, PASS, SIZES, on_board

Properties = dict[str, list[bytes]]
_VALUE = re.compile(rb"\[(?:\\.?|[^\]\\])*+(\]|\Z)", re.DOTALL)
"""Matches a value with its brackets, or at the end of the text a value without its closing bracket."""
_ROOT = re.compile(rb"\(\s*(?=[A-Z]{2}\s*\[)")
"""The beginning of a game whose root has no semicolon."""


def parse_tree(text: bytes, closed: bool = True) -> Any:
    """Return a game as a tree (a "coarse game tree" of the library sgfmill). Raises ValueError if the text is not SGF.

    Each tree has two attributes: `sequence`, a list of nodes, each as Properties, and `children`, a list of trees, one
    for each variation. closed: whether the text has the game's closing parenthesis.
    """
    if root := _ROOT.match(text):
        text = text[: root.end()] + b";" + text[root.end() :]
    return sgf_grammar.parse_sgf_game(text if closed else _closed(text))


def _closed(text: bytes) -> bytes:
    """Complete a game whose end is missing: remove an open value, and close all open brackets."""
    depth, at = 0, 0
    for match in _VALUE.finditer(text):
        if not match[1]:
            text = text[: match.start()].rstrip(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ \r\n\t")
            break
        depth += text.count(b"(", at, match.start()) - text.count(b")", at, match.start())
        at = match.end()
    depth += text.count(b"(", at) - text.count(b")", at)
    return text + b")" * depth


def words_of(values: Sequence[bytes]) -> str:
    """Return the values of an SGF property as one text, without SGF escapes. The values are joined by newlines."""
    return "\n".join(sgf_grammar.text_value(value).decode("utf-8", "replace") for value in values).strip()


def main_sequence(tree: Any) -> Iterator[Properties]:
    """Yield the nodes of the main line of a tree from `parse_tree`. The main line follows the first variation at every
    branch.
    """
    while True:
        yield from tree.sequence
        if not tree.children:
            return
        tree = tree.children[0]


def read_size(text: str) -> int:
    """Return the size of the board from the value of the SGF property SZ: 19 if it is empty, 0 for a size that kibitz
    does not support.
    """
    if not text.strip():
        return GRID
    one = [part.strip() for part in text.split(":")]
    size = int(one[0]) if len(set(one)) == 1 and one[0].isascii() and one[0].isdigit() and len(one[0]) < 4 else 0
    return size if size in SIZES else 0


def read_point(value: bytes, size: int) -> int | None:
    """Return the point that an SGF property value means, such as "dd"; PASS for a pass, or None if the value is not a
    point of the board. size: the board's size.
    """
    word = b"".join(value.split()).lower()  # the value may contain line breaks
    if not word or (word == b"tt" and size <= GRID):
        return PASS
    if len(word) != 2:
        return None
    point = (word[1] - 97) * GRID + word[0] - 97
    inside = 97 <= word[0] < 97 + size and 97 <= word[1] < 97 + size
    return point if inside and on_board(point, size) else None


def read_points(values: Sequence[bytes], size: int) -> list[int]:
    """Return the points in a list of SGF property values, in which "aa:cc" means a rectangle. Raises ValueError, whose
    message is the first value that is not a point. size: the board's size.
    """
    points = []
    for value in values:
        corners = [read_point(part, size) for part in value.split(b":")][:2]
        if None in corners or PASS in corners:
            raise ValueError(value.decode("utf-8", "replace"))
        (row, column), (last_row, last_column) = (divmod(int(corners[i] or 0), GRID) for i in (0, -1))
        for r in range(min(row, last_row), max(row, last_row) + 1):
            points += [r * GRID + c for c in range(min(column, last_column), max(column, last_column) + 1)]
    return points
