"""GTP commands that need the network: moves, clocks, the score, and the status of stones (alive or dead)."""

from __future__ import annotations

import contextlib
import math
import time
from typing import TYPE_CHECKING, Any

from kibitz.engines.gtp.parse import Command, GtpError, argument, colour, number, whole
from kibitz.engines.gtp.session import GtpSession, Handler
from kibitz.errors import KibitzError
from kibitz.games.go.points import BLACK, WHITE, to_gtp
from kibitz.text import number_of, rounded, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from kibitz.play.go.thought import Look, MoveThought

LONGEST_TIME = 2.0**32
RESIGNS = "resign"
NO_RANK = "none"
"""The word that a command uses in place of a rank, such as "5k", if the engine should play its strongest moves."""
HOPELESS = 3
"""The engine resigns after this number of moves in a row with a win probability below the limit for resigning."""
KATA_TIMES = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")


def choose(
    session: GtpSession,
    side: int,
    *,
    plays: bool = True,
    clean_up: bool = False,
    only: Sequence[int] | None = None,
    on_progress: Callable[[Look], None] = lambda look: None,
) -> MoveThought:
    """Choose a move for `side` in the present position and return its evaluation, without playing the move.

    plays: whether the caller will play the move. If false, the move takes no time from the clock, and its win
        probability has no influence on `resigns`.
    clean_up: whether to capture dead stones before passing.
    only: the points that may be played (19 * row + column, or 361 for a pass); None for all.
    on_progress: a function that is called during the search. Its argument is a function that returns the present
        evaluation, see `kibitz.play.go.thought.Look`.
    """
    game = session.game
    clock = game.clocks.get(side)
    seconds = clock.seconds() if clock else None
    begun = time.monotonic()
    move = session.player.choose(
        game.board,
        side,
        game.terms,
        last=game.last_point(),
        seconds=seconds,
        only=only,
        clean_up=clean_up,
        on_progress=on_progress,
    )
    lead = move.lead if side == BLACK else -move.lead
    gain = "" if move.gain is None else f", {rounded(move.gain, 1)} points better than a pass"
    expected = f"{to_gtp(move.point, game.size)}: expected score {written(round(lead, 1))} after this move"
    session.last_words = f"{expected}{gain}, {number_of(move.visits, 'visit')}"
    hopeless = move.winrate < session.settings.resign
    if plays:
        if clock:
            clock.spend(time.monotonic() - begun)
        session.hopeless[side] = session.hopeless.get(side, 0) + 1 if hopeless else 0
    return move


def resigns(session: GtpSession, side: int) -> bool:
    """Return whether the engine should resign for this side. Call this function after `choose`, and before the move is
    played.

    The engine resigns if the latest three moves of this side had a win probability below the limit of the settings.
    """
    return session.hopeless.get(side, 0) >= HOPELESS


def _genmove(session: GtpSession, command: Command) -> str:
    return _answer(session, command, play=True)


def _reg_genmove(session: GtpSession, command: Command) -> str:
    return _answer(session, command, play=False)


def _cleanup(session: GtpSession, command: Command) -> str:
    return _answer(session, command, play=True, clean_up=True)


def _answer(session: GtpSession, command: Command, play: bool, clean_up: bool = False) -> str:
    side = colour(argument(command.words))
    move = choose(session, side, plays=play, clean_up=clean_up)
    if resigns(session, side):
        return RESIGNS
    if play:
        session.game.play(side, move.point)
    return to_gtp(move.point, session.game.size)


def _explain(session: GtpSession, command: Command) -> str:
    return session.last_words


def _seed(session: GtpSession, command: Command) -> str:
    import numpy as np

    session.player.random = np.random.default_rng(whole(argument(command.words), 0, 2**31 - 1))
    return ""


def _rank(session: GtpSession, command: Command) -> str:
    return session.rank or NO_RANK


def _set_rank(session: GtpSession, command: Command) -> str:
    argument(command.words)
    session.imitate(None if command.text.lower() == NO_RANK else command.text)
    return ""


def _time_settings(session: GtpSession, command: Command) -> str:
    main, period = (number(argument(command.words, i), 0, LONGEST_TIME) for i in range(2))
    stones = whole(argument(command.words, 2), 0, 10**6)
    if period > 0 and stones == 0:
        return _set_clocks(session, None)
    return _set_clocks(session, (main, period if stones else 0.0, stones, 0.0))


def _named_time_settings(session: GtpSession, command: Command) -> str:
    """Execute the commands `kgs-time_settings` and `kata-time_settings`."""
    kind = argument(command.words).lower().replace("byo-yomi", "byoyomi")
    if kind not in KATA_TIMES:
        raise GtpError(f"unknown time settings {shown(kind)}. Use one of: {' '.join(KATA_TIMES)}")

    def seconds(index: int) -> float:
        return number(argument(command.words, index), 0, LONGEST_TIME)

    def limit(index: int) -> float:
        """Return the time limit that one argument of the command gives, in seconds; infinity if the argument is missing
        or negative. index: the index of the argument.
        """
        if index >= len(command.words):
            return math.inf
        found = number(command.words[index], -LONGEST_TIME, LONGEST_TIME)
        return math.inf if found < 0 else found

    if kind == "none":
        return _set_clocks(session, None)
    if kind == "absolute":
        return _set_clocks(session, (seconds(1), 0.0, 0, 0.0))
    if kind.startswith("fischer"):
        most = [limit(index) if kind == "fischer-capped" else math.inf for index in (3, 4)]
        _set_clocks(session, (seconds(1), 0.0, 0, seconds(2)))
        for clock in session.game.clocks.values():
            clock.limit, clock.longest = most
        return ""
    main, period, count = seconds(1), seconds(2), whole(argument(command.words, 3), 1, 10**6)
    if kind == "canadian":
        return _set_clocks(session, (main, period, count, 0.0))
    return _set_clocks(session, (main, period, 1, 0.0), periods=True)


