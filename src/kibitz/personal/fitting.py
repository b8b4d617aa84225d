"""Make a network of a person from the person's games: count the opening book, train adapters (small layers in a frozen
network), and choose the best network.

A few seconds after the start, a first result is usable: the base network with the opening book. Then a few networks are
trained with the usual training loop, each in a separate folder inside the result's folder `candidates`. A call after an
interruption resumes their training. The final result is the network that best predicts the validation moves after move
10. Later positions are seldom in the book, so the network must predict their moves. The base network can also be the
best.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from kibitz import __version__
from kibitz.durable import NEW, write_whole
from kibitz.errors import KibitzError, UsageError
from kibitz.games import STATE_WIDTH
from kibitz.personal import games, names
from kibitz.personal.adapter import ADAPTERS, ALL, NOTHING
from kibitz.personal.book import BOOK, Book, blend
from kibitz.personal.habits import habits_of
from kibitz.personal.kinds import Kind, kind_of
from kibitz.personal.shares import PlayerPositions, fit_k
from kibitz.play.session import Answers, NetworkSession, Session
from kibitz.records import printable
from kibitz.runs import FORMAT, INFO, ONNX, SEEN, WEIGHTS, Run, short_hashes, write_json, write_seen
from kibitz.store.split import SIDES, TEST, TRAIN, VALIDATE, Split
from kibitz.store.store import Store
from kibitz.systems.base import Network
from kibitz.text import number_of, shown
from kibitz.training.export import export_onnx
from kibitz.training.fit import RUNS, train
from kibitz.training.trainer import STOPPED, TIME_LIMIT, TrainConfig, TrainProgress, save_weights

CANDIDATES = "candidates"
RATES = (1e-3, 3e-3, 1e-2)
"""Learning rates with which adapters are trained. The middle rate is tried first, then the largest rate. The smallest
rate is tried only if the largest was worse than the middle rate.
"""
FULL_RATES = (3e-5, 1e-4, 3e-4)
"""Learning rates with which all weights of the network are trained. They are tried in the same order as RATES."""
FULL_FROM = 3_000
"""The smallest number of training games with which all weights of the network may be trained."""
CHECKS_AN_EPOCH, PATIENCE = 2, 3
"""The number of validations in each pass over the games, and the number of validations without improvement after which
training ends.
"""
POSITIONS = 15_000
"""The approximate number of positions that training uses. With fewer positions, training passes over the games more
often, within the limits `EPOCHS` of the game (chess or Go).
"""
STRENGTHS = (0.25, 0.5, 0.75, 1.0)
"""The factors, 0 to 1, by which the changes that adapters make can be multiplied. The best factor is chosen."""
OPENING = 20
"""The number of plies in the first ten moves of a game."""
CHECKPOINT_EVERY = 50
"""The number of iterations between two checkpoints. It is small, so that an interruption loses only a few seconds of
work.
"""


@dataclass(frozen=True)
class PersonalRequest:
    """The arguments of `make`.

    sources: the files of games.
    players: the names of the person, see `kibitz.personal.names.find`.
    base: the network from which to start, a bundled network or a folder; "" for `human`, or for `gohuman` in Go.
    run: the folder of the result; None for runs/personal-NAME.
    most: the largest number of games; None for no limit. If there are more games, only the newest are used.
    update: whether to add games to an existing result.
    test: the number of newest games for the test; None for the default of `kibitz.personal.games.split_of`.
    seed: the random seed.
    time_limit: the seconds after which the work stops; None for no limit. A later call resumes the work.
    """

    sources: Sequence[str]
    players: Sequence[str] = ()
    base: str = ""
    run: Path | None = None
    most: int | None = None
    update: bool = False
    test: int | None = None
    seed: int = 0
    time_limit: float | None = None
    precision: str = "auto"
    command: str = ""


@dataclass(frozen=True)
class PersonalStep:
    """The progress of `make`, which trains several networks one after the other.

    name, number: the name and the number, from 1, of the training that is running. progress: the progress of this
    training.
    """

    name: str
    number: int
    progress: TrainProgress


@dataclass(frozen=True)
class PersonalResult:
    """The result of `make`.

    path: the folder of the network.
    info: the content of the folder's file run.json.
    reason: "done", "finished before", or a text about why `make` stopped.
    """

    path: Path
    info: dict[str, Any]
    reason: str


@dataclass
class _Person:
    """A person's games and the base network. All training runs use these data."""

    request: PersonalRequest
    kind: Kind
    path: Path
    players: Sequence[names.Player]
    store: Store
    split: Split
    base: Run
    settings: Any
    sides: NDArray[np.int8]
    by_side: dict[int, NDArray[np.int64]]
    info: dict[str, Any] = field(default_factory=dict)
    habits: dict[str, Any] = field(default_factory=dict)


