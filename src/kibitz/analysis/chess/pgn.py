"""Analysed games as PGN that other programs read: evaluations and expected moves in comments, and marks as NAGs."""

from __future__ import annotations

import math
import re

import chess
import chess.engine
import chess.pgn

from kibitz.analysis.chess.choices import Expected, ordinal, percent
from kibitz.analysis.chess.moves import MATE, STALEMATE, AnalysedGame
from kibitz.games.chess.io.exporter import Exporter
from kibitz.play.chess.score import STEEPNESS
from kibitz.systems import SYSTEMS

LEAST = 1e-4
"""Probabilities are kept this far from 0 and 1, so that no evaluation is beyond ±25.01 pawns."""

_NAGS = {"?!": chess.pgn.NAG_DUBIOUS_MOVE, "?": chess.pgn.NAG_MISTAKE, "??": chess.pgn.NAG_BLUNDER}
_OF_MOVES = set(range(chess.pgn.NAG_GOOD_MOVE, chess.pgn.NAG_DUBIOUS_MOVE + 1))


def centipawns(white: float) -> int:
    """White's probability of winning as an evaluation, by Lichess's formula turned round."""
    kept = min(max(white, LEAST), 1 - LEAST)
    return round(math.log(kept / (1 - kept)) / STEEPNESS)


_WORDS = re.compile(r"(?:\s/\s)?\bnet:\s\S+\s<?\d+%(?:,\s\S+\s<?\d+%)*;\splayed\s\d+[a-z]{2},\s<?\d+%")
"""Matches the text of `words`, so that a game can be annotated again."""
_OWN_MARK = re.compile(r"\s?\[%kibitz\s(\?[?!]?)\]")
"""Matches what says that a mark is ours. Other programs pass over commands that they do not know."""


def words(expected: Expected) -> str:
    """The expected moves as a comment: "net: Nf3 31%, d4 22%, c4 9%; played 4th, 5%"."""
    choices = ", ".join(f"{choice.san} {percent(choice.probability)}" for choice in expected.choices)
    return f"net: {choices}; played {ordinal(expected.rank)}, {percent(expected.probability)}"


def _beside(comment: str, ours: str) -> str:
    """A comment with our words at its end; where they are there, as it is."""
    there = comment.removesuffix(ours).removesuffix(" / ").strip()
    between = "" if not there else " " if there.endswith("]") else " / "
    return there + between + ours


def annotated(judged: AnalysedGame) -> str:
    """The game with comments after each move of the main line: `[%eval …]` (pawns, White's view) where the network says
    who wins, and then $6, $2, $4 for ?!, ? and ??; its choices in words where it says which moves it expects.

    Comments, variations and headers stay, and a move that somebody has judged ($1 to $6) keeps that judgement. What an
    analysis before has written is left out: its words, its evaluations and marks where there are others now. A mark of
    ours has `[%kibitz ?!]` in the comment, by which it is known then. After mate there is nothing to evaluate; a
    stalemate is 0.00. Where the probability is not that of winning, a comment before the first move says of what.
    """
    game = judged.record.game
    for declaration in SYSTEMS.values():
        if (note := declaration.meaning.note) and game.comment.endswith(f"net: {note}"):
            game.comment = game.comment.removesuffix(f"net: {note}").removesuffix(" / ")
    if judged.meaning.note and judged.white is not None:
        game.comment = _beside(game.comment, f"net: {judged.meaning.note}")
    for node, move in zip(game.mainline(), judged.moves, strict=True):
        node.comment = _WORDS.sub("", node.comment).strip()
        if judged.white is not None:
            node.nags -= {_NAGS[mark] for mark in _OWN_MARK.findall(node.comment)}
            node.comment = _OWN_MARK.sub("", node.comment).strip()
        if move.worth and move.mark != MATE:
            worth = 0 if move.mark == STALEMATE else centipawns(move.worth.after)
            node.set_eval(chess.engine.PovScore(chess.engine.Cp(worth), chess.WHITE))
        if move.sign in _NAGS and not node.nags & _OF_MOVES:
            node.nags.add(_NAGS[move.sign])
            node.comment = f"{node.comment} [%kibitz {move.sign}]".strip()
        if move.expected and move.expected.choices:
            node.comment = _beside(node.comment, words(move.expected))
    return game.accept(Exporter(columns=80)) + "\n\n"
