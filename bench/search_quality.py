"""How good are the moves of a search? The winning chance that they lose, by Stockfish, for several settings.

    python bench/search_quality.py --nodes 150 method=topprob-negamax "" start=1.5 temperature=1.3,pending=0.3

Each argument is a player: `method=...`, or constants of PUCT (start, growth, base, reduction, root_reduction, pending:
see kibitz.play.puct.tree.Constants; temperature: of the policy; least, most, visits: see BatchSizes; loss, check,
opinion, pawn, win: see CaptureWeights, and captures=0 leaves them all out); "" has all as they are. All think about the
same positions of bundled games, from an empty table. Stockfish judges the position after each chosen move at a fixed
depth. Differences to the first player are paired, position by position, with a standard error; a match needs some
hundred times as many searches to see the same.
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

import chess
import chess.engine
import numpy as np

from bench_search import boards
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.puct.chess import CaptureWeights
from kibitz.play.puct.player import PuctPlayer, PuctTuning
from kibitz.play.puct.search import BatchSizes
from kibitz.play.puct.tree import Constants
from kibitz.play.result import SearchLimits
from kibitz.play.session import Session


def player(session: Session, description: str) -> Any:
    """The player that a command-line argument describes."""
    given = dict(part.split("=") for part in description.split(",") if part)
    if "method" in given:
        return ChessPlayer(session, method=given["method"])
    numbers = {name: float(value) for name, value in given.items()}
    batches = {field.name: int(numbers.pop(field.name)) for field in fields(BatchSizes) if field.name in numbers}
    temperature = numbers.pop("temperature", PuctTuning().temperature)
    weights = {name: numbers.pop(name) for name in CaptureWeights._fields if name in numbers}
    captures = CaptureWeights(**weights) if numbers.pop("captures", 1) else None
    constants = Constants(**{**PuctTuning().constants._asdict(), **numbers})
    return PuctPlayer(session, tuning=PuctTuning(constants, temperature, BatchSizes(**batches), captures))


class Judge:
    """Winning chances by Stockfish at a fixed depth, each asked for once."""

    def __init__(self, command: str, depth: int):
        self.engine = chess.engine.SimpleEngine.popen_uci(command)
        self.limit = chess.engine.Limit(depth=depth)
        self.known: dict[str, float] = {}

    def chance(self, board: chess.Board) -> float:
        """Expected score, 0..1, of the side that has just moved."""
        key = board.fen()
        if key not in self.known:
            score = self.engine.analyse(board, self.limit, game=object())["score"].pov(not board.turn)
            self.known[key] = score.wdl(model="sf16", ply=board.ply()).expectation()
        return self.known[key]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("players", nargs="+", help="settings of a player, as start=1.5,temperature=1.3")
    parser.add_argument("--run", default="chessnet")
    parser.add_argument("--nodes", type=int, help="evaluations a move")
    parser.add_argument("--movetime", type=int, help="milliseconds a move")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--stockfish", default="stockfish")
    parser.add_argument("--depth", type=int, default=10, help="of Stockfish (default: 10)")
    options = parser.parse_args()
    session = Session(options.run)
    limits = SearchLimits(nodes=options.nodes, seconds=options.movetime and options.movetime / 1000)
    players = [player(session, description) for description in options.players]
    judge = Judge(options.stockfish, options.depth)
    for each in players:
        each.think(chess.Board(), SearchLimits(nodes=50))  # loaded and compiled
    chances, nodes = [], []
    try:
        for board in boards(options.positions):
            row = []
            for each in players:
                each.new_game()
                result = each.think(board, limits)
                nodes.append(result.nodes)
                after = board.copy()
                after.push(result.lines[0].move)
                row.append(judge.chance(after))
            chances.append(row)
    finally:
        judge.engine.quit()
    table = 100 * np.array(chances)
    difference = table - table[:, :1]
    errors = difference.std(0, ddof=1) / np.sqrt(len(table))
    used = np.array(nodes).reshape(-1, len(players)).mean(0)
    print(f"{options.run}, {len(table)} positions: points of winning chance gained on the first player")
    for i, description in enumerate(options.players):
        gained = f"{difference[:, i].mean():+6.2f} ± {errors[i]:.2f}"
        print(f"{gained}   {used[i]:6.0f} evaluations   {description or 'as it is'}")


if __name__ == "__main__":
    main()
