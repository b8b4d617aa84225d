"""The option --provider: what computes a network's answers."""

from __future__ import annotations

from typing import Annotated

import typer

Provider = Annotated[
    str | None,
    typer.Option(
        metavar="auto|cpu|cuda|openvino",
        show_default=False,
    ),
]


def use_provider(name: str | None) -> None:
    """Answer with this provider; None: as before. Raises UsageError where it is not installed."""
    if name is not None:
        from kibitz.play.providers import choose

        choose(name)
