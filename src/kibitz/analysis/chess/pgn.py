"""Write analyzed games as PGN for other programs: evaluations and expected moves in comments, annotations as NAGs."""

from __future__ import annotations

import math
import re

import chess
import chess.engine
import chess.pgn

from kibitz.analysis.chess.choices import Expected, ordinal, percent
from kibitz.analysis.chess.moves import MATE, STALEMATE, AnalysedGame, Worth
from kibitz.games.chess.io.exporter import Exporter
from kibitz.play.chess.score import STEEPNESS
from kibitz.systems import SYSTEMS

LEAST = 1e-4
"""The smallest distance of probabilities from 0 and 1, so that no evaluation is beyond ±25.01 pawns."""

_NAGS = {"?!": chess.pgn.NAG_DUBIOUS_MOVE, "?": chess.pgn.NAG_MISTAKE, "??": chess.pgn.NAG_BLUNDER}
_OF_MOVES = set(range(chess.pgn.NAG_GOOD_MOVE, chess.pgn.NAG_DUBIOUS_MOVE + 1))


def centipawns(white: float) -> int:
    """Return White's win probability as centipawns, by the inverse of Lichess's formula."""
    kept = min(max(white, LEAST), 1 - LEAST)
    return round(math.log(kept / (1 - kept)) / STEEPNESS)


_WORDS = re.compile(r"(?:\s/\s)?\bnet:\s\S+\s<?\d+%(?:,\s\S+\s<?\d+%)*;\splayed\s\d+[a-z]{2},\s<?\d+%")
"""Matches the text of `words`, so that a game can be annotated again."""
_OWN_MARK = re.compile(r"\s?\[%kibitz\s(\?[?!]?)\]")
"""Matches the command that identifies an annotation as kibitz's. Other programs ignore unknown commands."""
_CHECKED = re.compile(r"(?:\s/\s)?\bchecked by:\s(?:(?!\s/\s)[^{}\[\]])*")
"""Matches the engine that checked the moves, before the first move."""
_REASON = re.compile(r"(?:\s/\s)?\breason:\s(?:(?!\s/\s)[^{}\[\]])*")
"""Matches the reason of an annotation of kibitz."""


def words(expected: Expected) -> str:
    """Return the expected moves as a comment: "net: Nf3 31%, d4 22%, c4 9%; played 4th, 5%"."""
    choices = ", ".join(f"{choice.san} {percent(choice.probability)}" for choice in expected.choices)
    return f"net: {choices}; played {ordinal(expected.rank)}, {percent(expected.probability)}"


def _beside(comment: str, ours: str) -> str:
    """Return a comment with kibitz's text at its end; unchanged if the text is already there."""
    there = comment.removesuffix(ours).removesuffix(" / ").strip()
    between = "" if not there else " " if there.endswith("]") else " / "
    return there + between + ours


def _score(worth: Worth, mark: str) -> chess.engine.Score:
    if worth.mate is not None:
        return chess.engine.Mate(worth.mate)
    return chess.engine.Cp(0 if mark == STALEMATE else centipawns(worth.after))


def annotated(judged: AnalysedGame) -> str:
    """Return the game with comments after each move of the main line.

    If the network predicts the winner, they have `[%eval …]` (pawns, White's view), and $6, $2, $4 for ?!, ? and ??,
    with the reason of the mistake as text. If it predicts moves, they have its choices as text. Comments, variations
    and headers stay, and a move that somebody has annotated ($1 to $6) keeps its annotation. The text, evaluations and
    annotations of an earlier analysis are replaced; `[%kibitz ?!]` in the comment identifies kibitz's annotation. After
    mate there is no evaluation; a stalemate is 0.00. If the probability isn't a win probability, a comment before the
    first move explains it. It also names the engine that checked the moves, if there is one. If moves are judged, the
    headers `WhiteAccuracy` and `BlackAccuracy` are the players' accuracy in percent.
    """
    game = judged.record.game
    game.comment = _CHECKED.sub("", game.comment).strip()
    for declaration in SYSTEMS.values():
        if (note := declaration.meaning.note) and game.comment.endswith(f"net: {note}"):
            game.comment = game.comment.removesuffix(f"net: {note}").removesuffix(" / ")
    if judged.meaning.note and judged.white is not None:
        game.comment = _beside(game.comment, f"net: {judged.meaning.note}")
    if summary := judged.summary:
        for side, one in summary.sides.items():
            name = f"{side.capitalize()}Accuracy"
            if one.accuracy is not None:
                game.headers[name] = f"{one.accuracy * 100:.1f}"
    if judged.checked_by:
        game.comment = _beside(game.comment, f"checked by: {judged.checked_by.words()}")
    for node, move in zip(game.mainline(), judged.moves, strict=True):
        node.comment = _WORDS.sub("", node.comment).strip()
        if judged.white is not None:
            if own := _OWN_MARK.findall(node.comment):
                node.nags -= {_NAGS[mark] for mark in own}
                node.comment = _REASON.sub("", node.comment)
            node.comment = _OWN_MARK.sub("", node.comment).strip()
        if move.worth and move.mark != MATE:
            node.set_eval(chess.engine.PovScore(_score(move.worth, move.mark), chess.WHITE))
        if move.sign in _NAGS and not node.nags & _OF_MOVES:
            node.nags.add(_NAGS[move.sign])
            node.comment = f"{node.comment} [%kibitz {move.sign}]".strip()
            if move.reason:
                node.comment = _beside(node.comment, f"reason: {move.reason.text()}")
        if move.expected and move.expected.choices:
            node.comment = _beside(node.comment, words(move.expected))
    return game.accept(Exporter(columns=80)) + "\n\n"
