"""Find the practical choice: the move that scores best against the likely replies of an opponent of a given rating.

The best move scores best against the best reply. But an opponent often does not find the best reply. A network with
rating inputs predicts how likely each reply of this opponent is, and a search finds the value of each reply. The
practical score of a move is the mean of these values, weighted by the probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.chess.judging import end_value, push
from kibitz.analysis.chess.ratings import OPPONENT, RATING, UNIT, compares_ratings, known_inputs, ratings_of
from kibitz.analysis.chess.risk import LOSS
from kibitz.analysis.glyphs import SIGNS
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import SQUARES, encode_board
from kibitz.play.chess.policy import normalised
from kibitz.play.side_inputs import with_side_inputs

if TYPE_CHECKING:
    from kibitz.analysis.chess.judging import FirstLook, Judge
    from kibitz.analysis.chess.moves import AnalysedGame

DEPTH, ROUGH = 4, 3
"""Depths in plies: of the short search after each reply, and of a shorter search that counts only material."""
CONSIDERED, CANDIDATES = 40, 6
"""The largest number of moves that the search which counts only material compares, and the largest number of moves that
the short search compares.
"""
LIKELIEST = 7
"""The number of most likely replies to each move that are considered."""
ANSWERS, RAREST = 6, 0.03
"""Limits of the long search of replies: the largest number of replies to a move, and the smallest probability of a
reply, 0 to 1.

The score counts all other replies as if the opponent played the best reply.
"""
_SEEN, _BY_RATING, MIDDLE = 0.82, 1.04, 1600
"""Constants of `sees_at`. Players see threats after a rare move that the network's prediction misses. So `seen` raises
the probabilities of good replies. The logit of a reply rises by the replying player's win probability after it, times
the factor of `sees_at`.

