"""Choose a move with a network, in chess or Go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import chess
import numpy as np

from kibitz.api.checks import check_number, check_whole
from kibitz.errors import UsageError

if TYPE_CHECKING:
    from kibitz.api.networks import MoveOptions
    from kibitz.games.go.rules import Board as GoBoard
    from kibitz.play.session import Session
    from kibitz.runs import Run

SECONDS = 1.0
"""The duration, in seconds, of a search for which the caller gives no limit."""
HASH_MB = 16


@dataclass(frozen=True)
class ChosenMove:
    """A chess move that a network chose.

    move: the move, for `board.push`.
    san: the move in SAN, such as "Nf3".
    uci: the move in UCI notation, such as "g1f3".
    score: the evaluation in centipawns from the mover's point of view, limited to −2000 to 2000.
    mate: the number of moves to mate, negative if the mover is mated; None if no mate is known.
    probability: the network's probability of the move among the legal moves, 0 to 1; 0 for networks that predict no
        moves.
    line: the expected moves in SAN, beginning with this move.
    depth: the depth of the search in plies.
    nodes: the number of evaluated positions.
    seconds: the duration of the search.

    >>> import chess, kibitz
    >>> board = chess.Board()
    >>> chosen = kibitz.load_network("convchess").choose_move(board)
    >>> board.push(chosen.move)
    >>> chosen.depth, chosen.nodes
    (1, 1)
    """

    move: chess.Move
    san: str
    uci: str
    score: int
    mate: int | None
    probability: float
    line: tuple[str, ...]
    depth: int
    nodes: int
    seconds: float


@dataclass(frozen=True)
class ChosenPoint:
    """A Go move that a network chose.

    point: row · 19 + column from the upper left, or 361 for a pass. Pass it to `board.play(board.to_move, point)`.
    vertex: the move in GTP notation, such as "D4" or "pass".
    lead: the mover's expected lead in points after the move, komi included. If the network did not search, it is the
        expected lead before the move.
    gain: `lead` minus the lead after a pass, in points; None if no pass was evaluated.
    captured: the number of captured stones.

    >>> import kibitz
    >>> board = kibitz.make_go_board(["E5", "E6"], size=9)
    >>> chosen = kibitz.load_network("gocnn").choose_move(board)
    >>> board.play(board.to_move, chosen.point) == chosen.captured
    True
    """

    point: int
    vertex: str
    lead: float
    gain: float | None
    captured: int


def choose_chess(
    run: Run, session: Session, board: chess.Board, options: MoveOptions, side_inputs: Mapping[str, int]
) -> ChosenMove:
    """Return the chess move that a network chooses. `TrainedNetwork.choose_move` calls this function.

    run: the folder with the network. session: the loaded network.
    board: the position.
    options: the keywords of `choose_move`.
    side_inputs: a dict from the names of the network's side inputs (ratings, speed and other facts besides the board)
        to their values, 0 to 255.
    """
    from kibitz.play import open_player
    from kibitz.play.result import SearchLimits

    depth, nodes, seconds = options.get("depth"), options.get("nodes"), options.get("seconds")
    temperature = options.get("temperature", 0.0)
    for name, limit in (("depth", depth), ("nodes", nodes)):
        if limit is not None:
            check_whole(name, limit, 1)
    _check_options(options)
    if not any(board.generate_legal_moves()):
        raise UsageError(
            f"there is no legal move: the position is {'checkmate' if board.is_check() else 'stalemate'}. Choose"
            " another position."
        )
    settings: dict[str, Any] = {"temperature": temperature, "seed": options.get("seed"), "hash_mb": HASH_MB}
    if side_inputs:
        settings["side_inputs"] = side_inputs
    player = open_player(run, lambda: session, method=options.get("method"), **settings)
    if depth is None and nodes is None and seconds is None and _searches(run, player.method):
        seconds = SECONDS
    if seconds is not None:  # compilation on first use must not use the thinking time
        player.think(board, SearchLimits(depth=1, nodes=1))
        player.new_game()
    result = player.think(board, SearchLimits(depth, nodes, seconds))
    best = result.lines[0]
    return ChosenMove(
        best.move, board.san(best.move), best.move.uci(), best.score, best.mate, float(best.probability),
        _line(board, best.pv), result.depth, result.nodes, result.seconds,
    )  # fmt: skip


def choose_go(
    run: Run,
    session: Session,
    board: GoBoard,
    options: MoveOptions,
    komi: float,
    handicap: int = 0,
    rules: str | None = None,
    side_inputs: Mapping[str, int] = {},
) -> ChosenPoint:
    """Return the Go move that a network chooses. `TrainedNetwork.choose_move` calls this function.

    run: the folder with the network. session: the loaded network.
    board: the position.
    options: the keywords of `choose_move`.
    komi: in points.
    handicap: the number of handicap stones.
    rules: the rules in the SGF of the position; None for Chinese rules. If `options` contain "rules", these rules apply
        instead.
    side_inputs: a dict from the names of the network's side inputs (ranks, server and other facts besides the board) to
        their values, 0 to 255.
    """
    from kibitz.games.go.points import PASS, to_gtp
    from kibitz.games.go.replay import AGE, encode_board
    from kibitz.games.go.rulesets import UnknownRules, named
    from kibitz.play import open_player
    from kibitz.play.go.imitation import imitation
    from kibitz.play.go.thought import Terms

    seconds = options.get("seconds")
    _check_options(options)
    try:
        terms = Terms.by(named(options.get("rules") or rules or "chinese"), komi, handicap)
    except UnknownRules as error:
        raise UsageError(str(error)) from None
    ages = encode_board(board)[0] // AGE
    last = int(np.argmax(ages == 1)) if (ages == 1).any() else PASS
    settings: dict[str, Any] = {"temperature": options.get("temperature", 0.0), "seed": options.get("seed")}
    method = options.get("method")
    if (rank := options.get("rank")) is not None:
        settings |= imitation(
            rank, network=run.name, takes_ranks=run.takes_ranks, method=method, temperature=options.get("temperature")
        )
        method = settings.pop("method")
    if (nodes := options.get("nodes")) is not None:
        check_whole("nodes", nodes, 1)
        settings["visits"] = nodes
    if side_inputs:
        settings["side_inputs"] = side_inputs
    player = open_player(run, lambda: session, method=method, **settings)
    chosen = player.choose(board, board.to_move, terms, last=last, seconds=seconds)
    return ChosenPoint(chosen.point, to_gtp(chosen.point, board.size), float(chosen.lead), chosen.gain, chosen.captured)


def _line(board: chess.Board, moves: tuple[chess.Move, ...]) -> tuple[str, ...]:
    after = board.copy(stack=False)
    return tuple(after.san_and_push(move) for move in moves)


def _searches(run: Run, method: str) -> bool:
    """Return whether a method searches until it reaches its limits."""
    from kibitz.systems import find
    from kibitz.systems.declaration import METHODS

    known = METHODS | {each.name: each for each in find(run.info["system"]).methods}
    return known[method].searches


def _check_options(options: MoveOptions) -> None:
    """Raise UsageError for a time, a temperature or a seed out of range."""
    if (seconds := options.get("seconds")) is not None:
        check_number("seconds", seconds, above=0)
    check_number("temperature", options.get("temperature", 0.0), least=0)
    if (seed := options.get("seed")) is not None:
        check_whole("seed", seed, 0)
