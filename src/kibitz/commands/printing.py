"""Tables of the commands: drawn on a terminal, plain lines with two spaces between columns anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table on standard output; columns whose numbers are in `right` are set to the right.

    An empty title or empty headings are not printed.
    """
    if sys.stdout.isatty():
        _draw(title, headings, rows, right)
        return
    lines = [headings, *rows] if any(headings) else list(rows)
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    if title:
        print(title)
    for line in lines:
        cells = (
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join(cells).rstrip())


def _draw(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE, show_header=any(headings), show_edge=False)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # Text, since names of games may hold what rich takes for markup
    Console().print(table)
