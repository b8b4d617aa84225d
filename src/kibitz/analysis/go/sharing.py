"""Go games analyzed by workers."""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from kibitz.analysis import load_owners
from kibitz.analysis.go.games import AnalysedGame, analyse
from kibitz.analysis.sharing import opened, shared_out
from kibitz.games.go.io.sgf import Record
from kibitz.parallel import Workers

Numbered = tuple[int, Record]
"""A game, and its place in the file, from 1."""


@dataclass(frozen=True)
class OwnerQuestion:
    """The analysis that workers run on every game. run: as `name_for_workers` returns. swing, nodes: see `analyse`."""

    run: str
    swing: float | None = None
    nodes: int | None = None


def analysed_by_workers(
    games: Iterable[Numbered], question: OwnerQuestion, workers: Workers
) -> Generator[AnalysedGame]:
    """Yield the result of `analyse` for each game, in their order."""
    for _, game in shared_out(games, lambda numbered: numbered, functools.partial(_answer, question), workers):
        yield game


def _answer(question: OwnerQuestion, numbered: Numbered) -> AnalysedGame:
    """The job of a worker."""
    number, record = numbered
    session = opened(question.run)
    return analyse(number, record, session, load_owners(session.system), question.swing, question.nodes, steadied=True)
