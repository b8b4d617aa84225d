"""The process that analyzes a player's games. It sends the report of `kibitz analyze --player` repeatedly while it
grows.
"""

from __future__ import annotations

import copy
import json
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kibitz.web.mygames.background import Message, Send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kibitz.analysis import Analysis
    from kibitz.analysis.checkers import CheckedBy
    from kibitz.analysis.chess.judging import Judge
    from kibitz.analysis.chess.moves import AnalysedGame
    from kibitz.analysis.chess.player import PlayerReport
    from kibitz.analysis.chess.strength.player import PlayerStrength
    from kibitz.play.session import Session

QUICK, THOROUGH = "quick", "thorough"
"""The stages of an analysis."""
QUICK_NODES = 10_000
"""Nodes per position of an engine in the quick stage."""
MAX_GAMES_SAVED = 1000
"""The games of the quick stage are kept in memory until the thorough stage has replaced them, if there are at most this
many.
"""
EVERY, SHARE = 1.5, 0.05
"""The shortest time in seconds between two reports, and the largest share of the time that reports may take: computing
their intervals takes time.
"""


def work(job: Message, send: Send, stop: threading.Event) -> None:
    """Analyze games and send the report repeatedly.

    job: a dict. "games" is a file with a JSON line (number, side, text) for each game. "network", "player" and
    "source" are names. "quick" is whether to run only the quick stage. "engine" has the "name" and the "command" of an
    engine, if an engine evaluates the moves. A quick stage evaluates all games first. Then a thorough stage searches
    each move, and its games replace the quick ones in the report. Sends "begun", then after each game "stage" (QUICK or
    THOROUGH), "done", "left_out", "seconds" of the stage, and sometimes "report".
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.player import PlayerReport
    from kibitz.analysis.chess.strength.player import PlayerStrength, is_fitted_for
    from kibitz.analysis.glyphs import CHESS_SWING
    from kibitz.errors import KibitzError
    from kibitz.play.session import Session
    from kibitz.runs import Run

    session = Session(Run(job["network"]))
    analysis = load(session.system)
    teller = _Teller(lambda: PlayerReport(job["player"], CHESS_SWING), job["source"], send)
    lines = Path(job["games"]).read_text(encoding="utf-8").splitlines()
    first_refused = ""
    if is_fitted_for(session):
        teller.strength = PlayerStrength(job["player"])
    for stage in (QUICK,) if job["quick"] else (QUICK, THOROUGH):
        with _judge(stage, session, analysis, job.get("engine")) as judge:
            judge.stop = stop
            teller.begin(
                stage, judge.checked_by, keep=stage == QUICK and not job["quick"] and len(lines) <= MAX_GAMES_SAVED
            )
            first_refused = _analyse(lines, judge, teller, estimates=stage == QUICK) or first_refused
        if stop.is_set():
            break
    if not teller.report.games and not stop.is_set():
        raise KibitzError(f"kibitz cannot analyze any of the player's games ({first_refused})")
    teller.send_report()


@contextmanager
def _judge(stage: str, session: Session, analysis: Analysis, engine: Message | None) -> Iterator[Judge]:
    """Return the judge of a stage. Raises KibitzError if the network evaluates no positions, or if the engine fails."""
    from kibitz.analysis.checkers import Checker
    from kibitz.analysis.chess.engine_judge import EngineJudge
    from kibitz.analysis.chess.judging import judge_by_search
    from kibitz.analysis.chess.limits import QUICK_DEPTH
    from kibitz.errors import KibitzError
    from kibitz.external.programs import Program
    from kibitz.web.judges import OPTION

    if engine is not None:
        program = Program(engine["name"], tuple(engine["command"]), "chess")
        checker = Checker(program, nodes=QUICK_NODES if stage == QUICK else None, option=OPTION)
        with EngineJudge(session, analysis, checker) as judged:
            yield judged
        return
    judge = judge_by_search(session, analysis, *((QUICK_DEPTH, 0) if stage == QUICK else ()))
    if judge is None:
        raise KibitzError(
            f"{session.name} does not evaluate positions, so it cannot find mistakes. Choose the network 'human'"
        )
    yield judge


def _analyse(lines: Sequence[str], judge: Judge, teller: _Teller, estimates: bool) -> str:
    """Analyze the games of a stage until the analysis is stopped. Returns the reason of the first refused game.

    estimates: whether the games are used to estimate the player's rating.
    """
    from kibitz.analysis.chess.judging import Stopped
    from kibitz.analysis.chess.moves import USUAL, analyse
    from kibitz.analysis.chess.repeats import Repeats
    from kibitz.analysis.glyphs import CHESS_SWING
    from kibitz.games.chess.io.reader import parse

    repeats, first_refused = Repeats(), ""
    for line in lines:
        chosen = json.loads(line)
        record = parse(chosen["text"])
        if record is None or record.refused:
            first_refused = first_refused or f"game {chosen['number']}: {record.refused if record else 'unreadable'}"
            teller.game_left_out()
            continue
        if not repeats.is_new(record):
            teller.game_left_out()
            continue
        record.number = chosen["number"]
        try:
            game = analyse(record, judge.session, judge.analysis, CHESS_SWING, None, USUAL, judge)
        except Stopped:
            break
        if teller.strength is not None and estimates:
            teller.strength.add_side(record.game, chosen["side"], judge.session)
        teller.game_done(game, chosen["side"])
        if judge.stop is not None and judge.stop.is_set():
            break
    return first_refused


class _Teller:
    """Sends the progress, and also the report if the last report is old enough."""

    def __init__(self, empty: Callable[[], PlayerReport], source: str, send: Send):
        self.report = empty()
        """The report of this stage's games."""
        self.left_out = 0
        self.strength: PlayerStrength | None = None
        """The rating that is estimated from the moves. It does not depend on the stage."""
        self._rest: dict[int, tuple[AnalysedGame, str]] = {}
        """Games of the quick stage that the thorough stage has not replaced, by their number, with the player's
        side.
        """
        self._empty, self._source, self._send = empty, source, send
        self._keeps, self._stage, self._began, self._next = False, "", 0.0, 0.0

    def begin(self, stage: str, checked_by: CheckedBy | None, keep: bool) -> None:
        """Begin to count the games and seconds of a new stage.

        checked_by: the engine that evaluates moves, None for the network. keep: whether the earlier games stay in the
        report until this stage replaces them.
        """
        self._stage, self._keeps, self._began = stage, keep, time.monotonic()
        self.report, self.left_out = self._empty(), 0
        self.report.checked_by = checked_by
        self._send({"begun": True, "stage": stage, "done": 0, "left_out": 0, "seconds": 0.0})

    def send_progress(self) -> float:
        """Send the progress. Returns the current time."""
        now = time.monotonic()
        progress = {"done": self.report.games, "left_out": self.left_out, "seconds": round(now - self._began, 2)}
        self._send({"stage": self._stage, **progress})
        return now

    def game_left_out(self) -> None:
        self.left_out += 1
        self.send_progress()

    def game_done(self, game: AnalysedGame, side: str) -> None:
        self._rest.pop(game.record.number, None)
        if self._keeps:
            self._rest[game.record.number] = game, side
        self.report.add(game, side, self._source)
        now = self.send_progress()
        if now >= self._next:
            self.send_report()
            end = time.monotonic()
            self._next = end + max(EVERY, (end - now) / SHARE)

    def send_report(self) -> None:
        report = self.report
        if self._rest and not self._keeps:
            report = copy.deepcopy(report)
            for game, side in self._rest.values():
                report.add(game, side, self._source)
        if report.games:
            shown = copy.copy(report)
            shown.strength = self.strength
            self._send({"report": shown.as_json()})
