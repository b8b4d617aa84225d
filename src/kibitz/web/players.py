"""Players for the browser page of `kibitz board`. A player is a network with a method to choose moves, such as a
search.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kibitz.engines.uci.options import ELO
from kibitz.errors import UsageError
from kibitz.web.networks import NetworkInfo, NetworkRegistry, stamp
from kibitz.web.params import BadRequest, Fields, number, text, whole

if TYPE_CHECKING:
    from kibitz.web.positions import Line

DEFAULT_SECONDS = 1.0
MAX_SECONDS = 600.0
MAX_CLOCK = 86_400.0
MAX_NODES = 10**7
MAX_TEMPERATURE = 2.0
"""The largest temperature (randomness) with which a move is sampled. The engines have the same limit."""
N_CACHED_PLAYERS = 6


@dataclass(frozen=True)
class MoverClock:
    """The clock of the side to move, in seconds.

    left: the time left before the move, above 0. increment: the time added after each move. start: the initial time of
    the game.
    """

    left: float
    increment: float
    start: float


@dataclass(frozen=True)
class PlayRequest:
    """How a player must choose a move.

    method: the name of the method, such as "puct".
    temperature: the temperature for sampling the move; 0 for the best move.
    nodes, seconds: the largest number of nodes of a search, and its longest time. At most one of them is None, which
        means no such limit.
    rating: the rating to imitate, for a network with rating inputs; None for the strongest play.
    clock: the clock of the side to move, if the response must include a human thinking time; else None.
    rank: the rank to imitate, for a Go network with rank inputs, such as "5k"; None for the strongest play.
    """

    method: str
    temperature: float
    nodes: int | None
    seconds: float | None
    rating: int | None = None
    clock: MoverClock | None = None
    rank: str | None = None


def read_request(fields: Fields, network: NetworkInfo) -> PlayRequest:
    """Return how a request wants a move to be chosen. If the request has a rank, `kibitz.play.go.imitation` determines
    the default method and temperature. fields: the JSON of the request. Raises BadRequest for invalid fields, and for a
    network that can't choose moves.
    """
    methods = network.methods
    if not methods:
        raise BadRequest(f"{network.name} cannot play: it does not choose moves. Choose the network 'chessnet'")
    method = text(fields, "method", methods[0])
    if method not in methods:
        raise BadRequest(f"method must be one of {', '.join(methods)} for {network.name} (got {method[:40]!r})")
    temperature = number(fields, "temperature", None, 0, MAX_TEMPERATURE)
    nodes, seconds = read_limits(fields)
    rating = whole(fields, "rating", 0, 0, ELO[1]) or None
    if rating is not None and not network.rated:
        raise BadRequest(f"{network.name} has no rating inputs. Choose the network 'human'")
    if rating is not None and rating < ELO[0]:
        raise BadRequest(f"rating must be from {ELO[0]} to {ELO[1]} (got {rating})")
    request = PlayRequest(method, temperature or 0.0, nodes, seconds, rating, _read_clock(fields, network))
    if not (rank := text(fields, "rank", "")):
        return request
    from kibitz.play.go.imitation import imitation

    chosen = None if fields.get("method") is None else method
    try:
        known = imitation(
            rank, network=network.name, takes_ranks=network.ranked, method=chosen, temperature=temperature
        )
    except UsageError as error:
        raise BadRequest(str(error).removesuffix(".")) from None
    return replace(request, **known)


def _read_clock(fields: Fields, network: NetworkInfo) -> MoverClock | None:
    """Parse the clock of the side to move; None if the request has none. Raises BadRequest."""
    left = number(fields, "clock", None, 0, MAX_CLOCK)
    if not left:
        return None
    if network.game != "chess" or not (network.rated or network.person):
        raise BadRequest(
            f"{network.name} does not play like people, so it cannot use a clock. Choose the network 'human'"
        )
    increment = number(fields, "increment", 0.0, 0, MAX_CLOCK) or 0.0
    return MoverClock(left, increment, number(fields, "start", left, 0, MAX_CLOCK) or left)


def read_limits(fields: Fields) -> tuple[int | None, float | None]:
    """Return the limits of a search in a request, as nodes and seconds; None for a limit that is not set. If neither is
    set, the result has a limit of one second. fields: the JSON of the request. Raises BadRequest for values out of
    range.
    """
    nodes = whole(fields, "nodes", 0, 0, MAX_NODES) or None
    seconds = number(fields, "seconds", None, 0, MAX_SECONDS)
    return nodes, DEFAULT_SECONDS if nodes is None and seconds is None else seconds


class Players:
    """A cache of players (see `kibitz.play.open_player`). Each has its own search tables. Several threads may use the
    cache.
    """

    def __init__(self, networks: NetworkRegistry):
        self.networks = networks
        self._cache: OrderedDict[tuple[Any, ...], tuple[object, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def player(self, network: NetworkInfo, request: PlayRequest) -> Any:
        """Return the player for a network and the settings in a request (see `kibitz.play.open_player`). If the
        network's files have changed, a new player is made.
        """
        assert network.run
        key = (network.name, request.method, request.temperature, request.rating, request.rank)
        now = stamp(network.run)
        with self._lock:
            cached = self._cache.get(key)
            if cached and cached[0] == now:
                self._cache.move_to_end(key)
                return cached[1]
        player = self._open(network, request)
        with self._lock:
            self._cache[key] = now, player
            while len(self._cache) > N_CACHED_PLAYERS:
                self._cache.popitem(last=False)
        return player

    def _open(self, network: NetworkInfo, request: PlayRequest) -> Any:
        from kibitz.play import open_player
        from kibitz.play.session import STRONGEST, with_rating

        assert network.run
        session: Callable[[], Any] = partial(self.networks.session, network.name)
        settings: dict[str, Any] = {"method": request.method, "temperature": request.temperature}
        if network.rated:
            conditioned = with_rating(session(), request.rating or STRONGEST)
            return open_player(network.run, lambda: conditioned, side_inputs=conditioned.side_inputs, **settings)
        if request.rank is not None:
            settings["rank"] = request.rank
        return open_player(network.run, session, **settings)

    def think(
        self,
        network: NetworkInfo,
        line: Line,
        request: PlayRequest,
        seq: int,
        send: Callable[[Any], None],
        stop: threading.Event,
    ) -> Iterator[list[dict[str, Any]]]:
        """Let a network choose a move in the last position of a line (a start position and moves). Yields the response
        once, as a list of dicts.

        seq: the number that the browser page of `kibitz board` gave to the request. send: a function that sends interim
        results. stop: an event that cancels the search.
        """

        def report(result: Mapping[str, Any]) -> None:
            send([{"seq": seq, **result}])

        move = line.think(partial(self.player, network, request), request, report, stop)
        done: dict[str, Any] = {"seq": seq, "move": move, "done": True}
        if move is not None and request.clock is not None:
            from kibitz.web.chess.line import ChessLine
            from kibitz.web.chess.play import people_seconds

            assert isinstance(line, ChessLine)  # no other network supports a clock
            session = self.networks.session(network.name)
            done["people_seconds"] = people_seconds(session, network, line, request.clock, request.rating, move)
        yield [done]
