"""Export a network as a static site: one page on which the network plays and analyzes in the visitor's browser, without
a server.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kibitz.durable import write_whole
from kibitz.errors import KibitzError
from kibitz.games.go.sides import board_inputs
from kibitz.runs import ONNX, Run, write_json
from kibitz.training.standalone import CARD, LICENSE, opened
from kibitz.web.networks import MOVES, OWNERS, WHITE, NetworkInfo
from kibitz.web.page import PAGE

SHARE = PAGE / "share"
"""The folder with the built files of the page, which are copied to each site."""
DESCRIPTION = "network.json"
WORKER = "sw.js"
"""The name of the script that stores the site in the browser, so that it works without a connection."""
PUCT, SHORT_SEARCH = "puct", "short-puct"
"""Two methods to choose moves. PUCT is kibitz's search. SHORT_SEARCH replaces it in the browser
(frontend/src/server/api.ts).
"""
VERSION, FILES = 'const VERSION = "";', "const FILES = [];"
"""Two lines of the script WORKER that are replaced in each site."""


def check(run: Run) -> None:
    """Raise KibitzError if a static site (see `write_site`) can't show this network. The network must evaluate
    positions, or predict moves or territory.
    """
    known = NetworkInfo(run.name, "run", run)
    if not answers_of(known):
        raise KibitzError(
            f"kibitz export --web does not support {run.info['system']} networks (got {run.name})."
            " Choose a network that predicts moves or the result, such as human."
        )


def answers_of(known: NetworkInfo) -> list[str]:
    """Return the kinds of outputs of a network that a static site can show, as a list of constants. WHITE is the win
    probability, MOVES are the moves, and OWNERS is the territory. The list is [] for a network that only compares
    positions. known: the description of the network.
    """
    if known.declaration is None or known.declaration.answers_of(known.settings) == ("comparison",):
        return []
    return [kind for kind in (WHITE, MOVES, OWNERS) if kind in known.answers]


def write_site(run: Run, folder: Path, name: str | None = None) -> list[Path]:
    """Write a static site of a network into a folder, and return the paths of its files. On its page, the network plays
    and analyzes in the visitor's browser, without a server.

    name: the network's name on the site; None for the name of the run. The site of a personal network has no model
    card, because the card may contain the player's name.

    Raises KibitzError if a static site can't show the network (see `check`), if the network's file is missing or
    damaged, or if the files of the page are not built.
    """
    check(run)
    opened(run)
    if not (SHARE / "index.html").is_file():
        raise KibitzError(
            f"The page of --web is not built ({SHARE} is missing). Install kibitz again where npm can be reached, or"
            " run make page."
        )
    shutil.copytree(SHARE, folder, dirs_exist_ok=True)
    shutil.copyfile(run.path / ONNX, folder / ONNX)
    write_json(folder / DESCRIPTION, describe(run, name or Path(run.name).name))
    _write_worker(folder)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def describe(run: Run, name: str) -> dict[str, Any]:
    """Return the data about a network that the page of its static site (see `write_site`) reads: the description that
    the server of `kibitz board` would send, the file of the network, its side inputs (ratings, komi and other facts
    besides the board) and its license. name: the network's name on the site.
    """
    known = NetworkInfo(run.name, "package", run)
    content = (run.path / ONNX).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    card = run.path / CARD
    answers = answers_of(known)
    plays = run.info["game"] == "chess" or MOVES in answers
    methods = [{"name": "top-prob", "title": "the likeliest move", "searches": False}] * plays
    if MOVES in answers and PUCT in known.methods:
        methods.append({"name": SHORT_SEARCH, "title": "PUCT for less than a second", "searches": True})
    network = {
        **known.as_json(),
        "name": name, "answers": answers, "plays": plays,
        "methods": [method["name"] for method in methods], "ways": methods,
        "planes": False, "metrics": False, "live": False, "snapshots": 0, "from": "package", "stamp": digest[:16],
        "person": None if run.person is None else name, "problem": None, "single": True,
    }  # fmt: skip
    return {
        "network": network,
        "file": {"name": ONNX, "bytes": len(content), "sha256": digest},
        "side_inputs": [[column, usual] for column, usual in run.side_inputs.items()],
        "rules": {name: board_inputs(0.0, name == "territory")["rules"] for name in ("area", "territory")},
        "ranks": _ranks(run),
        "license": LICENSE,
        "source": f"kibitz {version('kibitz')}",
        "card": card.read_text(encoding="utf-8") if card.is_file() and run.person is None else "",
    }


def _ranks(run: Run) -> dict[str, Any] | None:
    """Return what the page needs to imitate Go players of a rank, as `kibitz.play.go.imitation` determines it; None for
    a network without rank inputs.

    temperature: the temperature for sampling. inputs: the input of each rank. rules: the input of the rules by scoring.
    handicap: the input of no handicap stones; each stone adds 1.
    """
    if not run.takes_ranks:
        return None
    from kibitz.play.go.imitation import TEMPERATURE, players_inputs, ranks
    from kibitz.play.go.thought import Terms

    inputs = {rank: players_inputs(Terms(), rank) for rank in ranks()}
    some = ranks()[0]
    return {
        "temperature": TEMPERATURE,
        "inputs": {rank: known["rank"] for rank, known in inputs.items()},
        "rules": {
            name: players_inputs(Terms(territory=name == "territory"), some)["rules"] for name in ("area", "territory")
        },
        "handicap": inputs[some]["handicap"],
    }


def _write_worker(folder: Path) -> None:
    """Write the list of files into the script. With it, the site works without a connection after the first visit."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    names.remove(WORKER)
    whole = hashlib.sha256()
    for each in names:
        whole.update(f"{each}\0{hashlib.sha256((folder / each).read_bytes()).hexdigest()}\n".encode())
    script = (folder / WORKER).read_text(encoding="utf-8")
    script = script.replace(VERSION, f"const VERSION = {json.dumps(whole.hexdigest()[:16])};")
    script = script.replace(FILES, f"const FILES = {json.dumps(['./', *names])};")
    write_whole(folder / WORKER, script.encode())
