"""Measure habits of a person other than the choice of moves: thinking times and resignations. A player can then imitate
the habits.

The habits are measured in the person's games, and stored in the file run.json of the person's network. Thinking times
are shares of the remaining clock time, by move number, so they need games with clocks. A person resigns a certain share
of the lost games, in positions with a low expected score.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.io.ingest import PER_MOVE
from kibitz.personal.games import NEITHER, OwnPositions
from kibitz.personal.kinds import kind_of
from kibitz.play.result import OnResult, SearchLimits, SearchResult, ThinkingPlayer
from kibitz.play.session import NetworkSession
from kibitz.store.positions import Batch
from kibitz.store.store import Store

MOVES = (0, 5, 10, 15, 20, 30, 40, 1000)
"""The limits between the groups of move numbers for which thinking times are measured. Move numbers are counted
from 0.
"""
QUANTILES = 21
LEAST_MOVES, LEAST_RESIGNED = 200, 10
"""The smallest number of moves with clock times, and the smallest number of resigned games, from which a habit is
measured.
"""
MASTER = 2200
ONLINE_RESIGNED, MASTERS_RESIGNED, GIVEN_UP = 0.43, 0.97, 0.12
"""Usual habits of resignation. The first two numbers are the share of lost games that are resigned, by players below
and above the rating MASTER. GIVEN_UP is the expected score below which games are resigned, as `human` predicts it.
"""
LONGEST = 0.5
"""The largest share of the remaining clock time, 0 to 1, that one move may take."""
_INCREMENT = re.compile(r"\+(\d+)$")


def habits_of(
    store: Store, games: NDArray[np.int64], sides: NDArray[np.int8], session: NetworkSession
) -> dict[str, Any]:
    """Return a person's habits, measured in the games, as a dict with the entries "think" and "resign" (see
    `think_times` and `resignations`). If there are too few data to measure a habit, its entry is missing. The file
    run.json of the person's network stores the dict.

    store: the store with the games.
    games: the numbers of the person's games in the store.
    sides: the person's side in each game of the store, see `kibitz.personal.games.sides_of`.
    session: a loaded network, which predicts the expected scores.
    """
    found: dict[str, Any] = {}
    if think := think_times(store, games, sides):
        found["think"] = think
    if resign := resignations(store, games, sides, session):
        found["resign"] = resign
    return found


def think_times(store: Store, games: NDArray[np.int64], sides: NDArray[np.int8]) -> list[list[float]]:
    """Return how much of the remaining clock time the person uses for a move. The result has one list for each group of
    move numbers (see MOVES), such as the 6th to the 10th move. A list has 21 quantiles of the used share, 0 to 1, from
    the smallest to the largest.

    The result is [] if fewer than 200 moves (LEAST_MOVES) have clock times. A group without moves gets the quantiles of
    all moves. games, sides: as in `habits_of`.
    """
    clocks = store.per_move("clock")
    if clocks is None:
        return []
    own = OwnPositions(store, games, sides)
    game, ply = own.locate(np.arange(len(own)))
    at = store.offsets[game] + ply
    increments = np.array([_increment(text) for text in store.column("time_control")])
    known = (ply >= 2) & (clocks[at] != PER_MOVE["clock"][1])
    before = clocks[np.where(known, at - 2, 0)].astype(np.float64)
    known &= (before != PER_MOVE["clock"][1]) & (before > 0)
    share = (before - clocks[at] + increments[game])[known] / before[known]
    number = (ply[known]) // 2
    if len(share) < LEAST_MOVES:
        return []
    share, levels = np.clip(share, 0, 1), np.linspace(0, 1, QUANTILES)
    bands = [share[(number >= low) & (number < high)] for low, high in itertools.pairwise(MOVES)]
    return [np.round(np.quantile(band if len(band) else share, levels), 4).tolist() for band in bands]


def _increment(time_control: str | None) -> int:
    found = _INCREMENT.search(time_control or "")
    return int(found[1]) if found else 0


def resignations(
    store: Store, games: NDArray[np.int64], sides: NDArray[np.int8], session: NetworkSession
) -> dict[str, float] | None:
    """Return when the person resigns, as a dict with two entries. Return None if the person resigned fewer than 10
    games (LEAST_RESIGNED).

    share: the share of the lost games that the person resigned, 0 to 1.
    below: the expected score, 0 to 1, below which the person resigns. It is the median expected score at the end of the
        resigned games.

    The network predicts the expected scores. Its side inputs, such as the ratings, have the values of these games.
    games, sides, session: as in `habits_of`.
    """
    mine = games[sides[games] != NEITHER]
    lost = mine[store.column("result")[mine] == np.where(sides[mine] == 0, -1, 1)]
    resigned = lost[store.column("ending")[lost] == "resignation"]
    if len(resigned) < LEAST_RESIGNED:
        return None
    plies = store.plies[resigned].astype(np.int64)
    codes, state = store.replay(resigned, plies)
    conditioned = kind_of(store.game).Positions.conditioned_state(store, Batch(codes, state, resigned, plies))
    value = session.evaluate(codes, conditioned)["value"].astype(np.float64)
    score = (1 + np.where(state[:, 0] == sides[resigned], value, -value)) / 2
    return {"share": round(len(resigned) / len(lost), 3), "below": round(float(np.median(score)), 4)}


def usual_habits(rating: int) -> dict[str, Any]:
    """Return the usual habits of people with this rating, as a dict like that of `habits_of`.

    The dict has only the entry "resign" (see `resignations`). It was measured in 6,000 lost games from 220,000 online
    games of players below 2200, and in 6,000 lost games from 171,000 games of masters. docs/results/history/human.md
    describes the measurement.
    """
    return {"resign": {"share": ONLINE_RESIGNED if rating < MASTER else MASTERS_RESIGNED, "below": GIVEN_UP}}


class Pace(Protocol):
    """The interface of an object that samples thinking times for moves."""

    def new_game(self) -> None:
        """Begin a new game."""

    def seconds(self, board: chess.Board, move: chess.Move, limits: SearchLimits) -> float:
        """Return a random thinking time in seconds, 0 or more, for this move in this position."""


class PersonalPace:
    """Samples the thinking times of one person.

    bands: for each group of move numbers, the quantiles from `think_times`; [] if they are unknown. random: the random
    number generator.
    """

    def __init__(self, bands: list[list[float]], random: np.random.Generator):
        self._bands, self._random = bands, random

    def new_game(self) -> None:
        """Do nothing, because the object stores nothing between moves."""

    def seconds(self, board: chess.Board, move: chess.Move, limits: SearchLimits) -> float:
        """Return a random thinking time in seconds for a move; 0 without a clock. It depends only on the number of the
        move and on the remaining clock time.
        """
        if not self._bands or limits.clock is None:
            return 0.0
        band = int(np.searchsorted(MOVES[:-1], len(board.move_stack) // 2, "right")) - 1
        share = float(np.interp(self._random.random(), np.linspace(0, 1, QUANTILES), self._bands[band]))
        return min(share, LONGEST) * limits.clock


class HabitualPlayer:
    """A player that chooses moves like another player, but takes time and resigns as a person does.

    player: the player that chooses the moves.
    habits: the person's habits, from `habits_of`. A habit that is missing has no effect.
    think, resign: whether to use the habits "think" and "resign".
    pace: an object that samples the thinking times; None to use the habit "think". Thinking times have no effect
        without a clock.
    seed: the random seed; None for an unpredictable seed.
    """

    def __init__(
        self,
        player: ThinkingPlayer,
        habits: Mapping[str, Any],
        *,
        think: bool,
        resign: bool,
        pace: Pace | None = None,
        seed: int | None = None,
    ):
        self._player, self._random = player, np.random.default_rng(seed)
        self._pace = pace or PersonalPace(habits.get("think", []) if think else [], self._random)
        self._resign = habits.get("resign") if resign else None
        self._gives_up = self._drawn()

    def _drawn(self) -> bool:
        """Decide at random whether the next game is resigned if it is lost."""
        return self._resign is not None and self._random.random() < self._resign["share"]

    def new_game(self) -> None:
        """Begin a new game."""
        self._player.new_game()
        self._pace.new_game()
        self._gives_up = self._drawn()

    def think(
        self,
        board: chess.Board,
        limits: SearchLimits,
        stop: threading.Event | None = None,
        on_result: OnResult = lambda _: None,
    ) -> SearchResult | None:
        """Return the result of the player's search; None if there is no legal move. If the person would resign, the
        result's field `resigns` is True.

        Before the method returns, it waits until the person would have moved, or until the event `stop` is set. The
        arguments are those of `kibitz.play.result.ThinkingPlayer.think`.
        """
        thought = self._player.think(board, limits, stop, on_result)
        if thought is None:
            return None
        wait = self._pace.seconds(board, thought.lines[0].move, limits) - thought.seconds
        if wait > 0:
            (stop or threading.Event()).wait(wait)
        gives_up = self._gives_up and _expected(thought) < self._resign["below"]  # type: ignore[index]
        return replace(thought, resigns=True) if gives_up else thought


def _expected(thought: SearchResult) -> float:
    """Return the expected score of the mover, 0 to 1, from the first line."""
    win, draw, _ = thought.lines[0].wdl
    return (win + draw / 2) / 1000
