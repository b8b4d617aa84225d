"""The state that all requests of a board share."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

from kibitz.errors import KibitzError
from kibitz.web.workers import WorkerPool, run_in_thread

if TYPE_CHECKING:
    from kibitz.web.networks import NetworkRegistry
    from kibitz.web.players import Players


class AppState:
    """The worker threads, the networks and the players. given: names of networks on the command line."""

    def __init__(self, given: list[str]):
        self.given = given
        self.workers = WorkerPool()
        self._networks: NetworkRegistry | None = None
        self._players: Players | None = None
        self._lock = threading.Lock()

    @property
    def networks(self) -> NetworkRegistry:
        """All networks; made in the first thread that needs them, because their imports take time."""
        with self._lock:
            if self._networks is None:
                from kibitz.web.networks import NetworkRegistry

                self._networks = NetworkRegistry(self.given)
            return self._networks

    @property
    def players(self) -> Players:
        """The players, made likewise."""
        networks = self.networks
        with self._lock:
            if self._players is None:
                from kibitz.web.players import Players

                self._players = Players(networks)
            return self._players

    def warm_up(self) -> None:
        """In a worker thread: import the modules of the first requests, and load the networks of the command line."""

        def work() -> None:
            from kibitz.web import answers, files, planes, positions  # noqa: F401
            from kibitz.web.chess import answers as chess_answers  # noqa: F401
            from kibitz.web.chess import line as chess_line  # noqa: F401

            networks = self.networks
            known = [network for network in networks.known() if network.problem is None]
            usual = next((network.name for network in known if network.source == "package"), None)
            for network in known:
                if network.name in networks.given or network.name == usual:
                    with contextlib.suppress(KibitzError):
                        networks.session(network.name)

        async def run() -> None:
            with contextlib.suppress(Exception):
                await run_in_thread(self.workers.worker("warm"), work)

        self._warming = asyncio.get_running_loop().create_task(run())  # the loop itself keeps no reference
