"""A folder on a plain web server of the test's own, as any static host serves it."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class _Handler(http.server.SimpleHTTPRequestHandler):
    disable_nagle_algorithm = True  # otherwise each answer waits about 40 ms for the client's acknowledgment

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing of requests."""


class Site:
    """A folder that is served, and its address."""

    def __init__(self, folder: Path, address: str):
        self.folder, self.address = folder, address


@contextmanager
def served(folder: Path) -> Iterator[Site]:
    """Serves a folder at a free port until the block ends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Site(folder, f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
