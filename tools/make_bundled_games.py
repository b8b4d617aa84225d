"""Play the games that kibitz carries: Stockfish against itself at limited, varied strengths.

    python tools/make_bundled_games.py --games 3000 --workers 2 --out src/kibitz/data/games.pgn.zst

Each side draws its own UCI_Elo, written as its rating; the first plies are drawn among the moves that
a short search holds to be nearly as good as the best, so that openings vary; then both sides play until
mate or a draw by the rules. Games that do not end in mate are kept too, but only mates count towards
--games. Stockfish seeds its weakened play from the clock: a second run gives other games of the same kind.
"""

import argparse
import datetime
import io
import multiprocessing
import random
import subprocess

import chess
import chess.pgn
import zstandard

LOWEST, HIGHEST = 1350, 2250  # UCI_Elo of Stockfish 15 begins at 1350; above 2250 it mostly draws
NODES = 6000  # a move; what the Elo setting needs to reach its depth in most positions
OPENING_PLIES = (4, 10)
OPENING_MARGIN = 70  # centipawns below the best move


class Stockfish:
    """One Stockfish process, spoken to in plain UCI (faster here than a general client)."""

    def __init__(self, path: str):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.send("uci")
        self.name = next(line.split("id name ")[1].strip() for line in self.until("uciok") if "id name" in line)
        self.send("setoption name Hash value 4")

    def send(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, word: str) -> list[str]:
        lines = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("Stockfish has gone away")
            lines.append(line)
            if line.startswith(word):
                return lines

    def new_game(self, elo: int) -> None:
        self.send("ucinewgame")
        self.send("setoption name MultiPV value 1")
        self.send("setoption name UCI_LimitStrength value true")
        self.send(f"setoption name UCI_Elo value {elo}")
        self.send("isready")
        self.until("readyok")

    def move(self, moves: list[str]) -> str:
        self.send("position startpos moves " + " ".join(moves))
        self.send(f"go nodes {NODES}")
        return self.until("bestmove")[-1].split()[1]

    def sound_moves(self, moves: list[str]) -> list[str]:
        """Moves at most OPENING_MARGIN worse than the best, by a search of depth 6."""
        self.send("setoption name UCI_LimitStrength value false")
        self.send("setoption name MultiPV value 8")
        self.send("position startpos moves " + " ".join(moves))
        self.send("go depth 6")
        scores: dict[str, int] = {}
        for line in self.until("bestmove"):
            words = line.split()
            if "multipv" in words and "cp" in words:
                scores[words[words.index("pv") + 1]] = int(words[words.index("cp") + 1])
        best = max(scores.values())
        return [move for move, score in scores.items() if score >= best - OPENING_MARGIN]


def play(white: Stockfish, black: Stockfish, rng: random.Random, number: int) -> tuple[str, bool]:
    """One game as PGN text, and whether it ended in mate."""
    elo = [rng.randrange(LOWEST, HIGHEST + 1, 10) for _ in range(2)]
    board, moves = chess.Board(), []
    for _ in range(rng.randint(*OPENING_PLIES)):
        move = rng.choice(white.sound_moves(moves))
        board.push_uci(move)
        moves.append(move)
    white.new_game(elo[0])
    black.new_game(elo[1])
    while not board.is_game_over(claim_draw=False) and not board.is_repetition(3) and not board.is_fifty_moves():
        move = (white if board.turn else black).move(moves)
        board.push_uci(move)
        moves.append(move)
    mate = board.is_checkmate()
    game = chess.pgn.Game.from_board(board)
    game.headers.clear()
    game.headers.update({
        "Event": "kibitz bundled games", "Site": "?", "Date": datetime.date.today().strftime("%Y.%m.%d"),
        "Round": str(number), "White": white.name, "Black": black.name,
        "Result": board.result() if mate else "1/2-1/2",
        "WhiteElo": str(elo[0]), "BlackElo": str(elo[1]),
    })  # fmt: skip
    return game.accept(chess.pgn.StringExporter(columns=None)) + "\n\n", mate


def worker(path: str, seed: int, queue: multiprocessing.Queue) -> None:
    white, black, rng = Stockfish(path), Stockfish(path), random.Random(seed)
    number = 0
    while True:
        number += 1
        queue.put(play(white, black, rng, number))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=3000, help="games that end in mate (default 3000)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--stockfish", default="/usr/games/stockfish")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    queue: multiprocessing.Queue = multiprocessing.Queue(64)
    workers = [
        multiprocessing.Process(target=worker, args=(options.stockfish, seed, queue), daemon=True)
        for seed in range(options.workers)
    ]
    for process in workers:
        process.start()
    text, mates, played = io.StringIO(), 0, 0
    while mates < options.games:
        pgn, mate = queue.get()
        text.write(pgn)
        played, mates = played + 1, mates + mate
        if played % 100 == 0 or mates == options.games:
            print(f"{played} games, {mates} mates", flush=True)
            packed = zstandard.ZstdCompressor(level=22).compress(text.getvalue().encode())
            with open(options.out, "wb") as file:
                file.write(packed)
    for process in workers:
        process.terminate()


if __name__ == "__main__":
    main()
