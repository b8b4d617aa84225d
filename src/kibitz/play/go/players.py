"""Select the player of a Go network by method."""

from __future__ import annotations

from kibitz.play.go.player import GoPlayer
from kibitz.play.go.puct import NEEDED, GoPuctPlayer
from kibitz.play.go.thought import GoThinker
from kibitz.play.session import NetworkSession
from kibitz.systems.declaration import BEST_SCORE


def player_of(
    network: NetworkSession,
    method: str | None = None,
    *,
    temperature: float = 0.0,
    seed: int | None = None,
    visits: int | None = None,
) -> GoThinker:
    """Return a player for a network. method: one of the network's methods. None selects a search if the network
    supports it, and otherwise the player that uses only the predicted territory (GoPlayer).

    temperature, seed: see GoPlayer and GoPuctPlayer.
    visits: the number of visits of a search without a time limit.

    Raises UsageError for a method that the network doesn't support.
    """
    searches = method != BEST_SCORE.name if method else set(NEEDED) <= set(network.outputs)
    if not searches:
        return GoPlayer(network, temperature=temperature, seed=seed)
    return GoPuctPlayer(network, method=method, temperature=temperature, seed=seed, visits=visits)
