"""The state of a GTP engine: its settings, the game, the player that chooses moves, and the network. The network is
loaded when it is first needed.
"""

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
    from kibitz.games.go.endings.final import FinalCount
    from kibitz.games.go.rules import Board
    from kibitz.play.go.thought import GoThinker, GoThought
    from kibitz.play.session import NetworkSession
    from kibitz.play.value import PositionValue

Send = Callable[[str], None]


@dataclass(frozen=True)
class GtpSettings:
    """The settings of a GTP engine. The controller is the program that sends commands to the engine.

    name, version: the engine's name and version, which the engine reports to the controller.
    komi, rules: the komi in points, and the name of the rules, until the controller sets them.
    temperature: the sampling temperature for the engine's moves, 0 for the best move. None selects 0 or, if the engine
        imitates a rank, the temperature of `kibitz.play.go.imitation`.
    seed: the random seed; None for a random one.
    largest: the largest board that the network supports.
    method: the name of the method that chooses moves; None for the network's default.
    visits: the number of visits (network evaluations) of a search if there is no clock; None for the default.
    resign: the win probability, 0 to 1, below which a move counts as a reason to resign; 0 for never.
    rank: the rank that the engine imitates, such as "5k"; None for the strongest play.
    takes_ranks: whether the network has rank inputs, so that the controller can set a rank.
    network: the name of the network, for messages.
    """

    name: str
    version: str
    komi: float = KOMI
    rules: str = "chinese"
    temperature: float | None = None
    seed: int | None = None
    largest: int = 19
    method: str | None = None
    visits: int | None = None
    resign: float = 0.0
    rank: str | None = None
    takes_ranks: bool = False
    network: str = "the network"


@dataclass(frozen=True)
class AnalysisStream:
    """The reply to a GTP command that analyzes a position: many lines, sent over time.

    run: a function that sends the lines. Its first argument is a function that sends one line. Its second argument is
        an event. After this event is set, `run` soon returns.
    ends: whether the analysis ends by itself. If true, the engine executes the next command after that end. Otherwise,
        the next command stops the analysis.
    """

    run: Callable[[Send, threading.Event], None]
    ends: bool


Handler = Callable[["GtpSession", Command], "str | AnalysisStream"]


