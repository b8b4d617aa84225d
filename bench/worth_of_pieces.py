"""What a queen, a rook, a minor piece more early in a game is worth between equals: in games of people, in games that a
network plays with itself as people of that rating do, and what the network says.

    python bench/worth_of_pieces.py human my.store --rating 1500 --games 3000

People: games of players within 300 points of the rating and 100 of each other, where one side is ahead by just this
much after 10, 12 or 14 plies and still three plies later, so that nothing is about to be taken back. Own games: real
openings of the store's training games, equal so far, lose one piece; the network plays both sides on, every move drawn
as it is likely (temperature 1), last moves and ratings told; nobody resigns; after --plies Stockfish judges at depth 8
(3 pawns win). The network is asked about the first positions of these games. Scores are of the side that is ahead, a
draw is half; 95% intervals. Prints Markdown.
"""

import argparse
from collections import defaultdict

import chess
import chess.engine
import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.policy.handicaps import TAKEN, expected_scores, without
from kibitz.evaluation.slices import VALUES
from kibitz.external.programs import find_stockfish
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import decode_board, encode_board
from kibitz.games.chess.sides import RATING_UNIT
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import Session
from kibitz.play.side_inputs import with_side_inputs
from kibitz.store.split import TRAIN
from kibitz.store.store import Store

WORTH = {"queen": 9, "rook": 5, "piece": 3}
FROM, TO = 8, 14
STEADY = 3
"""Plies for which people's material stays as it is."""
AT_ONCE = 400
ENOUGH = 300
"""Centipawns that win a game which is not played out."""


class Game:
    """A game that begins with a piece less."""

    def __init__(self, board: chess.Board, handicap: str, behind: chess.Color):
        self.start = board.copy(stack=False)
        self.board, self.handicap, self.behind = board, handicap, behind
        self.result: str | None = None

    @property
    def score(self) -> float:
        white = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[str(self.result)]
        return 1 - white if self.behind == chess.WHITE else white


def of_people(store: Store, rating: int) -> dict[str, list[float]]:
    """Scores by handicap; a game counts once for each."""
    white, black = (store.column(name).astype(int) for name in ("white_rating", "black_rating"))
    near = (abs(white - rating) <= 300) & (abs(black - rating) <= 300) & (abs(white - black) <= 100)
    games = np.flatnonzero(near & (store.plies > TO + STEADY))
    results = store.column("result").astype(int)[games]
    ahead = np.zeros((3, len(games)), np.int16)
    for row, ply in enumerate(range(10, TO + 1, 2)):
        each = [
            VALUES[store.replay(games, np.full(len(games), ply + more))[0]].sum(1, dtype=np.int16)
            for more in range(STEADY + 1)
        ]
        ahead[row] = np.where(np.ptp(each, axis=0) == 0, each[0], 0)
    scores: dict[str, list[float]] = {}
    for name, worth in WORTH.items():
        there = abs(ahead) == worth
        found = np.flatnonzero(there.any(0))
        sign = np.sign(ahead[there.argmax(0)[found], found])
        scores[name] = ((1 + results[found] * sign) / 2).tolist()
    return scores


def begun(store: Store, games: int, rng: np.random.Generator) -> list[Game]:
    """Openings of training games without a piece, as many of each handicap."""
    usable = np.flatnonzero((store.sides() == TRAIN) & (store.plies > TO))
    found: list[Game] = []
    names = list(TAKEN)
    while len(found) < games:
        picked, plies = rng.choice(usable, 1000), rng.integers(FROM, TO + 1, 1000)
        codes, state = store.replay(picked, plies)
        for i in np.flatnonzero(VALUES[codes].sum(1, dtype=np.int16) == 0):
            handicap, behind = names[len(found) % len(names)], bool(rng.integers(0, 2))
            board = without(decode_board(codes[i], state[i]), TAKEN[handicap], behind, rng)
            if board is not None:
                found.append(Game(board, handicap, behind))
    return found[:games]


def step(session: Session, games: list[Game], rating: int, rng: np.random.Generator) -> None:
    """A move in each game."""
    rows = np.stack([encode_board(game.board) for game in games])
    told = {"rating": rating // RATING_UNIT, "opponent_rating": rating // RATING_UNIT}
    states = [
        with_side_inputs(row[None, 64:], session.side_inputs, game.board, told)
        for row, game in zip(rows, games, strict=True)
    ]
    codes = np.ascontiguousarray(rows[:, :64])
    moves, offsets = legal_moves(codes, np.ascontiguousarray(rows[:, 64:]))
    answers = session.evaluate(codes, np.concatenate(states))
    shares = normalised(move_probabilities(answers, codes, moves, offsets), offsets)
    for i, game in enumerate(games):
        one = shares[offsets[i] : offsets[i + 1]].astype(np.float64)
        game.board.push(to_move(int(moves[offsets[i] + rng.choice(len(one), p=one / one.sum())])))
        if (ended := game.board.outcome()) is not None:
            game.result = ended.result()
        elif game.board.halfmove_clock >= 100 or game.board.is_repetition(3):
            game.result = "1/2-1/2"


def judged(engine: chess.engine.SimpleEngine, board: chess.Board) -> str:
    score = engine.analyse(board, chess.engine.Limit(depth=8))["score"].white().score(mate_score=10_000)
    return "1-0" if score >= ENOUGH else "0-1" if score <= -ENOUGH else "1/2-1/2"


def played(
    session: Session, waiting: list[Game], rating: int, plies: int, stockfish: str, rng: np.random.Generator
) -> list[Game]:
    """The games, played to their ends."""
    playing: list[Game] = []
    done: list[Game] = []
    with chess.engine.SimpleEngine.popen_uci(stockfish) as engine:
        while waiting or playing:
            while waiting and len(playing) < AT_ONCE:
                playing.append(waiting.pop())
            step(session, playing, rating, rng)
            for game in playing:
                if game.result is None and len(game.board.move_stack) >= plies:
                    game.result = judged(engine, game.board)
            done += [game for game in playing if game.result is not None]
            playing = [game for game in playing if game.result is None]
    return done


def cell(scores: list[float] | NDArray[np.float64]) -> str:
    error = 1.96 * np.std(scores) / max(len(scores), 1) ** 0.5
    return f"{np.mean(scores):.1%} ±{100 * error:.1f} ({len(scores):,})" if len(scores) else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("store")
    parser.add_argument("--rating", type=int, default=1500)
    parser.add_argument("--games", type=int, default=3000)
    parser.add_argument("--plies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stockfish", default=None)
    options = parser.parse_args()
    if (stockfish := find_stockfish(options.stockfish)) is None:
        raise SystemExit("Stockfish is needed to judge games that do not end")
    rng = np.random.default_rng(options.seed)
    session, store = Session(options.network), Store(options.store)
    games = begun(store, options.games, rng)
    people = of_people(store, options.rating)
    said: dict[str, list[float]] = defaultdict(list)
    white = expected_scores(session, [game.start for game in games], options.rating)
    for game, value in zip(games, white, strict=True):
        said[game.handicap].append(1 - value if game.behind == chess.WHITE else value)
    own: dict[str, list[float]] = defaultdict(list)
    for game in played(session, list(games), options.rating, options.plies, stockfish, rng):
        own[game.handicap].append(game.score)
    print(f"| ahead by | people within 300 of {options.rating} | its own games | it says |\n|---|---|---|---|")
    for name in TAKEN:
        print(f"| a {name} | {cell(people[name])} | {cell(own[name])} | {cell(said[name])} |")


if __name__ == "__main__":
    main()
