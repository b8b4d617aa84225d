"""Parse numbers in the headers of Go records."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"([+-]?)(\d+(?:[.,]\d+)?|[.,]\d+)(?!\d|[eE]\d|\s*[/½¼¾又])")
_FRACTION = re.compile(r"([+-]?)(?:(\d{1,9})\s*(?:又|\s)\s*)?(\d{1,9})\s*/\s*([1-9]\d{0,8})(?!\d|/)")
_SIGNED_PART = re.compile(r"([+-]?)(\d{0,9})\s*([½¼¾])")
_PARTS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_NARROW = str.maketrans("．，＋－−／", ".,+--/")
"""Full-width signs, which Chinese and Japanese keyboards write. Full-width digits need no change."""


def read_number(text: str) -> float | None:
    """Return the number at the beginning of a text; None if the text does not begin with a number. Digits and signs may
    be full-width, as in East Asian text.

    Examples are 6.5, .5, +6,5, 1/2, 2 3/4, 6½ and 3又1/4.
    """
    text = text.translate(_NARROW)
    if found := _FRACTION.match(text):
        value = int(found[2] or 0) + int(found[3]) / int(found[4])
    elif found := _SIGNED_PART.match(text):
        value = int(found[2] or 0) + _PARTS[found[3]]
    elif found := _NUMBER.match(text):
        value = float(found[2].replace(",", "."))
    else:
        return None
    return -value if found[1] == "-" else value
