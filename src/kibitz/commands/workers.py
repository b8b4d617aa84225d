"""The options --workers and --ray, which divide work among processes of this computer or of a Ray cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kibitz.cores import cores
from kibitz.errors import UsageError
from kibitz.parallel import Backend

LOCAL = "local"
_ADDRESS = re.compile(r"(ray://)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+):\d{1,5}")
_LIKE_AN_ADDRESS = re.compile(r"ray://.*|[\w.-]+:\d?\w*")
"""Matches words after --ray that are meant as an address, even if they are invalid. Any other word is a file. A file in
an archive has a file extension after the colon (GAMES.zip:A.pgn).
"""


def is_address(text: str) -> bool:
    """Return whether a text is a valid value of --ray: HOST:PORT of a cluster, or "local"."""
    return text == LOCAL or _ADDRESS.fullmatch(text) is not None


def with_ray_local(arguments: list[str]) -> list[str]:
    """Return a command line in which each --ray without a value has the value "local".

    The word after --ray is the value if it is an address or looks like a misspelled address.
    """
    followers = [*arguments, ""][1:]
    return [
        word if word != "--ray" or is_address(following) or _is_wrong_address(following) else f"--ray={LOCAL}"
        for word, following in zip(arguments, followers, strict=True)
    ]


def _is_wrong_address(text: str) -> bool:
    return _LIKE_AN_ADDRESS.fullmatch(text) is not None and not Path(text.rpartition(":")[0]).exists()


Ray = Annotated[
    str | None,
    typer.Option(
        metavar="[ADDRESS]",
        show_default=False,
    ),
]


def ray_backend(text: str, workers: int) -> Backend:
    """Return the backend (the description of where work is computed) for a value of --ray.

    text: the value, HOST:PORT of a cluster, or "local". workers: the number of worker processes that a local Ray
    starts. Raises UsageError if Ray is not installed or the address is invalid.
    """
    if not is_address(text):
        raise UsageError(f"--ray must be an address HOST:PORT, or be empty to use this computer (got {text})")
    from kibitz.parallel.on_ray import need_ray

    need_ray()
    return Backend("ray", workers, None if text == LOCAL else text)


@dataclass(frozen=True)
class WorkerOptions:
    """The command-line options for the number of worker processes, and for the computers on which they run."""

    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default=False,
        ),
    ] = None
    ray: Ray = None

    def check_unused(self, option: str) -> None:
        """Raise UsageError if the user gave --workers or --ray together with an option whose work can't be divided
        among workers.

        option: the name of that option, such as "--against".
        """
        for name, value in (("--workers", self.workers), ("--ray", self.ray)):
            if value is not None:
                raise UsageError(f"{name} cannot be combined with {option} (got {value}). Leave one of them out.")

    def backend(self) -> Backend | None:
        """Return the backend (the description of where work is computed). It is None if neither --workers nor --ray was
        given, so that this process does the work.

        Raises UsageError if Ray is not installed, if the address is invalid, or if --workers was given together with
        the address of a cluster.
        """
        if self.ray is None:
            return Backend("processes", self.workers) if self.workers else None
        backend = ray_backend(self.ray, self.workers or cores())
        if backend.address and self.workers:
            raise UsageError(
                "--workers cannot be combined with the address of a Ray cluster, because kibitz uses all cores of the"
                " cluster. Leave --workers out."
            )
        return backend
