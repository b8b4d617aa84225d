"""Lines of chess or Go in requests of the browser page of `kibitz board`. A line is a start position and the moves from
it.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from kibitz.web.params import Fields, an_object, choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo
    from kibitz.web.players import PlayRequest
    from kibitz.web.torch_process import TorchSession

GAMES = {"chess": "kibitz.web.chess.line", "go": "kibitz.web.go.line"}
"""The module for the lines of each game: "chess" -> module name. The module has `read_line(fields) -> Line`, and is
imported when a line needs it.
"""


class Line(Protocol):
    """The interface of a line of chess or Go: a start position, and legal moves from it. The position at ply n is the
    one after n moves; ply 0 is the start position.
    """

    @property
    def game(self) -> str: ...

    @property
    def moves(self) -> tuple[Any, ...]: ...

    def board(self) -> Any:
        """Return the last position of the line (a start position and moves), as a chess.Board or a Go board."""

    def as_json(self) -> dict[str, Any]:
        """Return the line (a start position and moves) as a dict with the fields that requests of the browser page of
        `kibitz board` have for it.
        """

    def rows(self, first: int, last: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the positions from ply `first` to ply `last` as input arrays of a network: `codes`, uint8 [n,
        squares], and `state`, uint8 [n, 4], see `kibitz.PositionArrays`.
        """

    def conditioned(self, usual: Mapping[str, int]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the last position of the line (a start position and moves) as input arrays of a network that has side
        inputs, such as ratings or komi. The arrays are `codes`, uint8 [1, squares], and `state`, uint8 [1, 4 +
        len(usual)], see `kibitz.PositionArrays`.

        usual: a dict from the name of each side input to its default, which is used if the line has no value for it.
        """

    def nodes(self) -> list[dict[str, Any]]:
        """Return one dict for each position of the line (a start position and moves), in the form that the browser page
        of `kibitz board` uses.
        """

    def after(self, move: str) -> dict[str, Any]:
        """Return the position after one more move at the end of the line, as a dict for the browser page of `kibitz
        board`. move: the move as text. Raises BadRequest if the move is illegal.
        """

    def check(self, network: NetworkInfo) -> None:
        """Raise BadRequest if the network is for the other game, or does not support the size of the board."""

    def results(
        self, session: Session | TorchSession, network: NetworkInfo, first: int, last: int
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield a network's results for the positions of the line from ply `first` to ply `last`, batch by batch. Each
        result is a dict for the browser page of `kibitz board`. session: the loaded network.
        """

    def occlusion(self, session: Session, network: NetworkInfo) -> dict[str, Any]:
        """Return how much an output of the network changes if a piece or a stone of the last position is removed, for
        each piece or stone.

        In the result, "values" has for each square or point the output without the piece, minus the output with it; 0
        for kings and empty squares. "what" is the name of the output.
        """

    def think(
        self,
        player: Callable[[], Any],
        request: PlayRequest,
        report: Callable[[Mapping[str, Any]], None],
        stop: threading.Event,
    ) -> str | None:
        """Return the move that a player (a network with a method to choose moves) chooses in the last position, as a
        string; None if there is no legal move.

        player: a function that returns the player.
        request: how the player must choose the move, including the limits of a search.
        report: a function that is called with interim results.
        stop: an event that ends the search.
        """


def read_line(fields: Fields, name: str = "line") -> Line:
    """Parse the line (a start position and moves) in a request. name: the field that has the line. fields: the JSON of
    the request. Raises BadRequest if the line is malformed or has an illegal move.
    """
    line = an_object(fields.get(name), name)
    read: Callable[[Fields], Line] = importlib.import_module(
        GAMES[choice(line, "game", tuple(GAMES), "chess")]
    ).read_line
    return read(line)
