"""The network for players of all ratings: what it begins with, what it is told, what it learns from, how it goes on."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from kibitz.errors import UsageError
from kibitz.games.chess.encodings import MoverView
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import decode_board, encode_board
from kibitz.games.chess.sides import BEYOND
from kibitz.play.chess.policy import move_probabilities
from kibitz.runs import Run, packaged
from kibitz.store.positions import Positions
from kibitz.store.store import Store
from kibitz.systems import chessnet, human
from kibitz.systems.human import SYSTEM, Human, Material, PlayedMoves, Settings, learning_rate
from kibitz.training.dataloader import make_batch
from kibitz.training.export import export_onnx
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.causes import naming
from support.forks import Forks

SMALL: dict[str, Any] = {"blocks": 2, "filters": 16, "batch": 32, "warmup": 4}


def network(seed: int = 0, **settings: Any) -> Human:
    """A small network with weights drawn at random, those that begin at 0 too."""
    net = SYSTEM.network(Settings(**{**SMALL, **settings}))
    SYSTEM.prepare(net, None, None, Settings(), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in net.parameters():
            if not p.any():
                p.normal_(0, 0.1, generator=generator)
    return net.eval()  # type: ignore[no-any-return]


def some(store: Store, count: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions with side inputs drawn at random."""
    batch = Positions(store, np.arange(20), last=-2).batch(np.arange(0, 40 * count, 40) % 800)
    rng = np.random.default_rng(1)
    more = rng.integers(0, 65, (len(batch), len(BEYOND)))
    more[:, :2] = rng.integers(0, 180, (len(batch), 2))
    more[:, 2], more[:, 3] = more[:, 2] % 6, more[:, 3] % 5
    return torch.from_numpy(batch.codes), torch.from_numpy(np.concatenate([batch.state, more.astype(np.uint8)], 1))


def answers(net: torch.nn.Module, codes: torch.Tensor, state: torch.Tensor) -> dict[str, torch.Tensor]:
    with torch.inference_mode():
        return dict(zip(net.outputs, net(codes, state), strict=True))  # type: ignore[arg-type]


# Weights of another network


@pytest.mark.skipif("chessnet" not in packaged(), reason="the packaged chessnet is not here")
def test_it_begins_as_chessnet_whatever_it_is_told(small_store: Store) -> None:
    other = Run("chessnet").load_network()
    net = SYSTEM.network(Settings())
    SYSTEM.prepare(net, None, None, Settings(), 3)
    net.load_state_dict(SYSTEM.adopt(net, "chessnet", other.state_dict()))
    codes, state = some(small_store)
    ours, its = answers(net.eval(), codes, state), answers(other, codes, state[:, :4])
    for name in ("origin", "target"):
        torch.testing.assert_close(ours[name], its[name], rtol=1e-4, atol=1e-6)


def test_it_begins_as_a_normalised_chessnet(small_store: Store) -> None:
    layers = "64conv3x3p1.2*64res3x3n"
    given = chessnet.Settings(**{**chessnet.RECIPES["default"].settings, "layers": layers})
    other = chessnet.SYSTEM.network(given)
    chessnet.SYSTEM.prepare(other, small_store, np.arange(len(small_store)), given, 1)
    codes, state = some(small_store)
    other(codes, state[:, :4])
    with torch.no_grad():
        other.shared.body[2].norm.bias += 0.3  # type: ignore[index, union-attr, operator]
    net = SYSTEM.network(Settings())
    SYSTEM.prepare(net, None, None, Settings(), 3)
    net.load_state_dict(SYSTEM.adopt(net, "chessnet", other.state_dict()))
    ours, its = answers(net.eval(), codes, state), answers(other.eval(), codes, state[:, :4])
    for name in ("origin", "target"):
        torch.testing.assert_close(ours[name], its[name], rtol=1e-4, atol=1e-6)
    for others in ({"planes": "6"}, {"attacks": "none"}, {"layers": "64conv3x3p1.64conv3x3p1.64res3x3"}):
        unlike = replace(given, **others)
        with pytest.raises(UsageError, match="planes or layers"):
            SYSTEM.adopt(net, "chessnet", chessnet.SYSTEM.network(unlike).state_dict())
    plain = SYSTEM.network(Settings(norm=False))
    with pytest.raises(UsageError, match="Add --norm"):
        SYSTEM.adopt(plain, "chessnet", other.state_dict())


