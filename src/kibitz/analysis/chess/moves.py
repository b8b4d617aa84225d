"""Analyze a chess game with a network, move by move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import chess
import chess.pgn
import numpy as np
from numpy.typing import NDArray

from kibitz.analysis import Analysis
from kibitz.analysis.checkers import CheckedBy
from kibitz.analysis.chess.choices import SHOWN, Expected, expected
from kibitz.analysis.chess.judging import Judge, Judgement
from kibitz.analysis.chess.practical import Practical
from kibitz.analysis.chess.ratings import OPPONENT, RATING, UNIT, add_side_inputs, compares_ratings, ratings_of
from kibitz.analysis.chess.reasons import DEPTH as EXPLAINED
from kibitz.analysis.chess.reasons import Case, Found, Reason, explain
from kibitz.analysis.chess.risk import RISK_RATINGS, risk
from kibitz.analysis.glyphs import SIGNS, figure, mark
from kibitz.analysis.persons import PersonInGame, person_of
from kibitz.analysis.summary import GameSummary, summarize
from kibitz.games.chess.io.reader import Record
from kibitz.games.chess.material import PHASES, phase
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import SIDE, SQUARES, encode_board
from kibitz.play.session import STATE, Session
from kibitz.systems import find
from kibitz.systems.declaration import Meaning
from kibitz.text import rounded

MATE, STALEMATE = "#", "½"
"""The annotations of a move that ended the game by mate or stalemate. All other annotations are in analysis/glyphs.py.
"""
SIDES = ("white", "black")
TOGETHER = 512
"""The number of positions in a batch for the network. It is limited because the outputs are large, and a game may have
any number of moves.
"""


@dataclass(frozen=True)
class Worth:
    """How much a move changed the win probability.

    before, after: White's win probability, 0 to 1, in the positions before and after the move. If a search evaluates
        the moves, both numbers are results of the search. Otherwise, both are outputs of the network.
    change: the change of the mover's win probability, −1 to 1, negative for a loss. If a search evaluates the move, the
        change is at most 0. It is None for a null move, and for a move that ended the game, because the rules then
        decide the result. There is one exception: if a search evaluates a move that gives stalemate, the move has a
        change, because the stalemate may have cost a win.
    mate: the number of moves to a mate after the move, negative if Black mates; None if no engine has found a mate.
    """

    before: float
    after: float
    change: float | None
    mate: int | None = None

    def as_json(self) -> dict[str, Any]:
        shown = {name: getattr(self, name) for name in ("before", "after", "change")}
        found = {name: None if value is None else rounded(value, 4) for name, value in shown.items()}
        return found if self.mate is None else {**found, "mate": self.mate}


STEP = 400
"""Rating points between the mover and the weaker and stronger players in `ByStrength`. `stepped` limits the ratings of
these players to the range of the network's input.
"""
FURTHER_EXPLAINED = 3
"""The number of plies by which the search for the reason of a mistake is deeper than the analysis. This search is never
deeper than its usual depth.
"""
RISKY, MOST_RISKY = 0.25, 3
"""The smallest risk, 0 to 1, at which a position is listed as risky, and the largest number of listed positions per
game.
"""
UNLIKELY_FOR = 0.05
"""The limit for a slip. A costly move is a slip if players of the mover's rating choose the move with a probability
below this limit, 0 to 1.
"""


@dataclass(frozen=True)
class ByStrength:
    """The probability that players of three ratings choose the played move, 0 to 1.

    rating: the mover's rating.
    player: the probability for players of this rating.
    weaker, stronger: the probabilities for players who are rated 400 points lower and 400 points higher.
    slip: whether the move is a slip. A slip loses at least the smallest annotated change of the win probability.
        Players of the mover's rating choose a slip with a probability below 0.05.
    """

    rating: int
    player: float
    weaker: float
    stronger: float
    slip: bool = False

    def as_json(self) -> dict[str, Any]:
        shares = {name: round(getattr(self, name), 4) for name in ("player", "weaker", "stronger")}
        return {"by_strength": {"rating": self.rating, **shares, "slip": self.slip}}


PIECES = ("pawn", "knight", "bishop", "rook", "queen", "king")
WHOLE = "all"
KINDS = {"by_phase": PHASES, "by_piece": PIECES}
SLICES = (WHOLE, *PHASES, *PIECES)


@dataclass(frozen=True)
class Judged:
    """The evaluation of a played move by a search.

    loss: the mover's loss of win probability, 0 to 1.
    best: the best move in UCI notation, which may be the played move.
    line: the best move and the moves that the search expects after it, in SAN.
    only: whether the played move is the only good move: every other move loses at least 0.2 of win probability more.
    phase: the phase of the game: "opening", "middlegame" or "endgame".
    piece: the name of the moving piece, such as "knight".
    usual: the mean loss of win probability of players of the mover's rating in this position, 0 to 1. None without
        rating inputs, or if the mover's rating is unknown.
    risk: the probability that players of the mover's rating lose at least 0.1 of win probability in this position, 0 to
        1. None without rating inputs, or if the mover's rating is unknown.
    risks: four numbers with the meaning of `risk`, for players rated 1000, 1400, 1800 and 2200; () without rating
        inputs.
    """

    loss: float
    best: str
    line: tuple[str, ...]
    only: bool
    phase: str
    piece: str
    usual: float | None = None
    risk: float | None = None
    risks: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        shown = {"loss": rounded(self.loss, 4), "best": self.best, "line": list(self.line), "only_move": self.only}
        usual: dict[str, Any] = {} if self.usual is None else {"usual_loss": rounded(self.usual, 4)}
        if self.risk is not None:
            usual["risk"] = round(self.risk, 4)
        if self.risks:
            usual["risk_by_rating"] = {str(at): round(one, 4) for at, one in zip(RISK_RATINGS, self.risks, strict=True)}
        return {**shown, "phase": self.phase, "piece": self.piece, **usual}


@dataclass(frozen=True)
class Move:
    """A move of a game, and its evaluation.

    ply: the number of the move in the game, from 1.
    side: "white" or "black".
    mark: the annotation: "?!", "?", "??" for a loss, "↑" for a gain, "#" for mate, "½" for stalemate, or "".
    worth: the change of the win probability; None if the network does not predict the winner.
    expected: the most likely moves; None if the network does not predict moves.
    judged: the evaluation by a search; None without a search.
    fault: the annotation of a move that gives stalemate, by its loss: "?!", "?", "??" or "".
    reason: the reason why an annotated move is bad; None if the searches prove no reason.
    practical: for an annotated move: the move that scores best against the opponent's likely replies, if the caller
        requested it; otherwise None.
    """

    ply: int  # the move's number in the game, from 1
    move_number: int
    side: str  # white or black
    san: str
    uci: str
    mark: str  # annotation: see `mark`, or #, ½, or nothing
    worth: Worth | None = None
    expected: Expected | None = None
    by_strength: ByStrength | None = None
    judged: Judged | None = None
    fault: str = ""  # annotation of a stalemate by its loss: ?!, ?, ??
    reason: Reason | None = None  # the proven reason of an annotated move; None if nothing is proven
    practical: Practical | None = None  # the practical choice before an annotated move, if requested

    @property
    def change(self) -> float | None:
        """The change of the mover's win probability, −1 to 1, negative for a loss; None if it is unknown."""
        return self.worth.change if self.worth else None

    @property
    def sign(self) -> str:
        """The annotation for the change of the win probability: "?!", "?", "??", "↑" or "". Unlike `mark`, it is never
        "#" or "½", which are the annotations of a move that ended the game.
        """
        return self.fault if self.mark in (MATE, STALEMATE) else self.mark

    def as_json(self) -> dict[str, Any]:
        """Return the move as a dict for JSON. The dict omits values that the network does not predict."""
        return {
            **{name: getattr(self, name) for name in ("ply", "move_number", "side", "san", "uci")},
            **(self.worth.as_json() if self.worth else {}),
            "mark": self.mark,
            **(self.judged.as_json() if self.judged else {}),
            **({"reason": self.reason and self.reason.as_json()} if self.judged and self.sign in SIGNS else {}),
            **({"practical": self.practical.as_json()} if self.practical else {}),
            **(self.expected.as_json() if self.expected else {}),
            **(self.by_strength.as_json() if self.by_strength else {}),
        }


