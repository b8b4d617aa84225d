"""The command-line options of `kibitz match`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.errors import UsageError
from kibitz.games import GAME_NAMES

if TYPE_CHECKING:
    from kibitz.arena.elo import Sprt
    from kibitz.arena.players import Participant

LIMITS = ("nodes", "depth", "movetime", "clock")

_LIMITS_PANEL = "Limits of both sides, or of A or B alone (default: 100 ms a move; Go: none)"
_RULES_PANEL = "Openings, adjudication, forfeits"
_GO_PANEL = "Go"
_STATISTICS_PANEL = "Sequential test"


def _limit(metavar: str) -> Any:
    return typer.Option(metavar=metavar, rich_help_panel=_LIMITS_PANEL, show_default=False)


@dataclass(frozen=True)
class LimitOptions:
    """The command-line options for the time and search limits of the two players, A and B. An option such as `nodes` is
    for both players, `nodes_a` only for player A, and `nodes_b` only for player B.
    """

    nodes: Annotated[str | None, _limit("N|MIN-MAX")] = None
    nodes_a: Annotated[str | None, _limit("N|MIN-MAX")] = None
    nodes_b: Annotated[str | None, _limit("N|MIN-MAX")] = None
    depth: Annotated[int | None, _limit("PLIES")] = None
    depth_a: Annotated[int | None, _limit("PLIES")] = None
    depth_b: Annotated[int | None, _limit("PLIES")] = None
    movetime: Annotated[int | None, _limit("MS")] = None
    movetime_a: Annotated[int | None, _limit("MS")] = None
    movetime_b: Annotated[int | None, _limit("MS")] = None
    clock: Annotated[str | None, _limit("10+0.1")] = None
    clock_a: Annotated[str | None, _limit("10+0.1")] = None
    clock_b: Annotated[str | None, _limit("10+0.1")] = None

    def of_sides(self) -> dict[str, dict[str, Any]]:
        """Return the limits of both players, as a dict with the keys "A" and "B". Each value is a dict of one player's
        limits. Its keys are the names of the limits, such as "nodes". The value of a limit is None if the limit is not
        set.

        If the user gave any option for one player, such as --nodes-a, only the options for this player set this
        player's limits. Options for both players, such as --nodes or --depth, are then ignored for this player.

        Each player's dict also has the key "ending", for error messages. It is the ending of the options that set the
        limits: "-a", "-b" or "".
        """

        def given(ending: str) -> dict[str, Any]:
            return {name: getattr(self, name + ending.replace("-", "_")) for name in LIMITS}

        endings = {
            side: ending if any(value is not None for value in given(ending).values()) else ""
            for side, ending in (("A", "-a"), ("B", "-b"))
        }
        return {side: {**given(ending), "ending": ending} for side, ending in endings.items()}


@dataclass(frozen=True)
class PlayerOptions:
    """The command-line options for the engine settings and the names of the two players."""

    option_a: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
        ),
    ] = None
    option_b: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None
    name_a: Annotated[str | None, typer.Option()] = None
    name_b: Annotated[str | None, typer.Option()] = None


@dataclass(frozen=True)
class RuleOptions:
    """The command-line options for the rules, the openings, and the conditions under which a game ends early
    (adjudication).
    """

    seed: Annotated[
        int,
        typer.Option(rich_help_panel=_RULES_PANEL),
    ] = 0
    adjudicate_draw: Annotated[
        str | None,
        typer.Option(
            metavar="CP:MOVES",
            rich_help_panel=_RULES_PANEL,
            show_default=False,
        ),
    ] = None
    adjudicate_win: Annotated[
        str | None,
        typer.Option(
            metavar="CP:MOVES",
            rich_help_panel=_RULES_PANEL,
            show_default=False,
        ),
    ] = None
    max_plies: Annotated[
        int | None,
        typer.Option(
            min=20,
            rich_help_panel=_RULES_PANEL,
            show_default=False,
        ),
    ] = None
    hang: Annotated[
        float,
        typer.Option(
            min=0.1,
            rich_help_panel=_RULES_PANEL,
        ),
    ] = 60.0
    size: Annotated[
        int | None,
        typer.Option(rich_help_panel=_GO_PANEL, show_default=False),
    ] = None
    komi: Annotated[
        float | None,
        typer.Option(rich_help_panel=_GO_PANEL, show_default=False),
    ] = None


@dataclass(frozen=True)
class SprtOptions:
    """The command-line options of the sequential probability ratio test (SPRT), which may end a match early."""

    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="ELO0,ELO1",
            rich_help_panel=_STATISTICS_PANEL,
            show_default=False,
        ),
    ] = None
    alpha: Annotated[float, typer.Option(rich_help_panel=_STATISTICS_PANEL)] = 0.05
    beta: Annotated[float, typer.Option(rich_help_panel=_STATISTICS_PANEL)] = 0.05

    def test(self) -> Sprt | None:
        """Return the SPRT that the option --sprt requests; None without this option. Raises UsageError for invalid
        values.
        """
        from kibitz.arena.elo import Sprt

        if self.sprt is None:
            for name, value in (("--alpha", self.alpha), ("--beta", self.beta)):
                if value != 0.05:
                    raise UsageError(
                        f"{name} works only with --sprt (got {value:g}). Add --sprt, for example --sprt 0,10."
                    )
            return None
        try:
            elo0, elo1 = (float(word) for word in self.sprt.split(","))
        except ValueError:
            raise UsageError(f"--sprt must be two Elo differences, for example 0,10 (got {self.sprt})") from None
        if not -1000 <= elo0 < elo1 <= 1000:
            raise UsageError(
                f"--sprt must be two Elo differences from -1000 to 1000, the lower one first (got {self.sprt})"
            )
        for name, value in (("--alpha", self.alpha), ("--beta", self.beta)):
            if not 0 < value < 0.5:
                raise UsageError(f"{name} must be greater than 0 and less than 0.5 (got {value:g})")
        return Sprt(elo0, elo1, self.alpha, self.beta)


@dataclass(frozen=True)
class OutputOptions:
    """The command-line options for the file of the game records and the form of the result."""

    pgn: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
        ),
    ] = None
    sgf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False),
    ] = None
    as_json: Annotated[bool, typer.Option("--json")] = False

    def record(self, a: Participant, b: Participant, game: str) -> Path:
        """Return the path of the file for the game records.

        The user can choose the file. The default is a file in the folder matches/ of the current folder, such as
        matches/A-vs-B.pgn for two players with the names A and B.

        a, b: the players. game: "chess" or "go". Raises UsageError if the chosen path is a folder.
        """
        one, other = (re.sub(r"[^\w.+-]+", "-", player.name).strip("-.") or "engine" for player in (a, b))
        usual = Path("matches") / f"{one}-vs-{other}.{'sgf' if game == 'go' else 'pgn'}"
        named = self.sgf or self.pgn
        if named is not None and (not named.name or named.is_dir()):
            option = "--sgf" if self.sgf else "--pgn"
            raise UsageError(f"{option} must be a file (got the folder {named})")
        return named or usual


def check_game(game: str, limits: LimitOptions, rules: RuleOptions, output: OutputOptions) -> None:
    """Raise UsageError if an option does not apply to the game of the match. game: "chess" or "go"."""
    options: dict[str, Mapping[str, Any]] = {
        "chess": {
            **{f"{name}{side}": getattr(limits, f"{name}{side}".replace("-", "_"))
               for name in ("nodes", "depth") for side in ("", "-a", "-b")},
            "adjudicate-draw": rules.adjudicate_draw, "adjudicate-win": rules.adjudicate_win, "pgn": output.pgn,
        },
        "go": {"size": rules.size, "komi": rules.komi, "sgf": output.sgf},
    }  # fmt: skip
    for of, given in options.items():
        for name, value in given.items():
            if value is not None and of != game:
                reason = f"--{name} is for {GAME_NAMES[of]}, and this match is {GAME_NAMES[game]}"
                raise UsageError(f"{reason}. Leave it out.")
