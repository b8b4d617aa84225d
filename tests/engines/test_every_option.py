"""python-chess sets every option that the engine declares."""

from __future__ import annotations

import sys
from typing import Any

import chess.engine
import pytest

from support.patience import PATIENCE

MANAGED = {"multipv", "ponder", "uci_chess960", "uci_variant"}
"""python-chess sets these itself."""


def other_value(option: chess.engine.Option) -> Any:
    """A value that differs from the default where there is another one."""
    if option.type == "spin":
        return option.max if option.default != option.max and (option.max or 0) < 1000 else option.min
    if option.type == "check":
        return not option.default
    if option.type == "combo":
        return next(each for each in option.var if each != option.default)
    return None if option.type == "button" else ""


@pytest.mark.parametrize("network", ["chessnet", "human"])
def test_configure_works_with_every_option(network: str) -> None:
    with chess.engine.SimpleEngine.popen_uci(
        [sys.executable, "-m", "kibitz", "uci", network], timeout=PATIENCE
    ) as engine:
        names = [name for name in engine.options if name.lower() not in MANAGED]
        assert {"Move Overhead", "Method", "Temperature", "Hash", "Threads", "SyzygyPath", "Clear Hash"} <= set(names)
        for name in names:
            engine.configure({name: other_value(engine.options[name])})
        assert all(name[0].isupper() and "_" not in name.removeprefix("UCI_") for name in engine.options)
        with pytest.raises(chess.engine.EngineError):
            engine.configure({"Move_Overhead": 100})
        engine.configure({"Move Overhead": 100})
