"""GTP commands of KataGo and Leela Zero, in their formats: analysis as a stream of lines, raw answers, rules.

An analysis line holds a group `info move …` for each move, best first; then, where asked for, `rootInfo …` and
`ownership …`. All of it is seen by the side to move. A visit is one look of the network at the position after the move
(from up to eight sides of the board); the prior is a softmax over what the moves gain; and the chance to win follows
from the expected lead and its spread (play.ownership.winrate).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kibitz.engines.gtp.parse import Command, GtpError, argument, colour, is_colour, number, truth, vertex, whole
from kibitz.engines.gtp.play import choose
from kibitz.engines.gtp.session import AnalysisStream, GtpSession, Handler, Send
from kibitz.games.go.points import to_gtp
from kibitz.games.go.rulesets import NAMED, read_rules, with_field
from kibitz.text import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kibitz.play.go.player import Candidate, Study

MAX_MOVES = 20
"""Moves in a line, unless the command says how many."""
MIN_INTERVAL = 0.01
"""Seconds."""
FLAGS = ("ownership", "movesownership", "pvvisits", "rootinfo", "ownershipstdev", "movesownershipstdev")


@dataclass
class AnalysisRequest:
    """An analysis command: whose move, seconds between lines, how many moves, the points that may be played (None:
    all), and the names of what else to tell, in lower case."""

    side: int
    interval: float = 1.0
    moves: int = MAX_MOVES
    only: list[int] | None = None
    also: frozenset[str] = frozenset()


def read_analysis(words: tuple[str, ...], session: GtpSession) -> AnalysisRequest:
    """The words of `[color] [interval] {key value}…`. Raises GtpError."""
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
            whole(argument(rest, 1), 1, 10**9)  # how deep it holds: more than one move is never looked ahead
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
            raise GtpError(f"syntax error: {shown(key)} is unknown")
    request.moves = max(request.moves, min_moves)
    if avoided:
        everything = request.only if request.only is not None else list(range(19 * 19))
        request.only = [point for point in everything if point not in avoided]
    return request


def _seconds(text: str) -> float:
    """Seconds from centiseconds."""
    return max(MIN_INTERVAL, number(text, 0, 10**7) / 100)


def _analyze(session: GtpSession, command: Command) -> AnalysisStream:
    request = read_analysis(command.words, session)
    player, game = session.player, session.game
    write = _lz_line if command.name.startswith("lz") else kata_line

    def run(send: Send, stop: threading.Event) -> None:
        study = player.study(game.board, request.side, game.terms, request.only, game.last_point())
        line, first = "", threading.Event()
        failure: Exception | None = None

        def think() -> None:
            nonlocal line, failure
            try:
                for _ in study.steps():
                    line = write(study, request)
                    first.set()
                    if stop.is_set():
                        return
            except Exception as error:
                failure = error
                first.set()

        # Lines are due however long the network takes; the last one is said again until there is a better one.
        thinking = threading.Thread(target=think, daemon=True)
        thinking.start()
        first.wait()
        due = time.monotonic()
        while not stop.wait(max(0.0, due - time.monotonic())):
            if failure:
                raise failure
            due = max(due + request.interval, time.monotonic())
            send(line)
        thinking.join()

    return AnalysisStream(run, ends=False)


def _genmove_analyze(session: GtpSession, command: Command) -> AnalysisStream:
    request = read_analysis(command.words, session)
    session.player  # noqa: B018 (the error of a network that cannot be loaded must come before the answer begins)
    write = _lz_line if command.name.startswith("lz") else kata_line

    def run(send: Send, stop: threading.Event) -> None:
        due = time.monotonic()

        def report(study: Study) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + request.interval
                send(write(study, request))

        move = choose(session, request.side, on_progress=report)
        session.game.play(request.side, move.point)
        send(f"play {to_gtp(move.point, session.game.size)}")

    return AnalysisStream(run, ends=True)


def kata_line(study: Study, request: AnalysisRequest) -> str:
    """A line of `kata-analyze`; without a line's end."""
    from kibitz.play.go.ownership import spread

    candidates = study.candidates()
    chances = priors(candidates)
    words: list[str] = []
    for order, (move, prior) in enumerate(zip(candidates[: request.moves], chances, strict=False)):
        name = to_gtp(move.point, study.size)
        words.append(
            f"info move {name} visits {move.looks} edgeVisits {move.looks}"
            f" {_outlook(move.lead, spread(move.owners, study.size))} prior {prior:.6f}"
            f" {_bounds(move.lead, spread(move.owners, study.size))} weight {move.looks:.1f} order {order} pv {name}"
        )
        if "pvvisits" in request.also:
            words.append(f"pvVisits {move.looks} pvEdgeVisits {move.looks}")
        if "movesownership" in request.also:
            words.append("movesOwnership " + _numbers(_by_side(study, move.owners)))
        if "movesownershipstdev" in request.also:
            words.append("movesOwnershipStdev " + _numbers(_deviation(study, move.owners)))
    if "rootinfo" in request.also:
        visits = int(study.looks.sum())
        outlook = _outlook(study.lead(), spread(study.owners(), study.size))
        words.append(f"rootInfo visits {visits} {outlook} weight {visits:.1f}")
    if "ownership" in request.also:
        words.append("ownership " + _numbers(_by_side(study, study.owners())))
    if "ownershipstdev" in request.also:
        words.append("ownershipStdev " + _numbers(_deviation(study, study.owners())))
    return " ".join(words)