@dataclass(frozen=True)
class Predictable:
    """How well the network predicted the moves of one side.

    first_choice, first_three: the share of the moves that were the network's most likely move, and one of its three
        most likely moves, 0 to 1.
    probability: the mean of the predicted probability of the played move, 0 to 1.
    moves: the number of the side's moves, at least 1.
    """

    first_choice: float
    first_three: float
    probability: float
    moves: int

    def as_json(self) -> dict[str, Any]:
        shares = {name: value for name, value in vars(self).items() if name != "moves"}
        return {name: figure(value, self.moves) for name, value in shares.items()}


@dataclass(frozen=True)
class Slice:
    """The losses of one side in a group of its moves. The group is all moves of the side, the moves in one phase, or
    the moves of one kind of piece.

    moves: the number of moves in the group.
    loss: the mean loss of win probability per move, 0 to 1.
    marks: the number of moves with each annotation (?!, ? and ??).
    only: the number of moves that were the only good move.
    usual: the mean loss of players of the same rating in the same positions, 0 to 1; None if it is unknown for at least
        one of these positions.
    """

    moves: int
    loss: float
    marks: dict[str, int]
    only: int
    usual: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "moves": self.moves,
            "loss": figure(self.loss, self.moves),
            **({} if self.usual is None else {"usual_loss": figure(self.usual, self.moves)}),
            "marks": {SIGNS[sign]: count for sign, count in self.marks.items()},
            "only_moves": self.only,
        }


