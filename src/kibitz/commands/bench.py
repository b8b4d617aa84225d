"""The command `kibitz bench`: measure how many positions per second a network evaluates on this machine, without a
search and in a search.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.provider import Provider, use_provider
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.play.session import Session

BATCHES = 1, 16, 64
"""The batch sizes, in positions, for which `kibitz bench` measures the speed of the network without a search."""


def bench(
    network: Annotated[str, typer.Argument()] = "chessnet",
    seconds: Annotated[float, typer.Option(min=0.1, max=600)] = 1.0,
    provider: Provider = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure a chess network's speed on this machine. The result is one line, which can be compared with the results
    of other machines.
    """
    from kibitz import __version__
    from kibitz.cores import cores
    from kibitz.errors import UsageError
    from kibitz.play.session import Session
    from kibitz.runs import Run

    use_provider(provider)
    run = Run(network)
    if run.info["game"] != "chess":
        raise UsageError(
            f"kibitz bench works only with networks for chess (got {network}). Use the network 'chessnet'."
        )
    session = Session(run)
    figures: dict[str, Any] = {
        "network": session.name,
        "version": __version__,
        "machine": _machine(),
        "cores": cores(),
        "raw": {str(batch): round(_raw(session, batch, seconds), 1) for batch in BATCHES},
        "search": _search(session, seconds),
    }
    print(json.dumps(figures) if as_json else _line(figures))


def _machine() -> str:
    """Describe the CPU and the operating system in a few words, as far as they are known."""
    import platform
    from pathlib import Path

    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        processor = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):  # only Linux has this file, and not every processor has the line
        pass
    return f"{processor}, {platform.system()}"


def _raw(session: Session, batch: int, seconds: float) -> float:
    """Return the number of evaluations per second in batches of this size."""
    import time

    import chess
    import numpy as np

    from kibitz.games.chess.replay import SQUARES, encode_board

    rows = np.repeat(encode_board(chess.Board())[None], batch, 0)
    codes, state = rows[:, :SQUARES], rows[:, SQUARES:]
    session.evaluate(codes, state)  # the first evaluation starts threads
    begun, calls = time.perf_counter(), 0
    while (spent := time.perf_counter() - begun) < seconds or not calls:
        session.evaluate(codes, state)
        calls += 1
    return batch * calls / spent


def _search(session: Session, seconds: float) -> dict[str, Any] | None:
    """Return the number of evaluations per second in the first method that searches; None if the network has no such
    method.
    """
    import chess

    from kibitz.play import open_player
    from kibitz.play.result import SearchLimits
    from kibitz.systems import find

    methods = find(session.system).methods_of(session.run.info["settings"])
    method = next((method.name for method in methods if method.searches), None)
    if method is None:
        return None
    player = open_player(session.run, lambda: session, method=method)
    player.think(chess.Board(), SearchLimits(nodes=20))  # the first search loads compiled kernels
    player.new_game()
    thought = player.think(chess.Board(), SearchLimits(seconds=seconds))
    return {"method": method, "rate": round(thought.nodes / thought.seconds, 1)}


def _line(figures: dict[str, Any]) -> str:
    rates = " / ".join(f"{rate:,.0f}" for rate in figures["raw"].values())
    sizes = " / ".join(figures["raw"])
    search = figures["search"]
    inside = f"; {search['rate']:,.0f}/s inside {search['method']}" if search else ""
    machine = f"{figures['machine']}, {number_of(figures['cores'], 'core')}"
    return (
        f"kibitz {figures['version']}, {figures['network']}, {machine}: "
        f"{rates} evaluations/s in batches of {sizes}{inside}"
    )
