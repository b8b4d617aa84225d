"""Analyze a game of Go, move by move, with a network that predicts the owner of each point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis import OwnerAnalysis
from kibitz.analysis.glyphs import SIGNS, figure, mark
from kibitz.analysis.go.changes import SIDES, Change, changes, regions, where, words
from kibitz.analysis.go.predictions import NAMED, PositionPrediction, phases, predictions_of, terms_of, with_side_inputs
from kibitz.analysis.persons import person_of
from kibitz.analysis.summary import GameSummary, summarize
from kibitz.games.go.endings.final import FinalCount, count_board
from kibitz.games.go.io.headers import assumptions
from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, PASS, POINTS, WHITE, to_gtp
from kibitz.games.go.replay import colours_of, encode_board
from kibitz.games.go.rules import Illegal
from kibitz.games.go.sides import OPPONENT, RANK
from kibitz.play.go.ownership import (
    SWINGS,
    InGame,
    judge,
    outputs_of,
    spread,
    winrate,
    with_board_inputs,
)
from kibitz.play.session import Answers, NetworkSession, Session
from kibitz.text import rounded

if TYPE_CHECKING:
    from kibitz.analysis.checkers import CheckedBy
    from kibitz.analysis.go.better import Better, PointLoss
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.analysis.go.engine_values import EngineLoss, Valued
    from kibitz.games.go.io.sgf import Record

SURE = 0.75
"""The smallest probability, 0 to 1, with which a point is shown as the territory of a side."""
BATCH_SIZE = 512
"""The number of positions in a batch for the network."""
EXPECTED = 3
"""The number of most likely moves that are listed for a position."""
USUAL_NODES = 16
"""The number of visits of the search that finds the best line of a position."""
QUICK = -1
"""The value of the argument `nodes` with which `analyse` searches only moves that may be mistakes. Such an analysis is
faster and finds fewer mistakes.
"""


@dataclass(frozen=True)
class Score:
    """Black's lead in points under the rules of the game. Komi and handicap compensation are subtracted.

    lead: the expected lead. It is the network's output for the score. Without this output, it is the sum of 2p − 1 over
        the board, minus komi and handicap compensation. Here, p is the probability that a point belongs to Black.
    count: the lead if every point goes to its more likely owner, and every chain to one owner. It is None if many
        owners are still uncertain, see `is_settled`.
    """

    lead: float
    count: float | None


@dataclass(frozen=True)
class AnalysedPosition:
    """A position of a game, and the network's evaluation of it.

    ply: the number of moves before this position.
    size: the board size.
    colours: the color of the stone on each point, uint8 [361].
    black_owns: the probability that each point belongs to Black at the end of the game, float64 [361], 0 to 1.
    score: Black's lead.
    prediction: the predicted moves, winner and score; None if the network does not predict them.
    """

    ply: int
    size: int
    colours: NDArray[np.uint8]
    black_owns: NDArray[np.float64]
    score: Score
    prediction: PositionPrediction | None = None

    def signs(self) -> list[str]:
        """Return the board as text: one string for each row, from the top, with one character for each point.

        X and O are Black's and White's stones that will stay on the board. x and o are Black's and White's stones that
        will be lost. All stones of a chain have the same status. + and - are empty points that belong to Black and
        White with a probability of at least 0.75. A dot is any other empty point.
        """
        signs = np.full(POINTS, ".")
        empty = self.colours == NONE
        owns = owners_of_chains(self.colours, self.black_owns)
        signs[empty & (self.black_owns >= SURE)] = "+"
        signs[empty & (self.black_owns <= 1 - SURE)] = "-"
        for colour, stays, goes in ((BLACK, "X", "x"), (WHITE, "O", "o")):
            lost = (owns < 0.5) if colour == BLACK else (owns > 0.5)
            signs[self.colours == colour] = stays
            signs[(self.colours == colour) & lost] = goes
        return ["".join(row) for row in self.grid(signs)]

    @property
    def black_wins(self) -> float:
        """Black's win probability, 0 to 1. It is the network's output. If the network has no such output, it is
        computed from the lead and the uncertainty of the ownership map.
        """
        if self.prediction is not None:
            return self.prediction.black_wins
        return winrate(self.score.lead, spread(self.black_owns.astype(np.float32), self.size))

    @property
    def settled(self) -> bool:
        """Whether at least two thirds of the points belong to one of the players with a probability of at least 0.75.
        In other positions, `Score.count` would change strongly with every move.
        """
        return is_settled(self.colours, self.black_owns)

    def grid(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the points on this board, [size, size], from the values of all 361 points, [361]."""
        return values.reshape(GRID, GRID)[: self.size, : self.size]


