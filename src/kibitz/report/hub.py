"""The model card of a network with a header for model hubs, which are websites such as Hugging Face."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from kibitz.errors import KibitzError
from kibitz.manifest import version_of
from kibitz.runs import Run
from kibitz.systems import find

CARD = "CARD.md"
LICENSE = "gpl-3.0"
"""The license of kibitz, in the spelling of model hubs."""
_TEST = re.compile(r"^Test: `(.+?)`\n\n(.*?)\n\n\| figure [^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
"""One test of a card: its command, its data, the rows of its table."""
_ROW = re.compile(r"^\| (?!for comparison)(.+?) \| ([-+−]?[\d.,]+)(%?) \(([^)]*)\) \| ([\d,]+) \|$", re.MULTILINE)


def hub_card(run: Run, name: str | None = None) -> str:
    """Return a network's model card as Markdown for a model hub. A header (front matter) contains the license, the
    library, the tags, and each metric with its interval.

    name: the network's name in the card; None for the bundled network's name and version, such as "human-1.0".

    A percentage in the card is a fraction from 0 to 1 in the header. The intervals have the same text as in the card,
    such as "48.5 to 50.4%". Only bundled networks have a card. Raises KibitzError for any other network.
    """
    path = run.path / CARD
    if not path.is_file():
        raise KibitzError(f"--card hub needs a network with a model card (got {run.name}). Use a bundled network.")
    text = path.read_text(encoding="utf-8")
    system = find(run.info["system"])
    name = name or version_of(run.path.name) or run.path.name
    about = {
        "license": LICENSE,
        "library_name": "onnx",
        "pipeline_tag": "other",
        "tags": ["kibitz", run.info["game"], "board-games", f"kibitz-{system.name}"],
        "model_name": name,
        "model-index": [{"name": name, "results": list(_results(text, run.info["game"]))}],
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in about.items()]
    return "\n".join(["---", *lines, "---", "", text.rstrip(), ""])


def _results(text: str, game: str) -> Iterator[dict[str, Any]]:
    """Return the tests of a card in the form of model hubs. The front matter is JSON, which is also valid YAML."""
    for command, data, rows in _TEST.findall(text):
        store = next((word for word in command.split() if word.endswith(".store")), "games")
        metrics = [
            {
                "type": label.replace(" ", "_"),
                "name": label,
                "value": _number(value, percent),
                "interval_95": interval,
                "n": int(count.replace(",", "")),
            }
            for label, value, percent, interval, count in _ROW.findall(rows)
        ]
        yield {
            "task": {"type": "other", "name": f"{game}: {command}"},
            "dataset": {"type": store.removesuffix(".store"), "name": " ".join(data.split())},
            "metrics": metrics,
        }


def _number(value: str, percent: str) -> float:
    number = float(value.replace(",", "").replace("−", "-"))
    return round(number / 100, 6) if percent else number
