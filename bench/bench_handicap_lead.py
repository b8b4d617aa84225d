"""What 2 to 9 handicap stones are worth before the first move: the lead by `kibitz` and GNU Go's estimate.

    python bench/bench_handicap_lead.py [gohuman] [--nodes 120] [--komi 7.5]

Fixed handicap stones on 19×19, komi 0.5 if not given, Japanese rules. Prints Markdown.
"""

import argparse

from kibitz.analysis import load_owners
from kibitz.analysis.go.games import analyse
from kibitz.engines.gtp.game import fixed_handicap
from kibitz.external.gtp import GtpProgram
from kibitz.external.programs import find_gnugo
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import WHITE
from kibitz.play.session import Session

LIMIT_S = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", default="gohuman")
    parser.add_argument("--nodes", type=int, default=0, help="visits of a search; 0 for none")
    parser.add_argument("--komi", type=float, default=0.5)
    options = parser.parse_args()
    session = Session(options.network)
    path = find_gnugo(None)
    program = GtpProgram([path, "--mode", "gtp", "--quiet"], "GNU Go") if path else None
    print("| stones | lead by kibitz | GNU Go's estimate |\n|---|---|---|")
    for stones in range(2, 10):
        record = Record(
            19, tuple(fixed_handicap(stones, 19)), side=WHITE, komi=options.komi, rules="japanese", handicap=stones
        )
        game = analyse(1, record, session, load_owners(session.system), nodes=options.nodes, steadied=True)
        estimate = ""
        if program:
            for command in ("boardsize 19", "clear_board", f"komi {options.komi}", f"fixed_handicap {stones}"):
                program.request(command, LIMIT_S)
            estimate = program.request("estimate_score", LIMIT_S).split()[0]
        print(f"| {stones} | {game.positions[0].score.lead:+.1f} | {estimate} |")
    if program:
        program.kill()


if __name__ == "__main__":
    main()
