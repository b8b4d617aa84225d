"""Predictions of GNU Go for comparison with a network: the expected territory and the score estimate. GNU Go computes
them for a position without a search for moves.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz.external import EngineDied
from kibitz.external.gtp import CommandRefused, GtpProgram, read_score
from kibitz.external.pool import Counter, fan_out
from kibitz.games.go.points import BLACK, GRID, POINTS, WHITE, to_gtp
from kibitz.games.go.replay import SIDE, SIZE, colours_of
from kibitz.parallel import Workers, map_ordered
from kibitz.store.store import Store

LIMIT = 20.0
"""The time limit for one reply of GNU Go, in seconds. A reply usually takes a tenth of a second."""
PART = 10
"""The number of games that a GNU Go process evaluates in one task."""
MAX_DEATHS = 3
"""A worker stops with an error after its GNU Go process has ended unexpectedly this number of times."""


def read_territory(text: str, size: int, colours: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Parse GNU Go's reply to the command `initial_influence … territory_value`. Return the probability that each point
    belongs to Black at the end, float32 [361], 0 to 1. The probability is 0.5 outside the board.

    text: one line for each row of the board, with one number for each point. A number is positive if GNU Go expects
        White to own the point, and negative for Black. The absolute value is at most 1 on an empty point and at most 2
        on a dead stone. On a living stone, the number is 0.
    size: the board's size.
    colours: uint8 [361], the stones.

    Raises ValueError if the text has another form.
    """
    rows = [[float(word) for word in line.split()] for line in text.splitlines()]
    if len(rows) != size or any(len(row) != size for row in rows):
        raise ValueError(f"the reply is not {size} rows of {size} numbers")
    values = np.zeros((GRID, GRID))
    values[:size, :size] = rows
    flat = values.ravel()
    chance = np.where(colours == BLACK, 1 - flat / 2, np.where(colours == WHITE, -flat / 2, (1 - flat) / 2))
    return np.clip(chance, 0, 1).astype(np.float32)


@dataclass(frozen=True)
class ProgramEstimates:
    """A program's predictions of territory and score for n positions.

    name: the program's name.
    chance: float32 [n, 361], the probability that each point belongs to Black at the end, 0 to 1.
    lead: float64 [n], the program's score estimate: Black's area minus White's, without komi; NaN without an estimate.
    answered: bool [n], whether the program evaluated each position.
    """

    name: str
    chance: NDArray[np.float32]
    lead: NDArray[np.float64]
    answered: NDArray[np.bool_]


