"""The networks that the browser page of `kibitz board` can use: networks on the command line, runs (trained networks)
in the folder runs/, and bundled networks.

To list the networks, kibitz reads only their run.json. A network is loaded and cached when it is first needed.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz.errors import KibitzError, need_training
from kibitz.runs import ONNX, WEIGHTS, Run, packaged
from kibitz.systems import COMPARISON, SYSTEMS, VALUE, Declaration
from kibitz.systems import MOVES as WHICH_MOVE
from kibitz.systems import OWNERS as OWNED
from kibitz.web.params import BadRequest
from kibitz.web.torch_process import TorchProcess, TorchSession

if TYPE_CHECKING:
    from kibitz.play.session import Session

RUNS = Path("runs")
CANDIDATES = "candidates"
"""The name of a folder in the run of a personal network. It contains the networks among which the training chooses the
best one.
"""
MAX_RUNS = 500
LIVE = 600.0
"""A training whose last row of metrics is older than this number of seconds counts as ended."""
WHITE, MOVES, OWNERS = "white", "moves", "owners"
"""Kinds of outputs of a network: White's win probability, the move, and the owner of each point."""


@dataclass(frozen=True)
class NetworkInfo:
    """A network that the browser page of `kibitz board` lists, with its description. It may not be loaded.

    name: the network's name in requests. source: "run", or "package" for a bundled network. run: the open run
    (directory of the network). If its run.json can't be read, run is None, and `why` has the reason.
    """

    name: str
    source: str  # "run", or "package" for a bundled network
    run: Run | None
    why: str | None = None

    @property
    def game(self) -> str:
        """The game of the network, "chess" or "go"."""
        return str(self.run.info["game"]) if self.run else "chess"

    @property
    def system(self) -> str:
        """The name of the network's system (kind of network), such as "winner"."""
        return str(self.run.info["system"]) if self.run else "?"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings with which the network was trained, as in its run.json."""
        settings = self.run.info.get("settings") if self.run else None
        return settings if isinstance(settings, dict) else {}

    @property
    def declaration(self) -> Declaration | None:
        """The declaration of the network's system (kind of network); None if this version of kibitz doesn't have the
        system.
        """
        return SYSTEMS.get(self.system)

    @property
    def answers(self) -> list[str]:
        """The kinds of outputs of the network, such as MOVES."""
        if self.declaration is None:
            return []
        answers = self.declaration.answers_of(self.settings)
        chance = VALUE in answers or COMPARISON in answers
        return [WHITE] * chance + [MOVES] * (WHICH_MOVE in answers) + [OWNERS] * (OWNED in answers)

    @property
    def title(self) -> str:
        """What the network predicts, in a few words. This is the title of its system (kind of network). There are two
        exceptions. If the system predicts moves but the network predicts only a win probability, the text is "predicts
        the value of the position". If this version of kibitz doesn't have the system, the text is "".
        """
        if self.declaration is None:
            return ""
        movers = WHICH_MOVE in self.declaration.answers
        return "predicts the value of the position" if movers and self.answers == [WHITE] else self.declaration.title

    @property
    def claim(self) -> dict[str, str] | None:
        """The meaning of the value that the network predicts for White (in Go, for Black), as a dict with the fields of
        `Meaning`. None if the network predicts no such value.
        """
        if self.declaration is None or not {WHITE, OWNERS} & set(self.answers):
            return None
        return asdict(self.declaration.meaning)

    @property
    def claim_name(self) -> str:
        """The name of the value that the network predicts, for example "White's expected score"; "" if the network
        predicts no such value.
        """
        claim = self.claim
        return claim["name"] if claim else ""

    @property
    def methods(self) -> list[str]:
        """The names of the methods by which the network can choose moves, the default first."""
        return [method.name for method in self.declaration.methods_of(self.settings)] if self.declaration else []

    @property
    def method_descriptions(self) -> list[dict[str, Any]]:
        """The name and a description of each method in `methods`, in the same order."""
        if self.declaration is None:
            return []
        return [
            {"name": method.name, "title": method.title, "searches": method.searches}
            for method in self.declaration.methods_of(self.settings)
        ]

    @property
    def rated(self) -> bool:
        """Whether the user can set the ratings of the players as inputs of the network."""
        return bool(self.run and self.run.takes_ratings)

    @property
    def ranked(self) -> bool:
        """Whether the user can set the ranks of the Go players as inputs of the network."""
        return bool(self.run and self.run.takes_ranks)

    @property
    def person(self) -> str | None:
        """The name of the player whom a personal network imitates; None for other networks."""
        person = self.run.person if self.run else None
        return None if person is None else str(person.get("name") or self.name)

    @property
    def base(self) -> str | None:
        """The name of the network from which a personal network was made; None for other networks."""
        return self.run.info.get("base") if self.run and self.person is not None else None

    @property
    def unfinished(self) -> bool:
        """Whether this is a personal network whose training was stopped before its end, or still runs."""
        return self.person is not None and self.run is not None and not self.run.info.get("finished")

    @property
    def part_of(self) -> str | None:
        """The name of the personal network whose training this run belongs to; None for an independent run."""
        folder = Path(self.name).parent
        return folder.parent.as_posix() if self.source == "run" and folder.name == CANDIDATES else None

    @property
    def live(self) -> bool:
        """Whether the network is being trained now: its training has not ended, and its metrics changed in the last
        LIVE (600) seconds.
        """
        if self.run is None or self.run.info.get("finished") or "ended" in self.run.info:
            return False
        try:
            return time.time() - (self.run.path / "metrics.jsonl").stat().st_mtime < LIVE
        except OSError:
            return False

    @property
    def sizes(self) -> list[int]:
        """The Go board sizes that the network supports, such as [9, 13, 19]. The list is [] for chess, or if this
        version of kibitz doesn't have the network's system (kind of network).
        """
        return list(self.declaration.sizes_of(self.settings)) if self.declaration else []

    @property
    def problem(self) -> str | None:
        """Why the network can't be used, in one line; None if it can be used."""
        if self.run is None:
            return self.why
        if self.system not in SYSTEMS:
            return f"{self.name}: this version of kibitz has no system {self.system}"
        if not self.run.path.is_dir():
            return f"{self.name}: the folder {self.run.path} was deleted or moved"
        if not (self.run.path / ONNX).is_file() and not (self.run.path / WEIGHTS).is_file():
            return f"{self.name}: nothing is trained yet. To resume the training: {self.run.info.get('command', '?')}"
        return None

    def as_json(self) -> dict[str, Any]:
        """Return the description of the network as a dict for the browser page of `kibitz board`."""
        system = self.declaration
        return {
            "name": self.name,
            "system": self.system,
            "title": self.title,
            "game": self.game,
            "answers": self.answers if self.run else [],
            "claim": self.claim,
            "plays": bool(self.methods),
            "methods": self.methods,
            "ways": self.method_descriptions,
            "planes": bool(system and system.planes),
            "sizes": self.sizes,
            "rated": self.rated,
            "ranked": self.ranked,
            "person": self.person,
            "base": self.base,
            "unfinished": self.unfinished,
            "metrics": bool(self.run and (self.run.path / "metrics.jsonl").is_file()),
            "live": self.live,
            "part_of": self.part_of,
            "snapshots": len(self.run.checkpoints()) if self.run else 0,
            "from": self.source,
            "stamp": stamp(self.run) if self.run else "",
            "problem": self.problem,
        }


