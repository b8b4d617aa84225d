"""The command `kibitz setup`: show how to use kibitz as an engine in another chess or Go program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from kibitz.errors import KibitzError, UsageError
from kibitz.messages import not_one_of
from kibitz.text import shown

LOWEST, HIGHEST = 800, 2800
"""The lowest and the highest value of --rating, the same as those of the option --elo of `kibitz uci`."""
DEFAULT_NETWORKS = {"chess": "human", "go": "gohuman"}


def setup(
    program: Annotated[str, typer.Argument(show_default=False, metavar="PROGRAM")],
    network: Annotated[str | None, typer.Option(metavar="NETWORK", show_default=False)] = None,
    rating: Annotated[int | None, typer.Option(metavar="RATING", show_default=False)] = None,
    rank: Annotated[str | None, typer.Option(metavar="RANK", show_default=False)] = None,
    write: Annotated[Path | None, typer.Option(metavar="FOLDER", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Print what to enter in a chess or Go program to use kibitz as an engine, with the absolute paths of this
    installation.
    """
    from kibitz.setups.programs import PROGRAMS, kibitz_command
    from kibitz.setups.writing import write_files

    if program == "katrain":
        raise KibitzError(
            "KaTrain uses the JSON protocol of KataGo, which kibitz does not support. Use Sabaki, Lizzie, q5Go or"
            " GoGui."
        )
    if program not in PROGRAMS:
        raise UsageError(not_one_of("PROGRAM", program, PROGRAMS))
    chosen = PROGRAMS[program]
    command = [*kibitz_command(), *_engine(chosen.game, network, rating, rank), *chosen.options]
    folder = (write or Path.cwd()).absolute()
    result = chosen.make(command, folder)
    if write is not None and not result.files:
        raise UsageError(
            f"--write works only with programs that have a settings file, and {chosen.title} has none. Leave --write"
            " out."
        )
    written = write_files(result.files, folder) if write is not None else []
    steps = list(result.steps)
    if write is None and any(one.is_script for one in result.files):
        steps.insert(0, f"Write the script below with --write {folder}.")
    if as_json:
        files = [{"name": one.name, "text": one.text, "script": one.is_script} for one in result.files]
        paths = [str(path) for path, _ in written]
        print(json.dumps(
            {"program": program, "title": chosen.title, "game": chosen.game, "command": command,
             "steps": steps, "files": files, "written": paths,
             "backups": [str(backup) for _, backup in written if backup]},
            indent=1, ensure_ascii=False,
        ))  # fmt: skip
        return
    for number, step in enumerate(steps, 1):
        print(f"{number}. {step}" if len(steps) > 1 else step)
    for path, backup in written:
        print(f"written: {path}{f' (the old file is {backup})' if backup else ''}")
    for file in result.files if write is None else ():
        print(f"\n# {file.name}\n{file.text.rstrip()}")


def _engine(game: str, network: str | None, rating: int | None, rank: str | None) -> list[str]:
    """Return the command and the options of the engine. Raises UsageError for a network of the other game, for a
    network that cannot play, and for an invalid rating or rank.
    """
    from kibitz.games import GAME_NAMES
    from kibitz.play import playable, plays_nothing
    from kibitz.runs import Run, packaged
    from kibitz.systems import find

    chosen = network or DEFAULT_NETWORKS[game]
    run = Run(chosen)
    if find(run.info["system"]).game != game:  # `run.system` would import torch
        raise UsageError(f"--network must be a network for {GAME_NAMES[game]} (got {network}). Choose another network.")
    if not playable(run):
        raise UsageError(plays_nothing(run.name))
    # A bundled network keeps its name. For any other run, the name is its absolute path.
    name = chosen if packaged().get(chosen) == run.path else str(run.path.absolute())
    if game == "go":
        if rating is not None:
            raise UsageError(f"--rating works only for chess (got {rating} for Go). Use --rank, such as --rank 5k.")
        if rank is None:
            return ["gtp", name]
        from kibitz.play.go.imitation import imitation

        known = imitation(rank, network=chosen, takes_ranks=run.takes_ranks, option="--rank")
        return ["gtp", name, "--rank", known["rank"]]
    if rank is not None:
        raise UsageError(
            f"--rank works only for Go (got {shown(rank)} for chess). Use --rating, such as --rating 1500."
        )
    if rating is None:
        return ["uci", name]
    if not run.takes_ratings:
        raise UsageError(
            f"--rating needs a network with rating inputs, and {network} has none (got {rating})."
            " Use the network 'human'."
        )
    if not LOWEST <= rating <= HIGHEST:
        raise UsageError(f"--rating must be between {LOWEST} and {HIGHEST} (got {rating})")
    return ["uci", name, "--elo", str(rating)]
