"""Fit and check the risk of positions (analysis/chess/risk.py) on games of real players.

    python bench/bench_risk.py collect players.pgn --games 100 --into risks.pkl
    python bench/bench_risk.py check risks.pkl [--in-use]

`collect` reads games with the tag Owner. It draws them evenly from the owners and judges every move with the default
search. A game takes 10 to 30 s of processor time. Ctrl-C keeps what is done.

`check` fits the parameters on half of the games and predicts the mistakes in the other half, and the other way round.
It compares the predicted share of mistakes with the observed share, by deciles of the prediction. It also prints the
area under the ROC curve (AUC), and the parameters of all games. With `--in-use` it checks the parameters that kibitz
uses, and fits nothing. The players must not be in the training games of the network.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from kibitz.analysis import load
from kibitz.analysis.chess import risk as parameters
from kibitz.analysis.chess.judging import Judge
from kibitz.analysis.chess.moves import TOGETHER
from kibitz.analysis.chess.ratings import add_side_inputs, ratings_of
from kibitz.games.chess.io.reader import parse
from kibitz.games.chess.replay import SIDE, SQUARES, encode_board
from kibitz.play.session import Session

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
from held_out_players import games_of, owner_of

NETWORK = "human"
FEWEST_PLIES = 30
IN_USE = (
    parameters._LEAST, parameters._MOST, parameters._CENTER, parameters._WIDTH, parameters._BY_RATING,
    *parameters._SEARCHED, parameters._UNVISITED,
)  # fmt: skip
"""The parameters of kibitz. The first five were fitted with `human-1.0`, the others with `human-1.2`."""
BEGIN = np.array([0.01, 0.4, 0.06, 0.01, 1.0, 0.005, 0.9, 0.09, 0.02, 0.8])
DECILES = 10


def collect(path: Path, most: int, into: Path) -> None:
    texts = defaultdict(list)
    for text in games_of(path):
        texts[owner_of(text)].append(text)
    owners = sorted(texts)
    session, analysis = Session(NETWORK), load(NETWORK)
    judge = Judge(session, analysis)
    found: list[tuple] = []
    try:
        for number in range(most):
            games = texts[owners[number % len(owners)]]
            record = parse(games[(number // len(owners) + 1) * 7919 % len(games)])
            if record is None or record.refused or not all(ratings_of(record.game.headers)):
                continue
            found += judged(number, record.game, session, analysis, judge)
            into.write_bytes(pickle.dumps(found))
            print(f"\r{number + 1} of {most} games, {len(found):,} moves", end="", flush=True)
    except KeyboardInterrupt:
        pass
    print()


def judged(number: int, game, session, analysis, judge) -> list[tuple]:
    """Return for each move: game, rating, probabilities and first estimates of the legal moves, the judged loss, and
    the losses of the legal moves by the search's tree (NaN for moves with few visits).
    """
    moves = list(game.mainline_moves())
    if len(moves) < FEWEST_PLIES:
        return []
    board, rows = game.board(), [encode_board(game.board())]
    for move in moves:
        board.push(move)
        rows.append(encode_board(board))
    positions = np.stack(rows)
    state = add_side_inputs(positions[:, SQUARES:], game.headers, session.side_inputs, moves)
    codes = np.ascontiguousarray(positions[:, :SQUARES])
    expected = []
    for at in range(0, len(codes), TOGETHER):
        part = slice(at, at + TOGETHER)
        legal, offsets, chances = analysis.expected_moves(
            session.evaluate(codes[part], state[part]), codes[part], state[part]
        )
        expected += zip(np.split(legal, offsets[1:-1]), np.split(chances, offsets[1:-1]), strict=True)
    ratings, found = ratings_of(game.headers), []
    for i, judgement in enumerate(judge.judge(game.board(), moves, positions)[1]):
        if judgement.options is not None:
            legal, chances = expected[i]
            found.append(
                (
                    number, ratings[state[i, SIDE]], chances / chances.sum(), judgement.options.losses_of(legal),
                    judgement.loss,
                    np.array([judgement.searched.get(move, np.nan) for move in legal.tolist()]),
                )
            )  # fmt: skip
    return found


class Table:
    """The collected moves as arrays: probabilities and first estimates, [n, most legal moves], padded with 0."""

    def __init__(self, rows: list[tuple]):
        self.game, self.rating = (np.array([row[i] for row in rows]) for i in (0, 1))
        self.mistake = np.array([row[4] >= parameters.LOSS for row in rows], float)
        self.legal = np.array([len(row[2]) for row in rows])
        self.chances, self.losses, self.searched = np.zeros((3, len(rows), self.legal.max()))
        for i, row in enumerate(rows):
            self.chances[i, : self.legal[i]], self.losses[i, : self.legal[i]] = row[2], row[3]
            self.searched[i, : self.legal[i]] = row[5]
        self.found = np.array([not np.isnan(row[5]).all() for row in rows])

    def predicted(self, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the risk of positions `at` with these parameters."""
        by_rating, unvisited = values[4], values[9]
        searched = self.searched[at]
        unknown = np.isnan(searched)

        def mistakes(losses: np.ndarray, limits: np.ndarray, more: np.ndarray | float) -> np.ndarray:
            least, most, center, width = limits
            raw = least + (most - least) / (1 + np.exp(-((losses - center) / width).clip(-30, 30)))
            logit = np.log(raw / (1 - raw)) - by_rating * (self.rating[at] - parameters.MIDDLE)[:, None] / 1000 + more
            return 1 / (1 + np.exp(-logit))

        estimated = mistakes(self.losses[at], values[:4], np.where(self.found[at], unvisited, 0.0)[:, None])
        by_tree = mistakes(np.nan_to_num(searched), values[5:9], 0.0)
        chance = (self.chances[at] * np.where(unknown, estimated, by_tree)).sum(1)
        return np.where(self.legal[at] == 1, 1e-4, chance).clip(1e-4, 1 - 1e-4)

    def fitted(self, at: np.ndarray) -> np.ndarray:
        def cost(values: np.ndarray) -> float:
            if not (
                0 < values[0] < values[1] < 1 and 0 < values[5] < values[6] < 1 and min(values[3], values[8]) > 0.005
            ):
                return 9.0
            chance = self.predicted(values, at)
            return -float(np.mean(np.where(self.mistake[at] > 0, np.log(chance), np.log(1 - chance))))

        return minimize(cost, BEGIN, method="Nelder-Mead", options={"maxiter": 1500}).x


