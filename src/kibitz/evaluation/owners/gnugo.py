"""GNU Go's influence: what territory it foresees, before it thinks of moves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.external.gtp import Lost, Program, Refused, find_gnugo
from kibitz.games.go.points import BLACK, GRID, POINTS, WHITE, to_gtp
from kibitz.games.go.replay import SIDE, SIZE, colours_of
from kibitz.store.store import Store

LIMIT = 20.0
"""Seconds for one answer; as a rule it takes a tenth of one."""
MOST_LOST = 3
"""A worker whose program was lost so often gives up."""


def find(wanted: str | None = None) -> str | None:
    """The path of GNU Go; None where it is not installed. Raises UsageError where `wanted` is no program."""
    found = find_gnugo(wanted)
    if wanted is not None and found is None:
        raise UsageError(f"--gnugo {wanted}: no such program; give its path")
    return found


def read_territory(text: str, size: int, colours: NDArray[np.uint8]) -> NDArray[np.float32]:
    """float32 [361]: that Black owns each point, from the answer to `initial_influence … territory_value`.

    That is how much territory each point is worth to White, Black's being negative: up to 1 on an empty point, and up
    to 2 on a stone that is dead, where a living one is worth 0. Raises ValueError on other text.
    """
    rows = [[float(word) for word in line.split()] for line in text.splitlines()]
    if len(rows) != size or any(len(row) != size for row in rows):
        raise ValueError(f"not {size} rows of {size} numbers")
    worth = np.zeros((GRID, GRID))
    worth[:size, :size] = rows
    flat = worth.ravel()
    chance = np.where(colours == BLACK, 1 - flat / 2, np.where(colours == WHITE, -flat / 2, (1 - flat) / 2))
    return np.clip(chance, 0, 1).astype(np.float32)


def influence(
    path: str,
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    *,
    workers: int,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[str, NDArray[np.float32], NDArray[np.bool_]]:
    """The program's name, its predictions [n, 361] of these positions (sorted by game and ply), and which it answered.

    A game whose moves it refuses is passed over from there on, as is one at which it hangs. workers: processes.
    Raises Lost where it cannot be started, or is lost again and again.
    """
    codes, state = store.replay(games, plies)
    colours = colours_of(codes)
    chance, answered = np.full((len(games), POINTS), 0.5, np.float32), np.zeros(len(games), np.bool_)
    numbers = np.unique(games)
    lock, failed = threading.Lock(), threading.Event()
    done = 0

    def answer(program: Program, game: int) -> None:
        nonlocal done
        mine = np.flatnonzero(games == game)
        commands = _commands(store, game)
        ply = -1  # after the commands that set the board up
        for i in mine:
            while ply < plies[i]:
                for command in next(commands):
                    program.ask(command, LIMIT)
                ply += 1
            mover = "white" if state[i, SIDE] else "black"
            text = program.ask(f"initial_influence {mover} territory_value", LIMIT)
            chance[i] = read_territory(text, int(state[i, SIZE]), colours[i])
            answered[i] = True
            with lock:
                done += 1
                tell(done, len(games))

    def work(mine: NDArray[np.int64]) -> str:
        program, lost = Program([path, "--mode", "gtp", "--level", "1"], "GNU Go"), 0
        try:
            name = f"{program.ask('name', LIMIT)} {program.ask('version', LIMIT)}"
            for game in mine.tolist():
                if failed.is_set():
                    break
                try:
                    answer(program, game)
                except Lost:
                    lost += 1
                    if lost == MOST_LOST:
                        raise
                    program.close()
                    program = Program([path, "--mode", "gtp", "--level", "1"], "GNU Go")
                except ValueError:  # Refused among them: the rest of this game is left out
                    continue
            return name
        except BaseException as error:
            failed.set()
            if isinstance(error, Refused):
                raise Lost(f"GNU Go: {error}; is {path} GNU Go?", "died") from None
            raise
        finally:
            program.close()

    workers = max(1, min(workers, len(numbers)))
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, numbers[first::workers]) for first in range(workers)]
        try:
            names = [future.result() for future in futures]
        except BaseException:
            failed.set()  # Ctrl-C too: the others stop after the game they are at
            raise
    return names[0], chance, answered


def _commands(store: Store, game: int) -> Iterator[list[str]]:
    """What sets the board up, then each move."""
    row = store.starts[store.start_of[game]]
    size = int(row[POINTS + 1])
    stones = [(point, "black" if row[point] == BLACK else "white") for point in range(POINTS) if row[point] in (1, 2)]
    yield [f"boardsize {size}", "clear_board", *(f"play {colour} {to_gtp(point, size)}" for point, colour in stones)]
    moves = store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()
    for ply, move in enumerate(moves):
        colour = ("black", "white")[(int(row[POINTS]) + ply) % 2]
        yield [f"play {colour} {to_gtp(move, size)}"]
