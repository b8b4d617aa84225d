"""The options of the command `kibitz analyze`, for chess and Go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from kibitz.errors import UsageError

if TYPE_CHECKING:
    from kibitz.analysis.checkers import Checker
    from kibitz.play.session import Session


@dataclass(frozen=True)
class AnalyzeOptions:
    """The command-line options of `kibitz analyze`: what to analyze, how to show it, and where to write it."""

    game: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
        ),
    ] = None
    every: Annotated[bool, typer.Option("--all")] = False
    player: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
        ),
    ] = None
    mine: Annotated[bool, typer.Option("--mine")] = False
    page: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json")] = False
    pgn: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
        ),
    ] = None
    sgf: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
        ),
    ] = None
    csv: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
        ),
    ] = None
    parquet: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
        ),
    ] = None
    swing: Annotated[
        float | None,
        typer.Option(
            show_default=False,
            metavar="AMOUNT",
        ),
    ] = None
    rating: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            metavar="RATING",
        ),
    ] = None
    raw: Annotated[
        bool,
        typer.Option("--raw"),
    ] = False
    practical: Annotated[bool, typer.Option("--practical")] = False
    by_rating: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            metavar="FILE",
        ),
    ] = None
    checked_by: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            metavar="ENGINE",
        ),
    ] = None
    engine_option: Annotated[
        list[str] | None,
        typer.Option(
            show_default=False,
            metavar="NAME=VALUE",
        ),
    ] = None
    nodes: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1_000_000_000,
            show_default=False,
            metavar="N",
        ),
    ] = None
    depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            show_default=False,
            metavar="PLIES",
        ),
    ] = None
    move: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
        ),
    ] = None
    owners: Annotated[bool, typer.Option("--owners")] = False

    @property
    def about_player(self) -> bool:
        """Whether the options request a report about one player."""
        return bool(self.player) or self.mine

    @property
    def prints_games(self) -> bool:
        """Whether the analysis is printed as text on standard output. It is False if JSON, PGN, SGF or CSV is printed
        instead.
        """
        return not self.as_json and "-" not in (self.pgn, self.sgf, self.csv)

    def check(self) -> None:
        """Raise UsageError for options that exclude each other."""
        if self.player and self.mine:
            raise UsageError("--player cannot be combined with --mine (got both). Choose one.")
        if self.about_player:
            for name in ("game", "raw"):
                if self.given(name):
                    what = "every game of the file" if name == "game" else "what a search found"
                    raise UsageError(
                        f"--{name} cannot be used for a report about a player, which needs {what}. Leave --{name} out."
                    )
            if self.practical:
                raise UsageError(
                    "--practical cannot be used for a report about a player. Leave it out, or add --all to analyze"
                    " each game."
                )
        if self.practical and self.raw:
            raise UsageError("--practical needs a search, so it cannot be combined with --raw. Leave one out.")
        if self.game is not None and self.every:
            raise UsageError("--game cannot be combined with --all (got both). Choose one.")
        if self.raw and (self.nodes is not None or self.depth is not None):
            raise UsageError(
                "--raw shows values without a search, so it cannot be combined with --nodes or --depth. Leave them out."
            )
        if self.raw and self.checked_by is not None:
            raise UsageError(
                "--raw shows values of the network, so it cannot be combined with --checked-by. Leave one out."
            )
        if self.engine_option and self.checked_by is None:
            raise UsageError("--engine-option needs an engine. Add --checked-by ENGINE.")
        for name in ("parquet", "page"):
            if getattr(self, name) == "-":
                raise UsageError(f"--{name} cannot write to standard output (got -). Give a file name.")
        printed = ["--json"] * self.as_json + [
            f"--{name} -" for name in ("pgn", "sgf", "csv") if getattr(self, name) == "-"
        ]
        if len(printed) > 1:
            file = printed[1].removesuffix(" -")
            raise UsageError(
                f"{printed[0]} and {printed[1]} cannot both write to standard output. Give a file name for {file}."
            )

    def checker(self, session: Session) -> Checker | None:
        """Return the engine of the option --checked-by, which evaluates the moves; None without this option.

        session: the network. Raises UsageError if the engine is not installed, does not play the network's game, or
        can't use the search limits.
        """
        from kibitz.analysis.checkers import find_checker
        from kibitz.external.programs import read_option

        if self.checked_by is None:
            return None
        given = dict(read_option(text) for text in self.engine_option or ())
        return find_checker(self.checked_by, session.game, session.name, given, self.nodes, self.depth)

    def given(self, name: str) -> bool:
        """Return whether the user gave an option. name: the name of the option's field, such as "by_rating"."""
        value = getattr(self, name)
        return value is not None and value is not False and value != []
