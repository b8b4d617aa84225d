"""Play a match: many games between two players, several games at the same time. A match can be interrupted and
resumed.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
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

from kibitz.arena.contest import Contest, MatchEngine, PlayedGame
from kibitz.arena.elo import Sprt, Tally
from kibitz.arena.players import Participant
from kibitz.arena.record import ScoredGame, append, resume
from kibitz.errors import KibitzError
from kibitz.keys import counted
from kibitz.lock import exclusive_lock
from kibitz.parallel import Backend, map_unordered


@dataclass(frozen=True)
class MatchConfig:
    """The description of a match between the players `a` and `b`.

    game: the game, chess or Go, with its rules and the limits of both players.
    games: the total number of games.
    record: the file to which the games are written.
    seed: the random seed, which determines the order of the openings.
    workers: the number of games that are played at the same time.
    sprt: the statistical test that may end the match early; None for no test.
    backend: the kind and number of worker processes, each of which plays pairs of games. None to play single games in
        threads of this process.
    """

    a: Participant
    b: Participant
    game: Contest
    games: int
    record: Path
    seed: int = 0
    workers: int = 1
    sprt: Sprt | None = None
    backend: Backend | None = None

    def settings(self) -> dict[str, str]:
        """Return the settings that must stay the same when the match is resumed, as a dict from names to values. The
        number of games, the number of workers and the SPRT may change.
        """
        return {
            "A": _described(self.a), "B": _described(self.b),
            "LimitA": self.game.limit("A"), "LimitB": self.game.limit("B"),
            "Seed": str(self.seed), **self.game.settings(),
        }  # fmt: skip


def _described(player: Participant) -> str:
    """Return the player's description without the path of its Python, because a match may be resumed in another
    environment.
    """
    words = player.command[3:] if player.weights else player.command
    options = "".join(f"; {name}={value}" for name, value in player.options)
    weights = f"; weights {player.weights[:12]}" if player.weights else ""
    return shlex.join(words) + options + weights


@dataclass
class Usage:
    """What one player used since this program was started: the number of moves, the seconds for all moves, the seconds
    for the longest move, and the number of nodes that the engine reported.
    """

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
    """A match between two players, which `config` describes. The method `run` plays the games. It continues after the
    games that the record file of the match already contains.
    """

    def __init__(self, config: MatchConfig):
        self.config = config
        self.rows: dict[int, ScoredGame] = {}
        self.used = {"A": Usage(), "B": Usage()}
        self.seconds = 0.0
        self.resumed = 0
        self._settings = config.settings()
        self._results: queue.Queue[PlayedGame | BaseException | None] = queue.Queue()
        self._todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._engines: list[MatchEngine] = []
        self._identities: dict[str, str] = {}

    def run(self, on_progress: Callable[[Match], None] = lambda match: None) -> None:
        """Play the games that the record file does not contain yet.

        on_progress: a function that is called once before the first game, and after every game. Raises UsageError if
        the record contains another match, and KibitzError if an engine can't be started. Even after an error, all
        engines are ended, and the record contains every completed game.
        """
        config = self.config
        with ExitStack() as held:
            config.record.parent.mkdir(parents=True, exist_ok=True)
            self._hold(held)
            self.rows = self._recorded()
            self.resumed = len(self.rows)
            on_progress(self)
            missing = [number for number in range(config.games) if number not in self.rows]
            if not missing or self.decided:
                return
            try:
                if config.backend:
                    self._play_apart(config.backend, missing, on_progress)
                    return
                for number in missing:
                    self._todo.put(number)
                self._play(min(config.workers, len(missing)), on_progress)
            except KeyboardInterrupt:
                # After an interrupt, the last game may be in the record, but not yet in the rows.
                self.rows = self._recorded()
                raise

    def _recorded(self) -> dict[int, ScoredGame]:
        """Return the games of this match that are in its record, by number."""
        config = self.config
        had = resume(config.record, self._settings, config.game.form)
        return {row.number: row for row in had if row.number < config.games}

    def _hold(self, held: ExitStack) -> None:
        """Lock the record: if two matches wrote one file, each would miss the other's games."""
        record, option = self.config.record, self.config.game.form.option
        try:
            lock = record.with_name(f".{record.name}.lock")
            # If a match was killed while it started an engine, the engine's process may still hold the lock for a
            # moment.
            held.enter_context(exclusive_lock(lock, record, wait=2.0))
        except KibitzError:
            raise KibitzError(f"another match writes to {record}. Choose another file with {option}.") from None

    def _play(self, workers: int, on_progress: Callable[[Match], None]) -> None:
        begun = time.monotonic()
        players = {"A": self.config.a, "B": self.config.b}
        pairs = [{side: self.config.game.engine(player) for side, player in players.items()} for _ in range(workers)]
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
                    on_progress(self)
                    if self.decided:
                        break
        finally:
            self._stop.set()
            for engine in self._engines:
                engine.close()
            for thread in threads:
                thread.join(timeout=5)

    def _play_apart(self, backend: Backend, missing: list[int], on_progress: Callable[[Match], None]) -> None:
        """Let workers play the missing games. The two games of an opening are one piece of work."""
        begun, config = time.monotonic(), self.config
        pairs = [list(pair) for _, pair in itertools.groupby(missing, lambda number: number // 2)]
        function = functools.partial(_play_pair, config.game, {"A": config.a, "B": config.b}, self._settings)
        with contextlib.closing(map_unordered(function, pairs, backend)) as results:
            for _, (games, self._identities) in results:
                for played in games:
                    self._keep(played)
                    self.seconds = time.monotonic() - begun
                    on_progress(self)
                if self.decided:
                    return

    def _next(self) -> PlayedGame | BaseException | None:
        """Return the next report of a worker. The method waits in short steps, so that Ctrl-C works on every system."""
        while True:
            try:
                return self._results.get(timeout=0.5)
            except queue.Empty:
                continue

    def _keep(self, played: PlayedGame) -> None:
        append(self.config.record, played.text)
        self.rows[played.row.number] = played.row
        for side, used in self.used.items():
            for spent in played.spent[side]:
                used.moves += 1
                used.seconds += spent.seconds
                used.longest = max(used.longest, spent.seconds)
                used.nodes += spent.nodes or 0

    def _work(self, pair: dict[str, MatchEngine]) -> None:
        """Play game after game in a worker thread, with two engines for this thread alone. The thread reports each game
        and, at the end, None or an error.
        """
        names = {"A": self.config.a.name, "B": self.config.b.name}
        try:
            while not self._stop.is_set():
                try:
                    number = self._todo.get_nowait()
                except queue.Empty:
                    break
                for engine in pair.values():
                    engine.start()
                played = self.config.game.play(number, pair, names, self._settings)
                if not self._stop.is_set():  # otherwise the match has stopped the engines on purpose
                    self._results.put(played)
            self._results.put(None)
        except BaseException as error:
            self._results.put(error)

    @property
    def identities(self) -> dict[str, str]:
        """A dict from the players "A" and "B" to the names that their engines report. Before an engine is started, its
        name is that of the player.
        """
        names = {"A": self.config.a.name, "B": self.config.b.name}
        engines = dict(zip("AB", (engine.identity for engine in self._engines[:2]), strict=False))
        return names | engines | self._identities

    @property
    def tally(self) -> Tally:
        """The results of the games so far."""
        return tally(self.rows.values())

    @property
    def decided(self) -> str | None:
        """The hypothesis that the SPRT (the statistical test that may end the match) has accepted, "H0" or "H1". None
        if there is no SPRT, or if it has not decided yet.
        """
        return self.config.sprt.decision(self.tally) if self.config.sprt else None

    def result(self) -> dict[str, Any]:
        """Return the result of the match so far as a dict for JSON."""
        config, rows = self.config, [self.rows[number] for number in sorted(self.rows)]
        total = tally(rows)
        return {
            "game": config.game.name,
            **{
                side.lower(): {
                    "name": player.name, "engine": self.identities[side], "command": list(player.command),
                    "options": dict(player.options), "limit": config.game.limit(side),
                }
                for side, player in (("A", config.a), ("B", config.b))
            },
            **config.game.facts(),
            "games": total.games, "of": config.games, "resumed": self.resumed,
            "wins": total.wins, "draws": total.draws, "losses": total.losses,
            "score": total.score().as_json(), "elo": total.elo().as_json(), "los": total.los(),
            "pentanomial": list(total.pairs), "pairs": sum(total.pairs),
            "sprt": config.sprt.as_json(total) if config.sprt else None,
            "by_colour": {
                colour: _counts(tally(row for row in rows if row.number % 2 == parity))
                for parity, colour in enumerate(config.game.colours)
            },
            "endings": counted(dict(Counter(row.ending for row in rows).most_common())),
            "referees": counted(dict(Counter(row.referee for row in rows if row.referee).most_common())),
            "forfeits": [
                {
                    "game": row.number, "side": row.forfeit,
                    "name": config.a.name if row.forfeit == "A" else config.b.name,
                    "kind": row.ending, "reason": row.reason,
                }
                for row in rows if row.forfeit
            ],
            "seconds": self.seconds,
            "speed": {"a": self.used["A"].as_json(), "b": self.used["B"].as_json()},
            "seed": config.seed, config.game.form.option.removeprefix("--"): str(config.record),
        }  # fmt: skip


def _play_pair(
    game: Contest, players: dict[str, Participant], settings: dict[str, str], numbers: list[int]
) -> tuple[list[PlayedGame], dict[str, str]]:
    """Play games of one opening in a worker. Returns the games, and the engines' names by "A" and "B"."""
    names = {side: player.name for side, player in players.items()}
    with contextlib.ExitStack() as held:
        pair = {side: held.enter_context(contextlib.closing(game.engine(player))) for side, player in players.items()}
        played = []
        for number in numbers:
            for engine in pair.values():
                engine.start()
            played.append(game.play(number, pair, names, settings))
        return played, {side: engine.identity for side, engine in pair.items()}


def tally(rows: Iterable[ScoredGame]) -> Tally:
    """Return the numbers of wins, draws and losses in the given games, and the results of game pairs. Only pairs whose
    two games are both given are counted.
    """
    points = {row.number: row.points for row in rows}
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


def players_differ(a: Participant, b: Participant) -> tuple[Participant, Participant]:
    """Return the two players with different names. If their names are equal, " A" and " B" are added to the names."""
    if a.name != b.name:
        return a, b
    return replace(a, name=f"{a.name} A"), replace(b, name=f"{b.name} B")
