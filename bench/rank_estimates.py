"""Can a Go player's moves show the rank? Estimates of unseen players' ranks from likelihoods and lost points.

    python bench/rank_estimates.py collect sides.jsonl games.store kgs.sgf
    python bench/rank_estimates.py check sides.jsonl

`collect` takes players of all ranks, with at most GAMES games of each player, and single games of other players. The
network predicts MOVES moves of each side as if both players had each rank of RANKS. In handicap games, the ranks differ
by the number of stones. A line for each side has the sums of FEATURES over these moves. The store is an import of the
same file. `check` estimates the rank by ridge regression from 1, 3 and 5 games. The estimate of a player uses the other
nine tenths of the players. It compares the errors with those of one guess for all players, the median rank.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.go.games import _played
from kibitz.analysis.go.predictions import with_side_inputs
from kibitz.analysis.sharing import opened
from kibitz.games.go.io.sgf import Record, read_records
from kibitz.games.go.points import PASS
from kibitz.games.go.ranks import value_or_nan
from kibitz.games.go.replay import SIDE
from kibitz.games.go.sides import LOWEST_RANK, OPPONENT, RANK
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.store import Store

RANKS = (None, -14, -5, 2, 9)
"""The ranks that the network gets, as values of `rank_value`; None means unknown."""
BANDS = ((-30, -14), (-13, -9), (-8, -4), (-3, 0), (1, 2), (3, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 9))
PLAYERS, GAMES, SINGLE, UNSEEN, MOVES = 16, 5, 25, 25, 30
"""Players of each band; games of each of them; single games of kyu players; unseen games; moves of each side."""
FEWEST_PLIES, FEWEST_MOVES = 80, 20
FEATURES = ("9d to 15k", "2d to 6k", "9d to 2d", "gap", "top", "loss")
"""Differences of the log-likelihood between two ranks; the distance to the most likely move in log-likelihood; how
often it was played; and the change of the network's lead, at most 20 points a move.
"""
SETS = {"likelihoods": (0, 1, 2), "lost points": (5,), "both": tuple(range(len(FEATURES)))}


def sides_of(store: Store, run: Run) -> dict[int, list[tuple[int, str, int, bool]]]:
    """Return the chosen sides by the number of the game: color, player, rank, and whether the game is unseen."""
    unseen = run.unseen_games(store, np.arange(len(store.plies)))
    names = ["black_rank", "white_rank", "black", "white", "size", "number"]
    columns = store.table(names)
    table = {name: columns[name].to_pylist() for name in names}
    known: list[dict[tuple[str, int], list[tuple[int, int, bool]]]] = [defaultdict(list) for _ in BANDS]
    for game in range(len(unseen)):
        if table["size"][game] != 19 or store.plies[game] < FEWEST_PLIES:
            continue
        for colour, side in enumerate(("black", "white")):
            rank = value_or_nan(table[f"{side}_rank"][game])
            for band, (low, high) in enumerate(BANDS):
                if low <= rank <= high:
                    its = (table["number"][game], colour, bool(unseen[game]))
                    known[band][table[side][game], int(rank)].append(its)
    rng, found = random.Random(7), defaultdict(list)
    for band, players in enumerate(known):
        kyu = band < 4
        several = sorted(one for one in players if len(players[one]) >= (3 if kyu else GAMES))
        rng.shuffle(several)
        wanted = [(one, its) for one in several[:PLAYERS] for its in players[one][:GAMES]]
        single = sorted(one for one in players if kyu and len(players[one]) < 3)
        rng.shuffle(single)
        wanted += [(one, players[one][0]) for one in single[:SINGLE]]
        fresh = sorted((one, its) for one in players for its in players[one] if its[2])
        rng.shuffle(fresh)
        for (player, rank), (number, colour, is_unseen) in dict.fromkeys([*wanted, *fresh[:UNSEEN]]):  # each side once
            found[number].append((colour, player, rank, is_unseen))
    return found


def features(session: Session, record: Record, colour: int, number: int) -> tuple[int, list[float]] | None:
    """Return the number of moves and the sums of FEATURES over them; None for a side with few moves."""
    codes, state, _, _ = _played(record)
    full = with_side_inputs(record, state)
    own = [i for i in range(len(codes) - 1) if state[i, SIDE] == colour and record.moves[i] != PASS]
    if len(own) < FEWEST_MOVES:
        return None
    picked = sorted(random.Random(number).sample(own, min(MOVES, len(own))))
    stones = record.handicap if record.handicap >= 2 else 0
    parts = [(picked, rank) for rank in RANKS] + [([i + 1 for i in picked], None)]
    rows = []
    for at, rank in parts:
        rows.append(full[at].copy())
        rows[-1][:, [RANK, OPPONENT]] = 0
        if rank is not None:
            other = min(9, max(-29, rank + stones if colour == 0 else rank - stones))
            rows[-1][:, RANK], rows[-1][:, OPPONENT] = LOWEST_RANK + rank, LOWEST_RANK + other
    answers = session.evaluate(np.concatenate([codes[at] for at, _ in parts]), np.concatenate(rows))
    n = len(picked)
    policy = np.log(np.maximum(answers["policy"].reshape(len(parts), n, -1)[:-1], 1e-5))
    lead = answers["lead"].reshape(len(parts), n)
    _, weak, middle, dan, strong = policy[:, np.arange(n), [record.moves[i] for i in picked]]
    gap = strong - policy[-1].max(-1)
    lost = np.clip(lead[-1] + lead[0], 0, 20)
    columns = (strong - weak, dan - middle, strong - dan, gap, gap == 0, lost)
    return n, [round(float(column.sum()), 4) for column in columns]


def collect(target: Path, store: Store, files: list[str], network: str) -> None:
    session = opened(network)
    wanted = sides_of(store, session.run)
    with target.open("w") as file:
        for number, record in enumerate(read_records(files), 1):
            if number not in wanted or not isinstance(record, Record):
                continue
            for colour, player, rank, is_unseen in wanted[number]:
                if (found := features(session, record, colour, number)) is not None:
                    name = hashlib.sha256(player.encode()).hexdigest()[:12]
                    line = {"game": number, "player": name, "rank": rank, "unseen": is_unseen, "moves": found[0],
                            "features": found[1]}  # fmt: skip
                    file.write(json.dumps(line) + "\n")


def blocks(sides: list[dict[str, Any]], size: int) -> Iterator[tuple[str, int, NDArray[np.float64]]]:
    """Yield player, rank and mean features of `size` games of each player."""
    own = defaultdict(list)
    for side in sides:
        own[side["player"], side["rank"]].append(side)
    for (player, rank), its in own.items():
        for first in range(0, len(its) - size + 1, size):
            some = its[first : first + size]
            total = np.sum([side["features"] for side in some], axis=0)
            yield player, rank, total / sum(side["moves"] for side in some)


def estimates(x: NDArray[np.float64], y: NDArray[np.float64], fold: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rank of each block, estimated without the blocks of its fold."""
    found = np.zeros(len(y))
    for part in np.unique(fold):
        seen = fold != part
        middle, spread = x[seen].mean(0), x[seen].std(0)
        rows = np.concatenate([np.ones((len(x), 1)), (x - middle) / spread], 1)
        ridge = 3 * np.diag([0.0] + [1.0] * x.shape[1])
        weights = np.linalg.solve(rows[seen].T @ rows[seen] + ridge, rows[seen].T @ y[seen])
        found[~seen] = rows[~seen] @ weights
    return found


