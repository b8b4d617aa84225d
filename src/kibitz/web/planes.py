"""What a network is given: its own planes of a position, with names that a person understands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.web.networks import Known, Networks
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from torch import Tensor, nn

    from kibitz.web.positions import Line

PIECES = ("pawns", "knights", "bishops", "rooks", "queens", "kings")
WHITE_AND_BLACK = ("White's", "Black's")
OWN_AND_OTHERS = ("own", "the other side's")
_CORNERS = ("to the king's side", "to the queen's side")

Named = tuple[list[str], "NDArray[np.float64]"]
"""Names, and planes [channels, 64 or size²] on real squares or points."""


def planes(networks: Networks, known: Known, line: Line) -> dict[str, Any]:
    """The planes of a line's last position. Raises BadRequest for a network that has none to show."""
    if known.system not in _OF:
        raise BadRequest(f"{known.name}: nobody has written down what networks of the system {known.system} are given")
    network = networks.module(known.name)
    import torch  # there now, or the line before has said what to install

    last = len(line.moves)
    codes, state = line.rows(last, last)
    if beyond := getattr(network, "beyond", None):
        from kibitz.runs import widened

        state = widened(state, beyond)
    with torch.inference_mode():
        names, values = _OF[known.system](network, torch.from_numpy(codes), torch.from_numpy(state))
    if len(names) != len(values):
        raise RuntimeError(f"{known.system}: {len(names)} names of {len(values)} planes")
    return {
        "planes": [{"name": name, "values": plane.round(3).tolist()} for name, plane in zip(names, values, strict=True)]
    }


def chess_names(encoding: nn.Module, sides: tuple[str, str]) -> list[str]:
    """Names of the planes of an encoding of kibitz.games.chess.encodings, or of what a mover is given besides."""
    from kibitz.games.chess import encodings
    from kibitz.systems.movers.nets import Told

    if isinstance(encoding, encodings.Stack):
        return [name for part in encoding.parts for name in chess_names(part, sides)]
    if isinstance(encoding, encodings.SignedPlanes):
        names = [f"{piece} ({sides[0]} +1, {sides[1]} −1)" for piece in PIECES]
        mover = "White +1, Black −1" if sides == WHITE_AND_BLACK else "always +1"
        return [*names, f"who moves ({mover})"] if encoding.side else names
    if isinstance(encoding, encodings.PiecePlanes):
        return [f"{side} {piece}" for side in sides for piece in PIECES]
    if isinstance(encoding, encodings.AttackPlanes):
        if encoding.kind == "pieces":
            return [f"attacked by {side} {piece} (how many)" for side in sides for piece in PIECES]
        grain = " (how many, over 4)" if encoding.kind == "counts" else ""
        return [f"attacked by {side} pieces{grain}" for side in sides]
    if isinstance(encoding, encodings.RightsPlanes):
        names = [f"{side} right to castle {corner}" for side in OWN_AND_OTHERS for corner in _CORNERS]
        return [*names, "passed over by a pawn just now (en passant)"]
    if isinstance(encoding, Told):
        rating = ["rating of the mover (600: 0, 3000: 1)"] if encoding.rating else []
        outcome = ["result that it plays for (won 1, drawn 0.5, lost 0)"] if encoding.outcome else []
        return rating + outcome
    raise TypeError(f"planes of {type(encoding).__name__} have no names")


def _squares(values: Tensor, turned: bool) -> NDArray[np.float64]:
    """Planes [1, channels, 8, 8] as [channels, 64]; turned: the network sees the ranks the other way round."""
    grid = values[0].float().numpy().astype(np.float64)
    return (grid[:, ::-1] if turned else grid).reshape(len(grid), -1)


def _winner(network: nn.Module, codes: Tensor, state: Tensor) -> Named:
    from kibitz.systems.winner import Winner

    winner = cast(Winner, network)
    sides, turned = WHITE_AND_BLACK, False
    if winner.view is not None:
        sides, turned = OWN_AND_OTHERS, bool(state[0, 0])
        codes, state = winner.view(codes, state), state * 0
    return chess_names(winner.planes, sides), _squares(winner.planes(codes, state), turned)


def _mover(network: nn.Module, codes: Tensor, state: Tensor) -> Named:
    from kibitz.systems.movers.nets import MoveNets

    nets = cast(MoveNets, network)
    names = chess_names(nets.seen, OWN_AND_OTHERS)
    if nets.rights is not None:
        names += chess_names(nets.rights, OWN_AND_OTHERS)
    return names, _squares(nets.planes(codes, state)[1], bool(state[0, 0]))


