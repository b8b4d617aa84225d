"""kibitz doctor finds the faults that are planted here, each in a check that finds nothing without it."""

from __future__ import annotations

import errno
import importlib.metadata
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz import environment, manifest, preparation, runs
from kibitz.doctor import CHECKS, machine, networks, programs
from kibitz.doctor.findings import Finding
from kibitz.errors import KibitzError
from kibitz.play import providers
from kibitz.play.session import Session
from support.causes import in_process, mentions, naming


def problems(found: Iterator[Finding]) -> dict[str, Finding]:
    return {finding.key: finding for finding in found if finding.state == "problem"}


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one bundled network, which the program takes for all that there are."""
    folder = tmp_path / "networks"
    shutil.copytree(manifest.NETWORKS / "deepchess", folder / "deepchess")
    entry = manifest.entries()["deepchess"]
    monkeypatch.setattr(manifest, "NETWORKS", folder)
    monkeypatch.setattr(manifest, "entries", lambda: {"deepchess": json.loads(json.dumps(entry))})
    monkeypatch.setattr(runs, "packaged", lambda: {"deepchess": folder / "deepchess"})
    return folder / "deepchess"


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_damaged_network_file(bundled: Path) -> None:
    assert not problems(networks.bundled())
    damage(bundled / "model.onnx")
    assert mentions(problems(networks.bundled())["network deepchess"].text, "model.onnx & damaged")


@pytest.mark.parametrize("file", ["model.onnx", "best.safetensors", "seen.npy"])
def test_a_missing_network_file(file: str, bundled: Path) -> None:
    assert not problems(networks.bundled())
    (bundled / file).unlink()
    assert mentions(problems(networks.bundled())["network deepchess"].text, f"{file} & missing")


def test_a_network_that_computes_something_else(bundled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not problems(networks.bundled())
    right = networks.evaluate
    monkeypatch.setattr(
        networks, "evaluate", lambda *words: {key: values + 0.02 for key, values in right(*words).items()}
    )
    assert mentions(problems(networks.bundled())["network deepchess"].text, "sample")


def test_a_damaged_network_is_not_loaded(bundled: Path) -> None:
    """Neither its ONNX file nor its weights."""
    other = shutil.copytree(bundled, bundled.parent / "other")
    assert runs.Run("deepchess").trained() == bundled / "best.safetensors"
    for file in ("best.safetensors", "model.onnx"):
        damage(bundled / file)
        manifest.check.cache_clear()
        with pytest.raises(KibitzError, match=naming(f"{file} & damaged & deepchess-1")):
            manifest.check(bundled / file)
        damage(bundled / file)
    Session("deepchess")
    manifest.check.cache_clear()
    damage(bundled / "model.onnx")
    with pytest.raises(KibitzError, match=naming("model.onnx & damaged")):
        Session("deepchess")
    damage(other / "model.onnx")
    manifest.check(other / "model.onnx")  # not a bundled network: nobody knows its hash


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "user_cache", lambda: tmp_path / "cache")
    assert not problems(machine.caches())
    (tmp_path / "file").touch()
    monkeypatch.setattr(environment, "user_cache", lambda: tmp_path / "file" / "cache")
    assert problems(machine.caches()).keys() == {"cache"}


def test_a_cache_folder_that_may_not_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(environment.CACHE, raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)  # set_up must not change its settings for other tests
    monkeypatch.setattr(environment, "user_cache", lambda: tmp_path / "closed" / "cache")
    forbid(monkeypatch, tmp_path / "closed")
    environment.set_up()
    assert "kibitz-" in os.environ[environment.CACHE]
    assert not preparation.are_prepared(["chess"])
    found = [str(one) for one in machine.disk()]
    assert len(found) == 2
    assert str(tmp_path) in found[1]


def forbid(monkeypatch: pytest.MonkeyPatch, closed: Path) -> None:
    """Make every look into a folder fail with PermissionError, also for the administrator."""
    real = os.stat

    def stat(path: Any, *arguments: Any, **keywords: Any) -> os.stat_result:
        if isinstance(path, str | os.PathLike) and closed in Path(os.fspath(path)).parents:
            raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
        return real(path, *arguments, **keywords)

    access = os.access
    closed.mkdir()
    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(os, "access", lambda path, *mode: Path(path) != closed and access(path, *mode))


def test_kernels_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(environment.CACHE, str(tmp_path))
    assert not problems(machine.caches())
    (tmp_path / "file").touch()
    monkeypatch.setenv(environment.CACHE, str(tmp_path / "file"))
    assert problems(machine.caches()).keys() == {"kernel cache"}


@pytest.mark.parametrize(("free", "state"), [(100 << 20, "problem"), (1 << 30, "note"), (100 << 30, "ok")])
def test_a_full_disk(free: int, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))
    assert {finding.state for finding in machine.disk()} == {state}


@pytest.mark.parametrize(("free", "state"), [(100 << 20, "problem"), (8 << 30, "ok")])
def test_little_memory(free: int, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: free)
    assert [finding.state for finding in machine.free_memory()] == [state]


def test_a_library_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not problems(machine.libraries())
    right = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "numpy" else right(name))
    found = problems(machine.libraries())
    assert found.keys() == {"library numpy"}
    assert mentions(found["library numpy"].text, "0.1")


@pytest.mark.parametrize(("missing", "state"), [("zstandard", "problem"), ("rust-pgn-reader-python-binding", "note")])
def test_a_missing_library(missing: str, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = importlib.metadata.version

    def version(name: str) -> str:
        if name == missing:
            raise importlib.metadata.PackageNotFoundError(name)
        return right(name)

    assert {finding.state for finding in machine.libraries()} == {"ok"}
    monkeypatch.setattr(importlib.metadata, "version", version)
    found = {finding.key: finding.state for finding in machine.libraries()}
    assert found == {"libraries": "ok", f"library {missing}": state}


@pytest.mark.parametrize(
    ("machine_name", "features", "state"),
    [
        ("x86_64", {"sse4.2", "popcnt", "avx2", "fma"}, "ok"),
        ("x86_64", {"sse4.2", "popcnt"}, "note"),
        ("AMD64", {"sse2"}, "problem"),
        ("arm64", {"neon"}, "ok"),
        ("aarch64", set(), "problem"),
    ],
)
def test_an_old_cpu(machine_name: str, features: set[str], state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cpu_features", lambda: ("old", frozenset(features)))
    monkeypatch.setattr(machine.platform, "machine", lambda: machine_name)
    assert [finding.state for finding in machine.cpu()] == [state]


def test_a_provider_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(providers.PROVIDER, "cpu")
    assert not problems(programs.provider())
    monkeypatch.setattr(providers, "installed", lambda: ["cpu"])
    monkeypatch.setenv(providers.PROVIDER, "cuda")
    assert mentions(problems(programs.provider())["provider"].text, "cuda")


def test_a_page_that_was_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index.html").touch()
    monkeypatch.setattr(programs, "PAGE", tmp_path / "index.html")
    assert not problems(programs.page())
    monkeypatch.setattr(programs, "PAGE", tmp_path / "none.html")
    assert problems(programs.page()).keys() == {"page"}


def executable(path: Path, lines: str) -> str:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.process
def test_engines_that_are_missing_or_dead(tmp_path: Path) -> None:
    replies = (
        'while read w; do case "$w" in uci) echo "id name toy"; echo uciok;; isready) echo readyok;;'
        " quit) exit;; esac; done"
    )
    good = executable(tmp_path / "good", replies)
    dead = executable(tmp_path / "dead", "exit 3")
    missing = str(tmp_path / "none")
    found = {finding.key: finding for finding in programs.given_engines([good, dead, missing])}
    assert found[f"engine {good}"].text == "toy"
    assert {key for key, finding in found.items() if finding.state == "problem"} == {
        f"engine {dead}", f"engine {missing}",
    }  # fmt: skip


@pytest.mark.process
def test_an_installed_engine_replies() -> None:
    found = next(programs.installed_engines())
    if found.state != "ok":
        pytest.skip("no engine is installed")
    first = found.text.split(", ")[0]
    assert not problems(programs.given_engines([first]))


def test_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines and its JSON have the same findings, and the exit code is that of the problems."""
    monkeypatch.setattr(programs, "page", lambda: iter([Finding("page", "ok", "built")]))
    ended = in_process(["doctor", "--json"])
    report: dict[str, Any] = json.loads(ended.out)
    assert report.keys() == {"ok", "findings", "line"}
    assert report["ok"] == (ended.code == 0)
    keys = [finding["key"] for finding in report["findings"]]
    assert len(set(keys)) == len(keys)
    assert {f"network {name}" for name in runs.packaged()} <= set(keys)
    lines = in_process(["doctor"]).out.splitlines()
    assert lines[-1] == report["line"]
    assert [line.split()[1].rstrip(":") for line in lines if line[:8].strip() in ("ok", "note", "PROBLEM")] == [
        key.split()[0].rstrip(":") for key in keys
    ]


def test_a_problem_is_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    few = tuple(check for check in CHECKS if check.__module__.endswith("machine"))
    monkeypatch.setattr("kibitz.doctor.CHECKS", few)
    monkeypatch.setattr(machine, "available_memory", lambda: 8 << 30)
    assert in_process(["doctor"]).code == 0
    monkeypatch.setattr(machine, "available_memory", lambda: 1 << 20)
    ended = in_process(["doctor"])
    assert ended.code == 1
    assert mentions(ended.out, "PROBLEM & memory")


def test_every_network_has_an_entry() -> None:
    """`python tools/network_manifest.py` writes them."""
    assert manifest.entries().keys() == runs.packaged().keys()
    for name, folder in runs.packaged().items():
        assert [manifest.problem(folder / file) for file in manifest.CHECKED] == [None] * len(manifest.CHECKED), name
