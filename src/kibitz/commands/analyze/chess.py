"""The command `kibitz analyze` for games of chess."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from kibitz import preparation, records
from kibitz.commands.analyze.options import AnalyzeOptions
from kibitz.commands.analyze.output import CheckedFile, Shown, as_object, game_page, progress, same_file
from kibitz.errors import KibitzError, UsageError
from kibitz.messages import warning

if TYPE_CHECKING:
    from kibitz.analysis import Analysis
    from kibitz.analysis.chess.judging import Judge
    from kibitz.analysis.chess.moves import AnalysedGame
    from kibitz.games.chess.io.blocks import Stray
    from kibitz.games.chess.io.reader import Record
    from kibitz.parallel import Workers
    from kibitz.play.session import Session
    from kibitz.systems.declaration import Meaning


SWING = 10.0
"""The default of --swing for chess: a move is annotated if it loses at least this number of percentage points."""


def analyze_chess(
    session: Session, run: str, path: str, options: AnalyzeOptions, workers: Workers | None = None
) -> None:
    """Analyze the games of a PGN file, and print the analysis or write it to files.

    session: the network. run: its name, as the user gave it. path: the PGN file; "-" is standard input. workers: the
    processes that analyze the games; None for this process. Raises UsageError for options that don't fit together or
    don't fit the network, and KibitzError if no game can be analyzed or the engine fails.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import predicts_winner
    from kibitz.analysis.chess.moves import Report, meaning_of
    from kibitz.analysis.chess.pgn import annotated
    from kibitz.analysis.chess.rows import COLUMNS, rows
    from kibitz.analysis.chess.shown import shown_game
    from kibitz.analysis.chess.terminal import show_report
    from kibitz.analysis.files import whole_file
    from kibitz.analysis.move_tables import move_tables

    if options.practical:
        check_practical(session)
    if options.swing is not None and options.checker(session) is None and not predicts_winner(session):
        raise UsageError(
            f"--swing does not work with {session.name}, which does not predict who wins (got {options.swing:g}). Leave"
            " --swing out."
        )
    games = PgnGames(session, path, options, workers)
    analysis, report = load(session.system), Report()
    with contextlib.ExitStack() as stack:
        add_to_page = stack.enter_context(game_page(options.page, [path], partial(shown_game, swing=games.swing)))
        judge = stack.enter_context(opened_judge(session, analysis, options))
        preparation.expect("chess search" if judge and judge.searches else "chess")
        meaning = meaning_of(session.system, judge is not None)

        def last() -> dict[str, Any]:
            return {**({"report": report.as_json()} if options.every and judge else {}), **games.problem()}

        def begun() -> bool:
            return report.games > 0

        file = stack.enter_context(whole_file(options.pgn, begun)) if options.pgn else None
        put = stack.enter_context(as_object(run, session.system, meaning.note, last)) if options.as_json else None
        add_rows = stack.enter_context(move_tables(options.csv, options.parquet, COLUMNS, begun))
        table = _table(games.swing)
        for game in stack.enter_context(contextlib.closing(games.analysed(analysis, meaning, judge))):
            if put:
                put(game.as_json())
            if options.prints_games:
                table(game)
            if file:
                file.write(annotated(game))
            add_rows(rows(game, games.name))
            add_to_page(game)
            report.add(game)
        if options.every and judge and options.prints_games:
            show_report(report)
    games.check_failure()


def _ratings(session: Session, text: str) -> tuple[int, int]:
    """Parse the pair of ratings in `--rating`, in Elo points. Raises UsageError for a network without rating inputs."""
    from kibitz.analysis.chess.ratings import RATING, read_pair

    if RATING not in session.side_inputs:
        raise UsageError(
            f"--rating needs a network with rating inputs, and {session.name} has none (got {text})."
            " Use the network 'human'."
        )
    return read_pair(text)


def check_practical(session: Session) -> None:
    """Raise UsageError if the network does not predict the moves of players of any rating, as --practical needs."""
    from kibitz.analysis.chess.ratings import compares_ratings

    if not compares_ratings(session):
        raise UsageError(
            f"--practical needs a network that predicts the moves of players of any rating (got {session.name}). Use"
            " the network 'human'."
        )


@contextlib.contextmanager
def opened_judge(session: Session, analysis: Analysis, options: AnalyzeOptions) -> Iterator[Judge | None]:
    """Return a context manager that yields the judge: the object that evaluates moves, by an engine or by a search with
    the network. If the judge is an engine, its process ends with the context.

    The judge is None with --raw, and for a network that does not predict who wins. Raises UsageError for search limits
    that would have no effect, and KibitzError for an engine that does not start.
    """
    from kibitz.analysis.chess.engine_judge import EngineJudge

    if (checker := options.checker(session)) is None:
        yield _own_judge(session, analysis, options)
        return
    with EngineJudge(session, analysis, checker) as judge:
        yield judge