@dataclass
class GtpSession:
    """The state of a GTP engine: the settings, the game, the network and the player (the object that chooses moves).
    The network and the player are made when they are first used.

    settings: the settings of the engine. load: a function that opens the network. It may take seconds, and may raise
    KibitzError.
    """

    settings: GtpSettings
    load: Callable[[], NetworkSession]
    last_words: str = field(default="", init=False)
    """A description of the move that the engine chose last."""
    hopeless: dict[int, int] = field(default_factory=dict, init=False)
    """For BLACK and WHITE, the number of latest moves in a row with a win probability below the limit for resigning."""
    _ready: tuple[GoThinker, int] | None = field(default=None, init=False, repr=False)
    """The player and the board size that `get_ready` has prepared."""

    def __post_init__(self) -> None:
        self.rank = self.settings.rank
        """The rank that the engine imitates; None for the strongest play."""

    @cached_property
    def game(self) -> GtpGame:
        """The game that the controller (the program that sends commands) has set up. At first, it has an empty board
        and the settings' komi and rules.
        """
        from kibitz.engines.gtp.game import GtpGame
        from kibitz.games.go.rulesets import named

        return GtpGame(self.settings.largest, self.settings.komi, named(self.settings.rules))

    @cached_property
    def network(self) -> NetworkSession:
        """The network, which the first access loads. Raises the errors of `load`."""
        return self.load()

    @cached_property
    def player(self) -> GoThinker:
        """The object that chooses moves with the network, by the method in the settings. It imitates the rank that was
        last set, if any. The first access makes the object.
        """
        from kibitz.play.go.players import player_of

        settings = self.settings
        return player_of(
            self.network,
            settings.method,
            temperature=settings.temperature,
            seed=settings.seed,
            visits=settings.visits,
            rank=self.rank,
        )

    def imitate(self, rank: str | None) -> None:
        """Set the rank of the players whose moves the engine imitates from now on.

        rank: the rank, such as "5k"; None for the strongest play. Raises UsageError if the network has no rank inputs,
        or if the text is not a supported rank.
        """
        from kibitz.play.go.imitation import imitation

        settings = self.settings
        if rank is not None:
            rank = imitation(rank, network=settings.network, takes_ranks=settings.takes_ranks)["rank"]
        self.rank = rank
        if (before := self.__dict__.pop("player", None)) is not None:
            self.player.random = before.random  # so that a seed that was set before this command has an effect

    def new_game(self) -> None:
        """Clear the data of the previous game: the search tree of the player (the object that chooses moves), and the
        counts of hopeless moves, after which the engine resigns. Call this method before each new game.
        """
        self.hopeless.clear()
        if "player" in self.__dict__:
            self.player.new_game()

    def get_ready(self) -> None:
        """Load the network and compile the code for the next moves. This takes a moment, once for each board size.

        Call this method when the controller (the program that sends commands) sends the time limits of the game. Some
        controllers send no other time command before the clock of the first move runs.
        """
        from kibitz.games.go.endings.final import compile_kernels

        if self._ready is not None and self._ready[0] is self.player and self._ready[1] == self.game.size:
            return
        self._network_owners(None)
        compile_kernels()
        if self.player.searches:
            board = self.game.board.copy()
            thought = self._glance(board)
            if thought.moves:
                board.play(board.to_move, thought.moves[0].point)
                self._glance(board)
            self._glance(self.game.board)  # these evaluations are reused for the next move
        self._ready = (self.player, self.game.size)

    def _glance(self, board: Board) -> GoThought:
        """Evaluate a position with a few visits."""
        looks = self.player.looks(board, board.to_move, self.game.terms)
        return [look() for look, _ in zip(looks, range(3), strict=False)][-1]

    def final_count(self) -> FinalCount | None:
        """Return the final score if two passes have ended the game, otherwise None."""
        if self.game.board.passes < 2:
            return None
        from kibitz.play.go.value import final_count

        return final_count(self.game.board, self.game.terms)

    def value(self) -> tuple[PositionValue, float]:
        """Return two values: the evaluation of the game's position, and the standard deviation of Black's lead in
        points.

        The evaluation is the same as in the other interfaces of kibitz, see `kibitz.play.go.value`.
        """
        from kibitz.play.go import value

        game, settings = self.game, self.settings
        if self.final_count() is not None:
            return value.value_board(self.network, game.board, game.terms), 0.0
        if not self.player.searches or not value.searches(self.network):
            return value.judge_board(self.network, game.board, game.terms)
        thought = value.search_board(self.network, game.board, game.terms, settings.visits or value.VISITS)
        return value.value_of(thought), thought.moves[0].spread

    def owners(self, colour: int | None = None) -> NDArray[np.float32]:
        """Return the ownership map of the game's position, float32 [361]: the probability that each point belongs to
        Black at the end of the game.

        colour: the side to move that the network gets as input, BLACK = 1 or WHITE = 2; None for the side whose turn it
        is in the game.

        The map is the mean over the symmetries of the board. If two passes ended the game, the map is that of the final
        score.
        """
        if (final := self.final_count()) is not None:
            return final.black_owns
        return self._network_owners(colour)

    def _network_owners(self, colour: int | None) -> NDArray[np.float32]:
        """Return the network's map, float32 [361], even if the game is over."""
        import numpy as np

        from kibitz.play.go.ownership import SYMMETRIES
        from kibitz.play.go.player import Study

        game = self.game
        study = Study(self.network, game.board, colour or game.board.to_move, game.terms, only=())
        for symmetry in range(SYMMETRIES):
            study.look(np.array([0]), symmetry)
        return study.owners()
