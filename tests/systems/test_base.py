"""What all systems share: how long a stage is, what it watches, and the bounds of settings in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from kibitz.errors import KibitzError, UsageError
from kibitz.systems import SYSTEMS, find
from kibitz.systems.base import Stage, System, batches_in_epoch, check_bounds, fraction, setting, settings_from
from kibitz.systems.declaration import COMPARISON, FULL_COMPARISON, METHODS, MOVES, PUCT, TOP_MOVE, TOP_PROB, VALUE
from support.causes import naming


def stage(**options: Any) -> Stage:
    given = {
        "name": "s", "module": nn.Linear(1, 1), "examples": lambda store, games: None, "loss": lambda batch: None,
        "optimiser": lambda: None, "learning_rate": lambda i, n: 0.1, "batch": 10, "iterations": None,
    }  # fmt: skip
    return Stage(**{**given, **options})


def test_an_epoch_has_full_batches_and_at_least_one() -> None:
    assert [batches_in_epoch(examples, 10) for examples in (3, 10, 19, 20, 205)] == [1, 1, 1, 2, 20]


@pytest.mark.parametrize(
    ("options", "iterations"),
    [
        ({"iterations": 70}, 70),
        ({"epochs": 2.5}, 50),
        ({"epochs": 0.01}, 1),
        ({"iterations": 70, "epochs": 2.5}, 70),
        ({"iterations": 70, "most_epochs": 1.5}, 30),
        ({"iterations": 7, "most_epochs": 1.5}, 7),
        ({"epochs": 4.0, "most_epochs": 0.001}, 1),
    ],
)
def test_how_long_a_stage_is(options: dict[str, Any], iterations: int) -> None:
    assert stage(**options).iterations_over(205) == iterations


def test_what_is_watched_is_better_when_lower() -> None:
    measured = {"loss": 0.4, "accuracy": 0.7}
    assert stage().monitor_value(measured) == 0.4
    assert stage(monitor="accuracy").monitor_value(measured) == pytest.approx(0.3)
    assert not stage().keep_last


def test_weights_are_adopted_if_their_names_and_shapes_are_those_of_the_network() -> None:
    network, weights = nn.Linear(3, 2), {"weight": torch.ones(2, 3), "bias": torch.zeros(2)}
    assert System().adopt(network, "any", weights) is weights
    unlike: list[dict[str, torch.Tensor]] = [
        {"weight": weights["weight"]}, {**weights, "more": torch.ones(1)}, {**weights, "bias": torch.zeros(3)},
        {**weights, "weight": torch.ones(3, 2)},
    ]  # fmt: skip
    for other in unlike:
        with pytest.raises(UsageError, match="architectures"):
            System().adopt(network, "any", other)


@dataclass(frozen=True)
class Bounded:
    share: float = fraction(0.1, "a share")
    whole: float = setting(0.1, "a share and 1", at_least=0, at_most=1)
    up: int = setting(3, "from 0", at_least=0)
    some: int = setting(3, "from 2", at_least=2)
    rate: float = setting(0.1, "over 0", over=0)
    gamma: float = setting(0.1, "over 0, 1 at most", over=0, at_most=1)
    ply: int = setting(3, "2 to under 5", at_least=2, below=5)
    size: int = setting(3, "2 to 5", at_least=2, at_most=5)
    most: int = setting(3, "5 at most", at_most=5)
    under: float = setting(3.0, "under 5", below=5)
    free: float = setting(0.1, "anything")
    kind: str = setting("a", "one of two", choices=("a", "b"))


@pytest.mark.parametrize(
    ("name", "good", "bad", "said"),
    [
        ("share", (0, 0.99), (1, -0.01), "less than 1"),
        ("whole", (0, 1), (1.01, -0.01), "from 0 to 1"),
        ("up", (0, 10**9), (-1,), "must be at least 0"),
        ("some", (2, 10**9), (1,), "must be at least 2"),
        ("rate", (1e-9, 1e9), (0, -1, float("inf"), float("nan")), "must be greater than 0"),
        ("gamma", (1e-9, 1), (0, 1.1), "at most 1"),
        ("ply", (2, 4), (1, 5), "at least 2 .*less than 5"),
        ("size", (2, 5), (1, 6), "from 2 to 5"),
        ("most", (-9, 5), (6,), "must be at most 5"),
        ("under", (-9, 4.9), (5,), "must be less than 5"),
        ("free", (-1e9, float("inf")), (), ""),
        ("kind", ("a", "b"), ("c",), "a or b"),
    ],
)
def test_bounds_are_kept_and_told(name: str, good: tuple[Any, ...], bad: tuple[Any, ...], said: str) -> None:
    for value in good:
        check_bounds(Bounded(**{name: value}))
    for value in bad:
        with pytest.raises(UsageError, match=f"^--{name} .*{said}"):
            check_bounds(Bounded(**{name: value}))


@dataclass(frozen=True)
class Later(Bounded):
    up: int = 5
    """Of another default, with the same bounds."""


def test_a_default_of_a_subclass_keeps_the_bounds() -> None:
    check_bounds(Later())
    with pytest.raises(UsageError, match=r"--up .*got -1"):
        check_bounds(Later(up=-1))


def test_settings_of_a_run() -> None:
    assert settings_from(Bounded, {"up": 7, "kind": "b"}) == Bounded(up=7, kind="b")
    with pytest.raises(KibitzError, match=naming("setting")):
        settings_from(Bounded, {"colour": 1})


def test_what_a_run_answers_follows_from_its_settings() -> None:
    chessnet = find("chessnet")
    assert chessnet.answers_of({}) == (MOVES, VALUE)
    assert chessnet.answers_of({"networks": "piece, king"}) == (MOVES,)
    assert chessnet.answers_of({"networks": "value"}) == (VALUE,)
    assert chessnet.answers_of({"networks": "value,piece"}) == (MOVES, VALUE)
    assert PUCT in chessnet.methods_of({})
    assert set(chessnet.methods_of({"networks": "piece"})) == {TOP_MOVE, TOP_PROB}
    assert find("deepchess").answers_of({"networks": "both"}) == (COMPARISON, FULL_COMPARISON)
    assert find("deepchess").answers_of({}) == (COMPARISON,)
    assert find("winner").answers_of({"networks": "piece"}) == find("winner").answers


def test_what_boards_a_run_knows_follows_from_its_settings() -> None:
    gocnn = find("gocnn")
    asked = ({}, {"sizes": "9"}, {"sizes": "13,9"}, {"sizes": "9,13,19"}, {"sizes": "what"})
    assert [gocnn.sizes_of(settings) for settings in asked] == [
        (9, 13, 19), (9,), (9, 13), (9, 13, 19), (9, 13, 19),
    ]  # fmt: skip
    for name in ("gohuman", "gopersonal"):
        assert find(name).sizes_of({}) == (9, 13, 19)
    assert find("chessnet").sizes_of({}) == ()


def test_systems_with_a_command_of_their_own_stand_in_no_list() -> None:
    assert len(SYSTEMS) == len(list(SYSTEMS))
    assert "gopersonal" not in list(SYSTEMS)
    assert find("gopersonal").command == "personal"
    assert all(not declaration.command for declaration in SYSTEMS.values())
    with pytest.raises(UsageError, match=naming("nobody & system")):
        find("nobody")


def test_methods_have_one_name_each() -> None:
    assert all(name == method.name for name, method in METHODS.items())
    assert np.unique(list(METHODS)).size == len(METHODS)
