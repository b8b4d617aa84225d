"""The system against its paper: planes, shapes, solver, target."""

import itertools

import chess
import numpy as np
import pytest
import torch

from kibitz.errors import UsageError
from kibitz.games.chess.replay import decode_board, encode_board
from kibitz.nets.optim import cosine, inverse
from kibitz.store.store import Store
from kibitz.systems import SYSTEMS, load
from kibitz.systems.winner import (
    SYSTEM,
    OutcomeExamples,
    Settings,
    Winner,
    mocha_weights,
    optimiser,
    phase,
    unit_variance,
)


def tensors(*boards: chess.Board) -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.from_numpy(np.stack([encode_board(board) for board in boards]))
    return rows[:, :64], rows[:, 64:]


def test_the_paper_has_no_more_and_no_fewer_weights() -> None:
    """400·(4·4·7 + 1) + 200·(2·2·400 + 1) + 70·(800 + 1) + 71."""
    network = SYSTEM.network(Settings())
    assert sum(p.numel() for p in network.parameters()) == 400 * 113 + 200 * 1601 + 70 * 801 + 71


def test_the_defaults_are_the_posts() -> None:
    s = Settings()
    assert (s.batch, s.iterations, s.momentum, s.weight_decay, s.dropout) == (1024, 150_000, 0.9, 0.0005, 0.2)
    assert (s.activation, s.optimiser, s.schedule, s.attacks, s.separate) == ("identity", "sgd", "inv", "none", "none")
    assert inverse(0.01, 0) == 0.01
    assert inverse(0.01, 10_000) == pytest.approx(0.01 * 2**-0.75)


def test_biases_learn_twice_as_fast_and_do_not_decay() -> None:
    """Mocha: gradient of coefficient·‖w‖² is twice the coefficient; bias_lr 2."""
    weights, biases = optimiser(SYSTEM.network(Settings()), Settings()).param_groups
    assert (weights["weight_decay"], weights["rate"]) == (0.001, 1)
    assert (biases["weight_decay"], biases["rate"]) == (0, 2)
    assert all(p.dim() == 1 for p in biases["params"])
    assert all(p.dim() > 1 for p in weights["params"])


def test_cosine_rises_then_falls_to_nothing() -> None:
    rates = [cosine(1.0, i, 1000) for i in range(1001)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == pytest.approx(1, abs=1e-3)
    assert rates[1000] == pytest.approx(0)
    assert all(a >= b for a, b in itertools.pairwise(rates[10:]))


def test_the_target_is_whites_result(small_store: Store) -> None:
    games = SYSTEM.games(small_store, Settings())
    results = small_store.column("result")
    assert (results[games] != 0).all()
    assert len(games) == (results != 0).sum()
    examples = OutcomeExamples(small_store, games)
    numbers = np.arange(0, len(examples), 37)
    batch = examples.batch(numbers)
    of, plies = examples.locate(numbers)
    np.testing.assert_array_equal(batch["target"], results[of] == 1)
    for i in range(0, len(numbers), 50):  # the position is the game's at that ply, replayed by python-chess
        board = chess.Board()
        first = small_store.offsets[of[i]]
        for code in small_store.moves[first : first + plies[i]]:
            board.push(chess.Move(int(code) & 63, int(code) >> 6 & 63, (int(code) >> 12) or None))
        assert decode_board(batch["codes"][i], batch["state"][i]).board_fen() == board.board_fen()


@pytest.mark.parametrize("separate", ["none", "phase"])
@pytest.mark.parametrize("attacks", ["none", "counts"])
def test_the_movers_view_answers_alike_for_both_colours(separate: str, attacks: str) -> None:
    """With `view mover`, exchanging the colours exchanges the chances exactly."""
    torch.manual_seed(0)
    network = SYSTEM.network(Settings(view="mover", separate=separate, attacks=attacks, layers="8conv4x4.ip4")).eval()
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 1")
    with torch.no_grad():
        here, mirrored = network(*tensors(board))[0], network(*tensors(board.mirror()))[0]
    assert float(here) == pytest.approx(1 - float(mirrored), abs=1e-6)


def test_separate_networks_each_answer_for_their_own() -> None:
    """Six networks of which each gives its own number as the answer: positions must find theirs."""
    network = SYSTEM.network(Settings(separate="side+phase", layers="2conv2x2.ip2")).eval()
    assert len(network.nets) == 6
    for number, net in enumerate(network.nets):
        torch.nn.init.zeros_(net.steps[-1].weight)
        torch.nn.init.constant_(net.steps[-1].bias, float(number))
    opening = chess.Board()
    middle = chess.Board("r2qk2r/8/8/8/8/8/8/RN1QKBNR w - - 0 1")
    end = chess.Board("4k3/8/8/8/8/8/4P3/4K2R b - - 0 1")
    codes, state = tensors(opening, middle, end, opening.mirror())
    assert phase(codes).tolist() == [0, 1, 2, 0]
    assert network.which(codes, state).tolist() == [0, 2, 5, 1]
    assert network.logit(codes, state).tolist() == [0, 2, 5, 1]


def test_mirrored_positions_are_the_same_game(small_store: Store) -> None:
    """About half of the positions without castling rights are mirrored, no other; another epoch mirrors others."""
    games = np.arange(len(small_store))
    numbers = np.arange(0, 20_000, 3)
    plain, mirrored = (
        OutcomeExamples(small_store, games).batch(numbers),
        OutcomeExamples(small_store, games, mirror=True).batch(numbers),
    )
    changed = (plain["codes"] != mirrored["codes"]).any(1)
    free = plain["state"][:, 1] == 0
    assert not changed[~free].any()
    assert 0.4 < changed[free].mean() < 0.6
    np.testing.assert_array_equal(plain["target"], mirrored["target"])
    for i in np.flatnonzero(changed)[:50]:
        board = decode_board(plain["codes"][i], plain["state"][i])
        assert decode_board(mirrored["codes"][i], mirrored["state"][i]) == board.transform(chess.flip_horizontal)
    again = OutcomeExamples(small_store, games, mirror=True).batch(numbers, epoch=1)
    assert (again["codes"] != mirrored["codes"]).any()


@pytest.mark.parametrize("mirror", ["none", "files"])
def test_the_setting_decides_whether_files_are_mirrored(mirror: str, small_store: Store) -> None:
    given = Settings(mirror=mirror, layers="8conv4x4.ip4")
    (stage,) = SYSTEM.stages(SYSTEM.network(given), given)
    games, numbers = np.arange(40), np.arange(0, 1000, 3)
    found = stage.examples(small_store, games).batch(numbers, 0)["codes"]
    plain = OutcomeExamples(small_store, games).batch(numbers)["codes"]
    assert np.array_equal(found, plain) == (mirror == "none")


def test_unit_weights_give_each_layer_unit_variance(small_store: Store) -> None:
    network = SYSTEM.network(Settings())
    SYSTEM.prepare(network, small_store, np.arange(len(small_store)), Settings(initial="unit"), 3)
    batch = OutcomeExamples(small_store, np.arange(len(small_store))).batch(np.arange(0, 20_000, 13))
    with torch.no_grad():
        values = network.planes(torch.from_numpy(batch["codes"]), torch.from_numpy(batch["state"]))
        for step in network.eval().nets[0].steps[:-1]:
            values = step(values)
            if isinstance(step, torch.nn.Conv2d | torch.nn.Linear):
                assert 0.7 < float(values.std()) < 1.4


def test_weights_follow_the_seed(small_store: Store) -> None:
    def weights(seed: int) -> torch.Tensor:
        network = SYSTEM.network(Settings(layers="8conv4x4.ip4"))
        SYSTEM.prepare(network, small_store, np.arange(50), Settings(), seed)
        return torch.cat([p.flatten() for p in network.parameters()])

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))


