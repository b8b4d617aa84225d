"""The fast PGN parser, a library in Rust. If it is not installed, the full reader (`reader`) reads all games, more
slowly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from rust_pgn_reader_python_binding import PyChunkView

try:
    import rust_pgn_reader_python_binding as _rust
except ImportError:  # conda-forge has no package of this library
    _rust = None  # type: ignore[assignment, unused-ignore]


def is_installed() -> bool:
    """Return whether the fast parser is installed."""
    return _rust is not None


def parse(texts: pa.StringArray) -> list[PyChunkView] | None:
    """Return the parsed moves of some games, in chunks of several games as the fast parser returns them; None if the
    fast parser is not installed. Other threads can run during the call, because the function releases Python's global
    interpreter lock.

    texts: for each game, the FEN header if there is one, and the moves.
    """
    return _rust.parse_games(pa.chunked_array([texts]), num_threads=1).chunks if is_installed() else None
