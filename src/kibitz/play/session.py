"""Load a trained network and evaluate positions with it.

ONNX Runtime computes the outputs. If a run (the folder of a trained network) has no usable ONNX file, torch computes
them.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kibitz import manifest
from kibitz.cores import cores
from kibitz.errors import KibitzError, need_training, one_line
from kibitz.games import STATE_WIDTH
from kibitz.messages import warning
from kibitz.play import providers
from kibitz.received import is_self_contained
from kibitz.runs import ONNX, Run, with_default_side_inputs
from kibitz.systems import find

if TYPE_CHECKING:
    from kibitz.systems.base import Network

Answers = dict[str, NDArray[np.float32]]

STATE = STATE_WIDTH
"""The number of columns of a position's state. Further columns have the side inputs."""
BATCH_SIZE = 512
"""The largest number of positions per network call. Larger batches are not faster, and need more memory, for example 80
kB per position.
"""
SINGLE_THREAD_MAX = 16
"""The largest number of positions with 64 squares for which one thread is fastest, because starting other threads takes
longer than it saves.
"""


class NetworkSession(Protocol):
    """The interface of a network that evaluates positions: a Session, or an object with the same method.

    outputs: the names of the network's outputs.
    """

    outputs: tuple[str, ...]

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
        """Return the network's outputs as a dict from the names in `outputs` to arrays. The first axis of each array is
        the index of the position. codes, state: the positions, uint8 [n, squares] and uint8 [n, columns], see
        `kibitz.PositionArrays`.
        """


