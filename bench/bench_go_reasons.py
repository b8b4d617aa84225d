"""Reasons of marked moves of Go: how many get one, and how many of them GNU Go confirms.

    PYTHONPATH=tools python bench/bench_go_reasons.py cases.jsonl kgs.sgf --games 40
    PYTHONPATH=tools python bench/bench_go_reasons.py cases.jsonl --longer 3200
    PYTHONPATH=tools python bench/bench_go_reasons.py by_rules.jsonl kgs.sgf --games 150 --by-rules

Analyzes the games and writes a line for each marked move to the file of cases. If the file exists, its games are not
analyzed again. Then GNU Go checks all reasons. A reason is confirmed if GNU Go's reading or its score agrees:

- captures and ladders: `attack` captures the stones after the played move, and not after the better one. A missed one:
  `attack` captures them before the move. Stones that run in a ladder: `attack` captures them after the played move.
- groups: `dragon_status` of a group that dies is dead or critical after the played move, with the opponent to move, and
  not dead after the better one; of a group that lives, the other way round.
- an area: after the searches' lines, the player's territory in this area, by `initial_influence`, is at least one point
  larger with the better move than with the played move. Prisoners do not count. The same check of the area's mirror
  image, turned by 180 degrees around the center, shows how often it agrees by chance.
- for captures, ladders, groups, passes and larger moves elsewhere, also: by `estimate_score` the better move is better
  by at least a third of the lost points. The table also shows the reasons that reading alone confirms.

With `--longer`, the network searches the positions after the better move and after the played move again, with so many
visits. This check is stricter about the numbers, but it is not independent of the network. It confirms:

- captures, ladders and groups: if the stones belong to the named side with a probability of at least 0.5 after one of
  the moves, but at most 0.5 after the other move, and if these probabilities differ by at least 0.15.
- an area: if the player's expected points in it differ by at least half of the named points.
- a pass or a larger move elsewhere: if the better move gains at least half of the named points.

The results of these searches are kept in the file of cases.

Few marked moves have a reason. So with `--by-rules`, no network chooses the moves. The moves of the games are taken in
random order, and stones that may be captured count as lost. The proofs of captures and ladders then give their reasons,
at most one of each kind in a game. GNU Go's reading checks only the first sentence, because no search chose the better
move.

Intervals: 95%, bootstrapped over games.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench_reasons import interval
from kibitz.analysis import load_owners
from kibitz.analysis.glyphs import SIGNS
from kibitz.analysis.go.better import Better, board_after
from kibitz.analysis.go.changes import neighbours
from kibitz.analysis.go.games import analyse
from kibitz.analysis.go.predictions import terms_of
from kibitz.analysis.go.reasons import (
    ELSEWHERE,
    GROUP_DIES,
    GROUP_IN_DANGER,
    GROUP_LIVES,
    GROUP_LOST,
    LOSES_AREA,
    MISSES_ATTACK,
    MISSES_KILL,
    PASSES,
    Situation,
    explain,
)
from kibitz.analysis.go.searched import searching
from kibitz.analysis.sharing import opened
from kibitz.external.gtp import CommandRefused, GtpProgram
from kibitz.games.go.io.sgf import Record, read_records
from kibitz.games.go.points import BLACK, GRID, NONE, PASS, POINTS, WHITE, from_gtp, to_gtp
from kibitz.games.go.rules import Board
from kibitz.play.go.ownership import SWINGS, chains
from kibitz.play.go.thought import Terms

NAMES = ("black", "white")
SHARE = 1 / 3
LEAST_TERRITORY = 1.0
OF_CHAINS = ("self_atari", "allows_capture", "allows_ladder", "runs_in_ladder")
OWN_GROUPS, OTHER_GROUPS = (GROUP_DIES, GROUP_LOST, GROUP_IN_DANGER), (GROUP_LIVES, MISSES_KILL, MISSES_ATTACK)
LEAST_FOUND, LEAST_TURNED = 0.5, 0.15  # of points, and of a probability, by longer searches
LIMIT = 120.0
LEAST_STONES = 3  # of a chain, with --by-rules


def collect(target: Path, files: list[str], network: str, games: range) -> None:
    """Write the marked moves of the games to a file, which is continued if it exists."""
    done = {json.loads(line)["game"] for line in target.read_text().splitlines()} if target.exists() else set()
    session = opened(network)
    analysis = load_owners(session.system)
    with target.open("a") as file:
        for number, record in enumerate(islice(read_records(files, cut=True), games.stop)):
            if number in done or number not in games or not isinstance(record, Record):
                continue
            moves = analyse(number + 1, record, session, analysis, steadied=True).moves
            file.write(json.dumps({"game": number, "moves": len(moves)}) + "\n")
            stones = [[to_gtp(point, record.size) for point in side] for side in (record.black, record.white)]
            vertices, terms = [to_gtp(point, record.size) for point in record.moves], terms_of(record)
            for move in moves:
                if move.mark in SIGNS:
                    better = move.better
                    line = {
                        "game": number, "size": record.size, "stones": stones, "side": record.side - 1,
                        "terms": [terms.komi, terms.territory, terms.handicap], "moves": vertices[: move.ply - 1],
                        "ply": move.ply, "mark": move.mark, "played": move.vertex,
                        "change": round(move.change, 2), "best": better and to_gtp(better.line[0], record.size),
                        "lost": better and round(better.points, 2), "lines": better and lines_of(better, record.size),
                        "reason": better and better.why and better.why.as_json(),
                    }  # fmt: skip
                    file.write(json.dumps(line) + "\n")
            file.flush()


def lines_of(better: Better, size: int) -> list[list[str]]:
    """Return the lines that begin with the better move and with the played move."""
    return [[to_gtp(point, size) for point in line] for line in (better.line, better.played_line)]


def collect_by_rules(target: Path, files: list[str], games: range) -> None:
    """Write the reasons of captures and ladders that the rules alone find, at most one of each kind in a game."""
    rng = random.Random(1)
    with target.open("w") as file:
        for number, record in enumerate(islice(read_records(files, cut=True), games.stop)):
            if number not in games or not isinstance(record, Record):
                continue
            file.write(json.dumps({"game": number, "moves": len(record.moves)}) + "\n")
            stones = [[to_gtp(point, record.size) for point in side] for side in (record.black, record.white)]
            vertices, terms = [to_gtp(point, record.size) for point in record.moves], terms_of(record)
            boards, board = [], record.board(0, superko=False, suicide=True)
            for at, move in enumerate(record.moves):
                board.to_move = record.side if at % 2 == 0 else 3 - record.side
                if board.why_not(board.to_move, move) is not None:  # like an analysis, ends before an illegal move
                    break
                boards.append((at, board.copy(), move))
                board.play(board.to_move, move)
            rng.shuffle(boards)
            found = set[str]()
            for at, board, move in boards:
                for one in situations(board, move):
                    why = explain(one)
                    if why is not None and why.code not in found:
                        found.add(why.code)
                        line = {
                            "game": number, "size": record.size, "stones": stones, "side": record.side - 1,
                            "terms": [terms.komi, terms.territory, terms.handicap], "moves": vertices[:at],
                            "ply": at + 1, "mark": "", "played": vertices[at],
                            "best": to_gtp(one.best, record.size), "lost": one.lost, "reason": why.as_json(),
                        }  # fmt: skip
                        file.write(json.dumps(line) + "\n")


def situations(board: Board, played: int) -> Iterator[Situation]:
    """Yield the played move with better moves that may save or capture stones, which count as lost otherwise."""
    if played == PASS:
        return
    own, size = board.to_move, board.size
    then = board.copy()
    then.superko, then.suicide = False, True
    then.play(own, played)
    legal = board.copy()
    legal.suicide = False
    even = np.full(POINTS, 0.5)
    yield Situation(board, played, PASS, even, even, SWINGS[size])  # runs in a ladder
    for stones in chains(board.colours(), size):
        free = {point for stone in stones for point in neighbours(stone) if board[point] == NONE}
        if len(stones) < LEAST_STONES or len(free) > 3 or then[stones[0]] != board[stones[0]]:
            continue
        for best in sorted(free - {played}):
            if legal.why_not(own, best) is None:
                mine, theirs = even.copy(), even.copy()
                mine[stones], theirs[stones] = (1.0, 0.0) if own == BLACK else (0.0, 1.0)
                yield Situation(board, played, best, mine, theirs, max(2.0 * len(stones), SWINGS[size]))


def search_longer(target: Path, network: str, visits: int) -> None:
    """Search the positions after the better move and after the played move of each reason. Write what the searches
    find to the file of cases, which keeps the results of an earlier run with so many visits.
    """
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    session = opened(network)
    for case in lines:
        if not case.get("reason") or case.get("longer", {}).get("visits") == visits:
            continue
        search = searching(session, Terms(*case["terms"]), visits)
        board = board_of(case)
        points = [from_gtp(case[which], case["size"]) for which in ("best", "played")]
        better, after = (search(board_after(board, point)) for point in points)
        case["longer"] = {
            "visits": visits, "lost": round(after.moves[0].lead - better.moves[0].lead, 2),
            "owners": [one.owners.round(3).tolist() for one in (better, after)],
        }  # fmt: skip
        target.write_text("".join(json.dumps(line) + "\n" for line in lines))


def board_of(case: dict) -> Board:
    """Return the position before the move of a case."""
    board = Board(case["size"], suicide=True)
    for colour, stones in zip((BLACK, WHITE), case["stones"], strict=True):
        for stone in stones:
            board.put(colour, from_gtp(stone, case["size"]))
    board.to_move = case["side"] + 1
    for move in case["moves"]:
        board.play(board.to_move, from_gtp(move, case["size"]))
    return board


def by_longer_search(case: dict) -> bool:
    """Return whether the longer searches confirm the reason of a case."""
    said, size, longer = case["reason"]["parameters"], case["size"], case["longer"]
    if case["reason"]["code"] in (PASSES, ELSEWHERE):
        return longer["lost"] >= LEAST_FOUND * said["points"]
    board = board_of(case)
    better, after = (
        np.array(owners) if board.to_move == BLACK else 1 - np.array(owners) for owners in longer["owners"]
    )
    if case["reason"]["code"] == LOSES_AREA:
        area = [from_gtp(vertex, size) for vertex in said["area"]]
        return 2 * float((better - after)[area].sum()) >= LEAST_FOUND * said["points"]
    stones = board_after(board, from_gtp(case["played"], size)) if said["at"] == case["played"] else board
    at = from_gtp(said["at"], size)
    chain_ = next(one for one in chains(stones.colours(), size) if at in one)
    kept, left = better[chain_].mean(), after[chain_].mean()
    return bool(kept - left >= LEAST_TURNED and kept >= 0.5 >= left)


class Checker:
    """GNU Go's view of cases."""

    def __init__(self, folder: str, level: int) -> None:
        words = ["gnugo", "--mode", "gtp", "--quiet", "--never-resign", "--level", str(level)]
        self.program = GtpProgram(words, "GNU Go", Path(folder))

    def ask(self, command: str) -> str:
        return self.program.request(command, LIMIT)

    def set_up(self, case: dict, *line: str) -> str:
        """Set up the position before the move, or after a line. Returns the side to move."""
        self.ask(f"boardsize {case['size']}")
        self.ask("clear_board")
        for name, stones in zip(NAMES, case["stones"], strict=True):
            for stone in stones:
                self.ask(f"play {name} {stone}")
        side = case["side"]
        for one in [*case["moves"], *line]:
            self.ask(f"play {NAMES[side]} {one}")
            side = 1 - side
        return NAMES[side]

    def confirms(self, case: dict) -> tuple[bool, bool]:
        """Return whether GNU Go's reading confirms the reason, and whether its reading or its score does. An area is
        confirmed by its territory alone.
        """
        code, said = case["reason"]["code"], case["reason"]["parameters"]
        if code == LOSES_AREA:
            found = case["territory"] = self.by_territory(case, said)
            return (found[0] >= LEAST_TERRITORY,) * 2
        read = self.by_reading(case, code, said)
        return read, read or self.by_score(case) >= SHARE * case["lost"]

    def by_territory(self, case: dict, said: dict) -> tuple[float, float]:
        """Return by how many points the better line gives the player more territory than the played line: in the area
        of the reason, and in its mirror image.
        """
        size = case["size"]
        area = [divmod(from_gtp(vertex, size), GRID) for vertex in said["area"]]
        better, played = (self.territory(case, line) for line in case["lines"])
        gained = (better - played) * (1 if said["colour"] == "black" else -1)
        mirrored = [(size - 1 - row, size - 1 - column) for row, column in area]
        return sum(float(gained[one]) for one in area), sum(float(gained[one]) for one in mirrored)

    def territory(self, case: dict, line: list[str]) -> np.ndarray:
        """Return Black's territory minus White's after a line, [size, size]: 1 for a point of Black's, −1 for one of
        White's, and numbers between for points without a clear owner.
        """
        turn = self.set_up(case, *line)
        words = self.ask(f"initial_influence {turn} territory_value").split()
        return -np.clip(np.array(words, float), -1, 1).reshape(case["size"], case["size"])

    def by_reading(self, case: dict, code: str, said: dict, with_better: bool = True) -> bool:
        if code in ("misses_capture", "misses_ladder"):
            self.set_up(case)
            return self.attacks(said["at"])
        if code not in (*OF_CHAINS, *OWN_GROUPS, *OTHER_GROUPS):
            return False
        self.set_up(case, case["played"])
        if code in OF_CHAINS:
            bad = self.attacks(said["at"])
            if code == "runs_in_ladder" or not with_better:
                return bad
            self.set_up(case, case["best"])
            return bad and not self.attacks(said["at"])
        status = self.status(said["at"])
        self.set_up(case, case["best"])
        better = self.status(said["at"])
        if code in OWN_GROUPS:
            return status in ("dead", "critical") and better != "dead"
        least = ("dead", "gone") if code != MISSES_ATTACK else ("dead", "gone", "critical")
        return status != "dead" and better in least

    def attacks(self, vertex: str) -> bool:
        try:
            return not self.ask(f"attack {vertex}").startswith("0")
        except CommandRefused:  # no stone is there
            return False

    def status(self, vertex: str) -> str:
        try:
            return self.ask(f"dragon_status {vertex}").split()[0]
        except CommandRefused:
            return "gone"

    def by_score(self, case: dict) -> float:
        """Return by how many points the better move is better."""
        sign = 1 if (case["side"] + case["ply"] - 1) % 2 == 0 else -1
        scores = []
        for move in (case["best"], case["played"]):
            self.set_up(case, move)
            found = re.match(r"([BW])\+([\d.]+)", self.ask("estimate_score"))
            scores.append((1 if found[1] == "B" else -1) * float(found[2]) if found else 0.0)
        return sign * (scores[0] - scores[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--network", default="gohuman")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first game, for several processes")
    parser.add_argument("--by-rules", action="store_true", help="reasons that no network chose")
    parser.add_argument("--level", type=int, default=10, help="level of GNU Go")
    parser.add_argument("--longer", type=int, metavar="VISITS", help="also check by searches with so many visits")
    parser.add_argument("--show", action="store_true", help="print the reasons that are not confirmed")
    args = parser.parse_args()
    if args.files and args.by_rules:
        collect_by_rules(args.cases, args.files, range(args.first, args.games))
    elif args.files:
        collect(args.cases, args.files, args.network, range(args.first, args.games))
    if args.longer:
        search_longer(args.cases, args.network, args.longer)
    lines = [json.loads(line) for line in args.cases.read_text().splitlines()]
    cases = [one for one in lines if "reason" in one]
    moves = sum(one["moves"] for one in lines if "reason" not in one)
    print(f"{len(lines) - len(cases)} games, {moves} moves, {len(cases)} {'reasons' if args.by_rules else 'marked'}")
    games = np.array([one["game"] for one in cases])
    known = np.array([one["reason"] is not None for one in cases])
    for marks in (("?", "??"), ("?!",)):
        some = np.array([one["mark"] in marks for one in cases])
        if some.any():
            print(f"{' and '.join(marks):<10} with a reason: {interval(games[some], known[some])}")
    explained = [one for one in cases if one["reason"]]
    if not explained:
        return
    results, by_code = [], Counter()
    with TemporaryDirectory() as folder:
        checker = Checker(folder, args.level)
        for one in explained:
            parts = one["reason"]["code"], one["reason"]["parameters"]
            results.append((checker.by_reading(one, *parts, False),) * 2 if args.by_rules else checker.confirms(one))
            by_code[one["reason"]["code"], results[-1]] += 1
            if args.show and not results[-1][1]:
                print(one["game"] + 1, one["ply"], one["played"], one["best"], one["lost"], one["reason"]["text"])
    read, either = np.array(results).T
    games = np.array([one["game"] for one in explained])
    if not args.by_rules:
        print(f"confirmed by GNU Go, reading, territory or score: {interval(games, either)}")
    print(f"confirmed by GNU Go, reading or territory alone: {interval(games, read)}")
    for code in sorted({code for code, _ in by_code}):
        n = sum(count for (one, _), count in by_code.items() if one == code)
        yes = sum(count for (one, result), count in by_code.items() if one == code and result[1])
        by_reading = sum(count for (one, result), count in by_code.items() if one == code and result[0])
        print(f"  {code:<20}{yes:>5} of {n}, {by_reading} by reading or territory")
    searched = [one for one in explained if args.longer and one.get("longer", {}).get("visits") == args.longer]
    if searched:
        found = np.array([by_longer_search(one) for one in searched])
        print(f"confirmed by longer searches: {interval(np.array([one['game'] for one in searched]), found)}")
        codes = np.array([one["reason"]["code"] for one in searched])
        for code in sorted(set(codes)):
            print(f"  {code:<20}{found[codes == code].sum():>5} of {(codes == code).sum()}")
        for one, right in zip(searched, found, strict=True):
            if args.show and not right:
                print(one["game"] + 1, one["ply"], one["lost"], one["longer"]["lost"], one["reason"]["text"])
    areas = [one for one in explained if "territory" in one]
    if areas:
        least = [max(LEAST_TERRITORY, SHARE * one["reason"]["parameters"]["points"]) for one in areas]
        third = sum(one["territory"][0] >= points for one, points in zip(areas, least, strict=True))
        chance = sum(one["territory"][1] >= LEAST_TERRITORY for one in areas)
        print(f"areas: {third} of {len(areas)} by a third of the points; {chance} agree in the mirrored area")


if __name__ == "__main__":
    main()
