"""Collect the games of a person in a store (kibitz's game database), and find the positions in which the person
moved.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz import records
from kibitz.errors import KibitzError, UsageError
from kibitz.games import GAME_NAMES, game_of
from kibitz.games.batch import GameBatch, Rejections
from kibitz.personal import names
from kibitz.store.positions import Positions
from kibitz.store.split import VALIDATE, Split
from kibitz.store.store import INFO, Store
from kibitz.store.writer import StoreWriter
from kibitz.text import number_of

GAMES = "games"
"""The folder with the store of the person's games, inside the folder of the network."""
FIRST, SECOND, NEITHER = 0, 1, -1
"""The sides of a person in a game. FIRST is the side that moves first from the usual start: White in chess, Black in
Go. SECOND is the other side. NEITHER means that the person has no side or both sides.
"""
COLOURS = {"chess": ("white", "black"), "go": ("black", "white")}
"""For each game, chess or Go, the two columns of a store's table with the players' names. The player who moves first is
in the first column.
"""
SIDE_AT = {"chess": 64, "go": 361}
"""For each game, chess or Go, the column with the side to move in a row of a store's start positions. A row has the
codes and the state of `kibitz.PositionArrays`.
"""
KINDS = {"chess": "standard chess", "go": "Go"}
MAX_STRAYS = 5
"""The largest number of messages about text outside of games, over all files."""
LEAST = 20
"""The smallest number of games from which a network is trained."""
TEST_SHARE, MOST_TEST = 10, 50
"""The number of test games is the number of all games divided by TEST_SHARE, but at most MOST_TEST. The newest games
are the test games.
"""
VALIDATE_SHARES, LEAST_VALIDATE = (10.0, 20.0, 40.0, 60.0), 2
"""Percentages of the games that are not test games. The first percentage that gives at least LEAST_VALIDATE games
determines the number of validation games.
"""


def sides_of(store: Store, spellings: Sequence[str]) -> NDArray[np.int8]:
    """Return the side of a person in each game of a store, int8 [games]: FIRST = 0, SECOND = 1 or NEITHER = −1. FIRST
    is White in chess and Black in Go. NEITHER means that the person has no side or both sides.

    spellings: the person's names, as the games spell them.
    """
    first, second = _named(store, spellings)
    return np.select([first & ~second, second & ~first], [FIRST, SECOND], NEITHER).astype(np.int8)