def test_a_network_that_grows_says_what_it_said(small_store: Store) -> None:
    small = network(blocks=1)
    large = SYSTEM.network(Settings(**{**SMALL, "blocks": 3}))
    SYSTEM.prepare(large, None, None, Settings(), 5)
    large.load_state_dict(SYSTEM.adopt(large, "human", small.state_dict()))
    codes, state = some(small_store)
    for mine, its in zip(
        answers(large.eval(), codes, state).values(), answers(small, codes, state).values(), strict=True
    ):
        torch.testing.assert_close(mine, its, rtol=1e-4, atol=1e-6)


def test_material_is_counted_for_the_mover_and_the_other() -> None:
    board = chess.Board("r3k3/pp6/8/8/8/8/P7/Q3K1N1 b - - 0 1")
    row = torch.from_numpy(encode_board(board)[None])
    view = MoverView()(row[:, :64], row[:, 64:])
    counted = (Material()(view) * 3)[0].tolist()
    assert counted == pytest.approx([2, 0, 0, 5, 0, 1, 3, 0, 0, 9]), "Black moves: two pawns and a rook are his"


def test_an_earlier_versions_outcome_begins_anew_and_its_moves_stay(small_store: Store) -> None:
    older, net = dict(network(seed=1).state_dict()), network()
    older["weigh.weight"] = older["weigh.weight"][:, : -Material.channels]
    before = {name: value.clone() for name, value in net.state_dict().items()}
    taken = SYSTEM.adopt(net, "human", older)
    assert torch.equal(taken["weigh.weight"], before["weigh.weight"])
    net.load_state_dict(taken)
    codes, state = some(small_store)
    ours, its = answers(net, codes, state), answers(network(seed=1), codes, state)
    for name in ("origin", "target", "promotion"):
        torch.testing.assert_close(ours[name], its[name])


def test_it_begins_knowing_nothing_and_with_units_that_see() -> None:
    """Biases are 0 but that of a promotion to a queen, norms and the conditions of blocks change nothing."""
    net = SYSTEM.network(Settings(**SMALL))
    SYSTEM.prepare(net, None, None, Settings(), 3)
    for name, p in net.named_parameters():
        if name.endswith("norm.weight"):
            assert (p == 1).all(), name
        elif name == "promotion.bias":
            assert p.tolist() == [0, 0, 0, 4]
        elif p.dim() < 2 or name == "pairs" or name.endswith("excite.weight"):
            assert (p == 0).all(), name
        else:
            assert (p != 0).any(), name
    wide, small = net.stem.weight, net.blocks[0].second.weight
    assert float(wide.detach().std()) == pytest.approx((2 / wide[0].numel()) ** 0.5, rel=0.1)
    assert float(small.detach().std()) == pytest.approx(0.1 * (2 / small[0].numel()) ** 0.5, rel=0.1)


def test_outcomes_alone_can_learn(small_store: Store, tmp_path: Path) -> None:
    plan = TrainConfig(10, 20, 20, validate_positions=500, precision="32-true")
    train("human", Settings(**{**SMALL, "iterations": 5}), str(small_store.path), run=tmp_path / "one", plan=plan)
    train(
        "human", Settings(**{**SMALL, "only": "outcome", "iterations": 20}), str(small_store.path),
        run=tmp_path / "two", plan=plan, start_from=str(tmp_path / "one"),
    )  # fmt: skip
    one, two = (Run(tmp_path / name).load_network().state_dict() for name in ("one", "two"))
    for name, value in one.items():
        assert torch.equal(value, two[name]) != name.startswith(human.HEAD), name


def test_the_outcome_sees_the_board(small_store: Store) -> None:
    """No unit of its first layer is silent on every position, as rectified ones were once."""
    net = SYSTEM.network(Settings(**SMALL))
    SYSTEM.prepare(net, None, None, Settings(), 0)
    codes, state = some(small_store, 200)
    grid, _ = net.trunk(codes, state)
    narrow = torch.nn.functional.leaky_relu(net.narrow(grid), 0.1)
    assert (narrow.flatten(2).transpose(0, 1).flatten(1).std(1) > 0).all()


def test_what_does_not_fit_is_told() -> None:
    large, small = network(blocks=3), network(blocks=1)
    with pytest.raises(UsageError, match="--blocks"):
        SYSTEM.adopt(small, "human", large.state_dict())
    with pytest.raises(UsageError, match="different"):
        SYSTEM.adopt(network(filters=24), "human", small.state_dict())
    with pytest.raises(UsageError, match="--share body"):
        SYSTEM.adopt(small, "chessnet", {"nets.piece.last.weight": torch.zeros(1)})


# Answers