@dataclass
class Report:
    """The losses of each side in any number of games: for all moves, for each phase, and for each kind of piece.
    `slice` returns the results.

    games: the number of games that were added.
    """

    games: int = 0
    sums: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    """Seven sums for each pair of a side and a group of moves. A group is WHOLE (all moves), a phase or a kind of
    piece. The sums are: moves, loss, usual loss (NaN if unknown), annotations ?!, ? and ??, and only moves.
    """

    def add(self, game: AnalysedGame) -> None:
        """Add the evaluated moves of a game to the report."""
        self.games += 1
        for move in game.moves:
            if (judged := move.judged) is None:
                continue
            usual = math.nan if judged.usual is None else judged.usual
            row = [1, judged.loss, usual, *(move.sign == sign for sign in SIGNS), judged.only]
            for name in (WHOLE, judged.phase, judged.piece):
                sums = self.sums.setdefault((move.side, name), [0.0] * len(row))
                sums[:] = [a + b for a, b in zip(sums, row, strict=True)]

    def slice(self, side: str, name: str) -> Slice | None:
        """Return the losses of one side in a group of its moves; None if the group has no moves.

        side: "white" or "black". name: the group of moves: "all" for all moves, or the name of a phase or a piece, such
        as "endgame" or "knight".
        """
        sums = self.sums.get((side, name))
        if sums is None:
            return None
        moves, loss, usual, *rest = sums
        marks = dict(zip(SIGNS, map(int, rest), strict=False))
        return Slice(int(moves), loss / moves, marks, int(rest[-1]), None if math.isnan(usual) else usual / moves)

    def as_json(self) -> dict[str, Any]:
        sides = {}
        for side in SIDES:
            parts = {name: one.as_json() for name in SLICES if (one := self.slice(side, name))}
            whole = parts.pop(WHOLE, None)
            by = {kind: {name: parts[name] for name in names if name in parts} for kind, names in KINDS.items()}
            sides[side] = {**(whole or {"moves": 0}), **by}
        return {"games": self.games, **sides}


def report(games: Sequence[AnalysedGame]) -> Report:
    """Return one report that contains the losses in all given games."""
    found = Report()
    for game in games:
        found.add(game)
    return found


