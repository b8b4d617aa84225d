"""The evaluation of a Go position and of its moves. All methods of choosing moves return this form, and all interfaces
can show it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.endings.counting import TERRITORY, compensation
from kibitz.games.go.points import BLACK, PASS
from kibitz.games.go.rules import Board
from kibitz.games.go.rulesets import Rules


@dataclass(frozen=True)
class Terms:
    """The conditions of a game on which the lead depends: komi, scoring and handicap.

    komi: the points that White gets before the game, including the compensation for handicap stones.
    territory: whether territory scoring applies. If it does, each stone played costs a point compared with a pass.
    handicap: the number of handicap stones.
    between_players: whether the network's inputs include the handicap and the ranks of both players, to predict a game
        between players. False for the value of a position, which depends on the board alone.
    """

    komi: float = 0.0
    territory: bool = False
    handicap: int = 0
    between_players: bool = True

    def for_board(self) -> Terms:
        """Return these conditions for evaluating the position alone: the network's inputs do not include the handicap
        and the players' ranks (`between_players` is False).
        """
        return replace(self, between_players=False)

    @property
    def margin(self) -> float:
        """The lead by area, in points, with which Black neither wins nor loses.

        It is the komi and, under territory scoring, the number of handicap stones: Black's area contains a point for
        each of them, but Black's territory does not.
        """
        return self.komi + (self.handicap if self.territory else 0)

    @classmethod
    def of_record(cls, rules: str | None, komi: float, handicap: int) -> Terms:
        """Return the conditions of a recorded game. rules: the name of the rules in a game store; None if they are
        unknown, which means area scoring. komi: the komi in points, without the compensation for handicap stones.
        handicap: the number of handicap stones.
        """
        return cls(komi + compensation(rules, handicap), rules in TERRITORY, handicap)

    @classmethod
    def by(cls, rules: Rules, komi: float, handicap: int) -> Terms:
        """Return the conditions of a game with these rules. komi: the komi in points, without the compensation for
        handicap stones. handicap: the number of handicap stones.
        """
        return cls(komi + rules.bonus(handicap), rules.territory, handicap)


@dataclass(frozen=True)
class MoveThought:
    """The evaluation of a move, or of PASS, from the point of view of the player who makes it.

    point: the intersection of the move, row · 19 + column, or PASS.
    visits: the number of evaluations.
    prior: the probability of the move before the search, 0 to 1; the priors of all moves sum to 1.
    winrate: the win probability, 0 to 1.
    lcb: a lower confidence bound of the win probability.
    lead: the expected lead in points after the move, including komi.
    spread: the standard deviation of the score in points.
    gain: the lead minus the lead after a pass; None if no pass was evaluated.
    captured: the number of captured stones.
    pv: the expected line of moves, beginning with this move.
    pv_visits: the visits of each move of the line.
    owners: float32 [361], the probability that each intersection will be Black's after this move; None if it was not
        requested.
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
    """The evaluation of a position from the point of view of `colour`, the side to move.

    size: the number of lines of the board.
    visits: the total number of evaluations.
    winrate: the win probability, 0 to 1.
    lead, spread: the expected lead and the standard deviation of the score, in points.
    owners: float32 [361], the probability that each intersection will be Black's.
    moves: the evaluated moves, the best first.
    """

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
        """1 if Black is to move, −1 if White is to move."""
        return 1 if self.colour == BLACK else -1


Look = Callable[..., GoThought]
"""A function that returns the evaluation of a position so far, as a GoThought. Its arguments are `most`, the largest
number of moves in the result, and `owners`, whether to include the ownership map after each move.
"""


class GoThinker(Protocol):
    """The interface of an object that chooses Go moves (a player)."""

    random: np.random.Generator
    searches: bool
    """Whether the player uses more time to search further."""

    def new_game(self) -> None:
        """Clear the data of the previous game."""

    def looks(
        self, board: Board, colour: int, terms: Terms, only: Sequence[int] | None = ..., last: int = ...
    ) -> Iterator[Look]:
        """Search a position in steps, until nothing is left to search. After each step, yield a function that returns
        the results so far (see `Look`).

        colour: the side to move. terms: the conditions of the game. only: the points that may be played; None for all.
        last: the point of the last move; PASS if there is none.
        """

    def raw(self, board: Board, colour: int, terms: Terms, symmetry: int) -> GoThought:
        """Return the network's evaluation of a position without a search, with the prior (probability) of every move
        that the player may choose. Before the evaluation, the board is rotated or mirrored.

        The player may choose all legal moves except those that fill one of the player's own eyes. symmetry: 0 to 7, see
        games.go.points.symmetries.
        """

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
        """Return the move to play, or PASS, with its evaluation from the point of view of `colour`, the side to move.

        terms: the conditions of the game.
        last: the point of the last move; PASS if there is none.
        seconds: the thinking time; None for no limit.
        visits: the number of visits, for a player that searches. If seconds and visits are None, the player's default
            is used.
        only: the points that may be played; None for all.
        clean_up: whether to capture the opponent's dead stones before passing.
        on_progress: called with a `Look`, a function that returns the results so far, each time there are new results.
        stop: an event; the search ends soon after it is set.
        """
