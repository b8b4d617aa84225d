"""The commands `kibitz uci` and `kibitz gtp`: a trained network as an engine for chess GUIs and Go programs."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from kibitz.commands.provider import Provider, use_provider
from kibitz.engines.uci.options import AUTO, ELO, METHODS, OWN_TEMPERATURE, Options
from kibitz.errors import UsageError
from kibitz.games.go.rulesets import MAX_KOMI, NAMED, named
from kibitz.messages import not_one_of, warning
from kibitz.systems import MOVES, find
from kibitz.systems.declaration import BEST_SCORE, GO_PUCT, GO_TOP_PROB, HUMAN_SEARCH, TOP_PROB
from kibitz.text import shown

GO_METHODS = tuple(method.name for method in (GO_PUCT, GO_TOP_PROB, BEST_SCORE))
REHEARSED = 256
"""The largest number of positions that the player evaluates for each move in `rehearse`."""

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kibitz.engines.gtp.session import GtpSettings
    from kibitz.play.result import ThinkingPlayer
    from kibitz.play.session import Session
    from kibitz.runs import Run


@dataclass(frozen=True)
class UciOptions:
    """The command-line options of `kibitz uci`: initial values of UCI options, which a GUI can change later."""

    method: Annotated[
        str,
        typer.Option(
            metavar="METHOD",
        ),
    ] = AUTO
    value: Annotated[
        str | None,
        typer.Option(metavar="RUN"),
    ] = None
    temperature: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=200,
            metavar="PERCENT",
            show_default=False,
        ),
    ] = None
    elo: Annotated[
        int | None,
        typer.Option(
            metavar="RATING",
            show_default=False,
        ),
    ] = None
    think_times: Annotated[
        bool,
        typer.Option(
            "--think-times",
        ),
    ] = False
    resign: Annotated[
        bool,
        typer.Option(
            "--resign",
        ),
    ] = False

    def of_engine(self, run: str) -> Options:
        """Return the initial options of a UCI engine.

        run: the name or the folder of the trained network. Raises UsageError for a method or a rating that the network
        does not support.
        """
        from kibitz.play import playable, plays_nothing, why_not
        from kibitz.runs import Run

        opened = Run(run)
        methods, rated = playable(opened), opened.takes_ratings
        if not methods and not self.value:
            raise UsageError(plays_nothing(run))
        if self.method not in (AUTO, *methods):
            if self.method in METHODS:
                raise UsageError(why_not(self.method, run, list(methods)))
            raise UsageError(not_one_of("--method", self.method, (AUTO, *methods)))
        if self.elo is not None and not rated:
            raise UsageError(
                f"--elo needs a network with rating inputs, and {run} has none (got {self.elo})."
                " Use the network 'human'."
            )
        if self.elo is not None and not ELO[0] <= self.elo <= ELO[1]:
            raise UsageError(f"--elo must be between {ELO[0]} and {ELO[1]} (got {self.elo})")
        if self.elo is not None and self.method not in (AUTO, TOP_PROB.name, HUMAN_SEARCH.name):
            raise UsageError(
                f"--elo cannot be combined with --method {self.method} (got {self.elo}). Use --method"
                f" {TOP_PROB.name} or {HUMAN_SEARCH.name}."
            )
        person = opened.person is not None
        for network, option in ((self.think_times, "--think-times"), (self.resign, "--resign")):
            if network and not (person or rated):
                raise UsageError(
                    f"{option} works only with the network 'human' and with networks of kibitz personal (got {run})."
                    f" Leave {option} out."
                )
        usual = OWN_TEMPERATURE if rated else 100 if person else 0
        return Options(
            method=self.method, value=self.value or "", rated=rated, methods=methods,
            temperature=usual if self.temperature is None else self.temperature,
            limit_strength=self.elo is not None, elo=self.elo or Options.elo, person=person,
            think_times=self.think_times, resign=self.resign,
        )  # fmt: skip


def uci(
    run: Annotated[str, typer.Argument(show_default=False, metavar="RUN")],
    *,
    start: UciOptions,
    provider: Provider = None,
) -> None:
    """Play as a UCI engine, for chess GUIs and matches: commands on standard input, replies on standard output.

    A GUI can set Hash, Threads, MultiPV, Move Overhead, Method, Temperature, Value, UCI_ShowWDL, Ponder and Seed. For
    networks with rating inputs, it can also set UCI_LimitStrength and UCI_Elo. The command's options are the initial
    values of some of these. SyzygyPath names folders of tablebases, with which endings are played perfectly. BookFile
    names an opening book in Polyglot's format, which is used in the first BookDepth plies (moves of one side). The
    network is loaded when the GUI sends isready.
    """
    use_provider(provider)
    for name in (run, start.value):
        if name:
            _check(name)
    options = start.of_engine(run)

    from pathlib import Path

    from kibitz.engines.uci.engine import UciEngine, read_lines

    with _standard_streams("kibitz uci", "Start it from a chess program") as (lines, output):
        engine = UciEngine(Path(run).resolve().name, opener(run), options, output)
        engine.run(read_lines(lines, engine.report_long))


@contextlib.contextmanager
def _standard_streams(command: str, remedy: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Yield standard input and output, which are reserved for the protocol: other output goes to standard error.

    Raises UsageError if one of them is closed.
    """
    if sys.stdin is None or sys.stdout is None:
        raise UsageError(f"{command} needs standard input and standard output. {remedy}.")
    output = sys.stdout.buffer
    with contextlib.redirect_stdout(sys.stderr):  # the output of a library must not come between the replies
        yield sys.stdin.buffer, output