def _own_judge(session: Session, analysis: Analysis, options: AnalyzeOptions) -> Judge | None:
    """Return the judge that uses the network's search; None with --raw, and for a network that does not predict who
    wins. Raises UsageError for search limits that are out of range or have no effect.
    """
    from kibitz.analysis.chess.judging import MAX_DEPTH, MAX_EVALUATIONS, judge_by_search

    for name, value, most in (("--nodes", options.nodes, MAX_EVALUATIONS), ("--depth", options.depth, MAX_DEPTH)):
        if value is not None and value > most:
            raise UsageError(f"{name} must be at most {most:,} without --checked-by (got {value:,})")
    judge = None if options.raw else judge_by_search(session, analysis, options.depth, options.nodes)
    if options.nodes and (judge is None or not judge.searches):
        remedy = "Leave it out." if judge is None else "Use --depth."
        raise UsageError(
            f"--nodes cannot be used with {session.name}, which does not search (got {options.nodes}). {remedy}"
        )
    if options.depth is not None and judge is None:
        raise UsageError(
            f"--depth does not work with {session.name}, which does not predict who wins (got {options.depth}). Leave"
            " --depth out."
        )
    return judge


class PgnGames(CheckedFile):
    """The games of a PGN file to analyze. The class also reports and counts the games that can't be analyzed.

    session: the network. path: the file. options: the options of the command.
    number: the number of the only game to analyze, from 1; None for all games.
    swing: the smallest annotated change of the win probability, 0 to 1.
    replaced: whether the output of --pgn replaces the file that kibitz reads. In this case, kibitz must analyze every
        game of the file, because the new file has only the analyzed games.
    workers: the processes that analyze the games; None for this process.
    """

    def __init__(self, session: Session, path: str, options: AnalyzeOptions, workers: Workers | None = None):
        """Check the options. Raises UsageError for options that don't fit together or don't fit this network."""
        swing = SWING if options.swing is None else options.swing
        if not 0 < swing <= 100:
            raise UsageError(f"--swing must be greater than 0 and at most 100 percentage points (got {swing:g})")
        self.session, self.path, self.swing, self.workers = session, path, swing / 100, workers
        self.number = None if options.every or options.about_player else options.game or 1
        self.replaced = bool(options.pgn) and same_file(options.pgn or "", path)
        if options.pgn and not self.replaced and same_file(options.pgn, records.on_disk(path)):
            raise UsageError(
                f"--pgn must not be the archive that kibitz reads (got {options.pgn}). Choose another file."
            )
        if self.replaced and self.number is not None:
            raise UsageError(
                f"--pgn without --all must not be the file that kibitz reads (got {options.pgn}): its other games would"
                " be lost. Add --all or choose another file."
            )
        self.ratings = _ratings(session, options.rating) if options.rating is not None else None
        self.practical = options.practical
        self.name = "standard input" if path == records.STDIN else records.printable(path)
        self.refused: list[str] = []
        """The games that could not be analyzed, each with the reason."""
        self._unrated: list[int] = []

    def analysed(
        self,
        analysis: Analysis,
        meaning: Meaning,
        judge: Judge | None,
        wanted: Callable[[Record], bool] = lambda record: True,
        shown: Shown = progress,
    ) -> Generator[AnalysedGame]:
        """Analyze the games one by one and yield the results. Games that can't be analyzed are reported on standard
        error.

        analysis: the module that reads the network's outputs, see `kibitz.analysis.Analysis`.
        meaning: the meaning of the evaluations, such as White's win probability.
        judge: the object that evaluates moves, see `opened_judge`; None for the network's evaluations without a search.
        wanted: a function that returns whether the game of a record is to be analyzed.
        shown: a function that takes a file's path and returns a context manager that shows the progress, such as
            `kibitz.commands.analyze.output.progress`.

        Raises KibitzError if none of the games can be analyzed. If `replaced` is true, the method also raises
        KibitzError at a game with an error or a warning, and at text outside the games. The new file would not contain
        the text, or the part of the game after the error.
        """
        from kibitz.games.chess.io.reader import read

        done = others = 0

        def accepted(games: Iterable[Record]) -> Iterator[Record]:
            nonlocal others
            for record in games:
                if not wanted(record):
                    others += 1
                elif self._accepts(record):
                    yield record

        with (
            shown(self.path) as show,
            contextlib.closing(read(self.path, self.number, show, self._on_stray)) as games,
        ):
            for game in self.until_failure(self._judged(accepted(games), analysis, meaning, judge)):
                done += 1
                yield game
        self._warn_of_ratings()
        if not done and not others:
            raise self._nothing_left()

    def _judged(
        self, records: Iterator[Record], analysis: Analysis, meaning: Meaning, judge: Judge | None
    ) -> Iterator[AnalysedGame]:
        """Yield the analysis of each game, made in this process or by workers. Games that the engine rejects are
        skipped.
        """
        from kibitz.analysis.checkers import GameRejected

        if self.workers is None:
            from kibitz.analysis.chess.moves import analyse
            from kibitz.analysis.chess.practical import with_practical_choices

            for record in records:
                try:
                    game = analyse(record, self.session, analysis, self.swing, self.ratings, meaning, judge)
                    game = with_practical_choices(game, judge, self.ratings) if self.practical and judge else game
                except GameRejected as error:
                    self._refuse(record, str(error))
                else:
                    yield game
            return
        from kibitz.analysis.chess.sharing import MoveQuestion, analysed_by_workers
        from kibitz.analysis.sharing import name_for_workers

        search = None if judge is None else (judge.depth, judge.nodes)
        checker = judge.checker if judge else None
        question = MoveQuestion(
            name_for_workers(self.session), self.swing, self.ratings, meaning, search, checker, self.practical
        )
        with contextlib.closing(analysed_by_workers(records, question, self.workers)) as games:
            for record, found in games:
                if isinstance(found, GameRejected):
                    self._refuse(record, str(found))
                else:
                    yield found

    def _accepts(self, record: Record) -> bool:
        """Return whether a game can be analyzed. The method also warns about problems of the game."""
        from kibitz.analysis.chess.ratings import RATING, lacking

        if record.refused:
            self._refuse(record, record.refused)
            return False
        where = f"{self.name} game {record.number}"
        for note in record.notes:
            warning(f"{where}: {note}")
        if record.problem:
            warning(f"{where}: {record.problem}. The moves before it are analyzed.")
        if self.replaced and (record.problem or record.notes):
            raise self._unchanged(f"the errors in game {record.number}")
        if RATING in self.session.side_inputs and self.ratings is None and lacking(record.game.headers):
            self._unrated.append(record.number)
        return True

    def _refuse(self, record: Record, reason: str) -> None:
        """Skip a game, and report the reason. Raises KibitzError if the file is to be replaced."""
        self.refused.append(f"{self.name} game {record.number}: {reason}")
        if self.number is None:
            warning(self.refused[-1])
        if self.replaced:
            raise self._unchanged(f"game {record.number}")

    def _unchanged(self, lost: str) -> KibitzError:
        return KibitzError(f"{self.path} is unchanged: rewriting it would lose {lost}. Choose another file.")

    def _on_stray(self, stray: Stray) -> None:
        """Report text that belongs to no game. Raises KibitzError if the file is to be replaced."""
        if self.replaced:
            where = f"after game {stray.games}" if stray.games else "at its beginning"
            raise self._unchanged(f"text {where}")
        if self.number is None and not stray.words.startswith("%"):
            warning(f"{self.name} line {stray.line}: skipped text that belongs to no game ({stray.words})")

    def _warn_of_ratings(self) -> None:
        """Warn about games without a rating that is an input of the network."""
        from kibitz.analysis.chess.limits import HIGHEST, LOWEST
        from kibitz.analysis.chess.ratings import RATING, UNIT

        if not self._unrated:
            return
        which = f"game {self._unrated[0]} lacks"
        if len(self._unrated) > 1:
            which = f"{len(self._unrated):,} games (the first is game {self._unrated[0]}) lack"
        usual = self.session.side_inputs[RATING] * UNIT
        took = f"The network assumes {usual}" if usual else "The network treats the rating as unknown"
        warning(f"{self.name}: {which} a rating from {LOWEST} to {HIGHEST}, which is an input of the network. {took}.")

    def _nothing_left(self) -> KibitzError:
        first = self.refused[0] if self.refused else ""
        if self.number is not None:
            return KibitzError(f"{first}. Choose another game with --game.")
        why = f"{len(self.refused):,} skipped, the first: {first.removeprefix(self.name + ' ')}"
        return KibitzError(f"{self.name}: no game can be analyzed ({why})")


def _table(swing: float) -> Callable[[AnalysedGame], None]:
    """Return the function that prints each game as a table."""
    from rich.console import Console

    from kibitz.analysis.chess.terminal import show

    console = Console()
    printed = 0

    def one(game: AnalysedGame) -> None:
        nonlocal printed
        if printed:
            print()
        show(game, swing, console)
        printed += 1

    return one
