"""Fit and check the ratings that moves look like (analysis/chess/strength).

    python bench/rating_estimates.py evaluate players.pgn --games 100 --into moves.npz
    python bench/rating_estimates.py check moves.npz
    python bench/rating_estimates.py fit moves.npz

`evaluate` reads games with the tag Owner, which names one of the players, and evaluates the owner's moves in the middle
games of each owner. `check` fits the parameters without one owner at a time. It estimates this owner's rating from 10,
30 and all of the games, and compares it with the owner's mean rating in these games. It prints the median error over
players, and the share of 90% intervals that contain the rating. It prints the same by average loss of centipawns in a
search of four plies. `fit` writes the parameters of all games to src/kibitz/analysis/chess/strength/model.json. The
players must not be in the training games of the network.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz import manifest
from kibitz.analysis.chess.ratings import ratings_of
from kibitz.analysis.chess.strength.estimate import LEVEL, PARTS, RatingModel, raw_rating
from kibitz.analysis.chess.strength.likelihoods import RATINGS, side_likelihoods
from kibitz.analysis.chess.strength.player import player_game
from kibitz.games.chess.io.reader import parse
from kibitz.games.chess.replay import encode_board
from kibitz.games.chess.sides import SCALES
from kibitz.play.chess.quiescence import quiescence_search
from kibitz.play.session import Session
from kibitz.runs import ONNX

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
from held_out_players import games_of, owner_of

NETWORK = "human"
MODEL = Path("src/kibitz/analysis/chess/strength/model.json")
FEWEST_PLIES = 20
SIZES = (10, 30, 10_000)
"""Numbers of successive games; the last means all games."""
OWN_SCALES = ("lichess", "chess.com")
LOSS_DEPTH, MOST_CENTIPAWNS = 4, 1000
SMALLEST_ERROR = 60.0
"""Points; smaller errors get no more weight in the median regression."""


@dataclass(frozen=True)
class Games:
    """One game of an owner in each row; n rows, in the order of time.

    log: sums of the owner's log-likelihoods by phase, float64 [n, 3, 6]. moves: int64 [n, 3]. lost: the sum of the
    centipawns that the owner's moves lost, float64 [n]. rating: the owner's, float64 [n]. scale: int64 [n], an index
    into SCALES. owner: int64 [n].
    """

    log: NDArray[np.float64]
    moves: NDArray[np.int64]
    lost: NDArray[np.float64]
    rating: NDArray[np.float64]
    scale: NDArray[np.int64]
    owner: NDArray[np.int64]


def evaluate(path: Path, most: int, into: Path) -> None:
    texts = defaultdict(list)
    for text in games_of(path):
        texts[owner_of(text)].append(text)
    session, rows, begun = Session(NETWORK), [], time.monotonic()
    for number, owner in enumerate(sorted(texts)):
        games = texts[owner]
        first = max(0, (len(games) - most) // 2)
        for text in games[first : first + most]:
            record = parse(text)
            if record is None or record.refused or len(list(record.game.mainline_moves())) < FEWEST_PLIES:
                continue
            white = record.game.headers.get("White", "").lower() == owner.split("@")[0].lower()
            moves = side_likelihoods(record.game, chess.WHITE if white else chess.BLACK, session)
            game = player_game(record.game, "white" if white else "black", moves)
            if game.too_fast or not ratings_of(record.game.headers)[not white]:
                continue
            log = np.zeros((len(PARTS) - 1, len(RATINGS)))
            np.add.at(log, moves.phase, moves.log.astype(float))
            counts = np.bincount(moves.phase, minlength=len(log))
            rows.append(
                (log, counts, lost_centipawns(record.game, white), game.rating, SCALES.index(game.scale), number)
            )
        print(f"player {number + 1} of {len(texts)}, {len(rows):,} games, {time.monotonic() - begun:.0f} s", flush=True)
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        np.savez(into, **dict(zip(Games.__annotations__, columns, strict=True)))


def lost_centipawns(game: chess.pgn.Game, white: bool) -> float:
    """Return the centipawns that one side's moves lost, by material in a search of LOSS_DEPTH plies."""
    board, rows = game.board(), [encode_board(game.board())]
    for move in game.mainline_moves():
        board.push(move)
        rows.append(encode_board(board))
    seen = quiescence_search(np.stack(rows), LOSS_DEPTH, threads=1)
    n = np.arange(len(rows))
    depth = np.append(np.minimum(seen.reached[:-1], seen.reached[1:] + 1), seen.reached[-1]).clip(0)
    before = seen.scores[n, depth].astype(float).clip(-MOST_CENTIPAWNS, MOST_CENTIPAWNS)
    after = seen.scores[n[1:], (depth[:-1] - 1).clip(0)].astype(float).clip(-MOST_CENTIPAWNS, MOST_CENTIPAWNS)
    return float((before[:-1] + after).clip(0)[0 if white else 1 :: 2].sum())


def load(path: Path) -> Games:
    with np.load(path) as file:
        return Games(*(file[name] for name in Games.__annotations__))


