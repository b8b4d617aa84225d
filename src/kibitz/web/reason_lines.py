"""The moves that the reason of a mistake mentions. The page shows the positions after them on a small board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def reason_lines(reason: Mapping[str, Any], instead: tuple[str, ...]) -> list[tuple[bool, list[str]]]:
    """Return the lines of moves that a reason's sentences mention, in the order of the sentences.

    Each line has two values: whether its moves begin instead of the played move (if False, they follow it), and the
    moves as they are written in the sentence.

    reason: the reason in JSON form, with the keys "code" and "parameters", and sometimes "better" and "found".
    instead: beginnings of the codes whose moves begin instead of the played move.
    """
    parts = [(reason["code"], reason["parameters"])]
    if "better" in reason:
        parts.append((reason["better"]["code"], reason["better"]["parameters"]))
    if "found" in reason:
        parts.append(("found", reason["found"]))
    found = []
    for code, parameters in parts:
        moves = parameters.get("line") or ([parameters["move"]] if "move" in parameters else [])
        if moves:
            found.append((code.startswith(instead), list(moves)))
    return found
