"""External engines that evaluate moves for the browser page of `kibitz board`, if the user selects an engine instead of
a network.

Their processes are separate from those that analyze positions on the page. A request names an engine, as in
`kibitz.web.opinions`. One worker thread processes all requests for an engine.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from kibitz.analysis.checkers import Checker
from kibitz.web.opinions import IDLE, Opinions
from kibitz.web.params import Fields, text

if TYPE_CHECKING:
    from kibitz.analysis.chess.engine_judge import EngineJudge
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.external.programs import Program
    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo, NetworkRegistry

MAX_POSITIONS = 2000
"""The number of positions whose evaluations are cached in memory, for each engine."""
OPTION = "Checked by"
"""The name of the page's option that selects the engine, for messages."""


class Judges:
    """The external engines that evaluate moves for the browser page of `kibitz board`. An engine is started when it is
    first needed, and ended when it has not been used for IDLE (300) seconds.
    """

    def __init__(self, opinions: Opinions, networks: NetworkRegistry):
        self._opinions, self._networks = opinions, networks
        self._chess: dict[tuple[str, str], EngineJudge] = {}
        self._go: dict[str, GoEngineJudge] = {}
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def program(self, fields: Fields, game: str) -> Program | None:
        """Return the engine that a request selects to evaluate moves; None if it selects the network. fields: the JSON
        of the request. game: "chess" or "go".

        Raises BadRequest if there is no such engine, or if the engine is for the other game.
        """
        name = text(fields, "checked_by", "")
        return self._opinions.desk({"program": name}, game).program if name else None

    def judge(self, program: Program, network: NetworkInfo) -> tuple[Any, Session]:
        """Return two objects: one that evaluates moves with the engine `program`, and the loaded network. The engine is
        started if necessary. The network is also needed: it gives first estimates of all moves in chess, and the
        uncertainty of the result in Go.

        Raises EngineDied if the engine fails, UsageError if the engine can't evaluate positions, and KibitzError if the
        network can't be loaded.
        """
        self.keep()
        session = self._networks.session(network.name)
        return (self._of_chess if network.game == "chess" else self._of_go)(program, session), session

    def _of_chess(self, program: Program, session: Session) -> EngineJudge:
        from kibitz.analysis import load
        from kibitz.analysis.chess.engine_judge import EngineJudge

        key = program.name, session.name
        judge = self._chess.get(key)
        if judge is None or judge.session is not session:  # the network's weights may have changed
            for (name, _), other in list(self._chess.items()):  # the thread of another engine may add one
                if name == program.name:
                    other.close()
            judge = EngineJudge(
                session, load(session.system), Checker(program, option=OPTION), max_positions=MAX_POSITIONS
            )
            self._chess[key] = judge
        return judge

    def _of_go(self, program: Program, session: Session) -> GoEngineJudge:
        from kibitz.analysis.go.engine_judge import GoEngineJudge

        judge = self._go.get(program.name)
        if judge is None:
            judge = self._go[program.name] = GoEngineJudge(Checker(program, option=OPTION), MAX_POSITIONS)
        return judge

    def keep(self) -> None:
        """Restart the idle time of the engines: they run for IDLE (300) more seconds."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(IDLE, self.end)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """End the engines. If an object from `judge` is used later, it starts its engine again."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        judges: list[Any] = [*list(self._chess.values()), *list(self._go.values())]
        for judge in judges:
            judge.close()
