"""The weights of human-search, fitted to games, and whether it predicts moves better than the policy alone.

    python bench/bench_human_search.py games.store --positions 300 --ahead 120 --save seen.npz
    python bench/bench_human_search.py --load seen.npz
    python bench/bench_human_search.py --mates puzzles.csv

In positions of games that the network has not seen, as many in each band of the mover's rating, it notes the prior of
each legal move (told all that is known of the game) and its value in the search of human-search. There are mates to be
seen in few of them, so that positions in which the mover is far ahead are added. Then it fits softmax(alpha · log prior
+ beta · value) to the moves that were played, with alpha and beta linear in the rating, by maximum likelihood: on one
half of the games for figures of the other, and the other way round. The weights that it prints at the end are fitted to
all, and so is the value of a mate. Intervals are 95%, over games. `--mates` asks instead how often mates in two are
begun, in puzzles (id, FEN, moves of which the first is the opponent's, rating) of up to 1200 points.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from pathlib import Path

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.games import choose
from kibitz.evaluation.policy.human.results import RatedSession
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import SIDE, decode_board
from kibitz.games.chess.sides import RATING_UNIT
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.puct.human import (
    IS_MATED,
    LEAST_PRIOR,
    MATES,
    RATING_OF_SEARCH,
    USUAL_RATING,
    VISITS,
    HumanSearchPlayer,
    HumanWeights,
    RootSearch,
)
from kibitz.play.result import SearchLimits, TimeManager
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Positions
from kibitz.store.store import Store

BANDS = (800, 1200, 1400, 1600, 1800, 2000, 2200, 2800)
CANDIDATES, LOOKED_AT = 200_000, 25_000
"""Positions that are drawn, of which the first of each band are taken; so many of them for positions far ahead."""
FAR = 0.8
"""The network's value without a search, from which on the mover is far ahead."""

Seen = dict[str, NDArray[np.float64]]
"""move: log, value, played, of (number of the position); position: rating, game, ahead (0 or 1)."""


def drawn(positions: Positions, store: Store, session: Session, count: int, far: bool) -> NDArray[np.int64]:
    """Positions in which a move was played, up to `count` in each band of the mover's rating."""
    ids = np.random.default_rng(0).integers(0, len(positions), CANDIDATES)
    if far:
        batch = positions.batch(ids[:LOOKED_AT])
        ids = ids[:LOOKED_AT][session.evaluate(batch.codes, batch.state)["value"] >= FAR]
    batch = positions.batch(ids)
    sides = np.stack([store.column("white_rating"), store.column("black_rating")]).astype(np.int64)
    rating = np.where((sides[:, batch.games] > 0).all(0), sides[batch.state[:, SIDE], batch.games], 0)
    bands = [ids[(rating >= low) & (rating < high)][:count] for low, high in itertools.pairwise(BANDS)]
    return np.sort(np.concatenate(bands))


def look(path: str, run: str, counts: tuple[int, int], rating: int, visits: int) -> Seen:
    """What the network and the search say of the moves of positions. counts: of each band, and of each band far
    ahead; rating: inside the search; 0: the mover's."""
    store, session = Store(path), Session(run)
    rated = RatedSession(session, store)
    positions = Positions(store, choose(Run(run), store).games, last=-2)
    parts = [drawn(positions, store, session, count, far) for count, far in zip(counts, (False, True), strict=True)]
    ids = np.concatenate(parts)
    batch = positions.batch(ids)
    ratings = rated.ratings[batch.state[:, SIDE], batch.games]
    searches = {each: RootSearch(session, rating=each, visits=visits) for each in {rating or int(r) for r in ratings}}
    logs, values, played, of = [], [], [], []
    begun = time.perf_counter()
    for i, (game, ply) in enumerate(zip(batch.games.tolist(), batch.plies.tolist(), strict=True)):
        one = positions.batch(ids[i : i + 1])
        moves, offsets = legal_moves(one.codes, one.state)
        answers = session.evaluate(one.codes, rated.full_state(one))
        priors = normalised(move_probabilities(answers, one.codes, moves, offsets), offsets)
        first = store.offsets[game]
        codes, state = store.replay(np.array([game]), np.array([0]))
        board = decode_board(codes[0], state[0])
        for move in store.moves[first : first + ply].tolist():
            board.push(to_move(move))
        search = searches[rating or int(ratings[i])]
        found = search.look(board, TimeManager(SearchLimits(), None, 0))
        logs += np.log(np.maximum(priors, LEAST_PRIOR)).tolist()
        values += [found[move][0] for move in moves.tolist()]
        played += (moves == store.moves[first + ply]).tolist()
        of += [i] * len(moves)
        if i % 200 == 199:
            print(
                f"{i + 1} of {len(ids)} positions, {(i + 1) / (time.perf_counter() - begun):.1f} a second", flush=True
            )
    return {
        "log": np.array(logs), "value": np.array(values), "played": np.array(played, float), "of": np.array(of, float),
        "rating": ratings.astype(float), "game": batch.games.astype(float),
        "ahead": np.repeat([0.0, 1.0], [len(part) for part in parts]),
    }  # fmt: skip


