"""The state of a GTP session: the game, the player, and the network, which is loaded when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from kibitz.engines.gtp.parse import Command
from kibitz.games.go import KOMI

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.engines.gtp.game import GtpGame
    from kibitz.play.go.player import GoPlayer
    from kibitz.play.session import NetworkSession

Send = Callable[[str], None]


@dataclass(frozen=True)
class GtpSettings:
    """name, version: as a controller is told. komi, rules: of the first game. temperature: of GoPlayer; seed: None any;
    largest: the largest board that the network knows."""

    name: str
    version: str
    komi: float = KOMI
    rules: str = "chinese"
    temperature: float = 0.0
    seed: int | None = None
    largest: int = 19


@dataclass(frozen=True)
class AnalysisStream:
    """An answer of many lines over time. run: says line after line, and ends soon after its event is set; ends: whether
    it ends by itself, so that the next command waits for it rather than ending it."""

    run: Callable[[Send, threading.Event], None]
    ends: bool


Handler = Callable[["GtpSession", Command], "str | AnalysisStream"]


@dataclass
class GtpSession:
    """load: opens the network; it may take seconds, and raise."""

    settings: GtpSettings
    load: Callable[[], NetworkSession]
    last_words: str = field(default="", init=False)
    """A description of the last chosen move."""

    @cached_property
    def game(self) -> GtpGame:
        from kibitz.engines.gtp.game import GtpGame
        from kibitz.games.go.rulesets import named

        return GtpGame(self.settings.largest, self.settings.komi, named(self.settings.rules))

    @cached_property
    def network(self) -> NetworkSession:
        return self.load()

    @cached_property
    def player(self) -> GoPlayer:
        from kibitz.play.go.player import GoPlayer

        return GoPlayer(self.network, temperature=self.settings.temperature, seed=self.settings.seed)

    def owners(self, colour: int | None = None) -> NDArray[np.float32]:
        """The map [361] of the game's position with this side to move, as seen from all sides of the board."""
        import numpy as np

        from kibitz.play.go.ownership import SYMMETRIES

        game = self.game
        study = self.player.study(game.board, colour or game.board.to_move, game.terms, only=())
        for symmetry in range(SYMMETRIES):
            study.look(np.array([0]), symmetry)
        return study.owners()
