"""The output of `kibitz match`: the score during the match, and the tables at the end."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.commands.tables import print_table
from kibitz.messages import note
from kibitz.text import number_of, rounded

if TYPE_CHECKING:
    from kibitz.arena.match import Match

LINE_EVERY = 15.0
"""The number of seconds between two lines of progress if standard error is not a terminal."""


class MatchProgress(Progress):
    """A progress bar of a match, with the score so far."""

    def __init__(self) -> None:
        super().__init__(
            "{task.description}", BAR, "{task.completed:.0f} of {task.total:.0f} games", LEFT, every=LINE_EVERY
        )
        self._begun = False

    def on_game(self, match: Match) -> None:
        """Show the score. The match calls this method after each game, and once before its first game.

        If the match was resumed, the first call shows the score of the games that were already in the file of the
        records.
        """
        done, games, tally = len(match.rows), match.config.games, match.tally
        score = f"{match.config.a.name} +{tally.wins} ={tally.draws} -{tally.losses}"
        if not self._begun:
            self._begun = True
            self.begin(score, games, done)
            if match.resumed:
                _log(f"resuming: {match.resumed} of {number_of(games, 'game')} are in {match.config.record}")
        self.update(done, f"kibitz: {done} of {number_of(games, 'game')}: {score}", description=score)


def _log(line: str) -> None:
    note(line)


def show(match: Match, as_json: bool) -> None:
    """Print the result of a match, as tables or as JSON."""
    result = match.result()
    if as_json:
        print(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _report(result)
    sys.stdout.flush()


def _report(result: dict[str, Any]) -> None:
    """Print the tables of a match: the score, both colors, the difference in strength, the speed, and the forfeits."""
    a, b = result["a"], result["b"]
    board = f" on {result['size']} × {result['size']}, komi {result['komi']:g}" if result["game"] == "go" else ""
    played = f"{result['games']} of {number_of(result['of'], 'game')}{board}"
    print(f"{a['name']} ({_terms(a)}) against {b['name']} ({_terms(b)}): {played}")
    print()
    rows = [(a["name"], result)]
    rows += [(f"with {colour.capitalize()}", of_colour) for colour, of_colour in result["by_colour"].items()]
    print_table(
        "", ("", "won", "drawn", "lost", "score", "95% interval"),
        [
            (name, str(r["wins"]), str(r["draws"]), str(r["losses"]), _percent(r["score"]["value"]),
             f"{_percent(r['score']['low'])} to {_percent(r['score']['high'])}")
            for name, r in rows
        ],
        right=(1, 2, 3, 4, 5),
    )  # fmt: skip
    print()
    elo, test = result["elo"], result["sprt"]
    facts = [
        ("Elo difference", f"{_elo(elo['value'])} ({_elo(elo['low'])} to {_elo(elo['high'])})"),
        ("probability of being stronger", f"{100 * result['los']:.1f}%"),
        ("game pairs with 0, ½, 1, 1½, 2 points", ", ".join(map(str, result["pentanomial"]))),
    ]
    if test:
        verdict = {"H0": f"{test['elo0']:g} accepted", "H1": f"{test['elo1']:g} accepted"}.get(
            test["decision"], "undecided"
        )
        bounds = f"{test['lower']:.2f} to {test['upper']:.2f}"
        facts.append(
            (
                f"SPRT, Elo {test['elo0']:g} or {test['elo1']:g}",
                f"{verdict}; LLR {rounded(test['llr'], 2):.2f} in {bounds}",
            )
        )
    facts.append(("endings", _numbers(result["endings"]) or "none"))
    if result["referees"]:
        facts.append(("counted by", _numbers(result["referees"])))
    print_table("", ("", ""), facts)
    print()
    if any(result["speed"][side]["moves"] for side in "ab"):
        print_table(
            "", ("speed in this run", "moves", "ms per move", "longest", "nodes per move"),
            [(result[side]["name"], *_speed(result["speed"][side])) for side in "ab"], right=(1, 2, 3, 4),
        )  # fmt: skip
        print()
    for forfeit in result["forfeits"]:
        print(f"game {forfeit['game'] + 1}: {forfeit['name']} forfeits ({forfeit['reason']})")
    print(f"games: {result.get('pgn') or result.get('sgf')}")


def _terms(side: dict[str, Any]) -> str:
    return ", ".join([side["limit"], *(f"{name} {value}" for name, value in side["options"].items())])


def _numbers(of: dict[str, dict[str, Any]]) -> str:
    return ", ".join(f"{entry['games']} {entry['label']}" for entry in of.values())


def _speed(used: dict[str, Any]) -> tuple[str, str, str, str]:
    if not used["moves"]:
        return "0", "-", "-", "-"
    nodes = used["nodes_per_move"]
    return (
        f"{used['moves']:,}", f"{1000 * used['seconds_per_move']:.1f}", f"{1000 * used['longest_seconds']:.0f}",
        f"{nodes:,.0f}" if nodes else "-",
    )  # fmt: skip


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _elo(value: float | None) -> str:
    """Format an Elo difference; an infinite one is "unbounded"."""
    return f"{round(value):+d}" if value is not None else "unbounded"
