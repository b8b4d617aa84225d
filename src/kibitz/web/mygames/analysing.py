"""The process that analyses a player's games: the report of `kibitz analyze --player`, as it grows."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kibitz.web.mygames.background import Say, Told

if TYPE_CHECKING:
    from kibitz.analysis.chess.player import PlayerReport

EVERY, SHARE = 1.5, 0.05
"""Seconds between two reports at least, and the share of the time that they may take: intervals are bootstrapped."""


def work(asked: Told, say: Say, stop: threading.Event) -> None:
    """Analyse games and tell the report again and again.

    asked: "games", a file with a line of JSON for each (number, side, text); "network", "player", "source": names;
    "quick": whether a look at each move takes the place of the search. Tells "begun", then after
    each game "done", "left_out" and "seconds" (since it began), and now and then "report".
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import QUICK_DEPTH, Stopped, judge_by_search
    from kibitz.analysis.chess.moves import USUAL, analyse
    from kibitz.analysis.chess.player import PlayerReport
    from kibitz.analysis.chess.repeats import Repeats
    from kibitz.analysis.glyphs import CHESS_SWING
    from kibitz.errors import KibitzError
    from kibitz.games.chess.io.reader import parse
    from kibitz.play.session import Session
    from kibitz.runs import Run

    session = Session(Run(asked["network"]))
    analysis = load(session.system)
    depth, nodes = (QUICK_DEPTH, 0) if asked["quick"] else (None, None)
    judge = judge_by_search(session, analysis, depth, nodes)
    if judge is None:
        raise KibitzError(f"{session.name} does not say who wins, so what a move lost is not known; take human")
    judge.stop = stop
    teller = _Teller(PlayerReport(asked["player"], CHESS_SWING), say)
    say({"begun": True})
    first_refused, repeats = "", Repeats()
    for line in Path(asked["games"]).read_text(encoding="utf-8").splitlines():
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
            game = analyse(record, session, analysis, CHESS_SWING, None, USUAL, judge)
        except Stopped:
            break
        teller.report.add(game, chosen["side"], asked["source"])
        teller.game_done()
        if stop.is_set():
            break
    if not teller.report.games and not stop.is_set():
        raise KibitzError(f"none of the player's games can be analysed ({first_refused})")
    teller.tell_report()


class _Teller:
    """Tells how far the report is, and the report itself where it is new enough."""

    def __init__(self, report: PlayerReport, say: Say):
        self.report, self.left_out = report, 0
        self._say = say
        self._began = time.monotonic()
        self._next = 0.0

    def tell_progress(self) -> float:
        """Say how far it is; the time."""
        now = time.monotonic()
        told = {"done": self.report.games, "left_out": self.left_out, "seconds": round(now - self._began, 2)}
        self._say(told)
        return now

    def game_left_out(self) -> None:
        self.left_out += 1
        self.tell_progress()

    def game_done(self) -> None:
        now = self.tell_progress()
        if now >= self._next:
            self.tell_report()
            end = time.monotonic()
            self._next = end + max(EVERY, (end - now) / SHARE)

    def tell_report(self) -> None:
        if self.report.games:
            self._say({"report": self.report.as_json()})
