"""The command `kibitz analyze` for games of Go."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz import preparation, records
from kibitz.commands.analyze.options import AnalyzeOptions
from kibitz.commands.analyze.output import CheckedFile, Shown, as_object, game_page, progress, same_file
from kibitz.errors import KibitzError, UsageError
from kibitz.games.go.io.blocks import ENDINGS
from kibitz.games.go.points import POINTS
from kibitz.messages import warning
from kibitz.systems import find
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.analysis.go.games import AnalysedGame
    from kibitz.analysis.go.sharing import Numbered
    from kibitz.games.go.io.sgf import Record, Unreadable
    from kibitz.parallel import Workers
    from kibitz.play.session import Session


def analyze_go(session: Session, run: str, path: str, options: AnalyzeOptions, workers: Workers | None = None) -> None:
    """Analyze the games of an SGF file, and print the analysis or write it to files.

    session: the network. run: its name, as the user gave it. path: the SGF file; "-" is standard input. workers: the
    processes that analyze the games; None for this process. Raises UsageError for options that don't fit together or
    don't fit the network, and KibitzError if no game can be analyzed or the engine fails.
    """
    check_options(session, run, path, options)

    from rich.console import Console

    from kibitz.analysis.files import whole_file
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.analysis.go.rows import COLUMNS, rows
    from kibitz.analysis.go.sgf import annotated
    from kibitz.analysis.go.shown import shown_game
    from kibitz.analysis.go.terminal import show
    from kibitz.analysis.move_tables import move_tables

    checker = options.checker(session)
    searches = "policy" in session.outputs and not options.raw and checker is None
    preparation.expect("go search" if searches else "go")
    console, written = Console(), 0

    def begun() -> bool:
        return written > 0

    with contextlib.ExitStack() as stack:
        read = [] if options.page is None else records.find([path], ENDINGS)
        add_to_page = stack.enter_context(game_page(options.page, read, shown_game))
        engine = stack.enter_context(GoEngineJudge(checker)) if checker else None
        file = stack.enter_context(whole_file(options.sgf, begun)) if options.sgf else None
        games = SgfGames(session, path, options, workers, engine)
        last = games.problem
        put = stack.enter_context(as_object(run, session.system, last=last)) if options.as_json else None
        add_rows = stack.enter_context(move_tables(options.csv, options.parquet, COLUMNS, begun))
        for game in stack.enter_context(contextlib.closing(games.analysed())):
            if put:
                put(game.as_json(options.move, options.owners))
            if options.prints_games:
                if written:
                    print()
                show(game, options.move, console)
            if file:
                file.write(annotated(game))
            add_rows(rows(game, games.name))
            add_to_page(game)
            written += 1
    games.check_failure()


def check_options(session: Session, run: str, path: str, options: AnalyzeOptions) -> None:
    """Check the options of `kibitz analyze` for Go.

    session: the network. run: its name, as the user gave it. path: the file of games. Raises UsageError for options
    that don't fit together, don't fit the network, or would overwrite a file that kibitz reads.
    """
    if options.swing is not None and not 0 < options.swing <= POINTS:
        raise UsageError(f"--swing must be greater than 0 and at most {POINTS} points (got {options.swing:g})")
    checker = options.checker(session)
    if options.nodes and checker is None and "policy" not in session.outputs:
        raise UsageError(
            f"--nodes does not work with {run}, which does not predict moves (got {options.nodes}). Use the network"
            " 'gohuman'."
        )
    if options.owners and not options.as_json:
        raise UsageError("--owners prints numbers and needs --json. Add --json.")
    if options.sgf and any(same_file(options.sgf, records.on_disk(file)) for file in records.find([path], ENDINGS)):
        raise UsageError(
            f"--sgf must not be the file that kibitz reads (got {options.sgf}): its comments and variations would"
            " be lost. Choose another file."
        )


def _sizes(info: dict[str, Any]) -> list[int]:
    """Return the board sizes on which a run was trained: its setting `sizes`, or the sizes of its system."""
    settings = info["settings"]
    if "sizes" in settings:
        return [int(size) for size in str(settings["sizes"]).split(",")]
    return list(find(info["system"]).sizes_of(settings))


_uncounted = partial(progress, measured=False)
"""Progress without the number of bytes, which the SGF reader does not report."""


class SgfGames(CheckedFile):
    """The games of an SGF file or folder to analyze. The class also reports the games that can't be analyzed.

    session: the network. path: the file or folder. options: the options of the command. workers: the processes that
    analyze the games; None for this process. engine: the engine that evaluates the moves; None if the network evaluates
    them.
    """

    def __init__(
        self, session: Session, path: str, options: AnalyzeOptions, workers: Workers | None = None,
        engine: GoEngineJudge | None = None,
    ):  # fmt: skip
        self.session, self.path, self.options, self.workers, self.engine = session, path, options, workers, engine
        self.name = "standard input" if path == records.STDIN else records.printable(path)
        self.boards = _sizes(session.run.info)
        """The board sizes on which the network was trained. They are read from run.json, because reading a run's
        settings imports torch.
        """
        self.read = 0
        self.refused: list[str] = []
        """The games that could not be analyzed, each with the reason."""
        self._held_back = ""
        """The problem of the first game. If no other game follows, it becomes an error, else a warning."""
        self._warned_sizes: set[int] = set()
        self._unwanted = 0

    def analysed(
        self, shown: Shown = _uncounted, wanted: Callable[[Record], bool] = lambda record: True
    ) -> Generator[AnalysedGame]:
        """Analyze the games one by one and yield the results. Games that can't be analyzed are reported on standard
        error.

        shown: a function that takes a file's path and returns a context manager that shows the progress, such as
        `kibitz.commands.analyze.output.progress`. wanted: a function that returns whether the game of a record is to be
        analyzed.

        Raises KibitzError if no game can be analyzed.
        """
        done = 0
        with shown(self.path) as show:
            for game in self.until_failure(self._judged(self._records(show, wanted))):
                self._warn_about(game)
                done += 1
                yield game
        if not done and not self._unwanted:
            raise self._nothing_left()

    def _judged(self, games: Iterator[Numbered]) -> Iterator[AnalysedGame]:
        """Yield the analysis of each game, made in this process or by workers. Games that the engine rejects are
        skipped.
        """
        from kibitz.analysis.checkers import GameRejected

        swing, nodes = self.options.swing, 0 if self.options.raw else self.options.nodes
        if self.workers is None:
            from kibitz.analysis import load_owners
            from kibitz.analysis.go.games import analyse

            analysis = load_owners(self.session.system)
            for number, record in games:
                try:
                    yield analyse(
                        number, record, self.session, analysis, swing, nodes, steadied=True, engine=self.engine
                    )
                except GameRejected as error:
                    self._refuse(str(error), number)
            return
        from kibitz.analysis.go.sharing import OwnerQuestion, analysed_by_workers
        from kibitz.analysis.sharing import name_for_workers

        checker = self.engine.checker if self.engine else None
        question = OwnerQuestion(name_for_workers(self.session), swing, nodes, checker)
        with contextlib.closing(analysed_by_workers(games, question, self.workers)) as analysed:
            for number, found in analysed:
                if isinstance(found, GameRejected):
                    self._refuse(str(found), number)
                else:
                    yield found

    def _records(self, show: Callable[[int, int], None], wanted: Callable[[Record], bool]) -> Iterator[Numbered]:
        """Yield the games that can be analyzed, each with its place in the file."""
        from kibitz.games.go.io.sgf import Unreadable, read_records

        only = self.options.game
        for record in read_records([self.path], cut=True):
            show(self.read, 0)
            if isinstance(record, Unreadable) and record.number == 0:
                self._file_problem(record)
                continue
            self.read += 1
            if self._held_back:
                warning(self._held_back)
                self._held_back = ""
            if only in (None, self.read):
                if isinstance(record, Unreadable):
                    self._refuse(record.reason, self.read, record if Path(self.path).is_dir() else None)
                elif not wanted(record):
                    self._unwanted += 1
                elif problem := self._too_large(record.size):
                    self._refuse(problem, self.read)
                else:
                    yield self.read, record
            if only == self.read:
                break

    def _file_problem(self, record: Unreadable) -> None:
        """Report a file that can't be read, or can't be read to its end, and text that belongs to no game. Raises
        KibitzError for a file if there are no other files.
        """
        line = f"{record.file}: {record.reason}"
        if not record.is_stray and not Path(self.path).is_dir():
            raise KibitzError(line)
        warning(line)

    def _refuse(self, problem: str, number: int, inside: Unreadable | None = None) -> None:
        """Skip a game, and report the problem. number: the game's place in the file. inside: the record whose file the
        message must mention.
        """
        where = f"{inside.file} game {inside.number}" if inside else f"{self.name} game {number}"
        line = f"{where}: {problem}"
        self.refused.append(line)
        if self.options.game is None and self.read == 1:
            self._held_back = line
        elif self.options.game is None:
            warning(line)

    def _too_large(self, size: int) -> str | None:
        """Return why the network does not support a board of this size; None if it does."""
        largest = max(self.boards)
        if size <= largest:
            return None
        return f"the board is {size}×{size}, and {self.session.name} takes at most {largest}×{largest}"

    def _warn_about(self, game: AnalysedGame) -> None:
        where, size, move = f"{self.name} game {game.number}", game.record.size, self.options.move
        if size not in self.boards and size not in self._warned_sizes:
            self._warned_sizes.add(size)
            warning(f"{where}: {self.session.name} was not trained on boards of {size}×{size}")
        if game.assumed:
            warning(f"{where}: {'; '.join(game.assumed)}")
        if game.problem:
            warning(f"{where}: {game.problem}. The moves before it are analyzed.")
        if move is not None and move > len(game.moves):
            warning(
                f"{where} has {number_of(len(game.moves), 'move')} (got --move {move}). Its last position is shown."
            )

    def _nothing_left(self) -> KibitzError:
        only = self.options.game
        if not self.read:
            return KibitzError(f"{self.name} has no game. Check that it is an SGF file.")
        if only is not None and self.read < only:
            count = number_of(self.read, "game")
            return KibitzError(f"{self.name} has no game {only}: the file has {count}. Choose --game 1 to {self.read}.")
        first = self.refused[0]
        if only is not None or self.read == 1:
            return KibitzError(first)
        why = f"{len(self.refused):,} skipped, the first: {first.removeprefix(self.name + ' ')}"
        return KibitzError(f"{self.name}: no game can be analyzed ({why})")
