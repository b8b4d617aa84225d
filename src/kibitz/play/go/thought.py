"""What a player of Go thinks of a position, however it thinks: for faces that show it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, PASS
from kibitz.games.go.rules import Board
from kibitz.games.go.rulesets import Rules


@dataclass(frozen=True)
class Terms:
    """What a lead is counted with: White's points from the start (komi, and what handicap stones are paid with);
    whether territory counts, where each stone played costs a point against a pass; and handicap stones."""

    komi: float = 0.0
    territory: bool = False
    handicap: int = 0

    @classmethod
    def by(cls, rules: Rules, komi: float, handicap: int) -> Terms:
        """Those of rules. komi: without what handicap stones are paid with."""
        return cls(komi + rules.bonus(handicap), rules.territory, handicap)


@dataclass(frozen=True)
class MoveThought:
    """A move, or PASS, in the view of who plays it.

    visits: how often it was looked at; prior: how likely it seemed before, 0..1 (over all moves 1); winrate: the chance
    to win, 0..1, and lcb a chance that it hardly falls short of; lead: the score expected, komi counted, and spread its
    standard deviation; gain: that lead less the one after a pass, None where nobody looked; captured: stones taken. pv:
    the moves that follow, from this one on, and pv_visits how often each was looked at; owners float32 [361]: Black's
    chance to own each point after it, None where not asked for.
    """

    point: int
    visits: int
    prior: float
    winrate: float
    lcb: float
    lead: float
    spread: float
    gain: float | None
    captured: int
    pv: tuple[int, ...]
    pv_visits: tuple[int, ...]
    owners: NDArray[np.float32] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class GoThought:
    """A position in the view of `colour`, who is to move. visits: looks in all; owners float32 [361]: of Black; moves:
    the best one first. The rest as in MoveThought."""

    colour: int
    size: int
    visits: int
    winrate: float
    lead: float
    spread: float
    owners: NDArray[np.float32] = field(repr=False)
    moves: tuple[MoveThought, ...]

    @property
    def sign(self) -> int:
        """1 where Black is to move, −1 where White is."""
        return 1 if self.colour == BLACK else -1


Look = Callable[..., GoThought]
"""Called as `look(most, owners)`: what a player thinks by now, of at most so many moves, with the owners after each of
them or without."""


class GoThinker(Protocol):
    """A player of Go, as faces know it."""

    random: np.random.Generator
    searches: bool
    """Whether it looks further the longer it thinks."""

    def new_game(self) -> None: ...

    def looks(
        self, board: Board, colour: int, terms: Terms, only: Sequence[int] | None = ..., last: int = ...
    ) -> Iterator[Look]:
        """Think about a position until nothing is left to think about; after each step comes a way to see what is known
        by then. only: the points that may be played (None: all); last: the point of the last move, PASS for none."""

    def raw(self, board: Board, colour: int, terms: Terms, symmetry: int) -> GoThought:
        """What the network says of a position that is turned or mirrored (0..7, see games.go.points.symmetries): every
        legal move with its prior."""

    def choose(
        self,
        board: Board,
        colour: int,
        terms: Terms,
        *,
        last: int = PASS,
        seconds: float | None = None,
        visits: int | None = None,
        only: Sequence[int] | None = None,
        clean_up: bool = False,
        on_progress: Callable[[Look], None] = ...,
        stop: threading.Event | None = None,
    ) -> MoveThought:
        """The move to play, or PASS, in the view of `colour`.

        last: the point of the last move. seconds: how long to think; visits: how often a player that searches looks;
        without either, as long as the player usually does. only: the points that may be played (None: all).
        clean_up: capture dead stones of the other side before passing. on_progress: called when more is known. stop:
        ends it soon after it is set.
        """