def test_black_is_seen_as_white_is(small_store: Store) -> None:
    """A position with colours exchanged gets the same answers on mirrored squares, last moves mirrored too."""
    net = network()
    board = chess.Board()
    for san in ["e4", "c5", "Nf3", "d6", "d4", "cxd4", "Nxd4", "Nf6", "Nc3", "a6", "Bg5", "e6", "f4"]:
        board.push_san(san)
    other = board.mirror()
    rows = np.stack([encode_board(board), encode_board(other)])
    last, before = board.move_stack[-1], board.move_stack[-2]
    squares = [last.from_square, last.to_square, before.from_square, before.to_square]
    more = np.array([[100, 110, 2, 3, *(s + 1 for s in squares)], [100, 110, 2, 3, *((s ^ 56) + 1 for s in squares)]])
    state = np.concatenate([rows[:, 64:], more.astype(np.uint8)], 1)
    found = answers(net, torch.from_numpy(rows[:, :64].copy()), torch.from_numpy(state))
    turned = torch.arange(64) ^ 56
    torch.testing.assert_close(found["origin"][0], found["origin"][1][turned])
    torch.testing.assert_close(found["target"][0], found["target"][1][turned][:, turned])
    for name in ("promotion", "outcome", "value"):
        torch.testing.assert_close(found[name][0], found[name][1])


@pytest.mark.parametrize("column", range(len(BEYOND)))
def test_every_side_input_matters(column: int, small_store: Store) -> None:
    net = network()
    codes, state = some(small_store, 4)
    other = state.clone()
    other[:, 4 + column] = (other[:, 4 + column] + 1) % 5
    before, after = answers(net, codes, state), answers(net, codes, other)
    assert any(not torch.allclose(before[name], after[name], atol=1e-6) for name in before)


def test_promotions_share_what_their_squares_have() -> None:
    net = network()
    board = chess.Board("3n1k2/4P3/8/8/8/8/8/4K3 w - - 0 1")
    row = encode_board(board)[None]
    state = np.concatenate([row[:, 64:], np.zeros((1, len(BEYOND)), np.uint8)], 1)
    found = {
        name: values.numpy()
        for name, values in answers(net, torch.from_numpy(row[:, :64].copy()), torch.from_numpy(state)).items()
    }
    moves, offsets = legal_moves(row[:, :64].copy(), row[:, 64:].copy())
    chances = dict(
        zip((to_move(int(move)) for move in moves), move_probabilities(found, row[:, :64], moves, offsets), strict=True)
    )
    capture = [move for move in chances if move.to_square == chess.D8]
    assert {move.promotion for move in capture} == {2, 3, 4, 5}
    whole = found["origin"][0, chess.E7] * found["target"][0, chess.E7, chess.D8]
    assert sum(chances[move] for move in capture) == pytest.approx(whole, rel=1e-5)
    assert max(capture, key=lambda move: chances[move]).promotion == chess.QUEEN  # as it begins


def test_outcomes_are_probabilities_and_the_value_follows(small_store: Store) -> None:
    found = answers(network(), *some(small_store))
    torch.testing.assert_close(found["outcome"].sum(1), torch.ones(len(found["outcome"])))
    torch.testing.assert_close(found["value"], found["outcome"][:, 0] - found["outcome"][:, 2])


