"""Lines of chess or Go: a start position and the moves from it, as in requests."""

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
"""The module for each game's lines, which has `read_line(fields) -> Line`. It is imported when a line needs it."""


class Line(Protocol):
    """A start position and legal moves from it. Its positions are numbered by ply, 0 .. len(moves)."""

    @property
    def game(self) -> str: ...

    @property
    def moves(self) -> tuple[Any, ...]: ...

    def board(self) -> Any:
        """Return the last position, as a board of the game."""

    def as_json(self) -> dict[str, Any]:
        """Return the line in the form of requests."""

    def rows(self, first: int, last: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the positions from ply `first` to ply `last` for a network. Returns `codes`, uint8 [n, squares], and
        `state`, uint8 [n, 4].
        """

    def conditioned(self, usual: Mapping[str, int]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the last position with the line's side inputs. Returns `codes`, uint8 [1, squares], and `state`, uint8
        [1, 4 + side inputs].

        usual: the names of the network's side inputs, each with the value that is used if the line has no value for it.
        """

    def nodes(self) -> list[dict[str, Any]]:
        """Return every position in the form for the page."""

    def after(self, move: str) -> dict[str, Any]:
        """Return the position after one more move. Raises BadRequest if the move is illegal."""

    def check(self, network: NetworkInfo) -> None:
        """Raise BadRequest for a network of the other game, or for one that does not support boards of this size."""

    def results(
        self, session: Session | TorchSession, network: NetworkInfo, first: int, last: int
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield a network's results for the positions from ply `first` to ply `last`, batch by batch."""

    def occlusion(self, session: Session, network: NetworkInfo) -> dict[str, Any]:
        """Return, for each piece of the last position, how a network's output changes if only this piece is removed.
        All positions are evaluated in one batch.

        values: the output without the piece minus the output with it, for each square or point. The value is 0 for a
        king, and if there is no piece. what: the name of the output.
        """

    def think(
        self,
        player: Callable[[], Any],
        request: PlayRequest,
        report: Callable[[Mapping[str, Any]], None],
        stop: threading.Event,
    ) -> str | None:
        """Return a player's move in the last position; None if there is no legal move. report: called with interim
        results.
        """


def read_line(fields: Fields, name: str = "line") -> Line:
    """Parse the line of a request. Raises BadRequest if it is malformed, or has an illegal move."""
    line = an_object(fields.get(name), name)
    read: Callable[[Fields], Line] = importlib.import_module(
        GAMES[choice(line, "game", tuple(GAMES), "chess")]
    ).read_line
    return read(line)