@dataclass(frozen=True)
class Shift:
    """What a move changed on the board.

    changes: the chains and regions whose owner changes, the largest change first.
    part: the part of the board where the lead changed most, and this change in points for Black, see `changes.where`.
    size: the board size.
    gain: the change of Black's lead in points.
    """

    changes: list[Change]
    part: tuple[str, float]
    size: int
    gain: float

    def words(self) -> str:
        """Return a text about the gains of the side whose lead rose because of the move.

        The text is "" if the territory changed in favor of the other side. This can happen because the network predicts
        lead and territory separately.
        """
        return words(self.changes, self.part, self.size) if self.part[1] * self.gain > 0 else ""


@dataclass(frozen=True)
class Move:
    """A move of a game, and its evaluation.

    ply: the number of the move in the game, from 1.
    colour, point: the color of the mover, and the move as a point (row · 19 + column) or 361 for a pass.
    vertex: the move in GTP notation, such as "D4".
    before, after: Black's lead before and after the move. If searches evaluated the move, `before` is the lead after
        the best move.
    change: the change of the mover's lead in points, negative for a loss. If searches evaluated the move, it is at most
        0.
    mark: the annotation: "?!", "?", "??", "↑" or "".
    """

    ply: int  # the move's number in the game, from 1
    colour: int
    point: int
    vertex: str
    before: Score
    after: Score
    change: float
    mark: str  # annotation: ?!, ?, ??, ↑ or nothing, see `marks.mark`
    size: int
    shift: Shift | None = None  # what changed, for annotated moves
    prediction: PositionPrediction | None = None  # predictions for the position before the move
    better: Better | None = None  # the better move, found by searches, for annotated moves
    predicted: bool = True  # whether the network predicts this player's moves: one of a person only that person's

    @property
    def side(self) -> str:
        """The mover, "black" or "white"."""
        return SIDES[self.colour]

    @property
    def explanations(self) -> list[str]:
        """At most two texts about an annotated move. The first text is the reason or, without a proven reason, the
        better move and how many points it gains. The second text describes the points whose owner changed.
        """
        better, shift = self.better, self.shift
        texts = [(better.why.text() if better.why else better.words(self.size))] if better else []
        return texts + ([shift.words()] if shift and shift.words() else [])

    def as_json(self) -> dict[str, Any]:
        shift = self.shift
        words = {"words": shift.words(), "changes": [c.as_json(shift.size) for c in shift.changes]} if shift else {}
        return {
            "ply": self.ply,
            "side": self.side,
            "vertex": self.vertex,
            "before": rounded(self.before.lead, 2),
            "after": rounded(self.after.lead, 2),
            "count": self.after.count,
            "change": rounded(self.change, 2),
            "mark": self.mark,
            **self._expected(),
            **words,
            **self._better(),
        }

    def _better(self) -> dict[str, Any]:
        """Describe the better move for an annotated move, and the reason."""
        if self.better is None:
            return {}
        return {"better": self.better.as_json(self.size), "reason": self.better.why and self.better.why.as_json()}

    def _likely(self, prediction: PositionPrediction) -> dict[str, Any]:
        return {
            "probability": round(float(prediction.policy[self.point]), 4),
            "expected": [
                {"vertex": to_gtp(point, self.size), "probability": round(chance, 4)}
                for point, chance in prediction.likely(EXPECTED)
            ],
        }

    def _expected(self) -> dict[str, Any]:
        """Return Black's win probability before the move, the move's probability, and the most likely moves."""
        if self.prediction is None:
            return {}
        return {
            "black_wins": round(self.prediction.black_wins, 4),
            **(
                {}
                if self.prediction.between_ranks is None
                else {"black_wins_between_ranks": round(self.prediction.between_ranks, 4)}
            ),
            **(self._likely(self.prediction) if self.predicted else {}),
            **({"line": [to_gtp(point, self.size) for point in self.prediction.line]} if self.prediction.line else {}),
        }


