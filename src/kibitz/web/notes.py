"""The analysis of a game that the browser page of `kibitz board` sends: win probabilities, annotations, and the reasons
why moves were bad. This module reads the analysis from a request, so that it can be written into PGN or SGF.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kibitz.web import game_tree
from kibitz.web.params import BadRequest, Fields, an_object, choice, number, text, whole, words
from kibitz.web.summary import MAX_MOVES, MOST_LEAD, summarized

if TYPE_CHECKING:
    from kibitz.analysis.summary import GameSummary

MARKS = ("", "?!", "?", "??")
LANGUAGE = "en"
"""The language code of the sentences if a request has none."""
MOST_NODES = 10**12
MOST_MATE = 1000
MOST_LINE = 500
MOST_TEXT = 1000
"""The largest number of characters of one sentence."""


@dataclass(frozen=True)
class Note:
    """The evaluation of a move, and of the position after it.

    value: the win probability, 0 to 1, of White in chess and of Black in Go; None if unknown.
    lead: Black's lead in points; None if unknown, and always in chess.
    mark: the annotation of the move: "?!", "?", "??", or "" for none.
    loss: the win probability that the move lost for the player who made it, 0 to 1.
    points: the points that the move lost; None if unknown, and always in chess.
    best: the name of the best move; "" if unknown.
    reasons: a dict from language codes to the reason why an annotated move was bad; {} if unknown.
    mate: the number of moves to a mate, negative if Black mates; 0 if no mate is known.
    line: the names of the best move and of the moves that are expected after it; () if unknown.
    """

    value: float | None
    lead: float | None
    mark: str
    loss: float
    points: float | None
    best: str
    reasons: dict[str, str]
    mate: int = 0
    line: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notes:
    """The analysis of a whole game, which the browser page of `kibitz board` sends.

    meaning: the meaning of the values if they are not win probabilities, else "".
    checked_by: the engine that evaluated the moves, with its limits; "" if the network did.
    language: the language code of the sentences to write.
    summary: the summary of the game; None if not all of its moves are evaluated.
    movers: the side of each move; [] without a summary.
    moves: a dict from the index of a node in the tree of moves to the evaluation of its move.
    """

    meaning: str
    checked_by: str
    language: str
    summary: GameSummary | None
    movers: list[str]
    moves: dict[int, Note]

    def reason(self, index: int) -> str:
        """Return why a move was bad, in the language of the notes; "" if the reason is unknown. index: the index of the
        move's node in the tree.
        """
        reasons = self.moves[index].reasons
        return reasons.get(self.language) or reasons.get(LANGUAGE, "")


def read_notes(fields: Fields, tree: list[game_tree.Written], game: str) -> Notes | None:
    """Return the analysis of a game in a request; None if the request has no field "analysis". Raises BadRequest if the
    analysis is malformed.

    fields: the JSON of the request. "analysis" is an object that may have these fields:
        meaning, language: strings, see `Notes`.
        checked_by: the engine that evaluated the moves, an object with "engine", "nodes" and "depth".
        summary: an object with the fields of a request to /api/summary.
    tree: the nodes of the game. The field "judged" of a node, if it exists, has the evaluation of the node's move.
    game: "chess" or "go".
    """
    if fields.get("analysis") is None:
        return None
    analysis = an_object(fields["analysis"], "analysis")
    summary = None if analysis.get("summary") is None else an_object(analysis["summary"], "summary")
    return Notes(
        _sentence(text(analysis, "meaning", "")),
        _checked_by(analysis, game),
        text(analysis, "language", LANGUAGE),
        None if summary is None else summarized(summary),
        [] if summary is None else words(summary, "movers", MAX_MOVES),
        {
            index: _note(an_object(written.fields["judged"], "judged"))
            for index, written in enumerate(tree)
            if written.fields.get("judged") is not None
        },
    )


def _note(fields: Fields) -> Note:
    reasons = game_tree.texts(fields, "reasons")
    return Note(
        number(fields, "value", None, 0, 1),
        number(fields, "lead", None, -MOST_LEAD, MOST_LEAD),
        choice(fields, "mark", MARKS, ""),
        number(fields, "loss", 0.0, 0, 1) or 0.0,
        number(fields, "points", None, 0, MOST_LEAD),
        _sentence(text(fields, "best", "")),
        {language: _sentence(words) for language, words in reasons.items()},
        whole(fields, "mate", 0, -MOST_MATE, MOST_MATE),
        tuple(words(fields, "line", MOST_LINE)),
    )


def _checked_by(analysis: Fields, game: str) -> str:
    from kibitz.analysis.checkers import CheckedBy

    if analysis.get("checked_by") is None:
        return ""
    by = an_object(analysis["checked_by"], "checked_by")
    nodes, depth = (None if by.get(name) is None else whole(by, name, 0, 0, MOST_NODES) for name in ("nodes", "depth"))
    return CheckedBy(_sentence(text(by, "engine")), nodes, depth, game == "go").words()


def _sentence(words: str) -> str:
    """Return a text on one line, without the brackets that end comments and commands. Raises BadRequest."""
    if len(words) > MOST_TEXT:
        raise BadRequest(f"a sentence must have at most {MOST_TEXT:,} characters (got {len(words):,})")
    return " ".join(words.translate(str.maketrans("{}[]", "()()")).split())
