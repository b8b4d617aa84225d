"""The plan of the house, as CONTRIBUTING draws it: imports run downward only, and names mean one thing."""

from __future__ import annotations

import ast
import graphlib
import os
import re
from collections import defaultdict
from pathlib import Path

import pytest

import kibitz

SOURCES = Path(kibitz.__file__).parent
LAYERS = (
    ("__main__",),
    ("cli",),
    ("commands",),
    ("datasets", "doctor"),
    ("api", "notebook"),
    ("web",),
    ("report", "evaluation", "analysis", "engines", "arena", "setups"),
    ("personal",),
    ("play",),
    ("training",),
    ("runs",),
    ("systems",),
    ("nets",),
    ("explorer", "online"),
    ("store",),
    ("games",),
    ("external", "stats", "records", "durable", "prefetch", "received", "kernels", "manifest"),
    ("parallel",),
    ("messages",),
    (
        "text",
        "keys",
        "dates",
        "cores",
        "interrupts",
        "kernel_cache",
        "preparation",
        "ongoing",
        "memory",
        "remote",
        "links",
    ),
    ("environment", "lock"),
    ("errors",),
)
"""From the top downward. A module imports from its own package and from lower layers, also inside functions."""
ALLOWED: set[tuple[str, str]] = set()
MOST_LINES, MOST_PARAMETERS = 75, 12
KERNEL = re.compile(r"^(kernel|inner|fast_kernel\b.*|small_first\b.*)$")
"""The decorators of what numba compiles."""


def modules() -> dict[str, Path]:
    """Every module of kibitz by its dotted name without "kibitz."."""
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path) -> set[str]:
    """What a file imports of kibitz, anywhere in it, without "kibitz."; what only type checkers see counts too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports say where they lead"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("kibitz.") for name in found if name.startswith("kibitz.")}


def test_every_module_has_its_layer() -> None:
    known = {name for layer in LAYERS for name in layer}
    assert {name.split(".")[0] for name in modules() if name} == known


def test_imports_run_downward() -> None:
    layer_of = {package: number for number, layer in enumerate(LAYERS) for package in layer}
    upward = []
    for name, path in modules().items():
        own = name.split(".")[0]
        for imported in imports(path) if name else ():
            other = imported.split(".")[0]
            if other in layer_of and other != own and (own, other) not in ALLOWED:
                upward += [f"kibitz.{name} imports kibitz.{imported}"] * (layer_of[other] <= layer_of[own])
    assert upward == []


@pytest.mark.parametrize("game", ["chess", "go"])
def test_a_game_does_not_know_the_other(game: str) -> None:
    other = {"chess": "go", "go": "chess"}[game]
    for name, path in modules().items():
        parts = name.split(".")
        if game in parts:
            assert not any(other in imported.split(".")[:-1] for imported in imports(path)), name


BOTH_GAMES = {"AnalysedGame", "Filter", "GameResult", "Move", "MoveAnswer", "Record", "Side"}
"""Names of classes that are the same idea for chess and for Go, each in the package of its game."""
A_SYSTEM_EACH = {"Settings"}


WORDS = frozenset(
    [
        "told",
        "tell",
        "tells",
        "asked",
        "ask",
        "asks",
        "said",
        "say",
        "says",
        "heard",
        "believed",
        "stands",
        "way",
        "ways",
        "places",
        "kept",
        "made",
    ]
)
"""Words that do not describe a value."""
ALLOWED_NAMES = {
    "TwoWayBootstrap",  # two-way clustering, a term of statistics
    "connection_made",  # a method of asyncio
    "kept",  # a key of the JSON output of kibitz import
    "told",  # a layer of gohuman, whose name is in its files of weights
}


def test_names_use_the_words_of_the_field() -> None:
    found = []
    for module, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    pass
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    pass
                case _:
                    continue
            words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
            if words & WORDS and name not in ALLOWED_NAMES:
                found.append(f"{module}:{node.lineno} {name}")
    assert not found


def test_a_class_name_means_one_thing() -> None:
    places = defaultdict(list)
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    several = {name: where for name, where in places.items() if len(where) > 1}
    assert set(several) == BOTH_GAMES | A_SYSTEM_EACH, several
    for name in BOTH_GAMES:
        assert sorted(game for where in several[name] for game in ("chess", "go") if game in where.split(".")) == [
            "chess", "go",
        ]  # fmt: skip


ROOT = Path(__file__).parents[1]


def test_contributing_names_files_that_there_are() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text[text.index("## I want to") :]
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|ts|toml|txt)|/))`", text))
    assert len(named) > 40
    names = {path.name for folder in (SOURCES, ROOT / "frontend" / "src") for path in folder.rglob("*.*")}
    missing = [
        name
        for name in sorted(named)
        if not ("NAME" in name or (ROOT / name).exists() or (SOURCES / name).exists() or name in names)
    ]
    assert missing == []


def test_every_kernel_is_cached_by_its_content() -> None:
    """Compile with the decorators of `kibitz.kernels`: numba's own cache misses changes of callees in other modules."""
    users = [module for module, path in modules().items() if "njit" in path.read_text(encoding="utf-8")]
    assert users == ["kernels"]


def test_no_function_is_long_or_has_many_parameters() -> None:
    """Except kernels of numba, whose arrays are parameters."""
    long = []
    for module, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or any(KERNEL.search(ast.unparse(d)) for d in node.decorator_list):
                continue
            parameters = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
            lines = (node.end_lineno or 0) - node.lineno + 1
            if lines > MOST_LINES or parameters > MOST_PARAMETERS:
                long.append(f"{module}.{node.name}: {lines} lines, {parameters} parameters")
    assert long == []


def page_imports() -> dict[Path, set[Path]]:
    """The modules of the page, and the modules that each one loads; imports of types only load nothing."""
    found = {}
    for path in (ROOT / "frontend" / "src").rglob("*.ts"):
        names = re.findall(r"^import (?!type\b)[^;]*?\"(\.[^\"]*)\";", path.read_text(encoding="utf-8"), re.MULTILINE)
        places = [Path(os.path.normpath(path.parent / name)) for name in names if not name.endswith(".css")]
        found[path] = {one / "index.ts" if one.is_dir() else one.parent / (one.name + ".ts") for one in places}
    return found


def test_no_circle_of_imports_in_the_page() -> None:
    imports = page_imports()
    missing = {other for others in imports.values() for other in others} - set(imports)
    assert not missing
    assert sum(map(len, imports.values())) > 300, "the imports are no longer found"
    graphlib.TopologicalSorter(imports).prepare()  # a circle raises CycleError
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter({"state": {"tree"}, "tree": {"state"}}).prepare()
