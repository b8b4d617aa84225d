"""Check the practical choice (analysis/chess/practical.py) on games of real players.

    python bench/bench_practical.py collect players.pgn --into choices.jsonl --stockfish /usr/games/stockfish
    python bench/bench_practical.py check choices.jsonl
    python bench/bench_practical.py fit other-players.pgn --games 120
    python bench/bench_practical.py fit players.pgn --in-use

`collect` reads games with the tag Owner, evenly from the owners. It keeps the positions in which the practical choice
differs from the best move and the player chose one of the two. To save time, it searches only positions after whose
move the likely answers seem to lose much, and of the others a sample. This uses nothing of what follows in the game.
The players must not be in the training games of the network. Stockfish judges the position after the best move, after
the practical choice, and after the opponent's real answer. Ctrl-C keeps what is done.

`check` compares what players scored with each of the two moves, and what the opponents' answers gave away, with the
expected score of the best move.

`fit` finds how much players see what their answers are worth, by rating: the parameters that make the real answers most
likely, where likely answers lose at least TRAP. With `--in-use` it checks the parameters of kibitz instead: it compares
the predicted loss of the answers with the loss of the real ones, by a short search. Use other players for the check.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import chess
import chess.engine
import numpy as np
from scipy.optimize import minimize

from kibitz.analysis import load
from kibitz.analysis.chess import practical
from kibitz.analysis.chess.judging import Judge
from kibitz.analysis.chess.ratings import OPPONENT, RATING, UNIT, ratings_of
from kibitz.games.chess.io.reader import parse
from kibitz.games.chess.replay import SQUARES, encode_board
from kibitz.play.chess.score import win_chance
from kibitz.play.session import Session
from kibitz.play.side_inputs import with_side_inputs

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
from held_out_players import games_of, owner_of

NETWORK = "human"
POSITIONS, FIRST, LAST = 20, 8, 80
"""The smallest number of plies of a game between those plies."""
TEMPTING, SAMPLED = 0.08, 0.02
"""The smallest expected loss of the answers in a first estimate, and the share of other positions that are searched."""
SHORT = {"nodes": 100_000}
DRAWS = 2000
"""Resamples of games for an interval."""
SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


TRAP, FIT_POSITIONS, FIFTHS = 0.05, 14, 5
"""The smallest expected loss of the answers in positions for the fit, the positions of a game, and the
groups of the check."""


class Collector:
    """Finds the positions of a game in which a player had two choices."""

    def __init__(self, stockfish: str):
        self.session, self.analysis = Session(NETWORK), load(NETWORK)
        self.judge = Judge(self.session, self.analysis, threads=1)
        self.engine = chess.engine.SimpleEngine.popen_uci(stockfish)

    def positions(self, game: Any, rng: random.Random) -> list[dict[str, Any]]:
        moves, ratings = list(game.mainline_moves()), ratings_of(game.headers)
        result = SCORES.get(game.headers.get("Result", "*"))
        plies = range(FIRST, min(LAST, len(moves) - 1))
        if result is None or not all(ratings) or len(plies) < POSITIONS:
            return []
        found = []
        for ply in plies:
            board = game.board()
            for move in moves[:ply]:
                board.push(move)
            both = ratings if board.turn else ratings[::-1]
            if not self.tempts(board, moves[ply], both) and rng.random() >= SAMPLED:
                continue
            if (row := self.position(board, moves[ply], moves[ply + 1], both)) is not None:
                found.append({**row, "ply": ply, "score": result if board.turn else 1 - result})
        return found

    def tempts(self, board: chess.Board, played: chess.Move, ratings: tuple[int, int]) -> bool:
        """Whether likely answers to the move seem to lose much."""
        after = practical._pushed(board, played)
        look = self.judge.first_look(after)
        if look is None or len(look.moves) < 2:
            return False
        row = encode_board(after)[None]
        inputs = {RATING: min(ratings[1] // UNIT, 255), OPPONENT: min(ratings[0] // UNIT, 255)}
        state = with_side_inputs(row[:, SQUARES:], self.session.side_inputs, after, inputs)
        moves, _, chances = self.analysis.expected_moves(
            self.session.evaluate(row[:, :SQUARES], state), row[:, :SQUARES], state
        )
        return (look.expected(moves, chances) or 0) >= TEMPTING

    def position(
        self, board: chess.Board, played: chess.Move, answer: chess.Move, ratings: tuple[int, int]
    ) -> dict[str, Any] | None:
        look = self.judge.first_look(board)
        if look is None or len(look.moves) < 2:
            return None
        best = chess.Move.from_uci(self.judge.value(board).moves[0])
        choice = practical.practical_choice(board, best, look, self.judge, {}, ratings)
        if not choice.differs or played not in (choice.chosen.move, best):
            return None
        own = {RATING: min(ratings[0] // UNIT, 255), OPPONENT: min(ratings[1] // UNIT, 255)}
        row = encode_board(board)[None]
        state = with_side_inputs(row[:, SQUARES:], self.session.side_inputs, board, own)
        white = self.analysis.white_wins(self.session.evaluate(row[:, :SQUARES], state), state)
        expected = float(white[0]) if board.turn else 1 - float(white[0])
        after = board.copy()
        after.push(played)
        after.push(answer)
        return {
            "ratings": ratings, "practical": played == choice.chosen.move, "expected": expected,
            "chosen": vars(choice.chosen) | {"move": choice.chosen.move.uci(), "answer": None},
            "best": vars(choice.best) | {"move": best.uci(), "answer": None},
            "after_best": self.value(board, best), "after_chosen": self.value(board, choice.chosen.move),
            "after_answer": self.seen(after, board.turn), "fen": board.fen(),
        }  # fmt: skip

    def value(self, board: chess.Board, move: chess.Move) -> float:
        after = board.copy()
        after.push(move)
        return self.seen(after, board.turn)

    def seen(self, board: chess.Board, turn: chess.Color) -> float:
        """Stockfish's win probability of a side."""
        if (outcome := board.outcome()) is not None:
            return 0.5 if outcome.winner is None else float(outcome.winner == turn)
        found = self.engine.analyse(board, chess.engine.Limit(**SHORT), game=object())["score"]
        return win_chance(found.pov(turn))


