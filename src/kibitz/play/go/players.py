"""Select the class that chooses Go moves with a network, by the name of the method."""

from __future__ import annotations

from kibitz.play.go.imitation import imitation
from kibitz.play.go.player import GoPlayer
from kibitz.play.go.puct import NEEDED, GoPuctPlayer
from kibitz.play.go.thought import GoThinker
from kibitz.play.session import NetworkSession
from kibitz.systems.declaration import BEST_SCORE


def player_of(
    network: NetworkSession,
    method: str | None = None,
    *,
    temperature: float | None = None,
    seed: int | None = None,
    visits: int | None = None,
    rank: str | None = None,
) -> GoThinker:
    """Return an object that chooses Go moves with a network (a player).

    method: the name of one of the network's methods. None selects a search if the network supports it, and otherwise
        the player that uses only the predicted territory (GoPlayer).
    temperature: the randomness of the moves, see `GoPlayer` and `GoPuctPlayer`. None means 0, or with a rank the
        default temperature of `imitation`.
    seed: the random seed; None for an unpredictable one.
    visits: the number of visits of a search without a time limit.
    rank: the rank to imitate, such as "5k", see `imitation`; None for the strongest play. With a rank, `method` and
        `visits` have no effect, because an imitation does not search.

    Raises UsageError for a method or a rank that the network doesn't support.
    """
    if rank is not None:
        takes_ranks = "rank" in getattr(network, "side_inputs", {}) and not getattr(network, "of_person", False)
        settings = imitation(
            rank, network=getattr(network, "name", "the network"), takes_ranks=takes_ranks, temperature=temperature
        )
        return GoPuctPlayer(network, **settings, seed=seed)
    temperature = temperature or 0.0
    searches = method != BEST_SCORE.name if method else set(NEEDED) <= set(network.outputs)
    if not searches:
        return GoPlayer(network, temperature=temperature, seed=seed)
    return GoPuctPlayer(network, method=method, temperature=temperature, seed=seed, visits=visits)
