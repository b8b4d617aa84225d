"""The words of help, messages, docs and docstrings: `tools/words.py` finds what people would have to read twice.

Help and messages are clean outside the folders of UNCLEAN. The other files have the number of faults that is written in
tests/words.json, or fewer: `python tools/words.py --write` lowers it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[1] / "tools"
CLEAN = ("help", "messages")
"""Kinds of texts without faults."""
UNCLEAN = ("src/kibitz/web/",)
"""Folders whose messages may still have faults, as many as tests/words.json allows."""


def tool(name: str) -> ModuleType:
    """A module of tools/, imported by its path."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def words() -> Iterator[ModuleType]:
    yield tool("words")
    sys.modules.pop("words", None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The network is told both ratings.", 'the word "told"'),  # exact: an example
        ("kibitz uses " + "one more word " * 10 + "here.", "33 words"),
        ("A value (of the network) is shown (with the search).", "two parentheses"),  # exact: an example
        ("Where the batch does not fit, it is halved.", "the subject is not first"),  # exact: an example
        ("The network predicts territory. It takes `told` as input.", None),  # exact: an example
        ("If the batch does not fit in memory, kibitz halves it.", None),  # exact: an example
        ("All games", None),
    ],
)
def test_a_fault_is_found(text: str, fault: str | None, words: ModuleType) -> None:
    assert [kind for kind, _ in words.faults(text)] == ([] if fault is None else [fault])


def test_texts_of_each_kind_are_found(words: ModuleType) -> None:
    kinds = [text.kind for text in words.texts()]
    for kind, least in {"help": 150, "messages": 350, "docstrings": 2000, "docs": 500}.items():
        assert kinds.count(kind) >= least


@pytest.mark.parametrize("kind", CLEAN)
def test_help_and_messages_are_clean(kind: str, words: ModuleType) -> None:
    found = [
        f"{text.file}:{text.line}: {fault}: {sentence}"
        for text, fault, sentence in words.found(kind)
        if not text.file.startswith(UNCLEAN)
    ]
    assert found == []


def test_no_file_gets_worse(words: ModuleType) -> None:
    """If it fails: write the new sentences anew. `python tools/words.py --kind docs` shows all faults."""
    allowed = words.allowed()
    worse = {
        f"{kind}: {file}": (allowed.get(kind, {}).get(file, 0), many)
        for kind, files in words.counts().items()
        for file, many in files.items()
        if many > allowed.get(kind, {}).get(file, 0)
    }
    assert worse == {}, "files with more faults than before: (allowed, now)"


def test_numbers_can_only_get_smaller(words: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "ALLOWED", tmp_path / "words.json")
    words.write({"docs": {"a.md": 3, "b.md": 1}})
    words.write({"docs": {"a.md": 2, "b.md": 4, "c.md": 1}})
    assert words.allowed() == {"docs": {"a.md": 2, "b.md": 1}}
    words.write({})
    assert words.allowed() == {"docs": {}}


@pytest.mark.parametrize("kind", ["help", "messages", "docstrings", "docs", "page"])
def test_samples_are_repeatable(kind: str, words: ModuleType) -> None:
    sample = tool("words_sample").sample
    one = sample(kind, 20, 1)
    assert len(set(one)) == 20
    assert one == sample(kind, 20, 1)
    assert one != sample(kind, 20, 2)
