"""Write the tables of docs/ that follow from stored results: model cards, recipes, and the headline numbers.

    python tools/docs_tables.py            # writes every page
    python tools/docs_tables.py --check    # exit code 1 if a page would change

A page names its table in a comment, and this script writes what stands between the comment and `<!-- end -->`:

    <!-- table: card winner 1: accuracy, log loss; baselines -->    rows of a model card's first test
    <!-- table: model winner -->                                    weights, games and last training run
    <!-- table: sources winner -->                                  where the numbers of the recipe `paper` come from
    <!-- table: recipes winner -->                                  optimizer, rate, decay, length of each recipe
    <!-- table: layers -->                                          layers and weights of the bundled networks
    <!-- table: headline -->                                        the rows of docs/results/numbers.json
    <!-- table: stored winner ablations -->                         a table of docs/results/tables.json

A number that several pages name is marked there as `67.3%<!--winner.masters-->`. docs/results/numbers.json has its
value, and names the model card that it comes from. tests/test_docs_numbers.py compares all of them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NUMBERS = DOCS / "results" / "numbers.json"
TABLES = DOCS / "results" / "tables.json"
BASELINE = "for comparison: "
LABELS = {
    "top move accuracy": "accuracy of the best target of the best origin",
    "sign accuracy": "winner accuracy, decided games",
    "value squared error": "mean squared error of the value",
    "material correlation": "correlation of value and material",
    "squared error": "mean squared error",
    "ahead of material in points": "advantage over material, percentage points",
    "winner accuracy ratings withheld": "winner accuracy without ratings",
    "outcome log loss": "log loss of the result",
    "win calibration error": "calibration error of the win probability",
    "log loss cost ratings shuffled": "rise of the log loss with shuffled ratings",
    "origin legal accuracy": "origin accuracy, legal-masked",
    "accuracy in last tenth": "accuracy in the last tenth of the game",
    "accuracy after last move": "accuracy after the last move",
    "score error": "score error, in points",
    "owners accuracy": "points right",
    "owners accuracy over all points": "points right, neutral points half right",
    "owners accuracy in last tenth": "points right in the last tenth of the game",
    "score lead error": "lead error, in points",
}
"""Words of the pages for rows of a card, whose names are JSON keys."""
_BLOCK = re.compile(r"(<!-- table: ([^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)
_VALUE = re.compile(r"(?P<value>\S+) \((?P<interval>[^)]*)\)")


@dataclass(frozen=True)
class CardRow:
    """A number of a model card: value and interval as text ("67.3%", "66.9 to 67.6"), n with its commas."""

    name: str
    value: str
    interval: str
    n: str


def card_rows(network: str, test: int) -> list[CardRow]:
    """The rows of the card's test, counted from 1."""
    card = (ROOT / "src" / "kibitz" / "networks" / network / "CARD.md").read_text(encoding="utf-8")
    section = re.split(r"^Test: ", card, flags=re.MULTILINE)[test]
    rows = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            break
        if len(cells) == 3 and (found := _VALUE.fullmatch(cells[1])):
            rows.append(CardRow(cells[0], found["value"], found["interval"].replace("%", ""), cells[2]))
    return rows


def card_table(network: str, test: int, wanted: str) -> Iterator[str]:
    """Named rows of a card's test and, if `baselines` is among the names after a semicolon, its baselines."""
    names, _, extra = (part.strip() for part in wanted.partition(";"))
    rows = card_rows(network, test)
    by_name = {row.name: row for row in rows}
    chosen = [by_name[name.strip()] for name in names.split(",")]
    if extra == "baselines":
        chosen += [row for row in rows if row.name.startswith(BASELINE)]
    yield from ("| metric | value | 95% interval | n |", "|---|---|---|---|")
    for row in chosen:
        name = LABELS.get(row.name, row.name)
        name = name.replace(f"{BASELINE}the network,", f"`{network}`,").replace(BASELINE, "baseline: ")
        yield f"| {name} | {row.value} | {'' if row.interval == '–' else row.interval} | {row.n} |"