class Session:
    """A loaded network of a run (a trained model) or a bundled network, ready to evaluate positions.

    Arguments:

    run: the run, or its name or path.
    threads: the number of CPU cores for large batches; None for all that this process may use. A few positions are
        always evaluated on one core.
    corrected: whether to correct the outputs as the run's model family (system) defines. For example, the network of a
        person is corrected by the opening moves of this person's games.
    without_onnx: a function that returns a replacement for the network. Session calls it with the run if there is no
        usable model.onnx, instead of loading the torch network. Pass it in processes that must not import torch.

    Attributes:

    system, game: the names of the model family (system) and of the game.
    of_person: whether the network was trained on the games of one person.
    outputs: the names of the arrays that `evaluate` returns.

    Large batches run on the chosen provider (`play.providers`); a few positions always run on the CPU. Raises
    KibitzError if there is no such run, if it isn't trained, or if its files are damaged.

    If there is no usable model.onnx, the slower torch network is used, with a warning on standard error. Raises
    KibitzError if torch is not installed either.
    """

    def __init__(
        self, run: Run | str | Path, threads: int | None = None, corrected: bool = True,
        without_onnx: Callable[[Run], NetworkSession] | None = None,
    ):  # fmt: skip
        self.run = run if isinstance(run, Run) else Run(run)
        self.name = self.run.name
        self.system: str = self.run.info["system"]
        self.game: str = self.run.info["game"]
        self.of_person = self.run.person is not None
        self.threads = threads or cores()
        self._many: Any = None
        self._batch = BATCH_SIZE
        self.side_inputs: dict[str, int] = self.run.side_inputs
        """The side inputs of the network by name, with the default (0 to 255) of each."""
        self._correct = _correction(self.run) if corrected else None
        path = self.run.path / ONNX
        manifest.check(path)
        problem = "missing"
        if path.is_file():
            try:
                if not is_self_contained(path):
                    raise KibitzError("weights are in other files, which kibitz does not read")
                self._few = _open(path, 1)
                self.outputs: tuple[str, ...] = tuple(item.name for item in self._few.get_outputs())
                self._answer: Callable[..., Sequence[Any]] = self._onnx
            except KibitzError as error:
                problem = str(error)
            except Exception:  # ONNX Runtime raises a different exception for each kind of damage, all plain Exceptions
                problem = "damaged"
            else:
                self._open_provider(path)
                return
        need_training(f"{path}: {problem}. Without this file, {self.name}")
        self._answer = self._torch() if without_onnx is None else self._by(without_onnx(self.run))
        warning(f"{path}: {problem}. kibitz uses PyTorch instead, which is slower.")

    def _open_provider(self, path: Path) -> None:
        """Open the provider for large batches, if it isn't the CPU. Raises KibitzError if it doesn't start, unless
        `auto`."""
        for name in providers.candidates():
            if name == providers.CPU:
                return
            try:
                self._many = _open(path, self.threads, providers.NAMES[name])
                self._batch = providers.BATCHES.get(name, BATCH_SIZE)
                return
            except Exception as error:  # from ONNX Runtime, as above
                if providers.requested() != providers.AUTO:
                    raise providers.refused(name, one_line(error)) from None

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
        """Return the network's outputs as a dict from names to float32 arrays. The first axis of each array is the
        index of the position.

        codes, state: the positions, uint8 [n, squares] and uint8 [n, 4], see `kibitz.PositionArrays`. Both are encoded
        as in `kibitz.games`; n may be 0. The state may have further columns with side inputs, such as ratings; without
        them, the network gets the defaults. Raises ValueError if codes and state have different lengths.
        """
        if len(codes) != len(state):
            raise ValueError(
                f"codes and state must have one row for each position (got {len(codes)} and {len(state)} rows)"
            )
        if len(codes) == 0:  # convolutions refuse empty batches: evaluate one position, keep none
            blank = self.evaluate(np.zeros((1, *codes.shape[1:]), np.uint8), np.zeros((1, *state.shape[1:]), np.uint8))
            return {name: values[:0] for name, values in blank.items()}
        if self.side_inputs and state.shape[1] == STATE:
            state = with_default_side_inputs(state, self.side_inputs)
        pieces = [
            self._answer(
                np.ascontiguousarray(codes[at : at + self._batch]), np.ascontiguousarray(state[at : at + self._batch])
            )
            for at in range(0, len(codes), self._batch)
        ]
        if len(pieces) == 1:
            answers = dict(zip(self.outputs, pieces[0], strict=True))
        else:
            joined = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
            answers = dict(zip(self.outputs, joined, strict=True))
        return self._correct(codes, state, answers) if self._correct else answers

    def _onnx(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Sequence[Any]:
        session = self._few
        if codes.size > SINGLE_THREAD_MAX * 64 and (self.threads > 1 or self._many is not None):
            if self._many is None:
                self._many = _open(self.run.path / ONNX, self.threads)
            session = self._many
        answers: Sequence[Any] = session.run(None, {"codes": codes, "state": state})
        return answers

    def _by(self, other: NetworkSession) -> Callable[..., Sequence[Any]]:
        """Return a function that evaluates positions with another network. It has the arguments and the result of
        `_onnx`.
        """
        self.outputs = other.outputs
        return lambda codes, state: list(other.evaluate(codes, state).values())

    def _torch(self) -> Callable[..., Sequence[Any]]:
        """Return a function that evaluates positions with the torch network. It has the arguments and the result of
        `_onnx`.
        """
        import torch

        network = self.run.load_network()
        self.outputs = cast("Network", network).outputs

        def answer(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Sequence[Any]:
            with torch.inference_mode():
                return [values.float().numpy() for values in network(torch.from_numpy(codes), torch.from_numpy(state))]

        return answer


def _correction(run: Run) -> Callable[[NDArray[np.uint8], NDArray[np.uint8], Answers], Answers] | None:
    """Return the function that corrects the network of a run (the folder of a trained network) outputs, as its system
    declares it; None for none.
    """
    where = find(run.info["system"]).correction
    if not where:
        return None
    module, _, function = where.partition(":")
    found: Callable[..., Answers] | None = getattr(importlib.import_module(module), function)(run)
    return found


def _open(path: Path, threads: int, provider: str = providers.NAMES[providers.CPU]) -> Any:
    """Return an ONNX Runtime session with this number of threads.

    Raises KibitzError if ONNX Runtime does not use the requested provider.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # in case it was loaded before kibitz, see environment.py
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # problems raise exceptions
    # Threads that wait by spinning take cores from other processes, and from each other: during a training run they
    # halved the rate of small batches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(path, options, providers=[provider])
    if session.get_providers()[0] != provider:
        raise KibitzError(f"ONNX Runtime uses {session.get_providers()[0]} instead")
    return session


STRONGEST = 2400
"""The default rating of both players for a network with rating inputs. It is close to the highest rating that is
frequent in the training games.
"""


def with_rating(session: Session, rating: int = STRONGEST) -> Session:
    """Return a copy of the session whose rating inputs, for both players, have this rating by default. A network
    without rating inputs stays the same.
    """
    from kibitz.games.chess.sides import RATING_UNIT  # loads numba

    names = [name for name in ("rating", "opponent_rating") if name in session.side_inputs]
    rated = copy.copy(session)
    rated.side_inputs = {**session.side_inputs, **dict.fromkeys(names, rating // RATING_UNIT)}
    return rated
