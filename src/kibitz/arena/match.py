"""A match: many games between two players, several at a time, that can be broken off and gone on with."""

from __future__ import annotations

import queue
import shlex
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kibitz.arena.contest import Engine, Game, Outcome
from kibitz.arena.elo import Sprt, Tally
from kibitz.arena.players import Player
from kibitz.arena.record import Row, append, resume
from kibitz.errors import KibitzError
from kibitz.keys import counted
from kibitz.lock import exclusive_lock


@dataclass(frozen=True)
class Plan:
    """A match of `game`, between the players `a` and `b`: `games` in all, `workers` of them at a time."""

    a: Player
    b: Player
    game: Game
    games: int
    record: Path
    seed: int = 0
    workers: int = 1
    sprt: Sprt | None = None

    def settings(self) -> dict[str, str]:
        """All that must be the same for games to be of one match. (Not how many, how many at a time, or the SPRT.)"""
        return {
            "A": _described(self.a), "B": _described(self.b),
            "LimitA": self.game.limit("A"), "LimitB": self.game.limit("B"),
            "Seed": str(self.seed), **self.game.settings(),
        }  # fmt: skip


def _described(player: Player) -> str:
    """The player as it was named, whatever Python runs it: a match may go on from another environment."""
    words = player.command[3:] if player.weights else player.command
    options = "".join(f"; {name}={value}" for name, value in player.options)
    weights = f"; weights {player.weights[:12]}" if player.weights else ""
    return shlex.join(words) + options + weights


@dataclass
class Used:
    """What a player used in the games of this call: moves, seconds, the longest move, and nodes where it told them."""

    moves: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    nodes: int = 0

    def as_json(self) -> dict[str, float | int | None]:
        return {
            "moves": self.moves,
            "seconds_per_move": self.seconds / self.moves if self.moves else None,
            "longest_seconds": self.longest if self.moves else None,
            "nodes_per_move": self.nodes / self.moves if self.moves and self.nodes else None,
            "nodes_per_second": self.nodes / self.seconds if self.seconds and self.nodes else None,
        }


