"""The option --player of `kibitz analyze` for chess: a report about one player's own games."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz import records
from kibitz.commands.analyze.chess import PgnGames, opened_judge
from kibitz.commands.analyze.options import AnalyzeOptions
from kibitz.commands.analyze.output import as_object
from kibitz.commands.pages import check_page, write_page
from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.errors import KibitzError, UsageError
from kibitz.external import EngineDied
from kibitz.messages import note, warning
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.analysis.chess.moves import AnalysedGame
    from kibitz.analysis.chess.player import PlayerReport
    from kibitz.analysis.go.player import GoPlayerReport
    from kibitz.parallel import Workers
    from kibitz.personal.names import Player
    from kibitz.play.session import Session

FIRST_GAMES, FIRST_SECONDS = 3, 5.0
"""kibitz estimates the time of the whole report after this number of games and this number of seconds. Earlier, the
estimate would be too long, because functions may be compiled during the first game.
"""
LONG = 90.0
"""If a report takes more than this number of seconds, kibitz prints the estimated time."""

OnProgress = Callable[[int, int], None]
"""A function that is called with the number of games and the number of bytes read so far."""


def find_player(game: str, path: str, options: AnalyzeOptions) -> list[Player]:
    """Find the player of a report in the games. Return a list with one `Player` for each name of the option --player.
    These names are the accounts of one person. Without a name, the list has the player of nearly all games. Each
    `Player` has all spellings of a name.

    The function needs no network. So the command can report a wrong name before it loads the network.

    game: "chess" or "go". path: the file or folder of the games. options: the options of the command, which also name
    the output files.

    Raises UsageError for an unknown player, for standard input, and if the file of --page is one of the files that the
    command reads. Raises KibitzError if the file of --page can't be written, or if no game has a move.
    """
    if path == records.STDIN:
        raise UsageError(
            "the report about a player reads the games twice, so they cannot come from standard input (got -). Give a"
            " file name."
        )
    files = records.find([path], tuple(ending for ending, its in records.ENDINGS.items() if its == game))
    if options.page is not None:
        written = [file for file in (options.pgn, options.sgf) if file and file != records.STDIN]
        check_page(Path(options.page), "--page", [*files, *written])
    names = options.player or []
    if game == "chess":
        from kibitz.analysis.chess import player_sides

        return player_sides.players_in(files, names, records.printable(path))
    from kibitz.analysis.go import player

    return player.players_in(path, names)


def analyze_player(
    session: Session, run: str, path: str, player: Sequence[Player], options: AnalyzeOptions,
    workers: Workers | None = None,
) -> None:  # fmt: skip
    """Analyze one player's games in a PGN file or in a folder of PGN files. Print the report, or write it to files.

    session: the network. run: its name, as the user gave it. path: the file or folder. player: the player, as
    `find_player` returned it. workers: the processes that analyze the games; None for this process.

    After Ctrl-C, the report covers the games that were analyzed before. Raises UsageError for options that don't fit
    together or don't fit the network, and KibitzError if no game can be analyzed or the engine fails.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.moves import USUAL
    from kibitz.analysis.chess.pgn import annotated
    from kibitz.analysis.chess.player import PlayerReport
    from kibitz.analysis.chess.player_sides import OwnGames, PlayerSides
    from kibitz.analysis.chess.rows import COLUMNS, rows
    from kibitz.analysis.chess.strength.player import PlayerStrength, is_fitted_for
    from kibitz.analysis.files import whole_file
    from kibitz.analysis.move_tables import move_tables

    paths = records.find([path], (".pgn",))
    files = [PgnGames(session, file, options, workers) for file in paths]
    _check(files, options)
    analysis = load(session.system)
    sides = PlayerSides(player)
    own = OwnGames(sides)
    report = PlayerReport(", ".join(one.name for one in player), files[0].swing)
    if is_fitted_for(session):
        report.strength = PlayerStrength(report.name)
    total = sum(one.games for one in player)
    ended: KeyboardInterrupt | EngineDied | None = None

    def last() -> dict[str, Any]:
        return {"player": report.as_json(), **({"problem": str(ended)} if isinstance(ended, EngineDied) else {})}

    with contextlib.ExitStack() as stack:
        judge = stack.enter_context(opened_judge(session, analysis, options))
        if judge is None:
            raise UsageError(
                f"{session.name} does not predict who wins, so it cannot judge moves. Use the network 'human'."
            )
        report.checked_by = judge.checked_by
        file = stack.enter_context(whole_file(options.pgn)) if options.pgn else None
        put = stack.enter_context(as_object(run, session.system, "", last)) if options.as_json else None
        add_rows = stack.enter_context(move_tables(options.csv, options.parquet, COLUMNS))
        shown = stack.enter_context(player_progress(total, lambda: report.games))
        try:
            for games in files:
                found = games.analysed(analysis, USUAL, judge, own.wants, shown)
                for game in stack.enter_context(contextlib.closing(_whole(found, alone=len(files) == 1))):
                    _count(report, game, sides.side(game.record), games.name, session)
                    _print_game(game, put, file.write if file else None, annotated)
                    add_rows(rows(game, games.name))
                if games.failure:
                    raise games.failure
        except (KeyboardInterrupt, EngineDied) as error:
            if not report.games:
                raise
            ended = error
        warn_of_skipped(path, own.problems())
        if not report.games:
            raise KibitzError(f"{records.printable(path)}: none of the player's games can be analyzed. Check the file.")
        if options.prints_games:
            _show(report)
    if options.page is not None:
        write_report(Path(options.page), report, run, session, path)
    raise_end(ended, f"{report.games:,} of {number_of(total, 'game')}")


