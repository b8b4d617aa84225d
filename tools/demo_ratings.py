"""What players of two ratings choose in the same positions of a game, as `human` predicts it.

python tools/demo_ratings.py games.pgn.zst 42   # the file and the number of the game
"""

from __future__ import annotations

import sys

import kibitz

RATINGS = 1200, 2000
SHOWN = 6
"""Positions: those in which the ratings choose different moves first, then those in which their chances differ most."""
FIRST_PLY = 8
"""Openings are left out: most players know them."""


def main() -> None:
    network = kibitz.load_network("human")
    game = kibitz.analyse(sys.argv[1], network, number=int(sys.argv[2]), raw=True)
    board, rows = game.record.game.board(), []
    for ply, move in enumerate(game.record.game.mainline_moves()):
        if ply >= FIRST_PLY:
            low, high = (
                {
                    one.san: one.probability
                    for one in network.evaluate(board, rating=rating, opponent_rating=rating).moves
                }
                for rating in RATINGS
            )
            firsts = [max(chances, key=lambda san, of=chances: of[san]) for chances in (low, high)]
            differ = (firsts[0] != firsts[1]) + sum(abs(low[san] - high[san]) for san in low) / 2
            words = [f"{san} {chances[san]:.0%}" for san, chances in zip(firsts, (low, high), strict=True)]
            rows.append((differ, ply, board.san(move), words))
        board.push(move)
    print(f"{'position':<12} {'played':<8} {'a player of 1200':<20} {'a player of 2000':<20}")
    for _, ply, played, words in sorted(sorted(rows, key=lambda row: -row[0])[:SHOWN], key=lambda row: row[1]):
        number = f"{ply // 2 + 1}{'…' if ply % 2 else '.'}"
        print(f"{'move ' + number:<12} {played:<8} {words[0]:<20} {words[1]:<20}")


if __name__ == "__main__":
    main()
