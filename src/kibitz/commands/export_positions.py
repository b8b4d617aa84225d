"""The command `kibitz export-positions`: write positions of a store (a database of games) as one file of arrays."""

from __future__ import annotations

import importlib.util
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.text import either, number_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.api.stores import GameStore

    Chunks = Iterator[dict[str, NDArray[Any]]]

FORMATS = {".npz": "NumPy", ".h5": "HDF5", ".hdf5": "HDF5"}
"""The names of the output formats, by file extension."""
CHUNK = 20_000
"""The number of positions that are in memory at once."""


def export_positions(
    store: Annotated[str, typer.Argument(show_default=False, metavar="STORE")],
    to: Annotated[
        Path,
        typer.Option(
            "--to",
            show_default=False,
            metavar="FILE",
        ),
    ],
    positions: Annotated[int, typer.Option(min=0)] = 100_000,
    part: Annotated[
        str | None,
        typer.Option(metavar="training|validation|test"),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
        ),
    ] = None,
    played: Annotated[
        bool,
        typer.Option("--played"),
    ] = False,
    view: Annotated[
        str,
        typer.Option(
            metavar="mover|board",
        ),
    ] = "mover",
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Write positions, moves, results, ratings and clocks of a store as arrays, for other programs.

    docs/reference/python.md describes the arrays: their names and meanings are those of
    kibitz.datasets.PositionBatches. HDF5 needs h5py: pip install 'kibitz[hdf5]'.
    """
    from kibitz.api.stores import open_store

    ending = to.suffix.lower()
    if ending not in FORMATS:
        raise UsageError(f"--to must end in {either(FORMATS)} (got {to.name}). Choose another name.")
    if FORMATS[ending] == "HDF5" and importlib.util.find_spec("h5py") is None:
        raise KibitzError("HDF5 needs h5py, which is not installed. Install it: pip install 'kibitz[hdf5]'")
    if played and network is not None:
        raise UsageError(f"--played cannot be combined with --network (got {network}). Leave one of them out.")
    if to.exists():
        raise UsageError(f"--to {to} exists already. Choose another name.")
    opened = open_store(store)
    if network is not None:
        games, plies = opened.sample(positions or opened.total_positions, part=part, seed=seed, network=network)
    else:
        games, plies = opened.sample(positions or opened.total_positions, part=part, seed=seed, played=played)
    names = _write(to, opened, games, plies, played, view)
    if as_json:
        print(json.dumps({"file": str(to), "positions": len(games), "arrays": names, "bytes": to.stat().st_size}))
    else:
        print(
            f"{to}: {number_of(len(games), 'position')}, {to.stat().st_size / 1e6:,.1f} MB; arrays: {', '.join(names)}"
        )


def _write(
    to: Path, store: GameStore, games: NDArray[np.int64], plies: NDArray[np.int64], played: bool, view: str
) -> list[str]:
    """Write the file, which appears only when it is complete. Returns the names of its arrays."""
    from kibitz.datasets import collect

    write = _write_npz if FORMATS[to.suffix.lower()] == "NumPy" else _write_hdf5
    part_file = to.with_name(to.name + ".part")
    with Progress("positions", BAR, "{task.completed:,.0f} of {task.total:,.0f}", LEFT) as progress:
        progress.begin("positions", len(games))

        def chunks() -> Chunks:
            for first in range(0, len(games), CHUNK):
                some = slice(first, first + CHUNK)
                yield collect(store, games[some], plies[some], played, view)
                done = min(first + CHUNK, len(games))
                progress.update(done, f"kibitz: {done:,} of {number_of(len(games), 'position')}")

        try:
            names = write(part_file, chunks, len(games), _about(store, view))
            part_file.replace(to)
        except OSError as error:
            raise KibitzError(f"{to}: {one_line(error)}. Choose another file with --to.") from None
        finally:
            part_file.unlink(missing_ok=True)
    return names


def _about(store: GameStore, view: str) -> dict[str, str]:
    """Return the metadata for the file: the store and its fingerprint, the game, and the view."""
    return {"store": store.path.name, "fingerprint": store.fingerprint, "game_name": store.game, "view": view}


def _write_npz(path: Path, chunks: Callable[[], Chunks], count: int, about: dict[str, str]) -> list[str]:
    """Write one array into the file for each name. A compressed array is written piece by piece."""
    import io

    import numpy as np

    folder = path.with_name(path.name + ".arrays")
    shutil.rmtree(folder, ignore_errors=True)  # from a call that was killed
    folder.mkdir()
    open_arrays: dict[str, np.memmap[Any, Any]] = {}
    try:
        first = 0
        for chunk in chunks():
            for name, values in chunk.items():
                if name not in open_arrays:
                    open_arrays[name] = np.lib.format.open_memmap(
                        folder / f"{name}.npy", "w+", values.dtype, (count, *values.shape[1:])
                    )
                open_arrays[name][first : first + len(values)] = values
            first += len(next(iter(chunk.values())))
        names = list(open_arrays)
        for array in open_arrays.values():
            array.flush()
        open_arrays.clear()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            for name in names:
                file.write(folder / f"{name}.npy", f"{name}.npy")
            for name, text in about.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.array(text))
                file.writestr(f"{name}.npy", buffer.getvalue())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return names


def _write_hdf5(path: Path, chunks: Callable[[], Chunks], count: int, about: dict[str, str]) -> list[str]:
    """Write one data set for each name. The file's attributes describe the source of the positions."""
    import h5py

    with h5py.File(path, "w") as file:
        first = 0
        for chunk in chunks():
            for name, values in chunk.items():
                if name not in file:
                    shape = (count, *values.shape[1:])
                    file.create_dataset(
                        name, shape, values.dtype, chunks=(min(count, 4096), *shape[1:]), compression="lzf"
                    )
                file[name][first : first + len(values)] = values
            first += len(next(iter(chunk.values())))
        file.attrs.update(about)
        return list(file)