def model(network: str) -> Iterator[str]:
    """What a card states about weights, data and the last training run."""
    card = (ROOT / "src" / "kibitz" / "networks" / network / "CARD.md").read_text(encoding="utf-8")

    def find(pattern: str) -> str:
        found = re.search(pattern, card)
        assert found is not None, (network, pattern)
        return " ".join(found[1].split())

    yield from ("| property | value |", "|---|---|")
    yield f"| weights, sha256 | `{find(r'sha256 ([0-9a-f]{16})')}…` |"
    yield f"| size of all files | {find(r'([0-9.]+ MB) in all')} |"
    yield f"| training games | {find(r'([0-9,]+) games for training')} |"
    yield f"| validation games | {find(r'([0-9,]+) for validation')} |"
    yield f"| test games | {find(r'([0-9,]+) for the test')} |"
    yield f"| store fingerprint | `{find(r'Store fingerprint ([0-9a-f]+)')}` |"
    place = "one thread" if "on a CPU" in card else find(r"; [0-9]+ minutes on ([^,]+),")
    yield f"| last training run | {find(r'; ([0-9]+ minutes) on')}, {place}, seed {find(r', seed ([0-9]+)')} |"
    yield f"| made with | {find(r'(kibitz [0-9.a-z]+),')}, {find(r'(torch [0-9.]+)')}, bf16 |"


def sources(name: str) -> Iterator[str]:
    """Where each number of the recipe `paper` comes from, the notes, and the departures."""
    from kibitz.systems import load

    system = load(name)
    recipe = system.recipes["paper"]
    settings: Any = system.settings_type(**recipe.settings)
    used = {setting: source for setting, source in recipe.sources.items() if source.kind != "off"}
    yield from ("| setting | value | from |", "|---|---|---|")
    for setting, source in used.items():
        yield f"| `{setting.replace('_', '-')}` | `{recipe.value(setting, settings)}` | {source.kind} |"
    yield from ("", "Notes:", "")
    yield from (f"- `{setting.replace('_', '-')}`: {source.note}." for setting, source in used.items() if source.note)
    yield from ("", "Departures from the document:", "")
    yield from (f"- {departure}." for departure in recipe.departures)


WEIGHTS_OF_LOSSES = {
    "outcome_weight": "result",
    "value_weight": "value",
    "win_weight": "winner",
    "owners_weight": "territory",
    "score_weight": "score",
}
"""Settings that weigh a part of the loss, relative to the loss for the move, in the words of the page."""


def recipes(name: str) -> Iterator[str]:
    """How each recipe of a system trains: optimizer, rate, schedule, decay, batch, length, weights of losses."""
    from kibitz.systems import load

    system = load(name)
    plans: dict[str, Any] = {recipe: system.settings_type(**each.settings) for recipe, each in system.recipes.items()}
    columns = {"optimizer": _optimizer, "learning rate": _rate, "schedule": _schedule, "weight decay": _decay}
    columns |= {"batch": lambda plan: f"{plan.batch:,}", "length": _length}
    if any(_losses(plan) for plan in plans.values()):
        columns["weights of losses"] = _losses
    yield from (f"| recipe | {' | '.join(columns)} |", f"|{'---|' * (len(columns) + 1)}")
    for recipe, plan in plans.items():
        yield f"| `{recipe}` | {' | '.join(column(plan) for column in columns.values())} |"


def _optimizer(plan: Any) -> str:
    """The optimizer with its momentum, if it has one; systems without the setting use Muon."""
    name = getattr(plan, "optimiser", "muon")
    return f"{name}, momentum {getattr(plan, 'momentum', 0.95):g}" if name in ("muon", "sgd") else name


def _rate(plan: Any) -> str:
    return f"{plan.learning_rate:g}"


def _schedule(plan: Any) -> str:
    if hasattr(plan, "schedule"):
        after = {"epoch": "each epoch", "step": f"{getattr(plan, 'step', 0):,} batches"}.get(plan.schedule)
        return f"{plan.schedule}: × {plan.decay:g} after {after}" if after else str(plan.schedule)
    return f"warmup {plan.warmup} batches, cooldown {plan.cooldown:.0%}"


def _decay(plan: Any) -> str:
    return f"{plan.weight_decay:g}"


def _length(plan: Any) -> str:
    """Batches or epochs, and the limit in epochs."""
    if not getattr(plan, "iterations", 0):
        pairs = f" of {plan.pairs:,} pairs" if hasattr(plan, "pairs") else ""
        return f"{plan.epochs:g} epochs{pairs}"
    limit = getattr(plan, "most_epochs", 0)
    return f"{plan.iterations:,} batches" + (f", at most {limit:g} epochs" if limit else "")


