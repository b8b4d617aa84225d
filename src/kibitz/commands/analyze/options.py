"""The options of kibitz analyze, for both games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kibitz.errors import UsageError


@dataclass(frozen=True)
class AnalyzeOptions:
    """What is analysed, how it is shown, and where it is written."""

    game: Annotated[
        int | None,
        typer.Option(
            help="Number of the game in the file, from 1. Default: the first of a PGN file, every game of an SGF file.",
            min=1,
            metavar="N",
        ),
    ] = None
    every: Annotated[bool, typer.Option("--all", help="Every game of the file.")] = False
    player: Annotated[
        list[str] | None,
        typer.Option(
            help="Chess: a report about this player alone, over every game of the file, or of a folder: what was lost "
            "by phase, piece, opening, time left, colour and result, beside what players of the same rating lose "
            "(human), and the worst mistakes. Case, accents and the order of the words mean nothing; may be given "
            "several times.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None
    mine: Annotated[
        bool, typer.Option("--mine", help="Chess: the same about the player who is in nearly all games.")
    ] = False
    page: Annotated[
        str | None,
        typer.Option(
            help="Chess: write the report about a player to this HTML page, with boards of the worst mistakes. "
            "Default: not written.",
            metavar="FILE",
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False
    pgn: Annotated[
        str | None,
        typer.Option(
            help="Chess: write the games to this file, with [%eval] and ?!, ?, ?? where the network says who wins, and "
            "its choices in comments where it expects moves; - prints them instead of the table. Default: not written.",
            metavar="FILE",
        ),
    ] = None
    sgf: Annotated[
        str | None,
        typer.Option(
            help="Go: write the games to this file, with leads and swings in comments and marks, and each point's "
            "likely owner as territory; - prints them instead of the table. Default: not written.",
            metavar="FILE",
        ),
    ] = None
    swing: Annotated[
        float | None,
        typer.Option(
            help="Mark moves that cost their player this much with ?!; twice that with ?, three times with ??. Go, and "
            "chess with --raw: moves that gain it get ↑. Chess: winning probability in points of a hundred (default "
            "10), where the network says who wins. Go: points of lead (default 10 on 19×19, 5 on 13×13, 3 on 9×9).",
            show_default=False,
            metavar="AMOUNT",
        ),
    ] = None
    rating: Annotated[
        str | None,
        typer.Option(
            help="Chess, for networks that are told ratings, as human is: the players' ratings, 1500 for both or "
            "1500,1720 for White and Black. Default: those in the game's headers.",
            show_default=False,
            metavar="RATING",
        ),
    ] = None
    raw: Annotated[
        bool,
        typer.Option("--raw", help="The network's own opinion of each position as it stands, without a search."),
    ] = False
    nodes: Annotated[
        int | None,
        typer.Option(
            help="For networks that predict moves and say who wins: positions that the network's own search looks at "
            "for each move; 0: none. Default: 100, of Go 16.",
            min=0,
            max=1_000_000,
            show_default=False,
            metavar="N",
        ),
    ] = None
    depth: Annotated[
        int | None,
        typer.Option(
            help="Chess: plies after which captures alone are followed, to a position without any; 2 is quick. "
            "Default: 6.",
            min=1,
            max=12,
            show_default=False,
            metavar="PLIES",
        ),
    ] = None
    move: Annotated[
        int | None,
        typer.Option(
            help="Go: show the board after this many moves. Default: after the largest swing, and at the end.",
            min=0,
            metavar="N",
        ),
    ] = None
    owners: Annotated[
        bool, typer.Option("--owners", help="Go, with --json: the owner map of every position in numbers.")
    ] = False

    @property
    def about_player(self) -> bool:
        """Whether a report about one player is asked for."""
        return bool(self.player) or self.mine or self.page is not None

    def check(self) -> None:
        """Raises UsageError for options that exclude each other."""
        if self.player and self.mine:
            raise UsageError("--player cannot be combined with --mine (got both). Choose one.")
        if self.about_player:
            for name in ("game", "raw"):
                if self.given(name):
                    what = "every game of the file" if name == "game" else "what a search found"
                    raise UsageError(
                        f"--{name} is not for the report about a player, which is over {what}. Leave --{name} out."
                    )
        if self.game is not None and self.every:
            raise UsageError("--game cannot be combined with --all (got both). Choose one.")
        if self.raw and (self.nodes is not None or self.depth is not None):
            raise UsageError(
                "--raw shows values without a search, so it cannot be combined with --nodes or --depth. Leave them out."
            )
        if self.as_json and "-" in (self.pgn, self.sgf):
            name = "--pgn" if self.pgn == "-" else "--sgf"
            raise UsageError(f"--json and {name} - cannot both print on standard output. Name a file for {name}.")

    def given(self, name: str) -> bool:
        """Whether the option of that name (without dashes) is on the command line."""
        value = getattr(self, name)
        return value is not None and value is not False and value != []
