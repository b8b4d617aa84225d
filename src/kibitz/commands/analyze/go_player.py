"""The option --player of `kibitz analyze` for Go: a report about one player's own games."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz import preparation, records
from kibitz.commands.analyze.go import SgfGames, check_options
from kibitz.commands.analyze.options import AnalyzeOptions
from kibitz.commands.analyze.output import as_object
from kibitz.commands.analyze.player import player_progress, raise_end, warn_of_skipped, write_report
from kibitz.errors import KibitzError, UsageError
from kibitz.external import EngineDied
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.parallel import Workers
    from kibitz.personal.names import Player
    from kibitz.play.session import Session


def analyze_go_player(
    session: Session, run: str, path: str, player: Sequence[Player], options: AnalyzeOptions,
    workers: Workers | None = None,
) -> None:  # fmt: skip
    """Analyze one player's games in an SGF file or in a folder of SGF files. Print the report, or write it to files.

    session: the network. run: its name, as the user gave it. path: the file or folder. player: the player, as
    `find_player` returned it. workers: the processes that analyze the games; None for this process.

    After Ctrl-C, the report covers the games that were analyzed before. Raises UsageError for options that don't fit
    together or don't fit the network, and KibitzError if no game can be analyzed or the engine fails.
    """
    from rich.console import Console

    from kibitz.analysis.files import whole_file
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.analysis.go.losses import fitted_losses
    from kibitz.analysis.go.player import GoPlayerReport, GoSides
    from kibitz.analysis.go.player_table import show_go
    from kibitz.analysis.go.rows import COLUMNS, rows
    from kibitz.analysis.go.sgf import annotated
    from kibitz.analysis.move_tables import move_tables
    from kibitz.analysis.repeats import skipped_games

    _check(session, run, path, options)
    sides, report = GoSides(player), GoPlayerReport(", ".join(one.name for one in player))
    total = sum(one.games for one in player)
    ended: KeyboardInterrupt | EngineDied | None = None

    def last() -> dict[str, Any]:
        return {"player": report.as_json(), **({"problem": str(ended)} if isinstance(ended, EngineDied) else {})}

    checker = options.checker(session)
    preparation.expect("go" if checker else "go search")
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(GoEngineJudge(checker)) if checker else None
        report.checked_by = engine.checked_by if engine else None
        if engine is None and options.nodes is None and not options.raw:
            report.usual = fitted_losses(session)
        file = stack.enter_context(whole_file(options.sgf)) if options.sgf else None
        put = stack.enter_context(as_object(run, session.system, "", last)) if options.as_json else None
        add_rows = stack.enter_context(move_tables(options.csv, options.parquet, COLUMNS))
        shown = stack.enter_context(player_progress(total, lambda: report.games))
        games = SgfGames(session, path, options, workers, engine)
        found = games.analysed(shown, sides.wants)
        try:
            for game in stack.enter_context(contextlib.closing(found)):
                report.add(game, sides.colour(game.record), games.name)
                if put:
                    put(game.as_json(options.move, options.owners))
                if file:
                    file.write(annotated(game))
                add_rows(rows(game, games.name))
            if games.failure:
                raise games.failure
        except (KeyboardInterrupt, EngineDied) as error:
            if not report.games:
                raise
            ended = error
        warn_of_skipped(path, skipped_games(sides.again, sides.empty, sides.both))
        if not report.games:
            raise KibitzError(f"{records.printable(path)}: none of the player's games can be analyzed. Check the file.")
        if options.prints_games:
            show_go(report, Console())
    if options.page is not None:
        write_report(Path(options.page), report, run, session, path)
    raise_end(ended, f"{report.games:,} of {number_of(total, 'game')}")


def _check(session: Session, run: str, path: str, options: AnalyzeOptions) -> None:
    """Check the call before any work. Raises UsageError and KibitzError if it can't succeed."""
    if "policy" not in session.outputs and options.checked_by is None:
        raise UsageError(f"{run} does not predict moves, so it cannot judge them. Use the network 'gohuman'.")
    check_options(session, run, path, options)
