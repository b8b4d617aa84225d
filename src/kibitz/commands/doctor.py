"""The command `kibitz doctor`: check the installation, suggest remedies, and print a line for a bug report."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kibitz.doctor.findings import Finding

_MARKS = {"ok": "ok", "note": "note", "problem": "PROBLEM"}


def doctor(
    engine: Annotated[list[str] | None, typer.Option("--engine", metavar="COMMAND", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Check this installation and name a remedy for each problem."""
    from kibitz.doctor import examine

    found = []
    for finding in examine(engine or ()):
        found.append(finding)
        if not as_json:
            print(f"{_MARKS[finding.state]:8}{finding.key}: {finding.text}", flush=True)
            if finding.advice:
                print(f"{'':8}{finding.advice}")
    problems = [finding.key for finding in found if finding.state == "problem"]
    line = _line(found, problems)
    if as_json:
        print(json.dumps({"ok": not problems, "findings": [asdict(each) for each in found], "line": line}, indent=1))
    else:
        print(f"\n{line}")
    if problems:
        sys.stdout.flush()
        raise typer.Exit(1)


def _line(found: Sequence[Finding], problems: Sequence[str]) -> str:
    """Return one line that describes the installation, without paths."""
    texts = {finding.key: finding.text for finding in found}
    libraries = dict(entry.rsplit(" ", 1) for entry in texts["libraries"].split(", ") if " " in entry)
    named = [f"{name} {libraries[name]}" for name in ("numpy", "numba", "onnxruntime", "torch") if name in libraries]
    parts = [f"kibitz {texts['kibitz']}", f"Python {texts['python']}", texts["system"], texts["cpu"], *named]
    return "; ".join([*parts, f"problems: {', '.join(problems) or 'none'}"])
