"""The command `kibitz personal`: train a network to play like one person, with this person's games."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz import ongoing
from kibitz.commands.accounts import AccountOptions, files_of, names_of
from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.personal.fitting import PersonalResult, PersonalStep


@dataclass(frozen=True)
class PersonOptions:
    """The command-line options of `kibitz personal`: the person whose games are the training data, and how to train."""

    player: Annotated[
        list[str] | None,
        typer.Option(),
    ] = None
    base: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="RUN",
            show_default=False,
        ),
    ] = ""
    run: Annotated[Path | None, typer.Option(show_default="runs/personal-NAME")] = None
    update: Annotated[bool, typer.Option("--update")] = False
    most_games: Annotated[int | None, typer.Option(min=20)] = None
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1)] = 0
    time_limit: Annotated[float | None, typer.Option()] = None


def personal(
    games: Annotated[
        list[str],
        typer.Argument(
            show_default=False,
            metavar="MY.pgn|MY.sgf|FOLDER|STORE",
        ),
    ],
    *,
    options: PersonOptions,
    account: AccountOptions,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Train a network to play like one person, from this person's games.

    The training takes some minutes for a thousand games. To resume the training after Ctrl-C, run the same command
    again. The games stay on this computer.

    The result is a run (the folder of a trained network) that contains an opening book and an adapted network. All
    commands for networks accept the run. Examples of these commands are test, match, analyze, board, uci for chess and
    gtp for Go.
    """
    from kibitz.commands.train import check_time_limit
    from kibitz.personal.fitting import PersonalRequest, make

    check_time_limit(options.time_limit)
    players = options.player or names_of(games)
    games = files_of(games, account.wanted(games))
    request = PersonalRequest(
        games, players, options.base, options.run, options.most_games, options.update,
        seed=options.seed, time_limit=None if options.time_limit is None else 60 * options.time_limit,
        command=shlex.join(["kibitz", *sys.argv[1:]]),
    )  # fmt: skip
    with PersonalBar() as bar, ongoing.listening(bar.on_evaluated):
        done = make(request, bar.on_step, bar.log)
    if as_json:
        print(
            json.dumps({"run": str(done.path), "reason": done.reason, **_printed_fields(done.info)}, ensure_ascii=False)
        )
    else:
        _report(done)
    if done.reason == "stopped":
        raise typer.Exit(130)


EVERY = 15.0
"""The number of seconds between two lines of progress without a terminal."""


class PersonalBar(Progress):
    """A progress bar for each training run, and for each time that a network evaluates many positions."""

    def __init__(self) -> None:
        super().__init__(
            "{task.description}", BAR, "{task.completed:,.0f} of {task.total:,.0f}", "{task.fields[figures]}", LEFT,
            stays=True, every=EVERY,
        )  # fmt: skip
        self._number = 0
        self._figures = ""

    def on_evaluated(self, done: int, total: int) -> None:
        """Show that a network has evaluated `done` of `total` positions, before or between the training runs."""
        title = "evaluating positions"
        if not done:
            self.begin(title, total, passing=True, figures="")
            self._number = 0
        figures = f"{self.rate(done):,.0f} positions/s" if done else ""
        self.update(done, f"{title}: {done:,} of {total:,}{figures and f': {figures}'}", figures=figures)

    def on_step(self, step: PersonalStep) -> None:
        """Update the bar. The training calls this method after every iteration of a training run."""
        progress = step.progress
        title = f"training {step.number}, {step.name}"
        if self._number != step.number:
            self.begin(title, progress.iterations, progress.iteration - 1, figures="")
            self._number, self._figures = step.number, ""
        if progress.samples_per_second is not None:
            loss = "" if progress.loss is None else f"loss {progress.loss:.4f}, "
            self._figures = f"{loss}{progress.samples_per_second:,.0f} positions/s"
        if progress.note.startswith("warning"):
            self.log(f"{title}: {progress.note}")
        line = f"{title}: {progress.iteration:,} of {progress.iterations:,}: {self._figures}"
        self.update(progress.iteration, line, figures=self._figures)


def _printed_fields(info: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a run.json that are printed with --json."""
    data = {"person": info["person"], "games": info["data"]["games"], "split": info["data"]["split_in_words"]}
    return data | {name: info[name] for name in ("kept", "book", "candidates", "finished")}


def _report(done: PersonalResult) -> None:
    """Print a table of the networks that were tried, and of the selected one."""
    from kibitz.commands.tables import print_table
    from kibitz.personal.fitting import shown_name

    info, path = done.info, done.path
    if done.reason == "finished before":
        print(f"{path}: the training on these games is finished. Add new games with --update.")
    if done.reason in ("stopped", "time limit"):
        print(f"{path}: {done.reason}. Run the same command again to resume.")
        return
    rows = [
        (
            shown_name(row["name"]),
            f"{row['accuracy']:.1%}", f"{row['accuracy_with_book']:.1%}", f"{row['log_loss']:.4f}",
            f"{row['log_loss_with_book']:.4f}", f"{row['log_loss_past_move_10']:.4f}",
        )
        for row in info["candidates"]
    ]  # fmt: skip
    print_table(
        f"{info['person']['name']}: {number_of(sum(info['data']['games'].values()), 'game')}; on the validation games",
        ("network", "right", "with the book", "log loss", "with the book", "past the opening"), rows,
        right=(1, 2, 3, 4, 5),
    )  # fmt: skip
    if info["kept"] == "nothing":
        print("kept: the initial network with the opening book, because training did not improve the network")
    else:
        print(f"kept: {info['kept']}, with the opening book. This network has the lowest log loss past the opening")
    run = shlex.quote(str(path))
    engine = "gtp" if info["game"] == "go" else "uci"
    print(f"next: kibitz board {run}, kibitz test {run}, kibitz {engine} {run}")
