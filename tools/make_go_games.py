"""Play the Go games that kibitz carries: GNU Go against itself, at varied levels, to the last pass.

    .venv/bin/python tools/make_go_games.py --games 300 --work games.sgfl --out src/kibitz/data/games.sgfl.zst

Each side gets a random level, and the first plies are random points near the border, so that openings vary. Then both
sides play until they pass in turn. The result is GNU Go's own final score. A game is dropped if its dead stones give
another score, if it does not end, or if GNU Go fails. A game depends only on its number (its RO). So a second run gives
the same games, and an interrupted one resumes after the last game that was written.
"""

import argparse
import random
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zstandard
from numpy.typing import NDArray

from kibitz.external import EngineDied
from kibitz.external.gtp import CommandRefused, GtpProgram
from kibitz.external.programs import find_gnugo
from kibitz.games.go.endings.scoring import Final, count
from kibitz.games.go.points import BLACK, GRID, POINTS, WHITE, from_gtp, to_gtp, to_sgf
from kibitz.games.go.rules import Board

SIZES = 80 * (9,) + 40 * (13,) + 24 * (19,) + 90 * (9,) + 36 * (13,) + 30 * (19,)
"""The sizes of the games by number, and again from the first. One on 19 × 19 takes longer than 30 on 9 × 9."""
LEVELS = {19: range(-10, 1), 13: range(-10, 7), 9: range(-10, 11)}  # below 0 GNU Go reads still less deeply
APART = 3  # levels between the two sides, at most
OPENING_PLIES = {19: (2, 16), 13: (2, 8), 9: (1, 4)}
HANDICAP, SET_UP = 12, 15  # one game in 12 has handicap stones, one in 15 of the others its opening as setup stones
PATIENCE = 60.0  # seconds for an answer
COLOURS = {BLACK: "black", WHITE: "white"}
LETTERS = {BLACK: "B", WHITE: "W"}


@dataclass
class Plan:
    """What is settled before the first move. opening: points, played in turn; handicap 0 for none."""

    number: int
    size: int
    rules: str
    komi: float
    levels: dict[int, int]
    handicap: int
    set_up: bool
    opening: list[int]


def plan(number: int) -> Plan:
    rng = random.Random(number)
    size = SIZES[(number - 1) % len(SIZES)]
    handicap = rng.randint(2, 4) if rng.randrange(HANDICAP) == 0 else 0
    rules = "Japanese" if handicap else rng.choice(("Japanese", "Chinese"))
    komi = 0.5 if handicap else 5.5 if size == 9 else 6.5 if rules == "Japanese" else 7.5
    level = rng.choice(LEVELS[size])
    levels = {BLACK: level, WHITE: rng.randint(level - APART, min(level + APART, LEVELS[size][-1]))}
    set_up = not handicap and rng.randrange(SET_UP) == 0
    plies = 0 if handicap else rng.randint(*OPENING_PLIES[size])
    return Plan(number, size, rules, komi, levels, handicap, set_up, opening(rng, size, plies + (plies % 2) * set_up))


