"""GTP commands of KataGo and Leela Zero, in their formats: analysis as a stream of lines, raw outputs of the network,
and rules.

An analysis line has a group `info move …` for each move, best first. On request, `rootInfo …` and `ownership …` follow.
All values are from the point of view of the side to move. The meaning of visits, priors and win probabilities depends
on the method that chooses moves, see `kibitz.play.go.thought`.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kibitz.engines.gtp.parse import Command, GtpError, argument, colour, is_colour, number, truth, vertex, whole
from kibitz.engines.gtp.play import RESIGNS, choose, resigns
from kibitz.engines.gtp.session import AnalysisStream, GtpSession, Handler, Send
from kibitz.games.go.points import PASS, POINTS, to_gtp
from kibitz.games.go.rulesets import NAMED, read_rules, with_field
from kibitz.text import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.games.go.endings.final import FinalCount
    from kibitz.play.go.thought import GoThought, Look

MAX_MOVES = 20
"""The largest number of moves in a line of an analysis, unless the command contains another number."""
MIN_INTERVAL = 0.01
"""The shortest interval between two lines of an analysis, in seconds."""
PARAMETERS = {"playoutDoublingAdvantage": "0", "analysisWideRootNoise": "0"}
"""Parameters of KataGo's search that controllers query. kibitz's search has no such parameters, so their values are
0.
"""
FLAGS = ("ownership", "movesownership", "pvvisits", "rootinfo", "ownershipstdev", "movesownershipstdev")


@dataclass
class AnalysisRequest:
    """The arguments of a GTP command that analyzes the position and sends a line at regular intervals.

    side: the side to move, BLACK = 1 or WHITE = 2.
    interval: the seconds between two lines of the reply.
    moves: the largest number of moves in a line of the reply.
    only: the moves to analyze, as points (19 * row + column, or 361 for a pass); None for all moves.
    also: the names of further outputs that the command requests, such as "ownership", in lower case.
    """

    side: int
    interval: float = 1.0
    moves: int = MAX_MOVES
    only: list[int] | None = None
    also: frozenset[str] = frozenset()

    def thought_of(self, look: Look) -> GoThought:
        """Return the present evaluation of the position, with as many moves and ownership maps as the command of this
        request needs. An ownership map shows which side gets each point.

        look: the function that returns the evaluation. Its arguments are the number of moves, and whether each move
        gets an ownership map.
        """
        wide = bool(self.also & {"movesownership", "movesownershipstdev"})
        return look(max(1, self.moves), wide)


def counted_thought(thought: GoThought, final: FinalCount) -> GoThought:
    """Return the evaluation of a finished game. The win probability, the lead and the ownership are those of the final
    score, and a pass is the only move.

    thought: the network's evaluation of the final position. final: the final score.
    """
    from kibitz.play.go.thought import MoveThought

    lead = thought.sign * final.lead
    winrate = final.black_wins if thought.sign > 0 else 1 - final.black_wins
    passing = MoveThought(
        PASS, thought.visits, 1.0, winrate, winrate, lead, 0.0, 0.0, 0, (PASS,), (thought.visits,), final.black_owns
    )
    return replace(thought, winrate=winrate, lead=lead, spread=0.0, owners=final.black_owns, moves=(passing,))


def read_analysis(words: tuple[str, ...], session: GtpSession) -> AnalysisRequest:
    """Parse the arguments of an analysis command, `[color] [interval] {key value}…`, and return them.

    words: the arguments. If there is no color, the side to move is analyzed. The interval is in hundredths of a second;
    if it is missing, it is 1 second. session: the session, whose board defines the legal points. Raises GtpError for
    invalid arguments.
    """
    game = session.game
    request = AnalysisRequest(game.board.to_move)
    rest = list(words)
    if rest and is_colour(rest[0]):
        request.side = colour(rest.pop(0))
    if rest and rest[0][0].isdigit():
        request.interval = _seconds(rest.pop(0))
    avoided: set[int] = set()
    min_moves = 0
    while rest:
        key = rest.pop(0).lower()
        value = argument(rest)
        rest.pop(0)
        if key == "interval":
            request.interval = _seconds(value)
        elif key == "maxmoves":
            request.moves = whole(value, 0, 10**9)
        elif key == "minmoves":
            min_moves = whole(value, 0, 10**9)
        elif key in ("allow", "avoid"):
            points = [vertex(word, game.size) for word in argument(rest).split(",") if word]
            # The argument is the number of moves of a line to which KataGo applies the restriction. kibitz applies the
            # restriction to the first move only.
            whole(argument(rest, 1), 1, 10**9)
            del rest[:2]
            if colour(value) != request.side:
                continue
            if key == "avoid":
                avoided.update(points)
            else:
                request.only = points
        elif key in FLAGS:
            request.also |= {key} if truth(value) else set()
        else:
            raise GtpError(f"syntax error: unknown word {shown(key)}")
    request.moves = max(request.moves, min_moves)
    if avoided:
        everything = request.only if request.only is not None else [*range(POINTS), PASS]
        request.only = [point for point in everything if point not in avoided]
    return request


def _seconds(text: str) -> float:
    """Parse a number of centiseconds, and return seconds."""
    return max(MIN_INTERVAL, number(text, 0, 10**7) / 100)


def _analyze(session: GtpSession, command: Command) -> AnalysisStream:
    request = read_analysis(command.words, session)
    player, game, final = session.player, session.game, session.final_count()
    terms = game.terms.for_board()
    write = _lz_line if command.name.startswith("lz") else kata_line

    def text(look: Look) -> str:
        thought = request.thought_of(look)
        return write(thought if final is None else counted_thought(thought, final), request)

    def run(send: Send, stop: threading.Event) -> None:
        line, first = "", threading.Event()
        failure: Exception | None = None

        def think() -> None:
            nonlocal line, failure
            written, look = -math.inf, None
            try:
                for look in player.looks(game.board, request.side, terms, request.only, game.last_point()):
                    if time.monotonic() - written >= request.interval / 2:
                        line, written = text(look), time.monotonic()
                        first.set()
                    if stop.is_set():
                        return
                if look:
                    line = text(look)
            except Exception as error:
                failure = error
            finally:
                first.set()

        # Controllers expect a line after every interval. If there is no new result, the last line is sent again.
        thinking = threading.Thread(target=think, daemon=True)
        thinking.start()
        first.wait()
        due = time.monotonic()
        while not stop.wait(max(0.0, due - time.monotonic())):
            if failure:
                raise failure
            due = max(due + request.interval, time.monotonic())
            if line:  # an empty line would end the reply
                send(line)
        thinking.join()

    return AnalysisStream(run, ends=False)


def _genmove_analyze(session: GtpSession, command: Command) -> AnalysisStream:
    request = read_analysis(command.words, session)
    session.player  # noqa: B018 (the error of a network that cannot be loaded must come before the answer begins)
    write = _lz_line if command.name.startswith("lz") else kata_line

    def run(send: Send, stop: threading.Event) -> None:
        due = time.monotonic()

        def report(look: Look) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + request.interval
                if line := write(request.thought_of(look), request):
                    send(line)

        move = choose(session, request.side, only=request.only, on_progress=report)
        if resigns(session, request.side):
            send(f"play {RESIGNS}")
            return
        session.game.play(request.side, move.point)
        send(f"play {to_gtp(move.point, session.game.size)}")

    return AnalysisStream(run, ends=True)


def kata_line(thought: GoThought, request: AnalysisRequest) -> str:
    """Format an evaluation of a position as one line of the reply to the GTP command `kata-analyze`, without the line
    end.

    thought: the evaluation. request: the arguments of the command, which select the outputs.
    """
    words: list[str] = []
    for order, move in enumerate(thought.moves[: request.moves]):
        name = to_gtp(move.point, thought.size)
        pv = " ".join(to_gtp(point, thought.size) for point in move.pv)
        words.append(
            f"info move {name} visits {move.visits} edgeVisits {move.visits}"
            f" {_outlook(move.winrate, move.lead, move.spread)} prior {move.prior:.6f}"
            f" lcb {move.lcb:.6f} utilityLcb {2 * move.lcb - 1:.6f} weight {move.visits:.1f} order {order} pv {pv}"
        )
        if "pvvisits" in request.also:
            visits = " ".join(map(str, move.pv_visits))
            words.append(f"pvVisits {visits} pvEdgeVisits {visits}")
        if move.owners is not None and "movesownership" in request.also:
            words.append("movesOwnership " + _numbers(_by_side(thought, move.owners)))
        if move.owners is not None and "movesownershipstdev" in request.also:
            words.append("movesOwnershipStdev " + _numbers(_deviation(thought, move.owners)))
    if "rootinfo" in request.also:
        outlook = _outlook(thought.winrate, thought.lead, thought.spread)
        words.append(f"rootInfo visits {thought.visits} {outlook} weight {thought.visits:.1f}")
    if "ownership" in request.also:
        words.append("ownership " + _numbers(_by_side(thought, thought.owners)))
    if "ownershipstdev" in request.also:
        words.append("ownershipStdev " + _numbers(_deviation(thought, thought.owners)))
    return " ".join(words)


def _outlook(chance: float, lead: float, spread: float) -> str:
    """Format win probability and score of one side."""
    return (
        f"utility {2 * chance - 1:.6f} winrate {chance:.6f} scoreMean {lead:.4f} scoreStdev {spread:.4f}"
        f" scoreLead {lead:.4f} scoreSelfplay {lead:.4f}"
    )


def _lz_line(thought: GoThought, request: AnalysisRequest) -> str:
    """Return a line of `lz-analyze`, with probabilities in 1/10,000."""
    words = []
    for order, move in enumerate(thought.moves[: request.moves]):
        pv = " ".join(to_gtp(point, thought.size) for point in move.pv)
        words.append(
            f"info move {to_gtp(move.point, thought.size)} visits {move.visits} winrate {round(10000 * move.winrate)}"
            f" prior {round(10000 * move.prior)} lcb {round(10000 * move.lcb)} order {order} pv {pv}"
        )
    return " ".join(words)


def _by_side(thought: GoThought, owners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the ownership of the board's points, row by row: 1 for the side to move, -1 for the opponent."""
    from kibitz.play.go.ownership import points_of

    return thought.sign * (2 * owners[points_of(thought.size)] - 1)