def _usual(package: Mapping[str, Path]) -> list[str]:
    """Return the default network of each game: the bundled one of the game's first system."""
    first: dict[str, str] = {}
    for name, declaration in SYSTEMS.items():
        if name in package:
            first.setdefault(declaration.game, name)
    return list(first.values())


class NetworkRegistry:
    """The networks that kibitz board can use. Each is loaded when it is first needed.

    given: the names of networks on the command line. Raises KibitzError if one of them isn't a run (the folder of a
    trained network) or a bundled network.
    """

    def __init__(self, given: Sequence[str] = ()):
        self.given = list(dict.fromkeys(given))
        self._known: dict[str, NetworkInfo] = {}
        # A lock for each network, so that one network can be loaded while others are in use.
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._sessions: dict[str, tuple[str, Session]] = {}
        self._torch = TorchProcess()
        for name in self.given:
            Run(name)

    def known(self) -> list[NetworkInfo]:
        """Return the available networks: those on the command line first, then runs, then bundled networks."""
        networks: dict[str, NetworkInfo] = {}
        seen: set[Path] = set()
        package = packaged()
        shipped = {folder.resolve() for folder in package.values()}
        usual = _usual(package)
        folders = [path for path in RUNS.iterdir() if (path / "run.json").is_file()] if RUNS.is_dir() else []
        candidates = {path.parent.as_posix() for path in RUNS.glob(f"*/{CANDIDATES}/*/run.json")}
        named = (path.as_posix() for path in sorted(folders)[:MAX_RUNS])
        for name in [*self.given, *named, *sorted(candidates), *usual, *package]:
            try:
                run: Run | None = Run(name)
                why = None
            except KibitzError as error:
                run, why = None, str(error)
            # A personal network is trained in several jobs; a job is shown only while it runs
            if name in candidates and not (run and NetworkInfo(name, "run", run).live):
                continue
            path = (run.path if run else Path(name)).resolve()
            if name not in networks and path not in seen:
                inside = run is not None and path in shipped
                networks[name] = NetworkInfo(name, "package" if inside else "run", run, why)
                seen.add(path)
        self._known = networks
        return list(networks.values())

    def find(self, name: str) -> NetworkInfo:
        """Return the network with this name. Raises BadRequest if it does not exist, or if its run.json is damaged."""
        if name not in self._known and (Path(name).parent == RUNS or not self._known):
            self.known()  # a training run may have started since the last listing
        if name not in self._known:
            raise BadRequest(f"unknown network {name[:100]!r}", 404)
        known = self._known[name]
        if known.run is None:
            raise BadRequest(known.problem or "this run is damaged")
        return known

    def ready(self, name: str) -> NetworkInfo:
        """Return the network with this name, after checking that it can be used. Raises BadRequest as `find` does, and
        also if the network has no weights yet.
        """
        known = self.find(name)
        if known.problem:
            raise BadRequest(known.problem)
        return known

    def session(self, name: str) -> Session:
        """Return the loaded network, as a Session that evaluates positions. The network is loaded at the first call,
        and again after its files have changed, for example during training. Raises KibitzError if the network can't be
        used or is damaged.
        """
        from kibitz.play.session import Session

        known = self.ready(name)
        assert known.run
        with self._locks[name]:
            now = stamp(known.run)
            cached = self._sessions.get(name)
            if cached and cached[0] == now:
                return cached[1]
            session = Session(Run(name), without_onnx=lambda run: TorchSession(self._torch, run))
            self._sessions[name] = now, session
            return session

    def evaluator(self, name: str, checkpoint: str | None = None) -> Session | TorchSession:
        """Return an object that evaluates positions with the network. checkpoint: the name of the checkpoint whose
        weights are used; None for the best weights. Raises KibitzError if the network or the checkpoint can't be used.
        """
        return self.session(name) if checkpoint is None else self._at_checkpoint(self.find(name), checkpoint)

    def _at_checkpoint(self, known: NetworkInfo, checkpoint: str) -> TorchSession:
        need_training("to show a checkpoint of a run, the board")
        assert known.run
        path = next((path for path in known.run.checkpoints() if path.stem == checkpoint), None)
        if path is None:
            raise BadRequest(f"{known.name} has no checkpoint {checkpoint[:60]!r}", 404)
        return TorchSession(self._torch, known.run, path)

    def end(self) -> None:
        """End the process for networks that need torch. If it was not started, this does nothing."""
        self._torch.end()


def stamp(run: Run) -> str:
    """Return a string that changes when the weights of a run (the folder of a trained network) change: the modification
    times of its files.
    """
    times = []
    for file in (ONNX, WEIGHTS):
        try:
            times.append((run.path / file).stat().st_mtime_ns)
        except OSError:
            times.append(0)
    return " ".join(map(str, times))
