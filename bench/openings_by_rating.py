"""How a network with rating inputs opens, compared with people of these ratings.

    python bench/openings_by_rating.py human my.store --ratings 1200,1800,2400 --games 50

It plays games against itself from the start, both sides at one rating, every move drawn in proportion to its
probability (temperature 1), and counts first moves and answers in them and in the store's games of players within 100
points. A shuffle is a move that takes a piece back to the square that it left with its side's last move, within the
first 20 plies. Prints Markdown.
"""

import argparse
from collections import Counter

import chess
import numpy as np

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import STANDARD_START, encode_board
from kibitz.games.chess.sides import RATING_UNIT
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import Session
from kibitz.play.side_inputs import with_side_inputs
from kibitz.store.store import Store

PLIES = 20


def play(session: Session, rating: int, games: int, rng: np.random.Generator) -> list[chess.Board]:
    """Games of the network against itself, PLIES plies each, all at once."""
    boards = [chess.Board() for _ in range(games)]
    told = {"rating": rating // RATING_UNIT, "opponent_rating": rating // RATING_UNIT}
    for _ in range(PLIES):
        rows = np.stack([encode_board(board) for board in boards])
        state = np.concatenate(
            [
                with_side_inputs(row[None, 64:], session.side_inputs, board, told)
                for row, board in zip(rows, boards, strict=True)
            ]
        )
        codes = np.ascontiguousarray(rows[:, :64])
        moves, offsets = legal_moves(codes, np.ascontiguousarray(rows[:, 64:]))
        shares = normalised(move_probabilities(session.evaluate(codes, state), codes, moves, offsets), offsets)
        for i, board in enumerate(boards):
            one = shares[offsets[i] : offsets[i + 1]].astype(np.float64)
            board.push(to_move(int(moves[offsets[i] + rng.choice(len(one), p=one / one.sum())])))
    return boards


def real(store: Store, rating: int, most: int, rng: np.random.Generator) -> list[chess.Board]:
    """Games of players of this rating, their first PLIES plies."""
    white, black = (store.column(name).astype(int) for name in ("white_rating", "black_rating"))
    usual = (store.starts == STANDARD_START).all(1)[store.start_of]
    near = (abs(white - rating) <= 100) & (abs(black - rating) <= 100) & (store.plies >= PLIES) & usual
    boards = []
    for game in rng.permutation(np.flatnonzero(near))[:most]:
        board = chess.Board()
        first = store.offsets[game]
        for move in store.moves[first : first + PLIES]:
            board.push(to_move(int(move)))
        boards.append(board)
    return boards


def shuffles(board: chess.Board) -> int:
    moves = board.move_stack
    return sum(
        moves[i].from_square == moves[i - 2].to_square and moves[i].to_square == moves[i - 2].from_square
        for i in range(2, len(moves))
    )


def has_castled(board: chess.Board) -> bool:
    ends = ((move.from_square, move.to_square) for move in board.move_stack)
    return any(start in (chess.E1, chess.E8) and abs(end - start) == 2 for start, end in ends)


def names(board: chess.Board) -> tuple[str, str]:
    """White's first move, and both first moves together."""
    start = chess.Board()
    one = start.san(board.move_stack[0])
    start.push(board.move_stack[0])
    return f"1. {one}", f"1. {one} {start.san(board.move_stack[1])}"


def interval(count: int, n: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    z, p = 1.96, count / n
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("store")
    parser.add_argument("--ratings", default="1200,1800,2400")
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--most", type=int, default=2000, help="games of people a rating at most")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    session, store = Session(options.run), Store(options.store)
    rng = np.random.default_rng(options.seed)
    print("| rating | opening | people | network, of its games (95%) | inside |\n|---|---|---|---|---|")
    summary = []
    for rating in map(int, options.ratings.split(",")):
        own, people = play(session, rating, options.games, rng), real(store, rating, options.most, rng)
        for depth in (0, 1):
            played, known = (Counter(names(board)[depth] for board in boards) for boards in (own, people))
            for name, count in known.most_common(4 + 2 * depth):
                low, high = interval(played[name], len(own))
                share = count / len(people)
                mark = "yes" if low <= share <= high else "no"
                print(
                    f"| {rating} | {name} | {share:.1%} of {len(people):,} | {played[name] / len(own):.0%} "
                    f"({low:.0%} to {high:.0%}) | {mark} |"
                )
        counts = [sum(map(shuffles, boards)) / len(boards) for boards in (own, people)]
        castled = [sum(map(has_castled, boards)) / len(boards) for boards in (own, people)]
        row = [rating, *(f"{count:.2f}" for count in counts), *(f"{share:.0%}" for share in castled)]
        different = len({tuple(board.move_stack) for board in own})
        summary.append(f"| {' | '.join(map(str, row))} | {different} of {len(own)} |")
    print(f"\n| rating | shuffles a game in {PLIES} plies | people | a side has castled | people | different games |")
    print("|---|---|---|---|---|---|")
    print("\n".join(summary))


if __name__ == "__main__":
    main()
