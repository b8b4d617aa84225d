"""What players of a rating lose in a position, as `human` expects it, beside what they lost: fitted and checked.

    python bench/usual_losses.py labels.jsonl [--games 100]

`kibitz analyze human` tells what players of the mover's rating usually lose in each position: the shares of the moves
that the network expects, times what each move loses at a first look. That look is not the search which judges the
played move, so the sum is multiplied by a factor for each phase (USUAL_LOSS in analysis/chess/moves.py), and by one for
the rating, which is taken as it is (LESS_BY_RATING). This fits the factors of the phases on the games marked "choose"
of `tools/label_mistakes.py` and prints, on the others, the mean of both losses by phase and by rating.
"""

import argparse
import json
from itertools import pairwise

import chess
import chess.pgn
import numpy as np

from kibitz.analysis import load
from kibitz.analysis.chess import moves as analysed
from kibitz.analysis.chess.judging import Judge
from kibitz.analysis.chess.limits import NODES
from kibitz.games.chess.io.reader import Record
from kibitz.play.session import Session
from kibitz.stats import ClusterBootstrap

BANDS = (0, 1000, 1400, 1800, 2200, 4000)


def game_of(line: dict) -> chess.pgn.Game:
    game = chess.pgn.Game({"WhiteElo": str(line["ratings"][0]), "BlackElo": str(line["ratings"][1])})
    node = game
    for move in line["moves"]:
        node = node.add_variation(chess.Move.from_uci(move))
    return game


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=NODES)
    arguments = parser.parse_args()
    session = Session("human")
    analysis = load("human")
    judge = Judge(session, analysis, nodes=arguments.nodes)
    analysed.USUAL_LOSS.update(dict.fromkeys(analysed.USUAL_LOSS, 1.0))
    rows = []
    with open(arguments.labels) as file:
        lines = [json.loads(line) for line in file][: arguments.games]
    for number, line in enumerate(lines):
        game = analysed.analyse(Record(number, game_of(line)), session, analysis, 0.1, judge=judge)
        for move in game.moves:
            if move.judged and move.judged.usual is not None:
                rating = line["ratings"][move.side == "black"]
                phase = analysed.PHASES.index(move.judged.phase)
                rows.append((number, line["half"] == "measure", rating, phase, move.judged.loss, move.judged.usual))
        print(f"\r{number + 1} of {len(lines)} games", end="", flush=True)
    print()
    table = np.array(rows, float)
    fit, check = table[table[:, 1] == 0], table[table[:, 1] == 1]
    factors = [fit[fit[:, 3] == i, 4].sum() / fit[fit[:, 3] == i, 5].sum() for i in range(3)]
    print("factors:", {name: round(factor, 3) for name, factor in zip(analysed.PHASES, factors, strict=True)})
    check[:, 5] *= np.array(factors)[check[:, 3].astype(int)]
    groups = ClusterBootstrap(check[:, 0].astype(np.int64))
    cuts = [(name, check[:, 3] == i) for i, name in enumerate(analysed.PHASES)]
    cuts += [(f"{a} to {b}", (check[:, 2] >= a) & (check[:, 2] < b)) for a, b in pairwise(BANDS)]
    for name, here in [("all", check[:, 3] >= 0), *cuts]:
        lost, usual = (groups.mean(check[:, column], here) for column in (4, 5))
        print(f"{name:<12} lost {lost.value:.4f} ({lost.low:.4f} to {lost.high:.4f}), usual {usual.value:.4f}"
              f" ({usual.low:.4f} to {usual.high:.4f}), {int(here.sum()):,} moves of {usual.games} games")  # fmt: skip


if __name__ == "__main__":
    main()
