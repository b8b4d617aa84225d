"""Write the results of an analysis into a PGN game: evaluations and reasons as comments, and annotations (?!, ?, ??) as
NAGs, the numeric codes of PGN.

`kibitz annotate` and the browser page of `kibitz board` write the results in the same form. The results of an earlier
analysis are replaced.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import chess
import chess.engine
import chess.pgn

from kibitz.analysis.summary import GameSummary
from kibitz.play.chess.score import STEEPNESS
from kibitz.systems import SYSTEMS

LEAST = 1e-4
"""The lower limit of a win probability in the notes. The upper limit is 1 − LEAST. So no evaluation is beyond ±25.01
pawns.
"""

_NAGS = {"?!": chess.pgn.NAG_DUBIOUS_MOVE, "?": chess.pgn.NAG_MISTAKE, "??": chess.pgn.NAG_BLUNDER}
_OF_MOVES = set(range(chess.pgn.NAG_GOOD_MOVE, chess.pgn.NAG_DUBIOUS_MOVE + 1))
_OWN_MARK = re.compile(r"\s?\[%kibitz\s(\?[?!]?)\]")
"""Matches the command that identifies an annotation as kibitz's. Other programs ignore unknown commands."""
_BEFORE = r"(?:^|(?<=\])\s|\s/\s)"
"""Matches what precedes kibitz's text in a comment: the start of the comment, a command in brackets, or the slash after
a user's text.
"""
_CHECKED = re.compile(_BEFORE + r"checked by:\s(?:(?!\s/\s)[^{}\[\]])*")
"""Matches the name of the engine that checked the moves. This name is in the comment before the first move."""
_REASON = re.compile(rf"(?:{_BEFORE}reason|(?:(?<=\])\s|\s/\s)better):\s(?:(?!\s/\s)[^{{}}\[\]])*")
"""Matches the text that gives the reason for an annotation of kibitz, and the text that gives the better move. A user's
comment may begin with "better:", so this text is only matched after a command or a slash.
"""


def centipawns(white: float) -> int:
    """Convert White's win probability, 0 to 1, to an evaluation in centipawns. The function is the inverse of the
    formula by which Lichess converts centipawns to win probabilities.
    """
    clipped = min(max(white, LEAST), 1 - LEAST)
    return round(math.log(clipped / (1 - clipped)) / STEEPNESS)


def beside(comment: str, ours: str) -> str:
    """Append kibitz's text `ours` to a comment, and return the result. A comment that already ends with `ours` is
    returned unchanged.
    """
    there = comment.removesuffix(ours).removesuffix(" / ").strip()
    between = "" if not there else " " if there.endswith("]") else " / "
    return there + between + ours


def note_game(game: chess.pgn.Game, meaning: str, checked_by: str, summary: GameSummary | None) -> None:
    """Write the results for the whole game into its headers and into the comment before the first move.

    meaning: a sentence for the comment that explains the evaluations if they aren't win probabilities; else "".
    checked_by: the engine that evaluated the moves, which the comment names; "" if there is none.
    summary: the players' accuracy, which becomes the headers `WhiteAccuracy` and `BlackAccuracy` in percent; None if it
        is unknown.
    """
    game.comment = _CHECKED.sub("", game.comment).strip()
    for declaration in SYSTEMS.values():
        if (note := declaration.meaning.note) and game.comment.endswith(f"net: {note}"):
            game.comment = game.comment.removesuffix(f"net: {note}").removesuffix(" / ")
    if meaning:
        game.comment = beside(game.comment, f"net: {meaning}")
    if summary:
        for side, one in summary.sides.items():
            if one.accuracy is not None:
                game.headers[f"{side.capitalize()}Accuracy"] = f"{one.accuracy * 100:.1f}"
    if checked_by:
        game.comment = beside(game.comment, f"checked by: {checked_by}")


def drop_mark(node: chess.pgn.ChildNode) -> None:
    """Remove the annotation that an earlier analysis by kibitz gave to a move. Also remove the reason for this
    annotation from the comment. All other annotations stay. node: the move in the game tree.
    """
    if own := _OWN_MARK.findall(node.comment):
        node.nags -= {_NAGS[mark] for mark in own}
        node.comment = _REASON.sub("", node.comment)
    node.comment = _OWN_MARK.sub("", node.comment).strip()


def unnamed(line: Sequence[str], san: str, reason: str) -> str:
    """Return the better move with the moves that are expected after it; "" if the reason names the better move, or if
    it is the played move.

    line: these moves in SAN; () if unknown. san: the played move in SAN. reason: why the move was bad, or "".
    """
    return " ".join(line) if line and line[0] != san and line[0] not in reason.replace(".", " ").split() else ""


def note_move(
    node: chess.pgn.ChildNode, score: chess.engine.Score | None, sign: str, reason: str, better: str = ""
) -> None:
    """Write the evaluation and the annotation of a move into the game.

    node: the move in the game tree.
    score: the evaluation from White's point of view; None for no evaluation.
    sign: the annotation ?!, ? or ??; any other text means no annotation.
    reason: why the move was bad; "" if the reason is unknown.
    better: the better move and the moves that are expected after it, in SAN; "" to write none.

    The command `[%kibitz ?!]` in the comment marks an annotation that kibitz wrote. If the move already has an
    annotation ($1 to $6), the function does not add one.
    """
    if score is not None:
        node.set_eval(chess.engine.PovScore(score, chess.WHITE))
    if sign in _NAGS and not node.nags & _OF_MOVES:
        node.nags.add(_NAGS[sign])
        node.comment = f"{node.comment} [%kibitz {sign}]".strip()
        if reason:
            node.comment = beside(node.comment, f"reason: {reason}")
        if better:
            node.comment = beside(node.comment, f"better: {better}")
