"""The state of the tab My games on the browser page of `kibitz board`: one player's games, their analysis, and the
network that is trained on them.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import itertools
import json
import re
import shlex
import shutil
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from kibitz.errors import KibitzError, need_training, one_line
from kibitz.web.explored import PlayerGames
from kibitz.web.mygames.background import Background, Message
from kibitz.web.networks import MOVES, RUNS, WHITE, NetworkRegistry
from kibitz.web.params import BadRequest, Fields, text, whole, words

if TYPE_CHECKING:
    from kibitz.personal.names import Player
    from kibitz.web.judges import Judges
    from kibitz.web.mygames.sources import ChosenGame, Source

MOST = 200
"""The number of newest games that are analyzed by default."""
MOST_AT_ALL = 100_000
SHOWN = 10
"""For Go: when the thorough report has this number of games, or all games, the page shows it instead of the quick
report.
"""
JUDGES = {"chess": "human", "go": "gohuman"}
"""For each game, the system (kind of network) that learns to play like a person. The bundled network of the same name
evaluates the moves by default.
"""
MEASURED = 3
"""After this number of games, the remaining time is computed from the measured seconds per game."""
NAMES = 200
"""The largest number of players that the page lists for selection."""
DOWNLOADED = 1000
"""The number of newest games to download from an account."""
RUNNING = "running"
_PART_MISSING = "part of the file is missing. Choose the file again"


@dataclass
class Task:
    """A background job of My games, such as an analysis, and its state.

    about: the subject and the progress of the job, as a dict for the browser page of `kibitz board`.
    state: RUNNING, "done", "stopped" or "failed".
    error: the reason if the job failed, else "".
    process: the process of the job; None if it could not be started.
    source: the games that the process reads. While the task refers to them, their temporary copy is not removed.
    path: the path of the downloaded file; "" for other jobs.
    """

    about: dict[str, Any]
    state: str = RUNNING
    error: str = ""
    process: Background | None = field(default=None, repr=False)
    source: Source | None = field(default=None, repr=False)
    path: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the state of the job (such as an analysis) as a dict for the browser page of `kibitz board`."""
        return {**self.about, "state": self.state, "error": self.error}

    @property
    def runs(self) -> bool:
        """Whether the background job (such as an analysis) is running."""
        return self.state == RUNNING


