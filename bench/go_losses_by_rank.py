"""How many points Go players of each rank lose per move, and the parameters with which reports compare a player.

    python bench/go_losses_by_rank.py collect losses.jsonl kgs.sgf --games 60
    python bench/go_losses_by_rank.py check losses.jsonl
    python bench/go_losses_by_rank.py fit losses.jsonl

`collect` takes games on 19×19 in which both ranks are known, spread evenly over bands of the weaker player's rank. It
analyzes them as a report does, and writes a line for each side of a game. If the file exists, its games are not
analyzed again. `check` fits the parameters without one fifth of the games at a time. It compares the predicted and the
observed loss of the sides that were left out, by rank and by part. `fit` writes the parameters to
src/kibitz/analysis/go/losses.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz import manifest
from kibitz.analysis import load_owners
from kibitz.analysis.go.changes import SIDES
from kibitz.analysis.go.games import analyse
from kibitz.analysis.go.kinds import AREAS, KINDS, area_of, kind_of
from kibitz.analysis.go.predictions import PHASES, phase_of
from kibitz.analysis.sharing import opened
from kibitz.games.go.io.sgf import Record, read_records
from kibitz.games.go.points import BLACK, PASS, WHITE
from kibitz.games.go.ranks import FIRST_PROFESSIONAL, rank_of, rank_value, read_rank
from kibitz.play.session import Session
from kibitz.runs import ONNX

BANDS = ((-29, -13), (-12, -9), (-8, -5), (-4, -2), (-1, 0), (1, 2), (3, 4), (5, 5), (6, 6), (7, 9))
"""Bands of ranks, as values of `rank_value`: 30k to 14k, 13k to 10k and so on."""
FEWEST_MOVES = 100
MODEL = Path("src/kibitz/analysis/go/losses.json")


def ranks_of(record: Record) -> tuple[int, int] | None:
    """Return Black's and White's rank; None if one is unknown or a professional's."""
    found = [read_rank(record.headers.get(name, "")) for name in ("BR", "WR")]
    values = [rank_value(rank) for rank in found if rank]
    return (values[0], values[1]) if len(values) == 2 and max(values) < FIRST_PROFESSIONAL else None


def chosen(files: list[str], most: int) -> list[tuple[int, Record]]:
    """Return games and their numbers, one of each band in turn. Within a band, a hash of the moves decides."""
    bands = defaultdict(list)
    for number, record in enumerate(read_records(files, cut=True), 1):
        if not isinstance(record, Record) or record.size != 19 or len(record.moves) < FEWEST_MOVES:
            continue
        if (ranks := ranks_of(record)) is None:
            continue
        band = next((i for i, (low, high) in enumerate(BANDS) if low <= min(ranks) <= high), None)
        if band is not None:
            digest = hashlib.sha256(str(record.moves).encode()).hexdigest()
            bands[band].append((digest, number, record))
            bands[band].sort(key=lambda one: one[0])
            del bands[band][most:]
    turns = [[bands[band][i] for band in bands if i < len(bands[band])] for i in range(most)]
    return [(number, record) for turn in turns for _, number, record in turn][:most]


def collect(target: Path, files: list[str], network: str, most: int, part: int, parts: int) -> None:
    done = {json.loads(line)["game"] for line in target.read_text().splitlines()} if target.exists() else set()
    session = opened(network)
    analysis = load_owners(session.system)
    with target.open("a") as file:
        for number, record in chosen(files, most)[part::parts]:
            if number in done:
                continue
            ranks = ranks_of(record)
            assert ranks is not None
            game = analyse(number, record, session, analysis, steadied=True)
            for colour, rank in zip((BLACK, WHITE), ranks, strict=True):
                rows = []
                for move in game.moves:
                    if move.colour == colour and move.point != PASS:
                        before, after = (game.positions[ply].colours for ply in (move.ply - 1, move.ply))
                        kind = kind_of(move.point, before, after)
                        where = phase_of(move.ply, move.size), area_of(move.point, move.size), kind
                        rows.append([*where, round(max(0.0, -move.change), 3)])
                file.write(json.dumps({"game": number, "side": SIDES[colour], "rank": rank, "moves": rows}) + "\n")
            file.flush()


Sides = list[dict[str, Any]]
"""Lines of the file: "game", "side", "rank" and "moves", each with phase, area, kind and loss."""
WIDTH = 2 + len(PHASES) - 1 + len(AREAS) - 1 + len(KINDS) - 1
RESAMPLES = 300


def load(path: Path) -> Sides:
    return [side for side in map(json.loads, path.read_text().splitlines()) if side["moves"]]


