"""The command `kibitz analyze`: a trained network's evaluation of every move of a game."""

from __future__ import annotations

import contextlib
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kibitz import records
from kibitz.commands.accounts import AccountOptions, any_account, files_of
from kibitz.commands.analyze.options import AnalyzeOptions
from kibitz.commands.analyze.output import same_file
from kibitz.commands.provider import Provider, use_provider
from kibitz.commands.workers import WorkerOptions
from kibitz.errors import UsageError
from kibitz.games import GAME_NAMES
from kibitz.parallel import open_workers

if TYPE_CHECKING:
    from kibitz.parallel import Workers
    from kibitz.personal.names import Player
    from kibitz.play.session import Session
    from kibitz.runs import Run


def analyze(
    run: Annotated[str, typer.Argument(show_default=False, metavar="RUN")],
    game_file: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    *,
    options: AnalyzeOptions,
    account: AccountOptions,
    sharing: WorkerOptions,
    provider: Provider = None,
) -> None:
    """Show the evaluation of each move of a game.

    Chess. If the network predicts the winner, the command shows White's win probability with the best move and with the
    played move, found by a short search. Moves with the annotations ?!, ? and ?? lost at least 10, 20 and 30 percentage
    points, respectively, and a better move is shown with them. With --raw, the command shows the network's evaluations
    before and after each move, without a search. The network deepchess compares two positions, so its evaluation is the
    probability that a position is better for White than a balanced one.

    If the network predicts moves, the command shows the three most likely moves, and the rank of the played move among
    the legal moves. An asterisk means a rank below the 10th, or a probability under 1%. With the network human, the
    command also shows how likely each move was for its player, and for players 400 points weaker and stronger.

    --by-rating FILE writes a chart of the moves that players rated 800 to 2800 choose in one position of a chess game.

    Go. If the network predicts territory, the command shows Black's lead before and after each move, and boards. For
    the largest swings, it also shows the intersections that changed owner. Some networks, such as gohuman, also predict
    moves and the score. With these networks, searches find the loss of each move. For each annotated move, searches
    also find a better move.

    In Go, --raw means that the lead in each position comes from a single network evaluation. Such a lead is too
    favorable for the side to move.

    --page FILE writes the games as a page that needs no kibitz, with a board to step through. --mine and --player NAME
    make a report about one player's games, and --page then writes this report.

    In the output of --pgn, evaluations are in pawns from White's point of view. Lichess's formula converts win
    probabilities to pawns.
    """
    options.check()
    if options.by_rating is not None:
        sharing.check_unused("--by-rating")
    backend = sharing.backend()
    use_provider(provider)
    if game_file is None:
        file = shlex.quote(run) if os.path.isfile(run) else "FILE"
        raise UsageError(
            f"kibitz analyze needs a network and a file (got {records.printable(run)}). Example: kibitz analyze"
            f" {'winner' if file != 'FILE' else run} {file}"
        )
    from kibitz.runs import Run

    # The network takes seconds to load, so whatever needs only its run.json is checked before.
    network = Run(run)
    game_file = _file_of(network, game_file, options, account)
    check_game(network, game_file, options)
    _check_written(game_file, options)
    player: list[Player] = []
    if options.about_player:
        from kibitz.commands.analyze.player import find_player

        player = find_player(network.info["game"], game_file, options)
    from kibitz.analysis import check_outputs
    from kibitz.play.session import Session

    session = Session(network)
    check_outputs(session, session.system, session.name)
    with contextlib.ExitStack() as stack:
        workers = stack.enter_context(open_workers(backend)) if backend else None
        _analyze(session, run, game_file, player, options, workers)


