"""What a search sees in the positions of a game, where one look of the network was not enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.go.told import Told
from kibitz.games.go.endings.counting import TERRITORY, compensation
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import BLACK, POINTS
from kibitz.play.go.puct import GoPuctPlayer
from kibitz.play.go.thought import Look, Terms
from kibitz.play.session import NetworkSession


def searched(
    record: Record, network: NetworkSession, says: list[Told], nodes: int
) -> tuple[list[Told], NDArray[np.float64]]:
    """What the network says of each position with the lead, the chance and the best line of a search of so many visits;
    and Black's owners [n, 361], as they are on the average of what the search saw.

    record: a game; says: of its first positions, whose moves are legal. The tree goes on from position to position.
    """
    player, board = GoPuctPlayer(network, visits=nodes), record.board(0, superko=False, suicide=True)
    komi = record.komi + compensation(record.rules, record.handicap)
    terms = Terms(komi, record.rules in TERRITORY)  # who leads does not depend on the header's handicap
    found, owns = [], np.empty((len(says), POINTS))
    colour = record.side
    for ply, one in enumerate(says):
        looks: list[Look] = []
        player.choose(board, colour, terms, on_progress=looks.append)
        thought = looks[-1]()
        black = thought.winrate if colour == BLACK else 1 - thought.winrate
        lead, line, owners = thought.sign * thought.lead, thought.moves[0].pv, thought.owners
        found.append(replace(one, lead=lead, black_wins=black, line=line))
        owns[ply] = owners
        if ply + 1 < len(says):
            board.play(colour, record.moves[ply])
            colour = 3 - colour
    return found, owns
