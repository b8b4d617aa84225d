"""Run workers on Ray, a library for clusters. The workers run on a cluster that is already running, or on a local Ray.
A local Ray uses only this machine, and ends with the work.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.parallel import DEATHS
from kibitz.parallel.processes import WORKERS, environment

STORE_BYTES = 256 << 20
"""The memory, in bytes, that a local Ray uses for items and results in transfer. By default, Ray would reserve 30% of
the machine's memory.
"""
REACH_S = 10
"""The seconds in which a cluster must reply to the first connection."""
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # sends no statistics
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # keeps CUDA_VISIBLE_DEVICES unchanged, without a warning
}


def need_ray() -> None:
    """Raise UsageError if Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise UsageError("--ray needs Ray, which is not installed. Install it: pip install 'kibitz[ray]'")


def _imported() -> Any:
    """Return the module ray. Raises UsageError if it can't be loaded."""
    try:
        import ray
    except ImportError:
        raise UsageError(
            "--ray needs Ray, which is installed but cannot be loaded. Install it again: pip install"
            " --force-reinstall ray"
        ) from None
    return ray


class RayWorkers:
    """Workers on Ray, with the interface `kibitz.parallel.Workers`. If a worker dies, Ray processes the worker's item
    again, at most three times.

    count: the number of workers of a local Ray. A cluster has one worker per core instead.
    address: HOST:PORT of a Ray cluster; None for a local Ray.

    If this process is already connected to Ray, that connection is used. Raises UsageError if Ray is not installed, and
    KibitzError if the cluster does not reply.
    """

    def __init__(self, count: int, address: str | None):
        need_ray()
        self._folder: Path | None = None
        os.environ.update(QUIET)
        self._ray = self._start(count, address)
        self.count = count if address is None else max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._remote = self._ray.remote(num_cpus=1, max_retries=DEATHS)(_call)
        self._function: Any = None
        self._out: dict[Future[Any], tuple[int, Any]] = {}

    def _start(self, count: int, address: str | None) -> Any:
        if address is not None:
            _reach(address)
        else:
            # With the token, other users of this machine can't use our Ray. The token is in the environment, because
            # Ray would otherwise write a token file into the home folder.
            os.environ.setdefault("RAY_AUTH_MODE", "token")
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        ray = _imported()
        self._own = not ray.is_initialized()
        if not self._own:
            return ray
        logging.getLogger("ray").setLevel(logging.ERROR)
        quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "logging_level": "ERROR"}
        try:
            with _own_signals(), environment(WORKERS):
                if address is not None:
                    ray.init(address=address, **quiet)
                else:
                    self._folder = Path(tempfile.mkdtemp(prefix="kibitz-ray-", dir=_short_folder()))
                    ray.init(
                        address="local", num_cpus=count, object_store_memory=STORE_BYTES, include_dashboard=False,
                        _node_ip_address="127.0.0.1", _temp_dir=str(self._folder), **quiet,
                    )  # fmt: skip
        except BaseException as error:
            self._end(ray)
            # While Ray starts, Ray's signal handlers are active, which exit with code 1 or 15.
            if isinstance(error, SystemExit):
                raise SystemExit(
                    error.code if error.code not in (1, signal.SIGTERM) else 128 + signal.SIGTERM
                ) from None
            if not isinstance(error, Exception):
                raise
            raise _unusable(address, error) from None
        return ray

    def use(self, function: Callable[[Any], object]) -> None:
        self._function = self._ray.put(function)

    def submit(self, index: int, item: object) -> None:
        reference = self._remote.remote(self._function, item)
        # Python's futures are used instead of `ray.wait`, because a signal during `ray.wait` would end the process with
        # exit code 1. With futures, KeyboardInterrupt is raised as usual.
        self._out[reference.future()] = (index, reference)

    def finished(self) -> list[tuple[int, Any]]:
        ready, _ = wait(self._out, return_when=FIRST_COMPLETED)
        return [(self._out.pop(future)[0], self._result(future)) for future in ready]

    def _result(self, future: Future[Any]) -> Any:
        from ray import exceptions

        try:
            return future.result()
        except exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            raise (cause if isinstance(cause, Exception) else RuntimeError(one_line(error))) from None
        except exceptions.RayError:
            raise KibitzError(
                f"Ray workers stopped {DEATHS + 1} times during the same task. Check the free memory or use fewer"
                " workers."
            ) from None

    def abandon(self) -> None:
        for _, reference in self._out.values():
            with contextlib.suppress(Exception):
                self._ray.cancel(reference, force=True)
        self._out.clear()

    def close(self) -> None:
        self.abandon()
        self._end(self._ray)

    def _end(self, ray: Any) -> None:
        if not self._own:
            return
        with _own_signals(), contextlib.suppress(Exception):
            ray.shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _call(function: Callable[[Any], object], item: object) -> object:
    return function(item)


def _unusable(address: str | None, error: Exception) -> KibitzError:
    if address is None:
        remedy = "Check the free memory and disk space, and try again when the computer is less busy."
        return KibitzError(f"Ray on this computer cannot be used ({one_line(error)}). {remedy}")
    remedy = "Check that it runs (ray start --head) and has the same version."
    return KibitzError(f"Ray at {address} cannot be used ({one_line(error)}). {remedy}")


def _reach(address: str) -> None:
    """Raise KibitzError if no process listens at HOST:PORT. Ray itself would retry for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_S).close()
    except (OSError, OverflowError) as error:
        raise _unusable(address, error) from None


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the program's signal handlers: Ray replaces that of SIGTERM, which must unwind the program as Ctrl-C
    does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _short_folder() -> str | None:
    """Return a folder for Ray's sockets. Their paths may have at most 107 bytes, of which Ray itself needs about 70."""
    folder = tempfile.gettempdir()
    return "/tmp" if len(folder) > 20 and os.access("/tmp", os.W_OK) else folder