def _deviation(thought: GoThought, owners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean deviation of each point from its expected owner (-1 to 1)."""
    import numpy as np

    return np.sqrt(np.maximum(0, 1 - _by_side(thought, owners) ** 2))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{value:.4f}" for value in values)


def _raw(session: GtpSession, command: Command) -> str:
    from kibitz.play.go.ownership import SYMMETRIES

    words = list(command.words)
    side = colour(words.pop(0)) if words and is_colour(words[0]) else session.game.board.to_move
    symmetry = argument(words).lower()
    symmetries = range(SYMMETRIES) if symmetry == "all" else [whole(symmetry, 0, SYMMETRIES - 1)]
    return "\n".join(_raw_answer(session, side, number) for number in symmetries)


def _raw_answer(session: GtpSession, side: int, symmetry: int) -> str:
    """Return the network's outputs for the position under a symmetry, in the format of `kata-raw-nn`."""
    import numpy as np

    from kibitz.play.go.ownership import points_of

    game = session.game
    thought = session.player.raw(game.board, side, game.terms, symmetry)
    chances = {move.point: move.prior for move in thought.moves}
    lead, deviation = -thought.sign * thought.lead, thought.spread
    win = thought.winrate if thought.sign < 0 else 1 - thought.winrate
    points = points_of(game.size).reshape(game.size, game.size)
    owned = 1 - 2 * thought.owners[points].astype(np.float64)
    lines = [
        f"symmetry {symmetry}",
        f"whiteWin {win:.6f}",
        f"whiteLoss {1 - win:.6f}",
        "noResult 0.000000",
        f"whiteLead {lead:.3f}",
        f"whiteScoreSelfplay {lead:.3f}",
        f"whiteScoreSelfplaySq {lead**2 + deviation**2:.3f}",
        "varTimeLeft -1.000",
        "shorttermWinlossError -1.000",
        "shorttermScoreError -1.000",
        "policy",
        *(" ".join(f"{chances[p]:8.6f}" if p in chances else "     NAN" for p in row) for row in points.tolist()),
        f"policyPass {chances[19 * 19]:8.6f}",
        "whiteOwnership",
        *(" ".join(f"{value:9.7f}" for value in row) for row in owned.tolist()),
    ]
    return "\n".join(lines)


def _set_rules(session: GtpSession, command: Command) -> str:
    argument(command.words)
    session.game.set_rules(read_rules(command.text, session.game.rules))
    return ""


def _set_rule(session: GtpSession, command: Command) -> str:
    session.game.set_rules(with_field(session.game.rules, argument(command.words), argument(command.words, 1)))
    return ""


def _kgs_rules(session: GtpSession, command: Command) -> str:
    name = argument(command.words).lower().replace("_", "-")
    if name not in ("chinese", "aga", "japanese", "new-zealand"):
        raise GtpError(f"unknown rules {shown(name)}")
    session.game.set_rules(NAMED["chinese-kgs" if name == "chinese" else name])
    return ""


def _get_rules(session: GtpSession, command: Command) -> str:
    return session.game.rules.json()


def _get_param(session: GtpSession, command: Command) -> str:
    return PARAMETERS[_parameter(command)]


def _set_param(session: GtpSession, command: Command) -> str:
    name = _parameter(command)
    value = argument(command.words, 1)
    if number(value, -1e9, 1e9) != float(PARAMETERS[name]):
        raise GtpError(f"{name} is always {PARAMETERS[name]} (got {shown(value)})")
    return ""


def _parameter(command: Command) -> str:
    """Return the parameter in the command's arguments. Raises GtpError if it is unknown."""
    name = argument(command.words)
    if name not in PARAMETERS:
        raise GtpError(f"unknown parameter {shown(name)}. Use one of: {' '.join(PARAMETERS)}")
    return name


def _nothing(session: GtpSession, command: Command) -> str:
    """Execute the command `stop`. The function does nothing, because any command already ends an analysis."""
    return ""


def _clear_cache(session: GtpSession, command: Command) -> str:
    session.new_game()
    return ""


COMMANDS: dict[str, Handler] = {
    "kata-analyze": _analyze,
    "lz-analyze": _analyze,
    "analyze": _analyze,
    "kata-genmove_analyze": _genmove_analyze,
    "lz-genmove_analyze": _genmove_analyze,
    "genmove_analyze": _genmove_analyze,
    "kata-raw-nn": _raw,
    "kata-set-rules": _set_rules,
    "kata-set-rule": _set_rule,
    "kata-get-rules": _get_rules,
    "kata-get-param": _get_param,
    "kata-set-param": _set_param,
    "kgs-rules": _kgs_rules,
    "stop": _nothing,
    "clear_cache": _clear_cache,
}