def make(
    request: PersonalRequest,
    on_step: Callable[[PersonalStep], object] = lambda step: None,
    log: Callable[[str], None] = lambda line: None,
) -> PersonalResult:
    """Make a network of a person, resume an interrupted call, or add games to an existing network (see
    `PersonalRequest.update`).

    on_step: a function that is called with the progress.
    log: a function that is called with each message, one line.

    Raises KibitzError or UsageError if no player has this name, or if there are too few games. Raises the same errors
    if the folder has a network of another person or from other games.
    """
    deadline = None if request.time_limit is None else time.monotonic() + request.time_limit
    person = _begin(request, log)
    finished = person.info.get("finished") and person.info["data"]["fingerprint"] == person.store.fingerprint
    if finished and person.info["started_from"] == person.base.weights_sha256():
        # The call that finished the run may have been killed before it removed this folder.
        shutil.rmtree(person.path / CANDIDATES, ignore_errors=True)
        return PersonalResult(person.path, person.info, "finished before")
    _note_known_games(person, log)
    positions = person.kind.Positions(person.store, person.by_side[VALIDATE], person.sides)
    learned = person.kind.Positions(person.store, person.by_side[TRAIN], person.sides)
    book = Book.count(learned.keys, learned.booked)
    base = _score(positions, Session(person.base), book, NOTHING)
    if not person.info.get("finished"):
        whole = _keep(person, person.settings, [base], base, person.base, learned, positions)
        games = len(person.by_side[TRAIN]) + len(person.by_side[VALIDATE])
        log(
            f"{person.path}: the opening book has {number_of(whole.positions, 'position')} of"
            f" {number_of(games, 'game')}. The network can already play:"
            f" kibitz {'gtp' if person.store.game == 'go' else 'uci'} {person.path}"
        )
    tried = _Tried(base, person.base, person.settings)
    attempts = [(ADAPTERS, RATES), *([(ALL, FULL_RATES)] if len(person.by_side[TRAIN]) >= FULL_FROM else [])]
    for learns, (low, middle, high) in attempts:
        losses: list[float] = []
        for rate in (middle, high, low):
            if len(losses) == 2 and losses[1] < losses[0]:
                break
            settings = replace(person.settings, learns=learns, learning_rate=rate)
            folder = person.path / CANDIDATES / f"{person.store.fingerprint}-{learns}-{rate:g}"
            step = PersonalStep(f"{learns} at {rate:g}", len(tried.scores), TrainProgress("", 0, 1))
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return PersonalResult(person.path, person.info, TIME_LIMIT)
            if reason := _train(person, settings, folder, step, on_step, left):
                return PersonalResult(person.path, person.info, reason)
            network = _moderated(Run(folder), positions) if learns == ADAPTERS else Session(folder, corrected=False)
            score = _score(positions, network, book, step.name)
            tried.add(score, Run(folder), settings)
            log(f"{step.name}: {_in_words(score)} on the validation games; best so far: {tried.name}")
            losses.append(score["log_loss_past_move_10"])
    strength = tried.best["strength"]
    moderated = None if strength == 1 else AtStrength(tried.network, strength).network
    learned_from = np.concatenate([person.by_side[TRAIN], person.by_side[VALIDATE]])
    habits = habits_of(person.store, learned_from, person.sides, Session(person.base))
    person.habits = habits
    _keep(person, tried.settings, tried.scores, tried.best, tried.network, learned, positions, True, moderated)
    shutil.rmtree(person.path / CANDIDATES, ignore_errors=True)
    return PersonalResult(person.path, person.info, "done")


def _note_known_games(person: _Person, log: Callable[[str], None]) -> None:
    """Call `log` with a line if the base network was trained on some of the person's games."""
    games = len(person.store)
    known = games - int(person.base.unseen_games(person.store, np.arange(games)).sum())
    if known:
        log(
            f"note: {person.base.name}, the initial network, was trained on {known:,} of these"
            f" {number_of(games, 'game')}. Figures on these games are too high."
        )


