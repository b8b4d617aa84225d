"""Print random texts of kibitz, one a line, for people who read them without the code.

    python tools/words_sample.py --kind messages --count 20 --seed 1

The kinds are help, messages, docstrings, docs and page (the English texts of the browser). A value in a message is X.
"""

from __future__ import annotations

import argparse
import random
import re

from words import MIN_WORDS, ROOT, texts

PAGE = ROOT / "frontend" / "src" / "texts" / "en.ts"


def page_texts() -> list[str]:
    """The English texts of the page, with X for each value."""
    found = []
    for quoted in re.findall(r'"((?:[^"\\\n]|\\.)+)"|`([^`\n]+)`', PAGE.read_text(encoding="utf-8")):
        text = re.sub(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", "X", quoted[0] or quoted[1])
        if not text.startswith("./"):
            found.append(text)
    return found


def sample(kind: str, count: int, seed: int) -> list[str]:
    """Different random texts of a kind; all of them if there are fewer."""
    if kind == "page":
        known = page_texts()
    else:
        known = [text.text for text in texts() if text.kind == kind and len(text.text.split()) >= MIN_WORDS]
    known = sorted(set(known))
    return random.Random(seed).sample(known, min(count, len(known)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Print random texts of kibitz.")
    parser.add_argument("--kind", choices=("help", "messages", "docstrings", "docs", "page"), required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for text in sample(given.kind, given.count, given.seed):
        print(text)


if __name__ == "__main__":
    main()
