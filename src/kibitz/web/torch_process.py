"""Run networks that only torch can open in a separate process, because the server never imports torch.

These networks are the checkpoints of a training, and networks that have no model.onnx yet. torch needs half a gigabyte
of memory, which is freed when the process has been idle for a while. The process also ends when its standard input is
closed, for example when the server ends.

A request is a line of JSON {"run", "checkpoint", "stamp"}, where "stamp" changes with the weights. The line is followed
by two arrays, codes and state, or by none. The reply is a line {"outputs", "side_inputs"} and an array for each output,
or {"error"}.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, one_line
from kibitz.games import STATE_WIDTH
from kibitz.runs import Run, with_default_side_inputs

if TYPE_CHECKING:
    from torch import nn

    from kibitz.play.session import Answers

IDLE = 120.0
"""The number of seconds without a request after which the process ends."""
N_CACHED_NETWORKS = 8


class TorchProcess:
    """A separate process that runs networks with torch. It is started by the first request. idle: the number of seconds
    without a request after which the process ends.
    """

    def __init__(self, idle: float = IDLE):
        self.idle = idle
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._timer: threading.Timer | None = None
        self._ended = False

    def request(
        self, request: dict[str, Any], arrays: list[NDArray[np.uint8]]
    ) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """Send a request and its arrays to the process, and return the header and the arrays of its reply. The module's
        docstring describes their form. Raises KibitzError if the process fails or reports an error.
        """
        with self._lock:
            if self._ended:
                raise KibitzError("kibitz board is shutting down")
            if self._timer:
                self._timer.cancel()
            process = self._started()
            assert process.stdin
            assert process.stdout
            try:
                _write(process.stdin, request, arrays)
                header, answers = _read(process.stdout)
            except (OSError, EOFError, ValueError):
                self._close()
                raise KibitzError(
                    "the process that opens checkpoints has ended unexpectedly. See the terminal of kibitz board for"
                    " the cause"
                ) from None
            self._timer = threading.Timer(self.idle, self._end_if_idle)
            self._timer.daemon = True
            self._timer.start()
        if "error" in header:
            raise KibitzError(header["error"])
        return header, answers

    def end(self) -> None:
        """End the process, even while it processes a request. It can't be started again."""
        self._ended = True
        if process := self._process:
            with contextlib.suppress(OSError):
                process.kill()  # killed, so that a waiting request ends
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._close()

    @property
    def running(self) -> int | None:
        """The process id; None if the process is not running."""
        process = self._process
        return process.pid if process else None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-c", f"from {__name__} import main; main()"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=os.name == "posix"
            )
        return self._process

    def _end_if_idle(self) -> None:
        if self._lock.acquire(blocking=False):  # if the lock is taken, there is a new request
            try:
                self._close()
            finally:
                self._lock.release()

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()


class TorchSession:
    """A network that runs in a `TorchProcess`. The class has the methods of Session, which runs networks in this
    process. Raises KibitzError if the network can't be loaded.

    checkpoint: the file with the weights; None for the best weights.
    """

    def __init__(self, process: TorchProcess, run: Run, checkpoint: Path | None = None):
        weights = checkpoint or run.trained()
        self._process = process
        self._request = {
            "run": str(run.path.resolve()),
            "checkpoint": checkpoint and str(checkpoint.resolve()),
            "stamp": weights.stat().st_mtime_ns,
        }
        header, _ = process.request(self._request, [])
        self.outputs: tuple[str, ...] = tuple(header["outputs"])
        self.side_inputs: dict[str, int] = header["side_inputs"]

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
        """Return the network's outputs for n positions, as Session.evaluate does. The arrays are sent to another
        process and back, so this is slow for many positions.

        codes: the pieces or stones, uint8 [n, squares]. state: the side to move and more, uint8 [n, columns]. See
            `kibitz.PositionArrays`.
        """
        header, arrays = self._process.request(self._request, [codes, state])
        return dict(zip(header["outputs"], arrays, strict=True))


def main() -> None:
    """Run this process: read requests from standard input, and write replies to standard output, until the
    input ends.
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # standard output is reserved for replies, so output of libraries goes to standard error
    networks: OrderedDict[str, nn.Module] = OrderedDict()
    while True:
        try:
            request, given = _read(sys.stdin.buffer)
        except (EOFError, OSError):
            return
        try:
            header, arrays = _answer(networks, request, given)
        except KibitzError as error:
            header, arrays = {"error": one_line(error)}, []
        _write(out, header, arrays)


def _answer(
    networks: OrderedDict[str, nn.Module], request: dict[str, Any], given: list[NDArray[np.uint8]]
) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    import torch

    key = json.dumps(request)
    if key not in networks:
        checkpoint = request["checkpoint"]
        networks[key] = Run(request["run"]).load_network(checkpoint and Path(checkpoint))
        while len(networks) > N_CACHED_NETWORKS:
            networks.popitem(last=False)
    networks.move_to_end(key)
    network: Any = networks[key]
    header = {"outputs": list(network.outputs), "side_inputs": network.side_inputs}
    if not given:
        return header, []
    codes, state = given
    if state.shape[1] == STATE_WIDTH:
        state = with_default_side_inputs(state, network.side_inputs)
    with torch.inference_mode():
        outputs = network(torch.from_numpy(codes), torch.from_numpy(state))
    return header, [values.float().numpy() for values in outputs]


def _write(pipe: IO[bytes], line: dict[str, Any], arrays: list[NDArray[Any]]) -> None:
    shapes = [[array.dtype.str, array.shape] for array in arrays]
    pipe.write(json.dumps({**line, "arrays": shapes}).encode() + b"\n")
    for array in arrays:
        pipe.write(array.tobytes())
    pipe.flush()


def _read(pipe: IO[bytes]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Read the data that `_write` wrote. Raises EOFError at the end."""
    line = pipe.readline()
    if not line:
        raise EOFError
    header: dict[str, Any] = json.loads(line)
    arrays = []
    for name, shape in header.pop("arrays"):
        empty = np.empty(shape, np.dtype(name))
        data = pipe.read(empty.nbytes)
        if len(data) < empty.nbytes:
            raise EOFError
        arrays.append(np.frombuffer(data, empty.dtype).reshape(shape).copy())
    return header, arrays