def _moderated(run: Run, positions: PlayerPositions) -> AtStrength:
    """Return a network with its adapters at the best of STRENGTHS.

    Adapters that were selected on a few games often change the network too much for later games.
    """
    tried = [AtStrength(run, strength) for strength in STRENGTHS]
    return min(tried, key=lambda network: _late(positions, positions.judge(positions.shares(network)).loss))


def _late(positions: PlayerPositions, losses: NDArray[np.float64]) -> float:
    """Return the mean of the losses past move 10; if there are none, the mean of all losses."""
    late = positions.plies >= OPENING
    return float(losses[late].mean() if late.any() else losses.mean())


class AtStrength:
    """A network whose adapters (small trained layers) have a reduced effect: each adapter's change of its input is
    multiplied by `strength`, 0 to 1. The object has the interface of a Session, a loaded network.
    """

    def __init__(self, run: Run, strength: float):
        self.strength, self.network = strength, run.load_network()
        self.outputs: tuple[str, ...] = cast("Network", self.network).outputs
        with torch.no_grad():
            for name, p in self.network.named_parameters():
                if name.startswith("adapters.") and ".up." in name:
                    p.mul_(strength)

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
        """Return the network's outputs for n positions, as a dict from an output's name to its array. codes, state: the
        positions, uint8 [n, squares] and uint8 [n, columns], see `kibitz.PositionArrays`, with all side inputs (inputs
        in addition to the position).
        """
        found: list[list[NDArray[np.float32]]] = []
        with torch.inference_mode():
            for at in range(0, len(codes), 512):
                rows = slice(at, at + 512)
                answers = self.network(torch.from_numpy(codes[rows]), torch.from_numpy(state[rows]))
                found.append([values.float().numpy() for values in answers])
        return {name: np.concatenate(parts) for name, *parts in zip(self.outputs, *found, strict=True)}


class _Tried:
    """The networks that were tried so far: their scores, and the best network with its run and settings."""

    def __init__(self, base: dict[str, Any], network: Run, settings: Any):
        self.scores, self.best, self.network, self.settings = [base], base, network, settings

    @property
    def name(self) -> str:
        """The name of the best network for users."""
        return shown_name(self.best["name"])

    def add(self, score: dict[str, Any], network: Run, settings: Any) -> None:
        self.scores.append(score)
        if score["log_loss_past_move_10"] < self.best["log_loss_past_move_10"]:
            self.best, self.network, self.settings = score, network, settings


# The person


def _begin(request: PersonalRequest, log: Callable[[str], None]) -> _Person:
    """Find the person and the person's games, and store the games in the run's directory."""
    where = ", ".join(request.sources[:3])
    with games.opened(request.sources, log) as source:
        kind = kind_of(source.game)
        request = replace(request, base=request.base or kind.BASE)
        base = _base(request, kind)
        players = names.find(source, request.players or _of_run(request, source), where)
        path = request.run or RUNS / f"personal-{_folder_name(players[0].name)}"
        info, held = _begun(path, base, request, kind)
        if held is not None and request.update:
            players = _with_earlier(players, info)
        known = len(held) if held is not None and request.update else 0
        mine = games.games_of(source, players, where, request.most, log, max(0, games.LEAST - known))
        store = _stored(path, held, source, mine, request)
    spellings = games.spellings_of(players)
    sides = games.sides_of(store, spellings)
    order = games.in_time(store)
    settings = kind.settings(asdict(base.settings), store, order[sides[order] != games.NEITHER], sides, spellings)
    of = store.sides(split := games.split_of(store, request.test))
    by_side = {side: np.flatnonzero(of == side) for side in (TRAIN, VALIDATE, TEST)}
    epochs = round(POSITIONS / max(1, len(games.OwnPositions(store, by_side[TRAIN], sides))))
    settings = replace(settings, epochs=int(np.clip(epochs, *kind.EPOCHS)))
    return _Person(request, kind, path, players, store, split, base, settings, sides, by_side, info)