class Model:
    """Multinomial logit over the moves of positions. columns float64 [moves, k]."""

    def __init__(self, columns: NDArray[np.float64], of: NDArray[np.int64], played: NDArray[np.bool_]):
        self.columns, self.of, self.played, self.n = columns, of, played, int(of.max()) + 1

    def chances(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        score = self.columns @ weights
        top = np.full(self.n, -np.inf)
        np.maximum.at(top, self.of, score)
        odds = np.exp(score - top[self.of])
        return odds / np.bincount(self.of, odds, self.n)[self.of]

    def alone(self, some: NDArray[np.bool_]) -> str:
        """alpha and beta of the first two columns, fitted to some of the positions [n], with standard errors."""
        model = Model(self.columns[:, :2], self.of, self.played)
        weights = model.fit(some)
        errors = np.sqrt(np.diag(np.linalg.inv(model.slope(weights, some)[1])))
        alpha, beta = (f"{weight:.2f} ± {error:.2f}" for weight, error in zip(weights, errors, strict=True))
        return f"alpha {alpha}, beta {beta}"

    def slope(
        self, weights: NDArray[np.float64], some: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gradient [k] and curvature [k, k] of the log likelihood of some of the positions [n]."""
        inside = some[self.of]
        share = np.where(inside, self.chances(weights), 0)
        mean = np.stack([np.bincount(self.of, share * column, self.n) for column in self.columns.T], 1)
        curvature = (self.columns * share[:, None]).T @ self.columns - mean.T @ mean
        return self.columns[self.played & inside].sum(0) - mean.sum(0), curvature

    def fit(self, some: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The weights of maximum likelihood, by Newton's method, on some of the positions [n]."""
        weights = np.zeros(self.columns.shape[1])
        weights[0] = 1.0
        for _ in range(50):
            gradient, curvature = self.slope(weights, some)
            step = np.linalg.solve(curvature + 1e-9 * np.eye(len(weights)), gradient)
            weights = weights + step
            if np.abs(step).max() < 1e-8:
                break
        return weights


def report(seen: Seen) -> None:
    of, played, rating, game = seen["of"].astype(int), seen["played"] > 0, seen["rating"], seen["game"].astype(int)
    further = ((rating - USUAL_RATING) / 1000)[of]
    log, everywhere, first = seen["log"], np.ones(len(rating), bool), np.isin(game, np.unique(game)[::2])

    def model(mates: float, is_mated: float = IS_MATED) -> Model:
        value = np.clip(seen["value"], is_mated, mates)
        return Model(np.stack([log, value, log * further, value * further], 1), of, played)

    found = model(MATES)
    chances = {"policy": Model(log[:, None], of, played).chances(np.ones(1))}
    for name, one in (("alpha alone", Model(found.columns[:, [0, 2]], of, played)), ("human-search", found)):
        chances[name] = np.where(first[of], *(one.chances(one.fit(half)) for half in (~first, first)))
    losses = {name: -np.log(np.maximum(chance[played], 1e-9)) for name, chance in chances.items()}
    print(
        "| mover | positions | " + " | ".join(chances) + " | difference | first choice played, policy | human-search |"
    )
    print("|---" * (len(chances) + 5) + "|")
    groups, ahead = ClusterBootstrap(game), seen["ahead"] > 0
    rows = {
        f"{low} to {high - 1}": ~ahead & (rating >= low) & (rating < high) for low, high in itertools.pairwise(BANDS)
    }
    for name, mask in {**rows, "all of these": ~ahead, "far ahead": ahead}.items():
        if not mask.any():
            continue
        gained = groups.difference(losses["human-search"], losses["policy"], mask)
        cells = [f"{loss[mask].mean():.3f}" for loss in losses.values()]
        cells += [f"{gained.value:+.3f} ({gained.low:+.3f} to {gained.high:+.3f})"]
        cells += [f"{chosen(of, chances[which])[played][mask].mean():.1%}" for which in ("policy", "human-search")]
        print(f"| {name} | {int(mask.sum())} | " + " | ".join(cells) + " |")
    for name, mask in rows.items():
        if mask.any():
            print(f"{name} alone: {found.alone(mask)}")
    for is_mated, mates in itertools.product((-2.0, -1.3, -1.0), (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 2.0)):
        one = model(mates, is_mated)
        loss = -np.log(one.chances(one.fit(everywhere))[played]).mean()
        print(f"mates {mates:.1f}, is mated {is_mated:.1f}: log loss {loss:.4f} where it was fitted")
    alpha, beta, alpha_growth, beta_growth = found.fit(everywhere)
    print(f"alpha {alpha:.2f} {alpha_growth:+.2f}, beta {beta:.2f} {beta_growth:+.2f} with each 1,000 points")
    mating = seen["value"] > 1
    expected = ", ".join(f"{name} {chance[mating].sum():.1f}" for name, chance in chances.items())
    there = len(np.unique(of[mating]))
    print(f"the search saw a mate in {there} positions; played {(mating & played).sum()}, expected {expected}")


def chosen(of: NDArray[np.int64], chance: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which moves are the most likely ones of their positions."""
    best = np.zeros(int(of.max()) + 1)
    np.maximum.at(best, of, chance)
    return chance >= best[of]


def mates(path: Path, run: str, count: int) -> None:
    """How likely the first move of a mate in two is, by rating of the player: with the policy alone and searched."""
    session = Session(run)
    boards = []
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            board, moves = chess.Board(row["fen"]), row["moves"].split()
            if len(moves) != 4 or int(row["rating"]) > 1200:
                continue
            board.push_uci(moves[0])
            end = board.copy()
            for move in moves[1:]:
                end.push_uci(move)
            if end.is_checkmate():
                boards.append((board, chess.Move.from_uci(moves[1])))
    boards = boards[:count]
    print(f"{len(boards)} mates in two\n| rating | policy | human-search |\n|---|---|---|")
    for rating in (1000, 1200, 1500, 2000):
        told = dict.fromkeys(("rating", "opponent_rating"), rating // RATING_UNIT)
        chances = []
        for weights in (HumanWeights(alpha=1.0, beta=0.0, growth=0.0), None):
            player = HumanSearchPlayer(session, lines=250, side_inputs=told, weights=weights)
            found = []
            for board, move in boards:
                thought = player.think(board, SearchLimits())
                assert thought
                found.append(
                    next(line.probability for line in thought.lines if from_move(line.move) == from_move(move))
                )
            chances.append(np.mean(found))
        print(f"| {rating} | " + " | ".join(f"{chance:.0%}" for chance in chances) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", nargs="?")
    parser.add_argument("--run", default="human")
    parser.add_argument("--positions", type=int, default=300, help="of each band")
    parser.add_argument("--ahead", type=int, default=120, help="of each band with the mover far ahead")
    parser.add_argument("--rating", type=int, default=RATING_OF_SEARCH, help="inside the search; 0: the mover's")
    parser.add_argument("--visits", type=int, default=VISITS)
    parser.add_argument("--save", type=Path, help="a file for what was seen, npz")
    parser.add_argument("--load", type=Path, help="such a file, instead of a store")
    parser.add_argument("--mates", type=Path, help="puzzles")
    args = parser.parse_args()
    if args.mates:
        mates(args.mates, args.run, args.positions)
        return
    if args.load:
        with np.load(args.load) as file:
            seen = {name: file[name] for name in file.files}
    else:
        seen = look(args.store, args.run, (args.positions, args.ahead), args.rating, args.visits)
    if args.save:
        np.savez(args.save, **seen)
    report(seen)


if __name__ == "__main__":
    main()
