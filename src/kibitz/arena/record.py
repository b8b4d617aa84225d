"""A match's PGN: every game as it ends, with all that is needed to go on with the match after a kill."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn

from kibitz.arena.game import Played
from kibitz.errors import KibitzError, UsageError

SETTING = "Match"
"""Tags of this beginning hold the match's settings: MatchA, MatchSeed, ..."""

POINTS = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}
"""White's points, in halves."""


@dataclass(frozen=True)
class Row:
    """What a finished game counts. `number` is from 0; A has White in even games. `points` are A's, in halves.

    `forfeit` is "A" or "B", the side at fault, or "" with an empty `reason`.
    """

    number: int
    points: int
    ending: str
    forfeit: str = ""
    reason: str = ""


def row(number: int, played: Played) -> Row:
    """A game that was just played, as it counts."""
    white = POINTS[played.result]
    forfeit = ""
    if played.at_fault is not None:
        forfeit = side_of(number, played.at_fault)
    return Row(number, white if number % 2 == 0 else 2 - white, played.ending, forfeit, played.reason)


def side_of(number: int, colour: chess.Color) -> str:
    """Who has this colour in a game: "A" or "B"."""
    return "A" if (number % 2 == 0) == (colour == chess.WHITE) else "B"


def text_of(number: int, played: Played, names: Mapping[str, str], opening: int, settings: Mapping[str, str]) -> str:
    """The game as PGN, ending in an empty line. `names` are of "A" and "B"; `settings` become tags."""
    game = chess.pgn.Game()
    white, black = side_of(number, chess.WHITE), side_of(number, chess.BLACK)
    game.headers["Event"] = "kibitz match"
    game.headers["Site"] = "?"
    game.headers["Date"] = datetime.date.today().strftime("%Y.%m.%d")
    game.headers["Round"] = f"{number // 2 + 1}.{number % 2 + 1}"
    game.headers["White"], game.headers["Black"] = _tag(names[white]), _tag(names[black])
    game.headers["Result"] = played.result
    game.headers["Termination"] = played.termination
    game.headers["Ending"] = played.ending
    game.headers["GameNumber"] = str(number)
    game.headers["SideA"] = "White" if white == "A" else "Black"
    game.headers["OpeningNumber"] = str(opening)
    if played.at_fault is not None:
        game.headers["Forfeit"] = side_of(number, played.at_fault)
        game.headers["Reason"] = _tag(played.reason)
    for key, value in settings.items():
        game.headers[SETTING + key] = _tag(value)
    node: chess.pgn.GameNode = game
    for ply, move in enumerate(played.board.move_stack):
        node = node.add_variation(move)
        if ply >= played.opening:
            node.comment = _comment(played, ply)
    last = played.ending
    if played.at_fault is not None:
        last = f"{'White' if played.at_fault == chess.WHITE else 'Black'} forfeits: {_tag(played.reason)}"
    last = last.translate({ord("{"): "(", ord("}"): ")"})  # a brace would end the comment
    node.comment = f"{node.comment}; {last}" if node.comment else last
    return game.accept(chess.pgn.StringExporter(columns=100)) + "\n\n"


def _comment(played: Played, ply: int) -> str:
    answer = played.answers[ply - played.opening]
    parts = []
    if answer.score is not None:
        parts.append(f"{answer.score / 100:+.2f}" + (f"/{answer.depth}" if answer.depth is not None else ""))
    parts.append(f"{answer.seconds:.3f}s")
    if answer.nodes is not None:
        parts.append(f"{answer.nodes}n")
    return " ".join(parts)


def _tag(value: str) -> str:
    """A tag's value: nothing in it that ends it early. (Backslashes would need escapes that few readers know.)"""
    return " ".join(value.replace('"', "'").replace("\\", "/").split())


def resume(path: Path, settings: Mapping[str, str]) -> list[Row]:
    """The games that a match's PGN already holds; a last one that was cut by a kill is dropped from the file.

    Raises UsageError where the file holds something else, or games of a match with other settings.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not a match's games; choose another place with --pgn") from None
    rows: dict[int, Row] = {}
    kept = 0
    for part in re.split(r"(?<=\n\n)(?=\[)", text):  # moves never begin with a bracket, so a game does
        if part.strip():
            found = _read(path, part, settings, last=kept + len(part) == len(text))
            if found is None:
                break
            rows[found.number] = found
        kept += len(part)
    if kept < len(text):
        with path.open("r+b") as file:
            file.truncate(len(text[:kept].encode()))
    return list(rows.values())


def _read(path: Path, part: str, settings: Mapping[str, str], *, last: bool) -> Row | None:
    """One game of the file; None for a cut one at its end."""
    headers = chess.pgn.read_headers(io.StringIO(part))
    result = headers.get("Result", "*") if headers is not None else "*"
    whole = result in POINTS and part.endswith(f"{result}\n\n")
    if last and not whole and '[Event "kibitz match"]'.startswith(part.partition("\n")[0]):
        return None
    try:
        assert headers is not None
        number, white = int(headers["GameNumber"]), POINTS[result]
    except (AssertionError, KeyError, ValueError):
        raise UsageError(
            f"{path}: holds games that are not of a kibitz match; choose another file with --pgn"
        ) from None
    for key, wanted in settings.items():
        had = headers.get(SETTING + key, "")
        if had != _tag(wanted):
            raise UsageError(
                f"{path}: holds a match with other settings ({key}: {had or 'none'}; now: {_tag(wanted)});"
                " choose another file with --pgn, or give the settings it was begun with"
            )
    return Row(
        number,
        white if number % 2 == 0 else 2 - white,
        headers.get("Ending", ""),
        headers.get("Forfeit", ""),
        headers.get("Reason", ""),
    )


def append(path: Path, text: str) -> None:
    """Add a game to the file in one piece. Raises KibitzError where the disk refuses."""
    try:
        with path.open("ab") as file:
            file.write(text.encode())
    except OSError as error:
        raise KibitzError(
            f"{path}: {(error.strerror or str(error)).lower()}; make room, and the same command goes on"
        ) from None
