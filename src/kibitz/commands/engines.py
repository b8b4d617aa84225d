"""kibitz uci and kibitz gtp: a run as an engine for any chess GUI, or any Go program's controller."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from kibitz.engines.uci.options import AUTO, ELO, METHODS, OWN_TEMPERATURE, Options
from kibitz.errors import UsageError
from kibitz.games.go.rulesets import MAX_KOMI, NAMED, named
from kibitz.systems import MOVES, find
from kibitz.systems.declaration import HUMAN_SEARCH, TOP_PROB
from kibitz.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kibitz.engines.gtp.session import GtpSettings
    from kibitz.play.result import ThinkingPlayer
    from kibitz.play.session import Session


@dataclass(frozen=True)
class UciOptions:
    """The start values of options that a GUI can set."""

    method: Annotated[
        str,
        typer.Option(
            help=f"How a move is chosen: {', '.join(METHODS)}; {AUTO} is what suits the network best: puct for"
            " chessnet, comparison for networks that compare positions, top-prob where no value network is known.",
            metavar="METHOD",
        ),
    ] = AUTO
    value: Annotated[
        str | None,
        typer.Option(help="Another run, whose value network is used. Default: its own.", metavar="RUN"),
    ] = None
    temperature: Annotated[
        int | None,
        typer.Option(
            help="Variety, in percent: 0 always plays the best move, 100 plays moves as often as the network predicts"
            " them (where it searches: the more, the better they are). Default: 0, and 100 with --elo.",
            min=0,
            max=200,
            metavar="PERCENT",
            show_default=False,
        ),
    ] = None
    elo: Annotated[
        int | None,
        typer.Option(
            help=f"Play like a person of this rating ({ELO[0]} to {ELO[1]}), one look at the network a move whatever"
            f" the time, or a short look ahead with --method {HUMAN_SEARCH.name}; for networks that are told ratings,"
            " as human is. Default: no limit.",
            metavar="RATING",
            show_default=False,
        ),
    ] = None

    def of_engine(self, run: str) -> Options:
        """The engine's options for a run. Raises UsageError for a method or rating that the run cannot play by."""
        from kibitz.play import playable, why_not
        from kibitz.runs import Run

        methods, rated = playable(Run(run)), _takes_ratings(run)
        if not methods and not self.value:
            raise UsageError(f"{run} neither predicts moves nor values positions for the mover; take chessnet, say")
        if self.method not in (AUTO, *methods):
            if self.method in METHODS:
                raise UsageError(why_not(self.method, run, list(methods)))
            raise UsageError(f"--method {self.method}: choose from {', '.join((AUTO, *methods))}")
        if self.elo is not None and not rated:
            raise UsageError(f"--elo {self.elo}: {run} is not told ratings, so it has one strength; take human")
        if self.elo is not None and not ELO[0] <= self.elo <= ELO[1]:
            raise UsageError(f"--elo {self.elo}: ratings from {ELO[0]} to {ELO[1]}")
        usual = OWN_TEMPERATURE if rated else 0
        return Options(
            method=self.method, value=self.value or "", rated=rated, methods=methods,
            temperature=usual if self.temperature is None else self.temperature,
            limit_strength=self.elo is not None, elo=self.elo or Options.elo,
        )  # fmt: skip


def uci(
    run: Annotated[
        str, typer.Argument(help="A run, or the name of a packaged network.", show_default=False, metavar="RUN")
    ],
    *,
    start: UciOptions,
) -> None:
    """Play as a UCI engine, for chess GUIs and matches: commands on standard input, answers on standard output.

    The options are the start values of what a GUI can set (Hash, Threads, MultiPV, Move_Overhead, method,
    temperature, Value, UCI_ShowWDL, Ponder, Seed; of networks that are told ratings
    UCI_LimitStrength and UCI_Elo too). SyzygyPath names folders of tablebases: endings in them are played perfectly.
    BookFile names an opening book in Polyglot's format, for the first BookDepth plies.
    The network is loaded on isready.
    """
    for name in (run, start.value):
        if name:
            _check(name)
    options = start.of_engine(run)

    from pathlib import Path

    from kibitz.engines.uci.engine import UciEngine, read_lines

    with _standard_streams("kibitz uci", "a GUI gives it both") as (lines, output):
        UciEngine(Path(run).resolve().name, opener(run), options, output).run(read_lines(lines))


