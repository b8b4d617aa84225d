"""The hope of the `gocnn` document: alpha-beta over its score instead of a Monte Carlo search, against GNU Go.

A search of a few plies over the most likely moves. `gohuman` names and orders them; the score that `gocnn`'s owners add
up to is the value of the last positions. Colors change from game to game, and GNU Go counts the end.

    python bench/alphabeta_go.py [--games 10] [--plies 3] [--width 5] [--level 0]
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kibitz.arena.elo import Tally
from kibitz.evaluation.owners.gnugo import read_score
from kibitz.external.gtp import GtpProgram
from kibitz.external.programs import find_gnugo
from kibitz.games.go.points import BLACK, PASS, WHITE, from_gtp, to_gtp
from kibitz.games.go.replay import children, encode_board
from kibitz.games.go.rules import Board
from kibitz.play.go.ownership import OUTPUT, lead
from kibitz.play.go.player import own_eyes
from kibitz.play.session import NetworkSession, Session

PATIENCE = 120.0
LONGEST = 2
"""Moves for each point of the board after which both sides pass."""
WORTH = 0.5
"""Points that a move must gain over a pass."""


@dataclass
class AlphaBeta:
    """owners, policy: networks. plies: depth of the search; width: moves of each position; komi: White's points.
    leaves: positions that were valued."""

    owners: NetworkSession
    policy: NetworkSession
    plies: int
    width: int
    komi: float
    leaves: int = field(default=0)

    def likely(self, board: Board, colour: int) -> list[int]:
        """The points that are most likely played, the first first. Own eyes are never filled."""
        codes, state = encode_board(board)
        chance = self.policy.evaluate(codes[None], state[None])["policy"][0]
        eyes = own_eyes(board, colour)
        legal = [point for point in board.legal(colour) if not eyes[point]]
        return sorted(legal, key=lambda point: -chance[point])[: self.width]

    def leads(self, codes: NDArray[np.uint8], state: NDArray[np.uint8], colour: int, size: int) -> NDArray[np.float64]:
        """What that color leads by in each position, komi counted."""
        self.leaves += len(codes)
        black = lead(self.owners.evaluate(codes, state)[OUTPUT], size) - self.komi
        return black if colour == BLACK else -black

    def value(self, board: Board, colour: int, plies: int, alpha: float, beta: float) -> float:
        """The lead of the side to move after the best moves of both, between the bounds."""
        moves = self.likely(board, colour)
        if not moves or plies == 0:
            codes, state = encode_board(board)
            return float(self.leads(codes[None], state[None], colour, board.size)[0])
        if plies == 1:  # the last moves are valued together
            codes, state, _ = children(board, colour, np.array(moves, np.int64))
            return float(self.leads(codes, state, colour, board.size).max())
        best = -math.inf
        for move in moves:
            best = max(best, -self.after(board, colour, move, plies, -beta, -max(alpha, best)))
            if best >= beta:
                break
        return best

    def after(self, board: Board, colour: int, move: int, plies: int, alpha: float, beta: float) -> float:
        """The opponent's value after a move."""
        next_board = board.copy()
        next_board.play(colour, move)
        return self.value(next_board, 3 - colour, plies - 1, alpha, beta)

    def choose(self, board: Board, colour: int) -> int:
        """The best move, or PASS if none gains anything over it."""
        best, alpha = PASS, -self.after(board, colour, PASS, self.plies, -math.inf, math.inf) + WORTH
        if board.passes and alpha - WORTH > 0:
            return PASS
        for move in self.likely(board, colour):
            score = -self.after(board, colour, move, self.plies, -math.inf, -alpha)
            if score > alpha:
                best, alpha = move, score
        return best


def play(player: AlphaBeta, gnugo: GtpProgram, size: int, colour: int) -> float:
    """One game; the player's points less GNU Go's at the end, komi counted."""
    for command in (f"boardsize {size}", "clear_board", f"komi {player.komi}"):
        gnugo.request(command, PATIENCE)
    board = Board(size, superko=True)
    names = {BLACK: "black", WHITE: "white"}
    while board.passes < 2 and board.ply < LONGEST * size**2:
        turn = board.to_move
        if turn == colour:
            move = player.choose(board, turn)
            gnugo.request(f"play {names[turn]} {to_gtp(move, size)}", PATIENCE)
        else:
            said = gnugo.request(f"genmove {names[turn]}", PATIENCE)
            if said.lower() == "resign":
                return float(size**2)
            move = from_gtp(said, size)
        board.play(turn, move)
    black = read_score(gnugo.request("final_score", PATIENCE))
    return black if colour == BLACK else -black


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--plies", type=int, default=3)
    parser.add_argument("--width", type=int, default=5)
    parser.add_argument("--level", type=int, default=0, help="of GNU Go")
    parser.add_argument("--size", type=int, default=9, choices=(9, 13, 19))
    parser.add_argument("--komi", type=float, default=7.5)
    options = parser.parse_args()
    path = find_gnugo()
    if path is None:
        raise SystemExit("GNU Go is not installed")
    player = AlphaBeta(Session("gocnn"), Session("gohuman"), options.plies, options.width, options.komi)
    command = [path, "--mode", "gtp", "--level", str(options.level), "--chinese-rules"]
    scores: list[float] = []
    begun = time.process_time()
    for game in range(options.games):
        command_of_game = [*command, "--seed", str(game + 1)]
        with GtpProgram(command_of_game, "GNU Go") as gnugo:
            margin = play(player, gnugo, options.size, (BLACK, WHITE)[game % 2])
        scores.append(1.0 if margin > 0 else 0.5 if margin == 0 else 0.0)
        print(f"game {game + 1}: {margin:+.1f} points", flush=True)
    score = Tally(scores.count(1.0), scores.count(0.5), scores.count(0.0)).score()
    seconds = time.process_time() - begun
    print(
        f"{score.value:.0%} ({score.low:.0%} to {score.high:.0%}) of {len(scores)} games; {options.plies} plies of"
        f" {options.width} moves; {player.leaves:,} positions valued; {seconds:.0f} processor seconds"
    )


if __name__ == "__main__":
    main()
