"""Print the tables of the commands. On a terminal, the tables have lines. Elsewhere, they are plain text with two
spaces between columns.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

_MOST_COLUMNS = 6
"""If the terminal is too narrow, a table with more columns than this is split, because its words would be cut."""


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table on standard output.

    title: the text above the table; "" for none.
    headings: the headings of the columns; empty strings for a table without headings.
    rows: the texts of the cells, row by row.
    right: the indices, from 0, of the columns that are aligned to the right.
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
        table.add_row(*map(Text, row))  # Text objects, because the names in games may contain rich's markup
    console = Console()
    unbounded = console.options.update(max_width=10_000)
    if len(headings) > _MOST_COLUMNS and console.measure(table, options=unbounded).maximum > console.width:
        half = (len(headings) + 1) // 2
        for columns in (range(half), (0, *range(half, len(headings)))):
            if columns[-1] >= half:
                print()
            part = [[row[i] for i in columns] for row in (headings, *rows)]
            _draw(title, part[0], part[1:], [at for at, i in enumerate(columns) if i in right])
            title = ""
        return
    console.print(table)
