"""Which games an import keeps: the options of the command, as the filter of the game that they are for."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from kibitz.errors import UsageError
from kibitz.games.chess import filters as chess
from kibitz.games.go import filters as go
from kibitz.games.go import points
from kibitz.games.go.io import headers

Filter = chess.Filter | go.Filter
SPEEDS = chess.SPEEDS
RULES = headers.RULES
SIZES = tuple(map(str, points.SIZES))
ENDINGS = tuple(dict.fromkeys([*go.ENDINGS[:-1], *chess.ENDINGS]))
RESULTS = (*chess.RESULTS, *go.RESULTS)

_FILTERS: dict[str, type[chess.Filter] | type[go.Filter]] = {"chess": chess.Filter, "go": go.Filter}
_NAMES = {"go": {"min_plies": "min_moves", "unrated": "unranked"}}
"""What the filter of a game calls an option, where the two differ."""


def filter_for(game: str, **options: Any) -> Filter:
    """The filter of a game from all options, which stand at None, (), False or 1 where nothing was asked for.

    Raises UsageError for an option of another game, and where the filter could let nothing through.
    """
    kind = _FILTERS[game]
    known = {field.name for field in fields(kind)}
    values = {}
    for option, value in options.items():
        name = _NAMES.get(game, {}).get(option, option)
        if name in known:
            values[name] = value
        elif value is not None and value is not False and value != ():
            raise UsageError(f"--{option.replace('_', '-')} is not for {game}; these are records of {game}")
    keep = kind(**values)
    keep.check()
    return keep
