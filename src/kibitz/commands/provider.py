"""The option --provider, which selects the device (such as CPU or GPU) that computes a network's outputs."""

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
    """Select the execution provider of ONNX Runtime, the software that computes networks on a device.

    name: the provider, such as "cuda"; None for no change. Raises UsageError if the provider is not installed.
    """
    if name is not None:
        from kibitz.play.providers import choose

        choose(name)