@dataclass(frozen=True)
class AnalysedGame:
    """A game of chess, and the evaluations of its moves.

    record: the game as it was read.
    moves: the moves with their evaluations, in order.
    white: White's win probability before the first move and after each move, float64 [moves + 1], 0 to 1; None if the
        network doesn't predict the winner.
    predicts: whether the network predicts moves.
    meaning: the event whose probability `white` contains, usually that White wins.
    checked_by: the engine that evaluated the moves; None if the network evaluated them.
    note: for the network of one person: whose moves it predicts, and whether it was trained on this game; otherwise "".
    """

    record: Record
    moves: list[Move]
    white: NDArray[np.float64] | None
    predicts: bool = False
    meaning: Meaning = field(default_factory=Meaning)
    checked_by: CheckedBy | None = None
    note: str = ""

    @property
    def swings(self) -> list[Move]:
        """The annotated moves, which may be losses or gains. The move with the largest change of the win probability is
        first.
        """
        marked = [move for move in self.moves if move.sign and move.change is not None]
        return sorted(marked, key=lambda move: -abs(move.change or 0))

    @property
    def slips(self) -> list[Move]:
        """The slips of both players, the largest loss first. `ByStrength.slip` explains what a slip is."""
        return [move for move in self.swings if move.by_strength and move.by_strength.slip]

    @property
    def riskiest(self) -> list[Move]:
        """The moves in the riskiest positions, the riskiest first. The risk of a position is the probability that
        players of the mover's rating lose at least `risk.LOSS` (0.1) of win probability there. The list has at most
        three moves, each with a risk of at least 0.25. It is empty if the ratings are unknown.
        """
        found = [(move.judged.risk, move) for move in self.moves if move.judged and move.judged.risk is not None]
        return [move for risk, move in sorted(found, key=lambda pair: -pair[0])[:MOST_RISKY] if risk >= RISKY]

    @property
    def surprises(self) -> list[Move]:
        """The surprising moves (see `Expected.surprising`), the least likely first."""
        found = [(move.expected.probability, move) for move in self.moves if move.expected and move.expected.surprising]
        return [move for _, move in sorted(found, key=lambda pair: pair[0])]

    def average_loss(self, side: str) -> tuple[float | None, int]:
        """Return two values for one side: the mean loss of win probability per move, 0 to 1, and the number of moves in
        this mean. The mean is None if the number is 0. A gain counts as a loss of 0.

        side: "white" or "black". If a search evaluated the moves, the mean is over all evaluated moves. Without a
        search, it is over all moves that did not end the game.
        """
        known = [-move.judged.loss if move.judged else move.change for move in self.moves if move.side == side]
        losses = [max(0.0, -change) for change in known if change is not None]
        return (sum(losses) / len(losses) if losses else None), len(losses)

    @property
    def summary(self) -> GameSummary | None:
        """The accuracy, the annotations and the mean loss of each side, and the turning point of the game. None if no
        search evaluated the moves.
        """
        if self.white is None or not any(move.judged for move in self.moves):
            return None
        losses = [move.judged.loss if move.judged else None for move in self.moves]
        movers, signs = [move.side for move in self.moves], [move.sign for move in self.moves]
        return summarize(SIDES, self.white.tolist(), movers, losses, signs)

    def predictable(self, side: str) -> Predictable | None:
        """Return how well the network predicted a side's moves. Return None if the side made no move, or if the network
        doesn't predict moves. side: "white" or "black".
        """
        found = [move.expected for move in self.moves if move.side == side and move.expected]
        if not found:
            return None
        ranks = np.array([one.rank for one in found])
        mean = float(np.mean([one.probability for one in found]))
        return Predictable(float((ranks == 1).mean()), float((ranks <= SHOWN).mean()), mean, len(found))

    def as_json(self) -> dict[str, Any]:
        headers = dict(self.record.game.headers)
        found = {
            "number": self.record.number,
            "headers": headers,
            "result": headers.get("Result", "*"),
            "problem": self.record.problem,
            **({"checked_by": self.checked_by.as_json()} if self.checked_by else {}),
            **({"note": self.note} if self.note else {}),
            "moves": [move.as_json() for move in self.moves],
        }
        if self.white is not None:
            found["swings"] = [move.as_json() for move in self.swings]
            if any(move.by_strength for move in self.moves):
                found["slips"] = [move.as_json() for move in self.slips]
            if any(move.judged and move.judged.risk is not None for move in self.moves):
                found["riskiest"] = [move.as_json() for move in self.riskiest]
            found["average_loss"] = {side: figure(*self.average_loss(side)) for side in SIDES}
        if summary := self.summary:
            found["summary"] = summary.as_json()
            found["report"] = report([self]).as_json()
        if self.predicts:
            sides = {side: self.predictable(side) for side in SIDES}
            found["predictable"] = {side: one.as_json() if one else None for side, one in sides.items()}
        return found


