"""`kibitz doctor`: check an installation, and suggest a remedy for each problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kibitz.doctor import machine, networks, programs
from kibitz.doctor.findings import Finding

CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    machine.versions, machine.libraries, machine.cpu, machine.free_memory, machine.caches, machine.disk,
    machine.kernels, programs.provider, programs.page, programs.installed_engines, networks.bundled,
)  # fmt: skip
"""The functions that check one thing each and yield findings, in the order of the report of `kibitz doctor`."""


def examine(engines: Sequence[str] = ()) -> Iterator[Finding]:
    """Run all checks of `kibitz doctor` and yield their findings, each of which is one line of the report.

    engines: command lines of engines to check in addition to the installed engines.
    """
    for check in CHECKS:
        yield from check()
    yield from programs.given_engines(engines)
