"""What the network is given, for the board."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.planes import WHITE_AND_BLACK, NamedPlanes, signed


def planes(settings: Mapping[str, object], codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NamedPlanes:
    return signed(codes, WHITE_AND_BLACK)