@dataclass(frozen=True)
class AnalysedGame:
    """A game of Go, and the evaluations of its moves and of its positions, from the start to the end.

    number: the game's number in its file, from 1.
    swing: the smallest annotated change, in points.
    problem: why the analysis ends before the last move of the record; None if it covers all moves.
    checked_by: the engine that evaluated the moves; None if the network evaluated them.
    note: for the network of a person: whose moves it predicts, and whether it was trained on the game; else "".
    """

    number: int
    record: Record
    positions: list[AnalysedPosition]
    moves: list[Move]
    swing: float
    problem: str | None = None
    checked_by: CheckedBy | None = None
    note: str = ""

    @property
    def assumed(self) -> list[str]:
        """The facts that are missing in the record, such as komi. Each text names one fact and the value that kibitz
        assumes for it.
        """
        record = self.record
        return assumptions(record.headers, record.komi, record.rules, record.handicap)

    @property
    def swings(self) -> list[Move]:
        """The moves with an annotation such as "?" or "↑" (see `Move.mark`), the largest change of the lead first."""
        return sorted((move for move in self.moves if move.mark), key=lambda move: -abs(move.change))

    @property
    def phases(self) -> list[dict[str, Any]]:
        """The losses of each side in each phase of the game, see `predictions.phases`; [] if the network predicts no
        score.
        """
        return phases(self.moves, self.record.size) if self.positions[0].prediction else []

    def boards(self, ply: int | None) -> list[AnalysedPosition]:
        """Return the positions that the output shows.

        If `ply` is a number, the result is one position: the position after `ply` moves, or the last position if the
        game has fewer moves. If `ply` is None, the result is the last position and, if a move is annotated, also the
        position after the move with the largest change.
        """
        last = len(self.moves)
        if ply is not None:
            return [self.positions[min(ply, last)]]
        plies = {last} | ({self.swings[0].ply} if self.swings else set())
        return [self.positions[ply] for ply in sorted(plies)]

    def average_loss(self, colour: int) -> tuple[float | None, int]:
        """Return two values for one color: the mean loss per move in points, and the number of this color's moves. The
        mean is None if the number is 0. A gain counts as a loss of 0. colour: 1 for Black or 2 for White.
        """
        losses = [max(0.0, -move.change) for move in self.moves if move.colour == colour]
        return (sum(losses) / len(losses) if losses else None), len(losses)

    @property
    def summary(self) -> GameSummary:
        """The accuracy, the annotations and the mean loss in points of each side, and the turning point of the game."""
        values = [one.black_wins for one in self.positions]
        movers, signs = [move.side for move in self.moves], [move.mark for move in self.moves]
        losses = [max(0.0, -move.change) for move in self.moves]
        leads = [one.score.lead for one in self.positions]
        return summarize((SIDES[BLACK], SIDES[WHITE]), values, movers, losses, signs, in_points=True, leads=leads)

    def as_json(self, ply: int | None = None, owners: bool = False) -> dict[str, Any]:
        """Return the game as a dict for JSON.

        ply: the number of moves before the position whose board is included; None for the positions that `boards`
            selects.
        owners: whether to include the ownership maps. They are the probability that each point belongs to Black in each
            position, as one list for each row of the board.
        """
        from kibitz.analysis.go.ending import end_notes  # imported here because it imports this module

        record, start = self.record, self.positions[0].score
        found: dict[str, Any] = {
            "number": self.number,
            "headers": dict(record.headers),
            "size": record.size,
            "komi": record.komi,
            "result": record.headers.get("RE", "?"),
            "problem": self.problem,
            **({"checked_by": self.checked_by.as_json()} if self.checked_by else {}),
            **({"note": self.note} if self.note else {}),
            "start": {"lead": rounded(start.lead, 2), "count": start.count},
            "moves": [move.as_json() for move in self.moves],
            "swing": self.swing,
            "swings": [move.as_json() for move in self.swings],
            "average_loss": {side: figure(*self.average_loss(colour)) for colour, side in SIDES.items()},
            "summary": self.summary.as_json(),
            "boards": [
                {"ply": one.ply, "lead": rounded(one.score.lead, 2), "count": one.score.count, "rows": one.signs()}
                for one in self.boards(ply)
            ],
        }
        if notes := end_notes(self):
            found["end_notes"] = notes
        if self.phases:
            found["phases"] = self.phases
        if owners:
            found["black_owns"] = [one.grid(one.black_owns).round(2).tolist() for one in self.positions]
        return found


