"""The public Python face: what `import kibitz` gives, as its docstrings and docs/PYTHON.md show it, and wrong input."""

from __future__ import annotations

import doctest
import importlib
import inspect
import shutil
from pathlib import Path

import pytest

import kibitz

MODULES = ("kibitz", *(f"kibitz.{name}" for name in kibitz._MODULES if name.startswith("api.")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_store, bundled_text: str) -> Path:  # type: ignore[no-untyped-def]
    """A folder as the examples know it: my.store and my-games.pgn."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(small_store.path, folder / "my.store")
    (folder / "my-games.pgn").write_text("[Event " + "[Event ".join(bundled_text.split("[Event ")[1:21]))
    return folder


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    module = importlib.import_module(name)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testmod(module, optionflags=options, extraglobs={})
    assert tried
    assert not failed


@pytest.mark.parametrize("name", kibitz.__all__)
def test_what_is_public_is_documented_with_an_example(name: str) -> None:
    value = getattr(kibitz, name)
    assert inspect.getdoc(value)
    if value.__module__.startswith("kibitz.api."):
        assert ">>> " in (value.__doc__ or ""), name
        for member, function in vars(value).items() if inspect.isclass(value) else ():
            if inspect.isfunction(function) and not member.startswith("_"):
                assert function.__doc__, (name, member)
