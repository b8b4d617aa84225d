"""The option --by-rating of `kibitz analyze`: a chart of the moves that players of different ratings choose in a
position.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from kibitz import records
from kibitz.commands.analyze.chess import PgnGames
from kibitz.commands.analyze.options import AnalyzeOptions
from kibitz.commands.pages import check_page
from kibitz.errors import KibitzError, UsageError
from kibitz.messages import note, warning

if TYPE_CHECKING:
    from kibitz.play.session import Session

_OTHERS = (
    "every", "player", "mine", "page", "pgn", "csv", "parquet", "swing", "rating", "raw", "practical", "checked_by",
    "nodes", "depth",
)  # fmt: skip
"""Options that apply only to the analysis of whole games."""


def analyze_by_rating(session: Session, run: str, path: str, options: AnalyzeOptions) -> None:
    """Write a chart of the moves that players of different ratings choose in one position of a game. Print these moves
    as text or JSON.

    session: the network. run: its name, as the user gave it. path: the file of the game. Raises UsageError for options
    that apply only to the analysis of whole games, and for a network without rating inputs. Raises KibitzError if the
    game can't be read or the chart can't be written.
    """
    from kibitz.analysis.chess.ratings import compares_ratings
    from kibitz.notebook import check_picture, chess_line, moves_by_rating_of

    assert options.by_rating is not None
    for name in _OTHERS:
        if options.given(name):
            word = {"every": "all"}.get(name, name.replace("_", "-"))
            raise UsageError(f"--by-rating is for one position, so it cannot be combined with --{word}. Leave one out.")
    if not compares_ratings(session):
        raise UsageError(
            f"--by-rating needs a network that predicts the moves of players of any rating (got {session.name}). Use"
            " the network 'human'."
        )
    target = Path(options.by_rating)
    check_picture(target)
    check_page(target, "--by-rating", [] if path == records.STDIN else [path])
    games = PgnGames(session, path, options)
    from kibitz.games.chess.io.reader import read

    with contextlib.closing(read(path, games.number)) as found:
        record = next((one for one in found), None)
    if record is None or record.refused:
        why = record.refused if record else "there is no such game"
        raise KibitzError(f"{games.name} game {games.number}: {why}. Choose another game with --game.")
    if record.problem:
        warning(f"{games.name} game {games.number}: {record.problem}. Only the moves before it are read.")
    moves = list(record.game.mainline_moves())
    ply = len(moves) if options.move is None else options.move
    if ply > len(moves):
        raise UsageError(f"--move must be from 0 to {len(moves)} in this game (got {ply})")
    board = record.game.board()
    for move in moves[:ply]:
        board.push(move)
    result = moves_by_rating_of(chess_line(board).with_headers(record.game.headers), board, run)
    result.save(target)
    if options.as_json:
        print(json.dumps({"run": run, "system": session.system, "ply": ply, **result.as_json()}, ensure_ascii=False))
    else:
        print(result.text)
    note(f"picture: {target}")