def _set_clocks(session: GtpSession, times: tuple[float, float, int, float] | None, periods: bool = False) -> str:
    from kibitz.engines.gtp.game import GtpClock

    session.game.clocks = {}
    if times is not None:
        main, period, stones, increment = times
        session.game.clocks = {
            side: GtpClock(main, period, stones, increment=increment, periods=periods) for side in (BLACK, WHITE)
        }
        with contextlib.suppress(KibitzError):  # the command that first needs the network reports the error
            session.get_ready()  # loads the network before a clock runs
    return ""


def _list_times(session: GtpSession, command: Command) -> str:
    return " ".join(KATA_TIMES)


def _time_left(session: GtpSession, command: Command) -> str:
    from kibitz.engines.gtp.game import GtpClock

    side = colour(argument(command.words))
    left = max(0.0, number(argument(command.words, 1), -LONGEST_TIME, LONGEST_TIME))
    stones = whole(argument(command.words, 2), 0, 10**6)
    clock = session.game.clocks.setdefault(side, GtpClock(lacks_settings=True))
    clock.set_time_left(left, stones)
    return ""


def score(session: GtpSession) -> float:
    """Return Black's lead in points if the game ended now, after komi and handicap, under the rules of the game.

    If two passes ended the game, the function counts the final position. Otherwise, the predicted territory decides
    which side gets each point.
    """
    from kibitz.games.go.endings.counting import area, territory
    from kibitz.play.go.ownership import settled

    if (final := session.final_count()) is not None:
        return final.lead
    game = session.game
    colours = game.board.colours()
    owner = settled(session.owners(), colours, game.size)
    lost = (game.board.captured[BLACK], game.board.captured[WHITE])
    points = territory(owner, colours, lost) if game.rules.territory else area(owner)
    return points - game.terms.komi


def written(lead: float) -> str:
    """Format a score as GTP does: "B+3.5", "W+0.5", "0".

    lead: Black's lead in points.
    """
    return "0" if lead == 0 else f"{'B' if lead > 0 else 'W'}+{abs(lead):g}"


def _final_score(session: GtpSession, command: Command) -> str:
    return written(score(session))


def _final_status_list(session: GtpSession, command: Command) -> str:
    from kibitz.play.go.ownership import chains

    status = argument(command.words).lower()
    if status not in ("alive", "dead", "seki", "black_territory", "white_territory", "dame"):
        raise GtpError("syntax error: the status must be alive, dead or seki")
    game = session.game
    colours, owner, dead, seki = _status(session)
    if status in ("alive", "dead", "seki"):
        lists = [chain for chain in chains(colours, game.size) if _status_of(chain[0], dead, seki) == status]
    else:
        lists = [_territory(game.size, colours, owner, status)]
    return "\n".join(" ".join(to_gtp(point, game.size) for point in points) for points in lists if points)


def _status(session: GtpSession) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return four arrays, [361] each: the stones, the owner of each point, the dead stones, and the stones in seki.

    If two passes ended the game, the final position is scored. Otherwise the predicted territory decides; it has no
    seki.
    """
    import numpy as np

    from kibitz.play.go.ownership import dead_chains, settled

    size, colours = session.game.size, session.game.board.colours()
    if (final := session.final_count()) is not None:
        return colours, final.owner, final.dead, final.seki
    owners = session.owners()
    dead = np.zeros(len(colours), np.bool_)
    for chain in dead_chains(owners, colours, size):
        dead[chain] = True
    return colours, settled(owners, colours, size), dead, np.zeros_like(dead)


def _status_of(point: int, dead: NDArray[Any], seki: NDArray[Any]) -> str:
    return "dead" if dead[point] else "seki" if seki[point] else "alive"


def _territory(size: int, colours: NDArray[Any], owner: NDArray[Any], status: str) -> list[int]:
    """Return the empty points with this status, in the order in which GNU Go lists them. status: the name of the
    points' owner in GTP, such as "white_territory".
    """
    from kibitz.play.go.ownership import points_of

    colour_of_status = {"black_territory": BLACK, "white_territory": WHITE, "dame": 0}[status]
    return [p for p in points_of(size).tolist() if colours[p] == 0 and owner[p] == colour_of_status]


COMMANDS: dict[str, Handler] = {
    "genmove": _genmove,
    "reg_genmove": _reg_genmove,
    "kata-search": _reg_genmove,
    "kgs-genmove_cleanup": _cleanup,
    "gomill-explain_last_move": _explain,
    "set_random_seed": _seed,
    "kibitz-rank": _rank,
    "kibitz-set-rank": _set_rank,
    "time_settings": _time_settings,
    "kgs-time_settings": _named_time_settings,
    "kata-time_settings": _named_time_settings,
    "kata-list_time_settings": _list_times,
    "time_left": _time_left,
    "final_score": _final_score,
    "final_status_list": _final_status_list,
}