def _human(network: nn.Module, codes: Tensor, state: Tensor) -> Named:
    from kibitz.systems.human import Human

    human = cast(Human, network)
    names = chess_names(human.seen, OWN_AND_OTHERS) + chess_names(human.rights, OWN_AND_OTHERS)
    names.append("plies since a capture or pawn move (over 100)")
    names += [f"the {move} {way}" for move in ("last move came", "move before it came") for way in ("from", "to")]
    return names, _squares(human.planes(codes, state), bool(state[0, 0]))


def _comparer(network: nn.Module, codes: Tensor, state: Tensor) -> Named:
    """773 bits: twelve boards of pieces; the five numbers that follow are shown as whole boards."""
    from kibitz.games.chess.encodings import PieceBits

    bits = PieceBits()(codes, state)[0].numpy().astype(np.float64)
    boards = np.concatenate([bits[:768].reshape(12, 64), np.repeat(bits[768:, None], 64, 1)])
    names = [f"{side} {piece}" for side in WHITE_AND_BLACK for piece in PIECES]
    rights = [f"{side} right to castle {corner}" for side in WHITE_AND_BLACK for corner in _CORNERS]
    return [*names, "White is to move", *rights], boards


def _owners(network: nn.Module, codes: Tensor, state: Tensor) -> Named:
    from kibitz.systems.gocnn import GoNet

    net = cast(GoNet, network)
    size = int(state[0, 1])
    values = net.planes(codes, state)[0].float().numpy().astype(np.float64)
    names = go_names(net.planes.channels, *_grain(net))
    chains = _chains(codes, net.grid)
    names.append("chains (a number for each)" if net.pools else "chains (a number for each; this network is not told)")
    values = np.concatenate([values, chains[None]])
    return names, values[:, :size, :size].reshape(len(values), -1)


def _chains(codes: Tensor, grid: int) -> NDArray[np.float64]:
    """[grid, grid]: 1 for every stone of the chain that comes first from the upper left, 2 for the next; 0 no stone."""
    from kibitz.games.go import encodings

    colours = encodings.stones(encodings.corner(codes, grid))
    roots = encodings.roots(colours)[0].numpy()
    stones = colours[0].flatten().numpy() > 0
    numbers: dict[int, int] = {}
    for root in roots[stones].tolist():
        numbers.setdefault(root, len(numbers) + 1)
    found = np.zeros(len(roots))
    found[stones] = [numbers[root] for root in roots[stones].tolist()]
    return found.reshape(grid, grid)


def _grain(net: Any) -> tuple[int, int, bool]:
    """How a network of owners was told to see: classes of liberties, recent moves, ages. From its table of planes: the
    settings are not kept in it."""
    from kibitz.games.go.encodings import LIBERTIES, RECENT

    for liberties in LIBERTIES:
        for recent in range(RECENT + 1):
            for ages in (False, True):
                if _same(net.planes.get_buffer("table"), liberties, recent, ages):
                    return liberties, recent, ages
    raise TypeError("planes of Go that nobody knows")


def _same(table: Tensor, liberties: int, recent: int, ages: bool) -> bool:
    import torch

    from kibitz.games.go.encodings import plane_table

    if table.shape[1] != 2 * liberties + 2 + recent + 5 * ages:
        return False
    return torch.equal(table, plane_table(liberties, recent, ages))


def go_names(channels: int, liberties: int, recent: int, ages: bool) -> list[str]:
    """Names of the planes of kibitz.games.go.encodings.BoardPlanes."""
    counts = [str(count) if count < liberties else f"{count} or more" for count in range(1, liberties + 1)]
    names = [
        f"{side} stones with {count} {'liberty' if count == '1' else 'liberties'}"
        for side in OWN_AND_OTHERS
        for count in counts
    ]
    names += ["the ko point, which may not be taken back", "the board"]
    back = ["the last move", "the move before it", *(f"the move {ago} moves ago" for ago in range(3, 9))]
    names += back[:recent]
    if ages:
        names += [
            f"stones played {ago} moves ago" for ago in ("9 to 16", "17 to 32", "33 to 64", "65 to 128", "129 or more")
        ]
    assert len(names) == channels
    return names


_OF: dict[str, Callable[[Any, Any, Any], Named]] = {
    "winner": _winner,
    "convchess": _mover,
    "chessnet": _mover,
    "human": _human,
    "deepchess": _comparer,
    "gocnn": _owners,
}