def opener(run: str) -> Callable[[Options], ThinkingPlayer]:
    """Return a function that makes a player (an object that chooses moves) for the given UCI options. It loads each
    network only once.

    run: the name or the folder of the trained network.
    """
    sessions: dict[tuple[str, int], Session] = {}

    def session(name: str, threads: int) -> Session:
        from kibitz.play.session import Session

        if (name, threads) not in sessions:
            sessions[name, threads] = Session(name, threads)
        return sessions[name, threads]

    def make(options: Options) -> ThinkingPlayer:
        from kibitz.play import open_player
        from kibitz.play.session import with_rating
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
            network = session(run, options.threads)
            if not options.rated:
                return network
            return with_rating(network, options.elo) if options.limit_strength else with_rating(network)

        if options.rated:
            if options.limit_strength and method != HUMAN_SEARCH.name:
                # This method evaluates the network once. With a search, it would play better than a player of this
                # rating.
                method = TOP_PROB.name
            settings |= {"temperature": _temperature(options), "side_inputs": network().side_inputs}
        player: ThinkingPlayer = open_player(Run(run), network, method=method, **settings)
        if options.think_times or options.resign:
            player = _with_habits(player, Run(run), network, options)
        rehearse(player)
        return player

    return make


def rehearse(player: ThinkingPlayer) -> None:
    """Let a player search a few positions before the first game, so that compiled functions and ONNX Runtime are loaded
    before a clock runs.

    The searches have no effective time limit. A time limit could end them before the last functions are compiled, and
    the first moves of a game would then be late.
    """
    import chess

    from kibitz.play.result import SearchLimits

    board = chess.Board()
    for _ in range(2):
        # The time limit is too long to take effect. It is set because only a search with a time limit runs the code
        # that checks whether the move is decided.
        if thought := player.think(board, SearchLimits(seconds=1e9, depth=2, nodes=REHEARSED)):
            for move in thought.lines[0].pv[:2]:
                board.push(move)
    # This ending is searched by other compiled functions, which must be loaded too.
    bare_king = chess.Board("8/8/8/4k3/8/8/8/R3K3 w - - 0 1")
    player.think(bare_king, SearchLimits(depth=1, nodes=1))
    player.new_game()