USUAL = Meaning()


def meaning_of(system: str, judged: bool) -> Meaning:
    """Return the description of the value that an analysis shows, such as "White's win probability".

    system: the name of the network's system, which is its kind of network.
    judged: whether a search evaluates the moves. Some networks output another value, such as the probability that
        White's position is better. `Meaning.note` explains this value. If a search evaluates the moves, the analysis
        shows win probabilities also for these networks.
    """
    meaning = find(system).meaning
    return USUAL if judged and meaning.note else meaning


def analyse(
    record: Record,
    session: Session,
    analysis: Analysis,
    swing: float,
    ratings: tuple[int, int] | None = None,
    meaning: Meaning = USUAL,
    judge: Judge | None = None,
) -> AnalysedGame:
    """Return the analyzed main line of a game. Null moves, which pass the turn, are not evaluated or predicted.

    record: the game. session: the loaded network. analysis: the module that interprets the network's outputs. swing:
    the smallest annotated change of the win probability, more than 0, at most 1. ratings: the ratings of White and
    Black, for a network with rating inputs; None for the ratings in the headers.
    meaning: the description of the value that is shown, see `meaning_of`.
    judge: evaluates the moves by search. None: the network's outputs before and after each move are compared.
    """
    rows = [encode_board(record.game.board())]
    board = record.game.board()
    for node in record.game.mainline():
        board.push(node.move)
        rows.append(encode_board(board))
    positions = np.stack(rows)
    codes, state = positions[:, :SQUARES], positions[:, SQUARES:]
    played = [node.move for node in record.game.mainline()]
    state = add_side_inputs(state, record.game.headers, session.side_inputs, played, ratings)
    white, expecting = _predict(session, analysis, codes, state)
    who = _person(session, record, played)
    judgements: list[Judgement] = []
    if judge is not None and (white is not None or judge.checked_by):
        white, judgements = judge.judge(record.game.board(), played, positions)
    phases = phase(codes)
    strengths: dict[int, ByStrength] = {}
    if expecting:
        both = ratings or ratings_of(record.game.headers)
        strengths = _by_strength(session, analysis, codes, state, expecting, played, both)
    others = _by_rating(session, analysis, codes[: len(played)], state[: len(played)]) if judgements else {}
    end = MATE if board.is_checkmate() else STALEMATE if board.is_stalemate() else ""
    board, moves = record.game.board(), list[Move]()
    for i, node in enumerate(record.game.mainline()):
        closing = end if i == len(rows) - 2 else ""
        sign, fault, worth = closing, "", None
        if white is not None:
            before, after = float(white[i]), float(white[i + 1])
            change = after - before if board.turn == chess.WHITE else before - after
            if judgements:
                before, after, change = judgements[i].before, judgements[i].after, -judgements[i].loss
            sign = closing or (mark(change, swing) if node.move else "")
            is_judged_stalemate = closing == STALEMATE and bool(judgements)
            fault = mark(change, swing) if is_judged_stalemate else ""
            has_change = node.move and (not closing or is_judged_stalemate)
            worth = Worth(before, after, change if has_change else None, judgements[i].mate if judgements else None)
        colour = SIDES[0] if board.turn == chess.WHITE else SIDES[1]
        predicted = bool(node.move) and who.sides[SIDES.index(colour)]
        expectation = expected(board, *expecting[i], node.move) if expecting and predicted else None
        san, uci = board.san(node.move), node.move.uci()
        strength = strengths.get(i)
        if strength and worth and worth.change is not None:
            strength = replace(strength, slip=worth.change <= -swing and strength.player < UNLIKELY_FOR)
        judged = _judged(judgements[i], board, node.move, PHASES[phases[i]]) if judgements and node.move else None
        if judged and expecting and i in strengths:
            judged = replace(
                judged, usual=usual_loss(judgements[i], expecting[i], PHASES[phases[i]], strengths[i].rating),
                risk=_risk(judgements[i], expecting[i], strengths[i].rating),
            )  # fmt: skip
        if judged and others:
            every = [_risk(judgements[i], legal[i], rating) for rating, legal in others.items()]
            judged = replace(judged, risks=tuple(one for one in every if one is not None))
        number = board.fullmove_number
        moves.append(Move(i + 1, number, colour, san, uci, sign, worth, expectation, strength, judged, fault))
        board.push(node.move)
    if judge and judgements:
        reasons = _reasons(_cases(record.game, moves, judgements), judge, strengths, expecting)
        moves = [replace(move, reason=reasons.get(i)) for i, move in enumerate(moves)]
    return AnalysedGame(record, moves, white, bool(expecting), meaning, judge.checked_by if judge else None, who.note)