The constants were fitted to 1,484 replies in 120 games of players by an earlier form of `bench/bench_practical.py fit`.
"""
GAIN = 0.05
"""The smallest advantage in score, 0 to 1, of a practical choice over the best move."""


@dataclass(frozen=True)
class Scored:
    """A move and its score against the opponent's likely replies.

    move, san: the move, and its name in SAN.
    score: the mover's mean win probability over the likely replies, 0 to 1.
    worst: the mover's win probability after the opponent's best reply, 0 to 1.
    mistake: the probability that the opponent's reply loses at least 0.1 of win probability, 0 to 1.
    answer: the reply that is the most costly mistake, by the product of its loss and its probability, in SAN; "" if no
        likely reply is a mistake.
    likely: the probability of the reply `answer`, 0 to 1; 0 if `answer` is "".
    """

    move: chess.Move
    san: str
    score: float
    worst: float
    mistake: float
    answer: str = ""
    likely: float = 0.0

    def as_json(self) -> dict[str, Any]:
        answer = {"san": self.answer, "probability": round(self.likely, 4)} if self.answer else None
        numbers = {name: round(getattr(self, name), 4) for name in ("score", "worst", "mistake")}
        return {"move": self.move.uci(), "san": self.san, **numbers, "answer": answer}


@dataclass(frozen=True)
class Practical:
    """The practical choice in a position: the move that scores best against the replies that the opponent is likely to
    play.

    rating: the opponent's rating.
    best: the best move, which a search found for perfect replies.
    chosen: the practical choice. It differs from `best` only if its score is at least 0.05 higher.

    A short search compares the candidates. If one of them scores at least 0.05 higher than `best`, a longer search
    computes the scores of both moves again, and these scores decide. Otherwise `chosen` is `best`, with its score from
    the short search.
    """

    rating: int
    chosen: Scored
    best: Scored

    @property
    def differs(self) -> bool:
        """Whether the practical choice is another move than the best move."""
        return self.chosen.move != self.best.move

    def text(self) -> str:
        """Return the practical choice as sentences, such as "Practical choice: Bd5. Against the likely answers of a
        player rated 1600, ...".
        """
        first = f"Practical choice: {self.chosen.san}. Against the likely answers of a player rated {self.rating},"
        first += f" it scores {self.chosen.score:.0%}, and the best move {self.best.san} scores {self.best.score:.0%}."
        if not self.chosen.answer:
            return first
        often = f" In {self.chosen.mistake:.0%} of the cases, such a player answers with a mistake, such as"
        return f"{first}{often} {self.chosen.answer}."

    def as_json(self) -> dict[str, Any]:
        found = {"opponent_rating": self.rating, "differs": self.differs}
        return {**found, "chosen": self.chosen.as_json(), "best": self.best.as_json()}


def with_practical_choices(game: AnalysedGame, judge: Judge, ratings: tuple[int, int] | None = None) -> AnalysedGame:
    """Return a copy of an analyzed game with practical choices. In the copy, each annotated mistake (?!, ? or ??) has a
    `Move.practical`: the practical choice in the position before the move (see `Practical`).

    game: the analyzed game.
    judge: evaluates the positions.
    ratings: the ratings of White and Black; None for the ratings in the headers.

    If a rating is unknown, or if the network has no rating inputs, the result is `game` itself.
    """
    headers = game.record.game.headers
    both = ratings or ratings_of(headers)
    if not all(both) or not compares_ratings(judge.session):
        return game
    known, board, moves = known_inputs(headers), game.record.game.board(), list(game.moves)
    for i, move in enumerate(moves):
        if move.judged and move.sign in SIGNS and (look := judge.first_look(board)) is not None:
            best, mover = chess.Move.from_uci(move.judged.best), 0 if board.turn == chess.WHITE else 1
            also = [chess.Move.from_uci(move.uci)]
            choice = practical_choice(board, best, look, judge, known, (both[mover], both[1 - mover]), also)
            moves[i] = replace(move, practical=choice)
        push(board, chess.Move.from_uci(move.uci))
    return replace(game, moves=moves)


def practical_choice(
    board: chess.Board,
    best: chess.Move,
    look: FirstLook,
    judge: Judge,
    known: Mapping[str, int],
    ratings: tuple[int, int],
    also: Sequence[chess.Move] = (),
) -> Practical:
    """Return the practical choice in a position: the move that scores best against the opponent's likely replies.

    board: the position, with the earlier moves in its `move_stack`.
    best: the best move.
    look: a first estimate of the loss of each legal move.
    judge: evaluates positions. Its network must predict moves and have rating inputs.
    known: the network's side inputs except the ratings, as a dict {name: value}, such as {"speed": 3}. Values are from
        0 to 255. Side inputs are a network's inputs besides the board.
    ratings: the ratings of the mover and of the opponent.
    also: further moves to compare, no matter how much they lose.
    """
    mover, opponent = ratings
    inputs = {**known, RATING: min(opponent // UNIT, 255), OPPONENT: min(mover // UNIT, 255)}
    listed = listed_answers(board, plausible(best, look, also), judge, inputs)
    sees = sees_at(opponent)
    rough = likely_answers(board, listed, judge, sees, rough=True)
    order = sorted(rough, key=lambda move: -scored(board, move, rough[move]).score)
    moves = list(dict.fromkeys([best, *also, *order[:CANDIDATES]]))
    answers = likely_answers(board, {move: listed[move] for move in moves}, judge, sees)
    first, *others = [scored(board, move, answers[move]) for move in moves]
    tried = max(others, key=lambda one: one.score, default=first)
    if tried.score < first.score + GAIN:
        return Practical(opponent, first, first)
    first, tried = (scored(board, move, searched(board, move, answers[move], judge)) for move in (best, tried.move))
    return Practical(opponent, tried if tried.score >= first.score + GAIN else first, first)


def plausible(best: chess.Move, look: FirstLook, also: Sequence[chess.Move] = ()) -> list[chess.Move]:
    """Return the candidates for the practical choice: `best`, the moves in `also`, and the 40 legal moves with the
    smallest losses in `look`. If there are fewer legal moves, all are candidates. Each move is in the list only once.
    """
    order = np.argsort(look.losses, kind="stable")[:CONSIDERED]
    return list(dict.fromkeys([best, *also, *(to_move(int(look.moves[i])) for i in order)]))


@dataclass(frozen=True)
class Answers:
    """The opponent's replies to a move.

    moves: the k replies that are considered.
    chances: the probability of each reply, 0 to 1, float64 [k]. If the probabilities sum to less than 1, the opponent
        may also play other replies. The score assumes that each of these other replies is as good as the best reply.
    worths: the win probability, after each reply, of the player who made the move, 0 to 1, float64 [k].
    worst: the win probability of this player after the opponent's best reply, 0 to 1.
    """

    moves: tuple[chess.Move, ...]
    chances: NDArray[np.float64]
    worths: NDArray[np.float64]
    worst: float


def likely_answers(
    board: chess.Board, listed: Mapping[chess.Move, Listed], judge: Judge, sees: float, rough: bool = False
) -> dict[chess.Move, Answers]:
    """Return the opponent's likely replies to each move, with values from a short search.

    board: the position before the moves.
    listed: the moves with the replies to consider, a result of `listed_answers`.
    judge: evaluates the positions.
    sees: how well the opponent recognizes good replies, see `sees_at`.
    rough: True for a shorter search that counts only material.
    """
    after = [_pushed(board, move) for move in listed]
    boards = [
        _pushed(one, answer) for one, (answers, _) in zip(after, listed.values(), strict=True) for answer in answers
    ]
    worst, worths = (_of_mover(_values(judge, some, rough), board.turn) for some in (after, boards))
    found, at = {}, 0
    for i, (move, (answers, shares)) in enumerate(listed.items()):
        own = worths[at : at + len(answers)]
        at += len(answers)
        found[move] = Answers(answers, seen(shares, 1 - own, sees), own, float(min([worst[i], *own])))
    return found


def sees_at(rating: float) -> float:
    """Return how well players of a rating recognize good replies: a positive number, which rises with the rating. The
    function `seen` takes it as the argument `sees`.
    """
    return math.exp(_SEEN + _BY_RATING * (rating - MIDDLE) / 1000)


def seen(shares: NDArray[np.float64], worths: NDArray[np.float64], sees: float) -> NDArray[np.float64]:
    """Return the probabilities of k replies, adjusted for a player who recognizes good replies, float64 [k], 0 to 1.
    Compared with the network's prediction, good replies become more likely and bad replies less likely. The sum stays
    the same.

    shares: the network's probability of each reply, [k].
    worths: the win probability of the replying player after each reply, 0 to 1, [k].
    sees: how well this player recognizes good replies, see `sees_at`; with 0, nothing changes.
    """
    if not len(shares):
        return shares
    weights = shares * np.exp(sees * (worths - worths.max()))
    return np.asarray(weights / weights.sum() * shares.sum())


def searched(board: chess.Board, move: chess.Move, answers: Answers, judge: Judge) -> Answers:
    """Return the most likely of the given replies to a move, with more exact values from a longer search.

    An engine gives the values. Without an engine, each value is the mean of two searches: a PUCT search, and the short
    search of `likely_answers`. board: the position before the move. answers: the replies, as `likely_answers` returns
    them.
    """
    order = np.argsort(-answers.chances, kind="stable")[:ANSWERS]
    likely = order[answers.chances[order] >= RAREST]
    after = _pushed(board, move)
    moves = tuple(answers.moves[i] for i in likely)
    boards = (after, *(_pushed(after, answer) for answer in moves))
    white = np.array([judge.value(one).chance for one in boards])
    if judge.checked_by is None:
        white = (white + _values(judge, boards, False)) / 2
    worths = _of_mover(white, board.turn)
    return Answers(moves, answers.chances[likely], worths[1:], float(worths.min()))


Listed = tuple[tuple[chess.Move, ...], NDArray[np.float64]]
"""The k replies to a move, and the probability of each reply that the network predicts, 0 to 1, float64 [k]."""


def listed_answers(
    board: chess.Board, moves: Sequence[chess.Move], judge: Judge, inputs: Mapping[str, int]
) -> dict[chess.Move, Listed]:
    """Return the replies to consider for each move: the seven most likely replies, and the reply that is best if only
    material counts. A move that ends the game has no replies.

    board: the position before the moves.
    judge: evaluates positions; its network must predict moves.
    inputs: the network's side inputs in the positions after the moves, as a dict {name: value}. Values are from 0 to
        255. For example, {"rating": 100} means that the player who replies is rated 1600. Side inputs are a network's
        inputs besides the board.
    """
    found: dict[chess.Move, Listed] = {move: ((), np.zeros(0)) for move in moves}
    after = {move: one for move in moves if end_value(one := _pushed(board, move)) is None}
    if not after:
        return found
    session = judge.session
    rows = np.stack([encode_board(one) for one in after.values()])
    codes, plain = rows[:, :SQUARES], rows[:, SQUARES:]
    state = np.concatenate(
        [with_side_inputs(plain[n : n + 1], session.side_inputs, one, inputs) for n, one in enumerate(after.values())]
    )
    expected = judge.analysis.expected_moves(session.evaluate(codes, state), codes, state)
    assert expected is not None
    packed, offsets, probabilities = expected
    shares = normalised(probabilities, offsets).astype(np.float64)
    best = judge.first_moves(rows, DEPTH)
    for n, move in enumerate(after):
        part = slice(offsets[n], offsets[n + 1])
        legal, own = packed[part], shares[part]
        listed = np.argsort(-own, kind="stable")[:LIKELIEST].tolist()
        listed = list(dict.fromkeys([*listed, *np.flatnonzero(legal == best[n]).tolist()]))
        found[move] = tuple(to_move(int(legal[at])) for at in listed), own[listed]
    return found


def _values(judge: Judge, boards: Sequence[chess.Board], rough: bool) -> NDArray[np.float64]:
    """Return White's win probability in positions, float64 [n], by a short search; the result if the game is over."""
    if not boards:
        return np.zeros(0)
    rows = np.stack([encode_board(one) for one in boards])
    white = judge.values(rows, ROUGH if rough else DEPTH, by_network=not rough)
    over = [end_value(one) for one in boards]
    return np.array([value if end is None else end for value, end in zip(white.tolist(), over, strict=True)])


def _of_mover(white: NDArray[np.float64], turn: chess.Color) -> NDArray[np.float64]:
    return white if turn == chess.WHITE else 1 - white


def scored(board: chess.Board, move: chess.Move, answers: Answers) -> Scored:
    """Return a move with its score against the opponent's likely replies. The result also has the reply that is the
    most costly mistake.

    board: the position before the move. answers: the opponent's likely replies to the move.
    """
    san, worst, chances = board.san(move), answers.worst, answers.chances
    if not answers.moves:
        return Scored(move, san, worst, worst, 0.0)
    gains = answers.worths - worst
    score = worst + float(chances @ gains)
    mistakes = gains >= LOSS
    if not mistakes.any():
        return Scored(move, san, score, worst, 0.0)
    most = int(np.argmax(np.where(mistakes, chances * gains, -1)))
    answer = _pushed(board, move).san(answers.moves[most])
    return Scored(move, san, score, worst, float(chances[mistakes].sum()), answer, float(chances[most]))


def _pushed(board: chess.Board, move: chess.Move) -> chess.Board:
    after = board.copy()
    after.push(move)
    return after