def auc(scores: np.ndarray, positive: np.ndarray) -> float:
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(len(scores))
    return (ranks[positive > 0].mean() - (positive.sum() - 1) / 2) / (positive == 0).sum()


def check(path: Path, in_use: bool) -> None:
    table = Table(pickle.loads(path.read_bytes()))
    half = table.game // 2 % 2
    predicted = np.empty(len(half))
    for side in range(2):
        at = np.flatnonzero(half == side)
        values = np.array(IN_USE) if in_use else table.fitted(np.flatnonzero(half != side))
        predicted[at] = table.predicted(values, at)
    print(f"{len(half):,} moves of {len(np.unique(table.game))} games, {table.mistake.mean():.1%} mistakes")
    print(f"AUC {auc(predicted, table.mistake):.3f}; predicted on average {predicted.mean():.1%}")
    gaps = []
    for part in np.array_split(np.argsort(predicted), DECILES):
        gaps.append(abs(predicted[part].mean() - table.mistake[part].mean()))
        print(f"  predicted {predicted[part].mean():6.1%}  observed {table.mistake[part].mean():6.1%}")
    print(f"mean difference of the deciles {np.mean(gaps) * 100:.1f} points, largest {max(gaps) * 100:.1f}")
    for low, high in ((0, 1200), (1200, 1800), (1800, 4000)):
        at = (table.rating >= low) & (table.rating < high)
        if at.any():
            shares = f"predicted {predicted[at].mean():.1%}, observed {table.mistake[at].mean():.1%}"
            quality = f"AUC {auc(predicted[at], table.mistake[at]):.3f}, {at.sum():,} moves"
            print(f"  rated {low} to {high}: {shares}, {quality}")
    if in_use:
        return
    print("parameters of all games:", np.round(table.fitted(np.arange(len(half))), 4).tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("collect")
    first.add_argument("file", type=Path)
    first.add_argument("--games", type=int, default=100)
    first.add_argument("--into", type=Path, required=True)
    second = commands.add_parser("check")
    second.add_argument("file", type=Path)
    second.add_argument("--in-use", action="store_true", help="check the parameters of kibitz instead of fitting")
    arguments = parser.parse_args()
    if arguments.command == "collect":
        collect(arguments.file, arguments.games, arguments.into)
    else:
        check(arguments.file, arguments.in_use)


if __name__ == "__main__":
    main()
