"""GNU Go's influence: what territory it foresees, before it thinks of moves."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from kibitz.external import EngineDied
from kibitz.external.gtp import CommandRefused, GtpProgram
from kibitz.external.pool import Counter, fan_out
from kibitz.games.go.points import BLACK, GRID, POINTS, WHITE, to_gtp
from kibitz.games.go.replay import SIDE, SIZE, colours_of
from kibitz.parallel import Workers, map_ordered
from kibitz.store.store import Store

LIMIT = 20.0
"""Seconds for one answer; as a rule it takes a tenth of one."""
PART = 10
"""Games that a worker asks one process of it about."""
MAX_DEATHS = 3
"""A worker whose program died so often gives up."""


def read_territory(text: str, size: int, colours: NDArray[np.uint8]) -> NDArray[np.float32]:
    """float32 [361]: that Black owns each point, from the answer to `initial_influence … territory_value`.

    That is how much territory each point is worth to White, Black's being negative: up to 1 on an empty point, and up
    to 2 on a stone that is dead, where a living one is worth 0. Raises ValueError on other text.
    """
    rows = [[float(word) for word in line.split()] for line in text.splitlines()]
    if len(rows) != size or any(len(row) != size for row in rows):
        raise ValueError(f"not {size} rows of {size} numbers")
    values = np.zeros((GRID, GRID))
    values[:size, :size] = rows
    flat = values.ravel()
    chance = np.where(colours == BLACK, 1 - flat / 2, np.where(colours == WHITE, -flat / 2, (1 - flat) / 2))
    return np.clip(chance, 0, 1).astype(np.float32)


def influence(
    path: str,
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    *,
    workers: Workers | int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[str, NDArray[np.float32], NDArray[np.bool_]]:
    """The program's name, its predictions [n, 361] of these positions (sorted by game and ply), and which it answered.

    A game whose moves it refuses is passed over from there on, as is one at which it hangs. workers: those that start
    it, or how many processes of it this one starts. Raises EngineDied where it cannot be started, or is lost again and
    again.
    """
    if not isinstance(workers, int):
        return _influence_apart(path, store, games, plies, workers, on_progress)
    asked = _Positions(store, games, plies, Counter(len(games), on_progress))
    names, _ = fan_out(np.unique(games).tolist(), functools.partial(_work, path, asked), workers)
    return names[0], asked.chance, asked.answered


Answered = tuple[str, NDArray[np.float32], NDArray[np.bool_]]
"""The program's name, its predictions, and which positions it answered."""
Part = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Games and plies of some positions."""


def _influence_apart(
    path: str,
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    workers: Workers,
    on_progress: Callable[[int, int], None],
) -> Answered:
    ends = np.searchsorted(games, np.unique(games)[PART::PART])
    parts = list(zip(np.split(games, ends), np.split(plies, ends), strict=True))
    name, chances, answered, done = "", [], [], 0
    work = functools.partial(_ask_part, path, str(store.path.resolve()))
    with contextlib.closing(map_ordered(work, parts, workers)) as told:
        for part, answer in zip(parts, told, strict=True):
            if isinstance(answer, str):
                raise EngineDied(answer, "died")
            name, chance, some = answer
            chances.append(chance)
            answered.append(some)
            done += len(part[0])
            on_progress(done, len(games))
    return name, np.concatenate(chances), np.concatenate(answered)


def _ask_part(path: str, store: str, part: Part) -> Answered | str:
    """What GNU Go says of some games, or what was wrong with it; the work of a worker."""
    games, plies = part
    asked = _Positions(_opened(store), games, plies, Counter(len(games), lambda done, total: None))
    try:
        name = _work(path, asked, iter(np.unique(games).tolist()))
    except EngineDied as error:
        return str(error)
    return name, asked.chance, asked.answered


@functools.lru_cache(maxsize=1)
def _opened(path: str) -> Store:
    """A worker's store, which it keeps for its next games."""
    return Store(path)


class _Positions:
    """Positions that GNU Go is asked about, and its answers: chance float32 [n, 361], 0.5 where answered bool [n] is
    false. Threads write the positions of different games."""

    def __init__(self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], counter: Counter):
        self._store, self._games, self._plies, self._counter = store, games, plies, counter
        codes, self._state = store.replay(games, plies)
        self._colours = colours_of(codes)
        self.chance = np.full((len(games), POINTS), 0.5, np.float32)
        self.answered = np.zeros(len(games), np.bool_)

    def ask(self, program: GtpProgram, game: int) -> None:
        """Play a game through, and ask about its positions. Raises EngineDied, and ValueError for other answers."""
        commands = _commands(self._store, game)
        ply = -1  # after the commands that set the board up
        for i in np.flatnonzero(self._games == game):
            while ply < self._plies[i]:
                for command in next(commands):
                    program.ask(command, LIMIT)
                ply += 1
            mover = "white" if self._state[i, SIDE] else "black"
            text = program.ask(f"initial_influence {mover} territory_value", LIMIT)
            self.chance[i] = read_territory(text, int(self._state[i, SIZE]), self._colours[i])
            self.answered[i] = True
            self._counter.step()


def _work(path: str, positions: _Positions, games: Iterator[int]) -> str:
    """Ask one GNU Go about the positions of some games; its name. One that hangs or dies is started anew."""
    command = [path, "--mode", "gtp", "--level", "1"]
    program, deaths = GtpProgram(command, "GNU Go"), 0
    try:
        name = f"{program.ask('name', LIMIT)} {program.ask('version', LIMIT)}"
        for game in games:
            try:
                positions.ask(program, game)
            except EngineDied:
                deaths += 1
                if deaths == MAX_DEATHS:
                    raise
                program.close()
                program = GtpProgram(command, "GNU Go")
            except ValueError:  # CommandRefused among them: the rest of this game is left out
                continue
        return name
    except CommandRefused as error:
        raise EngineDied(f"GNU Go: {error}; is {path} GNU Go?", "died") from None
    finally:
        program.close()


def _commands(store: Store, game: int) -> Iterator[list[str]]:
    """The GTP commands that set up the board and play the moves."""
    row = store.starts[store.start_of[game]]
    size = int(row[POINTS + 1])
    stones = [(point, "black" if row[point] == BLACK else "white") for point in range(POINTS) if row[point] in (1, 2)]
    yield [f"boardsize {size}", "clear_board", *(f"play {colour} {to_gtp(point, size)}" for point, colour in stones)]
    moves = store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()
    for ply, move in enumerate(moves):
        colour = ("black", "white")[(int(row[POINTS]) + ply) % 2]
        yield [f"play {colour} {to_gtp(move, size)}"]
