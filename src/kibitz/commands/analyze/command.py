"""kibitz analyze: what a trained network thought of every move of a game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kibitz import records
from kibitz.errors import UsageError

if TYPE_CHECKING:
    from kibitz.play.session import Session


def analyze(
    run: Annotated[
        str, typer.Argument(help="A run, or the name of a packaged network.", show_default=False, metavar="RUN")
    ],
    game_file: Annotated[
        str,
        typer.Argument(
            help="A file of the run's game, PGN or SGF, or - for standard input; .zst, .gz and .bz2 are unpacked.",
            show_default=False,
            metavar="FILE",
        ),
    ],
    game: Annotated[
        int | None,
        typer.Option(
            help="Number of the game in the file, from 1. Default: the first of a PGN file, every game of an SGF file.",
            min=1,
            metavar="N",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every game of the file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    pgn: Annotated[
        str | None,
        typer.Option(
            help="Chess: write the games to this file, with [%eval] and ?!, ?, ?? where the network says who wins, and "
            "its choices in comments where it expects moves; - prints them instead of the table. Default: not written.",
            metavar="FILE",
        ),
    ] = None,
    sgf: Annotated[
        str | None,
        typer.Option(
            help="Go: write the games to this file, with leads and swings in comments and marks, and each point's "
            "likely owner as territory; - prints them instead of the table. Default: not written.",
            metavar="FILE",
        ),
    ] = None,
    swing: Annotated[
        float | None,
        typer.Option(
            help="Mark moves that cost their player this much with ?!; twice that with ?, three times with ??. Moves "
            "that gain it get ↑. Chess: winning probability in points of a hundred (default 10), where the network "
            "says who wins. Go: points of lead (default 10 on 19×19, 5 on 13×13, 3 on 9×9).",
            show_default=False,
            metavar="AMOUNT",
        ),
    ] = None,
    rating: Annotated[
        str | None,
        typer.Option(
            help="Chess, for networks that are told ratings, as human is: the players' ratings, 1500 for both or "
            "1500,1720 for White and Black. Default: those in the game's headers.",
            show_default=False,
            metavar="RATING",
        ),
    ] = None,
    move: Annotated[
        int | None,
        typer.Option(
            help="Go: show the board after this many moves. Default: after the largest swing, and at the end.",
            min=0,
            metavar="N",
        ),
    ] = None,
    owners: Annotated[
        bool, typer.Option("--owners", help="Go, with --json: the owner map of every position in numbers.")
    ] = False,
) -> None:
    """Show what a network thought of each move of a game.

    Chess. Who wins, where the network says so (deepchess: who stands better):
    White's chances before and after each move. Which moves it expects, where it
    says so: its first three choices, and where the played move ranked among the
    legal ones (*: below the 10th, or under 1%). human: how likely each move was
    for its player, and for one 400 points weaker and stronger.

    Go. Who will own each point: Black's lead before and after each move by the
    points that each will own, what changed owner by the largest swings, and
    boards.

    Evaluations written by --pgn are in pawns from White's side, by Lichess's relation of pawns and winning chances.
    """
    if game is not None and every:
        raise UsageError("--game and --all: choose one of them")
    if as_json and "-" in (pgn, sgf):
        name = "--pgn" if pgn == "-" else "--sgf"
        raise UsageError(f"--json and {name} -: both print on standard output; name a file for {name}")
    from kibitz.play.session import Session

    session = Session(run)
    _fits(
        session, game_file,
        {"pgn": pgn is not None, "rating": rating is not None, "sgf": sgf is not None, "move": move is not None,
         "owners": owners},
    )  # fmt: skip
    if session.game == "chess":
        from kibitz.commands.analyze.chess import analyze_chess

        number = None if every else game or 1
        analyze_chess(session, run, game_file, number, as_json, pgn, 10 if swing is None else swing, rating)
    else:
        from kibitz.commands.analyze.go import Wanted, analyze_go

        analyze_go(session, run, game_file, Wanted(game, as_json, sgf, swing, move, owners))


_NAMES = {"chess": "chess", "go": "Go"}
_OPTIONS = {"chess": ("pgn", "rating"), "go": ("sgf", "move", "owners")}
"""Options that mean something for one game alone."""
_INSTEAD = {"pgn": "; write SGF with --sgf", "sgf": "; write PGN with --pgn"}
_ENDINGS = {"chess": (".pgn",), "go": (".sgf", ".sgfl")}


def _fits(session: Session, path: str, given: dict[str, bool]) -> None:
    """Raises UsageError for options or a file of another game than the run's."""
    if session.game not in _NAMES:
        raise UsageError(f"{session.name}: a network for {session.game}, which analyze does not know")
    its = f"{session.name} is a network for {_NAMES[session.game]}"
    plain = path.lower()
    for packed in records.PACKED:
        plain = plain.removesuffix(packed)
    for game, name in _NAMES.items():
        if game == session.game:
            continue
        for option in _OPTIONS[game]:
            if given[option]:
                raise UsageError(f"--{option}: for {name}, and {its}{_INSTEAD.get(option, '')}")
        if plain.endswith(_ENDINGS[game]):
            raise UsageError(f"{records.printable(path)}: a file of {name}, and {its}; take a run for {name}")
