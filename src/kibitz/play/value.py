"""The value of a position: who wins with which probability. It is the same in every interface of kibitz."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kibitz.text import rounded

RULES, SEARCH, NETWORK = "rules", "search", "network"
"""The possible sources of a value. RULES: the game is over. SEARCH: a search. NETWORK: the network, without a
search.
"""


@dataclass(frozen=True)
class PositionValue:
    """The value of one position.

    chance: the win probability of White in chess and of Black in Go, 0 to 1; exactly 1 or 0 if a mate is proven.
    source: where the value comes from: RULES if the game is over, SEARCH if there was a search, or else NETWORK.
    mate: the number of moves to a proven mate, positive if White mates and negative if Black mates; None if no mate is
        proven, and always in Go.
    moves: the best line, such as ("a1a6", "b7a6"), in UCI moves or in GTP vertices; () if the game is over or there was
        no search.
    lead: in Go, Black's lead in points, komi included, such as -3.5; None in chess.
    """

    chance: float
    source: str
    mate: int | None = None
    moves: tuple[str, ...] = ()
    lead: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the value as a dict for JSON."""
        found = {**vars(self), "chance": round(self.chance, 4), "moves": list(self.moves)}
        lead = found.pop("lead")
        return found if lead is None else {**found, "lead": rounded(lead, 2)}