class MyGames:
    """The state of the tab My games on the browser page of `kibitz board`: the opened games, the last report, and the
    background jobs. At most one analysis, one training and one download run at a time.

    given: the files and stores on the command line. networks: the networks of the server. judges: the engines that
    evaluate moves.
    """

    def __init__(self, given: Sequence[str], networks: NetworkRegistry, judges: Judges):
        self.given = list(given)
        self._networks, self._judges = networks, judges
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._source: Source | None = None
        self._opened = 0
        self._copies = itertools.count(1)
        self._uploading = ""
        self._report: tuple[int, dict[str, Any]] = (0, {})
        self._report_stage = ""
        self._report_of: Source | None = None
        self._report_games: PlayerGames | None = None
        self._analysis: Task | None = None
        self._training: Task | None = None
        self._download: Task | None = None
        self._allowed: set[str] = set()
        self._reading: dict[str, int] | None = None
        # The seconds per game in each stage, as measured on this machine; a stage that did not run is not known.
        self._pace: dict[str, dict[str, float]] = {"chess": {}, "go": {}}
        self._engine_pace: dict[str, dict[str, float]] = {
            "chess": {}, "go": {"quick": 0.0},  # of Go, an engine has no quick stage
        }  # fmt: skip
        self._ended = False

    # Games

    def upload(self, fields: Fields) -> dict[str, Any]:
        """Return the response of /api/mygames/upload. The request `fields` has a part of a file, in base64. The part is
        appended to the previous parts, and the response is {"at": the number of bytes so far}.

        After the last part, the file is opened, and the response is the dict of `MyGames.as_json` instead. Raises
        KibitzError if a part is invalid or missing, or if the file can't be used.
        """
        from kibitz.web.mygames.sources import LARGEST

        name = text(fields, "name")[-120:] or "my-games.pgn"
        at = whole(fields, "at", 0, 0, LARGEST)
        try:
            data = base64.b64decode(text(fields, "data"), validate=True)
        except (binascii.Error, ValueError):
            raise BadRequest("data must be base64") from None
        if at + len(data) > LARGEST:
            raise BadRequest(f"{name} is larger than {LARGEST >> 20} MB. Split it into smaller files", 413)
        path = self._room() / f"upload{_ending(name)}"
        if at and not path.is_file():  # the upload was started with a board that has ended since
            raise BadRequest(_PART_MISSING, 409)
        with self._lock, path.open("r+b" if at else "wb") as file:
            # another tab has started to upload another file
            if file.seek(0, 2) != at or (at and name != self._uploading):
                raise BadRequest(_PART_MISSING, 409)
            self._uploading = name
            file.write(data)
        if fields.get("last") is not True:
            return {"at": at + len(data)}
        return self._take(self._read(path, name))

    def open(self, fields: Fields) -> dict[str, Any]:
        """Open a file or store that was given on the command line, and return the response of /api/mygames/open, which
        is the dict of `MyGames.as_json`. fields: the JSON of the request. Raises KibitzError if the request names
        another file, or if it can't be used.
        """
        from kibitz.web.mygames.sources import StoreSource

        name = text(fields, "name")
        if name not in self.given:
            raise BadRequest(f"unknown file of games. To open it, run: kibitz board {shlex.quote(name)}")
        if Path(name).is_dir():
            return self._take(StoreSource(name))
        return self._take(self._read(Path(name), name))

    def download(self, fields: Fields) -> dict[str, Any]:
        """Start to download the newest games of an account, and return the response of /api/mygames/download.

        A website is contacted only after the user has agreed; the request `fields` then has `allowed`. Before that,
        nothing is downloaded, and the key "ask" of the response names the site. Raises KibitzError for an unknown site
        or account, or if a download is running.
        """
        from kibitz.online.accounts import SITES, account_in

        typed, chosen = text(fields, "account").strip(), text(fields, "site", "lichess")
        account = account_in(typed) if ":" in typed else None
        if account is None:
            if chosen not in SITES:
                raise BadRequest("unknown site. Choose lichess, chess.com or OGS")
            account = account_in(f"{chosen}:{typed}")
        if account is None:  # a file has this name, so it is not an account
            raise BadRequest(f"{typed} is a file. To open it, run: kibitz board {shlex.quote(typed)}")
        site = account.site
        address = site.base()
        if fields.get("allowed") is True:
            self._allowed.add(site.name)
        if site.name not in self._allowed:
            host = urlsplit(address).hostname
            return self.as_json() | {"ask": {"account": str(account), "site": site.title, "host": host}}
        task = Task({"player": account.name, "account": str(account), "site": site.title, "kept": 0, "new": 0,
                     "expected": 0, "games": 0})  # fmt: skip
        job = {"account": str(account), "limit": whole(fields, "most", DOWNLOADED, 1, MOST_AT_ALL)}
        with self._lock:
            _refuse_second(self._download, "a download of")
            self._download = task
            self._begin(task, "kibitz.web.mygames.downloading", job, self._downloading, self._downloaded)
        return self.as_json()

    def _downloading(self, task: Task, message: Message) -> None:
        """Process a message of the downloading process."""
        task.about |= {key: value for key, value in message.items() if key in ("kept", "new", "expected")}
        task.path = message.get("path", task.path)

    def _downloaded(self, task: Task) -> None:
        """Open the downloaded games. Raises KibitzError if none is a game of standard chess or of Go."""
        source = self._read(Path(task.path), task.about["account"])
        task.about["games"] = source.games
        self._take(source)

    def game(self, fields: Fields) -> dict[str, str]:
        """Return the response of /api/mygames/game: a game as PGN or SGF. It is a game of the report or, if the request
        has `opened`: true, of the file or store that is open now. fields: the JSON of the request. Raises BadRequest if
        there is no such game.
        """
        source = self._source if fields.get("opened") is True else self._report_of or self._source
        number = whole(fields, "game", -1, 0, 10**9)
        try:
            if source is None or number < 0:
                raise IndexError(number)
            return {"text": source.text(number)}
        except IndexError:
            raise BadRequest("unknown game. Load the page again") from None

    def _take(self, source: Source) -> dict[str, Any]:
        with self._lock:
            self._source = source
            self._opened += 1
        return self.as_json()

    def _room(self) -> Path:
        """Return a folder for copies of games. It is removed when kibitz board ends."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="kibitz-mygames-"))
            return self._folder

    def _read(self, path: Path, name: str) -> Source:
        """Return the games of a file, chess or Go (see `game_by_ending`). name: the file's name for the page. Raises
        KibitzError.
        """
        from kibitz.records import game_by_ending
        from kibitz.web.mygames.sources import PgnSource, SgfSource

        # A new name, so that a copy that is still being read stays unchanged.
        copy = self._room() / f"games-{next(self._copies)}"
        if game_by_ending(str(path)) == "go":
            return SgfSource(path, copy.with_suffix(".sgf"), name)
        return PgnSource(path, copy.with_suffix(".pgn"), name)

    def _players(self, fields: Fields) -> tuple[Source, list[Player]]:
        source = self._source
        if source is None:
            raise BadRequest("no games yet. Choose a file first")
        wanted = [name for name in words(fields, "players", 20) if name.strip()]
        if not wanted:
            raise BadRequest("no player given. Enter the player's name")
        return source, source.find(wanted)

    # Analysis

    def analyse(self, fields: Fields) -> dict[str, Any]:
        """Start the analysis of a player's newest games, and return the response, which is the dict of
        `MyGames.as_json`. fields: the JSON of the request. Raises KibitzError for an unknown player, or if the analysis
        can't be started.
        """
        source, players = self._players(fields)
        engine = self._judges.program(fields, source.game)
        network = self._judge(text(fields, "network", JUDGES[source.game]), source.game, by_engine=engine is not None)
        quick = fields.get("quick") is True
        most = whole(fields, "most", MOST, 1, MOST_AT_ALL)
        chosen = source.newest(players, most)
        if not chosen:
            raise BadRequest(f"{players[0].name} plays both sides in all games")
        file = self._room() / "chosen.jsonl"
        name = ", ".join(player.name for player in players)
        task = Task({"player": name, "game": source.game, "opened": self._opened, "games": len(chosen), "done": 0,
                     "left_out": 0, "network": network, "quick": quick,
                     "of": sum(player.games for player in players), "begun": False,
                     "stage": "quick", "checked_by": engine.name if engine else ""})  # fmt: skip
        job = {"games": str(file), "network": network, "player": name, "source": source.name, "quick": quick,
                 "engine": engine and {"name": engine.name, "command": engine.command},
                 "sizes": self._networks.ready(network).sizes if source.game == "go" else []}  # fmt: skip
        with self._lock:
            _refuse_second(self._analysis, "an analysis of")
            with file.open("w", encoding="utf-8") as lines:
                for one in chosen:
                    line = {"number": one.number, "side": one.side, "text": source.text(one.number)}
                    lines.write(json.dumps(line) + "\n")
            if not self._deepens(task, source):
                self._report, self._report_of, self._report_stage = (self._report[0] + 1, {}), source, ""
                self._report_games = _explored(self._opened, name, source, chosen)
            self._analysis = task
            module = "analysing_go" if source.game == "go" else "analysing"
            self._begin(task, f"kibitz.web.mygames.{module}", job, self._analysed)
        return self.as_json()

    def _judge(self, name: str, game: str = "chess", by_engine: bool = False) -> str:
        """Return the name of a network that can find mistakes in a game. Raises BadRequest for other networks."""
        network = self._networks.ready(name)
        able = MOVES in network.answers if game == "go" else by_engine or WHITE in network.answers
        if network.game != game or not able:
            raise BadRequest(
                f"{name} does not evaluate positions, so it cannot find mistakes. Choose the network '{JUDGES[game]}'"
            )
        return name

    def _deepens(self, task: Task, source: Source) -> bool:
        """Return whether the task analyzes the same games as the previous quick analysis.

        If so, the earlier report stays until the new report has as many games.
        """
        before = self._analysis
        if before is None or source is not self._report_of or before.state not in ("done", "stopped"):
            return False
        return not task.about["quick"] and all(
            before.about[each] == task.about[each] for each in ("player", "games", "network", "checked_by")
        )

    def _analysed(self, task: Task, message: Message) -> None:
        """Process a message of the analyzing process."""
        if "report" in message and self._replaces(task, message):
            self._report, self._report_stage = (self._report[0] + 1, message["report"]), message["stage"]
        known = ("begun", "stage", "done", "left_out", "seconds")
        task.about |= {key: value for key, value in message.items() if key in known}
        if task.about["done"] >= MEASURED:
            pace = (self._engine_pace if task.about["checked_by"] else self._pace)[task.about["game"]]
            pace[task.about["stage"]] = round(task.about["seconds"] / task.about["done"], 2)

    def _replaces(self, task: Task, message: Message) -> bool:
        """Return whether a new report replaces the present one. The new report must have at least as many games. The
        exception is a thorough report about Go that follows a quick one, for which SHOWN games are enough.
        """
        games, now = message["report"]["games"], self._report[1].get("games", 0)
        deeper = task.about["game"] == "go" and (self._report_stage, message["stage"]) == ("quick", "thorough")
        return bool(games >= (min(SHOWN, now) if deeper else now))

    def report(self) -> dict[str, Any]:
        """Return the response of /api/mygames/report, a dict with these keys:

        report: the report of the last analysis; {} until the first game is analyzed.
        game: the game of the report, "chess" or "go".
        stage: the stage of the analysis, "quick" or "thorough"; "" if the report is {}.
        revision: a number that increases with each new report.
        """
        number, report = self._report
        game = "chess" if self._report_of is None else self._report_of.game
        return {"revision": number, "report": report, "game": game, "stage": self._report_stage}

    def report_games(self) -> PlayerGames | None:
        """Return, for the opening explorer, the games on which the report in the tab My games is based; None if there
        is no report, or if it is a report about Go.
        """
        return self._report_games

    def page(self) -> dict[str, str]:
        """Return the response of /api/mygames/page: the report of the tab My games as a separate HTML page. Raises
        BadRequest if there is no report.
        """
        from kibitz.analysis.checkers import CheckedBy
        from kibitz.report.player import render_player_page

        report, source, task = self._report[1], self._report_of, self._analysis
        if not report or source is None or task is None:
            raise BadRequest("there is no report yet")
        system = ""
        with contextlib.suppress(BadRequest):  # the network may be gone
            system = self._networks.ready(task.about["network"]).system
        about = {"run": task.about["network"], "system": system, "file": source.name, "game": source.game}
        if "checked_by" in report:
            about["checked_by"] = CheckedBy(**report["checked_by"]).words()
        return {"html": render_player_page(report, about)}

    # Openings

    def repertoire(self, fields: Fields) -> dict[str, Any]:
        """Return the response of /api/mygames/repertoire: the opening repertoire in a player's newest games. fields:
        the JSON of the request. Raises KibitzError for an unknown player, and for Go.
        """
        from kibitz.web.mygames.repertoire import MOST as NEWEST
        from kibitz.web.mygames.repertoire import repertoire

        source, players = self._players(fields)
        if source.game != "chess":
            raise BadRequest("the opening trainer is for chess. Choose games of chess")
        chosen = source.newest(players, whole(fields, "most", NEWEST, 1, NEWEST))
        if not chosen:
            raise BadRequest(f"{players[0].name} plays both sides in all games")
        name = ", ".join(player.name for player in players)
        total = len(chosen)

        def on_game(done: int) -> None:
            self._reading = {"done": done, "total": total}

        on_game(0)
        try:
            games = ((one.number, one.side, source.text(one.number)) for one in chosen)
            return repertoire(name, games, on_game)
        finally:
            self._reading = None

    # Training

    def train(self, fields: Fields) -> dict[str, Any]:
        """Start to train a network on a player's games, and return the response of /api/mygames/train. fields: the JSON
        of the request. Raises KibitzError for an unknown player or too few games, or if the training can't be started.
        """
        from kibitz.personal.games import LEAST
        from kibitz.personal.names import key

        source, players = self._players(fields)
        games = sum(player.games for player in players)
        if games < LEAST:
            raise BadRequest(f"{players[0].name}: training needs at least {LEAST} games (got {games})")
        need_training("to train a network, the board")
        system = JUDGES[source.game]
        base = text(fields, "base", system)
        if self._networks.ready(base).system != system:
            raise BadRequest(f"training cannot start from {base}. Choose the network '{system}'")
        plain = re.sub(r"[^\w-]+", "-", key(players[0].name)).strip("-")[:60] or "somebody"
        run = _run_of(players, f"personal-{plain}")
        named = [player.name for player in players]
        options = [part for name in named for part in ("--player", name)]
        command = shlex.join(["kibitz", "personal", source.name, *options, "--run", run.as_posix()])
        job = {"source": source.path, "players": named, "base": base, "run": str(run), "command": command}
        task = Task({"player": ", ".join(named), "games": games, "run": run.as_posix()}, source=source)
        with self._lock:
            _refuse_second(self._training, "a training run on")
            self._training = task
            self._begin(task, "kibitz.web.mygames.training", job, self._trained)
        return self.as_json()

    def _trained(self, task: Task, message: Message) -> None:
        """Process a message of the training process."""
        message.pop("over", None)
        task.about |= message

    # Jobs of all kinds

    def _begin(self, task: Task, module: str, job: Message, hear: Any, finish: Any = None) -> None:
        """Start a process. finish: called with the task after the process has ended, unless it was stopped."""
        if self._ended:
            raise BadRequest("kibitz board is shutting down")

        def ended(how: str, error: str) -> None:
            stopped = how == "done" and bool(task.about.get("stopped"))
            if how == "done" and finish is not None:
                try:
                    finish(task)
                except (KibitzError, OSError) as problem:
                    how, error = "failed", one_line(problem)
            task.error = self._plain(error)
            task.state = "stopped" if stopped else how

        try:
            task.process = Background(module, job, lambda message: hear(task, message), ended)
        except OSError as error:  # too little memory, or too many processes
            task.state, task.error = "failed", f"no process could be started: {error.strerror or error}"

    def _plain(self, error: str) -> str:
        """Remove the paths of kibitz's copies from an error."""
        source = self._source
        return error if source is None else error.replace(source.path, source.name)

    def stop(self, fields: Fields) -> dict[str, Any]:
        """Stop the analysis, the training or the download that the request `fields` names, and return the response of
        /api/mygames/stop. The results so far are kept.
        """
        what = text(fields, "what")
        task = {"analysis": self._analysis, "training": self._training, "download": self._download}.get(what)
        if task is not None and task.runs and task.process is not None:
            task.process.stop()
        return self.as_json()

    def as_json(self) -> dict[str, Any]:
        """Return the response of /api/mygames, which describes the opened games, and the analysis, the training and the
        download.

        While games are read for an opening repertoire, the key "reading" of the response has two numbers: "done", the
        games read so far, and "total", all games to read. At other times, "reading" is None.
        """
        from kibitz.personal.games import LEAST

        source, analysis, training, download = self._source, self._analysis, self._training, self._download
        games, game = None, "chess" if source is None else source.game
        if source is not None:
            offered = [{"name": player.name, "games": player.games} for player in source.players[:NAMES]]
            games = {"opened": self._opened, "game": source.game, "name": source.name, "games": source.games,
                     "variants": source.variants, "players": offered}  # fmt: skip
        return {
            "given": self.given, "least": LEAST, "most": MOST, "games": games, "revision": self._report[0],
            "pace": self._pace[game], "engine_pace": self._engine_pace[game],
            "analysis": analysis.as_json() if analysis else None, "training": training.as_json() if training else None,
            "download": download.as_json() if download else None, "reading": self._reading,
        }  # fmt: skip

    def end(self) -> None:
        """Stop the analysis, the training and the download, and remove the temporary copies of games."""
        with self._lock:
            self._ended = True
            for task in (self._analysis, self._training, self._download):
                if task is not None and task.process is not None and task.runs:
                    task.process.kill()
            if self._folder is not None:
                with contextlib.suppress(OSError):
                    shutil.rmtree(self._folder)


