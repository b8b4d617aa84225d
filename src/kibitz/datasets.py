"""Positions of a game store as batches of arrays, for PyTorch, JAX or NumPy. All positions of a game are in the same
part: training, validation or test.

>>> from kibitz import datasets
>>> batches = datasets.PositionBatches("my.store", part="training", batch=64, played=True)
>>> batch = batches[0]
>>> batch["codes"].shape, batch["origin"].dtype
((64, 64), dtype('int16'))
>>> datasets.make_planes(batch["codes"]).shape
(64, 12, 8, 8)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.api.checks import check_whole
from kibitz.api.stores import PARTS, GameStore, check_view
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from kibitz.store.positions import Positions

ARRAYS = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX"}
"""The array libraries that a user can choose: name -> spelling in messages."""
_GO_POINTS = 361


class PositionBatches:
    """The positions of a store in batches, in a new random order each epoch.

    store: a path, or the result of `kibitz.open_store`.
    part: "training", "validation", "test" or None (all games).
    batch: positions per batch. The few positions at the end of an epoch that don't fill a batch are omitted. Each epoch
    omits different positions.
    played: whether to include only positions in which a move was played. If true, a batch also contains the played
    moves.
    view: "mover" or "board". "board" is the position as it is. In "mover", the player to move has White's pieces
        (Black's stones in Go): if necessary, the colors are swapped and, in chess, the ranks are flipped.
    seed, epoch: integers that determine the order of the positions; `with_epoch` returns the batches of another epoch.
    arrays: the library of the arrays, "numpy", "torch" or "jax".

    Each batch is a dict of arrays, whose first axis is the position. `codes` and `state` are as in
    `kibitz.PositionArrays`. `side`, `result`, `rating`, `opponent_rating` and `clock` are as in
    `kibitz.PositionLabels`. `game` is the index of the game in the store, and `ply` is the number of moves before
    the position. If `played` is true, there are also `origin`, `target` and `promotion`, as in `kibitz.MoveArrays`.

    len(batches) is the number of batches, and batches[i] always returns the same positions. Therefore,
    `torch.utils.data.DataLoader(batches, batch_size=None, num_workers=4)` works: it distributes the batches among its
    processes.

    Raises UsageError for an unknown part, view or array library, and if there are fewer positions than one batch needs.
    Raises KibitzError if the array library is not installed.

    >>> from kibitz import datasets
    >>> batches = datasets.PositionBatches("my.store", part="training", batch=100)
    >>> sum(len(batch["result"]) for batch in batches) == 100 * len(batches)
    True
    """

    def __init__(
        self,
        store: str | Path | GameStore,
        *,
        part: str | None = "training",
        batch: int = 256,
        played: bool = False,
        view: str = "mover",
        seed: int = 0,
        epoch: int = 0,
        arrays: str = "numpy",
    ):
        for name, value, least in (("batch", batch, 1), ("seed", seed, 0), ("epoch", epoch, 0)):
            check_whole(name, value, least)
        check_view(view)
        if arrays not in ARRAYS:
            raise UsageError(f"arrays must be one of {', '.join(ARRAYS)} (got {arrays!r}).")
        self.store = store if isinstance(store, GameStore) else GameStore(store)
        self.part, self.batch, self.played, self.view = part, batch, played, view
        self.seed, self.epoch, self.arrays = seed, epoch, arrays
        _library(arrays)
        self._positions: Positions | None = None
        if not len(self):
            raise UsageError(
                f"batch must be at most the number of positions, {len(self._all()):,} in this part (got {batch:,})."
            )

    def _all(self) -> Positions:
        if self._positions is None:
            self._positions = self.store.positions_of(self.part, self.played)
        return self._positions

    def with_epoch(self, epoch: int) -> PositionBatches:
        """Return a new PositionBatches with the same positions, in the random order of another epoch. epoch: an
        integer.
        """
        return PositionBatches(
            self.store, part=self.part, batch=self.batch, played=self.played, view=self.view, seed=self.seed,
            epoch=epoch, arrays=self.arrays,
        )  # fmt: skip

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._all()) // self.batch

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return one batch. Raises IndexError for an index after the last batch."""
        from kibitz.store.positions import permutation

        if not 0 <= index < len(self):
            raise IndexError(f"the index of a batch must be from 0 to {len(self) - 1} (got {index})")
        positions = self._all()
        ids = permutation(len(positions), self.seed, self.epoch, index * self.batch, self.batch)
        games, plies = positions.locate(np.sort(ids))
        return _converted(collect(self.store, games, plies, self.played, self.view), self.arrays)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that is pickled for other processes, which then open the store themselves."""
        return {**self.__dict__, "store": str(self.store.path), "_positions": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.store = GameStore(state["store"])


@dataclass(frozen=True)
class Leakage:
    """The result of `check_leakage`: how many games are both in the training part and in another part of a split.

    games: a dict from the name of each part to its number of games.
    shared_games: the number of games in the other parts that have the same moves and players as a training game.
    near_duplicates: the number of games in the other parts that have the same start position and the same first 40
        plies (moves of one side) as a training game. None if the store doesn't have this information.
    """

    games: dict[str, int]
    shared_games: int
    near_duplicates: int | None

    @property
    def is_clean(self) -> bool:
        """Whether shared_games is 0, and near_duplicates is 0 or None."""
        return self.shared_games == 0 and not self.near_duplicates


def check_leakage(
    store: str | Path | GameStore, parts: Mapping[str, NDArray[np.integer[Any]]] | None = None
) -> Leakage:
    """Count the games that are both in the training part and in another part of a split. Use this function before you
    publish a result.

    store: the game store, or its path.
    parts: the indexes of the games in each part, as integer arrays [n]. One part must have the name "training"; the
        other names are free. None for the split of the store. This split has no leakage unless an earlier version of
        kibitz made the store.

    Raises UsageError if the part "training" is missing, if an index is not that of a game of the store, or if a game is
    in several parts.

    >>> import kibitz
    >>> from kibitz import datasets
    >>> datasets.check_leakage("my.store").is_clean
    True
    """
    opened = store if isinstance(store, GameStore) else GameStore(store)
    given = {name: opened.games(name) for name in PARTS} if parts is None else dict(parts)
    if "training" not in given:
        raise UsageError(f"parts must contain a part named training (got {', '.join(given) or 'none'}).")
    for name, games in given.items():
        if (kind := np.asarray(games).dtype).kind not in "iu" and len(games):
            raise UsageError(f"parts must contain indexes of games, which are integers (got {kind} for {name})")
    numbers = {name: np.asarray(games, np.int64) for name, games in given.items()}
    together = np.concatenate(list(numbers.values()))
    if len(together) and (together.min() < 0 or together.max() >= len(opened)):
        raise UsageError(f"parts must contain indexes of games, from 0 to {len(opened) - 1}.")
    if len(np.unique(together)) < len(together):
        raise UsageError("parts must contain each game at most once. Remove games that are in several parts.")
    training = numbers["training"]
    others = np.concatenate([games for name, games in numbers.items() if name != "training"] or [training[:0]])
    hashes, openings = opened.game_hashes(), opened.opening_hashes()
    return Leakage(
        {name: len(games) for name, games in numbers.items()},
        int(np.isin(hashes[others], hashes[training]).sum()),
        None if openings is None else int(np.isin(openings[others], openings[training]).sum()),
    )


def read_arrays(
    store: str | Path | GameStore,
    *,
    part: str | None = "training",
    positions: int | None = None,
    played: bool = False,
    view: str = "mover",
    seed: int = 0,
) -> dict[str, NDArray[Any]]:
    """Return positions of one part of a store's split as a dict of NumPy arrays. The first axis of each array is the
    position.

    positions: the number of positions, sampled at random without replacement; None for all positions. The result is
    always in the order of the games in the store. Each chess position needs about 100 bytes of memory, each Go position
    about 400.

    The names of the arrays and the other arguments are those of `PositionBatches`. Raises UsageError for an unknown
    part or view, and if the part has fewer than `positions` positions.

    >>> from kibitz import datasets
    >>> arrays = datasets.read_arrays("my.store", part="test", positions=100)
    >>> arrays["codes"].shape, arrays["result"].shape
    ((100, 64), (100,))
    """
    check_whole("seed", seed, 0)
    check_view(view)
    opened = store if isinstance(store, GameStore) else GameStore(store)
    there = opened.positions_of(part, played)
    if positions is None:
        ids = np.arange(len(there))
    else:
        from kibitz.store.positions import permutation

        check_whole("positions", positions, 1)
        if positions > len(there):
            raise UsageError(
                f"positions must be at most {len(there):,}, the number of positions in this part (got {positions:,})."
            )
        ids = np.sort(permutation(len(there), seed, 0, 0, positions))
    games, plies = there.locate(ids)
    return collect(opened, games, plies, played, view)


def collect(
    store: GameStore, games: NDArray[np.int64], plies: NDArray[np.int64], played: bool, view: str
) -> dict[str, NDArray[Any]]:
    """Return arrays for n positions as a dict. Position i is the one in game games[i] after plies[i] moves.
    `PositionBatches` describes the arrays.

    games, plies: int64 [n]. played: whether to include the arrays of the played moves. view: "mover" or "board", see
    `PositionBatches`.
    """
    codes, state = store.positions(games, plies, view=view)
    found: dict[str, NDArray[Any]] = {"codes": codes, "state": state}
    if played:
        found |= store.moves_at(games, plies, view=view)._asdict()
    return found | store.labels_at(games, plies)._asdict() | {"game": games, "ply": plies}


def make_planes(codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Convert pieces or stones to network inputs, planes of 0 and 1, float32 [n, planes, rows, columns]. codes: the
    array "codes" of `PositionBatches` with the view "mover".

    Chess: `codes` is uint8 [n, 64], and there are 12 planes: the mover's pawn, knight, bishop, rook, queen and king,
        then the opponent's. Row 0 is the mover's first rank, column 0 the a-file.
    Go: `codes` is uint8 [n, 361], and there are 8 planes. Three planes are for the mover's stones with 1, 2, and 3 or
        more liberties, and three for the opponent's. One is for the ko point, and the last one is 1 on every point of
        the board. The network `gocnn` has the same planes.

    >>> import kibitz
    >>> from kibitz import datasets
    >>> codes, _ = kibitz.open_store("my.store").positions([0], [0], view="mover")
    >>> planes = datasets.make_planes(codes)
    >>> planes[0].sum((1, 2)).tolist()
    [8.0, 2.0, 2.0, 2.0, 1.0, 1.0, 8.0, 2.0, 2.0, 2.0, 1.0, 1.0]
    """
    if codes.ndim != 2 or codes.shape[1] not in (64, _GO_POINTS):
        raise UsageError(
            f"codes must have the dtype uint8 and the shape [n, 64] or [n, {_GO_POINTS}] (got {codes.dtype}"
            f" {list(codes.shape)})."
        )
    if codes.shape[1] == 64:
        pieces = codes[:, None] == np.arange(1, 13, dtype=np.uint8)[:, None]
        return np.asarray(pieces.reshape(-1, 12, 8, 8), np.float32)
    kind = codes & 15
    bounds = ((1, 1), (2, 2), (3, 6), (7, 7), (8, 8), (9, 12), (13, 13), (0, 13))
    stacked = np.stack([(kind >= low) & (kind <= high) for low, high in bounds], 1)
    return stacked.reshape(-1, 8, 19, 19).astype(np.float32)


def _library(name: str) -> Any:
    """Return the library that converts arrays. Raises KibitzError if it is not installed."""
    import importlib

    if name == "numpy":
        return np
    try:
        return importlib.import_module("torch" if name == "torch" else "jax.numpy")
    except ImportError:
        package = "'kibitz[train]'" if name == "torch" else "jax"
        raise KibitzError(f"{ARRAYS[name]} is not installed. Install it: pip install {package}") from None


def _converted(arrays: dict[str, NDArray[Any]], library: str) -> dict[str, Any]:
    if library == "numpy":
        return arrays
    module = _library(library)
    convert = module.from_numpy if library == "torch" else module.asarray
    return {name: convert(np.ascontiguousarray(values)) for name, values in arrays.items()}
