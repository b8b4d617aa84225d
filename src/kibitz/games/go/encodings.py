"""PyTorch code that converts Go positions to planes, the inputs of a network, and finds chains of stones. It runs
inside the network.

A plane is a grid with one number for each point of the board. The functions take codes, uint8 [n, 361], and state,
uint8 [n, 4] (see `replay.py`). Planes are [n, channels, grid, grid], the upper row first, from the view of the side to
move. The memory layout is channels-last, which makes convolutions on a CPU faster. A grid smaller than 19 is the upper
left corner of the full grid. `planes.py` has the names of the planes.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.games.go.planes import plane_table
from kibitz.games.go.points import GRID
from kibitz.games.go.replay import AGE, BLACK_STONE, KO, OFF, SIDE, WHITE_STONE

LIBERTIES = (3, 6)
"""The possible values of the argument `liberties` of BoardPlanes. With 3, planes distinguish 1, 2, and 3 or more
liberties. With 6, they distinguish 1 to 5, and 6 or more.
"""


def corner(codes: Tensor, grid: int) -> Tensor:
    """Return the upper left part of codes, [n, grid, grid]. codes: uint8 [n, 361], the positions, see
    `kibitz.PositionArrays`. grid: the size of the part, at most 19.
    """
    return codes.view(-1, GRID, GRID)[:, :grid, :grid]


class BoardPlanes(nn.Module):
    """Converts Go positions to planes of 0 and 1: the mover's stones by liberties, the opponent's stones by liberties,
    the ko point, and the points of the board.

    grid: the size of the planes, at most 19.
    liberties: 3 for separate planes of stones with 1, 2, and 3 or more liberties; 6 for planes with 1 to 5, and 6 or
        more.
    recent: the number of further planes for the last moves. Each has a 1 on the stone of one move; the most recent move
        is first.
    ages: whether to add five planes with the stones that were played 9-16, 17-32, 33-64, 65-128 and more plies ago.
    """

    def __init__(self, grid: int = GRID, liberties: int = 3, recent: int = 0, ages: bool = False) -> None:
        super().__init__()
        self.grid, self.liberties, self.recent, self.ages = grid, liberties, recent, ages
        table = torch.from_numpy(plane_table(liberties, recent, ages))
        self.channels = table.shape[1]
        self.register_buffer("table", table, persistent=False)

    def forward(self, codes: Tensor, state: Tensor) -> Tensor:
        """Return the planes, float32 [n, channels, grid, grid]. codes, state: the positions, uint8 [n, 361] and uint8
        [n, 4 or more], see `kibitz.PositionArrays`.
        """
        seen = corner(codes, self.grid).long() + 256 * state[:, SIDE].long()[:, None, None]
        return F.embedding(seen, self.get_buffer("table")).permute(0, 3, 1, 2)


def on_board(codes: Tensor) -> Tensor:
    """Return whether each code belongs to a point of the board, as a bool tensor of the same shape. If the board is
    smaller than 19×19, the result is false outside the board. codes: as in `kibitz.PositionArrays`, in any shape.
    """
    return codes.long() % AGE < OFF


def stones(codes: Tensor) -> Tensor:
    """Return the stone on each point, as an int64 tensor: 0 none, 1 Black, 2 White. codes: codes of points (see
    `kibitz.PositionArrays`), in any shape, which is also the shape of the result.
    """
    kind = codes.long() % AGE
    return ((kind >= BLACK_STONE) & (kind < KO)).long() + ((kind >= WHITE_STONE) & (kind < KO)).long()


_ROUNDS = 8
"""Number of rounds of `roots` in an exported network. Boards full of spirals, combs and random walks need four
rounds.
"""


def roots(colours: Tensor) -> Tensor:
    """Return for each point the root of its chain, int64 [n, grid²]. The root is the largest index among the points of
    the chain. A point without a stone is its own root.

    colours: int64 [n, grid, grid], the stones: 0 none, 1 Black, 2 White.

    The computation is a union-find in parallel. Each point has a link, first to itself. In each step, the links are
    replaced by larger indices that are found through neighbors in the same chain. The steps are repeated until no link
    changes. Each link is then the root of the point's chain.
    """
    n, grid = colours.shape[0], colours.shape[1]
    each = torch.arange(grid * grid, device=colours.device).view(1, -1).expand(n, -1)
    down = (colours[:, 1:] == colours[:, :-1]) & (colours[:, 1:] > 0)
    right = (colours[:, :, 1:] == colours[:, :, :-1]) & (colours[:, :, 1:] > 0)
    largest = each
    # An exported network can't test whether anything has changed
    for _ in range(_ROUNDS if torch.onnx.is_in_onnx_export() else grid * grid):
        seen = largest.view(-1, grid, grid)
        above, below = F.pad(seen[:, :-1], (0, 0, 1, 0)), F.pad(seen[:, 1:], (0, 0, 0, 1))
        left, beside = F.pad(seen[:, :, :-1], (1, 0)), F.pad(seen[:, :, 1:], (0, 1))
        seen = torch.maximum(seen, above * F.pad(down, (0, 0, 1, 0)))
        seen = torch.maximum(seen, below * F.pad(down, (0, 0, 0, 1)))
        seen = torch.maximum(seen, left * F.pad(right, (1, 0)))
        seen = torch.maximum(seen, beside * F.pad(right, (0, 1)))
        new = largest.scatter_reduce(1, largest, seen.flatten(1), "amax")
        new = new.gather(1, new)
        new = new.gather(1, new)
        if not torch.onnx.is_in_onnx_export() and torch.equal(new, largest):
            break
        largest = new
    return largest


def pool_chains(values: Tensor, roots: Tensor) -> Tensor:
    """Return the largest value over each chain, at every point of the chain and for each channel separately, [n,
    channels, grid, grid]. A point without a stone keeps its value.

    values: [n, channels, grid, grid]. roots: int64 [n, grid²], the root of each point's chain, from the function
    `roots`. The gradient flows to the stone with the largest value.
    """
    flat = values.flatten(2)
    index = roots[:, None].expand(-1, flat.shape[1], -1)
    top = torch.full_like(flat, torch.finfo(flat.dtype).min).scatter_reduce(2, index, flat, "amax")
    return top.gather(2, index).view_as(values)


def mean_over_chains(values: Tensor, roots: Tensor) -> Tensor:
    """Return the mean value over each chain, at every point of the chain, [n, grid²]. A point without a stone keeps its
    value.

    values: [n, grid²]. roots: int64 [n, grid²], the root of each point's chain, from the function `roots`.
    """
    none = torch.zeros_like(values)
    total = none.scatter_add(1, roots, values)
    count = none.scatter_add(1, roots, torch.ones_like(values))
    return (total / count.clamp(min=1)).gather(1, roots)
