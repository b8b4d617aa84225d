"""Find the moves that the explanation of a mistake mentions. The page shows the positions after these moves on a small
board.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def reason_lines(reason: Mapping[str, Any], instead: tuple[str, ...]) -> list[tuple[bool, list[str]]]:
    """Return the sequences of moves that the explanation (the reason) of a mistake mentions, in the order of its
    sentences.

    Each sequence has two values. The first is true if its moves replace the played move, and false if they follow it.
    The second is the list of moves, as they are written in the sentence.

    reason: the reason in JSON form, with the keys "code" and "parameters", and sometimes "better" and "found". instead:
    beginnings of the codes whose moves replace the played move.
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