def check(sides: list[dict[str, Any]]) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 3, 5):
        players, ranks, means = (np.array(column) for column in zip(*blocks(sides, size), strict=True))
        order = {player: i % 10 for i, player in enumerate(rng.permutation(np.unique(players)))}
        fold = np.array([order[player] for player in players])
        guess, dan = np.abs(ranks - np.median(ranks)), ranks >= 1
        print(f"{size} games, {len(ranks)} blocks, {len(order)} players, {dan.sum()} of dan: one guess for all")
        print(f"  median error {np.median(guess):.1f}, 90% below {np.quantile(guess, 0.9):.1f}")
        for name, columns in SETS.items():
            found = estimates(means[:, columns], ranks.astype(float), fold)
            error = np.abs(found - ranks)
            inside = [f"{np.corrcoef(found[part], ranks[part])[0, 1]:.2f}" for part in (dan, ~dan)]
            print(
                f"  {name}: median error {np.median(error):.1f}, 90% below {np.quantile(error, 0.9):.1f}, kyu"
                f" {np.median(error[~dan]):.1f}, dan {np.median(error[dan]):.1f}; correlation within dan {inside[0]},"
                f" within kyu {inside[1]}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("collect")
    first.add_argument("sides", type=Path)
    first.add_argument("store", type=Path)
    first.add_argument("files", nargs="+")
    first.add_argument("--network", default="gohuman")
    commands.add_parser("check").add_argument("sides", type=Path)
    args = parser.parse_args()
    if args.command == "collect":
        collect(args.sides, Store(args.store), args.files, args.network)
    else:
        check([json.loads(line) for line in args.sides.read_text().splitlines()])


if __name__ == "__main__":
    main()
