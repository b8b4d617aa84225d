"""Open runs. A run is the directory of one trained network, with these files:

run.json           system (kind of network), settings, data, split, versions, seed; and the result at the end.
metrics.jsonl      the log: one row per summary, validation or warning.
last.pt            everything that is needed to resume training.
snapshots/         earlier weights, by stage and iteration.
best.safetensors   the weights of the best validation.
model.onnx         the network with these weights, for every interface.
seen.npy           short hashes of the training and validation games, which tests exclude.
learning.svg       the learning curve.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.resources
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz import manifest
from kibitz.durable import NEW, write_array, write_whole
from kibitz.errors import KibitzError
from kibitz.messages import did_you_mean
from kibitz.received import is_inside, read_array, read_json
from kibitz.store.split import Split
from kibitz.systems import load

if TYPE_CHECKING:
    from torch import nn

    from kibitz.store.store import Store
    from kibitz.systems.base import System

INFO = "run.json"
WEIGHTS = "best.safetensors"
ONNX = "model.onnx"
SEEN = "seen.npy"
CURVE = "learning.svg"
LOCK = ".lock"
CHECKPOINTS = "snapshots"
"""The name of a run's folder with earlier weights. The name is old, so that runs of earlier versions can be opened."""
FORMAT = 1


def barely_begun(path: Path) -> bool:
    """Return whether a folder is empty, or contains only the files that `kibitz train` writes before run.json. A killed
    training leaves such a folder.
    """
    return path.is_dir() and all(file.name in (SEEN, LOCK) or file.name.endswith(NEW) for file in path.iterdir())


@functools.cache
def packaged() -> dict[str, Path]:
    """Return a dict from the name of each bundled network to its directory. The result is cached, so it stays the same
    while the program runs.
    """
    folder = Path(str(importlib.resources.files("kibitz"))) / "networks"
    if not folder.is_dir():
        return {}
    return {path.name: path for path in sorted(folder.iterdir()) if (path / INFO).is_file()}


def find(name: str | Path) -> Path:
    """Return the directory of a trained network. name: a run (the directory of a network that you trained), or the name
    of a bundled network. Raises KibitzError if neither exists.
    """
    path = Path(name)
    if (path / INFO).is_file():
        return path
    known = packaged()
    if str(name) in known:
        return known[str(name)]
    if path.is_file():
        raise KibitzError(f"{name} is a file, not a run or bundled network. To list networks: kibitz systems")
    if path.exists():
        raise KibitzError(f"{name} is not a run: it has no {INFO}. To train one: kibitz train SYSTEM STORE")
    raise KibitzError(
        f"{name} is not a run or bundled network.{did_you_mean(str(name), known)} To list networks: kibitz systems"
    )


