"""Processes that train one network together, on the devices of one machine or of several.

Each process has a number, its rank. It has the whole network, and computes the loss of some rows of each batch.
Gradients are summed in float32 between the backward pass and the optimizer's step, so every rank makes the same step.
torch.distributed does the communication: gloo between CPUs, NCCL between GPUs.

kibitz doesn't use the wrapper of the library Lightning. The wrapper needs one module whose `forward` computes the loss,
but a stage (a part of the training) trains parts of a network with separate functions. Lightning's launcher also kills
all processes silently if one fails.

The ranks must agree on a few values. They exchange these values over gloo before every sum of gradients, also on GPUs.
This exchange fails at once if another process has died; NCCL would wait.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor

from kibitz.cores import cores
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from lightning_fabric import Fabric

T = TypeVar("T")
TIMEOUT = timedelta(minutes=5)
"""How long a process waits for a process that is alive but doesn't respond, or for a machine that has disappeared from
the network.
"""
PORT = 29400
"""The default network port of the first machine, if several machines train together. The option --main-address can set
another port.
"""
_LAST_PORT = 65_535
_PARENT = "KIBITZ_PARENT"
"""Environment variable of processes that kibitz starts: the id of the process that started them."""
_LEAVE_SECONDS = 10.0


class Lost(KibitzError):
    """Raised if another of the processes that train together has ended unexpectedly."""


class ReportedByOtherRank(KibitzError):
    """Raised instead of an error if another process of this machine reports the error to the user. So the user gets
    only one message. exit_code: the exit code of the error.
    """

    def __init__(self, exit_code: int):
        super().__init__("another process reports the error")
        self.exit_code = exit_code


@dataclass(eq=False)
class Ranks:
    """The index (rank) of this process among the processes that train one network together, and its connection to them.
    `Ranks()` is for a process that trains alone.

    rank: the index of this process, from 0 to world - 1. Process 0 is the main process.
    world: the number of processes.
    local: the index of this process among the processes of this machine, from 0.
    backend: the backend of torch.distributed for gradients, "gloo" or "nccl".
    children: the processes that this process has started.
    control: the process group for values on which the processes agree; None if this process trains alone.
    lost: whether another process has ended unexpectedly.
    """

    rank: int = 0
    world: int = 1
    local: int = 0
    backend: str = "gloo"
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)
    control: Any = None
    lost: bool = False

    @property
    def main(self) -> bool:
        """Whether this is the main process, which writes files and reports progress."""
        return self.rank == 0

    @property
    def alone(self) -> bool:
        """Whether this process trains alone."""
        return self.world == 1

    def fabric(self, device: str, precision: Any) -> Fabric:
        """Return a Lightning Fabric, which selects the device and the number format of this process. device: "auto",
        "cpu" or "cuda". precision: such as "32-true".
        """
        from lightning_fabric import Fabric  # here, as the import takes as long as PyTorch's

        for name in ("lightning_fabric", "lightning_utilities.core.rank_zero"):
            logging.getLogger(name).setLevel(logging.WARNING)  # these libraries log every setting
        if self.alone:
            return Fabric(accelerator=device, devices=1, precision=precision)
        if self.backend == "nccl":
            return Fabric(accelerator="cuda", devices=[self.local], precision=precision)
        return Fabric(accelerator="cpu", devices=1, precision=precision)

    def broadcast(self, value: T) -> T:
        """Return the value of the main process in every process. All processes must call this method. Only the value of
        the main process is used.
        """
        if self.alone:
            return value
        values = [value if self.main else None]
        with self._losses():
            dist.broadcast_object_list(values, 0, group=self.control)
        return cast(T, values[0])

    def gather(self, value: T) -> list[T]:
        """Return the values of all processes, in the order of the ranks. All processes must call this method, each with
        its value.
        """
        if self.alone:
            return [value]
        values: list[Any] = [None] * self.world
        with self._losses():
            dist.all_gather_object(values, value, group=self.control)
        return values

    def together(self, work: Callable[[], T]) -> T:
        """Run `work` in every process, and return this process's result. If `work` raises a KibitzError in any process,
        this error is raised in every process.
        """
        if self.alone:
            return work()
        problem: tuple[str, int] | None = None
        try:
            done = work()
        except KibitzError as error:
            problem = (str(error), error.exit_code)
        for problem_of_rank in self.gather(problem):
            if problem_of_rank is not None:
                raise (UsageError if problem_of_rank[1] == 2 else KibitzError)(problem_of_rank[0])
        return done

    def add_gradients(self, parameters: Sequence[Tensor], rows: int, flags: Sequence[bool]) -> list[bool]:
        """Combine the gradients of all processes. Before the call, each process has the gradient of the mean loss over
        its rows. After the call, each process has the gradient of the mean loss over all rows. If a parameter has a
        gradient in no process, its gradient stays None.

        rows: the number of rows in this process's mean loss. flags: conditions in this process. All processes must call
        this method with the same number of flags. The result has a value for each flag: whether it is true in any
        process.
        """
        if self.alone:
            return list(flags)
        counts = torch.tensor([rows, *flags, *(p.grad is not None for p in parameters)], dtype=torch.int32)
        with self._losses():
            dist.all_reduce(counts, group=self.control)
        all_rows, *raised = counts.tolist()
        present = [p for p, count in zip(parameters, raised[len(flags) :], strict=True) if count]
        if present:
            self._add(present, rows / all_rows)
        return [count > 0 for count in raised[: len(flags)]]

    def average(self, values: Sequence[Tensor]) -> None:
        """Replace each tensor in place by its mean over all processes."""
        if self.alone or not values:
            return
        flat = torch.cat([value.flatten() for value in values]) / self.world
        with self._losses():
            dist.all_reduce(flat)
        for value, mean in zip(values, torch.split(flat, [value.numel() for value in values]), strict=True):
            value.copy_(mean.view(value.shape))

    def _add(self, parameters: Sequence[Tensor], share: float) -> None:
        """Multiply each gradient by `share` and sum it over all ranks."""
        sizes = [p.numel() for p in parameters]
        flat = torch.zeros(sum(sizes), device=parameters[0].device)
        views = [part.view(p.shape) for part, p in zip(torch.split(flat, sizes), parameters, strict=True)]
        for p, view in zip(parameters, views, strict=True):
            if p.grad is not None:
                view.copy_(p.grad)
        flat *= share
        with self._losses():
            dist.all_reduce(flat)
        for p, view in zip(parameters, views, strict=True):
            if p.grad is None:
                p.grad = torch.empty_like(p)
            p.grad.copy_(view)

    @contextlib.contextmanager
    def _losses(self) -> Iterator[None]:
        """Inside the context, turn torch's error about a process that doesn't respond into one line."""
        try:
            yield
        except RuntimeError:
            raise Lost(
                f"{self._who()}, so training stopped. Run the same command again to resume from the last checkpoint."
            ) from None

    def _who(self) -> str:
        """Describe which process has ended, as far as this process knows."""
        until = time.monotonic() + 1.0  # the connection may break shortly before the process has ended
        while self.children and time.monotonic() < until and all(child.poll() is None for child in self.children):
            time.sleep(0.02)
        ended = [(i, child.returncode) for i, child in enumerate(self.children, 1) if child.returncode]
        if not ended:
            return f"another of the {self.world} processes ended"
        # The process with the smallest exit code is reported. The code is negative for a process that was killed.
        i, code = min(ended, key=lambda each: each[1])
        how = f"was killed (signal {-code})" if code < 0 else f"ended (exit code {code})"
        return f"process {self.rank + i + 1} of {self.world} {how}"


ALONE = Ranks()


@dataclass(frozen=True)
class ProcessRank:
    """The index (rank) of this process among those that train together, according to the options or the environment.

    rank, world, local: as in `Ranks`.
    here: the number of processes on this machine.
    host, port: the address of the main process.
    outside: whether another program, such as torchrun, has started the processes.
    """

    rank: int
    world: int
    local: int
    here: int
    host: str
    port: int
    outside: bool = False

    def environment(self, child: int) -> dict[str, str]:
        """Return the environment variables for a child process that this process starts. They include the variables
        that torchrun would set. child: the index of the child process on this machine, from 0.
        """
        return os.environ | {
            "RANK": str(self.rank + child), "WORLD_SIZE": str(self.world), "LOCAL_RANK": str(child),
            "LOCAL_WORLD_SIZE": str(self.here), "MASTER_ADDR": self.host, "MASTER_PORT": str(self.port),
            _PARENT: str(os.getpid()),
        }  # fmt: skip


def resolve_rank(
    devices: int | None, nodes: int | None, node_rank: int | None, main_address: str | None
) -> ProcessRank:
    """Return the rank of this process. It comes from the environment if torchrun or kibitz started this process, or
    else from the options.

    The arguments are the values of --devices, --num-nodes, --node-rank and --main-address; None if an option isn't
    given. Raises UsageError if they contradict each other or the environment.
    """
    if "RANK" in os.environ and "LOCAL_RANK" in os.environ:
        return _rank_from_environment(devices, nodes)
    devices, nodes = devices or 1, nodes or 1
    if nodes == 1:
        if node_rank or main_address:
            raise UsageError("--node-rank and --main-address are for training on several machines. Add --num-nodes.")
        return ProcessRank(0, devices, 0, devices, "127.0.0.1", 0)
    if main_address is None or node_rank is None:
        raise UsageError(
            f"--num-nodes {nodes} needs --main-address, the address of the first machine, and on each machine a"
            f" different --node-rank from 0 to {nodes - 1}"
        )
    if not 0 <= node_rank < nodes:
        raise UsageError(f"--node-rank must be from 0 to {nodes - 1}, different on each machine (got {node_rank})")
    host, _, port = main_address.partition(":")
    if not host or (port and not (port.isdecimal() and 0 < int(port) <= _LAST_PORT)):
        raise UsageError(f"--main-address must be HOST or HOST:PORT of the first machine (got {main_address})")
    return ProcessRank(node_rank * devices, nodes * devices, 0, devices, host, int(port or PORT))


def _rank_from_environment(devices: int | None, nodes: int | None) -> ProcessRank:
    def number(name: str, default: int) -> int:
        return int(os.environ.get(name, default))

    world, outside = number("WORLD_SIZE", 1), _PARENT not in os.environ
    here = number("LOCAL_WORLD_SIZE", world)
    if outside and devices not in (None, here):
        raise UsageError(
            f"--devices cannot be combined with torchrun, which started {here} processes on this machine (got"
            f" {devices}). Leave --devices out."
        )
    if outside and nodes not in (None, world // here):
        raise UsageError(
            f"--num-nodes cannot be combined with torchrun, which uses {world // here} machines (got {nodes}). Leave"
            " --num-nodes out."
        )
    host, port = os.environ.get("MASTER_ADDR", "127.0.0.1"), number("MASTER_PORT", PORT)
    return ProcessRank(number("RANK", 0), world, number("LOCAL_RANK", 0), here, host, port, outside)


@contextlib.contextmanager
def joined(where: ProcessRank, device: str) -> Iterator[Ranks]:
    """Inside this context, this process is connected with the other processes of the training. The first process of a
    machine starts the machine's other processes, unless another program starts them.

    where: the rank of this process. device: "auto", "cpu" or "cuda". Raises UsageError if there are fewer GPUs than
    processes, and KibitzError if the first machine doesn't respond. An error becomes ReportedByOtherRank if another
    process of this machine reports the error to the user.
    """
    if where.world == 1:
        yield Ranks()
        return
    gpus = device != "cpu" and torch.cuda.is_available()
    if gpus and where.here > torch.cuda.device_count():
        raise UsageError(
            f"--devices must be at most {torch.cuda.device_count()}, the number of GPUs of this machine (got"
            f" {where.here}). Use fewer devices, or --device cpu."
        )
    ranks = Ranks(where.rank, where.world, where.local, "nccl" if gpus else "gloo")
    if not gpus and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, cores() // where.here))
    try:
        _connect(ranks, where)
        yield ranks
    except KibitzError as error:
        ranks.lost = isinstance(error, Lost)
        if _quiet(ranks, error):
            raise ReportedByOtherRank(error.exit_code) from None
        raise
    finally:
        _leave(ranks)


def _quiet(ranks: Ranks, error: KibitzError) -> bool:
    """Return whether another process of this machine reports this error of this process."""
    if not ranks.local:
        return False
    parent = os.environ.get(_PARENT)
    return not isinstance(error, Lost) or (parent is not None and os.getppid() == int(parent))


def _connect(ranks: Ranks, where: ProcessRank) -> None:
    if ranks.backend == "nccl":
        torch.cuda.set_device(ranks.local)
    listens = where.rank == 0 and not where.outside
    try:
        socket.getaddrinfo(where.host, None)  # for an unknown host name, torch would print long messages repeatedly
        if where.outside:
            dist.init_process_group(ranks.backend, timeout=TIMEOUT)
        else:
            store = _meet(ranks, where, listens)
            dist.init_process_group(
                ranks.backend, store=store, rank=ranks.rank, world_size=ranks.world, timeout=TIMEOUT
            )
        ranks.control = dist.new_group(backend="gloo", timeout=TIMEOUT)
    except (RuntimeError, OSError, UnicodeError):  # an invalid host name raises UnicodeError
        what = "this address cannot be used on this machine" if listens else "no answer"
        raise KibitzError(
            f"{where.host}:{where.port}: {what}. Start the same command on every machine, with the --main-address of"
            " the first one."
        ) from None


def _meet(ranks: Ranks, where: ProcessRank, listens: bool) -> Any:
    """Return the store through which the processes find each other. The first process of a machine starts the
    others."""
    store = dist.TCPStore(  # type: ignore[attr-defined]
        where.host, where.port, where.world, is_master=listens, timeout=TIMEOUT, wait_for_workers=False
    )
    if ranks.local:
        store.set(f"here {ranks.rank}", "")
    else:
        _start_children(ranks, replace(where, port=store.port), store)
    return store


def _start_children(ranks: Ranks, where: ProcessRank, store: Any) -> None:
    """Start the other processes of this machine, and wait until each has reached the same point."""
    command = [sys.executable, "-m", "kibitz.cli", *sys.argv[1:]]
    for local in range(1, where.here):
        ranks.children.append(subprocess.Popen(command, env=where.environment(local), stdin=subprocess.DEVNULL))
    missing = {f"here {where.rank + i}": child for i, child in enumerate(ranks.children, 1)}
    while missing:
        missing = {key: child for key, child in missing.items() if not store.check([key])}
        for child in missing.values():
            if child.poll() is not None:
                raise Lost(f"{ranks._who()} before the training began")
        time.sleep(0.02)


def _leave(ranks: Ranks) -> None:
    """Disconnect from the other processes. Children that don't end by themselves are killed."""
    if dist.is_initialized():
        # At its normal end, the process would wait in NCCL for devices that have disappeared.
        if ranks.lost and ranks.backend == "nccl":
            import atexit

            atexit.register(os._exit, 1)
        else:
            with contextlib.suppress(RuntimeError):
                dist.destroy_process_group()
    until = time.monotonic() + _LEAVE_SECONDS
    for child in ranks.children:
        try:
            child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
