"""Analyze Go games in worker processes."""

from __future__ import annotations

import functools
import multiprocessing.util
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from kibitz.analysis import load_owners
from kibitz.analysis.checkers import Checker, GameRejected
from kibitz.analysis.go.engine_judge import GoEngineJudge
from kibitz.analysis.go.games import AnalysedGame, analyse
from kibitz.analysis.sharing import opened, shared_out
from kibitz.external import EngineDied
from kibitz.games.go.io.sgf import Record
from kibitz.parallel import Workers

Numbered = tuple[int, Record]
"""A game, after its number in the file, from 1."""


@dataclass(frozen=True)
class OwnerQuestion:
    """The settings with which worker processes analyze Go games.

    run: the network's name or path, from `name_for_workers`.
    swing, nodes: see `kibitz.analysis.go.games.analyse`.
    checker: the external engine that evaluates moves; None for no engine.
    """

    run: str
    swing: float | None = None
    nodes: int | None = None
    checker: Checker | None = None


def analysed_by_workers(
    games: Iterable[Numbered], question: OwnerQuestion, workers: Workers
) -> Generator[tuple[int, AnalysedGame | GameRejected]]:
    """Yield the number of each game in its file, from 1, and the analyzed game, in the order of `games`. If the engine
    rejects a game, the GameRejected error is yielded instead of the analyzed game.

    games: pairs of a game's number in the file and the game. question: the settings. workers: the worker processes.
    Raises EngineDied if the engine fails.
    """
    answers = shared_out(games, lambda numbered: numbered, functools.partial(_answer, question), workers)
    for (number, _), game in answers:
        if isinstance(game, EngineDied):
            raise game
        yield number, game


def _answer(question: OwnerQuestion, numbered: Numbered) -> AnalysedGame | EngineDied | GameRejected:
    """Analyze a game in a worker. If the engine fails or rejects the game, the error is returned, not raised, so that
    the results of earlier games are not lost.
    """
    number, record = numbered
    session = opened(question.run)
    analysis = load_owners(session.system)
    try:
        engine = None if question.checker is None else _engine(question.checker)
        return analyse(number, record, session, analysis, question.swing, question.nodes, steadied=True, engine=engine)
    except (EngineDied, GameRejected) as error:
        return error


@functools.lru_cache(maxsize=1)
def _engine(checker: Checker) -> GoEngineJudge:
    """Return a worker's engine. The worker keeps it for its next games."""
    engine = GoEngineJudge(checker)
    multiprocessing.util.Finalize(engine, engine.close, exitpriority=1)
    return engine
