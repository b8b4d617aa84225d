"""Write analyzed games as PGN for other programs. Comments contain evaluations and likely moves, and NAGs (numeric
codes of PGN) contain annotations such as ??.
"""

from __future__ import annotations

import re

import chess.engine

from kibitz.analysis.chess.choices import Expected, ordinal, percent
from kibitz.analysis.chess.moves import MATE, STALEMATE, AnalysedGame, Move, Worth
from kibitz.analysis.chess.notes import beside, centipawns, drop_mark, note_game, note_move, unnamed
from kibitz.games.chess.io.exporter import Exporter

_WORDS = re.compile(r"(?:\s/\s)?\bnet:\s\S+\s<?\d+%(?:,\s\S+\s<?\d+%)*;\splayed\s\d+[a-z]{2},\s<?\d+%")
"""Matches the text of `words`, so that a game can be annotated again."""


def words(expected: Expected) -> str:
    """Format the most likely moves and the rank of the played move as a comment, such as "net: Nf3 31%, d4 22%, c4 9%;
    played 4th, 5%".
    """
    choices = ", ".join(f"{choice.san} {percent(choice.probability)}" for choice in expected.choices)
    return f"net: {choices}; played {ordinal(expected.rank)}, {percent(expected.probability)}"


def _score(worth: Worth, mark: str) -> chess.engine.Score:
    if worth.mate is not None:
        return chess.engine.Mate(worth.mate)
    return chess.engine.Cp(0 if mark == STALEMATE else centipawns(worth.after))


def _better(move: Move, reason: str) -> str:
    """Return the better move with the moves that a search expects after it, in SAN; "" if the reason names it or if no
    search found one.
    """
    return unnamed(move.judged.line if move.judged else (), move.san, reason)


def annotated(judged: AnalysedGame) -> str:
    """Return an analyzed game as PGN, with comments after the moves of the main line.

    If the network predicts the winner, the comments contain `[%eval …]` in pawns, from White's point of view. If an
    engine found a mate, the command contains the number of moves, such as `[%eval #-3]`. After mate there is no
    evaluation; after stalemate it is 0.00.

    A mistake gets a NAG: $6 for ?!, $2 for ?, $4 for ??. Its comment gets a command such as `[%kibitz ?!]`, which shows
    that kibitz wrote the annotation. If the reason for the annotation is known, the comment also contains the reason.
    If no reason names the better move, the comment contains the better line after "better:".
    If the network predicts moves, the comments also contain its most likely moves as text.

    The comment before the first move names the engine that evaluated the moves, if an engine did. It also explains the
    evaluations if they aren't win probabilities but, for example, expected scores. If moves are evaluated by search,
    the headers `WhiteAccuracy` and `BlackAccuracy` contain the players' accuracy in percent.

    The results of an earlier analysis are replaced. All other comments, variations and headers stay. If a move already
    has an annotation ($1 to $6) from someone else, kibitz does not add one.
    """
    game = judged.record.game
    meaning = judged.meaning.note if judged.white is not None else ""
    note_game(game, meaning or "", judged.checked_by.words() if judged.checked_by else "", judged.summary)
    for node, move in zip(game.mainline(), judged.moves, strict=True):
        node.comment = _WORDS.sub("", node.comment).strip()
        if judged.white is not None:
            drop_mark(node)
        score = _score(move.worth, move.mark) if move.worth and move.mark != MATE else None
        reason = move.reason.text() if move.reason else ""
        note_move(node, score, move.sign, reason, _better(move, reason))
        if move.expected and move.expected.choices:
            node.comment = beside(node.comment, words(move.expected))
    return game.accept(Exporter(columns=80)) + "\n\n"