def test_the_exported_network_says_the_same(small_store: Store, tmp_path: Path) -> None:
    import onnxruntime

    net = network()
    codes, state = some(small_store)
    export_onnx(net, codes[:2].numpy(), state[:2, :4].numpy(), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    found = session.run(None, {"codes": codes.numpy(), "state": state.numpy()})
    for mine, its in zip(found, answers(net, codes, state).values(), strict=True):
        np.testing.assert_allclose(mine, its.numpy(), rtol=1e-3, atol=1e-5)


# Loss


def test_the_loss_is_that_of_the_answers(small_store: Store) -> None:
    """−log of the probabilities that the network answers with, on the board's own squares."""
    net = network()
    examples = PlayedMoves(small_store, np.arange(60), Settings(balance=0, withhold=0))
    batch = make_batch(examples, 200, 0, 0)
    _, measures = human.loss(net, batch, 0.5)
    found = answers(net, batch["codes"], batch["state"])
    rows, turned = torch.arange(200), batch["state"][:, 0].long() * 56
    origin, target = batch["origin"] ^ turned, batch["target"] ^ turned
    chance = found["origin"][rows, origin] * found["target"][rows, origin, target]
    piece = found["promotion"][rows, target & 7, (batch["promotion"] - 2).clamp(min=0)]
    chance = torch.where(batch["promotion"] > 0, chance * piece, chance)
    torch.testing.assert_close(measures["move_loss"], -chance.log(), rtol=1e-3, atol=1e-4)
    outcome = -found["outcome"][rows, batch["outcome"]].log()
    torch.testing.assert_close(measures["outcome_loss"], outcome, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(measures["loss"], measures["move_loss"] + 0.5 * measures["outcome_loss"])
    first = found["origin"].argmax(1) == origin
    assert torch.equal(measures["origin_accuracy"], first.float())


# Examples


def test_a_batch_tells_what_a_board_knows(small_store: Store) -> None:
    games = np.arange(40)
    examples = PlayedMoves(small_store, games, Settings(balance=0, withhold=0))
    assert len(examples) == int(small_store.plies[games].sum())
    batch = examples.batch(np.arange(len(examples)), 0)
    white, black, result = (small_store.column(name) for name in ("white_rating", "black_rating", "result"))
    i = 0
    promotions = 0
    for game in games:
        codes, state = small_store.replay(np.array([game]), np.array([0]))
        board = decode_board(codes[0], state[0])
        for ply in range(int(small_store.plies[game])):
            move = to_move(int(small_store.moves[small_store.offsets[game] + ply]))
            turned = 0 if board.turn else 56
            assert batch["origin"][i] == move.from_square ^ turned
            assert batch["target"][i] == move.to_square ^ turned
            assert batch["promotion"][i] == (move.promotion or 0)
            promotions += bool(move.promotion)
            assert batch["outcome"][i] == 1 - int(result[game]) * (1 if board.turn else -1)
            own, other = (white, black) if board.turn else (black, white)
            told = batch["state"][i, 4:].tolist()
            assert told[:2] == [own[game] // 16, other[game] // 16]
            for back, part in ((1, told[4:6]), (2, told[6:8])):
                done = board.move_stack[-back] if len(board.move_stack) >= back else None
                assert part == ([done.from_square + 1, done.to_square + 1] if done else [0, 0])
            board.push(move)
            i += 1
    assert promotions


def test_a_part_is_not_told(small_store: Store) -> None:
    examples = PlayedMoves(small_store, np.arange(200), Settings(balance=0, withhold=0.2))
    whole = PlayedMoves(small_store, np.arange(200), Settings(balance=0, withhold=0))
    for each in (examples, whole):  # these games tell neither
        each.speeds, each.scales = np.full(200, 3, np.uint8), np.full(200, 2, np.uint8)
    numbers = np.arange(len(examples))
    told, known = examples.batch(numbers, 0)["state"], whole.batch(numbers, 0)["state"]
    changed = told != known
    assert not (told[changed] != 0).any(), "what is not told is 0"
    opponent, before = 1 - 0.8 * (1 - 0.3 * 0.2), 1 - 0.8 * (1 - 0.5 * 0.2)  # with the other, or alone
    for at, share in enumerate((0.2, opponent, 0.2, 0.2, 0.2, 0.2, before, before), 4):
        assert changed[known[:, at] > 0, at].mean() == pytest.approx(share, abs=0.02)
    assert changed[(known[:, [4, 8]] > 0).all(1)][:, [4, 8]].all(1).mean() == pytest.approx(0.04, abs=0.01)
    again, later = examples.batch(numbers, 0)["state"], examples.batch(numbers, 1)["state"]
    assert np.array_equal(told, again)
    assert not np.array_equal(told, later), "each epoch leaves out other ones"


def test_rare_ratings_are_drawn_more_often(small_store: Store) -> None:
    every = np.flatnonzero(small_store.plies > 0)
    plain = PlayedMoves(small_store, every, Settings(balance=0))
    even = PlayedMoves(small_store, every, Settings(balance=1))
    rated = (plain.ratings[:, every] > 0).all(0)
    band = np.where(rated, plain.ratings[:, every].sum(0) // 400, -1)
    before = Counter(np.repeat(band, small_store.plies[every]).tolist())
    after = Counter(np.repeat(band, even._times(every) * small_store.plies[every]).tolist())
    assert len(before) > 3
    rare, common = min(before, key=before.__getitem__), max(before, key=before.__getitem__)
    assert after[rare] / after[common] > 1.5 * before[rare] / before[common]
    assert len(even) == pytest.approx(len(plain), rel=0.5)
    assert np.array_equal(even._times(every), PlayedMoves(small_store, every, Settings(balance=1))._times(every))


# Training


def test_the_rate_rises_stays_and_falls() -> None:
    given = Settings(learning_rate=0.01, warmup=10, cooldown=0.4)
    rates = [learning_rate(given, i, 100) for i in range(100)]
    assert rates[0] == pytest.approx(0.001)
    assert rates[10:60] == [0.01] * 50
    assert all(a > b for a, b in pairwise(rates[60:]))
    assert rates[-1] < 0.0001
    assert [learning_rate(replace(given, cooldown=0.0), i, 100) for i in (10, 99)] == [0.01, 0.01]


def test_a_mix_gives_its_share_of_the_samples(small_store: Store) -> None:
    """Of the ratings, since the bundled games have no scale."""
    every = np.arange(len(small_store))
    plain = PlayedMoves(small_store, every, Settings(balance=0.5))
    mixed = PlayedMoves(small_store, every, Settings(balance=0.5, mix="any/any/1000-1800=0.6"))
    mean = plain.ratings.sum(0) / 2
    inside = (plain.ratings > 0).all(0) & (mean >= 1000) & (mean <= 1800)
    samples = mixed._times(every) * small_store.plies
    assert abs(samples[inside].sum() / samples.sum() - 0.6) < 0.03
    assert len(mixed) == pytest.approx(len(plain), rel=0.05)
    again = PlayedMoves(small_store, every, Settings(balance=0.5, mix="any/any/1000-1800=0.6"))
    ids = np.arange(0, len(mixed), 7)
    assert np.array_equal(mixed.batch(ids, 3)["state"], again.batch(ids, 3)["state"]), "a function of ids and epoch"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"blocks": 0}, "--blocks .*0"), ({"batch": 0}, "--batch .*0"), ({"iterations": 0}, "--iterations .*0"),
        ({"balance": 1.5}, "--balance .*1.5"), ({"withhold": -1.0}, "--withhold .*-1"),
        ({"warmup": -1}, "--warmup .*-1"),
        ({"learning_rate": float("nan")}, "--learning-rate .*nan"), ({"outcome_weight": -1.0}, "--outcome-weight .*-1"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        SYSTEM.check(Settings(**settings))


LOADED = """
import os, signal, sys
from pathlib import Path
from kibitz.systems.human import Settings
from kibitz.training.trainer import TrainConfig
from kibitz.training.fit import train
"""
KILLED = """
store, run, stop_at = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
def on_progress(progress):
    if progress.iteration == stop_at and not progress.note:
        os.kill(os.getpid(), signal.SIGKILL)
plan = TrainConfig(summary_every=5, validate_every=10, checkpoint_every=8, validate_positions=100, precision="32-true")
settings = Settings(blocks=2, filters=16, batch=32, warmup=4, iterations=30)
train("human", settings, store, run=run, plan=plan, on_progress=on_progress)
"""


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_weights(small_store: Store, tmp_path: Path) -> None:
    with Forks(LOADED) as forks:
        for run, stop_at, code in (("whole", -1, 0), ("killed", 21, -signal.SIGKILL), ("killed", -1, 0)):
            ended = forks.run(KILLED, str(small_store.path), str(tmp_path / run), str(stop_at), folder=tmp_path)
            assert ended.code == code, ended.err
    one, other = (load_file(tmp_path / run / "best.safetensors") for run in ("whole", "killed"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_run_starts_from_a_smaller_one(small_store: Store, tmp_path: Path) -> None:
    plan = TrainConfig(10, 10, 10, validate_positions=100, precision="32-true")
    train("human", Settings(**{**SMALL, "iterations": 5}), str(small_store.path), run=tmp_path / "one", plan=plan)
    done = train(
        "human", Settings(**{**SMALL, "blocks": 3, "iterations": 5}), str(small_store.path), run=tmp_path / "two",
        plan=plan, start_from=str(tmp_path / "one"),
    )  # fmt: skip
    assert done.outcome.finished
    with pytest.raises(UsageError, match=naming("human & chessnet & run")):
        train(
            "chessnet",
            chessnet.Settings(),
            str(small_store.path),
            run=tmp_path / "no",
            start_from=str(tmp_path / "one"),
        )


def test_it_learns(small_store: Store, tmp_path: Path) -> None:
    plan = TrainConfig(10, 60, 60, validate_positions=2000, precision="32-true")
    done = train(
        "human",
        Settings(**{**SMALL, "batch": 128, "iterations": 120}),
        str(small_store.path),
        run=tmp_path / "r",
        plan=plan,
    )
    rows = [row for row in Run(done.path).metrics() if row["kind"] == "validation"]
    assert rows[-1]["move_loss"] < rows[0]["move_loss"] < 2 * np.log(64)
