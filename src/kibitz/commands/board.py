"""kibitz board: the networks in the browser."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from kibitz.web import PORT


def board(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Runs, or names of packaged networks, to show first. Runs in the folder runs/ and packaged networks"
            " are there anyway.",
            show_default=False,
            metavar="[RUN]...",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            help=f"Port to serve on. Default: {PORT}, or the next free one.", min=1, max=65535, metavar="NUMBER"
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser; the address is printed.")] = False,
) -> None:
    """Play the networks, load a game and see what they see, in the browser: chess and Go.

    Serves this machine alone, until Ctrl-C.
    """
    with contextlib.suppress(KeyboardInterrupt):
        if runs:
            from kibitz.runs import find

            for name in runs:
                find(name)

        from kibitz.web.server import Server, bind, leave, open_browser

        def announce(address: str) -> None:
            print(f"kibitz board: {address} (Ctrl-C ends it)", flush=True)
            if not no_browser:
                open_browser(address)

        with contextlib.closing(bind(port)) as listener:
            Server(runs or [], listener, announce).go()
        leave()
