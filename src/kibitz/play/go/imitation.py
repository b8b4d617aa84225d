"""Settings with which a Go network plays like players of a rank (imitates them): the possible ranks, the network's
inputs, and how a move is chosen.

All interfaces of kibitz use the function `imitation`, so the same position, rank and seed give the same move in all of
them.
"""

from __future__ import annotations

from typing import TypedDict

from kibitz.errors import UsageError
from kibitz.games.go.ranks import rank_of, rank_value, read_rank
from kibitz.games.go.sides import side_inputs
from kibitz.play.go.thought import Terms
from kibitz.systems.declaration import GO_TOP_PROB
from kibitz.text import shown

WEAKEST, STRONGEST = "15k", "9d"
"""The lowest and the highest rank that a network can imitate."""
METHOD = GO_TOP_PROB.name
"""The method of choosing a move in an imitation: without a search, because a search would play better than players of
the rank.
"""
TEMPERATURE = 1.0
"""The temperature of an imitation: it plays each move as often as the network predicts for players of the rank."""


class Imitation(TypedDict):
    """The settings of `kibitz.play.open_player` for a player that imitates players of a rank.

    method, temperature: how the move is chosen. rank: the rank in its usual form, such as "5k".
    """

    method: str
    temperature: float
    rank: str


def imitated_rank(text: str, option: str = "rank") -> str:
    """Return a rank in its usual form, such as "5k".

    text: the rank as a user writes it, such as "5k", "5 kyu" or "3D". option: the name of the value in the error
    message.

    Raises UsageError for other text, and for a rank outside of 15k to 9d (WEAKEST to STRONGEST).
    """
    rank = read_rank(text, whole=True)
    if rank is None or not rank_value(WEAKEST) <= rank_value(rank) <= rank_value(STRONGEST):
        raise UsageError(
            f"{option} must be a rank from {WEAKEST} to {STRONGEST}, such as 5k (got {shown(text) or 'nothing'})"
        )
    return rank


def ranks() -> list[str]:
    """Return all ranks that can be imitated, from 15k to 9d (WEAKEST to STRONGEST)."""
    return [rank_of(value) for value in range(rank_value(WEAKEST), rank_value(STRONGEST) + 1)]


def imitation(
    rank: str,
    *,
    network: str,
    takes_ranks: bool,
    option: str = "rank",
    method: str | None = None,
    temperature: float | None = None,
) -> Imitation:
    """Return the settings of `kibitz.play.open_player` for a player that imitates players of a rank.

    rank: the rank as a user writes it.
    network: the name of the network, for messages.
    takes_ranks: whether the network has rank inputs.
    option: the name of the rank in messages, such as "--rank".
    method: a method that the user chose; None for METHOD, top-prob.
    temperature: the temperature that the user chose; None for TEMPERATURE, 1.

    Raises UsageError for a network without rank inputs, for text that is not a rank from 15k to 9d, and for a method
    other than top-prob.
    """
    if not takes_ranks:
        raise UsageError(
            f"{option} needs a network with rank inputs, and {network} has none (got {shown(rank)})."
            " Use the network 'gohuman'."
        )
    read = imitated_rank(rank, option)
    if method not in (None, METHOD):
        raise UsageError(f"{option} works only with the method {METHOD} (got {shown(str(method))}). Use {METHOD}.")
    return {"method": METHOD, "temperature": TEMPERATURE if temperature is None else temperature, "rank": read}


def players_inputs(terms: Terms, rank: str) -> dict[str, int]:
    """Return the side inputs for a game between two players of this rank, as a dict from names to numbers from 0 to
    255. Side inputs are network inputs in addition to the board.

    terms: the komi, the scoring and the handicap of the game.
    """
    named = "japanese" if terms.territory else "chinese"
    return side_inputs(terms.komi, terms.handicap, named, rank, rank)
