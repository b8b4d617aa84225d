"""The state that all requests to the server of `kibitz board` share."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

from kibitz.errors import KibitzError
from kibitz.web.preparing import Preparing
from kibitz.web.workers import WorkerPool, run_in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kibitz.external.programs import Program
    from kibitz.web.explored import PlayerGames
    from kibitz.web.judged import JudgedPositions
    from kibitz.web.judges import Judges
    from kibitz.web.mygames.state import MyGames
    from kibitz.web.networks import NetworkRegistry
    from kibitz.web.opinions import Opinions
    from kibitz.web.players import Players
    from kibitz.web.stores import Stores


class AppState:
    """The state that all requests to the server share: worker threads, networks, players (objects that choose moves),
    game stores, engines, and the state of the tab My games.

    given: the names of networks on the command line.
    stores: the paths of game stores.
    records: the paths of game files.
    programs: the engines that the user may select for engine analysis.
    checkers: the engines, at most one per game, that evaluate moves until the user selects other engines.
    """

    def __init__(
        self, given: list[str], stores: list[str], records: Sequence[str] = (), programs: Sequence[Program] = (),
        checkers: Sequence[Program] = (),
    ):  # fmt: skip
        self.given = given
        self._given_stores, self._given_records = stores, records
        self._given_programs, self._given_checkers = programs, checkers
        self.workers = WorkerPool()
        self.preparing = Preparing()
        self._networks: NetworkRegistry | None = None
        self._players: Players | None = None
        self._stores: Stores | None = None
        self._my_games: MyGames | None = None
        self._opinions: Opinions | None = None
        self._judges: Judges | None = None
        self.judged: JudgedPositions | None = None
        """The stored judgments of moves; None if judgments are not stored."""
        self._lock = threading.Lock()

    @property
    def networks(self) -> NetworkRegistry:
        """The networks that the browser page of `kibitz board` can use, created when they are first needed."""
        with self._lock:
            if self._networks is None:
                from kibitz.web.networks import NetworkRegistry

                self._networks = NetworkRegistry(self.given)
            return self._networks

    @property
    def players(self) -> Players:
        """The cache of players, which are networks with a method to choose moves. It is created when it is first
        needed.
        """
        networks = self.networks
        with self._lock:
            if self._players is None:
                from kibitz.web.players import Players

                self._players = Players(networks)
            return self._players

    @property
    def stores(self) -> Stores:
        """The sources of the opening explorer, created when they are first needed."""
        with self._lock:
            if self._stores is None:
                from kibitz.web.stores import Stores

                self._stores = Stores(self._given_stores, self._given_records, self._of_report)
            return self._stores

    def first_file(self) -> dict[str, Any]:
        """Return the name and the text of the first game file on the command line (see `given.first_file`)."""
        from kibitz.web.given import first_file

        return first_file(self._given_records)

    def _of_report(self) -> PlayerGames | None:
        return self._my_games.report_games() if self._my_games is not None else None

    @property
    def my_games(self) -> MyGames:
        """The state of the tab My games, created when it is first needed."""
        networks, stores, judges = self.networks, self.stores, self.judges
        with self._lock:
            if self._my_games is None:
                from kibitz.web.mygames.state import MyGames

                chess = [store.name for store in stores.of_game("chess")]
                self._my_games = MyGames([*stores.built.given("chess"), *chess], networks, judges)
            return self._my_games

    @property
    def opinions(self) -> Opinions:
        """The external engines for the browser page of `kibitz board`. They are searched for on this computer when they
        are first needed.
        """
        with self._lock:
            if self._opinions is None:
                from kibitz.web.opinions import Opinions

                self._opinions = Opinions(self._given_programs, self._given_checkers)
            return self._opinions

    @property
    def judges(self) -> Judges:
        """The engines that evaluate moves, created when they are first needed."""
        opinions, networks = self.opinions, self.networks
        with self._lock:
            if self._judges is None:
                from kibitz.web.judges import Judges

                self._judges = Judges(opinions, networks)
            return self._judges

    def end(self) -> None:
        """End all work in this process, all processes that it started, and all engines."""
        self.workers.end()
        self.preparing.end()
        if self._networks is not None:
            self._networks.end()
        if self._my_games is not None:
            self._my_games.end()
        if self._stores is not None:
            self._stores.end()
        if self._judges is not None:
            self._judges.end()
        if self._opinions is not None:
            self._opinions.end()

    def import_first(self) -> None:
        """Import, in a thread, the modules that are needed to show a game whose evaluations are stored. Neither numba
        nor a network is loaded.
        """

        def work() -> None:
            from kibitz.explorer import openings
            from kibitz.web import given, networks  # noqa: F401
            from kibitz.web.chess import judging, line  # noqa: F401

            openings.load()

        threading.Thread(target=work, name="kibitz imports", daemon=True).start()

    def warm_up(self) -> None:
        """Prepare for the first requests in a worker thread: import modules, and load the networks on the command line
        and the first bundled network.
        """

        def work() -> None:
            from kibitz.web import answers, files, planes, positions  # noqa: F401
            from kibitz.web.chess import answers as chess_answers  # noqa: F401
            from kibitz.web.chess import files as chess_files  # noqa: F401
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

        # The task is stored, because the event loop keeps only a weak reference to it.
        self._warming = asyncio.get_running_loop().create_task(run())