def arrays(sides: Sides) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the design of a log-linear model, float64 [moves, WIDTH], and the losses, float64 [moves]."""
    columns, losses = [], []
    for side in sides:
        moves = np.array(side["moves"], np.float64)
        parts = [moves[:, [0]] == range(1, len(PHASES)), moves[:, [1]] == range(1, len(AREAS))]
        parts.append(moves[:, [2]] == range(1, len(KINDS)))
        start = np.tile([1.0, side["rank"]], (len(moves), 1))
        columns.append(np.concatenate([start, *parts], 1))
        losses.append(moves[:, 3])
    return np.concatenate(columns), np.concatenate(losses)


def fitted(sides: Sides) -> NDArray[np.float64]:
    """Return the coefficients, float64 [WIDTH], by iterated least squares with the variance of a Poisson model."""
    x, y = arrays(sides)
    found = np.zeros(WIDTH)
    found[0] = np.log(y.mean())
    ridge = np.diag([0.0] + [1e-3] * (WIDTH - 1))
    for _ in range(50):
        mean = np.exp(np.clip(x @ found, -10, 5))
        found = np.linalg.solve((x * mean[:, None]).T @ x + ridge, (x * mean[:, None]).T @ (x @ found + y / mean - 1))
    return found


def resampled(sides: Sides) -> NDArray[np.float64]:
    """Return the coefficients of RESAMPLES samples of the games, float64 [RESAMPLES, WIDTH]."""
    by_game = defaultdict(list)
    for side in sides:
        by_game[side["game"]].append(side)
    games, rng = list(by_game.values()), np.random.default_rng(1)
    draws = (rng.integers(0, len(games), len(games)) for _ in range(RESAMPLES))
    return np.array([fitted([side for i in draw for side in games[i]]) for draw in draws])


def mean_loss(found: NDArray[np.float64], sides: Sides, rank: int) -> float:
    """Return the mean loss at a rank over the moves of all sides."""
    x, _ = arrays([{**side, "rank": rank} for side in sides])
    return float(np.exp(x @ found).mean())


def check(sides: Sides) -> None:
    """Print predicted and observed losses of sides that the fit has not seen, by rank and by part."""
    games = np.array([side["game"] for side in sides])
    fold = {game: i % 5 for i, game in enumerate(np.unique(games))}
    rows = []
    for part in range(5):
        found = fitted([side for side in sides if fold[side["game"]] != part])
        for side in sides:
            if fold[side["game"]] == part:
                x, y = arrays([side])
                moves = np.array(side["moves"])
                rows += [(side["rank"], *move[:3], value, loss) for move, value, loss in
                         zip(moves, np.exp(x @ found), y, strict=True)]  # fmt: skip
    table = np.array(rows)
    print(f"{len(fold)} games, {len(sides)} sides, {len(table):,} moves")
    for low, high in ((-29, -9), (-8, 0), (1, 4), (5, 6), (7, 9)):
        some = table[(table[:, 0] >= low) & (table[:, 0] <= high)]
        if len(some):
            print(f"{rank_of(low)} to {rank_of(high)}: predicted {some[:, 4].mean():.2f}, {some[:, 5].mean():.2f} lost")
    for at, names in ((1, PHASES), (2, AREAS), (3, KINDS)):
        for i, name in enumerate(names):
            some = table[table[:, at] == i]
            print(f"{name}: predicted {some[:, 4].mean():.2f}, {some[:, 5].mean():.2f} lost, {len(some):,} moves")
    whole, draws = fitted(sides), resampled(sides)
    print(f"change per rank: {100 * np.expm1(whole[1]):+.1f}% (95% interval", end=" ")
    print(", ".join(f"{100 * np.expm1(end):+.1f}" for end in np.percentile(draws[:, 1], [2.5, 97.5])) + ")")
    for rank in (-14, -9, -4, 1, 5, 8):
        low, high = np.percentile([mean_loss(one, sides, rank) for one in draws[:100]], [2.5, 97.5])
        interval = f"95% interval {low:.2f} to {high:.2f}"
        print(f"{rank_of(rank)}: {mean_loss(whole, sides, rank):.2f} points per move ({interval})")


def write(sides: Sides, network: str) -> None:
    whole, draws = fitted(sides), resampled(sides)
    ranks = [side["rank"] for side in sides]
    lists, at = {}, 2
    for name, values in (("phase", PHASES), ("area", AREAS), ("kind", KINDS)):
        lists[name] = [0.0, *(round(float(one), 4) for one in whole[at : at + len(values) - 1])]
        at += len(values) - 1
    errors = {}
    for rank in range(-20, 10, 5):
        values = [mean_loss(one, sides, rank) for one in draws[:100]]
        errors[str(rank)] = round(float(np.std(values) / np.mean(values)), 4)
    found = {
        "network": manifest.sha256(Session(network).run.path / ONNX), "games": len({side["game"] for side in sides}),
        "lowest": min(ranks), "highest": max(ranks), "base": round(float(whole[0]), 4),
        "slope": round(float(whole[1]), 5), **lists, "errors": errors,
    }  # fmt: skip
    MODEL.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("collect", "check", "fit"))
    parser.add_argument("losses", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--network", default="gohuman")
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--part", type=int, default=0, help="for several processes: which of --parts")
    parser.add_argument("--parts", type=int, default=1)
    args = parser.parse_args()
    if args.action == "collect":
        collect(args.losses, args.files, args.network, args.games, args.part, args.parts)
    elif args.action == "check":
        check(load(args.losses))
    else:
        write(load(args.losses), args.network)


if __name__ == "__main__":
    main()
