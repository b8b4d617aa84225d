"""Run the web server of `kibitz board`: find a free port, serve with uvicorn, and end quickly."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from types import FrameType

import uvicorn

from kibitz.errors import KibitzError
from kibitz.external.programs import Program
from kibitz.web import PORT
from kibitz.web.app import create
from kibitz.web.lan import Access

HOST, ANY_HOST = "127.0.0.1", "0.0.0.0"
ADDRESS = "KIBITZ_BOARD_ADDRESS"
"""The environment variable for containers that sets the default address of the server, as HOST:PORT, such as
0.0.0.0:8000. If it is set, all requests need a key.
"""
N_PORTS = 100
"""The number of ports, from PORT on, that the server tries if the user gave no port."""
_WHY = {errno.EADDRINUSE: "another program uses the port", errno.EACCES: "this system does not allow the port"}
_TEXT_BROWSERS = ("www-browser", "links", "elinks", "lynx", "w3m")


def bind(port: int | None, lan: bool = False) -> socket.socket:
    """Return a socket that listens on a port of this computer.

    port: the port; None for the port in the environment variable KIBITZ_BOARD_ADDRESS or, without it, the first free
    port from 8642 on. lan: whether other computers can reach the socket. Raises KibitzError if no port can be used.
    """
    host, given = _default_address()
    host = ANY_HOST if lan else host
    is_option = port is not None
    port = port if port is not None else given
    for candidate in range(PORT, PORT + N_PORTS) if port is None else (port,):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":  # allows a recently used port; on other systems, the option has another meaning
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen(128)
        except OSError as error:
            listening.close()
            if port is not None:
                why = _WHY.get(error.errno or 0, str(error))
                if is_option:
                    raise KibitzError(
                        f"--port {port} cannot be used: {why}. Choose another port, or leave the option out"
                    ) from None
                raise KibitzError(f"{ADDRESS}={host}:{port} cannot be used: {why}. Set another address") from None
            continue
        return listening
    raise KibitzError(f"the ports {PORT} to {PORT + N_PORTS - 1} are all in use. Choose a free port with --port")


def listens_outside() -> bool:
    """Return whether the environment variable KIBITZ_BOARD_ADDRESS makes the browser page of `kibitz board` reachable
    from other computers. Raises KibitzError if its value is invalid.
    """
    return not _default_address()[0].startswith("127.")


def _default_address() -> tuple[str, int | None]:
    """Parse the host and the port in ADDRESS. Without it, the host is this machine and there is no port. Raises
    KibitzError.
    """
    address = os.environ.get(ADDRESS, "")
    host, _, port = address.rpartition(":")
    if not address:
        return HOST, None
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise KibitzError(f"{ADDRESS} must be HOST:PORT, such as 0.0.0.0:8000 (got {address})")
    return host, int(port)


class Server(uvicorn.Server):
    """The server of kibitz board. At the first signal, such as Ctrl-C, the server cancels all work and stops.

    given: the names of networks to load at the start. listening: the socket, see `bind`. begun: a function that is
    called with the page's address when the server has started. The other arguments are those of
    `kibitz.web.app.create`.
    """

    def __init__(
        self, given: list[str], listening: socket.socket, begun: Callable[[str], None],
        stores: list[str] | None = None, records: Sequence[str] = (), programs: Sequence[Program] = (),
        checkers: Sequence[Program] = (),
        access: Access | None = None,
    ):  # fmt: skip
        host, port = listening.getsockname()
        wall, self.board = create(given, port, stores or [], records, programs, checkers, access)
        super().__init__(
            uvicorn.Config(
                wall, log_config=None, log_level="critical", access_log=False, lifespan="off", ws="none", http="h11",
                loop="asyncio", proxy_headers=False, server_header=False, timeout_graceful_shutdown=1,
            )
        )  # fmt: skip
        self.address = f"http://{HOST if host == ANY_HOST else host}:{port}"
        self.listening, self.begun = listening, begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.board.import_first()
        self.begun(self.address)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = self.force_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.board.end()
        await super().shutdown(sockets)

    def go(self) -> None:
        """Run the server until a signal, or until should_exit is set."""
        asyncio.run(self.serve([self.listening]))


def open_browser(address: str) -> None:
    """Open the address in a web browser, and return immediately. Browsers that run in the terminal are not used."""

    def work() -> None:
        with contextlib.suppress(webbrowser.Error, OSError):
            browser = webbrowser.get()
            if getattr(browser, "name", "") not in _TEXT_BROWSERS:
                browser.open(address)

    threading.Thread(target=work, daemon=True).start()


def leave() -> None:
    """End the program immediately, without the cleanup of the interpreter.

    All data are already saved. With torch, the cleanup takes seconds, and threads that run compiled code would return
    to an interpreter that has ended.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)
