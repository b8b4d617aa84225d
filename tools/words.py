"""Find words and sentences in kibitz's texts that people would have to read twice.

    python tools/words.py                    what is wrong in help, messages, docs and docstrings
    python tools/words.py --kind messages    of one kind only
    python tools/words.py --write            lower the numbers in tests/words.json to what is left

The rules: the words of the glossary (docs/reference/glossary.md) instead of private ones, at most 30 words a sentence,
at most one parenthesis a sentence, the subject first. tests/test_words.py runs the same check: help and messages must
be clean, and other files may not get worse.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED = ROOT / "tests" / "words.json"
MAX_WORDS = 30
MAX_PARENTHESES = 1
MIN_WORDS = 3
"""Shorter texts are labels, which have rules of their own."""
ERRORS = ("KibitzError", "UsageError", "BadRequest")
PRINTERS = {"error", "warning", "note", "stopped"}
"""Functions of `kibitz.messages` that print a line."""
SETTINGS = {"setting", "fraction"}
"""Functions of `kibitz.systems.base` that declare a setting, with its help."""
PRIVATE = re.compile(
    r"\b(told|tells?|stands?|stood|beside|anew|by heart|goes on|go on|went on|so many|of such|likeliest|one look"
    r"|at a glance|not reached|whoever|says|said|answers (?:it|them|at once)|is asked|are asked|who owns"
    r"|own(?:s|ed)? each|of its own|of (?:his|their) own accord|the road|learned from|left out|packaged"
    r"|analys(?:e|ed|es)"
    r"|winning chances?|chances? (?:of|to) win(?:ning)?|winning probability|take (?:human|gohuman|chessnet)"
    r"|choose from|and which is)\b",
    re.IGNORECASE,
)
"""Words that the glossary replaces."""
FRONTED = re.compile(r"^(Of|Where|With|To) [^,.]{8,}, [^.]*\b(it|is|are)\b")
FACE = re.compile(r"\bfaces?\b(?= (?:of|that|reads?|may))", re.IGNORECASE)


@dataclass(frozen=True)
class Text:
    """A text that people read.

    kind: "help", "messages", "docstrings" or "docs". file: path in the repository. line: its first line, from 1.
    """

    kind: str
    file: str
    line: int
    text: str


def sentences(text: str) -> list[str]:
    """The sentences of a text. Code counts as one word, and a link as its title."""
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return [part.strip(" *#>-|") for part in re.split(r"(?<=[.!?:;])\s+", text)]


def faults(text: str) -> Iterator[tuple[str, str]]:
    """Each fault of a text with its sentence. Only the first fault of a sentence counts."""
    for sentence in sentences(text):
        words = len(sentence.split())
        if words < MIN_WORDS:
            continue
        if found := PRIVATE.search(sentence) or FACE.search(sentence):
            yield f'the word "{found.group(0)}"', sentence
        elif words > MAX_WORDS:
            yield f"{words} words", sentence
        elif sentence.count("(") > MAX_PARENTHESES:
            yield "two parentheses", sentence
        elif FRONTED.match(sentence):
            yield "the subject is not first", sentence


def _string(node: ast.AST) -> str | None:
    """The text of a string or f-string, with X for each value; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return None


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


def _messages(tree: ast.AST, file: str) -> Iterator[Text]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        if not _called(node).endswith(ERRORS) and _called(node) not in PRINTERS:
            continue
        options = [node.args[0]]
        if isinstance(node.args[0], ast.IfExp):
            options = [node.args[0].body, node.args[0].orelse]
        for option in options:
            if text := _string(option):
                yield Text("messages", file, node.lineno, " ".join(text.split()))


def _help(tree: ast.AST, file: str) -> Iterator[Text]:
    whole = file.endswith("help_texts.py")
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in SETTINGS:
            strings = [text for argument in node.args if (text := _string(argument))]
            yield from (Text("help", file, node.lineno, " ".join(text.split())) for text in strings if " " in text)
        elif isinstance(node, ast.keyword) and node.arg == "help" and (text := _string(node.value)):
            yield Text("help", file, node.value.lineno, " ".join(text.split()))
        elif whole and id(node) not in inner and (text := _string(node)) and not text.startswith("kibitz "):
            yield Text("help", file, node.lineno, " ".join(text.split()))


def _docstrings(tree: ast.AST, file: str) -> Iterator[Text]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for paragraph in re.split(r"\n\s*\n", node.value.value):
                if ">>>" not in paragraph:
                    yield Text("docstrings", file, node.lineno, " ".join(paragraph.split()))


def _paragraphs(source: str, file: str) -> Iterator[Text]:
    fenced, begin, block = False, 1, list[str]()
    for number, line in enumerate([*source.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and line.startswith("|"):
            yield from (Text("docs", file, number, cell.strip()) for cell in line.strip("|").split("|"))
        elif (
            not fenced
            and line.strip()
            and not line.lstrip().startswith(("- ", "* ", "#", "<!--"))  # nobody reads comments
            and not line.startswith("    ")
        ):
            begin = begin if block else number
            block.append(line.strip())
            continue
        if block:
            yield Text("docs", file, begin, " ".join(block))
            block = []
        if not fenced and line.lstrip().startswith(("- ", "* ", "#")):
            begin, block = number, [line.strip()]


@functools.cache
def texts() -> tuple[Text, ...]:
    """Every text of the four kinds, read once. The texts of the page have tests of their own."""
    return tuple(_texts())


def _texts() -> Iterator[Text]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from _messages(tree, file)
        yield from _help(tree, file)
        yield from _docstrings(tree, file)
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        yield from _paragraphs(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())


def found(kind: str | None = None) -> Iterator[tuple[Text, str, str]]:
    """Each fault: the text, what is wrong, the sentence."""
    for text in texts():
        if kind in (None, text.kind):
            for fault, sentence in faults(text.text):
                yield text, fault, sentence


def counts() -> dict[str, dict[str, int]]:
    """Faults by kind and file."""
    counted: dict[str, Counter[str]] = {}
    for text, _, _ in found():
        counted.setdefault(text.kind, Counter())[text.file] += 1
    return {kind: dict(sorted(files.items())) for kind, files in sorted(counted.items())}


def allowed() -> dict[str, dict[str, int]]:
    """Faults that files may still have, by kind and file."""
    return json.loads(ALLOWED.read_text(encoding="utf-8")) if ALLOWED.is_file() else {}


def write(now: dict[str, dict[str, int]]) -> None:
    """Lower the allowed faults to what is left. No number gets larger, and no file is added."""
    before = allowed()
    lower = {
        kind: {file: min(many, now.get(kind, {}).get(file, 0)) for file, many in files.items()}
        for kind, files in (before or now).items()
    }
    kept = {kind: {file: many for file, many in files.items() if many} for kind, files in lower.items()}
    ALLOWED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Find unclear words and sentences.")
    parser.add_argument("--kind", choices=("help", "messages", "docstrings", "docs"))
    parser.add_argument("--write", action="store_true", help="lower the numbers in tests/words.json")
    given = parser.parse_args()
    if given.write:
        write(counts())
        return
    many = 0
    for text, fault, sentence in found(given.kind):
        many += 1
        print(f"{text.file}:{text.line}: {fault}: {sentence[:140]}")
    print(f"{many} places", file=sys.stderr)


if __name__ == "__main__":
    main()