class Run:
    """A trained network with its settings and logs. name: the directory in which it was trained, or the name of a
    bundled network.

    Raises KibitzError if there is no such network, or if its run.json is damaged or was written by an incompatible
    version of kibitz.
    """

    def __init__(self, name: str | Path):
        self.path = find(name)
        self.name = str(name)
        try:
            self.info: dict[str, Any] = read_json(self.path / INFO)
            version = self.info["kibitz_run"]
            if version == FORMAT and any(
                not isinstance(self.info[name], kind)
                for name, kind in {"system": str, "game": str, "settings": dict}.items()
            ):
                raise TypeError
            if any(not isinstance(self.info.get(name, {}), dict) for name in ("data", "beyond")):
                raise TypeError
        except (ValueError, KeyError, TypeError, AttributeError):
            raise KibitzError(f"{self.path / INFO} is damaged. Train the network again.") from None
        if version != FORMAT:
            raise KibitzError(
                f"{name} is a run of version {version}, and this kibitz reads version {FORMAT}. Train it again."
            )

    @property
    def system(self) -> System:
        """The system (kind of network) of this trained network."""
        return load(self.info["system"])

    @property
    def settings(self) -> Any:
        """The settings with which this network was trained, an instance of the settings class of the system (kind of
        network). Raises KibitzError if run.json has invalid settings.
        """
        from kibitz.systems.base import settings_from

        try:
            return settings_from(self.system.settings_type, self.info["settings"])
        except KibitzError as error:
            raise KibitzError(f"{self.path / INFO}: {error}") from None

    @property
    def side_inputs(self) -> dict[str, int]:
        """A dict from the name of each side input to its default value, 0 to 255. Side inputs are inputs of the network
        in addition to the position, such as a rating.
        """
        return dict(self.info.get("beyond", {}))

    @property
    def person(self) -> dict[str, Any] | None:
        """The player whom a personal network imitates, as a dict with "name", the player's "names" in game records, and
        more. None for other networks.
        """
        return self.info.get("person")

    @property
    def takes_ratings(self) -> bool:
        """Whether the user can set the rating input of this chess network. False if the network has no rating input.
        False also for a personal network, whose rating input is always the rating of its player.
        """
        return "rating" in self.side_inputs and self.person is None

    @property
    def takes_ranks(self) -> bool:
        """Whether the user can set the rank input of this Go network. False if the network has no rank input. False
        also for a personal network, whose rank input is always the rank of its player.
        """
        return "rank" in self.side_inputs and self.person is None

    @property
    def split(self) -> Split:
        """The division of the games into training, validation and test games with which this network was trained.
        Raises KibitzError if run.json has no valid split.
        """
        try:
            return Split.from_json(self.info["data"]["split"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise KibitzError(f"{self.path / INFO} is damaged. Train the network again.") from None

    def trained(self) -> Path:
        """Return the path of the file with the best weights, those with the best validation result.

        Raises KibitzError if there was no validation yet, or if the weights of a bundled network are damaged.
        """
        path = self.path / WEIGHTS
        if not path.is_file():
            raise KibitzError(
                f"{self.name} has no trained network yet. Continue the training:"
                f" {self.info.get('command', 'kibitz train')}"
            )
        manifest.check(path)
        return path

    def weights_sha256(self) -> str:
        """Return the SHA-256 hash of the file with the best weights, in hexadecimal."""
        return hashlib.sha256(self.trained().read_bytes()).hexdigest()

    def checkpoints(self) -> list[Path]:
        """Return the paths of the weight files that training saved at intervals, in no particular order."""
        folder = self.path / CHECKPOINTS
        if not is_inside(self.path, folder):
            return []
        files = folder.glob("*.safetensors")
        return [path for path in files if not path.is_symlink() or is_inside(self.path, path)]

    def load_network(self, checkpoint: Path | None = None) -> nn.Module:
        """Return the network as a torch module, in evaluation mode, on the CPU. checkpoint: the weights file; None for
        the best weights.

        Raises KibitzError if there are no weights yet, if they are damaged, or if they belong to another network.
        """
        from safetensors.torch import load_file

        path = checkpoint or self.trained()
        with self.naming_unreadable_weights():
            network = self.system.network(self.settings)
            network.load_state_dict(load_file(path))
        return network.eval()

    def load_weights(self) -> dict[str, NDArray[Any]]:
        """Return the best weights as NumPy arrays, a dict with the names of torch's state dict. This does not import
        torch.

        Dtypes and shapes are those of the network's weights. Raises KibitzError if there are no weights yet, or if they
        are damaged.
        """
        from safetensors.numpy import load_file

        path = self.trained()
        with self.naming_unreadable_weights():
            return load_file(path)

    @contextlib.contextmanager
    def naming_unreadable_weights(self) -> Iterator[None]:
        """Inside this context, every error caused by damaged weights becomes a KibitzError with the path of the run
        (the directory of the network).
        """
        from safetensors import SafetensorError

        try:
            yield
        except (OSError, SafetensorError, RuntimeError, KeyError):
            raise KibitzError(f"{self.path}: the weights cannot be read. Train the network again.") from None

    def metrics(self) -> list[dict[str, Any]]:
        """Return the rows of metrics.jsonl, the log of the training: a dict for each summary, validation and warning.
        Invalid lines, such as an incomplete last line, are skipped.
        """
        path = self.path / "metrics.jsonl"
        rows = []
        there = path.exists() and is_inside(self.path, path)
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if there else []:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                rows.append(row)
        return rows

    def unseen(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return for each game whether it is unseen, bool [n]. Unseen games were used neither for training nor for
        validation of this network. hashes: the hashes of the games, uint64 [n].
        """
        wanted, seen = short_hashes(hashes), self.seen()
        if not len(seen):
            return np.ones(len(wanted), np.bool_)
        # np.isin would sort all of the run's games again, even for a few games of a store
        unseen: NDArray[np.bool_] = seen[np.minimum(np.searchsorted(seen, wanted), len(seen) - 1)] != wanted
        return unseen

    def unseen_games(self, store: Store, games: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each game of a store whether it is unseen, bool [n]. Unseen games were used neither for training
        nor for validation of this network.

        games: the indices of the games in the store, int64 [n]. Short games are also looked up by `Store.move_hashes`,
        because runs of earlier versions contain these hashes.
        """
        from kibitz.games.hashing import LONG_PLIES

        unseen = self.unseen(store.column("hash")[games])
        doubtful = np.flatnonzero(unseen & (store.plies[games] < LONG_PLIES))
        unseen[doubtful] = self.unseen(store.move_hashes(games[doubtful]))
        return unseen

    def seen(self) -> NDArray[np.uint32]:
        """Return the short hashes of this network's training and validation games (see `short_hashes`), uint32 [n], in
        ascending order and without duplicates. Raises KibitzError if the file of hashes is missing or damaged.
        """
        path = self.path / SEEN
        if not path.is_file():
            raise KibitzError(f"{path} is missing, so the training games are unknown. Train the network again.")
        try:
            seen = read_array(path, np.uint32)
        except ValueError:
            raise KibitzError(
                f"{path} is damaged, so the training games are unknown. Train the network again."
            ) from None
        return seen if bool((seen[1:] > seen[:-1]).all()) else np.unique(seen)


def write_seen(path: Path, seen: Sequence[NDArray[np.uint32]]) -> None:
    """Write the file of a run's training and validation games: their short hashes, without duplicates.

    path: the directory of the run. seen: arrays of short hashes, which are combined.
    """
    write_array(path / SEEN, np.unique(np.concatenate(seen)))


def short_hashes(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the upper 32 bits of 64-bit hashes of games. hashes: uint64 [n]. Result: uint32 [n].

    Collisions are rare: of 100,000 unseen games, two or three have the same short hash as one of 100,000 seen games.
    """
    return (hashes >> np.uint64(32)).astype(np.uint32)


def with_default_side_inputs(state: NDArray[np.uint8], side_inputs: Mapping[str, int]) -> NDArray[np.uint8]:
    """Append one column per side input to `state`, filled with the default of the side input. Side inputs are inputs of
    the network in addition to the position, such as a rating.

    state: the array of `kibitz.PositionArrays`, without side inputs, uint8 [n, k]. side_inputs: a dict from the name of
    each side input to its default. Result: uint8 [n, k + len(side_inputs)].
    """
    if not side_inputs:
        return state
    defaults = np.broadcast_to(np.array(list(side_inputs.values()), np.uint8), (len(state), len(side_inputs)))
    return np.concatenate([state, defaults], 1)


def write_json(path: Path, data: Any) -> None:
    """Write `data` to a JSON file atomically: after an interruption, the file has either its old or its new contents.
    Bytes in file names that can't be decoded become question marks.
    """
    write_whole(path, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode(errors="replace"))


def same_training(info: dict[str, Any], system: str, settings: Any, data: dict[str, Any], seed: int) -> bool:
    """Return whether an existing run was trained with the given system (kind of network), settings and seed, and with
    the same games, split and initial network.

    info: the content of the existing run.json. data: the value of "data" in run.json for the requested training.
    """
    return bool(
        info.get("kibitz_run") == FORMAT
        and info.get("system") == system
        and _settings_equal(info.get("settings"), settings)
        and info.get("seed") == seed
        and all(info.get("data", {}).get(key) == data.get(key) for key in ("fingerprint", "split", "started_from"))
    )


def _settings_equal(stored: Any, settings: Any) -> bool:
    """Return whether the settings of a run.json, which may be from an earlier version, equal these settings."""
    from kibitz.systems.base import settings_from

    try:
        return bool(settings_from(type(settings), stored) == settings)
    except (KibitzError, TypeError, AttributeError):
        return False
