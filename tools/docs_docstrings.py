"""Examples in docstrings (`>>> …`) as blocks of code on the pages of the Python reference."""

from __future__ import annotations

from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Fences the examples of each docstring; the paragraphs around them stay text."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text with a fence around each paragraph that begins with `>>>`."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(f"```pycon\n{each}\n```" if each.lstrip().startswith(">>>") else each for each in paragraphs)