def collect(path: Path, most: int, into: Path, stockfish: str, seed: int) -> None:
    texts = defaultdict(list)
    for text in games_of(path):
        texts[owner_of(text)].append(text)
    owners, rng, collector = sorted(texts), random.Random(seed), Collector(stockfish)
    for owner in owners:
        rng.shuffle(texts[owner])
    kept = 0
    try:
        with into.open("a") as file:
            for number in range(most):
                games = texts[owners[number % len(owners)]]
                record = parse(games[number // len(owners) % len(games)])
                if record is None or record.refused:
                    continue
                for row in collector.positions(record.game, rng):
                    file.write(json.dumps({"game": f"{seed}-{number}", **row}) + "\n")
                    kept += 1
                file.flush()
                print(f"\r{number + 1} of {most} games, {kept} positions", end="", flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        collector.engine.quit()
    print()


def fit(path: Path, most: int, seed: int, in_use: bool) -> None:
    texts = defaultdict(list)
    for text in games_of(path):
        texts[owner_of(text)].append(text)
    owners, rng = sorted(texts), random.Random(seed)
    judge, found = Judge(Session(NETWORK), load(NETWORK), threads=1), []
    try:
        for number in range(most):
            record = parse(rng.choice(texts[owners[number % len(owners)]]))
            if record is None or record.refused or not all(ratings_of(record.game.headers)):
                continue
            found += [(str(number), *row) for row in answered(record.game, judge, rng)]
            print(f"\r{number + 1} of {most} games, {len(found)} positions", end="", flush=True)
    except KeyboardInterrupt:
        pass
    print()
    if in_use:
        compare(found)
        return
    traps = [row for row in found if lost(row[2], row[3]) >= TRAP]

    def cost(values: np.ndarray) -> float:
        total = 0.0
        for _, rating, shares, worths, at in traps:
            sees = np.exp(values[0] + values[1] * (rating - practical.MIDDLE) / 1000)
            chances = practical.seen(shares, worths, sees)
            total -= np.log(chances[at] / chances.sum() + 1e-9)
        return total / len(traps)

    best = minimize(cost, [0.5, 1.0], method="Nelder-Mead")
    print(
        f"{len(traps)} positions: parameters {np.round(best.x, 2).tolist()}, the real answers cost {best.fun:.4f} nats"
    )
    used = np.array([practical._SEEN, practical._BY_RATING])
    print(f"in use: {cost(used):.4f}; with the network's probabilities alone: {cost(np.array([-20.0, 0.0])):.4f}")


Row = tuple[str, int, np.ndarray, np.ndarray, int]
"""Game, rating of the player who answers, network's probabilities and worths of the answers, index of the real one."""


def answered(game: Any, judge: Judge, rng: random.Random) -> list[tuple[int, np.ndarray, np.ndarray, int]]:
    """Return some positions of a game with the answer that was played, if it is listed."""
    moves, ratings, found = list(game.mainline_moves()), ratings_of(game.headers), []
    plies = range(FIRST, min(LAST, len(moves) - 1))
    for ply in rng.sample(plies, min(FIT_POSITIONS, len(plies))):
        board = game.board()
        for move in moves[: ply + 1]:
            board.push(move)
        own, other = ratings if board.turn else ratings[::-1]
        inputs = {RATING: min(own // UNIT, 255), OPPONENT: min(other // UNIT, 255)}
        before, played = game.board(), moves[ply]
        for move in moves[:ply]:
            before.push(move)
        answers, shares = practical.listed_answers(before, [played], judge, inputs)[played]
        if moves[ply + 1] in answers:
            after = [practical._pushed(board, answer) for answer in answers]
            worths = practical._of_mover(practical._values(judge, after, False), board.turn)
            found.append((own, shares, worths, answers.index(moves[ply + 1])))
    return found


def lost(shares: np.ndarray, worths: np.ndarray) -> float:
    """The expected loss of the answers."""
    return float(shares @ (worths.max() - worths) / shares.sum())


def compare(found: list[Row]) -> None:
    """Print the predicted and the real loss of the answers, by the loss that the network's probabilities predict."""
    alone = np.array([lost(shares, worths) for _, _, shares, worths, _ in found])
    used = np.array([lost(practical.seen(row[2], row[3], practical.sees_at(row[1])), row[3]) for row in found])
    real = np.array([worths.max() - worths[at] for *_, worths, at in found])
    ratings, games = np.array([row[1] for row in found]), [row[0] for row in found]
    print("percentage points that the answers lose")
    groups = [(f"fifth {i + 1}", part) for i, part in enumerate(np.array_split(np.argsort(used), FIFTHS))]
    for low, high in ((0, 1200), (1200, 1800), (1800, 4000)):
        groups.append((f"rated {low} to {high}", np.flatnonzero((ratings >= low) & (ratings < high))))
    for title, at in [("all", np.arange(len(found))), *groups]:
        if len(at):
            line = f"{title:20} n {len(at):5}  network alone {alone[at].mean() * 100:5.1f}"
            line += f"  predicted {used[at].mean() * 100:5.1f}"
            print(f"{line}  real {interval(real[at], [games[i] for i in at])}")


def interval(values: np.ndarray, games: list[str]) -> str:
    """The mean and its 95% interval over games."""
    at: dict[str, list[int]] = defaultdict(list)
    for i, game in enumerate(games):
        at[game].append(i)
    sums = np.array([[values[rows].sum(), len(rows)] for rows in at.values()])
    drawn = np.random.default_rng(1).integers(0, len(sums), (DRAWS, len(sums)))
    means = sums[drawn].sum(1)
    low, high = np.percentile(means[:, 0] / means[:, 1], [2.5, 97.5])
    return f"{values.mean() * 100:+6.1f} ({low * 100:+.1f} to {high * 100:+.1f})"


def check(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    print(f"{len(rows)} positions of {len({row['game'] for row in rows})} games; percentage points")
    for title, chosen in (("played the practical choice", True), ("played the best move", False)):
        some = [row for row in rows if row["practical"] is chosen]
        if not some:
            continue
        games = [row["game"] for row in some]
        which = "chosen" if chosen else "best"

        def mean(*names: str, some: list[dict[str, Any]] = some, games: list[str] = games) -> str:
            def number(row: dict[str, Any], name: str) -> float:
                first, _, rest = name.partition(".")
                return float(row[first][rest] if rest else row[first])

            values = [number(row, names[0]) - (number(row, names[1]) if len(names) > 1 else 0) for row in some]
            return interval(np.array(values), games)

        print(f"{title}: {len(some)} positions")
        print(f"  result minus the network's expected score      {mean('score', 'expected')}")
        print(f"  result minus the value of the best move        {mean('score', 'best.worst')}")
        print(f"  predicted score minus the value of the best    {mean(which + '.score', 'best.worst')}")
        print(f"  predicted gain: practical choice minus best    {mean('chosen.score', 'best.score')}")
        print(f"  Stockfish: practical choice minus best move    {mean('after_chosen', 'after_best')}")
        print(f"  Stockfish: after the real answer minus best    {mean('after_answer', 'after_best')}")
        print(f"  Stockfish: what the real answer gave           {mean('after_answer', 'after_' + which)}")
        print(f"  predicted: what the likely answers give        {mean(which + '.score', which + '.worst')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("collect")
    first.add_argument("file", type=Path)
    first.add_argument("--games", type=int, default=1000)
    first.add_argument("--into", type=Path, required=True)
    first.add_argument("--stockfish", required=True)
    first.add_argument("--seed", type=int, default=1)
    second = commands.add_parser("check")
    second.add_argument("file", type=Path)
    third = commands.add_parser("fit")
    third.add_argument("file", type=Path)
    third.add_argument("--games", type=int, default=120)
    third.add_argument("--seed", type=int, default=1)
    third.add_argument("--in-use", action="store_true", help="check the parameters of kibitz instead of fitting")
    arguments = parser.parse_args()
    if arguments.command == "collect":
        collect(arguments.file, arguments.games, arguments.into, arguments.stockfish, arguments.seed)
    elif arguments.command == "fit":
        fit(arguments.file, arguments.games, arguments.seed, arguments.in_use)
    else:
        check(arguments.file)


if __name__ == "__main__":
    main()
