"""A person's run from the games to the choice: resumed after kills, updated, and calls that cannot work."""

from __future__ import annotations

import itertools
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from kibitz import ongoing
from kibitz.commands.personal import _report
from kibitz.errors import KibitzError, UsageError
from kibitz.evaluation.policy.personal import curve
from kibitz.personal import fitting
from kibitz.personal import games as games_module
from kibitz.personal.book import Book
from kibitz.personal.chess.system import PersonalChessSystem
from kibitz.personal.fitting import PersonalRequest, make
from kibitz.personal.shares import PlayerPositions
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.split import TEST
from kibitz.store.store import Store
from kibitz.training.trainer import TIME_LIMIT, TrainConfig
from support import person
from support.causes import mentions, naming
from support.forks import Forks
from support.trained import point_to


@pytest.fixture(scope="module", autouse=True)
def short_trainings() -> Iterator[None]:
    """As few passes over the games as there may be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "POSITIONS", 1)
        yield


@pytest.fixture(scope="module")
def personal_run(my_games: Path, human_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained now, not recorded: other trainings are compared with it bit for bit."""
    path = tmp_path_factory.mktemp("personal") / "run"
    make(PersonalRequest([str(my_games)], base=str(human_run), run=path, precision="32-true"))
    return path


def copied(personal_run: Path, human_run: Path, my_games: Path, path: Path) -> Path:
    """The person's run in another folder, where it may be changed."""
    shutil.copytree(personal_run, path)
    point_to(path, human_run, my_games)
    return path


def test_games_that_the_base_network_knows_are_counted(small_store: Store) -> None:
    lines: list[str] = []
    for known in (0, 2):
        base = SimpleNamespace(name="human", unseen_games=lambda store, games, known=known: games >= known)
        fitting._note_known_games(cast(Any, SimpleNamespace(base=base, store=small_store)), lines.append)
    (line,) = lines
    assert mentions(line, f"human & 2 & {len(small_store):,} & games")


LOADED = """
import os, signal, sys
from pathlib import Path
from kibitz.personal import fitting
import kibitz.training.fit
fitting.CHECKPOINT_EVERY, fitting.POSITIONS = 3, 1
"""
KILLED = """
games, base, run, number, iteration = sys.argv[1:]
def on_step(step):
    if (step.number, step.progress.iteration) == (int(number), int(iteration)):
        os.kill(os.getpid(), signal.SIGKILL)
request = fitting.PersonalRequest([games], base=base, run=Path(run), precision="32-true")
assert fitting.make(request, on_step).reason == "done"
"""


@pytest.mark.slow
def test_killed_in_its_trainings_it_comes_to_the_same_run(
    personal_run: Path, my_games: Path, human_run: Path, tmp_path: Path
) -> None:
    whole, broken = personal_run, tmp_path / "broken"
    with Forks(LOADED) as forks:
        for number, iteration in ((1, 1), (1, 5), (2, 8), (0, 0)):
            arguments = (str(my_games), str(human_run), str(broken), str(number), str(iteration))
            ended = forks.run(KILLED, *arguments, folder=tmp_path)
            assert ended.code == (-signal.SIGKILL if number else 0), ended.err
    ours, theirs = load_file(broken / "best.safetensors"), load_file(whole / "best.safetensors")
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert Run(broken).info["candidates"] == Run(whole).info["candidates"]
    assert (broken / "book.npy").read_bytes() == (whole / "book.npy").read_bytes()
    assert not (broken / "candidates").exists()


def test_killed_before_its_first_run_json_the_same_command_goes_on(
    personal_run: Path, my_games: Path, human_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path, data: object) -> None:
        raise KeyboardInterrupt

    request = PersonalRequest([str(my_games)], base=str(human_run), run=tmp_path / "run", precision="32-true")
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "write_json", killed)
        with pytest.raises(KeyboardInterrupt):
            make(request)
    assert not (tmp_path / "run" / "run.json").exists()
    assert make(replace(request, time_limit=0)).reason == TIME_LIMIT
    assert Run(tmp_path / "run").info["candidates"] == Run(personal_run).info["candidates"][:1]
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "best.safetensors").write_bytes(b"of another")
    with pytest.raises(UsageError, match=naming("empty")):
        make(PersonalRequest([str(my_games)], base=str(human_run), run=foreign, precision="32-true"))
    assert [file.name for file in foreign.iterdir()] == ["best.safetensors"]


def test_a_run_says_what_it_is(personal_run: Path, my_games: Path, human_run: Path) -> None:
    run = Run(personal_run)
    info = run.info
    assert (info["system"], info["finished"]) == ("personal", True)
    assert run.person is not None
    assert (run.person["name"], set(run.person["names"])) == (person.PERSON, set(person.SPELLINGS))
    assert info["data"]["games"]["test"] == 6
    store = Store(personal_run / "games")
    test = store.sides(run.split) == TEST
    assert (run.unseen(store.column("hash")) == test).all()
    best = min(info["candidates"], key=lambda row: row["log_loss_past_move_10"])
    assert info["kept"] == best["name"]
    assert info["strength"] in fitting.STRENGTHS
    base = info["candidates"][0]
    assert base["name"] == "nothing"
    assert base["log_loss_with_book"] < base["log_loss"], "the book knows the person's opening"
    again = make(PersonalRequest([str(my_games)], base=str(human_run), run=personal_run, precision="32-true"))
    assert again.reason == "finished before"


def test_adapters_at_a_strength(personal_run: Path, human_run: Path) -> None:
    """At 0 they are the base; what is exported answers as the weights do."""
    run, codes = Run(personal_run), np.zeros((3, 64), np.uint8)
    codes[:, 4], codes[:, 60], codes[:, 12] = 6, 12, 1
    state = np.zeros((3, 12), np.uint8)
    base = Session(human_run).evaluate(codes, state)
    weak = fitting.AtStrength(run, 0.0).evaluate(codes, state)
    whole = fitting.AtStrength(run, 1.0).evaluate(codes, state)
    exported = Session(run, corrected=False).evaluate(codes, state)
    for name in ("origin", "target", "outcome"):
        assert np.abs(weak[name] - base[name]).max() < 1e-4
        assert np.abs(whole[name] - exported[name]).max() < 1e-4
    assert np.abs(whole["origin"] - weak["origin"]).max() > 1e-4