def _with_habits(player: ThinkingPlayer, run: Run, network: Callable[[], Session], options: Options) -> ThinkingPlayer:
    """Return the player with habits: those of the run's person, as far as they are known, or those of people with the
    rating in the options.
    """
    from kibitz.personal.habits import HabitualPlayer, usual_habits
    from kibitz.play.session import STRONGEST

    seed = options.seed or None
    if options.rated:
        import numpy as np

        from kibitz.play.chess.thinking_time import PaceOfPeople

        rating = options.elo if options.limit_strength else STRONGEST
        session = network()
        pace = PaceOfPeople(session, session.side_inputs, rating, np.random.default_rng(seed))
        own = pace if options.think_times else None
        return HabitualPlayer(player, usual_habits(rating), think=False, resign=options.resign, pace=own, seed=seed)
    habits = run.info.get("habits", {})
    for wanted, name, why in (
        (options.think_times, "think", "the games have no clock times"),
        (options.resign, "resign", "too few of the games were resigned"),
    ):
        if wanted and name not in habits:
            warning(f"{run.name} plays without this habit of the player: {name}. Reason: {why}")
    return HabitualPlayer(player, habits, think=options.think_times, resign=options.resign, seed=seed)


def _temperature(options: Options) -> float:
    """Return the temperature in the options. The default is 1 if the strength is limited to a rating, else 0."""
    if options.temperature == OWN_TEMPERATURE:
        return 1.0 if options.limit_strength else 0.0
    return options.temperature / 100


@dataclass(frozen=True)
class GtpOptions:
    """The command-line options of `kibitz gtp`: the engine's name, the rules and komi of the first game, and how the
    engine plays.
    """

    name: Annotated[
        str,
        typer.Option(metavar="NAME"),
    ] = "kibitz"
    rules: Annotated[str, typer.Option(metavar="RULES")] = "chinese"
    komi: Annotated[float, typer.Option(metavar="POINTS")] = 7.5
    temperature: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1000,
            metavar="PERCENT",
            show_default=False,
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, metavar="NUMBER")] = None
    threads: Annotated[int | None, typer.Option(min=1, metavar="NUMBER")] = None
    method: Annotated[
        str,
        typer.Option(
            metavar="METHOD",
        ),
    ] = AUTO
    visits: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            show_default=False,
        ),
    ] = None
    rank: Annotated[str | None, typer.Option(metavar="RANK", show_default=False)] = None
    resign: Annotated[
        int,
        typer.Option(
            min=0,
            max=50,
            metavar="PERCENT",
        ),
    ] = 0

    def check(self, run: str) -> None:
        """Raise UsageError for a komi out of range, unknown rules, and a method or rank that the network does not
        support. Also raise it for --visits if the engine plays without a search.

        run: the name or the folder of the trained network.
        """
        from kibitz.play import playable, why_not
        from kibitz.runs import Run

        opened = Run(run)
        offered = playable(opened)
        if self.method not in (AUTO, *offered):
            known = self.method in GO_METHODS
            raise UsageError(
                why_not(self.method, run, list(offered))
                if known
                else not_one_of("--method", self.method, (AUTO, *offered))
            )
        rank = self._rank(opened, run)
        plays = self._method(opened) or next(iter(offered), "")
        how = f"--rank {rank}" if rank else f"--method {plays}"
        if self.visits is not None and (rank or plays != GO_PUCT.name):
            raise UsageError(
                f"--visits limits a search, and with {how} {run} plays without a search (got {self.visits})."
                " Leave --visits out."
            )
        if not abs(self.komi) <= MAX_KOMI:  # the test also rejects NaN
            raise UsageError(f"--komi must be from {-MAX_KOMI:g} to {MAX_KOMI:g} points (got {self.komi:g})")
        try:
            named(self.rules)
        except ValueError:
            raise UsageError(not_one_of("--rules", self.rules, NAMED)) from None

    def _method(self, run: Run) -> str | None:
        """Return the method by which a run plays; None for its first method."""
        if self.method != AUTO:
            return self.method
        return GO_TOP_PROB.name if run.person is not None else None

    def _rank(self, opened: Run, run: str) -> str | None:
        """Return the rank to imitate, such as "5k"; None without --rank. run: the name of the run in messages. Raises
        UsageError for text that is not a rank in range, and for a run and a method that don't imitate ranks.
        """
        if self.rank is None:
            return None
        from kibitz.play.go.imitation import imitation

        method = None if self.method == AUTO else self.method
        known = imitation(self.rank, network=run, takes_ranks=opened.takes_ranks, option="--rank", method=method)
        return known["rank"]

    def of_engine(self, run: str, largest: int) -> GtpSettings:
        """Return the settings of a GTP engine.

        run: the name or the folder of the trained network. largest: the largest board size that the network supports,
        such as 19. Raises UsageError for a rank that the network can't imitate.
        """
        from kibitz import __version__
        from kibitz.engines.gtp.session import GtpSettings
        from kibitz.runs import Run

        opened = Run(run)
        person = opened.person is not None
        temperature = self.temperature if self.temperature is not None else 100 if person else None
        return GtpSettings(
            name=shown(self.name) or "kibitz", version=__version__, komi=self.komi, rules=self.rules,
            temperature=None if temperature is None else temperature / 100, seed=self.seed, largest=largest,
            method=self._method(opened), visits=self.visits, resign=self.resign / 100,
            rank=self._rank(opened, run), takes_ranks=opened.takes_ranks, network=run,
        )  # fmt: skip