def _explored(opened: int, player: str, source: Source, chosen: Sequence[ChosenGame]) -> PlayerGames | None:
    """Return the chosen games of a report for the explorer; None for Go."""
    if source.game != "chess":
        return None
    sides = np.array([1 if one.side == "white" else -1 for one in chosen], np.int8)
    numbers = [one.number for one in chosen]
    # The index of the explorer stays if another report has the same games.
    version = opened, player, tuple(numbers)
    return PlayerGames(
        version, player, lambda: map(source.text, numbers), sides, lambda number: source.text(numbers[number - 1])
    )


def _run_of(players: Sequence[Player], name: str) -> Path:
    """Return the folder for the run of these players. It is the first of `name`, `name`-2, … that has their run. If
    they have no run, it is the first unused name.
    """
    from kibitz.personal.names import key
    from kibitz.runs import INFO, Run

    def theirs(run: Path) -> bool:
        try:
            return not wanted.isdisjoint(map(key, Run(run).info.get("person", {}).get("names", [])))
        except KibitzError:
            return False

    wanted = {key(player.name) for player in players}
    numbered = (RUNS / (name if number == 1 else f"{name}-{number}") for number in itertools.count(1))
    return next(run for run in numbered if not (run / INFO).is_file() or theirs(run))


def _refuse_second(task: Task | None, what: str) -> None:
    if task is not None and task.runs:
        raise BadRequest(f"{what} {task.about['player']}'s games is running. Stop it first", 409)


def _ending(name: str) -> str:
    """Return a suffix with the format and the compression that a file name shows. An unknown format is "txt"."""
    lower = name.lower()
    packed = re.search(r"\.(zst|gz|bz2)$", lower)
    known = re.search(r"\.(pgn|sgfl|sgf|gib)(\.(zst|gz|bz2))?$", lower)
    return f".{known[1] if known else 'txt'}{packed[0] if packed else ''}"
