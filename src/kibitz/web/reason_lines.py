"""Find the moves that the explanation of a mistake mentions. The page shows the positions after these moves on a small
board.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def reason_lines(reason: Mapping[str, Any], instead: tuple[str, ...]) -> list[tuple[bool, list[str]]]:
    """Return the sequences of moves that the explanation (the reason) of a mistake mentions, in the order of its
    sentences.

    A sequence is a pair of values. The first value is true if the sequence begins with a move that is better than the
    played move. It is false if the sequence follows the played move. The second value is the list of moves, as the
    sentence has them.

    reason: the explanation in JSON form, with the keys "code" (the kind of explanation) and "parameters". It may also
        have "better" and "found", which describe further sentences.
    instead: the beginnings of some codes. If the code of a sentence has one of these beginnings, the sequence begins
        with a better move.
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