def _losses(plan: Any) -> str:
    if getattr(plan, "share", "body") != "body":  # separate networks, each with a loss of its own
        return ""
    given = {words: getattr(plan, setting, None) for setting, words in WEIGHTS_OF_LOSSES.items()}
    return ", ".join(f"{words} {weight:g}" for words, weight in given.items() if weight is not None)


def layers() -> Iterator[str]:
    """Layers and number of weights of each bundled network, and of a network that the recipe `default` trains."""
    from kibitz.runs import Run, packaged
    from kibitz.systems import load
    from kibitz.systems.base import settings_from

    def weights(network: Any) -> str:
        """Without what only the training of layer after layer needs."""
        kept = {name: values for name, values in network.state_dict().items() if not name.startswith("decoders.")}
        return f"{sum(values.numel() for values in kept.values()):,}"

    yield "| network | layers | weights | layers of `default` | weights of `default` |"
    yield "|---|---|---|---|---|"
    for name, folder in packaged().items():
        info = Run(folder).info
        system: Any = load(info["system"])
        plan = settings_from(system.settings_type, info["settings"])
        cells = [_layers(plan), weights(system.network(plan))]
        if info["system"] == name:
            usual = system.settings_type(**system.recipes["default"].settings)
            cells += [_layers(usual), weights(system.network(usual))]
        else:
            cells += ["", ""]
        yield f"| `{name}` | {' | '.join(cells)} |"


def _layers(plan: Any) -> str:
    if hasattr(plan, "blocks"):
        return f"{plan.blocks} blocks of {plan.filters} filters"
    if hasattr(plan, "pos2vec"):
        small = plan.networks == "distilled"
        embedding, head = (plan.small_pos2vec, plan.small_compare) if small else (plan.pos2vec, plan.compare)
        return f"`{embedding}`, then `{head}`" + ("" if small else ", and a small network")
    if getattr(plan, "networks", "") == "value":
        return f"`{plan.value_layers or plan.layers}`"
    many = "seven times " if getattr(plan, "share", "body") == "none" else ""
    return f"{many}`{plan.layers}`"


def read_numbers() -> dict[str, dict[str, Any]]:
    """Name -> value, and where it is known interval, n, card, network, test, metric, page."""
    numbers: dict[str, dict[str, Any]] = json.loads(NUMBERS.read_text(encoding="utf-8"))
    return numbers


def headline() -> Iterator[str]:
    """One row for each number with a page."""
    yield from ("| network | metric | test games | value | 95% interval | n | page |", "|---|---|---|---|---|---|---|")
    for number in read_numbers().values():
        if "page" in number:
            cells = [number[key] for key in ("metric", "test", "value", "interval", "n")]
            yield f"| `{number['network']}` | {' | '.join(cells)} | [{number['network']}]({number['page']}) |"


def stored(page: str, name: str) -> Iterator[str]:
    """A table of tables.json, which has columns and rows of text for each name of a page."""
    found = json.loads(TABLES.read_text(encoding="utf-8"))[page][name]
    yield f"| {' | '.join(found['columns'])} |"
    yield f"|{'---|' * len(found['columns'])}"
    yield from (f"| {' | '.join(row)} |" for row in found["rows"])


def table(order: str) -> Iterator[str]:
    """The lines that a comment asks for."""
    kind, _, rest = order.partition(" ")
    if kind == "sources":
        yield from sources(rest)
    elif kind == "model":
        yield from model(rest)
    elif kind == "recipes":
        yield from recipes(rest)
    elif kind == "layers":
        yield from layers()
    elif kind == "headline":
        yield from headline()
    elif kind == "stored":
        yield from stored(*rest.split())
    else:
        call, _, wanted = rest.partition(":")
        network, test = call.split()
        yield from card_table(network, int(test), wanted)


def filled(text: str) -> str:
    """The page with its tables replaced by the current ones."""
    return _BLOCK.sub(lambda found: found[1] + "\n".join(["", *table(found[2]), "", ""]) + found[3], text)


def main() -> None:
    changed = []
    for page in sorted(DOCS.rglob("*.md")):
        old = page.read_text(encoding="utf-8")
        if (new := filled(old)) != old:
            changed.append(page)
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    for page in changed:
        print(page.relative_to(ROOT))
    sys.exit(bool(changed) and "--check" in sys.argv)


if __name__ == "__main__":
    main()