def test_normalised_layers_have_first_weights(small_store: Store) -> None:
    settings = Settings(layers="8conv3x3p1.8res3x3n.ip8")
    SYSTEM.check(settings)
    network = SYSTEM.network(settings)
    SYSTEM.prepare(network, small_store, np.arange(len(small_store)), settings, 0)
    assert all(value.isfinite().all() for value in network.state_dict().values())


def test_mocha_weights_are_xavier_over_the_fan_in() -> None:
    network = Winner(Settings())
    mocha_weights(network, torch.Generator().manual_seed(0))
    first = network.nets[0].steps[0].weight
    bound = (3 / 112) ** 0.5
    assert bound * 0.99 < float(first.detach().abs().max()) <= bound
    unit_variance(network.nets[0], 5 * torch.randn(64, 7, 8, 8))
    assert float(first.detach().abs().max()) < bound / 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"activation": "tanh"}, {"attacks": "all"}, {"separate": "colour"}, {"optimiser": "rmsprop"}, {"dropout": 1.0},
        {"layers": "400conv9x9"}, {"batch": 0}, {"view": "black"},
    ],
)  # fmt: skip
def test_settings_that_make_no_network_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        SYSTEM.check(Settings(**wrong))  # type: ignore[arg-type]


def test_every_system_is_what_its_entry_says() -> None:
    for name, entry in SYSTEMS.items():
        system = load(name)
        assert (system.name, system.game, system.declaration) == (name, entry.game, entry)
    with pytest.raises(UsageError, match="unknown system"):
        load("loser")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", -1.0),
        ("learning_rate", float("nan")),
        ("momentum", -0.5),
        ("momentum", 1.0),
        ("weight_decay", -1.0),
    ],
)
def test_a_solver_that_cannot_be(name: str, value: float) -> None:
    with pytest.raises(UsageError, match="--" + name.replace("_", "-")):
        SYSTEM.check(Settings(**{name: value}))  # type: ignore[arg-type]


def test_networks_by_side_see_no_plane_of_who_moves() -> None:
    """The post proposes to remove the channel and to train a network for each side."""
    one = SYSTEM.network(Settings(layers="2conv2x2.ip2"))
    assert (one.planes.channels, len(one.nets)) == (7, 1)
    two = SYSTEM.network(Settings(layers="2conv2x2.ip2", separate="side")).eval()
    assert (two.planes.channels, len(two.nets)) == (6, 2)
    board = np.stack([encode_board(chess.Board())] * 2)
    board[1, 64] = 1  # the same position, Black to move
    codes, state = torch.from_numpy(board[:, :64].copy()), torch.from_numpy(board[:, 64:].copy())
    planes = two.planes(codes, state)
    assert torch.equal(planes[0], planes[1])
    assert two.which(codes, state).tolist() == [0, 1]