def _named(store: Store, spellings: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether one of these names is the first player, and whether one is the second player, bool [games]
    each.
    """
    first, second = (np.isin(store.column(column).astype(str), list(spellings)) for column in COLOURS[store.game])
    return first, second


class OwnPositions(Positions):
    """The positions in which one person moved, in some games of a store. The positions are numbered from 0, in the
    order of games and moves.

    games: the numbers of the games in the store.
    sides: the person's side in every game of the store, see `sides_of`. Games with NEITHER (−1) have no such positions.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], sides: NDArray[np.int8]):
        self.store, self.games = store, np.asarray(games, np.int64)
        mine = self.games[sides[self.games] != NEITHER]
        begins = store.starts[store.start_of[mine], SIDE_AT[store.game]].astype(np.int64)
        first = (begins != sides[mine]).astype(np.int64)
        counts = np.maximum(0, store.plies[mine] - first + 1) // 2
        begin = np.repeat(np.cumsum(counts) - counts, counts)
        self._game = np.repeat(mine, counts)
        self._ply = np.repeat(first, counts) + 2 * (np.arange(counts.sum()) - begin)

    def __len__(self) -> int:
        return len(self._game)

    def locate(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return two arrays for the positions with the numbers `ids`, int64 [n] each: the game in the store, and the
        ply (the number of moves before the position).
        """
        return self._game[ids], self._ply[ids]


def split_of(store: Store, test: int | None = None) -> Split:
    """Return a division of a person's games into training games, validation games and test games.

    test: the number of test games, which are the newest games. None for a tenth of all games, at least 1 and at most
    50. If `test` is None and no game has a date, a hash of each game selects about this number of test games.

    A hash of each game selects about 10% of the other games for validation. If these are fewer than 2 games, the share
    rises to 20%, 40% or 60%.
    """
    undated = test is None and np.isnat(store.column("date").astype("datetime64[D]")).all()
    hashed = min(100 / TEST_SHARE, round(100 * MOST_TEST / max(1, len(store)), 3))
    newest = min(MOST_TEST, max(1, len(store) // TEST_SHARE)) if test is None else test
    for share in VALIDATE_SHARES:
        split = Split(share, hashed) if undated else Split(share, 0.0, newest=newest)
        if (store.sides(split) == VALIDATE).sum() >= LEAST_VALIDATE:
            break
    return split


# Gathering


@contextlib.contextmanager
def opened(sources: Sequence[str], log: Callable[[str], None]) -> Iterator[Store]:
    """A context manager that opens one store with the games of all sources. The sources are PGN or SGF files, folders
    with such files, or a single store.

    Game records are imported into a temporary store, which is removed at the end of the context. log: a function that
    is called with a message about each source or game that could not be read or was skipped. Raises KibitzError if
    there is no game, and UsageError if some games are chess and others Go.
    """
    if len(sources) == 1 and (Path(sources[0]) / INFO).is_file():
        yield Store(sources[0])
        return
    if any((Path(source) / INFO).is_file() for source in sources):
        raise UsageError(
            "a store cannot be combined with other sources (got both). Give only the store. To add games to it: kibitz"
            " import --append"
        )
    paths = records.find(list(sources), tuple(records.ENDINGS))
    with tempfile.TemporaryDirectory(prefix="kibitz-") as folder:
        yield _read(paths, _game_of(paths), sources, Path(folder) / "games", log)


def _game_of(paths: Sequence[str]) -> str:
    """Determine the game ("chess" or "go") of some files by their extensions; chess if the extensions don't decide.
    Raises UsageError if both games occur.
    """
    found = list(records.games_by_ending(paths))
    if len(found) > 1:
        raise UsageError("kibitz personal learns one game at a time (got chess and Go). Give files of only one game.")
    return found[0]


def games_of(
    source: Store,
    players: Sequence[names.Player],
    where: str,
    most: int | None,
    log: Callable[[str], None],
    least: int = LEAST,
) -> NDArray[np.int64]:
    """Return the numbers of a person's games in a store, int64 [n], from old to new.

    source: the store.
    players: the names under which the person played.
    where: a description of the games, which error messages contain.
    most: the largest number of games; None for no limit. If there are more games, only the newest are returned.
    log: a function that is called with messages about skipped games and about anything unusual.
    least: the smallest number of games.

    Raises KibitzError if there are fewer than `least` games.
    """
    for player in players:
        if names.looks_like_a_program(player.name):
            log(f"{player.name} looks like the name of a program. If so, the network will play like this program.")
    sides, order = sides_of(source, spellings_of(players)), in_time(source)
    games = order[(sides[order] != NEITHER) & (source.plies[order] > 1)]
    both = int(_on_both_sides(source, players).sum())
    if both:
        log(f"skipped {number_of(both, 'game')} with {players[0].name} on both sides")
    if len(games) < least:
        raise KibitzError(
            f"{where}: {len(games)} usable games of {names.listed(players)}"
            + (", without games with this name on both sides" if both else "")
            + f". Training needs at least {least}."
        )
    return np.asarray(games[-most:] if most else games, np.int64)


def _on_both_sides(source: Store, players: Sequence[names.Player]) -> NDArray[np.bool_]:
    first, second = _named(source, spellings_of(players))
    return first & second


def _read(paths: list[str], game: str, sources: Sequence[str], into: Path, log: Callable[[str], None]) -> Store:
    """Read all games of some files into a store; in chess, only games of standard chess."""
    rules = game_of(game)
    reader = rules.Reader(paths, importlib.import_module(f"kibitz.games.{game}.filters").Filter())
    with StoreWriter(into, game, rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE) as writer:
        strays = list[str]()
        for batch in reader:
            strays += batch.strays
            writer.add(batch)
        left_out = writer.rejections.as_json().items()
        reasons = ", ".join(f"{reason}: {entry['games']:,}" for reason, entry in left_out)
        if not writer.games:
            if reader.broken and not reasons:
                first = reader.broken[0]
                raise KibitzError(first if first.endswith(".") else f"{first}. Check the file.")
            raise KibitzError(
                f"{', '.join(sources[:3])}: no usable {GAME_NAMES[game]} game{f' ({reasons})' if reasons else ''}."
                " Check the files."
            )
        for line in reader.broken:
            log(f"warning: {line}")
        for stray in strays[:MAX_STRAYS]:
            log(f"warning: skipped text that belongs to no game: {stray}")
        if reasons:
            log(f"skipped: {reasons}")
        return writer.commit({"files": [records.printable(path) for path in paths], "kept": writer.games})


def spellings_of(players: Sequence[names.Player]) -> tuple[str, ...]:
    """Return all spellings of the names of these players in one tuple."""
    return tuple(name for player in players for name in player.spellings)


def in_time(store: Store) -> NDArray[np.int64]:
    """Return the numbers of a store's games in the order of time, from old to new, int64 [games].

    The games are sorted by date, and games without a date come first. Games of the same day are in the order of the
    files. If the dates in the files fall more often than they rise, the order of games of the same day is reversed,
    because some servers list new games first.
    """
    dates = store.column("date").astype("datetime64[D]")
    days = dates.astype(np.int64)
    steps = np.sign(np.diff(days[~np.isnat(dates)]))
    order = np.arange(len(days))
    if (steps < 0).sum() > (steps > 0).sum():
        order = order[::-1]
    return np.asarray(order[np.argsort(days[order], kind="stable")], np.int64)


def add_games(source: Store, games: NDArray[np.int64], into: Path, sources: Sequence[str]) -> Store:
    """Copy games from one store to the store at the path `into`, and return the store at this path. Games that are
    already there are skipped.

    source: the store from which to copy.
    games: the numbers of the games in `source`.
    into: the path of the store that gets the games. If there is no store, a new one is created.
    sources: the names of the files from which the games come. The store at `into` records these names.
    """
    rules = game_of(source.game)
    begins, plies = source.offsets[games], source.plies[games]
    at = np.repeat(begins - np.concatenate(([0], np.cumsum(plies)[:-1])), plies) + np.arange(plies.sum())
    per_move: dict[str, NDArray[Any]] = {}
    for name in rules.PER_MOVE:
        values = source.per_move(name) if name in source.info["beside"] else None
        if values is not None:
            per_move[name] = values[at]
    starts = source.starts[source.start_of[games]] if len(source.starts) > 1 else None
    batch = GameBatch(
        source.moves[at], plies.astype(np.int32), starts, _rows(source, games), Rejections(), len(games), per_move
    )
    with StoreWriter(
        into, source.game, rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE, append=into.exists()
    ) as writer:
        if not writer.add(batch) and writer.old is not None:
            return writer.old
        return writer.commit(
            {"files": [records.printable(source) for source in sources], "read": len(games), "kept": len(games)}
        )


def _rows(source: Store, games: NDArray[np.int64]) -> pa.Table:
    """Return the rows of some games, without the label column, because the final owners aren't copied."""
    table = source.table(game_of(source.game).COLUMNS.names).take(games)
    if "labels" not in table.column_names:
        return table
    column = table.column_names.index("labels")
    return table.set_column(column, table.schema.field("labels"), pa.nulls(len(games), pa.string()))
