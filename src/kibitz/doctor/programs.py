"""Checks of the software with which kibitz works: the execution provider of ONNX Runtime (which runs networks on the
CPU or GPU), the browser page of `kibitz board`, and engines.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import kibitz
from kibitz.doctor.findings import Finding
from kibitz.errors import KibitzError, one_line
from kibitz.external import EngineDied

PATIENCE = 8.0
"""Seconds in which an engine must reply."""
PAGE = Path("web", "page", "index.html")


def provider() -> Iterator[Finding]:
    """Yield a finding about the execution provider of ONNX Runtime, which selects the device (CPU or GPU). The finding
    is a problem if the environment variable KIBITZ_PROVIDER names a provider that is not installed.
    """
    from kibitz.play import providers

    there, requested = providers.installed(), providers.requested()
    text = f"{requested}; available: {', '.join(there)}"
    if requested in there or requested == providers.AUTO:
        yield Finding("provider", "ok", text)
    else:
        yield Finding("provider", "problem", text, f"Unset {providers.PROVIDER}, or set it to {providers.CPU}.")


def page() -> Iterator[Finding]:
    """Yield a finding: whether the web page of `kibitz board` is part of the installation."""
    if (Path(kibitz.__file__).parent / PAGE).is_file():
        yield Finding("page", "ok", "built")
    else:
        advice = "Install kibitz again on a computer that reaches npm, or run: make page"
        yield Finding("page", "problem", "the page of kibitz board is missing", advice)


def installed_engines() -> Iterator[Finding]:
    """Yield a finding that lists the well-known chess and Go engines that are installed on this machine."""
    from kibitz.external.programs import known_programs

    found = ", ".join(shlex.join(program.command) for program in known_programs(()))
    advice = "" if found else "For a second opinion and for tests, install Stockfish or GNU Go."
    yield Finding("engines", "ok" if found else "note", found or "none installed", advice)


def given_engines(commands: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding for each given engine: whether it starts and replies within 8 seconds.

    commands: the engines' command lines.
    """
    from kibitz.external.programs import read_command

    for words in commands:
        key = f"engine {words}"
        try:
            program = read_command(words)
            name = _name(program.command, program.game)
        except (KibitzError, EngineDied, ValueError) as error:
            yield Finding(key, "problem", one_line(error), "Run the command in a terminal to see why.")
        else:
            yield Finding(key, "ok", name)


def _name(command: Sequence[str], game: str) -> str:
    """Start an engine and return its name. Raises EngineDied if it does not reply."""
    from kibitz.external.gtp import GtpProgram
    from kibitz.external.uci import ExternalEngine

    if game == "go":
        with GtpProgram(command) as program:
            return program.request("name", PATIENCE).strip()
    with ExternalEngine(command, patience=PATIENCE) as engine:
        engine.ping(PATIENCE)
        return engine.name
