"""Run the UCI interface of the engine Sunfish with one addition: `go nodes N` ends the search at N nodes.

Sunfish accepts `go nodes N`, but it checks the number of nodes too rarely: never at depth 1, and later only between two
searches of the tree. With N = 10, it may search 2,000 nodes. This script checks the number before every node.

A search may reach the limit before it has chosen a move. In this case, Sunfish plays the move of an earlier search of
the same position. If there was no earlier search, Sunfish plays the move with the best evaluation.

The Python environment of Sunfish runs this script: python sunfish_nodes.py. kibitz is not installed in that
environment.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

sunfish: Any = importlib.import_module("sunfish")
uci: Any = importlib.import_module("sunfish_ui.uci")


class CountedSearcher(sunfish.Searcher):  # type: ignore[misc]
    """Sunfish's search with a limit of nodes.

    node_cap: the largest number of nodes; None for no limit. Sunfish's UCI interface sets it before each `go nodes`.
    """

    node_cap: int | None = None

    def search(self, history: list[Any]) -> Iterator[Any]:
        """Yield the results of Sunfish's search of a position until the limit of nodes. history: Sunfish's positions of
        the game.
        """
        cap, self.node_cap = self.node_cap, None  # reset, because the next `go` may have no limit
        if cap:
            plain = super().bound

            def bound(*arguments: Any, **more: Any) -> int:
                if self.nodes >= cap:
                    raise sunfish.Stop
                return int(plain(*arguments, **more))

            self.bound = bound  # set only on this instance, so that a search without a limit stays as fast as before
        try:
            yield from super().search(history)
        except sunfish.Stop:
            if history[-1] not in self.tp_move and (move := best_looking(history[-1])):
                self.tp_move[history[-1]] = move
            raise
        finally:
            self.__dict__.pop("bound", None)


def best_looking(position: Any) -> Any:
    """Return the legal move that Sunfish's evaluation prefers, without a search; None if there is no legal move."""
    legal = [move for move in position.gen_moves() if not position.move(move).king_capture()]
    return max(legal, key=position.value, default=None)


if __name__ == "__main__":
    sunfish.Searcher = CountedSearcher
    uci.run(sunfish, sunfish.hist[-1])
