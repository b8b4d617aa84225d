"""The command `kibitz board`: a page in the browser on which you play against networks and analyze games."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kibitz.commands.provider import Provider, use_provider
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from kibitz.external.programs import Program

PACKED = ("", ".zst", ".gz", ".bz2")
PGN = tuple(f".pgn{packed}" for packed in PACKED)
SGF = tuple(f"{ending}{packed}" for ending in (".sgf", ".sgfl", ".gib") for packed in PACKED)
RECORDS = PGN + SGF
STORE, RUN = "store.json", "run.json"
"""The files by which kibitz recognizes the folder of a store (a database of games), or of a run, which is a trained
network.
"""


def board(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            show_default=False,
            metavar="[RUN|STORE|MY.pgn|MY.sgf]...",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, metavar="NUMBER"),
    ] = None,
    engines: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            show_default=False,
            metavar="COMMAND",
        ),
    ] = None,
    checked_by: Annotated[list[str] | None, typer.Option(show_default=False, metavar="ENGINE")] = None,
    provider: Provider = None,
    lan: Annotated[bool, typer.Option("--lan")] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser")] = False,
) -> None:
    """Open a page in the browser, on which you play chess and Go against networks, and analyze games with them.

    Only this computer can open the page; with --lan, other devices in the local network can open it, too. Ctrl-C ends
    the program.
    """
    use_provider(provider)
    with contextlib.suppress(KeyboardInterrupt):
        records, others = _records(runs or [])
        stores, networks = _divided(others)

        from kibitz.environment import user_cache
        from kibitz.external.programs import read_command
        from kibitz.web import lan as network
        from kibitz.web import page
        from kibitz.web.judged import FILE, JudgedPositions
        from kibitz.web.server import Server, bind, leave, listens_outside, open_browser

        programs = [read_command(words) for words in engines or []]
        checkers = _checkers(checked_by or [])

        if lacking := page.problem():
            print(f"kibitz: {lacking}", file=sys.stderr)

        host = network.own_host() if lan else ""
        access = network.Access(network.make_key(), not lan) if lan or listens_outside() else None

        def announce(address: str) -> None:
            own = network.with_key(address, access.key) if access is not None and access.everywhere else address
            print(f"kibitz board: {own} (Ctrl-C ends it)", flush=True)
            if access is not None and lan:
                _invite(network.with_key(f"http://{host}:{address.rpartition(':')[2]}", access.key))
            if not no_browser:
                open_browser(own)

        with contextlib.closing(bind(port, lan)) as listener:
            server = Server(networks, listener, announce, stores, records, programs, checkers, access)
            server.board.judged = JudgedPositions(user_cache() / FILE)
            server.board.preparing.start()
            server.go()
        leave()


def _checkers(commands: list[str]) -> list[Program]:
    """Return the engines of --checked-by. Raises UsageError if one is not installed, and for two of the same game."""
    from kibitz.external.programs import read_command
    from kibitz.games import GAME_NAMES

    found: dict[str, Program] = {}
    for words in commands:
        program = read_command(words, "--checked-by")
        if program.game in found:
            raise UsageError(
                f"--checked-by allows one engine for chess and one for Go (got two for {GAME_NAMES[program.game]})."
                " Leave one out."
            )
        found[program.game] = program
    return list(found.values())


def _invite(address: str) -> None:
    """Print the address for other devices, and its QR code if the terminal can show it."""
    from kibitz.web.lan import qr_code

    print(f"On a phone in the same network: {address}")
    code = qr_code(address)
    with contextlib.suppress(UnicodeEncodeError):  # the terminal has no half blocks
        code.encode(sys.stdout.encoding or "ascii")
        print(code)
    print(
        "Everybody with this address can use this page. Do not use --lan in a network that you do not trust.",
        flush=True,
    )


def _records(names: list[str]) -> tuple[list[str], list[str]]:
    """Return the files of games in `names`, and the other names.

    A folder of PGN files is replaced by its files. A folder of SGF files stays one source, because such files usually
    have one game. Raises KibitzError for a missing file, and for a folder without games whose name ends like a file
    of games.
    """
    records, others = [], []
    for name in names:
        path, called = Path(name), name.lower().endswith(RECORDS)
        if called and not path.is_dir():
            if not path.is_file():
                raise KibitzError(f"{name}: no such file. Check the path.")
            records.append(name)
        elif inside := _records_inside(path):
            records += inside
        elif called and not any((path / file).exists() for file in (STORE, RUN)):
            raise KibitzError(f"the folder {name} has no PGN or SGF file. Give a file of your games.")
        else:
            others.append(name)
    return records, others


def _records_inside(folder: Path) -> list[str]:
    """Return the PGN files in a folder that is neither a store nor a run, by name; and the folder itself if it has SGF
    files.
    """
    if not folder.is_dir() or any((folder / file).exists() for file in (STORE, RUN)):
        return []
    files = sorted(str(file) for file in folder.iterdir() if file.is_file())
    chess = [file for file in files if file.lower().endswith(PGN)]
    return chess + [str(folder)] * any(file.lower().endswith(SGF) for file in files)


def _missing_store(name: str) -> bool:
    """Return whether a name has the usual extension of stores and does not exist."""
    return name.lower().endswith(".store") and not Path(name).exists()


def _divided(names: list[str]) -> tuple[list[str], list[str]]:
    """Divide names into stores and networks. Raises KibitzError for a name that is neither, or that is damaged."""
    stores = [name for name in names if (Path(name) / STORE).exists() or _missing_store(name)]
    networks = [name for name in names if name not in stores]
    if stores:
        from kibitz.store.store import Store

        for name in stores:
            Store(name)
    if networks:
        from kibitz.runs import find

        for name in networks:
            find(name)
    return stores, networks
