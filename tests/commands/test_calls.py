"""Every call of kibitz in the tests has a command and options that exist.

A test that expects an error passes for the wrong reason if its call is misspelled. This test reads all calls that are
written out in the tests: sequences of words that begin with the name of a command.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz import cli
from support.calls import options_of

TESTS = Path(__file__).parents[1]
NOT_CALLS = {"test_calls.py", "test_options.py", "__main__.py"}
"""Files whose words are not typed: this one, old spellings that are read again, calls of the soak's programs."""
MISSING = "# no such option"
"""A comment on the line of an option that a test wants to be missing."""


def words_of(nodes: list[ast.expr]) -> list[tuple[int, str]]:
    return [
        (node.lineno, node.value) for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def calls_in(text: str) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Each command with the words after it and their lines."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.List(elts=nodes) | ast.Tuple(elts=nodes) | ast.Call(args=nodes) if nodes:
                words = words_of(nodes)
                names = [i for i, (_, word) in enumerate(words) if word in cli.COMMANDS]
                if names and isinstance(nodes[0], ast.Constant | ast.Attribute | ast.Starred):
                    yield words[names[0]][1], words[names[0] + 1 :]


def unknown(text: str) -> list[str]:
    lines = text.splitlines()
    found = []
    for command, words in calls_in(text):
        for line, word in words:
            option = word.split("=")[0]
            if option[:2] != "--" or option == "--" or MISSING in lines[line - 1]:
                continue
            if option not in options_of(command):
                found.append(f"line {line}: kibitz {command} has no option {option}")
    return found


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ('run(["analyze", "game.pgn", "--network", "winner"])', 1),
        ('run("info", store, "--jsno")', 1),
        ('call = [sys.executable, "-m", "kibitz", "merge", a, "--onto", b]', 1),
        ('run(["analyze", "winner", "game.pgn", "--json"])', 0),
        ('run(["train", "winner", store, "--layers", "8conv4x4.ip8"])', 0),
        ('run(["train", "winner", store, "--nonsense"])  # no such option', 0),
    ],
)
def test_a_misspelled_call_is_found(text: str, many: int) -> None:
    assert len(unknown(text)) == many


def test_all_calls_in_the_tests_exist() -> None:
    wrong = [
        f"{path.relative_to(TESTS)}, {line}"
        for path in sorted(TESTS.rglob("*.py"))
        if path.name not in NOT_CALLS
        for line in unknown(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []
