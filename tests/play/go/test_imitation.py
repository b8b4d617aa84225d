"""Imitation of Go players of a rank: every interface plays the same move, and ranks matter."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kibitz
from kibitz.cli import run as run_command
from kibitz.errors import UsageError
from kibitz.games.go.points import BLACK, PASS, POINTS, WHITE, to_gtp
from kibitz.games.go.rules import Board
from kibitz.games.go.sides import BEYOND, handicap_byte, rank_byte, rules_byte
from kibitz.play import open_player
from kibitz.play.go.imitation import (
    METHOD,
    STRONGEST,
    TEMPERATURE,
    WEAKEST,
    imitated_rank,
    imitation,
    players_inputs,
    ranks,
)
from kibitz.play.go.players import player_of
from kibitz.play.go.thought import Terms
from kibitz.play.session import Session
from kibitz.runs import Run
from support.board_client import Client, served
from support.causes import in_process, mentions, naming, reading, refused
from support.go_fakes import FakeGo
from support.gtp_player import fake

MOVES = ["E5", "E3", "C4"]
SEEDS = range(4)
RANKS = ("15k", "5k", "9d")


@pytest.fixture(scope="module")
def network() -> kibitz.TrainedNetwork:
    return kibitz.load_network("gohuman")


@pytest.fixture(scope="module")
def board() -> Board:
    return kibitz.make_go_board(MOVES, size=9)


@pytest.fixture(scope="module")
def page() -> Iterator[tuple[Client, Any]]:
    with served([]) as found:
        yield found


@pytest.fixture(scope="module")
def played(board: Board) -> dict[tuple[str, int], str]:
    """The moves by rank and seed of the player with the settings of `imitation`, and nothing else."""
    run = Run("gohuman")
    session = Session(run)

    def move(rank: str, seed: int) -> str:
        settings = imitation(rank, network=run.name, takes_ranks=run.takes_ranks)
        player = open_player(run, lambda: session, **settings, seed=seed)
        return to_gtp(player.choose(board, board.to_move, Terms.by(_chinese(), 7.5, 0)).point, 9)

    return {(rank, seed): move(rank, seed) for rank, seed in itertools.product(RANKS, SEEDS)}


def _chinese() -> Any:
    from kibitz.games.go.rulesets import named

    return named("chinese")


def gtp(*options: str, commands: Iterable[str] = ("reg_genmove w",)) -> list[str]:
    """What the GTP engine plays in the position: the replies to `commands` that are not empty."""
    moves = [f"play {color} {move}" for color, move in zip("bwb", MOVES, strict=True)]
    done = in_process(["gtp", "gohuman", *options], "\n".join(["boardsize 9", *moves, *commands, "quit", ""]))
    assert done.code == 0, done.err
    replies = [reply.removeprefix("=").strip() for reply in done.out.split("\n\n")]
    return [reply for reply in replies if reply]


def test_the_moves_depend_on_rank_and_seed(played: dict[tuple[str, int], str]) -> None:
    """Without this, the other tests would compare one move with itself."""
    for rank in RANKS:
        assert len({played[rank, seed] for seed in SEEDS}) > 1
    assert [played["15k", seed] for seed in SEEDS] != [played["9d", seed] for seed in SEEDS]


def test_python_plays_the_same(
    network: kibitz.TrainedNetwork, board: Board, played: dict[tuple[str, int], str]
) -> None:
    for (rank, seed), move in played.items():
        assert network.choose_move(board, rank=rank, seed=seed).vertex == move


def test_the_gtp_engine_plays_the_same(played: dict[tuple[str, int], str]) -> None:
    for rank in RANKS:
        moves = [played[rank, seed] for seed in SEEDS]
        seeds = [f"set_random_seed {seed}" for seed in SEEDS]
        assert gtp("--rank", rank, "--seed", "1") == moves[1:2]
        assert gtp("--rank", rank, commands=[line for seed in seeds for line in (seed, "reg_genmove w")]) == moves
        each = [
            line for seed in seeds for line in ("kibitz-set-rank 1d", seed, f"kibitz-set-rank {rank}", "reg_genmove w")
        ]
        assert gtp(commands=each) == moves


def test_the_page_plays_the_same(page: tuple[Client, Any], played: dict[tuple[str, int], str]) -> None:
    """The page sends the rank alone."""
    from kibitz.web.players import read_request

    client, desk = page
    for (rank, seed), move in played.items():
        fields = {"network": "gohuman", "line": {"game": "go", "size": 9, "moves": MOVES}, "rank": rank, "seconds": 5}
        known = desk.networks.find("gohuman")
        desk.players.player(known, read_request(fields, known)).random = np.random.default_rng(seed)
        assert client.stream("/api/think", fields)[-1]["move"] == move


def test_the_distribution_is_that_of_the_networks_output(network: kibitz.TrainedNetwork, board: Board) -> None:
    """Computed by hand: the policy of the legal moves, to which the player adds nothing."""
    session = Session("gohuman")
    tables = {}
    for rank in RANKS:
        policy = network.predict([board], rank=rank)["policy"][0]
        player = player_of(session, rank=rank)
        [look] = itertools.islice(player.looks(board, board.to_move, Terms(7.5)), 1)
        priors = {move.point: move.prior for move in look().moves}
        legal = np.array(sorted(priors))
        expected = policy[legal] / policy[legal].sum()
        assert [priors[point] for point in legal] == pytest.approx(expected, abs=1e-5)
        tables[rank] = policy
    assert 0.5 * abs(tables["15k"] - tables["9d"]).sum() > 0.1
    assert 0.5 * abs(tables["15k"] - tables["15k"]).sum() == 0
    weak, strong = (network.evaluate(board, rank=rank) for rank in ("15k", "9d"))
    assert weak.moves != strong.moves
    assert weak.moves is not None
    assert sum(move.probability for move in weak.moves) == pytest.approx(1, abs=1e-3)


def test_sampled_moves_are_as_frequent_as_predicted(network: kibitz.TrainedNetwork, board: Board) -> None:
    policy = network.predict([board], rank="5k")["policy"][0]
    player = player_of(Session("gohuman"), rank="5k", seed=1)
    times = 300
    points = [player.choose(board, board.to_move, Terms(7.5)).point for _ in range(times)]
    best = int(policy.argmax())
    share = float(policy[best] / policy[:PASS].sum())
    assert 0.03 < share < 0.97
    assert points.count(best) / times == pytest.approx(share, abs=4 * (share * (1 - share) / times) ** 0.5)


def test_players_of_a_rank_pass_first_as_often_as_predicted_when_all_territory_is_settled() -> None:
    walls = [f"{column}{row}" for row in range(1, 10) for column in "DE"]
    settled = kibitz.make_go_board([*walls, "C2", "G8", "B5", "G3"], size=9)
    player = player_of(Session("gohuman"), rank="5k", seed=1)
    [look] = itertools.islice(player.looks(settled, settled.to_move, Terms(6.5)), 1)
    share = next(move.prior for move in look().moves if move.point == PASS)
    times = 100
    points = [player.choose(settled, settled.to_move, Terms(6.5)).point for _ in range(times)]
    assert 0.1 < share < 0.9
    assert points.count(PASS) / times == pytest.approx(share, abs=4 * (share * (1 - share) / times) ** 0.5)


@pytest.mark.parametrize(("share", "owned", "passes"), [(0.5, 1.0, True), (0.09, 1.0, False), (0.5, 0.5, False)])
def test_players_of_a_rank_do_not_pass_first_too_early(share: float, owned: float, passes: bool) -> None:
    """With a small share, a pass would become likely over a whole game; and unsettled points are still to be won."""

    class Passing(FakeGo):
        def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
            answers = super().evaluate(codes, state)
            others = np.full((len(codes), POINTS), (1 - share) / 80)
            policy = np.concatenate([others, np.full((len(codes), 1), share)], 1).astype(np.float32)
            return answers | {"policy": policy, "black_owns": np.full((len(codes), POINTS), owned, np.float32)}

    board = kibitz.make_go_board(["E5"], size=9)
    points = [player_of(Passing(), rank="5k", seed=seed).choose(board, WHITE, Terms(6.5)).point for seed in range(40)]
    assert (PASS in points) == passes


class Ranked(FakeGo):
    """A network with rank inputs."""

    side_inputs = BEYOND


def test_the_inputs_are_those_of_a_game_between_players_of_the_rank() -> None:
    network = Ranked()
    player_of(network, rank="5k").choose(Board(9), BLACK, Terms(0.5, True, 3))
    rows = {tuple(row) for _, state in network.asked for row in state[:, 4:].tolist()}
    given = (129, handicap_byte(3), rules_byte("japanese"), rank_byte("5k"), rank_byte("5k"), 0)
    assert rows == {given}
    assert tuple(players_inputs(Terms(0.5, True, 3), "5k").values()) == given


def test_arrays_get_the_same_inputs(network: kibitz.TrainedNetwork, board: Board) -> None:
    arrays = kibitz.encode_positions([board])
    [one], [other] = (network.predict(each, rank="5k")["policy"] for each in ([board], arrays))
    assert one == pytest.approx(other, abs=1e-6)
    assert abs(one - network.predict(arrays)["policy"][0]).max() > 0.01
    codes, state = arrays
    with pytest.raises(UsageError, match=naming("rank & columns")):
        network.predict((codes, np.concatenate([state, np.zeros((1, 6), np.uint8)], 1)), rank="5k")


def test_a_temperature_of_the_user_replaces_that_of_the_imitation(
    network: kibitz.TrainedNetwork, board: Board, played: dict[tuple[str, int], str]
) -> None:
    best = to_gtp(int(network.predict([board], rank="5k")["policy"][0].argmax()), 9)
    for seed in SEEDS:
        assert network.choose_move(board, rank="5k", temperature=0, seed=seed).vertex == best
    assert gtp("--rank", "5k", "--temperature", "0", commands=["reg_genmove w"] * 3) == [best] * 3
    assert {played["5k", seed] for seed in SEEDS} != {best}


@pytest.mark.parametrize(
    ("text", "rank"),
    [("5k", "5k"), ("15K", "15k"), (" 9d ", "9d"), ("3 dan", "3d"), ("1 kyu", "1k"), ("5级", "5k"), ("初段", "1d")],
)
def test_ranks_as_people_write_them(text: str, rank: str) -> None:
    assert imitated_rank(text) == rank
    assert imitation(text, network="x", takes_ranks=True) == {
        "method": METHOD,
        "temperature": TEMPERATURE,
        "rank": rank,
    }


def test_the_range_of_ranks() -> None:
    assert ranks()[0] == WEAKEST
    assert ranks()[-1] == STRONGEST
    assert ranks()[13:17] == ["2k", "1k", "1d", "2d"]
    assert len(ranks()) == 24
    assert [imitated_rank(rank) for rank in ranks()] == ranks()


BAD = ("31k", "16k", "10d", "1p", "0k", "strong", "5", "5k*", "5k or so", "-5k", "")


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_rank(network: kibitz.TrainedNetwork, board: Board, page: tuple[Client, Any], text: str) -> None:
    said = naming(f"15k & 9d & {text}")
    with pytest.raises(UsageError, match=said):
        imitated_rank(text)
    for call in (network.choose_move, network.evaluate):
        with pytest.raises(UsageError, match=said):
            call(board, rank=text)
    if text:  # the page sends no rank as an empty text
        line = {"network": "gohuman", "line": {"game": "go"}, "rank": text}
        assert mentions(page[0].error("/api/think", line), f"15k & 9d & {text}")


@pytest.mark.parametrize("text", ["31k", "strong"])
def test_the_engine_refuses_what_is_no_rank(text: str) -> None:
    names = ["--rank", "15k", "9d", text]
    engine = ["gtp", "gohuman"]
    refused([*engine, "--rank", "5k"], [*engine, "--rank", text], code=2, names=names, call=reading("quit\n"))
    lines = f"kibitz-set-rank {text}\nkibitz-rank\nkibitz-set-rank 5k\nkibitz-rank\nkibitz-set-rank none\nkibitz-rank\n"
    said = in_process(engine, lines).out.split("\n\n")
    assert said[0].startswith("? ")
    assert mentions(said[0], f"15k & 9d & {text}")
    assert [line.strip() for line in said[1:-1]] == ["= none", "=", "= 5k", "=", "= none"]


@pytest.mark.parametrize(
    ("without", "cause", "names"),
    [
        (["gocnn"], ["gocnn", "--rank", "5k"], ["--rank", "gocnn", "5k", "gohuman"]),
        (["gohuman", "--visits", "9"], ["gohuman", "--visits", "9", "--rank", "5k"], ["--visits", "9", "--rank 5k"]),
        (["gohuman", "--rank", "5k", "--method", "top-prob"], ["gohuman", "--rank", "5k", "--method", "puct"],
         ["--rank", "puct", "top-prob"]),
    ],
)  # fmt: skip
def test_what_does_not_go_with_a_rank(without: list[str], cause: list[str], names: list[str]) -> None:
    refused(["gtp", *without], ["gtp", *cause], code=2, names=names, call=reading("quit\n"))


def test_a_network_without_rank_inputs(board: Board, page: tuple[Client, Any]) -> None:
    owners = kibitz.load_network("gocnn")
    calls: tuple[Callable[..., Any], ...] = (owners.choose_move, owners.evaluate)
    for call in calls:
        assert call(board)
        with pytest.raises(UsageError, match=naming("rank & gocnn & gohuman")):
            call(board, rank="5k")
    with pytest.raises(UsageError, match=naming("rank & winner")):
        kibitz.load_network("winner").evaluate("8/8/8/8/8/8/8/K1k5 w - - 0 1", rank="5k")
    said = in_process(["gtp", "gocnn"], "gogui-analyze_commands\nkibitz-set-rank 5k\nquit\n").out.split("\n\n")
    assert "rank" not in said[0]
    assert said[1].startswith("? ")
    assert mentions(said[1], "gocnn & rank")
    assert "kibitz-set-rank %s" in in_process(["gtp", "gohuman"], "gogui-analyze_commands\nquit\n").out


def test_what_python_does_not_combine_with_a_rank(network: kibitz.TrainedNetwork, board: Board) -> None:
    assert network.choose_move(board, rank="5k", method="top-prob", seed=1)
    with pytest.raises(UsageError, match=naming("rank & puct & top-prob")):
        network.choose_move(board, rank="5k", method="puct")
    with pytest.raises(UsageError, match=naming("nodes & top-prob")):
        network.choose_move(board, rank="5k", nodes=9)


@pytest.mark.process
def test_a_match_between_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    call = ["match", "gohuman", fake("sound", 6), "--game", "go", "--size", "9", "--games", "2", "--max-plies", "20"]
    call += ["--sgf", "m.sgf", "--name-b", "other"]
    assert run_command([*call, "--option-a", "rank=31k"]) == 2
    assert mentions(capsys.readouterr().err, "rank & 15k & 9d & 31k")
    assert run_command([*call, "--option-a", "rank=5 kyu"]) == 0
    assert mentions(capsys.readouterr().out, "gohuman (like 5k) & rank 5k")
    text = (tmp_path / "m.sgf").read_text(encoding="utf-8")
    assert "PB[gohuman (like 5k)]" in text
    assert "PW[gohuman (like 5k)]" in text