def analyse(
    number: int,
    record: Record,
    session: Session,
    analysis: OwnerAnalysis,
    swing: float | None = None,
    nodes: int | None = None,
    steadied: bool = False,
    engine: GoEngineJudge | None = None,
) -> AnalysedGame:
    """Return the analyzed game. The network evaluates every position.

    number: the game's number in its file, from 1. session: the loaded network. analysis: the module that interprets the
    network's outputs. swing: the smallest annotated change, in points; None for the default of the board size.
    nodes: the number of visits in a search of each position, for networks that predict moves and score. The search
        gives the lead, the win probability and the best line. None: a search with 16 visits gives only the best line.
        0: no search. QUICK (−1): a search only for moves that may be mistakes.
    steadied: whether to combine evaluations with Black and with White to move, see `play.go.ownership.judge`.
    engine: an external engine that evaluates each position instead of a search. It gives the lead, the best line and,
        if it reports them, the win probability and the ownership map.

    If two passes ended the game, the final position is scored, and these passes cost nothing. The analysis ends before
    the first illegal move, and the result's `problem` gives the reason.
    """
    swing = swing or SWINGS[record.size]
    codes, state, problem, final = _played(record)
    record = replace(record, moves=record.moves[: len(codes) - 1])
    names_score = set(outputs_of(session)) >= NAMED
    terms = terms_of(record)
    judged = judge(session, terms) if steadied else InGame(session, terms.komi)
    plain = with_board_inputs(state, session.side_inputs, terms)
    answers = _evaluated(judged, codes, plain)
    owns = analysis.black_owns(answers)
    named = predictions_of(answers, state)
    if named and session.side_inputs:
        named = _between_ranks(named, record, session, codes, state)
    passes = _closing_passes(record) if final is not None else 0
    lost: list[PointLoss | None] = [None] * len(record.moves)
    checked, losses = _by_engine(engine, session, record) if engine else ([], [])
    if checked:
        owns = np.stack([own if one.owners is None else one.owners for one, own in zip(checked, owns, strict=True)])
        named = [
            replace(one, lead=other.lead, black_wins=other.black, line=other.line)
            for one, other in zip(named, checked, strict=False)
        ]
    elif names_score and nodes != 0:
        named, short, owns = _searched(record, session, named, nodes, owns)
        lost[:] = _judged(record, session, short, nodes or 0, swing, len(codes) - 1 - passes)
    if final is not None:
        first = len(codes) - passes
        owns[first - 1 :] = final.black_owns
        named[first - 1 :] = [
            replace(one, lead=final.lead, black_wins=final.black_wins, line=()) for one in named[first - 1 :]
        ]
    positions = _positions(record.size, codes, owns, named, checked, terms.margin)
    if final is not None:
        counted = Score(final.lead, final.lead)
        positions[first - 1 :] = [replace(one, score=counted) for one in positions[first - 1 :]]
    by_engine: list[EngineLoss | None] = [*losses] or [None] * len(record.moves)
    moves = [_move(i, point, record, positions, swing, lost[i], by_engine[i]) for i, point in enumerate(record.moves)]
    if losses and names_score:
        moves = _explained(
            moves, record, session, [replace(one, line=lost.line) for one, lost in zip(named, losses, strict=False)]
        )
    checked_by = engine.checked_by if engine else None
    players = [record.headers.get(name, "") for name in ("PB", "PW")]
    who = person_of(session, players, np.array(record.moves, np.uint16))
    moves = [replace(move, predicted=who.sides[move.colour != BLACK]) for move in moves]
    return AnalysedGame(number, record, positions, moves, swing, problem or record.problem, checked_by, who.note)