def warn_of_skipped(path: str, problems: Iterable[str]) -> None:
    """Print warnings about skipped games. path: the file or folder of the games. problems: a text for each reason."""
    for problem in problems:
        warning(f"{records.printable(path)}: {problem}")


def raise_end(ended: KeyboardInterrupt | EngineDied | None, games: str) -> None:
    """Raise an error if the analysis ended early. The error is KeyboardInterrupt after Ctrl-C, and KibitzError after
    the failure of an engine. The message contains the number of games in the report.

    ended: the exception that ended the analysis early; None if the analysis is complete.
    games: the number of games in the report, as text such as "3 of 12 games".
    """
    if isinstance(ended, EngineDied):
        raise KibitzError(f"{ended}. The report is about {games}.")
    if ended:
        raise KeyboardInterrupt(f"interrupted: the report is about the first {games}")


def _count(report: PlayerReport, game: AnalysedGame, side: str, file: str, session: Session) -> None:
    """Add a game to the report and, if there is one, to the estimate of the rating."""
    report.add(game, side, file)
    if report.strength is not None:
        report.strength.add_side(game.record.game, side, session)


def _whole(games: Generator[AnalysedGame], alone: bool) -> Generator[AnalysedGame]:
    """Yield the games of a file. alone: whether it is the only file. If there are others, a damaged file is only
    reported.
    """
    try:
        yield from games
    except KibitzError as error:
        if alone or isinstance(error, EngineDied):
            raise
        warning(str(error))


def _print_game(
    game: AnalysedGame,
    put: Callable[[dict[str, Any]], None] | None,
    write: Callable[[str], Any] | None,
    annotated: Callable[[AnalysedGame], str],
) -> None:
    """Print and write an analyzed game, if the options request this."""
    if put:
        put(game.as_json())
    if write:
        write(annotated(game))


def _check(files: list[PgnGames], options: AnalyzeOptions) -> None:
    """Check the files before any work. Raises UsageError and KibitzError for outputs that can't be written."""
    if any(games.replaced for games in files):
        raise UsageError(
            f"--pgn must not be the file that kibitz reads (got {options.pgn}): other players' games would be lost."
            " Choose another file."
        )


@contextlib.contextmanager
def player_progress(
    total: int, done: Callable[[], int]
) -> Iterator[Callable[[str], AbstractContextManager[OnProgress]]]:
    """Return a context manager that shows a single progress bar for a player's games in all files.

    total: the number of the player's games. done: a function that returns the number of games analyzed so far.

    The context manager yields a function for the argument `shown` of `PgnGames.analysed`. This function takes a file's
    path and returns a context manager that updates the bar.
    """
    with Progress("{task.completed:,.0f} of {task.total:,.0f} games", BAR, LEFT, patient=True) as bar:
        bar.begin("", total)
        estimated = False

        def show(read: int, consumed: int) -> None:
            nonlocal estimated
            games = done()
            bar.update(games, f"kibitz: {games:,} of {number_of(total, 'game')}")
            if not estimated and games >= FIRST_GAMES and bar.seconds >= FIRST_SECONDS:
                estimated = True
                if (seconds := bar.seconds * total / games) > LONG:
                    bar.log(
                        f"kibitz: a report on {number_of(total, 'game')} takes about"
                        f" {seconds / 60:,.0f} min. Ctrl-C ends it early, with a report on the games so far."
                    )

        yield lambda path: contextlib.nullcontext(show)


def _show(report: PlayerReport) -> None:
    from rich.console import Console

    from kibitz.analysis.chess.player_table import show

    show(report, Console())


def write_report(page: Path, report: PlayerReport | GoPlayerReport, run: str, session: Session, path: str) -> None:
    """Write the report about a player as an HTML page. The file appears only when it is complete. Raises KibitzError if
    it can't be written.

    page: the file to write. report: the report. run: the network's name, as the user gave it. session: the network.
    path: the file or folder of the games.
    """
    from kibitz.report.player import render_player_page

    about = {"run": run, "system": session.system, "file": records.printable(path), "game": session.game}
    about |= {"checked_by": report.checked_by.words()} if report.checked_by else {}
    write_page(page, render_player_page(report.as_json(), about), "--page")
    note(f"report: {page}")
