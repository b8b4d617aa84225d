"""How well the marks of `kibitz analyze` name real mistakes: precision, recall and AUC against Stockfish.

    python tools/label_mistakes.py labels.jsonl personal_players.pgn.zst masters_to_2022.pgn.zst
    python bench/bench_marks.py labels.jsonl winner deepchess --half measure

A move is a real mistake where its player loses REAL or more of winning probability by Stockfish, with lichess's formula
1 / (1 + exp(-0.00368208 · centipawns)), centipawns cut at ±1000. Prints a row a network and way of judging: the raw
network (its own opinions of the positions before and after), and search. Intervals: 95%, bootstrapped over games.
--page asks a board's server for the judgements, as the page does, instead of calling the search. --stockfish 8 10 has
rows for Stockfish itself at these depths: what the same figures mean where a search is known.
"""

import argparse
import json
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import chess
import chess.engine
import numpy as np

from bench_board import ask, free_port, running
from kibitz.analysis import load
from kibitz.analysis.chess import limits
from kibitz.analysis.chess.judging import Judge
from kibitz.analysis.glyphs import mark
from kibitz.external.programs import find_stockfish
from kibitz.games.chess.replay import SIDE, SQUARES, encode_board
from kibitz.play.session import Session
from kibitz.web.chess.line import ChessLine

REAL = 0.2
STEEPNESS, CUT = 0.00368208, 1000


def chances(white: list[int]) -> np.ndarray:
    """White's winning chances of centipawns."""
    return 1 / (1 + np.exp(-STEEPNESS * np.clip(np.array(white, float), -CUT, CUT)))


def area(scores: np.ndarray, real: np.ndarray) -> float:
    """The probability that a real mistake has the higher score than another move."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    n = real.sum()
    return float((ranks[real].sum() - n * (n + 1) / 2) / (n * (len(real) - n)))


def figures(marked: np.ndarray, scores: np.ndarray, real: np.ndarray) -> np.ndarray:
    both = (marked & real).sum()
    return np.array([both / max(1, marked.sum()), both / max(1, real.sum()), area(scores, real)])


def intervals(games: np.ndarray, *columns: np.ndarray) -> list[str]:
    """Each figure in percent with its interval."""
    rng, which = np.random.default_rng(1), np.unique(games)
    places = [np.flatnonzero(games == game) for game in which]
    draws = []
    for _ in range(400):
        some = np.concatenate([places[i] for i in rng.integers(0, len(which), len(which))])
        draws.append(figures(*(column[some] for column in columns)))
    low, high = np.percentile(np.stack(draws), [2.5, 97.5], axis=0)
    found = figures(*columns)
    return [f"{100 * v:.0f}% ({100 * a:.0f}-{100 * b:.0f})" for v, a, b in zip(found[:2], low, high, strict=False)] + [
        f"{found[2]:.2f} ({low[2]:.2f}-{high[2]:.2f})"
    ]


def losses_of_page(port: int, network: str, moves: list[str]) -> list[float]:
    """What each move of a game lost, by the exact judgements that a board's server streams to the page."""
    request = {"network": network, "line": ChessLine(chess.STARTING_FEN, tuple(moves)).as_json()}
    said = [json.loads(line) for line in ask(port, "POST", "/api/judge", request)]
    assert said[-1].get("done"), said[-1]
    found = {one["ply"]: one["loss"] for one in said if one.get("exact")}
    return [found[ply] for ply in range(1, len(moves) + 1)]


def losses_of_stockfish(depth: int, games: list[dict]) -> np.ndarray:
    """What each move of the games lost by Stockfish at that depth, the games one after the other."""
    losses = []
    with chess.engine.SimpleEngine.popen_uci(find_stockfish()) as engine:
        engine.configure({"Threads": 1, "Hash": 64})
        for number, one in enumerate(games):
            board, white = chess.Board(), []
            for move in [*one["moves"], None]:
                if board.is_game_over():
                    white.append(0 if not board.is_checkmate() else CUT if board.turn == chess.BLACK else -CUT)
                else:
                    info = engine.analyse(board, chess.engine.Limit(depth=depth), game=number)
                    white.append(info["score"].white().score(mate_score=CUT))
                if move is not None:
                    board.push_uci(move)
            losses.append(by_movers(chances(white), chess.Board().turn))
    return np.concatenate(losses)