def _positions(
    size: int, codes: NDArray[np.uint8], owns: NDArray[np.float64], named: Sequence[PositionPrediction],
    checked: Sequence[Valued], margin: float,
) -> list[AnalysedPosition]:  # fmt: skip
    """Return the positions of a game with their scores. checked: an engine's values, whose leads replace the scores; []
    without an engine. The other arguments are those of `score`.
    """
    predictions: list[PositionPrediction | None] = [*named] or [None] * len(codes)
    positions = [
        AnalysedPosition(i, size, colours, owns[i], score(colours, owns[i], margin, predictions[i]), predictions[i])
        for i, colours in enumerate(colours_of(codes))
    ]
    return [
        replace(one, score=replace(one.score, lead=other.lead)) for one, other in zip(positions, checked, strict=False)
    ] or positions


def _by_engine(engine: GoEngineJudge, session: Session, record: Record) -> tuple[list[Valued], list[EngineLoss]]:
    """Return an engine's value of each position, and what each move lost."""
    from kibitz.analysis.go.engine_values import ValuesByEngine  # imported here because it loads the search

    values = ValuesByEngine(engine, session, record, terms_of(record), engine.judge(record))
    plies = range(len(record.moves) + 1)
    return [values.at(ply) for ply in plies], [values.lost(ply) for ply in plies[1:]]