def _person(session: Session, record: Record, played: Sequence[chess.Move]) -> PersonInGame:
    """Return the person of a personal network, as a player of a game. Other networks predict both sides."""
    players = [record.game.headers.get(name, "") for name in ("White", "Black")]
    return person_of(session, players, np.array([from_move(move) if move else 0 for move in played], np.uint16))


def _cases(game: chess.pgn.Game, moves: Sequence[Move], judgements: Sequence[Judgement]) -> dict[int, Case]:
    """Return the annotated moves of a game, which need an explanation, as a dict from their index to their `Case`."""
    board, cases = game.board(), {}
    for i, move in enumerate(moves):
        played = chess.Move.from_uci(move.uci)
        if move.judged and move.sign in SIGNS:
            cases[i] = case_of(board, played, judgements[i])
        board.push(played)
    return cases


def _reasons(
    cases: dict[int, Case], judge: Judge, strengths: dict[int, ByStrength], expecting: Sequence[Legal] | None
) -> dict[int, Reason]:
    """Return a dict from the index of an annotated move to the reason why the move was bad.

    If the player's rating is known, a reason also contains the probability that players of this rating find the better
    move.
    """
    found = explain(list(cases.values()), judge.threads, min(EXPLAINED, judge.depth + FURTHER_EXPLAINED))
    reasons = {i: reason for i, reason in zip(cases, found, strict=True) if reason}
    for i, reason in reasons.items():
        if expecting and i in strengths:
            best = cases[i].best
            share = Found(cases[i].board.san(best), strengths[i].rating, _chance(expecting[i], best))
            reasons[i] = replace(reason, found=share)
    return reasons


def case_of(board: chess.Board, played: chess.Move, judgement: Judgement) -> Case:
    """Return a move and its evaluation as a `Case`, which `reasons.explain` takes as input.

    board: the position before the move. played: the played move. judgement: the evaluation of this move.
    """
    before, after = judgement.before, judgement.after
    if board.turn == chess.BLACK:
        before, after = 1 - before, 1 - after
    return Case(
        board.copy(stack=False), played, judgement.best, before, after, judgement.reply and judgement.line[1:],
        judgement.reply,
    )  # fmt: skip


def _judged(judgement: Judgement, board: chess.Board, played: chess.Move, phase: str) -> Judged:
    """Convert the evaluation of a move in this position to text."""
    after, line = board.copy(stack=False), []
    for move in judgement.line:
        line.append(after.san(move))
        after.push(move)
    piece = board.piece_type_at(played.from_square) or chess.KING
    best = judgement.best.uci()
    return Judged(judgement.loss, best, tuple(line), judgement.only, phase, PIECES[piece - 1])


USUAL_LOSS = {"opening": 0.74, "middlegame": 0.82, "endgame": 0.96}
"""A factor for each phase of the game. It converts a first estimate of the expected loss to the loss that a deeper
search finds. The factors were fitted by bench/usual_losses.py.
"""
LESS_BY_RATING, FROM, MIDDLE = 0.6, 1200, 1600
"""Constants of the factor by which `usual_loss` depends on the rating. The factor is 1 at the rating MIDDLE and
exp(-LESS_BY_RATING) at 1000 points more. Below the rating FROM, the factor is constant.

The reason for the factor: stronger players also choose better among moves that the network considers equally likely.
"""


def usual_loss(judgement: Judgement, expecting: Legal, phase: str, rating: int) -> float | None:
    """Return the mean loss of win probability, 0 to 1, of players of a rating in a position. Return None if the
    judgement has no first estimate of the moves.

    judgement: the evaluation of the move that was played in the position.
    expecting: the legal moves, with the probabilities that the network predicts for this rating.
    phase: "opening", "middlegame" or "endgame".
    rating: the rating of the players, in points.
    """
    seen = None if judgement.options is None else judgement.options.expected(*expecting)
    if seen is None:
        return None
    return min(1.0, USUAL_LOSS[phase] * math.exp(-LESS_BY_RATING * (max(rating, FROM) - MIDDLE) / 1000) * seen)


