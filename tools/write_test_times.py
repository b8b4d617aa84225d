"""Write the table of docs/dev/testing.md: what the tests of each file cost. `make test-times` runs this.

    python -m pytest --costs costs.json [FILES] && python tools/write_test_times.py costs.json

A file that is in several measurements, one for each tier, gets the sum. The rows of files that no measurement contains
stay as they are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "dev" / "testing.md"
BEGIN, END = "<!-- times: begin -->", "<!-- times: end -->"
COLUMNS = ("seconds", "compiling", "training", "processes", "browser")
TITLE = ("file", "tests", *COLUMNS)


def rows_of(table: str) -> dict[str, dict[str, float]]:
    """The rows of the page's table, by file."""
    found = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("`tests/"):
            numbers = [float(cell.replace(",", "") or 0) for cell in cells[1:]]
            found[cells[0].strip("`")] = dict(zip(TITLE[1:], numbers, strict=True))
    return found


def write_table(rows: dict[str, dict[str, float]]) -> str:
    """The table in Markdown, the slowest file first, with the sum in its first row."""
    total = {name: sum(row.get(name, 0) for row in rows.values()) for name in TITLE[1:]}
    lines = [f"| {' | '.join(TITLE)} |", f"|---|{'---:|' * len(TITLE[1:])}"]
    ordered = sorted(rows.items(), key=lambda item: (-item[1]["seconds"], item[0]))
    for name, row in [(f"all {len(rows)} files", total), *((f"`{name}`", row) for name, row in ordered)]:
        cells = [f"{row.get(column, 0):,.1f}" if row.get(column, 0) >= 0.05 else "" for column in COLUMNS]
        lines.append(f"| {name} | {row['tests']:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    table, after = rest.split(END)
    measured: dict[str, dict[str, float]] = {}
    for path in sys.argv[1:]:
        for name, counts in json.loads(Path(path).read_text(encoding="utf-8"))["files"].items():
            row = measured.setdefault(name, dict.fromkeys(TITLE[1:], 0.0))
            for column in row:
                row[column] += counts.get(column, 0)
    rows = rows_of(table) | measured
    root = PAGE.parents[2]
    rows = {name: row for name, row in rows.items() if (root / name).exists()}
    PAGE.write_text(f"{before}{BEGIN}\n{write_table(rows)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