def _of_run(request: PersonalRequest, source: Store) -> list[str]:
    """Return the names of the person whose run is updated.

    The result is [] if the run or the person can't be identified without a name. Raises UsageError if no game is the
    person's.
    """
    if not (request.update and request.run and (request.run / INFO).is_file()):
        return []
    known = Run(request.run).info.get("person", {}).get("names", [])
    found = names.present(source, known)
    if known and not found:
        raise UsageError(
            f"--update needs games of {shown(known[0])} (got none). If the name has changed, add --player NAME."
        )
    return found


def _base(request: PersonalRequest, kind: Kind) -> Run:
    """Open the base run. Raises UsageError for a run of another system, and KibitzError if it has no weights."""
    base = Run(request.base)
    if base.info["system"] != kind.BASE:
        raise UsageError(f"--from must be a run of {kind.BASE} (got {request.base}, a run of {base.info['system']})")
    base.trained()
    return base


def _folder_name(name: str) -> str:
    """Convert a person's name to a part of a directory's name."""
    return re.sub(r"[^\w-]+", "-", names.key(name)).strip("-")[:60] or "somebody"


def _begun(path: Path, base: Run, request: PersonalRequest, kind: Kind) -> tuple[dict[str, Any], Store | None]:
    """Return the run.json and the games of a run that an earlier call began.

    Raises UsageError if the directory is something else, or if --update is given and the run doesn't exist.
    """
    own = path / games.GAMES
    held = Store(own) if own.exists() else None
    if not (path / INFO).is_file():
        if path.exists() and not _ours(path, held is not None):
            raise UsageError(f"{path} is neither a run nor an empty folder. Choose another --run.")
        if request.update:
            raise UsageError(
                f"--update needs an existing run (got {path}). Leave --update out, or name the run with --run."
            )
        return {}, held
    info = Run(path).info
    if info["system"] != kind.SYSTEM:
        raise UsageError(
            f"--run must be a run of kibitz personal (got {path}, a run of {info['system']}). Choose another --run."
        )
    if held is None:
        raise KibitzError(f"{own}: the person's games are missing. Choose another --run.")
    if info["started_from"] != base.weights_sha256() and not request.update:
        raise UsageError(
            f"{path} was initialized from other weights than those of {request.base}. Choose another --run."
        )
    return info, held


def _ours(path: Path, with_games: bool) -> bool:
    """Return whether all files of a folder without run.json are from a killed call.

    with_games: whether the folder must contain the person's games, which such a call writes first.
    """
    own = (SEEN, BOOK, WEIGHTS, ONNX, "metrics.jsonl") if with_games else ()
    names_ = [file.name for file in path.iterdir()]
    return all(
        name in own or name.lstrip(".").startswith(games.GAMES) or (with_games and name.endswith(NEW))
        for name in names_
    )


def _with_earlier(players: Sequence[names.Player], info: dict[str, Any]) -> list[names.Player]:
    """Return the players, with the spellings of the same person that the run knows from earlier calls."""
    earlier = tuple(name for name in info["person"]["names"] if name not in games.spellings_of(players))
    return [*players, *([names.Player(earlier[0], earlier, 0)] if earlier else [])]


def _stored(path: Path, held: Store | None, source: Store, mine: NDArray[np.int64], request: PersonalRequest) -> Store:
    """Return the store of the run with these games. Raises UsageError if the store has other games and `update` is not
    requested.
    """
    if held is None or request.update:
        path.mkdir(parents=True, exist_ok=True)
        return games.add_games(source, mine, path / games.GAMES, request.sources)
    if set(held.column("hash").tolist()) != set(source.column("hash")[mine].tolist()):
        raise UsageError(f"{path} was trained on other games. Add new games with --update, or choose another --run.")
    return held


# Trainings


def _train(
    person: _Person,
    settings: Any,
    folder: Path,
    step: PersonalStep,
    on_step: Callable[[PersonalStep], object],
    time_limit: float | None,
) -> str:
    """Train one network in a separate run, within a time limit. Returns why the call must stop, or ""."""
    request = person.request
    plan = TrainConfig(
        validate_positions=1 << 30, validations=CHECKS_AN_EPOCH * settings.epochs, patience=PATIENCE, seed=request.seed,
        precision=request.precision, checkpoint_every=CHECKPOINT_EVERY, checkpoint_megabytes=0.0,
        time_limit=time_limit,
    )  # fmt: skip
    done = train(
        person.kind.SYSTEM, settings, str(person.store.path), run=folder, split=person.split, plan=plan,
        start_from=request.base, command=request.command,
        on_progress=lambda progress: on_step(replace(step, progress=progress)),
    )  # fmt: skip
    return done.outcome.reason if done.outcome.reason in (STOPPED, TIME_LIMIT) else ""


