"""Every recipe of every system learns with its own solver, at a small scale."""

from __future__ import annotations

import importlib.resources
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from kibitz import cli
from kibitz.errors import UsageError
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems import DEFAULT, SYSTEMS, find_recipe, load
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.causes import naming

# What makes a recipe small: shapes, lengths and games, never its solver, rates, schedule or initial weights.
WINNER = {"layers": "48conv4x4.pool2x2.24conv2x2.ip16", "iterations": 120, "batch": 256}
MOVERS = {"networks": "piece,knight", "layers": "16conv3x3p1.24conv3x3p1.32conv3x3p1.ip64", "min_rating": 0,
          "iterations": 80}  # fmt: skip
SELECTORS = {"networks": "piece,knight", "min_rating": 0, "games": 0, "moves": 10_000, "epochs": 8.0}
GO = {"layers": "16conv5x5p2.16conv3x3p1", "sizes": "9", "min_moves": 0, "batch": 32, "iterations": 60}
HUMAN = {"blocks": 1, "filters": 16, "warmup": 10, "iterations": 80, "batch": 256}
GOHUMAN = {"blocks": 3, "filters": 16, "warmup": 10, "iterations": 120, "batch": 32, "min_moves": 1}
PAIRS = {"pairs": 20_000, "epochs": 3.0, "distil_epochs": 2.0, "pos2vec": "150.100.50.32", "compare": "100.50.32",
         "small_pos2vec": "32.32", "small_compare": "32"}  # fmt: skip
SMALLER: dict[tuple[str, str], dict[str, Any]] = {
    ("winner", "default"): WINNER,
    ("winner", "quick"): WINNER,
    ("winner", "long"): WINNER,
    ("winner", "paper"): {**WINNER, "iterations": 400},
    ("convchess", "default"): SELECTORS,
    ("convchess", "long"): SELECTORS,
    ("convchess", "paper"): SELECTORS,
    ("chessnet", "default"): {"layers": "16conv3x3p1.2*16res3x3", "min_rating": 0, "iterations": 80, "batch": 256},
    ("chessnet", "long"): {"layers": "16conv3x3p1.2*16res3x3", "min_rating": 0, "iterations": 80, "batch": 256},
    ("chessnet", "paper"): {**MOVERS, "networks": "piece,knight,value", "batch": 250, "value_layers": "8conv3x3p1.ip32",
                            "gamma": 0.97,
        "value_batch": 128, "value_iterations": 250},
    ("gocnn", "default"): GO,
    ("gocnn", "long"): GO,
    ("gocnn", "quick"): GO,
    ("gocnn", "paper"): {**GO, "batch": 128, "iterations": 120},
    ("deepchess", "default"): {**PAIRS, "pretrain_epochs": 0.0, "batch": 1024},
    ("deepchess", "long"): {**PAIRS, "pretrain_epochs": 0.0, "batch": 1024},
    ("deepchess", "paper"): {**PAIRS, "pos2vec": "200.100.32", "pretrain_epochs": 5.0, "epochs": 3.0},
    ("human", "default"): HUMAN,
    ("human", "long"): HUMAN,
    ("human", "gpu"): HUMAN,
    ("gohuman", "default"): GOHUMAN,
    ("gohuman", "long"): GOHUMAN,
    ("gohuman", "gpu"): GOHUMAN,
}  # fmt: skip
GO_ON = ("plateau", "cool")
"""Recipes that go on from a trained network: their rates are too low to learn from nothing in a moment."""
EVERY = [(system, recipe) for system in SYSTEMS for recipe in load(system).recipes]


@pytest.mark.parametrize("name", ["winner", "convchess", "chessnet", "gocnn", "deepchess"])
def test_the_recipe_of_a_paper_lists_where_each_number_comes_from(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    system = load(name)
    recipe = system.recipes["paper"]
    assert set(recipe.sources) == {field.name for field in fields(system.settings_type)} | set(recipe.training)
    assert {source.kind for source in recipe.sources.values()} <= {"document", "reading", "ours", "off"}
    assert all(source.note for source in recipe.sources.values() if source.kind in ("reading", "ours"))
    assert "to the letter" not in recipe.title
    assert cli.run(["systems", name]) == 0
    printed = capsys.readouterr().out
    settings = system.settings_type(**recipe.settings)
    for key, source in recipe.sources.items():
        if source.kind != "off":
            assert f"{key.replace('_', '-')} {recipe.value(key, settings)}" in printed


def test_every_system_has_the_recipes_that_everybody_asks_for() -> None:
    for system in SYSTEMS:
        recipes = load(system).recipes
        assert {DEFAULT, "long"} <= recipes.keys(), system
        assert "paper" in recipes or not load(system).declaration.paper, system
    with pytest.raises(UsageError, match=naming("--recipe & papers & paper")):
        find_recipe("winner", "papers")


@pytest.mark.parametrize(("system", "recipe"), EVERY)
def test_a_recipe_names_settings_that_there_are(system: str, recipe: str) -> None:
    chosen, loaded = find_recipe(system, recipe), load(system)
    assert set(chosen.settings) <= {field.name for field in fields(loaded.settings_type)}
    loaded.check(loaded.settings_type(**chosen.settings))
    TrainConfig(**chosen.training)


@pytest.fixture(scope="module")
def go_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The bundled games of Go with their owners, as playouts tell them."""
    path = tmp_path_factory.mktemp("go") / "go.store"
    games = str(importlib.resources.files("kibitz") / "data" / "games.sgfl.zst")
    assert cli.run(["import", games, "--into", str(path), "--ending", "counted", "--referee", "playouts"]) == 0
    return Store(path)


def distinct() -> list[tuple[str, str]]:
    """Recipes whose small versions differ; default and long are often the same but for their length."""
    small: dict[Any, tuple[str, str]] = {}
    for system, recipe in EVERY:
        if recipe in GO_ON:
            continue
        settings = {**find_recipe(system, recipe).settings, **SMALLER[system, recipe]}
        small.setdefault((system, load(system).settings_type(**settings)), (system, recipe))
    return list(small.values())


@pytest.mark.slow
@pytest.mark.parametrize(("system", "recipe"), distinct())
def test_a_recipe_learns(system: str, recipe: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Every stage ends under the loss of the best constant answer, and no layer dies.

    Layers of Pos2Vec begin far over that loss, and take longer than a test may: they must come nearer.
    """
    store: Store = request.getfixturevalue("go_store" if load(system).game == "go" else "small_store")
    small = SMALLER[system, recipe]
    settings = load(system).settings_type(**{**find_recipe(system, recipe).settings, **small})
    plan = TrainConfig(validations=2, validate_positions=2000, precision="32-true", patience=0)
    train(system, settings, str(store.path), run=tmp_path / "run", plan=plan, export=False)
    rows = Run(tmp_path / "run").metrics()
    warnings = [row for row in rows if row["kind"] == "warning"]
    assert [row["text"] for row in warnings if row["warning"] == "dead units"] == []
    assert [row["text"] for row in warnings if not row["stage"].startswith("pos2vec")] == []
    for stage in {row["stage"] for row in rows}:
        losses = [row["loss"] for row in rows if row["kind"] == "summary" and row["stage"] == stage]
        last = losses[-max(1, len(losses) // 4) :]  # one loss alone may be low by chance
        assert sum(last) / len(last) < 0.99 * losses[0], stage
