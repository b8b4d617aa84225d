"""Tests do not quote sentences of the program: a better word must change one approved text, not many tests.

A test of a message checks the error's class or exit code, and a noun or the value that the user gave
(`support.causes.mentions`). Whole texts are in tests/commands/approved, which `python tests/recorded/record.py --texts`
writes again. This test reads the other tests and finds what they compare with: in `assert`, in `match=`, and in the
columns of `parametrize` that are compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ELSEWHERE = ("browser", "soak", "recorded")
MOST_WORDS = 4
"""Words that a test may quote in a row."""
WORD = re.compile(r"(?<![\w<&=/.#@$%{}\-\\])[A-Za-z]?[a-z]+(?![\w=/@>{}(]|\.\w)")
PROTOCOL = re.compile(
    r"^\W*(option name|setoption name|id name|position (startpos|fen)|go (nodes|depth|wtime|movetime)|bestmove"
    r"|info (depth|nodes|score)|kata-|time_|play |usage:|\? unknown command|SELECT|def |import |from \w+ import)"
)
"""What UCI and GTP define, and what is a program: not our prose."""
COMPARED = {"startswith", "endswith", "count", "search", "match", "fullmatch", "index", "find", "removeprefix"}
QUOTED = {"match", "names", "says", "said"}
"""Keyword arguments that are compared with a message."""


EXACT = "# exact: "
"""A comment, with its reason, on the line of a text that is not ours to change: a key, a protocol, a file of others."""


def is_prose(text: str) -> bool:
    return " " in text.strip() and not PROTOCOL.match(text) and len(WORD.findall(text)) > MOST_WORDS


def strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Literal texts below a node. Of an f-string all its parts together."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "0" for part in node.values]
        yield node.lineno, "".join(map(str, parts))
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.lineno, node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from strings(child)


def compared(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an assertion that are compared with something."""
    for part in ast.walk(node):
        match part:
            case ast.Compare(left=left, comparators=others):
                yield from (side for side in (left, *others) if not isinstance(side, ast.Call))
            case ast.Call(func=ast.Attribute(attr=name), args=arguments) if name in COMPARED:
                yield from arguments


def names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def quotations(text: str) -> Iterator[tuple[int, str]]:
    """Each literal that a test compares with, and its line."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=test):
                for part in compared(test):
                    yield from strings(part)
            case ast.keyword(arg=name, value=value) if name in QUOTED and not isinstance(value, ast.Call):
                yield from strings(value)
            case ast.Call(func=ast.Name(id="mentions" | "naming" | "each_mentions"), args=arguments):
                for argument in arguments:
                    yield from strings(argument)
            case ast.FunctionDef():
                yield from columns(node)


def columns(function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """The literals of those parameters of a test that it compares with something."""
    used: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            used |= {name for part in compared(node.test) for name in names_in(part)}
        elif isinstance(node, ast.keyword) and node.arg in QUOTED:
            used |= names_in(node.value)
    for decorator in function.decorator_list:
        if not (
            isinstance(decorator, ast.Call) and len(decorator.args) > 1 and "parametrize" in ast.unparse(decorator)
        ):
            continue
        names = [name.strip() for _, text in strings(decorator.args[0]) for name in text.split(",")]
        rows = decorator.args[1].elts if isinstance(decorator.args[1], ast.List | ast.Tuple) else []
        for row in rows:
            cells = [row] if len(names) == 1 else row.elts if isinstance(row, ast.Tuple | ast.List) else []
            for name, cell in zip(names, cells, strict=False):
                if name in used:
                    yield from strings(cell)


def prose(text: str) -> list[str]:
    lines = text.splitlines()
    found = [(line, part) for line, quoted in sorted(set(quotations(text))) for part in quoted.split(" & ")]
    return [f"line {line}: {quoted!r}" for line, quoted in found if is_prose(quoted) and EXACT not in lines[line - 1]]


SENTENCE = "the file is no store at all"


@pytest.mark.parametrize(
    ("text", "many"),
    [
        (f'assert "{SENTENCE}" in err', 1),
        (f'assert err == f"kibitz: {{file}}: {SENTENCE}"', 1),
        (f'with pytest.raises(KibitzError, match="{SENTENCE}"): pass', 1),
        (f'assert mentions(err, "store & {SENTENCE}")', 1),
        (f'@pytest.mark.parametrize("said", ["{SENTENCE}"])\ndef test(said):\n    assert said in err', 1),
        (f'@pytest.mark.parametrize("text", ["{SENTENCE}"])\ndef test(text):\n    assert read(text) == 3', 0),
        ('assert "--port 80" in err', 0),
        ('assert "no such store" in err', 0),
        ('assert mentions(err, "port & 80 & number")', 0),
        ('assert "option name MultiPV type spin default 1 min 1 max 218" in lines', 0),
        (f'assert run("{SENTENCE}") == 0', 0),
        (f'assert "{SENTENCE}" in err  # exact: of another program', 0),
    ],
)
def test_a_quoted_sentence_is_found(text: str, many: int) -> None:
    assert len(prose(text)) == many


def test_no_test_quotes_a_sentence() -> None:
    found = [
        f"{path.relative_to(TESTS)}, {line}"
        for path in sorted(TESTS.rglob("test_*.py"))
        if path.relative_to(TESTS).parts[0] not in ELSEWHERE and path != Path(__file__)
        for line in prose(path.read_text(encoding="utf-8"))
    ]
    assert found == []
