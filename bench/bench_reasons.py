"""Reasons of marked moves: how many get one, and how many of them Stockfish confirms.

    PYTHONPATH=tools python bench/bench_reasons.py cases.jsonl lichess_2013-01.pgn.zst --games 150 --confirm 300

Takes the same number of games from each band of the players' mean rating (tools/label_mistakes.py), analyzes them, and
writes a line for each marked move to the file of cases. If the file exists, its games are not analyzed again. Then it
explains all cases, and Stockfish checks a random sample of the reasons. A reason is confirmed:

- mate: Stockfish finds a mate in at most as many moves, and none against the better move, or none after a missed mate.
  If the better move only holds out longer, a longer mate against it is allowed.
- material, motif and promotion: at the quiet end of Stockfish's own line after the played move, the mover has lost at
  least as much as the reason says, minus one pawn (or won it, on the line of the better move); or by Stockfish's
  evaluation the better move is better by at least 1.5 pawns, and by 0.75 pawns if the reason names a pawn.
- stalemate: the rules, or a value of 0.

Intervals: 95%, bootstrapped over games.
"""

import argparse
import io
import json
import random
from collections import Counter
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import numpy as np

from kibitz.analysis import load
from kibitz.analysis.chess.judging import judge_by_search
from kibitz.analysis.chess.moves import analyse
from kibitz.analysis.chess.reasons import BETTER_DELAYS, Case, Reason, explain
from kibitz.analysis.glyphs import SIGNS
from kibitz.analysis.sharing import opened
from kibitz.external.programs import find_stockfish
from kibitz.games.chess.io.reader import Record
from label_mistakes import chosen

VALUES = {"pawn": 1, "knight": 3, "bishop": 3, "rook": 5, "queen": 9, "exchange": 2}
ENOUGH, ENOUGH_FOR_PAWN, CUT = 150, 75, 1000


def collect(target: Path, files: list[str], network: str, games: range, since: str) -> None:
    """Write the marked moves of the games to a file, which is continued if it exists."""
    done = {json.loads(line)["game"] for line in target.read_text().splitlines()} if target.exists() else set()
    session = opened(network)
    analysis = load(session.system)
    judge = judge_by_search(session, analysis)
    with target.open("a") as file:
        for number, (_, band, text) in enumerate(chosen(files, since, games.stop)[: games.stop]):
            if number in done or number not in games:
                continue
            game = chess.pgn.read_game(io.StringIO(text))
            if game is None or game.errors:
                continue
            found = analyse(Record(number, game), session, analysis, 0.1, judge=judge)
            board = game.board()
            file.write(json.dumps({"game": number, "band": band, "moves": len(found.moves)}) + "\n")
            for move in found.moves:
                if move.sign in SIGNS and move.judged and move.worth:
                    after = move.worth.after if board.turn else 1 - move.worth.after
                    before = move.worth.before if board.turn else 1 - move.worth.before
                    line = {
                        "game": number, "band": band, "mark": move.sign, "fen": board.fen(), "played": move.uci,
                        "best": move.judged.best, "before": before, "after": after, "phase": move.judged.phase,
                    }  # fmt: skip
                    file.write(json.dumps(line) + "\n")
                board.push_uci(move.uci)
            file.flush()


class Checker:
    """Stockfish's view of cases."""

    def __init__(self, engine: chess.engine.SimpleEngine, depth: int) -> None:
        self.engine, self.depth = engine, depth

    def look(self, board: chess.Board) -> tuple[int, int | None, list[chess.Move]]:
        """Return centipawns, moves to mate (negative: against) and the line, for the side to move."""
        if board.is_checkmate():
            return -CUT, 0, []
        if board.is_game_over():
            return 0, None, []
        info = self.engine.analyse(board, chess.engine.Limit(depth=self.depth), game=object())
        score = info["score"].relative
        return max(-CUT, min(CUT, score.score(mate_score=100_000))), score.mate(), info.get("pv", [])

    def confirms(self, case: dict, reason: Reason) -> bool:
        board = chess.Board(case["fen"])
        after, better = board.copy(), board.copy()
        after.push_uci(case["played"])
        better.push_uci(case["best"])
        worse, its_mate, line = self.look(after)
        best, other_mate, other_line = self.look(better)
        code, said = reason.code, reason.parameters
        if code == "gives_stalemate":
            return after.is_stalemate()
        if code == "allows_stalemate":
            return abs(worse) < 50
        if code in ("allows_mate", "allows_back_rank_mate"):
            only_longer = reason.better is not None and reason.better.code == BETTER_DELAYS
            escapes = not (other_mate or 0) > 0 or (only_longer and (other_mate or 0) > said["mate_in"])
            return its_mate is not None and 0 < its_mate <= said["mate_in"] and escapes
        if code == "misses_mate":
            mates = other_mate is not None and other_mate <= 0 and 1 - other_mate <= said["mate_in"]
            return mates and not (its_mate is not None and -its_mate < said["mate_in"])
        misses = "misses" in code
        claimed = points(said)
        change = balance(board, other_line, case["best"]) if misses else -balance(board, line, case["played"])
        by_line = change >= max(1, claimed - 1)
        by_value = worse - best >= (ENOUGH_FOR_PAWN if claimed < 2 else ENOUGH)
        return by_line or by_value


def points(said: dict) -> int:
    """The pawns that a reason claims."""
    if "points" in said:
        return int(said["points"])
    own = sum(VALUES[name] for name in said.get("lost", said.get("won", ["rook"])))
    return own - sum(VALUES[name] for name in said.get("gained", []))


def balance(board: chess.Board, line: list[chess.Move], first: str) -> int:
    """The pawns that the mover gains by a move and a line, up to the last capture of the line."""
    side, after = board.turn, board.copy()
    moves = [chess.Move.from_uci(first), *line]

    def material() -> int:
        return sum(
            VALUES[chess.piece_name(piece)] * (len(after.pieces(piece, side)) - len(after.pieces(piece, not side)))
            for piece in range(1, 6)
        )

    begin = quiet = material()
    for move in moves:
        loud = after.is_capture(move) or move.promotion
        after.push(move)
        if loud:
            quiet = material()
    return quiet - begin


def interval(games: np.ndarray, values: np.ndarray) -> str:
    rng, which = np.random.default_rng(1), np.unique(games)
    places = [np.flatnonzero(games == game) for game in which]
    draws = [
        values[np.concatenate([places[i] for i in rng.integers(0, len(which), len(which))])].mean() for _ in range(1000)
    ]
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{values.mean():.1%} (95% CI {low:.1%} to {high:.1%}, n = {len(values)}, {len(which)} games)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--network", default="winner")
    parser.add_argument("--games", type=int, default=150)
    parser.add_argument("--first", type=int, default=0, help="number of the first game, for several processes")
    parser.add_argument("--since", default="2013")
    parser.add_argument("--confirm", type=int, default=300)
    parser.add_argument("--depth", type=int, default=14, help="of Stockfish")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print the reasons that are not confirmed")
    args = parser.parse_args()
    if args.files:
        collect(args.cases, args.files, args.network, range(args.first, args.games), args.since)
    cases = [one for one in map(json.loads, args.cases.read_text().splitlines()) if "fen" in one]
    reasons = explain(
        [
            Case(
                chess.Board(one["fen"]), chess.Move.from_uci(one["played"]), chess.Move.from_uci(one["best"]),
                one["before"], one["after"],
            )
            for one in cases
        ]
    )  # fmt: skip
    games = np.array([one["game"] for one in cases])
    for marks in (("?", "??"), ("?!",)):
        some = np.array([one["mark"] in marks for one in cases])
        known = np.array([reason is not None for reason in reasons])
        print(f"{' and '.join(marks):<10} with a reason: {interval(games[some], known[some])}")
    print("codes:", dict(Counter(reason.code for reason in reasons if reason).most_common()))
    with_reason = [i for i, reason in enumerate(reasons) if reason]
    sample = random.Random(args.seed).sample(with_reason, min(args.confirm, len(with_reason)))
    if not sample:
        return
    confirmed, by_code = [], Counter()
    with chess.engine.SimpleEngine.popen_uci(find_stockfish()) as engine:
        engine.configure({"Threads": 1, "Hash": 64})
        checker = Checker(engine, args.depth)
        for i in sample:
            reason = reasons[i]
            assert reason is not None
            confirmed.append(checker.confirms(cases[i], reason))
            by_code[reason.code, confirmed[-1]] += 1
            if args.show and not confirmed[-1]:
                print(cases[i]["fen"], cases[i]["played"], cases[i]["best"], reason.text())
    print(f"confirmed by Stockfish at depth {args.depth}: {interval(games[sample], np.array(confirmed))}")
    for code in sorted({code for code, _ in by_code}):
        yes, no = by_code[code, True], by_code[code, False]
        print(f"  {code:<30}{yes:>5} of {yes + no}")


if __name__ == "__main__":
    main()