@contextlib.contextmanager
def _standard_streams(command: str, remedy: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Standard input and output, for the protocol alone: other prints go to standard error meanwhile.

    Raises UsageError if either of them is closed.
    """
    if sys.stdin is None or sys.stdout is None:
        raise UsageError(f"{command}: needs standard input and standard output; {remedy}")
    output = sys.stdout.buffer
    with contextlib.redirect_stdout(sys.stderr):  # what a library prints must not come between the answers
        yield sys.stdin.buffer, output


def _takes_ratings(run: str) -> bool:
    """Whether the ratings of the players are inputs of the run's network."""
    from kibitz.runs import Run

    return "rating" in Run(run).side_inputs


def opener(run: str) -> Callable[[Options], ThinkingPlayer]:
    """A function that makes the player of a run for given options. Each network is loaded once."""
    sessions: dict[tuple[str, int], Session] = {}

    def session(name: str, threads: int) -> Session:
        from kibitz.play.session import Session

        if (name, threads) not in sessions:
            sessions[name, threads] = Session(name, threads)
        return sessions[name, threads]

    def make(options: Options) -> ThinkingPlayer:
        import chess

        from kibitz.play import open_player
        from kibitz.play.result import SearchLimits
        from kibitz.play.session import told_ratings
        from kibitz.runs import Run

        method = None if options.method == AUTO else options.method
        settings: dict[str, Any] = {
            "temperature": max(0, options.temperature) / 100,
            "lines": options.multipv,
            "hash_mb": options.hash,
        }
        if options.seed:
            settings["seed"] = options.seed
        if options.value:
            settings["value"] = session(options.value, options.threads)

        def network() -> Session:
            asked = session(run, options.threads)
            if not options.rated:
                return asked
            return told_ratings(asked, options.elo) if options.limit_strength else told_ratings(asked)

        if options.rated:
            if options.limit_strength and method != HUMAN_SEARCH.name:
                method = TOP_PROB.name  # one look: a search would play above the rating
            settings |= {"temperature": _temperature(options), "side_inputs": network().side_inputs}
        player: ThinkingPlayer = open_player(Run(run), network, method=method, **settings)
        # Compiled functions and ONNX Runtime start slowly; that must be over before a clock runs.
        player.think(chess.Board(), SearchLimits(depth=2, seconds=5.0))
        player.new_game()
        return player

    return make


def _temperature(options: Options) -> float:
    """The temperature that is set; by default 1 if the strength is limited to a rating, else 0."""
    if options.temperature == OWN_TEMPERATURE:
        return 1.0 if options.limit_strength else 0.0
    return options.temperature / 100


@dataclass(frozen=True)
class GtpOptions:
    """Of the first game, and how the engine plays."""

    name: Annotated[
        str,
        typer.Option(
            help="The name to answer to. Lizzie, say, shows owners where the name begins with KataGo.", metavar="NAME"
        ),
    ] = "kibitz"
    rules: Annotated[str, typer.Option(help=f"Rules of the first game: {', '.join(NAMED)}.", metavar="RULES")] = (
        "chinese"
    )
    komi: Annotated[float, typer.Option(help="Komi of the first game.", metavar="POINTS")] = 7.5
    temperature: Annotated[
        int,
        typer.Option(
            help="Variety of the first moves, as many as the board has lines, in percent: 0 always plays the best move,"
            " with 100 one that promises a point less is played e times as rarely.",
            min=0,
            max=1000,
            metavar="PERCENT",
        ),
    ] = 0
    seed: Annotated[
        int | None, typer.Option(help="Of the draws of --temperature. Default: any.", min=0, metavar="NUMBER")
    ] = None
    threads: Annotated[int | None, typer.Option(help="CPU cores to use. Default: all.", min=1, metavar="NUMBER")] = None

    def check(self) -> None:
        """Raises UsageError for a komi out of range and for unknown rules."""
        if not abs(self.komi) <= MAX_KOMI:  # not a number either
            raise UsageError(f"--komi {self.komi:g}: points from {-MAX_KOMI:g} to {MAX_KOMI:g}")
        try:
            named(self.rules)
        except ValueError as error:
            raise UsageError(f"--rules {self.rules}: {error}") from None

    def of_engine(self, largest: int) -> GtpSettings:
        """The engine's settings. largest: the largest board that the network knows."""
        from importlib.metadata import version

        from kibitz.engines.gtp.session import GtpSettings

        return GtpSettings(
            name=shown(self.name) or "kibitz", version=version("kibitz"), komi=self.komi, rules=self.rules,
            temperature=self.temperature / 100, seed=self.seed, largest=largest,
        )  # fmt: skip


def gtp(
    run: Annotated[
        str, typer.Argument(help="A run, or the name of a packaged network.", show_default=False, metavar="RUN")
    ],
    *,
    options: GtpOptions,
) -> None:
    """Play Go as a GTP engine, for boards and matches: commands on standard input, answers on standard output.

    Shows who will own what in GoGui, Lizzie and Sabaki. The network is loaded when a command needs it.
    """
    options.check()
    largest = _largest_board(run)

    from kibitz.engines.gtp.engine import GtpEngine
    from kibitz.engines.uci.engine import read_lines

    def load() -> Session:
        from kibitz.play.session import Session

        return Session(run, options.threads)

    with _standard_streams("kibitz gtp", "a Go program's controller gives it both") as (lines, output):
        GtpEngine(options.of_engine(largest), load, output).run(read_lines(lines))


def _largest_board(name: str) -> int:
    """The largest board that a run knows. Loads nothing. Raises KibitzError if it is no trained run for Go."""
    from kibitz.runs import ONNX, Run

    run = Run(name)
    if run.info["game"] != "go":
        raise UsageError(f"{name}: a network for {run.info['game']}; GTP is for Go")
    if not (run.path / ONNX).is_file():
        run.trained()
    return max(find(run.info["system"]).sizes_of(run.info["settings"]), default=19)


def _check(name: str) -> None:
    """Raises KibitzError if the run is not trained or not for chess. Reads run.json alone, and loads nothing."""
    from kibitz.runs import ONNX, Run

    run = Run(name)
    if run.info["game"] != "chess":
        raise UsageError(f"{name}: a network for {run.info['game']}; UCI is for chess")
    trained = run.info["settings"].get("networks", "all")
    moves = MOVES in find(run.info["system"]).answers_of(run.info["settings"])
    if moves and trained != "all" and trained.count(",") < 6:  # fewer than the seven that predict moves
        print(f"kibitz: {name}: trained for {trained} only; about the rest it knows nothing", file=sys.stderr)
    if not (run.path / ONNX).is_file():
        run.trained()
