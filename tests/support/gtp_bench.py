"""A GTP engine under test, without a process."""

from __future__ import annotations

import io
import time
from typing import Any

from kibitz.engines.gtp.engine import GtpEngine
from kibitz.engines.gtp.session import GtpSettings
from support.go_fakes import FakeOwners
from support.patience import PATIENCE

SETTINGS = GtpSettings("kibitz", "1.0", seed=1)


class Bench:
    """An engine under test: say lines to it, read what it answered."""

    def __init__(self, network: Any = None, settings: GtpSettings = SETTINGS):
        self.loads = 0
        self.output = io.BytesIO()
        self.network = network if network is not None else FakeOwners()
        self.engine = GtpEngine(settings, self._load, self.output)

    def _load(self) -> Any:
        self.loads += 1
        if isinstance(self.network, Exception):
            raise self.network
        return self.network

    @property
    def text(self) -> str:
        return self.output.getvalue().decode()

    def say(self, *lines: str) -> list[str]:
        """The answers to these lines, without the empty line at their ends."""
        before = len(self.text)
        self.engine.run(iter(lines))
        return self.text[before:].split("\n\n")[:-1]

    def wait_for(self, text: str, times: int = 1) -> None:
        end = time.monotonic() + PATIENCE
        while self.text.count(text) < times:
            assert time.monotonic() < end, f"no {text} in {self.text}"
            time.sleep(0.002)