@dataclass(frozen=True)
class Blocks:
    """Successive games of one owner in each row: raw value of the method, rating, moves, size, scale, owner."""

    raw: NDArray[np.float64]
    rating: NDArray[np.float64]
    moves: NDArray[np.float64]
    size: NDArray[np.int64]
    scale: NDArray[np.int64]
    owner: NDArray[np.int64]

    def where(self, mask: NDArray[np.bool_]) -> Blocks:
        return Blocks(*(values[mask] for values in vars(self).values()))


def blocks_of(games: Games, part: str, by_loss: bool = False) -> Blocks:
    """Return all blocks of each of SIZES. by_loss: the raw value is the average loss instead of the raw rating."""
    phases = slice(None) if part == PARTS[0] else slice(PARTS.index(part) - 1, PARTS.index(part))
    rows = []
    for owner in np.unique(games.owner):
        own = np.flatnonzero((games.owner == owner) & (games.moves[:, phases].sum(1) > 0))
        for size in SIZES:
            count = min(size, len(own))
            for first in range(0, len(own) - count + 1, count):
                at = own[first : first + count]
                moves = games.moves[at][:, phases].sum()
                raw = games.lost[at].sum() / moves if by_loss else raw_rating(games.log[at][:, phases].sum((0, 1)))
                rows.append((raw, games.rating[at].mean(), moves, size, games.scale[at[0]], owner))
    return Blocks(*(np.array(column) for column in zip(*rows, strict=True)))


def fit(blocks: Blocks, scale: int | None) -> RatingModel:
    """Return the parameters for a scale. All scales share the slope; None: they also share the offset."""
    whole = blocks.where(blocks.size == SIZES[-1])
    shared = scale is None
    design = np.stack([np.ones(len(whole.raw)), whole.raw], 1)
    if not shared:
        design = np.concatenate([design, (whole.scale != scale)[:, None]], 1)
    offset, slope, *_ = median_regression(design, whole.rating)
    here = np.ones(len(blocks.raw), bool) if shared else blocks.scale == scale
    error = offset + slope * blocks.raw - blocks.rating
    last = np.abs(error[here & (blocks.size == SIZES[-1])])
    style = float(np.quantile(last, min(1.0, LEVEL * (len(last) + 1) / len(last))))
    scatter, degrees = 0.0, 0
    for owner in np.unique(blocks.owner[here]):
        some = here & (blocks.owner == owner) & (blocks.size == SIZES[0])
        if some.sum() > 1:
            inner = error[some] - error[some].mean()
            scatter += float((inner**2 * blocks.moves[some]).sum())
            degrees += int(some.sum()) - 1
    return RatingModel(float(offset), float(slope), style, 1.6449 * (scatter / max(degrees, 1)) ** 0.5)


def median_regression(design: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return coefficients that minimize the absolute errors: players who are not what they seem weigh little."""
    weight = np.ones(len(y))
    for _ in range(100):
        found = np.linalg.lstsq(design * weight[:, None] ** 0.5, y * weight**0.5, rcond=None)[0]
        weight = 1 / np.maximum(np.abs(y - design @ found), SMALLEST_ERROR)
    return np.asarray(found)


def check(games: Games) -> None:
    for by_loss in (False, True):
        print("by average loss:" if by_loss else "by likelihood:")
        blocks = blocks_of(games, PARTS[0], by_loss)
        for size in SIZES:
            results = []
            for owner in np.unique(blocks.owner):
                own = blocks.where((blocks.owner == owner) & (blocks.size == size))
                model = fit(blocks.where(blocks.owner != owner), int(own.scale[0]))
                errors = np.array([model.value(raw) for raw in own.raw]) - own.rating
                widths = np.array([model.half_width(int(moves)) for moves in own.moves])
                inside = (np.abs(errors) <= widths).mean()
                results.append((own.scale[0], np.median(np.abs(errors)), inside, widths.mean(), errors.mean()))
            table = np.array(results)
            for name in ("all", *OWN_SCALES):
                rows = table if name == "all" else table[table[:, 0] == SCALES.index(name)]
                games_of_block = size if size < SIZES[-1] else "all"
                most = np.quantile(rows[:, 1], LEVEL)
                error = f"median error {np.median(rows[:, 1]):4.0f} (90% of the players: {most:4.0f})"
                interval = (
                    f"intervals that contain the rating {rows[:, 2].mean():4.0%}, half width {rows[:, 3].mean():4.0f}"
                )
                print(f"  {games_of_block:>4} games, {name:<10} {error}, {interval}, {len(rows)} players")


def write(games: Games) -> None:
    models: dict[str, dict[str, dict[str, float]]] = {}
    for name in ("", *OWN_SCALES):
        models[name] = {}
        for part in PARTS:
            model = fit(blocks_of(games, part), SCALES.index(name) if name else None)
            models[name][part] = {key: round(value, 4) for key, value in vars(model).items()}
    network = manifest.sha256(Session(NETWORK).run.path / ONNX)
    MODEL.write_text(json.dumps({"network": network, "models": models}, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("evaluate")
    first.add_argument("games", type=Path)
    first.add_argument("--games", dest="most", type=int, default=100)
    first.add_argument("--into", type=Path, required=True)
    for name in ("check", "fit"):
        commands.add_parser(name).add_argument("moves", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "evaluate":
        evaluate(arguments.games, arguments.most, arguments.into)
    elif arguments.command == "check":
        check(load(arguments.moves))
    else:
        write(load(arguments.moves))


if __name__ == "__main__":
    main()
