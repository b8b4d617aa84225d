"""The input planes of the networks of each system (kind of network), with their names, for display. This module needs
no torch.

Each function takes the settings of a trained network, and one position with its side inputs (ratings, komi and other
facts besides the board). The position is two arrays: `codes`, the pieces or stones, uint8 [squares], and `state`, uint8
[numbers]. The result is a dict. Its keys are the names of the planes. Its values are the planes, float32, on the
board's real squares or points.

Networks of earlier versions may lack a setting. The setting's default is then used.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from kibitz.games import STATE_WIDTH
from kibitz.games.chess import planes as chess
from kibitz.games.chess.planes import OWN_AND_OTHERS, WHITE_AND_BLACK
from kibitz.games.chess.replay import CLOCK, SIDE
from kibitz.games.chess.sides import LAST, RATING_UNIT
from kibitz.games.go import planes as go
from kibitz.nets.layers import Chain, read_layers
from kibitz.systems.declaration import Settings

NamedPlanes = dict[str, NDArray[np.float32]]

WEAKEST, STRONGEST = 600, 3000
"""The ratings that `convchess` and `chessnet` represent as 0 and as 1 in their rating plane."""
RECENT = 5
"""The number of recent moves that have an input plane each in `gohuman`."""


def winner(settings: Settings, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NamedPlanes:
    """Return the input planes of the system (kind of network) `winner` for one position: a dict from names to planes,
    float32 [8, 8]. settings: those of the network. codes, state: the position, uint8 [64] and uint8 [4 or more], see
    `kibitz.PositionArrays`.
    """
    mover = settings.get("view", "white") == "mover"
    sides = OWN_AND_OTHERS if mover else WHITE_AND_BLACK
    seen = chess.mover_view(codes, state) if mover else codes
    by_side = settings.get("separate", "none") in ("side", "side+phase")
    who = "side to move (always +1)" if mover else "side to move (White +1, Black −1)"
    planes = {
        **chess.signed(seen, sides),
        **({} if by_side else {who: chess.constant(1 if mover or state[SIDE] == 0 else -1)}),
        **chess.attacks(seen, str(settings.get("attacks", "none")), sides),
    }
    return chess.on_squares(planes, mover and bool(state[SIDE]))


def movers(settings: Settings, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NamedPlanes:
    """Return the input planes of the systems (kinds of networks) `convchess` and `chessnet` for one position: a dict
    from names to planes, float32 [8, 8]. settings: those of the network. codes, state: the position with its side
    inputs (ratings, komi and other facts besides the board), uint8 [64] and uint8 [k], see `kibitz.PositionArrays`.
    """
    seen = chess.mover_view(codes, state)
    planes = {
        **chess.BOARDS[str(settings.get("planes", "6"))](seen, OWN_AND_OTHERS),
        **chess.attacks(seen, str(settings.get("attacks", "none")), OWN_AND_OTHERS),
    }
    side_inputs = [int(value) for value in state[STATE_WIDTH:]]
    if settings.get("rating_plane"):
        strength = (side_inputs.pop(0) * RATING_UNIT - WEAKEST) / (STRONGEST - WEAKEST)
        planes["rating of the side to move (0 for 600, 1 for 3000)"] = chess.constant(min(max(strength, 0), 1))
    if settings.get("outcome_plane"):
        planes["result for the side to move (win 1, draw 0.5, loss 0)"] = chess.constant((side_inputs.pop(0) - 1) / 2)
    if settings.get("rights_planes"):
        planes |= chess.rights(state, OWN_AND_OTHERS)
    return chess.on_squares(planes, bool(state[SIDE]))


def human(settings: Settings, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NamedPlanes:
    """Return the input planes of the system (kind of network) `human` for one position: a dict from names to planes,
    float32 [8, 8]. settings: those of the network. codes, state: the position with its side inputs (ratings, komi and
    other facts besides the board), uint8 [64] and uint8 [k], see `kibitz.PositionArrays`. The squares of the last moves
    in `state` are those of the real board.
    """
    seen = chess.mover_view(codes, state)
    planes = {
        **chess.pieces(seen, OWN_AND_OTHERS),
        **chess.attacks(seen, "pieces", OWN_AND_OTHERS),
        **chess.rights(state, OWN_AND_OTHERS),
        "plies since a capture or pawn move, divided by 100": chess.constant(state[CLOCK] / 100),
    }
    inputs = [
        f"{square} of the {move}"
        for move in ("last move", "move before the last one")
        for square in ("origin", "target")
    ]
    moves = {name: chess.one_square(int(number)) for name, number in zip(inputs, state[LAST : LAST + 4], strict=True)}
    return {**chess.on_squares(planes, bool(state[SIDE])), **moves}


def deepchess(settings: Settings, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NamedPlanes:
    """Return the input planes of the system (kind of network) `deepchess` for one position: a dict from names to
    planes, float32 [8, 8]. Five inputs of this system do not belong to a square: the side to move and four castling
    rights. Each of them becomes a plane with the same value on all squares.

    settings: those of the network. codes, state: the position, uint8 [64] and uint8 [4 or more], see
    `kibitz.PositionArrays`.
    """
    return chess.bits(codes, state)


def gocnn(settings: Settings, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NamedPlanes:
    """Return the input planes of the system (kind of network) `gocnn` for one position: a dict from names to planes,
    float32 [rows, columns]. settings: those of the network. The last plane has the number of each stone's chain (see
    `games.go.planes.chains`). codes, state: the position, uint8 [361] and uint8 [4 or more], see
    `kibitz.PositionArrays`.
    """
    liberties, recent = (cast(int, settings.get(name, usual)) for name, usual in (("liberties", 3), ("recent", 0)))
    layers = read_layers(str(settings.get("layers", "")) or "1conv1x1")
    pools = bool(settings.get("together")) or any(isinstance(layer, Chain) for layer in layers)
    name = f"chains (a number for each{'' if pools else '; this network does not see them'})"
    board = go.board(codes, state, liberties, recent, bool(settings.get("ages")))
    return {**board, name: go.chains(codes, state)}


def gohuman(settings: Settings, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NamedPlanes:
    """Return the input planes of the system (kind of network) `gohuman` for one position: a dict from names to planes,
    float32 [rows, columns]. settings: those of the network. codes, state: the position, uint8 [361] and uint8 [4 or
    more], see `kibitz.PositionArrays`.
    """
    return go.board(codes, state, recent=RECENT)
