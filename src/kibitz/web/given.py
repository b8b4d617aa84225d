"""Game files that the user gave to `kibitz board` on the command line: the text of the first file, and single games."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from kibitz.errors import KibitzError

LARGEST = 20 << 20
"""The page opens the first file at its start if the file has at most this number of bytes. The games of a larger file
are only in the explorer.
"""
_BLOCK = 1 << 20


def game_of(name: str) -> str:
    """Return the game of a file, "chess" or "go", according to its extension. The result for a folder is "go"."""
    from kibitz.records import game_by_ending

    return "go" if Path(name).is_dir() else game_by_ending(name)


def files_of(name: str) -> list[str]:
    """Return the paths of the files: the SGF files in a folder, or [name] for a file. Raises OSError if the folder
    can't be read.
    """
    if not Path(name).is_dir():
        return [name]
    from kibitz.games.go.io.blocks import ENDINGS
    from kibitz.records import PACKED

    ends = tuple(ending + packed for ending in ENDINGS for packed in ("", *PACKED))
    return sorted(str(file) for file in Path(name).iterdir() if file.name.lower().endswith(ends) and file.is_file())


def game_text(game: str, file: str, number: int) -> str:
    """Return the original text of a game in a file. game: "chess" or "go". number: the number of the game in the file,
    from 1.

    Raises KibitzError if the file can't be read, and StopIteration if there is no such game.
    """
    if game == "go":
        from kibitz.games.go.io.sgf import glance

        with contextlib.closing(glance(file)) as texts:
            return next(islice(texts, number - 1, None))
    from kibitz.games.chess.io.reader import glance as glance_chess

    with contextlib.closing(glance_chess(file)) as games:
        return next(islice(games, number - 1, None))[1]


def first_file(names: Sequence[str]) -> dict[str, Any]:
    """Return the response of /api/given: the "name" and the "text" of the first file on the command line; {} if there
    is no file. names: the files on the command line.

    If the file is too large, the response has only "name". If the file can't be read, the response has "name" and, as
    "problem", the reason.
    """
    if not names:
        return {}
    name = names[0]
    try:
        text = _whole(name)
    except (KibitzError, OSError) as error:
        return {"name": name, "problem": str(error)}
    return {"name": name} if text is None else {"name": name, "text": text}


def _whole(name: str) -> str | None:
    """Return all games of a file or folder; None if they have more than LARGEST bytes."""
    from kibitz.records import Stream, decode

    if game_of(name) == "go":
        from kibitz.games.go.io.sgf import glance

        parts: list[str] = []
        size = 0
        for file in files_of(name):
            with contextlib.closing(glance(file)) as texts:
                for text in texts:
                    parts.append(text)
                    size += len(text)
                    if size > LARGEST:
                        return None
        return "\n".join(parts)
    data = bytearray()
    with contextlib.closing(Stream(name)) as stream:
        for block in stream.texts(_BLOCK, "PGN files are text"):
            data += block
            if len(data) > LARGEST:
                return None
    return decode(bytes(data))
