"""kibitz analyze, for chess."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from kibitz import records
from kibitz.commands.analyze.options import AnalyzeOptions
from kibitz.commands.analyze.output import as_object, progress, same_file, warn
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from kibitz.analysis import Analysis
    from kibitz.analysis.chess.games import Record
    from kibitz.analysis.chess.judging import Judge
    from kibitz.analysis.chess.moves import AnalysedGame
    from kibitz.play.session import Session
    from kibitz.systems.declaration import Meaning


SWING = 10.0
"""Points of a hundred that a marked move loses, where --swing is not given."""


def analyze_chess(session: Session, run: str, path: str, options: AnalyzeOptions) -> None:
    """Analyse games of a PGN file ("-": standard input) and print or write them. Raises UsageError and KibitzError."""
    from kibitz.analysis import load
    from kibitz.analysis.chess.moves import USUAL, Report
    from kibitz.analysis.chess.pgn import annotated
    from kibitz.analysis.chess.terminal import show_report
    from kibitz.analysis.files import whole_file
    from kibitz.systems import find

    games = _PgnGames(session, path, options)
    analysis, report = load(session.system), Report()
    judge = _judge(session, analysis, options)
    meaning = find(session.system).meaning
    if judge is not None and meaning.note:  # a note says of what else than winning the network's own figure is
        meaning = USUAL

    def last() -> dict[str, Any]:
        return {"report": report.as_json()} if options.every and judge else {}

    with contextlib.ExitStack() as stack:
        file = stack.enter_context(whole_file(options.pgn)) if options.pgn else None
        put = stack.enter_context(as_object(run, session.system, meaning.note, last)) if options.as_json else None
        table = _table(games.swing)
        for game in stack.enter_context(contextlib.closing(games.analysed(analysis, meaning, judge))):
            report.add(game)
            if put:
                put(game.as_json())
            elif options.pgn != "-":
                table(game)
            if file:
                file.write(annotated(game))
        if options.every and judge and not put and options.pgn != "-":
            show_report(report)


def _judge(session: Session, analysis: Analysis, options: AnalyzeOptions) -> Judge | None:
    """What judges moves by search; None where the network's opinions count as they are, or it has none."""
    from kibitz.analysis.chess.judging import DEPTH, NODES, Judge

    if options.raw or not {"white_wins", "white_better", "value"} & set(session.outputs):
        return None
    depth = DEPTH if options.depth is None else options.depth
    return Judge(session, analysis, depth, NODES if options.nodes is None else options.nodes)


def _ratings(session: Session, text: str) -> tuple[int, int]:
    """The ratings of `--rating`. Raises UsageError for a network that is told none."""
    from kibitz.analysis.chess.ratings import RATING, read_pair

    if RATING not in session.side_inputs:
        raise UsageError(f"--rating {text}: {session.name} is not told ratings; take human")
    return read_pair(text)


class _PgnGames:
    """The games of a PGN file that are to be analysed, and what is left out on the way.

    number: of the only game, from 1; None for all. swing: in probability of winning. replaced: the games are written
    back to their file, so that nothing may be left out.
    """

    def __init__(self, session: Session, path: str, options: AnalyzeOptions):
        """Raises UsageError for options that make no sense together or for this network."""
        swing = SWING if options.swing is None else options.swing
        if not 0 < swing <= 100:
            raise UsageError(f"--swing {swing:g}: points of a hundred, over 0 to 100")
        self.session, self.path, self.swing = session, path, swing / 100
        self.number = None if options.every else options.game or 1
        self.replaced = bool(options.pgn) and same_file(options.pgn or "", path)
        if self.replaced and self.number is not None:
            raise UsageError(f"--pgn {options.pgn}: its other games would be lost; add --all, or name another file")
        self.ratings = _ratings(session, options.rating) if options.rating is not None else None
        self.name = "standard input" if path == records.STDIN else records.printable(path)
        self._refused: list[str] = []
        self._unrated: list[int] = []

    def analysed(self, analysis: Analysis, meaning: Meaning, judge: Judge | None) -> Generator[AnalysedGame]:
        """The games one by one; what is left out is reported on standard error.

        Raises KibitzError where no game can be analysed, and, if the file is replaced, before anything is left out.
        """
        from kibitz.analysis.chess.games import read
        from kibitz.analysis.chess.moves import analyse

        done = 0
        with progress(self.path) as show, contextlib.closing(read(self.path, self.number, show)) as games:
            for record in games:
                if self._accepts(record):
                    done += 1
                    yield analyse(record, self.session, analysis, self.swing, self.ratings, meaning, judge)
        self._warn_of_ratings()
        if not done:
            raise self._nothing_left()

    def _accepts(self, record: Record) -> bool:
        """Whether a game can be analysed. Says what is wrong with it."""
        from kibitz.analysis.chess.ratings import RATING, lacking

        where = f"{self.name} game {record.number}"
        if record.refused:
            self._refused.append(f"{where}: {record.refused}")
            if self.number is None:
                warn(self._refused[-1])
        else:
            for note in record.notes:
                warn(f"{where}: {note}")
            if record.problem:
                warn(f"{where}: {record.problem}; analysed up to there")
        if self.replaced and (record.refused or record.problem or record.notes):
            raise KibitzError(
                f"{self.path}: left as it is, since writing it again would lose what is wrong in game {record.number}; "
                "name another file"
            )
        if record.refused:
            return False
        if RATING in self.session.side_inputs and self.ratings is None and lacking(record.game.headers):
            self._unrated.append(record.number)
        return True

    def _warn_of_ratings(self) -> None:
        """Say which games lacked a rating that the network is given."""
        from kibitz.analysis.chess.ratings import RATING, UNIT

        if not self._unrated:
            return
        which = f"game {self._unrated[0]} lacks"
        if len(self._unrated) > 1:
            which = f"{len(self._unrated):,} games, from {self._unrated[0]} on, lack"
        usual = self.session.side_inputs[RATING] * UNIT
        took = f"took the player for one of {usual}" if usual else "was told that it is not known"
        warn(f"{self.name}: {which} a rating, which the network is told; it {took}")

    def _nothing_left(self) -> KibitzError:
        first = self._refused[0] if self._refused else ""
        if self.number is not None:
            return KibitzError(f"{first}; choose another with --game")
        why = f"{len(self._refused):,}; {first.removeprefix(self.name + ' ')}"
        return KibitzError(f"{self.name}: none of its games can be analysed ({why})")


def _table(swing: float) -> Callable[[AnalysedGame], None]:
    """Prints each game as a table."""
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
