"""Choose an external engine, such as Stockfish, that evaluates the moves of a game instead of kibitz's search. The
network still predicts which moves people play.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kibitz.errors import KibitzError, UsageError
from kibitz.external.programs import Program, read_command
from kibitz.games import GAME_NAMES

NODES = 100_000
"""The default number of nodes (positions searched) that a UCI engine uses for each position. Such a search takes about
as long as a search with the network.
"""
VISITS = 50
"""The default number of visits (steps of a Monte Carlo tree search) that a GTP engine uses for each position."""
MOST_NODES = 1_000_000_000
MOST_DEPTH = 100
EXAMPLES = {"chess": "stockfish", "go": "gnugo"}
"""The name of an engine for each game, which error messages use as an example."""


class GameRejected(KibitzError):
    """Raised if an engine cannot search a position of a game. The engine can analyze other games."""


@dataclass(frozen=True)
class Checker:
    """The description of an external engine that evaluates moves: how to start the engine, and the limits of its
    search. The description can be pickled and sent to worker processes.

    program: the engine's name and command.
    options: the UCI options as pairs (name, value).
    nodes: the number of nodes per position, or of visits per position in Go.
    depth: the depth of the search in plies, only for UCI engines.
    option: the command-line option or the Python argument that selected the engine. Error messages name it.

    If `nodes` and `depth` are both None, the limit is 100,000 nodes, or 50 visits in Go.
    """

    program: Program
    options: tuple[tuple[str, str | int], ...] = ()
    nodes: int | None = None
    depth: int | None = None
    option: str = "--checked-by"

    @property
    def limit_nodes(self) -> int | None:
        """The number of nodes per position for a UCI engine; None if `depth` is the only limit."""
        return NODES if self.nodes is None and self.depth is None else self.nodes


@dataclass(frozen=True)
class CheckedBy:
    """The external engine that evaluated the moves of a game, and the limits of its search.

    engine: the name that the engine reports.
    nodes: the largest number of nodes per position; None for no limit.
    depth: the largest depth in plies; None for no limit.
    visits: True if `nodes` counts visits, as Go engines do.
    """

    engine: str
    nodes: int | None = None
    depth: int | None = None
    visits: bool = False

    def words(self) -> str:
        """Return the engine and its limits as text, such as "Stockfish 15.1, 100,000 nodes per position"."""
        unit = "visits" if self.visits else "nodes"
        limits = [f"{self.nodes:,} {unit} per position"] if self.nodes else []
        limits += [f"depth {self.depth}"] if self.depth else []
        return ", ".join([self.engine, *limits])

    def as_json(self) -> dict[str, Any]:
        """Return the engine and its limits as a dict for JSON."""
        return {"engine": self.engine, "nodes": self.nodes, "depth": self.depth}


def find_checker(
    words: str,
    game: str,
    network: str,
    options: Mapping[str, str | int] | None = None,
    nodes: int | None = None,
    depth: int | None = None,
    dashes: bool = True,
) -> Checker:
    """Return the description of an external engine that is to evaluate moves.

    words: the name or the command of the engine, such as "stockfish" or "katago gtp".
    game: "chess" or "go".
    network: the name of the network, for error messages.
    options: a dict from the names of UCI options to their values; None for no options. Chess only.
    nodes: the number of nodes (Go: visits) per position, 1 to 1,000,000,000; None for the default of `Checker`.
    depth: the depth of a search in plies, 1 to 100; None for no limit of the depth. Chess only.
    dashes: True if error messages name command-line options, False if they name Python arguments.

    Raises UsageError if the engine is not installed or does not play this game, and if `nodes` or `depth` is out of
    range. Also raises UsageError if `options` or `depth` is given for Go.
    """

    def name(option: str) -> str:
        return f"--{option.replace('_', '-')}" if dashes else option

    program = read_command(words, name("checked_by"))
    if program.game != game and (program.is_well_known or program.game == "go"):
        raise UsageError(
            f"{name('checked_by')} must be an engine for {GAME_NAMES[game]}, because {network} plays"
            f" {GAME_NAMES[game]} (got {words})."
            f" Example: {EXAMPLES[game]}"
        )
    options_name = name("engine_option") if dashes else "engine_options"
    if game == "go" and (options or depth is not None):
        given = options_name if options else name("depth")
        raise UsageError(f"{given} works only with UCI engines. Put the options of a GTP engine in its command.")
    for option, value, most in (("nodes", nodes, MOST_NODES), ("depth", depth, MOST_DEPTH)):
        if value is not None and not 1 <= value <= most:
            raise UsageError(f"{name(option)} of an engine must be from 1 to {most:,} (got {value:,})")
    return Checker(program, tuple((options or {}).items()), nodes, depth, name("checked_by"))
