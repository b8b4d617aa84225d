"""A process that trains a network on a player's games, as `kibitz personal` does."""

from __future__ import annotations

import _thread
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kibitz.web.mygames.background import Message, Send

if TYPE_CHECKING:
    from kibitz.personal.fitting import PersonalStep

EVERY = 0.5
"""Seconds between two messages about the progress of the training."""


def work(job: Message, send: Send, stop: threading.Event) -> None:
    """Train a network on a player's games, or resume its training. This is the work of a process. New games are added
    to an existing run, the directory of the network.

    job: the description of the work, a dict with these keys:
        source: the path of the games.
        players: the spellings of the player's name.
        base: the network to start from.
        run: the directory of the run.
        command: the command line to record in run.json.
    send: a function that sends a message.
    stop: an event that ends the work.

    Several networks are trained one after the other, and the best one is kept. A message about the progress has these
    keys:

    number, name: the number (from 1) and the name of the training that is running.
    iteration, iterations: the current and the last iteration of this training.
    per_second: the training positions per second.
    left: the expected remaining time of this training in seconds; None if unknown.

    Other messages have a line of the log as "note". The last message has these keys:

    run: the directory of the run.
    kept: which weights were trained in the best network, and its learning rate, such as "adapters at 0.001" (adapters
        are small trainable layers in a frozen network); "nothing" if training did not improve the base; None if no
        network was saved yet.
    stopped: whether the training was stopped before its end.
    """
    from kibitz.personal.fitting import PersonalRequest, make
    from kibitz.runs import INFO

    run = Path(job["run"])
    request = PersonalRequest(
        [job["source"]], job["players"], job["base"], run, update=(run / INFO).is_file(), command=job["command"]
    )
    threading.Thread(target=_interrupt, args=(stop,), daemon=True).start()
    try:
        done = make(request, _Steps(send), lambda line: send({"note": line}))
    except KeyboardInterrupt:  # stopped outside of the training, which would end by itself and save its state
        return
    stopped = done.reason in ("stopped", "time limit")
    send({"run": done.path.as_posix(), "kept": done.info.get("kept"), "stopped": stopped})


def _interrupt(stop: threading.Event) -> None:
    """Stop the training in the same way as Ctrl-C: a checkpoint is written first."""
    stop.wait()
    _thread.interrupt_main()


class _Steps:
    """Sends the progress of training after some of the iterations."""

    def __init__(self, send: Send):
        self._send, self._next, self._number = send, 0.0, 0
        self._first, self._began = 0, 0.0

    def __call__(self, step: PersonalStep) -> None:
        progress, now = step.progress, time.monotonic()
        if step.number != self._number:
            self._number, self._first, self._began, self._next = step.number, progress.iteration, now, 0.0
        if now < self._next:
            return
        self._next = now + EVERY
        done = progress.iteration - self._first
        left = (progress.iterations - progress.iteration) * (now - self._began) / done if done else None
        self._send(
            {
                "number": step.number, "name": step.name, "iteration": progress.iteration,
                "iterations": progress.iterations, "per_second": progress.samples_per_second, "left": left,
            }
        )  # fmt: skip
