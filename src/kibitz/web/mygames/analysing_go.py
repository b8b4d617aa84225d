"""A process that analyzes a player's Go games. It repeatedly sends the report of `kibitz analyze --player`, which grows
with each game.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kibitz.web.mygames.background import Message, Send
from kibitz.web.mygames.telling import QUICK, THOROUGH, Teller

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kibitz.analysis import OwnerAnalysis
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.play.session import Session


def work(job: Message, send: Send, stop: threading.Event) -> None:
    """Analyze the Go games of a player, and send messages with the progress and the growing report. The arguments, the
    messages and the errors are those of `analysing.work`. The dict `job` also has the key "sizes": the board sizes that
    the network supports.

    In the quick stage, the network evaluates each position, and a search checks only moves that may be mistakes. In the
    thorough stage, each position is searched, so the losses are larger. For this reason, a report has the games of one
    stage only. (A report on chess games may have games of both stages.)

    If an engine evaluates the moves, there is only the thorough stage. If the network evaluates them, the report of the
    thorough stage compares the losses with those of players of the same rank, if kibitz has such data for the network.
    """
    from kibitz.analysis import load_owners
    from kibitz.analysis.go.losses import fitted_losses
    from kibitz.analysis.go.player import GoPlayerReport
    from kibitz.analysis.go.reason_texts import LANGUAGES
    from kibitz.errors import KibitzError
    from kibitz.play.session import Session
    from kibitz.runs import Run

    session = Session(Run(job["network"]))
    lines = Path(job["games"]).read_text(encoding="utf-8").splitlines()
    first_refused, done = "", 0
    with _engine(job.get("engine")) as engine:
        games = _Games(session, load_owners(session.system), engine, max(job["sizes"]), stop)
        for stage in (THOROUGH,) if engine else (QUICK,) if job["quick"] else (QUICK, THOROUGH):
            usual = fitted_losses(session) if stage == THOROUGH and engine is None else None
            teller = Teller(partial(GoPlayerReport, job["player"], usual=usual), job["source"], send, LANGUAGES)
            teller.begin(stage, engine.checked_by if engine else None, keep=False)
            first_refused = games.analyse(lines, stage, teller) or first_refused
            teller.send_report()
            done += teller.report.games
            if stop.is_set():
                break
    if not done and not stop.is_set():
        raise KibitzError(f"none of the player's games can be analyzed ({first_refused})")


@contextmanager
def _engine(engine: Message | None) -> Iterator[GoEngineJudge | None]:
    """Start the engine of a request; None if there is none."""
    from kibitz.analysis.checkers import Checker
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.external.programs import Program
    from kibitz.web.judges import OPTION

    if engine is None:
        yield None
        return
    with GoEngineJudge(Checker(Program(engine["name"], tuple(engine["command"]), "go"), option=OPTION)) as judge:
        yield judge


@dataclass(frozen=True)
class _Games:
    """Analyzes games with a network and an engine. largest: the largest board that the network supports."""

    session: Session
    analysis: OwnerAnalysis
    engine: GoEngineJudge | None
    largest: int
    stop: threading.Event

    def analyse(self, lines: Sequence[str], stage: str, teller: Teller) -> str:
        """Analyze games at one stage. Ends early if the analysis is stopped. Returns why the first rejected game was
        rejected; "" if none was.

        lines: the games, one JSON line each (see `work`). stage: QUICK or THOROUGH. teller: collects the results and
        sends the report to the page.
        """
        from kibitz.analysis.checkers import GameRejected
        from kibitz.analysis.go.games import QUICK as QUICK_NODES
        from kibitz.analysis.go.games import analyse
        from kibitz.analysis.go.player import GoSides
        from kibitz.games.go.io.sgf import parse_record
        from kibitz.games.go.points import BLACK, WHITE

        repeats, first_refused = GoSides(()), ""
        for line in lines:
            chosen = json.loads(line)
            try:
                record = parse_record(chosen["text"], cut=True)
                refused = "" if record.size <= self.largest else f"the board is {record.size}×{record.size}"
            except ValueError as error:
                refused = str(error)
            if refused:
                first_refused = first_refused or f"game {chosen['number']}: {refused}"
            if refused or not repeats.is_new(record):
                teller.game_left_out()
                continue
            try:
                game = analyse(
                    chosen["number"], record, self.session, self.analysis, None,
                    QUICK_NODES if stage == QUICK else None, steadied=True, engine=self.engine,
                )  # fmt: skip
            except GameRejected as error:
                first_refused = first_refused or f"game {chosen['number']}: {error}"
                teller.game_left_out()
                continue
            teller.game_done(chosen["number"], game, BLACK if chosen["side"] == "black" else WHITE)
            if self.stop.is_set():
                break
        return first_refused