def by_movers(white: np.ndarray, first: chess.Color) -> np.ndarray:
    """What each move lost its player, of White's chances in the positions of a game. first: the side that begins."""
    white_moves = np.arange(len(white) - 1) % 2 != first
    return (white[:-1] - white[1:]) * np.where(white_moves, 1, -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--stockfish", type=int, nargs="+", default=[], help="depths")
    parser.add_argument("--half", choices=("choose", "measure"), default="measure")
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=limits.NODES)
    parser.add_argument("--depth", type=int, default=limits.DEPTH)
    parser.add_argument("--page", action="store_true", help="ask a board's server")
    parser.add_argument("--save", type=Path, help="a file for the losses of each move, npz")
    args = parser.parse_args()
    games = [one for line in args.labels.read_text().splitlines() if (one := json.loads(line))["half"] == args.half]
    games = games[: args.games]
    print(
        f"| {len(games)} games | marked | precision | recall | AUC | seconds for 80 plies |\n|---|---|---|---|---|---|"
    )
    for depth in args.stockfish:
        real = np.concatenate([by_movers(chances(one["white"]), chess.Board().turn) for one in games]) >= REAL - 1e-9
        of = np.repeat(np.arange(len(games)), [len(one["moves"]) for one in games])
        lost = losses_of_stockfish(depth, games)
        marked = lost >= REAL - 1e-9
        columns = " | ".join(intervals(of, marked, lost, real))
        print(
            f"| Stockfish, depth {depth} | {marked.sum()} of {len(of):,} ({real.sum()} real) | {columns} | |",
            flush=True,
        )
    port = free_port()
    board_server = [sys.executable, "-m", "kibitz", "board", "--no-browser", "--port", str(port)]
    with running(board_server, port) if args.page else nullcontext():
        for name in args.networks:
            session = Session(name)
            analysis = load(session.system)
            judge = Judge(session, analysis, depth=args.depth, nodes=args.nodes)
            of, real, lost, raw, fit, seconds = [], [], [], [], [], 0.0
            for number, one in enumerate(games):
                board, moves, rows = chess.Board(), [chess.Move.from_uci(move) for move in one["moves"]], []
                for move in moves:
                    rows.append(encode_board(board))
                    board.push(move)
                rows = np.stack([*rows, encode_board(board)])
                codes, state = np.ascontiguousarray(rows[:, :SQUARES]), np.ascontiguousarray(rows[:, SQUARES:])
                chance = chances(one["white"])
                sign = np.where(state[:-1, SIDE] == 0, 1, -1)
                began = time.perf_counter()
                if args.page:
                    losses = losses_of_page(port, name, one["moves"])
                else:
                    _, judged = judge.judge(chess.Board(), moves, rows)
                    losses = [each.loss for each in judged]
                    fit += [(each.before, c) for each, c in zip(judged, chance, strict=False)]
                seconds += time.perf_counter() - began
                white = analysis.white_wins(session.evaluate(codes, state), state)
                of += [number] * len(moves)
                lost += losses
                raw += (sign * (white[:-1] - white[1:])).tolist()
                real += (sign * (chance[:-1] - chance[1:]) >= REAL - 1e-9).tolist()
            of, real, lost, raw = np.array(of), np.array(real), np.array(lost), np.array(raw)
            if args.save:
                np.savez(args.save, games=of, real=real, lost=lost, raw=raw, chances=np.array(fit))
            ways = {
                "raw": (np.array([mark(-loss, 0.1) in ("?", "??") for loss in raw]), raw),
                ("page" if args.page else "search"): (
                    np.array([mark(-loss, 0.1) in ("?", "??") for loss in lost]),
                    lost,
                ),
            }
            for way, (marked, scores) in ways.items():
                columns = " | ".join(intervals(of, marked, scores, real))
                rate = f"{seconds / len(of) * 80:.1f}" if way != "raw" else ""
                print(
                    f"| {name}, {way} | {marked.sum()} of {len(of):,} ({real.sum()} real) | {columns} | {rate} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
