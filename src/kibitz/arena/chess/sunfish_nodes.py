"""Sunfish's own UCI interface, with one addition: `go nodes N` ends the search at N nodes.

Sunfish accepts `go nodes N`, but checks the count only between the steps of its second depth: for 10 nodes it may
search 2,000. Here the count is checked before every node. If a search ends before it has chosen a move, it returns the
choice of an earlier search of this position. Without an earlier search, it returns the move with the best evaluation.

This script runs in the Python in which Sunfish is installed, where kibitz is not installed: python sunfish_nodes.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

sunfish: Any = importlib.import_module("sunfish")
uci: Any = importlib.import_module("sunfish_ui.uci")


class CountedSearcher(sunfish.Searcher):  # type: ignore[misc]
    """Sunfish's search with a limit of nodes. node_cap: the largest number of nodes, set by Sunfish's UCI interface
    before each `go nodes`; None for no limit.
    """

    node_cap: int | None = None

    def search(self, history: list[Any]) -> Iterator[Any]:
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
    """Return the legal move that Sunfish's evaluation prefers without a search; None if there is no legal move."""
    legal = [move for move in position.gen_moves() if not position.move(move).king_capture()]
    return max(legal, key=position.value, default=None)


if __name__ == "__main__":
    sunfish.Searcher = CountedSearcher
    uci.run(sunfish, sunfish.hist[-1])