def _evaluated(network: NetworkSession, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
    parts = [
        network.evaluate(codes[start : start + BATCH_SIZE], state[start : start + BATCH_SIZE])
        for start in range(0, len(codes), BATCH_SIZE)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _between_ranks(
    named: list[PositionPrediction],
    record: Record,
    session: Session,
    codes: NDArray[np.uint8],
    state: NDArray[np.uint8],
) -> list[PositionPrediction]:
    """Add the likely moves of players of the recorded ranks, and the win probability between such players."""
    full = with_side_inputs(record, state)
    rated = bool(full[:, RANK].any() or full[:, OPPONENT].any() or record.handicap > 1)
    players = predictions_of(_evaluated(InGame(session, terms_of(record).komi), codes, full), state)
    return [
        replace(one, policy=other.policy, between_ranks=other.black_wins if rated else None)
        for one, other in zip(named, players, strict=True)
    ]


def _closing_passes(record: Record) -> int:
    """Return the number of passes at the end of the moves."""
    return next((i for i, point in enumerate(reversed(record.moves)) if point != PASS), len(record.moves))


def score(
    colours: NDArray[np.uint8],
    black_owns: NDArray[np.float64],
    margin: float,
    predictions: PositionPrediction | None = None,
) -> Score:
    """Return Black's lead in a position. It comes from the network's output for the score or, without this output, from
    the predicted territory.

    colours: the color of the stone on each point, uint8 [361].
    black_owns: the probability that each point belongs to Black, float64 [361].
    margin: the number of points that is subtracted from Black's lead by area, such as komi (see `Terms.margin`).
    predictions: the network's predictions of moves, winner and score; None for a network without these outputs.
    """
    inside = black_owns[colours != OUTSIDE]
    lead = predictions.lead if predictions else float((2 * inside - 1).sum()) - margin
    count = None
    if is_settled(colours, black_owns):
        owners = owners_of_chains(colours, black_owns)[colours != OUTSIDE]
        count = float(np.sign(owners - 0.5).sum()) - margin
    return Score(lead, count)


def owners_of_chains(colours: NDArray[np.uint8], black_owns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that each point belongs to Black, float64 [361], with one value for all stones of a chain:
    the mean over the chain. The stones of a chain live or die together.

    colours: the color of the stone on each point, uint8 [361]. black_owns: the probability that each point belongs to
    Black, float64 [361].
    """
    owns = black_owns.copy()
    for chain in regions(np.flatnonzero((colours == BLACK) | (colours == WHITE)), colours):
        owns[chain] = black_owns[chain].mean()
    return owns


def is_settled(colours: NDArray[np.uint8], black_owns: NDArray[np.float64]) -> bool:
    """Return whether at least two thirds of a board's points belong to one of the players with a probability of at
    least 0.75.

    colours: the color of the stone on each point, uint8 [361]. black_owns: the probability that each point belongs to
    Black, float64 [361].
    """
    inside = black_owns[colours != OUTSIDE]
    return 3 * int(((inside >= SURE) | (inside <= 1 - SURE)).sum()) >= 2 * len(inside)


def colour_of(record: Record, ply: int) -> int:
    """Return the color of the player of a move, 1 for Black or 2 for White. ply: the number of the move in the record,
    from 1.
    """
    return record.side if ply % 2 else 3 - record.side


def _played(record: Record) -> tuple[NDArray[np.uint8], NDArray[np.uint8], str | None, FinalCount | None]:
    """Return codes, uint8 [n + 1, 361], and state, uint8 [n + 1, 4], of the legal part of the game.

    Also return why this part ends early, and the final score if two passes end the game.
    """
    board = record.board(0)
    rows = [encode_board(board)]
    problem = None
    for ply, point in enumerate(record.moves, 1):
        try:
            board.play(colour_of(record, ply), point)
        except Illegal as error:
            problem = f"move {ply}, {to_gtp(point, record.size)}, is illegal ({error})"
            break
        rows.append(encode_board(board))
    final = None
    if problem is None and board.passes >= 2:
        terms = terms_of(record)
        final = count_board(board, terms.komi, terms.territory)
    codes, state = (np.stack(part) for part in zip(*rows, strict=True))
    return codes, state, problem, final


def _searched(
    record: Record, session: Session, named: list[PositionPrediction], nodes: int | None, owns: NDArray[np.float64]
) -> tuple[list[PositionPrediction], list[PositionPrediction], NDArray[np.float64]]:
    """Return three results: the predictions with the best lines, the predictions that show which moves are suspicious,
    and the ownership maps, float64 [n, 361].

    nodes: see `analyse`; not 0. owns: the ownership maps without a search, float64 [n, 361].
    """
    from kibitz.analysis.go import searched  # imported here because it loads the search

    if nodes == QUICK:
        named = [replace(one, line=(one.likely(1)[0][0],)) for one in named]
        return named, named, owns
    if nodes is None:
        short = searched.with_lines(record, session, named, USUAL_NODES)
        return [replace(one, line=other.line) for one, other in zip(named, short, strict=True)], short, owns
    named, owns = searched.with_values(record, session, named, nodes)
    return named, named, owns


def _judged(
    record: Record, session: Session, predictions: list[PositionPrediction], nodes: int, swing: float, last: int
) -> list[PointLoss]:
    """Return what each move lost, found by searches. predictions: the results of short searches. last: see
    `better.judge`.
    """
    from kibitz.analysis.go import better, searched  # imported here because they load the search
    from kibitz.play.go.value import VISITS

    def search(visits: int) -> better.Search:
        return searched.searching(session, terms_of(record), max(nodes, visits))

    longer = None if nodes == QUICK else search(better.LONG_VISITS)
    return better.judge(record, predictions, search(VISITS), swing, last, longer)


def _explained(
    moves: list[Move], record: Record, session: Session, predictions: list[PositionPrediction]
) -> list[Move]:
    """Add the better move to each move that an engine annotates. predictions: the engine's results, whose best moves
    are used.
    """
    from kibitz.analysis.go import better, searched  # imported here because they load the search
    from kibitz.play.go.value import VISITS

    search, found = searched.searching(session, terms_of(record), VISITS), []
    for move, (one, board) in zip(moves, searched.boards(record, predictions), strict=False):
        if move.mark in SIGNS and one.line:
            move = replace(move, better=better.find_better(board, move.point, search, best=one.line[0]))
        found.append(move)
    return found


def _move(
    i: int, point: int, record: Record, positions: list[AnalysedPosition], swing: float, lost: PointLoss | None,
    by_engine: EngineLoss | None,
) -> Move:  # fmt: skip
    before, after = positions[i], positions[i + 1]
    colour = colour_of(record, i + 1)
    if lost is not None:
        lead = after.score.lead + lost.points * (1 if colour == BLACK else -1)
        before = replace(before, score=replace(before.score, lead=lead))
    gain = after.score.lead - before.score.lead
    change = gain if colour == BLACK else -gain
    prediction = before.prediction
    if by_engine is not None:
        change = 0.0 - by_engine.points
        prediction = replace(prediction, line=by_engine.line) if prediction and prediction.line else prediction
    sign, shift = mark(change, swing), None
    if sign:
        found = changes(before.colours, before.black_owns, after.black_owns)
        shift = Shift(found, where(before.black_owns, after.black_owns, record.size), record.size, gain)
    return Move(
        i + 1,
        colour,
        point,
        to_gtp(point, record.size),
        before.score,
        after.score,
        change,
        sign,
        record.size,
        shift,
        prediction,
        lost.better if sign and lost else None,
    )