def _analyze(
    session: Session, run: str, path: str, player: list[Player], options: AnalyzeOptions, workers: Workers | None
) -> None:
    """Make the kind of analysis that the options request. player: the player of a report; [] for an analysis of games.
    The other arguments are those of `analyze_player`.
    """
    if options.by_rating is not None:
        from kibitz.commands.analyze.by_rating import analyze_by_rating

        analyze_by_rating(session, run, path, options)
    elif session.game == "chess" and player:
        from kibitz.commands.analyze.player import analyze_player

        analyze_player(session, run, path, player, options, workers)
    elif session.game == "chess":
        from kibitz.commands.analyze.chess import analyze_chess

        analyze_chess(session, run, path, options, workers)
    elif player:
        from kibitz.commands.analyze.go_player import analyze_go_player

        analyze_go_player(session, run, path, player, options, workers)
    else:
        from kibitz.commands.analyze.go import analyze_go

        analyze_go(session, run, path, options, workers)


def _file_of(network: Run, source: str, options: AnalyzeOptions, account: AccountOptions) -> str:
    """Return the file to analyze: the source or, if this is an account, a file with its games. The options are checked
    first.
    """
    wanted = account.wanted([source])
    if not any_account([source]):
        return source
    from kibitz.online.accounts import account_in

    named = account_in(source)
    assert named is not None
    check_game(network, f"{source}{named.site.ending}", options)
    if named.site.game == "chess" and wanted.limit is None and not (options.every or options.about_player):
        wanted = replace(wanted, limit=options.game or 1)  # game number N needs only the N newest games
    return files_of([source], wanted)[0]


def _check_written(source: str, options: AnalyzeOptions) -> None:
    """Check the output files before any work. Raises UsageError if two outputs have the same file, or if a table would
    replace a file that is read.
    """
    written: dict[Path, str] = {}
    for name in ("pgn", "sgf", "csv", "parquet", "page", "by_rating"):
        file = getattr(options, name)
        if file is None or file == records.STDIN:
            continue
        earlier = written.setdefault(Path(file).resolve(), name)
        if earlier != name:
            raise UsageError(
                f"--{earlier} and --{name.replace('_', '-')} cannot write to the same file (got {file}). Choose two"
                " different files."
            )
    tables = [name for name in ("csv", "parquet") if getattr(options, name) not in (None, records.STDIN)]
    if not tables or source == records.STDIN:
        return
    for file in records.find([source], tuple(records.ENDINGS)):
        for name in tables:
            if same_file(getattr(options, name), records.on_disk(file)):
                raise UsageError(
                    f"--{name} must not be the file that kibitz reads (got {getattr(options, name)}): its games would"
                    " be lost."
                    " Choose another file."
                )


_OPTIONS = {"chess": ("pgn", "rating", "depth", "practical", "by_rating"), "go": ("sgf", "owners")}
"""Options that are valid only for one game."""
_INSTEAD = {"pgn": "Write SGF with --sgf.", "sgf": "Write PGN with --pgn."}
_ENDINGS = {"chess": (".pgn",), "go": (".sgf", ".sgfl", ".gib")}


def check_game(network: Run, path: str, options: AnalyzeOptions) -> None:
    """Raise UsageError if the network does not play the game of the file, or if an option is for the other game."""
    own = network.info["game"]
    if own not in GAME_NAMES:
        raise UsageError(
            f"{network.name} is a network for {own}, which kibitz analyze does not support. Choose another network."
        )
    its = f"{network.name} is a network for {GAME_NAMES[own]}"
    if own == "chess" and options.move is not None and options.by_rating is None:
        raise UsageError(f"--move without --by-rating works only for Go, and {its}. Add --by-rating FILE.")
    plain = path.lower()
    for packed in records.PACKED:
        plain = plain.removesuffix(packed)
    for game, name in GAME_NAMES.items():
        if game == own:
            continue
        for option in _OPTIONS[game]:
            if options.given(option):
                raise UsageError(
                    f"--{option.replace('_', '-')} works only for {name}, and {its}."
                    f" {_INSTEAD.get(option, 'Leave it out.')}"
                )
        if plain.endswith(_ENDINGS[game]):
            raise UsageError(
                f"{records.printable(path)} is a {name} game, and {its}. Choose a network for {name}, such as"
                + (" 'gohuman'." if game == "go" else " 'human'.")
            )