def _outlook(lead: float, spread: float) -> str:
    """Chance to win and score of who leads by so much."""
    from kibitz.play.go.ownership import winrate

    chance = winrate(lead, spread)
    return (
        f"utility {2 * chance - 1:.6f} winrate {chance:.6f} scoreMean {lead:.4f} scoreStdev {spread:.4f}"
        f" scoreLead {lead:.4f} scoreSelfplay {lead:.4f}"
    )


def _bounds(lead: float, spread: float) -> str:
    from kibitz.play.go.ownership import winrate

    chance = winrate(lead, spread)
    return f"lcb {chance:.6f} utilityLcb {2 * chance - 1:.6f}"


def _lz_line(study: Study, request: AnalysisRequest) -> str:
    """A line of `lz-analyze`: chances of 10,000."""
    from kibitz.play.go.ownership import spread, winrate

    candidates = study.candidates()
    words = []
    for order, (move, prior) in enumerate(zip(candidates[: request.moves], priors(candidates), strict=False)):
        name = to_gtp(move.point, study.size)
        chance = round(10000 * winrate(move.lead, spread(move.owners, study.size)))
        words.append(
            f"info move {name} visits {move.looks} winrate {chance} prior {round(10000 * prior)} lcb {chance}"
            f" order {order} pv {name}"
        )
    return " ".join(words)


def priors(candidates: list[Candidate]) -> NDArray[np.float64]:
    """The prior of each candidate: a softmax over their values."""
    import numpy as np

    from kibitz.play.go.player import SPREAD

    values = np.array([move.value for move in candidates]) / SPREAD
    odds = np.exp(values - values.max(initial=0))
    return np.asarray(odds / max(odds.sum(), 1e-30))


def _by_side(study: Study, owners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Owners of the board's points, row by row: 1 the side to move, -1 the other."""
    from kibitz.play.go.ownership import points_of

    return study.sign * (2 * owners[points_of(study.size)] - 1)


def _deviation(study: Study, owners: NDArray[np.float32]) -> NDArray[np.float32]:
    """How far from its expected owner (-1..1) each point is, on the average."""
    import numpy as np

    return np.sqrt(np.maximum(0, 1 - _by_side(study, owners) ** 2))


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
    """The network's outputs for the position under a symmetry, in the format of `kata-raw-nn`."""
    import numpy as np

    from kibitz.play.go.ownership import points_of, spread, winrate

    game = session.game
    study = session.player.study(game.board, side, game.terms)
    study.look(symmetry=symmetry)
    candidates = study.candidates()
    chances = {move.point: chance for move, chance in zip(candidates, priors(candidates).tolist(), strict=True)}
    lead, deviation = -study.sign * study.lead(), spread(study.owners(), study.size)
    win = winrate(lead, deviation)
    points = points_of(study.size).reshape(study.size, study.size)
    owned = 1 - 2 * study.owners()[points].astype(np.float64)
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


def _nothing(session: GtpSession, command: Command) -> str:
    """`stop` and `clear_cache`: whatever comes ends an analysis, and nothing is kept."""
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
    "kgs-rules": _kgs_rules,
    "stop": _nothing,
    "clear_cache": _nothing,
}
