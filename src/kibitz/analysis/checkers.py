"""The choice of an external engine, such as Stockfish, that evaluates moves instead of a search with the network. The
network still predicts which moves people play.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kibitz.errors import UsageError
from kibitz.external.programs import Program, read_command
from kibitz.games import GAME_NAMES

NODES = 100_000
"""The default search size of a UCI engine in nodes per position. Such a search takes about as long as a search with the
network.
"""
VISITS = 50
"""The default search size of a GTP engine in visits per position."""
MOST_NODES = 1_000_000_000
MOST_DEPTH = 100
EXAMPLES = {"chess": "stockfish", "go": "gnugo"}
"""An example of an engine for each game, for messages."""


@dataclass(frozen=True)
class Checker:
    """The description of an engine that evaluates moves: how to start it, and the limits of its search. The object can
    be pickled and sent to workers.

    program: the engine's name and command. options: UCI options by name. nodes: nodes per position (visits in Go).
    depth: the depth of the search in plies, for UCI engines. If `nodes` and `depth` are both None, the default number
    of nodes applies. option: the command-line option or the argument that chose the engine, for messages.
    """

    program: Program
    options: tuple[tuple[str, str | int], ...] = ()
    nodes: int | None = None
    depth: int | None = None
    option: str = "--checked-by"

    @property
    def limit_nodes(self) -> int | None:
        """The nodes per position of a UCI engine; None if only `depth` limits its searches."""
        return NODES if self.nodes is None and self.depth is None else self.nodes


@dataclass(frozen=True)
class CheckedBy:
    """The engine that evaluated the moves of a game, and the limits of its search.

    engine: the name that the engine reports. nodes: the largest number of nodes per position; None for no limit. depth:
    the largest depth in plies; None for no limit. visits: whether `nodes` counts visits, as Go engines do.
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
    """Find the engine that is to evaluate moves. Return it with the limits of its search.

    words: the name or the command of the engine, such as "stockfish" or "katago gtp". game: "chess" or "go". network:
    the network's name, for messages. options: UCI options by name. nodes, depth: the limits of a search; None for the
    default. dashes: True if messages name options of the command line, False if they name arguments of Python.

    Raises UsageError if the engine is not installed or does not play this game, and for limits out of range.
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
