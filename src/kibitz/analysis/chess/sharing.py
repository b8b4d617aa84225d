"""Analyze chess games in worker processes."""

from __future__ import annotations

import functools
import multiprocessing.util
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace

import chess
import chess.pgn

from kibitz.analysis import load
from kibitz.analysis.checkers import Checker, GameRejected
from kibitz.analysis.chess.engine_judge import EngineJudge
from kibitz.analysis.chess.judging import Judge
from kibitz.analysis.chess.moves import USUAL, AnalysedGame, analyse
from kibitz.analysis.chess.practical import with_practical_choices
from kibitz.analysis.sharing import opened, shared_out
from kibitz.external import EngineDied
from kibitz.games.chess.io.reader import Record
from kibitz.parallel import Workers
from kibitz.systems.declaration import Meaning


@dataclass(frozen=True)
class MoveQuestion:
    """The settings with which worker processes analyze chess games.

    run: the network's name or path, from `name_for_workers`.
    swing, ratings, meaning: see `kibitz.analysis.chess.moves.analyse`.
    search: the depth and the nodes of the network's search (see `Judge`). None if the network doesn't search.
    checker: the external engine that evaluates moves; None for no engine.
    practical: whether to add practical choices to the annotated moves (see `kibitz.analysis.chess.practical`).
    """

    run: str
    swing: float
    ratings: tuple[int, int] | None = None
    meaning: Meaning = USUAL
    search: tuple[int, int] | None = None
    checker: Checker | None = None
    practical: bool = False


@dataclass(frozen=True)
class SentLine:
    """A game in the form in which it is sent to a worker process: its headers, and the moves of its main line in UCI
    notation.

    A chess.pgn.Game can't be sent: the tree of a long game is nested too deeply for pickle.
    """

    headers: dict[str, str]
    moves: list[str]

    @classmethod
    def of(cls, record: Record) -> SentLine:
        """Return a game in the form for a worker process."""
        game = record.game
        return cls(dict(game.headers), [node.move.uci() for node in game.mainline()])

    def record(self) -> Record:
        """Return the game as a record. The record has only the headers and the moves of the main line, and its number
        is 0.
        """
        game = chess.pgn.Game(self.headers)
        game.add_line(map(chess.Move.from_uci, self.moves))
        return Record(0, game)


def analysed_by_workers(
    records: Iterable[Record], question: MoveQuestion, workers: Workers
) -> Generator[tuple[Record, AnalysedGame | GameRejected]]:
    """Yield each record with its analyzed game, in the order of the records. If the engine rejects a game, the error
    takes the place of the analyzed game.

    question: the settings. workers: the worker processes. Raises EngineDied if the engine fails.
    """
    answers = shared_out(records, SentLine.of, functools.partial(_answer, question), workers)
    for record, game in answers:
        if isinstance(game, EngineDied):
            raise game
        yield record, game if isinstance(game, GameRejected) else replace(game, record=record)


def _answer(question: MoveQuestion, line: SentLine) -> AnalysedGame | EngineDied | GameRejected:
    """Analyze a game in a worker. Returns the analysis with an empty record. If the engine fails or rejects the game,
    the error is returned, not raised, so that the results of earlier games are not lost.
    """
    session = opened(question.run)
    analysis = load(session.system)
    try:
        judge = _judge(question)
        game = analyse(line.record(), session, analysis, question.swing, question.ratings, question.meaning, judge)
        if question.practical and judge is not None:
            game = with_practical_choices(game, judge, question.ratings)
    except (EngineDied, GameRejected) as error:
        return error
    return replace(game, record=Record(0, chess.pgn.Game()))


@functools.lru_cache(maxsize=1)
def _judge(question: MoveQuestion) -> Judge | None:
    """Return a worker's judge. The worker keeps it for its next games."""
    session = opened(question.run)
    if question.checker is not None:
        judge = EngineJudge(session, load(session.system), question.checker, threads=1)
        multiprocessing.util.Finalize(judge, judge.close, exitpriority=1)
        return judge
    if question.search is None:
        return None
    return Judge(session, load(session.system), *question.search, threads=1)