Legal = tuple[NDArray[np.uint16], NDArray[np.float32]]
"""The k legal moves of a position, uint16 [k], packed (see `kibitz.games.chess.moves.from_move`), and the probability
of each move, float32 [k].
"""


def _by_strength(
    session: Session, analysis: Analysis, codes: NDArray[np.uint8], state: NDArray[np.uint8],
    expecting: Sequence[Legal], played: Sequence[chess.Move], ratings: tuple[int, int],
) -> dict[int, ByStrength]:  # fmt: skip
    """Return the probability of each played move for its player, a weaker and a stronger one, by the index of the move.

    A move is included only if the network has inputs for both ratings, and the mover's rating is known. The opponent's
    rating stays the same for all three players. ratings: White's, Black's.
    """
    if not compares_ratings(session):
        return {}
    column = STATE + list(session.side_inputs).index(RATING)
    indices = [i for i in range(len(played)) if state[i, column] > 0 and played[i]]
    if not indices:
        return {}
    chances = [[_chance(expecting[i], played[i]) for i in indices]]
    for step in (-STEP, STEP):
        other = state[indices]
        other[:, column] = [stepped(int(own) * UNIT, step) // UNIT for own in other[:, column]]
        _, their = _predict(session, analysis, codes[indices], other)
        assert their is not None
        chances.append([_chance(legal, played[i]) for legal, i in zip(their, indices, strict=True)])
    return {i: ByStrength(ratings[int(state[i, SIDE])], *three) for i, *three in zip(indices, *chances, strict=True)}


def stepped(rating: int, step: int) -> int:
    """Return `rating + step`, in points, limited to the range of ratings that a network can take as input."""
    return min(max(rating + step, UNIT), 255 * UNIT)


def _by_rating(
    session: Session, analysis: Analysis, codes: NDArray[np.uint8], state: NDArray[np.uint8]
) -> dict[int, Sequence[Legal]]:
    """Return the legal moves with their probabilities, for each rating of RISK_RATINGS.

    Both players have the same rating. The result is {} without rating inputs.
    """
    if not compares_ratings(session) or not len(codes):
        return {}
    names = list(session.side_inputs)
    found = {}
    for rating in RISK_RATINGS:
        rated = state.copy()
        rated[:, [STATE + names.index(RATING), STATE + names.index(OPPONENT)]] = rating // UNIT
        _, legal = _predict(session, analysis, codes, rated)
        assert legal is not None
        found[rating] = legal
    return found


def _risk(judgement: Judgement, legal: Legal, rating: int) -> float | None:
    return None if judgement.options is None else risk(judgement.options, *legal, rating, judgement.searched)


def _chance(legal: Legal, move: chess.Move) -> float:
    """Return the probability of a move among the legal moves; 0 for a null move."""
    moves, probabilities = legal
    at = moves == (from_move(move) if move else -1)
    total = float(probabilities.sum())
    return float(probabilities[at].sum()) / total if total > 0 else 0.0


def _predict(
    session: Session, analysis: Analysis, codes: NDArray[np.uint8], state: NDArray[np.uint8]
) -> tuple[NDArray[np.float64] | None, Sequence[Legal] | None]:
    """Return White's win probability, [n], and the legal moves of each position; None for a missing output."""
    white: list[NDArray[np.float64]] = []
    expecting: list[Legal] = []
    for at in range(0, len(codes), TOGETHER):
        some, its_state = codes[at : at + TOGETHER], state[at : at + TOGETHER]
        answers = session.evaluate(some, its_state)
        wins = analysis.white_wins(answers, its_state)
        if wins is not None:
            white.append(wins)
        if found := analysis.expected_moves(answers, some, its_state):
            moves, offsets, probabilities = found
            inner = offsets[1:-1]
            expecting += zip(np.split(moves, inner), np.split(probabilities, inner), strict=True)
    return np.concatenate(white) if white else None, expecting or None
