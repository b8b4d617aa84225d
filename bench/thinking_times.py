"""Fit and check how long people think (play/chess/thinking_time.py).

    python bench/thinking_times.py collect players.pgn --games 150 --into times.npz
    python bench/thinking_times.py check times.npz
    python bench/thinking_times.py fit times.npz

`collect` reads games with clocks and with the tag Owner, which names one of the players. It takes random moves of both
sides of each game, the first move of each side excepted. `check` fits the model on two thirds of the owners, and
compares predicted and played times on the games of the others. `fit` writes the parameters of all games into the
package.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.chess.ratings import add_side_inputs, ratings_of
from kibitz.games.chess.io.reader import parse
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import SQUARES, encode_board
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.chess.thinking_time import (
    FEATURES,
    LONGEST,
    OFFSET,
    PARAMETERS,
    MoveContext,
    ThinkingTimes,
    context_of,
)
from kibitz.play.session import Session

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
from held_out_players import games_of, owner_of

NETWORK = "human"
SHORTEST = 30
"""Seconds on the clock at the start of a game."""
MOVES_OF_GAME = 12
BANDS, LEVELS = 8, 21
FOLDS = 3
COLUMNS = tuple(MoveContext.__annotations__)


def collect(path: Path, most: int, into: Path) -> None:
    texts = defaultdict(list)
    for text in games_of(path):
        if "%clk" in text and "[TimeControl" in text:
            texts[owner_of(text)].append(text)
    session, rows, begun = Session(NETWORK), [], time.monotonic()
    chance = random.Random(1)
    for number, owner in enumerate(sorted(texts)):
        for text in chance.sample(texts[owner], min(most, len(texts[owner]))):
            rows += [(*row, number) for row in moves_of(text, session, chance)]
        print(f"player {number + 1} of {len(texts)}, {len(rows):,} moves, {time.monotonic() - begun:.0f} s", flush=True)
    names = (*COLUMNS, "seconds", "lichess", "owner")
    np.savez(into, **{name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


def moves_of(text: str, session: Session, chance: random.Random) -> list[tuple[float, ...]]:
    """Return the columns of MoveContext, the seconds and whether the site is Lichess, for random moves of a game."""
    record = parse(text)
    if record is None or record.refused:
        return []
    game = record.game
    base, _, increment = game.headers.get("TimeControl", "").partition("+")
    ratings = ratings_of(game.headers)
    if not base.isdigit() or int(base) < SHORTEST or not all(ratings):
        return []
    nodes = list(game.mainline())
    clocks = [node.clock() for node in nodes]
    if len(nodes) < 20 or any(clock is None for clock in clocks):
        return []
    boards, board = [], game.board()
    for node in nodes:
        boards.append(board.copy())
        board.push(node.move)
    positions = np.stack([encode_board(each) for each in boards])
    played = [node.move for node in nodes]
    at = sorted(chance.sample(range(2, len(nodes)), min(MOVES_OF_GAME, len(nodes) - 2)))
    state = add_side_inputs(positions[:, SQUARES:], game.headers, session.side_inputs, played[:-1])[at]
    codes = np.ascontiguousarray(positions[at, :SQUARES])
    moves, offsets = legal_moves(codes, state)
    shares = normalised(move_probabilities(session.evaluate(codes, state), codes, moves, offsets), offsets)
    rows = []
    for i, ply in enumerate(at):
        own = slice(int(offsets[i]), int(offsets[i + 1]))
        before, after, added = clocks[ply - 2] or 0.0, clocks[ply] or 0.0, int(increment or 0)
        taken = before - after + added
        if before <= 0 or taken < -0.5 or taken > before:
            continue
        known = context_of(boards[ply], played[ply], (moves[own], shares[own])) | {
            "clock": before, "increment": added, "start": int(base), "rating": ratings[not boards[ply].turn] or 0,
        }  # fmt: skip
        rows.append((*(known[name] for name in COLUMNS), max(0.0, taken), "lichess" in game.headers.get("Site", "")))
    return rows


def load(path: Path) -> dict[str, NDArray[np.float64]]:
    with np.load(path) as file:
        return {name: file[name].astype(np.float64) for name in file.files}


def columns_of(found: dict[str, NDArray[np.float64]], mask: NDArray[np.bool_]) -> MoveContext:
    return MoveContext(*(found[name][mask] for name in COLUMNS))


def fitted(context: MoveContext, seconds: NDArray[np.float64]) -> ThinkingTimes:
    """Return the model by least squares of the logarithm, and the quantiles of its errors in bands of equal size."""
    features, wanted = context.features(), np.log(seconds + OFFSET)
    weights = np.linalg.lstsq(features, wanted, rcond=None)[0]
    expected = features @ weights
    limits = np.quantile(expected, np.linspace(0, 1, BANDS + 1)[1:-1])
    band = np.searchsorted(limits, expected, "right")
    levels = np.linspace(0, 1, LEVELS)
    levels[-1] = 0.998  # the longest times of all are accidents
    quantiles = [np.quantile((wanted - expected)[band == each], levels) for each in range(BANDS)]
    return ThinkingTimes(weights, limits, np.array(quantiles))


def check(found: dict[str, NDArray[np.float64]]) -> None:
    owners = np.unique(found["owner"])
    print(f"{len(found['owner']):,} moves of the games of {len(owners)} players")
    random_numbers = np.random.default_rng(1)
    sampled, median, constant = (np.zeros(len(found["owner"])) for _ in range(3))
    for fold in range(FOLDS):
        test = np.isin(found["owner"], owners[fold::FOLDS])
        model = fitted(columns_of(found, ~test), found["seconds"][~test])
        context = columns_of(found, test)
        sampled[test] = model.times(context, random_numbers.random(test.sum()))
        median[test] = model.times(context, np.full(test.sum(), 0.5))
        constant[test] = np.minimum(
            context.pace() * np.median(found["seconds"][~test] / columns_of(found, ~test).pace()),
            LONGEST * context.clock,
        )
    seconds = found["seconds"]
    y, lines = np.log(seconds + OFFSET), {"model": median, "a share of the clock": constant}
    for name, times in lines.items():
        errors = np.log(times + OFFSET) - y
        rank = np.corrcoef(times.argsort().argsort(), seconds.argsort().argsort())[0, 1]
        print(
            f"{name}: rank correlation {rank:.3f}, mean error of the logarithm {np.abs(errors).mean():.3f},"
            f" median seconds off {np.median(np.abs(times - seconds)):.2f}"
        )
    pace = columns_of(found, seconds >= 0).pace()
    rating = found["rating"]
    groups = {
        "all": seconds >= 0,
        "rating below 1200": rating < 1200,
        "1200 to 1800": (rating >= 1200) & (rating < 1800),
        "1800 to 2400": (rating >= 1800) & (rating < 2400),
        "from 2400": rating >= 2400,
        "under 2 s a move": pace < 2,
        "2 to 8 s": (pace >= 2) & (pace < 8),
        "8 s and more": pace >= 8,
        "recaptures": found["recapture"] > 0,
        "one plausible move": found["entropy"] < 0.5,
        "many plausible moves": found["entropy"] > 2.2,
        "moves 1 to 5": found["number"] < 5,
        "less than 20 s left": found["clock"] < 20,
    }
    print(f"{'':22} {'n':>7}  played: at once  median  90%   sampled: at once  median  90%  mean played sampled")
    for name, mask in groups.items():
        if mask.sum() < 50:
            continue
        real, made = seconds[mask], sampled[mask]
        print(
            f"{name:22} {mask.sum():7,} {(real < 1).mean():15.1%} {np.median(real):7.1f} {np.quantile(real, 0.9):5.1f}"
            f" {(made < 1).mean():17.1%} {np.median(made):7.1f} {np.quantile(made, 0.9):5.1f} {real.mean():11.2f}"
            f" {made.mean():7.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("collect", "check", "fit"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=150, help="of each player")
    parser.add_argument("--into", type=Path, default=Path("times.npz"))
    given = parser.parse_args()
    if given.action == "collect":
        collect(given.file, given.games, given.into)
        return
    found = load(given.file)
    if given.action == "check":
        check(found)
        return
    model = fitted(columns_of(found, found["seconds"] >= 0), found["seconds"])
    PARAMETERS.write_text(json.dumps(model.as_json()) + "\n", encoding="utf-8")
    for name, weight in zip(FEATURES, model.weights, strict=True):
        print(f"{name:16} {weight:8.4f}")


if __name__ == "__main__":
    main()