def opening(rng: random.Random, size: int, plies: int) -> list[int]:
    """Random points on the third to fifth line from a border, no two of them adjacent."""
    lines = (2, 3, 4) if size > 9 else (2, 3)
    near = [*lines, *(size - 1 - line for line in lines)]
    points: list[int] = []
    while len(points) < plies:
        row, column = rng.choice(near), rng.randrange(2, size - 2)
        if rng.random() < 0.5:
            row, column = column, row
        if all(abs(row - point // GRID) + abs(column - point % GRID) > 1 for point in points):
            points.append(row * GRID + column)
    return points


class Dropped(Exception):
    """Why a game is not kept."""


def play(plan: Plan, gnugo: str) -> str:
    """One game as a line of SGF. Raises Dropped, CommandRefused or EngineDied."""
    arguments = ["--mode", "gtp", "--never-resign", f"--{plan.rules.lower()}-rules", "--seed", str(plan.number)]
    board, moves = Board(plan.size), list[tuple[int, int]]()
    with GtpProgram([gnugo, *arguments], "GNU Go") as program:
        for command in (f"boardsize {plan.size}", "clear_board", f"komi {plan.komi}"):
            program.ask(command, PATIENCE)
        stones: dict[int, list[int]] = {BLACK: [], WHITE: []}
        colour = BLACK
        if plan.handicap:
            answer = program.ask(f"fixed_handicap {plan.handicap}", PATIENCE)
            stones[BLACK] = [from_gtp(vertex, plan.size) for vertex in answer.split()]
            colour = WHITE
        for point in plan.opening:
            program.ask(f"play {COLOURS[colour]} {to_gtp(point, plan.size)}", PATIENCE)
            stones[colour].append(point) if plan.set_up else moves.append((colour, point))
            colour = 3 - colour
        for owner, points in stones.items():
            for point in points:
                board.put(owner, point)
        for mover, point in moves:
            board.play(mover, point)
        while board.passes < 2:
            program.ask(f"level {plan.levels[colour]}", PATIENCE)
            point = from_gtp(program.ask(f"genmove {COLOURS[colour]}", PATIENCE), plan.size)
            board.play(colour, point)
            moves.append((colour, point))
            colour = 3 - colour
            if len(moves) > 2 * plan.size**2:
                raise Dropped("does not end")
        result = score(program, plan, board)
    return write(plan, program_name(gnugo), stones, moves, result)


def score(program: GtpProgram, plan: Plan, board: Board) -> str:
    """GNU Go's final score, if its dead stones say the same."""
    program.ask("level 10", PATIENCE)
    result = program.ask("final_score", PATIENCE)
    if not re.fullmatch(r"[BW]\+\d+\.5", result):
        raise Dropped(f"final score {result}")
    lead = float(result[2:]) * (1 if result[0] == "B" else -1)
    captured = (board.captured[BLACK], board.captured[WHITE])
    final = Final(board.colours(), captured, plan.size, plan.komi, plan.rules.lower(), plan.handicap, lead)
    dead, seki = (status(program, word, plan.size) for word in ("dead", "seki"))
    if count(final, dead, seki)[1] > 0.01:
        raise Dropped(f"{result} is not what the dead stones say")
    return result


def status(program: GtpProgram, word: str, size: int) -> NDArray[np.bool_]:
    """The stones that GNU Go gives this status, bool [361]."""
    stones = np.zeros(POINTS, np.bool_)
    stones[[from_gtp(vertex, size) for vertex in program.ask(f"final_status_list {word}", PATIENCE).split()]] = True
    return stones


def program_name(gnugo: str) -> str:
    with GtpProgram([gnugo, "--mode", "gtp"]) as program:
        return f"{program.ask('name', PATIENCE)} {program.ask('version', PATIENCE)}"


def write(plan: Plan, name: str, stones: dict[int, list[int]], moves: list[tuple[int, int]], result: str) -> str:
    text = f"(;FF[4]CA[UTF-8]GM[1]SZ[{plan.size}]EV[kibitz bundled games]RO[{plan.number}]"
    text += "".join(f"P{LETTERS[colour]}[{name} level {level}]" for colour, level in plan.levels.items())
    text += f"RU[{plan.rules}]KM[{plan.komi}]RE[{result}]"
    text += f"HA[{plan.handicap}]" if plan.handicap else ""
    for colour, points in stones.items():
        text += (f"A{LETTERS[colour]}" + "".join(f"[{to_sgf(point)}]" for point in points)) if points else ""
    text += f"PL[{LETTERS[moves[0][0]]}]" if any(stones.values()) else ""
    text += "".join(f";{LETTERS[colour]}[{to_sgf(point)}]" for colour, point in moves)
    return text + ")\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=300, help="games to play (default 300); a few of them are dropped")
    parser.add_argument("--gnugo", help="where GNU Go is, if not on the PATH or in /usr/games")
    parser.add_argument("--work", required=True, type=Path, help="file that gathers the games as they are played")
    parser.add_argument("--out", required=True, type=Path, help="file that is written at the end, packed")
    options = parser.parse_args()
    gnugo = find_gnugo(options.gnugo)
    if gnugo is None:
        parser.error("GNU Go is not installed")
    done = re.findall(r"RO\[(\d+)\]", options.work.read_text()) if options.work.exists() else []
    for number in range(int(done[-1]) + 1 if done else 1, options.games + 1):
        try:
            line = play(plan(number), gnugo)
        except (Dropped, CommandRefused, EngineDied) as reason:
            print(f"game {number}: dropped: {reason}", flush=True)
            continue
        with options.work.open("a") as file:
            file.write(line)
        print(f"game {number}", flush=True)
    pack(options.work, options.out)


def pack(work: Path, out: Path) -> None:
    """Write the games packed, in an order in which sizes and levels are mixed."""
    games = sorted(work.read_text().splitlines(keepends=True))
    random.Random(0).shuffle(games)
    out.write_bytes(zstandard.ZstdCompressor(level=19).compress("".join(games).encode()))
    print(f"{len(games)} games, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