class Match:
    """The games of a plan, those found in its record first. Raises UsageError where that file is of another match."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.rows: dict[int, Row] = {}
        self.used = {"A": Used(), "B": Used()}
        self.seconds = 0.0
        self.resumed = 0
        self._settings = plan.settings()
        self._results: queue.Queue[Outcome | BaseException | None] = queue.Queue()
        self._todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._engines: list[Engine] = []

    def run(self, tell: Callable[[Match], None] = lambda match: None) -> None:
        """Play what is missing; `tell` is called after every game, and once before the first.

        Raises KibitzError when an engine cannot be started. However it ends, no engine is left running, and every game
        that ended is in the record.
        """
        plan = self.plan
        with ExitStack() as held:
            plan.record.parent.mkdir(parents=True, exist_ok=True)
            self._hold(held)
            had = resume(plan.record, self._settings, plan.game.form)
            self.rows = {found.number: found for found in had if found.number < plan.games}
            self.resumed = len(self.rows)
            tell(self)
            missing = [number for number in range(plan.games) if number not in self.rows]
            if not missing or self.decided:
                return
            for number in missing:
                self._todo.put(number)
            self._play(min(plan.workers, len(missing)), tell)

    def _hold(self, held: ExitStack) -> None:
        """Take the record for ourselves: two matches that write one file would each miss the other's games."""
        record, option = self.plan.record, self.plan.game.form.option
        try:
            held.enter_context(exclusive_lock(record.with_name(f".{record.name}.lock"), record))
        except KibitzError:
            raise KibitzError(
                f"{record}: another match writes it at this moment; choose another file with {option}"
            ) from None

    def _play(self, workers: int, tell: Callable[[Match], None]) -> None:
        begun = time.monotonic()
        players = {"A": self.plan.a, "B": self.plan.b}
        pairs = [{side: self.plan.game.engine(player) for side, player in players.items()} for _ in range(workers)]
        self._engines = [engine for pair in pairs for engine in pair.values()]
        threads = [threading.Thread(target=self._work, args=(pair,), daemon=True) for pair in pairs]
        for thread in threads:
            thread.start()
        at_work = workers
        try:
            while at_work:
                got = self._next()
                if got is None:
                    at_work -= 1
                elif isinstance(got, BaseException):
                    raise got
                else:
                    self._keep(got)
                    self.seconds = time.monotonic() - begun
                    tell(self)
                    if self.decided:
                        break
        finally:
            self._stop.set()
            for engine in self._engines:
                engine.close()
            for thread in threads:
                thread.join(timeout=5)

    def _next(self) -> Outcome | BaseException | None:
        """What a worker reports next. Waits in small steps, so that Ctrl-C is heard on every system."""
        while True:
            try:
                return self._results.get(timeout=0.5)
            except queue.Empty:
                continue

    def _keep(self, played: Outcome) -> None:
        append(self.plan.record, played.text)
        self.rows[played.row.number] = played.row
        for side, used in self.used.items():
            for spent in played.spent[side]:
                used.moves += 1
                used.seconds += spent.seconds
                used.longest = max(used.longest, spent.seconds)
                used.nodes += spent.nodes or 0

    def _work(self, pair: dict[str, Engine]) -> None:
        """A worker: its own two engines, game after game. Reports games, then None; or what went wrong."""
        names = {"A": self.plan.a.name, "B": self.plan.b.name}
        try:
            while not self._stop.is_set():
                try:
                    number = self._todo.get_nowait()
                except queue.Empty:
                    break
                for engine in pair.values():
                    engine.start()
                played = self.plan.game.play(number, pair, names, self._settings)
                if not self._stop.is_set():  # else the engines were ended under it
                    self._results.put(played)
            self._results.put(None)
        except BaseException as error:
            self._results.put(error)

    @property
    def identities(self) -> dict[str, str]:
        """What the engines call themselves, by "A" and "B"; their players' names before they were started."""
        names = {"A": self.plan.a.name, "B": self.plan.b.name}
        return names | dict(zip("AB", (engine.identity for engine in self._engines[:2]), strict=False))

    @property
    def tally(self) -> Tally:
        return tally(self.rows.values())

    @property
    def decided(self) -> str | None:
        """The hypothesis that the SPRT has accepted, if it was asked for and has."""
        return self.plan.sprt.decision(self.tally) if self.plan.sprt else None

    def result(self) -> dict[str, Any]:
        """All that the match says so far, ready for JSON."""
        plan, rows = self.plan, [self.rows[number] for number in sorted(self.rows)]
        whole = tally(rows)
        return {
            "game": plan.game.name,
            **{
                side.lower(): {
                    "name": player.name, "engine": self.identities[side], "command": list(player.command),
                    "options": dict(player.options), "limit": plan.game.limit(side),
                }
                for side, player in (("A", plan.a), ("B", plan.b))
            },
            **plan.game.facts(),
            "games": whole.games, "of": plan.games, "resumed": self.resumed,
            "wins": whole.wins, "draws": whole.draws, "losses": whole.losses,
            "score": whole.score().as_json(), "elo": whole.elo().as_json(), "los": whole.los(),
            "pentanomial": list(whole.pairs), "pairs": sum(whole.pairs),
            "sprt": plan.sprt.as_json(whole) if plan.sprt else None,
            "by_colour": {
                colour: _counts(tally(found for found in rows if found.number % 2 == parity))
                for parity, colour in enumerate(plan.game.colours)
            },
            "endings": counted(dict(Counter(found.ending for found in rows).most_common())),
            "referees": counted(dict(Counter(found.referee for found in rows if found.referee).most_common())),
            "forfeits": [
                {
                    "game": found.number, "side": found.forfeit,
                    "name": plan.a.name if found.forfeit == "A" else plan.b.name,
                    "kind": found.ending, "reason": found.reason,
                }
                for found in rows if found.forfeit
            ],
            "seconds": self.seconds,
            "speed": {"a": self.used["A"].as_json(), "b": self.used["B"].as_json()},
            "seed": plan.seed, plan.game.form.option.removeprefix("--"): str(plan.record),
        }  # fmt: skip


def tally(rows: Iterable[Row]) -> Tally:
    """Count games, and pairs whose two games have both ended."""
    points = {found.number: found.points for found in rows}
    results = Counter(points.values())
    pairs = [0] * 5
    for number, first in points.items():
        if number % 2 == 0 and number + 1 in points:
            pairs[first + points[number + 1]] += 1
    return Tally(results[2], results[1], results[0], (pairs[0], pairs[1], pairs[2], pairs[3], pairs[4]))


def _counts(one: Tally) -> dict[str, Any]:
    return {
        "wins": one.wins, "draws": one.draws, "losses": one.losses, "games": one.games,
        "score": one.score().as_json(),
    }  # fmt: skip


def players_differ(a: Player, b: Player) -> tuple[Player, Player]:
    """The two players under names that tell them apart."""
    if a.name != b.name:
        return a, b
    return replace(a, name=f"{a.name} A"), replace(b, name=f"{b.name} B")
