"""Convert a game of a Go match to SGF."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping

from kibitz.arena.go.game import GameResult
from kibitz.arena.record import RecordFormat, ScoredGame, row, side_of, tag, tags_of
from kibitz.games.go.points import BLACK, to_sgf

HEAD = "(;EV[kibitz match]"
"""The first line of every game record. The tags of the match are in the game comment (GC), one tag on each line."""

_MOVES_A_LINE = 10
_PROPERTY = re.compile(r"([A-Z]+)\[((?:\\.|[^\]\\])*)\]", re.DOTALL)


def counted(number: int, played: GameResult) -> ScoredGame:
    """Return the score of a game in the match. number: the game's number in the match, from 0. played: the result of
    the game.
    """
    first_at_fault = None if played.at_fault is None else played.at_fault == BLACK
    return row(number, _points(played.result), played.ending, first_at_fault, played.reason, played.referee)


def _points(result: str) -> int:
    """Parse a result as SGF has it, and return Black's points, in half points. Raises ValueError for text that isn't a
    result.
    """
    points = {"B+": 2, "W+": 0, "0": 1}.get(result[:2])
    if points is None:
        raise ValueError(f"{result} is not the result of a game")
    return points


def text_of(
    number: int, played: GameResult, names: Mapping[str, str], opening: int, settings: Mapping[str, str]
) -> str:
    """Return a game as SGF that ends with an empty line.

    number: the game's number in the match, from 0.
    played: the game and its result.
    names: a dict from "A" and "B" to the names of the players.
    opening: the number of the opening in the list of openings, from 0.
    settings: the settings of the match, which are written to the game comment (GC), one on each line.
    """
    black, white = side_of(number, True), side_of(number, False)
    tags = {
        "SideA": "Black" if black == "A" else "White",
        "OpeningNumber": str(opening),
        **tags_of(counted(number, played), settings),
    }
    properties = {
        "FF": "4", "GM": "1", "CA": "UTF-8", "AP": "kibitz", "SZ": str(played.rules.size),
        "KM": f"{played.rules.komi:g}", "RU": "Chinese", "PB": tag(names[black]), "PW": tag(names[white]),
        "DT": datetime.date.today().isoformat(), "RO": f"{number // 2 + 1}.{number % 2 + 1}", "RE": played.result,
        "GC": "\n".join(f"{key}: {value}" for key, value in tags.items()),
    }  # fmt: skip
    lines = [HEAD, "".join(f"{key}[{_escaped(value)}]" for key, value in properties.items())]
    moves = [f";{'B' if colour == BLACK else 'W'}[{to_sgf(point)}]" for colour, point in played.moves]
    lines += ["".join(moves[at : at + _MOVES_A_LINE]) for at in range(0, len(moves), _MOVES_A_LINE)]
    return "\n".join(lines) + f"C[{_escaped(_last_words(played))}])\n\n"


def _last_words(played: GameResult) -> str:
    if played.at_fault is not None:
        return f"{'Black' if played.at_fault == BLACK else 'White'} forfeits: {tag(played.reason)}"
    return f"{played.ending}; counted by {played.referee}" if played.referee else played.ending


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _read(text: str) -> tuple[int, Mapping[str, str]] | None:
    if not (text.startswith(HEAD + "\n") and text.endswith("])\n\n")):
        return None
    root = {key: re.sub(r"\\(.)", r"\1", value) for key, value in reversed(_PROPERTY.findall(text))}
    tags = dict(line.split(": ", 1) for line in root.get("GC", "").splitlines() if ": " in line)
    try:
        return _points(root.get("RE", "")), tags
    except ValueError:
        return None


SGF = RecordFormat("--sgf", HEAD, _read)