def gtp(
    run: Annotated[str, typer.Argument(show_default=False, metavar="RUN")],
    *,
    options: GtpOptions,
    provider: Provider = None,
) -> None:
    """Play Go as a GTP engine, for Go programs and matches: commands on standard input, replies on standard output.

    GoGui, Lizzie and Sabaki can show the predicted territory. If the network predicts moves, as gohuman does, they can
    also show the moves that a search considers. The network is loaded when a command needs it.
    """
    use_provider(provider)
    largest = _largest_board(run)
    options.check(run)

    from kibitz.engines.gtp.engine import GtpEngine
    from kibitz.engines.uci.engine import read_lines

    def load() -> Session:
        from kibitz.play.session import Session

        return Session(run, options.threads)

    with _standard_streams("kibitz gtp", "Start it from a Go program") as (lines, output):
        engine = GtpEngine(options.of_engine(run, largest), load, output)
        engine.run(read_lines(lines, engine.reject_long))


def _largest_board(name: str) -> int:
    """Return the largest board that a run supports, without loading the network. Raises KibitzError if it is not a
    trained run for Go.
    """
    from kibitz.runs import ONNX, Run

    run = Run(name)
    if run.info["game"] != "go":
        raise UsageError(f"{name} is a network for chess, and GTP is a protocol for Go. Try: kibitz uci {name}")
    if not (run.path / ONNX).is_file():
        run.trained()
    return max(find(run.info["system"]).sizes_of(run.info["settings"]), default=19)


def _check(name: str) -> None:
    """Raise KibitzError if the run is not trained or not for chess. The function reads only run.json, and loads no
    network.
    """
    from kibitz.runs import ONNX, Run

    run = Run(name)
    if run.info["game"] != "chess":
        raise UsageError(f"{name} is a network for Go, and UCI is a protocol for chess. Try: kibitz gtp {name}")
    trained = run.info["settings"].get("networks", "all")
    moves = MOVES in find(run.info["system"]).answers_of(run.info["settings"])
    # A move needs all seven networks. A list of seven names has six commas.
    if moves and trained != "all" and trained.count(",") < 6:
        warning(f"{name} is trained for {trained} only. Its other moves are random.")
    if not (run.path / ONNX).is_file():
        run.trained()
