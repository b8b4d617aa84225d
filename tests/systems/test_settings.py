"""Each setting of each system has an effect, or is refused."""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from pathlib import Path

import pytest

import kibitz
from kibitz.errors import UsageError
from kibitz.runs import Run, packaged
from kibitz.systems import SYSTEMS, load
from kibitz.systems.movers.system import VALUE_OFF

ROOT = Path(kibitz.__file__).parent
SHARED = {"convchess": "movers", "chessnet": "movers"}
"""The folder of systems/ that a system shares with others."""
OTHER = {"value_layers": "32conv3x3p1.ip64", "value_activation": "relu", "value_optimiser": "adagrad",
         "value_schedule": "cosine"}  # fmt: skip


def reads(path: Path) -> set[str]:
    """The settings that a module reads, apart from functions that only check them."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            return
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if name in ("settings", "_settings", "self"):
                found.add(node.attr)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found


def modules(system: str) -> list[Path]:
    shared = sorted((ROOT / "systems" / SHARED[system]).glob("*.py")) if system in SHARED else []
    return [ROOT / "systems" / f"{system}.py", *shared]


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_setting_is_read_beyond_its_check(system: str) -> None:
    read = set().union(*map(reads, modules(system)))
    unread = [each.name for each in fields(load(system).settings_type) if each.name not in read]
    assert unread == []


@pytest.mark.parametrize("name", VALUE_OFF)
def test_settings_of_a_value_network_are_refused_where_there_is_none(name: str) -> None:
    for system in ("convchess", "chessnet"):
        settings, chosen = load(system).settings_type(), load(system)
        chosen.check(settings)
        value = getattr(settings, name)
        changed = replace(settings, **{name: OTHER[name] if isinstance(value, str) else type(value)(value / 2 or 3)})
        assert changed != settings
        if system == "chessnet":
            chosen.check(changed)
            continue
        with pytest.raises(UsageError, match="--" + name.replace("_", "-")):
            chosen.check(changed)


@pytest.mark.parametrize("name", sorted({*packaged()} - {"deepchess"}))
def test_training_can_start_from_a_bundled_network(name: str) -> None:
    """deepchess contains only its distilled network, which cannot be trained alone."""
    run = Run(name)
    load(run.info["system"]).check(run.settings)


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_recipe_passes_the_check(system: str) -> None:
    chosen = load(system)
    for recipe in chosen.recipes.values():
        chosen.check(chosen.settings_type(**recipe.settings))


def test_a_setting_that_nothing_reads_is_found(tmp_path: Path) -> None:
    module = tmp_path / "one.py"
    module.write_text(
        "def check(settings):\n    settings.a\n\n\ndef network(settings):\n    settings.b\n", encoding="utf-8"
    )
    assert reads(module) == {"b"}