def _score(positions: PlayerPositions, session: NetworkSession, book: Book, name: str) -> dict[str, Any]:
    """Return how well a network predicts the validation games, alone and with the book at the best k.

    name: the name of the network in the result.
    """
    shares, counts = positions.shares(session), positions.counts(book)
    k, loss = fit_k(positions, shares, counts)
    alone, both = positions.judge(shares), positions.judge(blend(shares, counts, positions.offsets, k))
    return {
        "name": name,
        "k": k,
        "strength": getattr(session, "strength", 1),
        "log_loss_past_move_10": round(_late(positions, alone.loss), 5),
        "log_loss": round(float(alone.loss.mean()), 5),
        "log_loss_with_book": round(loss, 5),
        "accuracy": round(float(alone.right.mean()), 5),
        "accuracy_with_book": round(float(both.right.mean()), 5),
    }


def shown_name(name: str) -> str:
    """Return the name under which users see a network that `make` tried. name: its name in the file run.json of the
    result.
    """
    return "the initial network" if name == NOTHING else name


def _in_words(score: dict[str, Any]) -> str:
    return f"log loss past the opening: {score['log_loss_past_move_10']:.4f}, {score['accuracy']:.1%} right"


# The run


def _keep(
    person: _Person,
    settings: Any,
    scores: Sequence[dict[str, Any]],
    best: dict[str, Any],
    network: Run,
    learned: PlayerPositions,
    positions: PlayerPositions,
    finished: bool = False,
    moderated: nn.Module | None = None,
) -> Book:
    """Write the run with its network and its book, and return the book, which has all games except the test games.

    moderated: the network with weaker adapters.
    """
    path, store = person.path, person.store
    seen = [short_hashes(store.column("hash")[np.concatenate([person.by_side[TRAIN], person.by_side[VALIDATE]])])]
    write_seen(path, [*seen, person.base.seen()])
    whole = Book.count(
        np.concatenate([learned.keys, positions.keys]), np.concatenate([learned.booked, positions.booked])
    )
    whole.save(path / BOOK)
    for file in (WEIGHTS, ONNX, "metrics.jsonl"):
        if (network.path / file).is_file() and not (file == "metrics.jsonl" and network is person.base):
            write_whole(path / file, (network.path / file).read_bytes())
    if moderated is not None:
        save_weights(moderated, path / WEIGHTS)
        export_onnx(moderated, positions.codes[:4], positions.state[:4, :STATE_WIDTH], path / ONNX)
    person.info = _info(person, settings, scores, best, finished)
    write_json(path / INFO, person.info)
    return whole


def _info(
    person: _Person, settings: Any, scores: Sequence[dict[str, Any]], best: dict[str, Any], finished: bool
) -> dict[str, Any]:
    """Return the content of run.json."""
    store, split, base = person.store, person.split, scores[0]
    dates = store.column("date").astype("datetime64[D]")
    known = dates[~np.isnat(dates)]
    return {
        "kibitz_run": FORMAT,
        "system": person.kind.SYSTEM,
        "game": store.game,
        "settings": asdict(settings),
        "recipe": "default",
        "seed": person.request.seed,
        "data": {
            "store": str(store.path),
            "fingerprint": store.fingerprint,
            "split": split.as_json(),
            "split_in_words": split.describe(),
            "games": {SIDES[side]: len(some) for side, some in person.by_side.items()},
        },
        "person": {
            "name": person.players[0].name,
            "names": list(games.spellings_of(person.players)),
            **person.kind.level(settings),
            "first": str(known.min()) if len(known) else None,
            "last": str(known.max()) if len(known) else None,
            "sources": [printable(source) for source in person.request.sources],
        },
        "base": person.request.base,
        "started_from": person.base.weights_sha256(),
        "book": {"k": best["k"], "k_base": base["k"]},
        "kept": best["name"],
        "strength": best["strength"],
        "habits": person.habits,
        "candidates": list(scores),
        "versions": {"kibitz": __version__},
        "command": person.request.command,
        "beyond": person.kind.side_inputs(settings),
        "finished": finished,
    }