def estimate_with_gnugo(
    path: str,
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    *,
    workers: Workers | int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> ProgramEstimates:
    """Return GNU Go's predicted territory and score in the given positions.

    path: GNU Go's path.
    games, plies: int64 [n], the positions, sorted: the index of a game in the store, and the number of moves before the
        position.
    workers: the processes that start GNU Go, or the number of GNU Go processes that this process starts.
    on_progress: a function that is called with the number of evaluated positions and the total.

    If GNU Go rejects a move, does not reply or ends unexpectedly, the remaining positions of the game are skipped. In
    the result, `answered` is False for skipped positions. Raises EngineDied if GNU Go can't be started, or if one
    worker's GNU Go fails to reply in MAX_DEATHS (3) games.
    """
    if not isinstance(workers, int):
        return _estimate_in_processes(path, store, games, plies, workers, on_progress)
    positions = _Positions(store, games, plies, Counter(len(games), on_progress))
    names, _ = fan_out(np.unique(games).tolist(), functools.partial(_work, path, positions), workers)
    return ProgramEstimates(names[0], positions.chance, positions.lead, positions.answered)


Part = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Some positions, as two arrays: the index of the game in the store, and the number of moves before the position."""


def _estimate_in_processes(
    path: str,
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    workers: Workers,
    on_progress: Callable[[int, int], None],
) -> ProgramEstimates:
    ends = np.searchsorted(games, np.unique(games)[PART::PART])
    parts = list(zip(np.split(games, ends), np.split(plies, ends), strict=True))
    estimated: list[ProgramEstimates] = []
    done = 0
    work = functools.partial(_estimate_part, path, str(store.path.resolve()))
    with contextlib.closing(map_ordered(work, parts, workers)) as estimates:
        for part, answer in zip(parts, estimates, strict=True):
            if isinstance(answer, str):
                raise EngineDied(answer, "died")
            estimated.append(answer)
            done += len(part[0])
            on_progress(done, len(games))
    columns = [[getattr(one, name) for one in estimated] for name in ("chance", "lead", "answered")]
    return ProgramEstimates(estimated[-1].name, *(np.concatenate(column) for column in columns))


def _estimate_part(path: str, store: str, part: Part) -> ProgramEstimates | str:
    """Evaluate some games in a worker. Returns GNU Go's evaluation, or an error message."""
    games, plies = part
    positions = _Positions(_opened(store), games, plies, Counter(len(games), lambda done, total: None))
    try:
        name = _work(path, positions, iter(np.unique(games).tolist()))
    except EngineDied as error:
        return str(error)
    return ProgramEstimates(name, positions.chance, positions.lead, positions.answered)


@functools.lru_cache(maxsize=1)
def _opened(path: str) -> Store:
    """Return the store of a worker. The worker keeps it open for its next games."""
    return Store(path)


class _Positions:
    """Positions for GNU Go, and arrays for its evaluation, see `ProgramEstimates`. Threads write the positions of
    different games.

    `chance` is 0.5 and `lead` NaN at the positions that are not `answered`.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], counter: Counter):
        self._store, self._games, self._plies, self._counter = store, games, plies, counter
        codes, self._state = store.replay(games, plies)
        self._colours = colours_of(codes)
        self.chance = np.full((len(games), POINTS), 0.5, np.float32)
        self.lead = np.full(len(games), np.nan)
        self.answered = np.zeros(len(games), np.bool_)

    def estimate(self, program: GtpProgram, game: int) -> None:
        """Replay a game from its start in GNU Go, and store GNU Go's predictions for the game's positions.

        game: the game's index in the store. Raises EngineDied if GNU Go fails, and ValueError for an unexpected reply.
        """
        commands = _commands(self._store, game)
        # ply: the number of moves played, -1 before the start position is set up. more: the number of stones that Black
        # has put on the board, minus the number of White's stones.
        ply, more = -1, 0
        for i in np.flatnonzero(self._games == game):
            while ply < self._plies[i]:
                for command in next(commands):
                    program.request(command, LIMIT)
                    more += _stones(command)
                ply += 1
            mover = "white" if self._state[i, SIDE] else "black"
            text = program.request(f"initial_influence {mover} territory_value", LIMIT)
            self.chance[i] = read_territory(text, int(self._state[i, SIZE]), self._colours[i])
            with contextlib.suppress(ValueError):  # includes CommandRefused: then GNU Go has no estimate
                # GNU Go's score counts territory and prisoners. To convert it to area, add the number of stones that
                # Black has put on the board, and subtract White's number.
                self.lead[i] = read_score(program.request("estimate_score", LIMIT)) + more
            self.answered[i] = True
            self._counter.step()


def _work(path: str, positions: _Positions, games: Iterator[int]) -> str:
    """Evaluate the positions of some games with one GNU Go process, and return its name. If it hangs or dies, it is
    restarted.
    """
    command = [path, "--mode", "gtp", "--level", "1"]
    program, deaths = GtpProgram(command, "GNU Go"), 0
    try:
        name = f"{program.request('name', LIMIT)} {program.request('version', LIMIT)}"
        for game in games:
            try:
                positions.estimate(program, game)
            except EngineDied:
                deaths += 1
                if deaths == MAX_DEATHS:
                    raise
                program.close()
                program = GtpProgram(command, "GNU Go")
            except ValueError:  # includes CommandRefused: the rest of this game is skipped
                continue
        return name
    except CommandRefused as error:
        raise EngineDied(f"GNU Go sent an unexpected reply ({error}). Check that {path} is GNU Go.", "died") from None
    finally:
        program.close()


def _stones(command: str) -> int:
    """Return 1 for a command that puts a black stone on the board, −1 for a white stone, 0 for any other command."""
    words = command.split()
    if words[0] != "play" or words[2].lower() == "pass":
        return 0
    return 1 if words[1] == "black" else -1


def _commands(store: Store, game: int) -> Iterator[list[str]]:
    """Yield the GTP commands that set up the board and play the moves."""
    row = store.starts[store.start_of[game]]
    size = int(row[POINTS + 1])
    stones = [(point, "black" if row[point] == BLACK else "white") for point in range(POINTS) if row[point] in (1, 2)]
    yield [
        f"boardsize {size}",
        "clear_board",
        "komi 0",
        *(f"play {colour} {to_gtp(point, size)}" for point, colour in stones),
    ]
    moves = store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()
    for ply, move in enumerate(moves):
        colour = ("black", "white")[(int(row[POINTS]) + ply) % 2]
        yield [f"play {colour} {to_gtp(move, size)}"]
