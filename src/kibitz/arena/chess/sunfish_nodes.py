"""Sunfish's own UCI interface, with one addition: `go nodes N` ends the search at N nodes.

Sunfish accepts `go nodes N`, but looks at the count only between the steps of its second depth: asked for 10 nodes it
may search 2,000. Here the count is looked at before every node. A search that is ended before its first choice answers
with the choice of an earlier search of this position, or else with the move that its evaluation likes best.

Runs by the Python that Sunfish is installed for (kibitz is not), as a script: python sunfish_nodes.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

sunfish: Any = importlib.import_module("sunfish")
uci: Any = importlib.import_module("sunfish_ui.uci")


class CountedSearcher(sunfish.Searcher):  # type: ignore[misc]
    """Sunfish's search, ended at `node_cap` nodes, which the interface sets before each `go nodes`."""

    node_cap: int | None = None

    def search(self, history: list[Any]) -> Iterator[Any]:
        cap, self.node_cap = self.node_cap, None  # the next `go` may be one without a cap
        if cap:
            plain = super().bound

            def bound(*arguments: Any, **more: Any) -> int:
                if self.nodes >= cap:
                    raise sunfish.Stop
                return int(plain(*arguments, **more))

            self.bound = bound  # on the instance, so that a search without a cap stays as fast as it was
        try:
            yield from super().search(history)
        except sunfish.Stop:
            if history[-1] not in self.tp_move and (move := best_looking(history[-1])):
                self.tp_move[history[-1]] = move
            raise
        finally:
            self.__dict__.pop("bound", None)


def best_looking(position: Any) -> Any:
    """The legal move that Sunfish's evaluation likes best, without any search; None where there is none."""
    legal = [move for move in position.gen_moves() if not position.move(move).king_capture()]
    return max(legal, key=position.value, default=None)


if __name__ == "__main__":
    sunfish.Searcher = CountedSearcher
    uci.run(sunfish, sunfish.hist[-1])
