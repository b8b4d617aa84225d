"""A network of one player of Go: its games, its book in every turn of the board, its adapters, and the faces."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from kibitz import cli
from kibitz.commands.engines import GtpOptions
from kibitz.errors import UsageError
from kibitz.games.go.points import GRID, PASS, symmetries
from kibitz.games.go.replay import encode_board
from kibitz.games.go.rules import Board
from kibitz.personal.adapter import ALL
from kibitz.personal.book import Book
from kibitz.personal.fitting import PersonalRequest, make
from kibitz.personal.games import NEITHER, OwnPositions, sides_of
from kibitz.personal.go.answers import SYMMETRIES, blended_answers, candidates, position_keys, turned_moves
from kibitz.personal.go.positions import GoPlayerPositions
from kibitz.personal.go.system import SYSTEM, OwnGoMoves, PersonalGoHuman, Settings, loss
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.store import Store
from support import go_person
from support.causes import each_mentions, in_process, naming
from support.trained import point_to, recorded, trained, weights_hash

SMALL = Settings(blocks=2, filters=16, channels=4, players="A\nB", rank=43)


@pytest.fixture(scope="module")
def base(small_go_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network of `gohuman`, trained for a moment."""
    from kibitz.systems.gohuman import Settings as GoHumanSettings
    from kibitz.training.trainer import TrainConfig

    path = tmp_path_factory.mktemp("gohuman") / "gohuman-1"
    plan = TrainConfig(5, 1000, 1000, validate_positions=100, precision="32-true")
    settings = GoHumanSettings(blocks=1, filters=16, batch=32, warmup=2, iterations=10, most_epochs=0)
    return trained("gohuman", settings, small_go_store, path, plan)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return go_person.write(tmp_path_factory.mktemp("player") / "my.sgf")


@pytest.fixture(scope="module")
def player_run(games: Path, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("player") / "run"
    key = {"games": games.read_text(), "base": weights_hash(base)}
    request = PersonalRequest([str(games)], base=str(base), run=path, precision="32-true")
    recorded("gopersonal", key, path, lambda _: make(request))
    point_to(path, base, games)
    return path


@pytest.fixture(scope="module")
def store(player_run: Path) -> Store:
    return Store(player_run / "games")


def test_a_run_says_what_it_is(player_run: Path, store: Store) -> None:
    info = Run(player_run).info
    assert (info["system"], info["game"], info["finished"]) == ("gopersonal", "go", True)
    assert info["person"]["name"] == go_person.PERSON
    assert (info["person"]["rank"], info["settings"]["rank"]) == ("3d", info["settings"]["opponent_rank"])
    assert info["data"]["games"]["test"] == 4
    base = info["candidates"][0]
    assert base["log_loss_with_book"] < base["log_loss"], "the book knows the player's first move"
    assert info["kept"] == min(info["candidates"], key=lambda row: row["log_loss_past_move_10"])["name"]


def test_positions_are_those_in_which_the_player_moved(store: Store) -> None:
    sides = sides_of(store, [go_person.PERSON])
    assert (sides != NEITHER).all()
    black = store.column("black").astype(str) == go_person.PERSON
    assert (sides == np.where(black, 0, 1)).all()
    positions = OwnPositions(store, np.arange(len(store)), sides)
    batch = positions.batch(np.arange(len(positions)))
    assert (batch.state[:, 0] == sides[batch.games]).all()
    first = batch.plies < 2
    assert (store.moves[store.offsets[batch.games] + batch.plies][first] == go_person.CENTRE).all()


def test_the_book_knows_a_position_whichever_way_it_lies() -> None:
    board = Board(9)
    for point in (2 * GRID + 3, 5 * GRID + 6, 7 * GRID + 1):
        board.play(board.to_move, point)
    codes, state = (values[None] for values in encode_board(board))
    keys, turned = position_keys(codes, state)
    reply = 6 * GRID + 2
    book = Book.count(keys, turned_moves(np.array([reply]), np.zeros(1, np.int64), state, turned))
    policy = np.full((1, 362), 1 / 79, np.float32)
    for way in range(8):
        seen = codes[:, symmetries(9)[way]]
        answers = blended_answers(book, 1.0, seen, state, {"policy": policy, "value": np.zeros(1, np.float32)})
        assert answers["policy"][0].argmax() == SYMMETRIES[9, way, reply], way
        assert answers["policy"][0][[*candidates(seen)[0]]].sum() == pytest.approx(1, abs=1e-5)
        assert answers["policy"][0, SYMMETRIES[9, way, reply]] == pytest.approx(0.5 + 0.5 / 79, abs=1e-4)
    other, passed = state.copy(), np.array([PASS])
    other[0, 0] ^= 1
    assert position_keys(codes, other)[0] != keys
    assert turned_moves(passed, np.zeros(1, np.int64), state, turned)[0] == PASS


def test_shares_are_of_empty_points_and_a_pass(store: Store, base: Path) -> None:
    sides = sides_of(store, [go_person.PERSON])
    asked = GoPlayerPositions(store, np.arange(3), sides)
    shares = asked.shares(Session(base))
    assert np.add.reduceat(shares, asked.offsets[:-1]) == pytest.approx(np.ones(len(asked)), abs=1e-5)
    stones = (asked.codes % 16 >= 1) & (asked.codes % 16 <= 12)
    assert (np.diff(asked.offsets) == 81 + 1 - stones.sum(1)).all()
    judged = asked.judge(shares)
    assert len(judged.right) == len(asked)
    assert judged.loss == pytest.approx(-np.log(shares[asked.played]), abs=1e-6)


def test_adapters_begin_as_no_change_and_alone_learn(player_run: Path, base: Path) -> None:
    network = PersonalGoHuman(SMALL)
    SYSTEM.prepare(network, None, np.zeros(0, np.int64), SMALL, 3)
    codes = torch.randint(0, 13, (3, 361), dtype=torch.uint8)
    state = torch.zeros(3, 10, dtype=torch.uint8)
    state[:, 1] = 19
    with torch.no_grad():
        assert torch.equal(network.trunk(codes, state)[0], network.trunk(codes, state, adapted=False)[0])
    assert all(name.startswith("adapters.") for name, p in network.named_parameters() if p.requires_grad)
    assert not any(name.startswith("adapters.") for name in PersonalGoHuman(replace(SMALL, learns=ALL)).state_dict())
    mine, theirs = load_file(player_run / "best.safetensors"), load_file(base / "best.safetensors")
    assert all(torch.equal(mine[name], value) for name, value in theirs.items())


def test_examples_are_turned_together_with_what_is_expected(store: Store) -> None:
    network = PersonalGoHuman(SMALL)
    settings = replace(SMALL, players=go_person.PERSON)
    examples = OwnGoMoves(store, np.arange(5), network, settings)
    ids = np.arange(len(examples))
    whole, again = examples.batch(ids, 1), examples.batch(ids[3:7], 1)
    assert all((whole[name][3:7] == values).all() for name, values in again.items())
    assert (whole["codes"] != examples.batch(ids, 2)["codes"]).any()
    at = np.arange(len(ids))
    assert (whole["codes"][at, whole["move"]] % 16 == 0).all(), "moves go where the board goes"
    before, after = examples.expected["owners"], whole["owners"]
    assert np.allclose(np.sort(before[:, :].astype(np.float32), 1), np.sort(after, 1))
    assert (whole["codes"] % 16 != 14).sum() == 81 * len(ids)


def test_a_position_that_occurs_n_times_weighs_as_much_as_one(store: Store) -> None:
    network = PersonalGoHuman(SMALL)
    examples = OwnGoMoves(store, np.arange(len(store)), network, replace(SMALL, players=go_person.PERSON))
    keys = position_keys(examples.codes, examples.state)[0]
    _, of, counts = np.unique(keys, return_inverse=True, return_counts=True)
    assert counts.max() > 1
    assert np.allclose(np.bincount(of, examples.weight), 1)
    arrays = {name: torch.from_numpy(values) for name, values in examples.batch(np.arange(9), 0).items()}
    weightless, _ = loss(network, arrays | {"weight": torch.zeros(9)})
    weighted, metrics = loss(network, arrays | {"weight": torch.ones(9)})
    assert (weighted - weightless).item() == pytest.approx(metrics["loss"].mean().item(), abs=1e-4)
    assert metrics["loss"].mean() > 2, "a network that has learned nothing"


def test_a_killed_call_goes_on_to_the_same_run(
    games: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(PersonalRequest([str(games)], base=str(base), run=tmp_path / "whole", precision="32-true"))
    seen = []

    def on_step(step: object) -> None:
        seen.append(step)
        if len(seen) == 3:
            raise KeyboardInterrupt

    request = PersonalRequest([str(games)], base=str(base), run=tmp_path / "run", precision="32-true")
    with pytest.raises(KeyboardInterrupt):
        make(request, on_step)
    assert make(request).reason == "done"
    ours, theirs = load_file(tmp_path / "run" / "best.safetensors"), load_file(tmp_path / "whole" / "best.safetensors")
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_the_engine_plays_like_the_player(player_run: Path) -> None:
    settings = GtpOptions().of_engine(str(player_run), 19)
    assert (settings.method, settings.temperature) == ("top-prob", 1.0)
    assert not GtpOptions().of_engine("gohuman", 19).temperature
    commands = "boardsize 9\n" + "clear_board\ngenmove b\n" * 12 + "quit\n"
    done = in_process(["gtp", player_run, "--seed", "1"], commands)
    assert done.code == 0, done
    assert done.out.count("= E5") >= 8, done.out


def test_the_test_page(player_run: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    stranger = ["--stranger", str(player_run)]
    assert cli.run(["test", str(player_run), "--json", "--out", str(page), *stranger]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"accuracy", "accuracy_base", "accuracy_book", "accuracy_adapters", "gain"} <= set(found["figures"])
    assert found["figures"]["accuracy_book"]["value"] > found["figures"]["accuracy_base"]["value"]
    assert each_mentions([table["title"] for table in found["tables"]][:2], "moves", "openings")
    assert "5-5" in page.read_text(encoding="utf-8")


def test_calls_that_cannot_work(games: Path, base: Path, player_run: Path, tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text('[White "Kim Tengen"]\n\n1. e4 *\n')
    with pytest.raises(UsageError, match=naming("Go & chess")):
        make(PersonalRequest([str(games), str(tmp_path / "a.pgn")], run=tmp_path / "r"))
    with pytest.raises(UsageError, match=naming("human & gohuman & run")):
        make(PersonalRequest([str(games)], base="human", run=tmp_path / "r"))
    with pytest.raises(UsageError, match=naming("Nobody Else & game")):
        make(PersonalRequest([str(games)], ["Nobody Else"], base=str(base), run=tmp_path / "r"))
    assert not (tmp_path / "r").exists()
