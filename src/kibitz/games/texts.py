"""Convert a text column of a store's table to numbers, for chess and Go."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def text_codes(texts: pa.ChunkedArray, code: Callable[[str | None], int]) -> NDArray[np.uint8]:
    """Convert a text column of the games to codes, uint8 [games]. code: a function that converts a text, or None for a
    missing one, to a number from 0 to 255. It is called once for each distinct text, and once for None.
    """
    encoded = texts.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    each = np.array([code(text) for text in encoded.dictionary.to_pylist()] + [code(None)], np.uint8)
    return np.asarray(each[encoded.indices.fill_null(len(each) - 1).to_numpy(zero_copy_only=False)])
