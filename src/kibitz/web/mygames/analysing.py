"""A process that analyzes a player's chess games. It repeatedly sends the report of `kibitz analyze --player`, which
grows with each game.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kibitz.web.mygames.background import Message, Send
from kibitz.web.mygames.telling import QUICK, THOROUGH, Teller

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kibitz.analysis import Analysis
    from kibitz.analysis.chess.judging import Judge
    from kibitz.play.session import Session

QUICK_NODES = 10_000
"""The number of nodes per position if an engine evaluates the games of the quick stage."""
MAX_GAMES_SAVED = 1000
"""The largest number of games that the quick stage keeps in memory, until the thorough stage has replaced them. With
more games, the quick stage keeps none.
"""


def work(job: Message, send: Send, stop: threading.Event) -> None:
    """Analyze the chess games of a player, and send messages with the progress and the growing report.

    A quick stage evaluates all games first. A thorough stage then searches each move. After the thorough stage has
    analyzed a game, the report no longer has the result of the quick stage for this game. With more than
    MAX_GAMES_SAVED (1,000) games, the thorough stage begins with an empty report.

    job: the description of the work, a dict with these keys:
        games: a file with one JSON line per game, with "number", "side" and "text".
        network, player, source: the names of the network, the player and the game collection.
        quick: whether to run only the quick stage.
        engine: the "name" and the "command" of the engine that evaluates the moves; None if the network evaluates them.
    send: a function that sends a message.
    stop: an event that ends the work.

    The first message of a stage has "begun". After each game, a message has "stage", which is QUICK or THOROUGH, and
    the numbers of games "done" and "left_out" (skipped). It also has "seconds", the time since the stage began. From
    time to time and at the end, a message has "report".

    Raises KibitzError if no game can be analyzed.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.player import PlayerReport
    from kibitz.analysis.chess.reason_texts import LANGUAGES
    from kibitz.analysis.chess.strength.player import PlayerStrength, is_fitted_for
    from kibitz.analysis.glyphs import CHESS_SWING
    from kibitz.errors import KibitzError
    from kibitz.play.session import Session
    from kibitz.runs import Run

    session = Session(Run(job["network"]))
    analysis = load(session.system)
    teller = Teller(lambda: PlayerReport(job["player"], CHESS_SWING), job["source"], send, LANGUAGES)
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


def _analyse(lines: Sequence[str], judge: Judge, teller: Teller, estimates: bool) -> str:
    """Analyze the games of a stage until the analysis is stopped. Returns the reason of the first refused game.

    estimates: whether the games are used to estimate the player's rating.
    """
    from kibitz.analysis.checkers import GameRejected
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
        except GameRejected as error:
            first_refused = first_refused or f"game {chosen['number']}: {error}"
            teller.game_left_out()
            continue
        if teller.strength is not None and estimates:
            teller.strength.add_side(record.game, chosen["side"], judge.session)
        teller.game_done(record.number, game, chosen["side"])
        if judge.stop is not None and judge.stop.is_set():
            break
    return first_refused