def test_nothing_better_than_the_base(
    my_games: Path, human_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the person plays the base's first choices, rates that are far too large make every training worse: the base
    is kept, with the book."""
    base = Session(human_run)

    def first_choices(asked: PlayerPositions) -> NDArray[np.int64]:
        shares = asked.shares(base)
        return np.array([first + shares[first:end].argmax() for first, end in itertools.pairwise(asked.offsets)])

    monkeypatch.setattr(PlayerPositions, "played", property(first_choices))
    monkeypatch.setattr(fitting, "RATES", (30.0, 30.0, 30.0))
    steps: list[int] = []
    with ongoing.listening(lambda evaluated, total: steps.append(total)):
        done = make(
            PersonalRequest([str(my_games)], base=str(human_run), run=tmp_path / "r", precision="32-true"),
            on_step=lambda step: steps.append(-1),
        )
    # The validation games and the games for training are evaluated before the first training begins.
    assert len({*steps[: steps.index(-1)]}) == 2
    assert done.info["kept"] == "nothing"
    assert Run(tmp_path / "r").settings.learns == "nothing"
    assert (tmp_path / "r" / "best.safetensors").read_bytes() == (human_run / "best.safetensors").read_bytes()
    assert done.info["book"]["k"] == done.info["book"]["k_base"]


def test_games_are_added(personal_run: Path, my_games: Path, human_run: Path, tmp_path: Path) -> None:
    path = copied(personal_run, human_run, my_games, tmp_path / "r")
    more = person.write(tmp_path / "more.pgn", 30, first=60, seed=5)
    with pytest.raises(UsageError, match=naming("--update & games")):
        make(PersonalRequest([str(more)], base=str(human_run), run=path, players=[person.PERSON]))
    request = PersonalRequest([str(more)], base=str(human_run), run=path, update=True, precision="32-true")
    assert make(request).reason == "done"
    run, store = Run(path), Store(path / "games")
    assert len(store) == 90
    assert run.info["data"]["fingerprint"] == store.fingerprint
    newest = np.sort(store.column("date"))[-9:]
    assert (np.sort(store.column("date")[store.sides(run.split) == TEST]) == newest).all()
    assert make(request).reason == "finished before"


def test_a_time_limit_is_of_the_call_and_not_of_each_training(
    my_games: Path, human_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each training is given what is left; none begins where nothing is."""
    now, given = [0.0], []

    def train(*arguments: object, plan: TrainConfig, **rest: object) -> SimpleNamespace:
        given.append(plan.time_limit)
        now[0] += 40
        return SimpleNamespace(outcome=SimpleNamespace(reason="done"))

    monkeypatch.setattr(fitting, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(fitting, "train", train)
    monkeypatch.setattr(fitting, "Session", lambda run, **_: Session(human_run))
    monkeypatch.setattr(fitting, "Run", lambda path: Run(human_run))
    request = PersonalRequest([str(my_games)], base=str(human_run), run=tmp_path / "r", time_limit=70.0)
    assert make(request).reason == TIME_LIMIT
    assert given == [70, 30]


def test_calls_that_cannot_work(my_games: Path, human_run: Path, small_run: Path, tmp_path: Path) -> None:
    def call(*sources: Path, **more: object) -> None:
        given = {"base": str(human_run), "run": tmp_path / "r", **more}
        make(PersonalRequest([str(source) for source in sources], **given))  # type: ignore[arg-type]

    few = person.write(tmp_path / "few.pgn", 3)
    with pytest.raises(KibitzError, match=naming("3 & Muñoz & Ana & 20 & games")):
        call(few)
    text = my_games.read_text(encoding="utf-8")
    for number in range(60):
        text = text.replace(f'"Opponent {number}"', f'"{person.PERSON}"')
    (tmp_path / "both.pgn").write_text(text)
    with pytest.raises(KibitzError, match=naming("0 & games")):
        call(tmp_path / "both.pgn")
    (tmp_path / "variant.pgn").write_text(person.games(5).replace("[Date ", '[Variant "Atomic"]\n[Date '))
    with pytest.raises(KibitzError, match=naming("chess")):
        call(tmp_path / "variant.pgn")
    with pytest.raises(UsageError, match=naming("winner & human & run")):
        call(my_games, base=str(small_run))
    with pytest.raises(UsageError, match=naming("--update & run & --run")):
        call(my_games, update=True)
    assert not (tmp_path / "r" / "run.json").exists()


def test_a_program_is_told(human_run: Path, tmp_path: Path) -> None:
    (tmp_path / "bot.pgn").write_text(person.games(3).replace(person.PERSON, "Stockfish 12"))
    lines: list[str] = []
    with pytest.raises(KibitzError, match="at least 20"):
        make(PersonalRequest([str(tmp_path / "bot.pgn")], base=str(human_run), run=tmp_path / "r"), log=lines.append)
    assert mentions(lines[0], "Stockfish & 12 & program")


def test_new_games_are_the_person_s_whoever_else_is_in_them(
    personal_run: Path, my_games: Path, human_run: Path, tmp_path: Path
) -> None:
    """--update without a name means the run's person: not the opponent of a single game, nor who is in more games."""
    path = copied(personal_run, human_run, my_games, tmp_path / "r")
    one = tmp_path / "one.pgn"
    one.write_text(person.games(1, first=70, seed=3) + "\n" + person.games(2, first=71, person="Ben", seed=4))
    request = PersonalRequest([str(one)], base=str(human_run), run=path, update=True, precision="32-true")
    assert make(request).reason == "done"
    assert len(Store(path / "games")) == 61
    assert Run(path).info["person"]["name"] == person.PERSON
    others = tmp_path / "others.pgn"
    others.write_text(person.games(30, first=80, person="Ben", seed=5))
    with pytest.raises(UsageError, match=naming("--update & Muñoz & Ana & game")):
        make(replace(request, sources=[str(others)]))


def test_few_games_are_not_judged_by_those_that_were_learned(human_run: Path, tmp_path: Path) -> None:
    """Of 20 games the hash may choose none to validate; then more of them do, and no game counts twice in the book."""
    for seed in range(5):
        file = person.write(tmp_path / f"{seed}.pgn", 20, seed=seed, first=100 * seed)
        request = PersonalRequest([str(file)], base=str(human_run), run=tmp_path / f"r{seed}", time_limit=0)
        info = make(request).info
        games = info["data"]["games"]
        assert games["validation"] >= games_module.LEAST_VALIDATE
        assert games["training"] + games["validation"] + games["test"] == 20
        first = Book.open(tmp_path / f"r{seed}" / "book.npy").rows["count"].max()
        assert first <= games["training"] + games["validation"]


def test_names_may_have_anything_in_them(human_run: Path, tmp_path: Path) -> None:
    """A blank at the end, and a character as HTML writes it."""
    odd = ("Ana ", "Mu&#241;oz; Ana")
    text = person.games(40).replace(person.PERSON, odd[0])
    file = tmp_path / "odd.pgn"
    file.write_text(text.replace(f'"{odd[0]}"', f'"{odd[1]}"', 12), encoding="utf-8")
    run = tmp_path / "r"
    done = make(
        PersonalRequest([str(file)], list(odd), base=str(human_run), run=run, precision="32-true", time_limit=600)
    )
    assert done.reason == "done"
    settings = Run(run).settings
    assert set(settings.spellings) == set(Run(run).info["person"]["names"])
    store = Store(run / "games")
    assert len(PersonalChessSystem().games(store, settings)) == len(store) == 40


def test_a_learning_curve_learns_from_no_game_that_it_is_tested_by(
    personal_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without dates, too, where the test is drawn by hash."""
    run, store = Run(personal_run), Store(personal_run / "games")
    tested = np.flatnonzero(store.sides(run.split) == TEST)
    learned: list[set[int]] = []

    def begun(request: PersonalRequest) -> SimpleNamespace:
        some = Store(request.sources[0])
        learned.append(set(some.column("hash").tolist()))
        assert set(request.players) <= set(person.SPELLINGS)
        assert not (some.sides(games_module.split_of(some, request.test)) == TEST).any()
        return SimpleNamespace(reason="stopped")

    monkeypatch.setattr(curve, "make", begun)
    with pytest.raises(KeyboardInterrupt):
        curve.learning_curve(run, store, tested, lambda part, done, total: None, lambda line: None)
    assert [len(some) for some in learned] == [20]
    assert not learned[0] & set(store.column("hash")[tested].tolist())


def test_the_printed_figures_agree_with_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    """The kept network has the lowest figure of a column, and the lines of the training print the same figure."""
    names, chosen_by = ("nothing", "adapters at 0.003", "adapters at 0.01"), (1.6, 1.4, 1.45)
    scores = [
        {"name": name, "accuracy": 0.52, "accuracy_with_book": 0.55, "log_loss": 1.52 - at / 100, "k": 0.25,
         "log_loss_with_book": 1.4 - at / 100, "log_loss_past_move_10": loss}
        for at, (name, loss) in enumerate(zip(names, chosen_by, strict=True))
    ]  # fmt: skip
    tried = fitting._Tried(scores[0], cast("Any", None), None)
    assert tried.name == "the initial network"
    for score in scores[1:]:
        tried.add(score, cast("Any", None), None)
    assert tried.name == "adapters at 0.003"
    info = {
        "person": {"name": "Ana"}, "data": {"games": {"train": 60}}, "candidates": scores, "kept": tried.best["name"],
        "game": "chess", "finished": True,
    }  # fmt: skip
    _report(fitting.PersonalResult(Path("runs/ana"), info, "done"))
    out = capsys.readouterr().out
    assert all(f"{loss:.4f}" in out for loss in chosen_by)
    assert "1.4000" in fitting._in_words(tried.best)
    assert "kibitz board runs/ana" in out
    assert " k" not in out.splitlines()[1]
