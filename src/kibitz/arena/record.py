"""The record file of a match. It contains every completed game, with everything that is needed to resume the match
after an interruption.

Chess games are recorded as PGN, and Go games as SGF. This module has the code that both formats use. Each game ends
with an empty line.

kibitz adds tags to each game. The tags GameNumber, Ending, Forfeit, Reason and Referee describe the game. Each setting
of the match also has a tag, whose name begins with "Match". In SGF, the tags are lines of the game comment (GC).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kibitz.durable import sync, write_whole
from kibitz.errors import KibitzError, UsageError, one_line

SETTING = "Match"
"""The prefix of the tags with the match's settings, such as MatchA and MatchSeed."""


@dataclass(frozen=True)
class ScoredGame:
    """The score of a finished game between the players "A" and "B". The player "A" moves first in the games with an
    even number.

    number: the game's number in the match, from 0.
    points: A's points, in half points: 2 for a win, 1 for a draw, 0 for a loss.
    ending: how the game ended, as text.
    forfeit: the player who lost by a fault of the engine, such as a crash: "A" or "B"; "" if there was no fault.
    reason: the description of the fault; "" if there was no fault.
    referee: what determined the dead stones for the score, such as "GNU Go"; "" if there was no such scoring.
    """

    number: int
    points: int
    ending: str
    forfeit: str = ""
    reason: str = ""
    referee: str = ""


@dataclass(frozen=True)
class RecordFormat:
    """A file format for the record of a match, such as PGN.

    option: the command-line option for the path of the record file.
    head: the first line of each game.
    read: a function that parses a game's text. It returns the half points of the player who moved first, and a dict
        from the names of tags to their values; None if the text isn't a complete game.
    """

    option: str
    head: str
    read: Callable[[str], tuple[int, Mapping[str, str]] | None]


def side_of(number: int, first: bool) -> str:
    """Return the player, "A" or "B", who moves first in a game. If `first` is False, return the player who moves
    second. number: the game's number in the match, from 0.
    """
    return "A" if (number % 2 == 0) == first else "B"


def row(
    number: int, first_points: int, ending: str, first_at_fault: bool | None = None, reason: str = "", referee: str = ""
) -> ScoredGame:
    """Return the score of a game.

    number: the game's number in the match, from 0.
    first_points: the half points of the player who moved first: 2 for a win, 1 for a draw, 0 for a loss.
    ending: how the game ended, as text.
    first_at_fault: True if the player who moved first lost by a fault of the engine, False if the player who moved
        second did; None without a fault.
    reason: the description of the fault; "" without a fault.
    referee: what determined the dead stones for the score, such as "GNU Go"; "" if there was no such scoring.
    """
    points = first_points if number % 2 == 0 else 2 - first_points
    forfeit = "" if first_at_fault is None else side_of(number, first_at_fault)
    return ScoredGame(number, points, ending, forfeit, reason, referee)


def tag(value: str) -> str:
    """Return a text for the value of a tag in a game record. Characters that would end the value early are replaced.
    They are not escaped, because few programs read escaped backslashes.
    """
    return " ".join(value.replace('"', "'").replace("\\", "/").split())


def tags_of(game: ScoredGame, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the entries for a game's record as a dict from names to values: the number and the end of the game, and
    the settings of the match. They become tags in PGN, and lines of the game comment (GC) in SGF.
    """
    tags = {"GameNumber": str(game.number), "Ending": game.ending}
    if game.forfeit:
        tags |= {"Forfeit": game.forfeit, "Reason": tag(game.reason)}
    if game.referee:
        tags["Referee"] = game.referee
    return tags | {SETTING + key: tag(value) for key, value in settings.items()}


def resume(path: Path, settings: Mapping[str, str], form: RecordFormat) -> list[ScoredGame]:
    """Return the scores of the games that a match's record file already contains. If the last game is incomplete, it is
    removed from the file.

    path: the record file. Without such a file, the result is [].
    settings: the settings of the match.
    form: the format of the file.

    Raises UsageError if the file has other contents, or games of a match with other settings.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    try:
        text = io.TextIOWrapper(io.BytesIO(_whole_letters(data)), encoding="utf-8").read()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a record of a match. Choose another file with {form.option}.") from None
    rows: dict[int, ScoredGame] = {}
    complete = 0
    # A game begins where an empty line is followed by the first character of `head`. Inside a game, this doesn't occur.
    for part in re.split(rf"(?<=\n\n)(?={re.escape(form.head[0])})", text):
        if part.strip():
            game = _read(path, part, settings, form, last=complete + len(part) == len(text))
            if game is None:
                break
            rows[game.number] = game
        complete += len(part)
    if complete < len(text) or len(_whole_letters(data)) < len(data):
        # the file is written again, because an editor may have changed the line endings
        write_whole(path, text[:complete].encode())
    return list(rows.values())


def _whole_letters(data: bytes) -> bytes:
    """Remove an incomplete UTF-8 character at the end of the data."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return data[: error.start]
    return data


def _read(path: Path, part: str, settings: Mapping[str, str], form: RecordFormat, *, last: bool) -> ScoredGame | None:
    """Parse one game of the file. Returns None for an incomplete game at the end of the file."""
    read = form.read(part)
    if read is None and last and form.head.startswith(part.partition("\n")[0]):
        return None
    try:
        assert read is not None
        points, tags = read
        number = int(tags["GameNumber"])
    except (AssertionError, KeyError, ValueError):
        raise UsageError(
            f"{path} contains games that are not from a kibitz match. Choose another file with {form.option}."
        ) from None
    for key, value in settings.items():
        had = tags.get(SETTING + key, "")
        if had != tag(value):
            raise UsageError(
                f"{path} contains a match with other settings ({key}: {had or 'none'}, now {tag(value)}). Choose"
                " another"
                " file"
                f" with {form.option}, or use the same settings."
            )
    return ScoredGame(
        number,
        points if number % 2 == 0 else 2 - points,
        tags.get("Ending", ""),
        tags.get("Forfeit", ""),
        tags.get("Reason", ""),
        tags.get("Referee", ""),
    )


def append(path: Path, text: str) -> None:
    """Add a game's text to the end of the record file, and wait until the text is on the disk. Raises KibitzError if
    the file can't be written.
    """
    try:
        with path.open("ab") as file:
            file.write(text.encode())
            sync(file)
    except OSError as error:
        raise KibitzError(
            f"{path}: {one_line(error)}. Free some space, then run the same command again to resume."
        ) from None
