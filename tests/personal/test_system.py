"""The network of one person: adapters that begin as no change, and learn while all else stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from kibitz.errors import UsageError
from kibitz.personal.chess.answers import position_keys
from kibitz.personal.chess.system import ADAPTERS, ALL, SYSTEM, OwnMoves, PersonalHuman, Settings, loss
from kibitz.runs import Run
from kibitz.store.store import Store
from support.causes import naming

SMALL = Settings(blocks=2, filters=8, rank=4, players="A\nB", rating=90)


def test_adapters_begin_as_no_change() -> None:
    network = PersonalHuman(SMALL)
    SYSTEM.prepare(network, None, np.zeros(0, np.int64), SMALL, 3)
    assert SMALL.spellings == ("A", "B")
    assert network.side_inputs["rating"] == 90
    codes = torch.randint(0, 13, (5, 64), dtype=torch.uint8)
    state = torch.zeros(5, 12, dtype=torch.uint8)
    with torch.no_grad():
        assert torch.equal(network.trunk(codes, state)[0], network.trunk(codes, state, adapted=False)[0])
    learning = {name for name, p in network.named_parameters() if p.requires_grad}
    assert all(name.startswith("adapters.") for name in learning)
    assert sum(p.numel() for p in network.parameters() if p.requires_grad) == 2 * (8 * 4 + 4 + 4 * 8 + 8)
    whole = PersonalHuman(replace(SMALL, learns=ALL))
    assert all(p.requires_grad for p in whole.parameters())
    assert not any(name.startswith("adapters.") for name in whole.state_dict())


def test_settings_without_a_player_are_refused() -> None:
    SYSTEM.check(SMALL)
    with pytest.raises(UsageError, match=naming(f"{SYSTEM.name} & kibitz personal & --player")):
        SYSTEM.check(replace(SMALL, players=""))


@pytest.mark.parametrize("name", ["rating", "opponent_rating"])
def test_ratings_are_bytes(name: str) -> None:
    for value in (0, 255):
        SYSTEM.check(replace(SMALL, **{name: value}))
    for value in (-1, 256):
        with pytest.raises(UsageError, match=naming(f"{name.replace('_', '-')} & {value}")):
            SYSTEM.check(replace(SMALL, **{name: value}))


def test_the_weights_of_the_base_network_are_adopted() -> None:
    network = PersonalHuman(SMALL)
    SYSTEM.prepare(network, None, np.zeros(0, np.int64), SMALL, 3)
    begun = network.state_dict()
    base = {name: torch.full_like(value, 2) for name, value in begun.items() if not name.startswith("adapters.")}
    adopted = SYSTEM.adopt(network, "human", base)
    assert adopted.keys() == begun.keys() > base.keys()
    for name, value in adopted.items():
        assert torch.equal(value, base.get(name, begun[name])), name
    with pytest.raises(UsageError, match=naming("architectures & human & blocks")):
        SYSTEM.adopt(network, "human", dict(list(base.items())[1:]))


def test_one_stage_trains_the_adapters() -> None:
    network = PersonalHuman(SMALL)
    (stage,) = SYSTEM.stages(network, SMALL)
    assert (stage.batch, stage.epochs, stage.iterations) == (SMALL.batch, SMALL.epochs, None)
    assert [stage.learning_rate(each, 10) for each in (0, 5)] == [SMALL.learning_rate, SMALL.learning_rate / 2]
    trained = [each for group in stage.optimiser().param_groups for each in group["params"]]
    wanted = [each for each in network.parameters() if each.requires_grad]
    assert len(trained) == len(wanted)
    assert all(one is other for one, other in zip(trained, wanted, strict=True))


def test_a_position_that_occurs_n_times_weighs_as_much_as_one(personal_run: Path) -> None:
    run, store = Run(personal_run), Store(personal_run / "games")
    network = PersonalHuman(run.settings)
    examples = OwnMoves(store, np.arange(len(store)), network, run.settings)
    batch = examples.batch(np.arange(len(examples.positions)), 0)
    keys = position_keys(batch["codes"], batch["state"])
    _, of, counts = np.unique(keys, return_inverse=True, return_counts=True)
    assert counts.max() > 1
    assert np.allclose(np.bincount(of, batch["weight"]), 1)
    assert "expected" in batch
    whole = replace(run.settings, learns=ALL)
    others = OwnMoves(store, np.arange(len(store)), PersonalHuman(whole), whole).batch(np.arange(9), 0)
    assert others.keys() == batch.keys() - {"expected"}, "the results of the games are learned instead"
    arrays = {name: torch.from_numpy(values[:9]) for name, values in batch.items()}
    weightless, _ = loss(network, arrays | {"weight": torch.zeros(9)})
    weighted, metrics = loss(network, arrays | {"weight": torch.ones(9)})
    assert (weighted - weightless).item() == pytest.approx(metrics["loss"].mean().item(), abs=1e-4)
    assert metrics["loss"].mean() > 2, "a network that has learned nothing"


def test_what_was_learned_stands_in_the_adapters_alone(personal_run: Path, human_run: Path) -> None:
    run = Run(personal_run)
    assert run.settings.learns == ADAPTERS, "random moves with an own opening can be learned"
    mine, theirs = load_file(personal_run / "best.safetensors"), load_file(human_run / "best.safetensors")
    for name, value in theirs.items():
        assert torch.equal(mine[name], value), name
    assert {name for name in mine if name not in theirs} == {
        f"adapters.0.{layer}.{kind}" for layer in ("down", "up") for kind in ("weight", "bias")
    }
    assert mine["adapters.0.up.weight"].abs().max() > 0
