"""Run several chess searches at once. One call of the network evaluates positions of all searches, and each position
only once.

The searches of successive positions of a game need many of the same positions, and a network evaluates large batches
faster. The searches run in threads and wait for each other at each evaluation.

The results are those of separate searches, because a network computes each position of a batch separately. ONNX Runtime
computes a batch of one position in another way, so the last bit of its result may differ. For this reason, a position
that a search evaluates alone is also evaluated alone here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kibitz.play.puct.chess import ChessRules
from kibitz.play.puct.search import Entered
from kibitz.play.puct.tree import PuctTree

Result = TypeVar("Result")
AT_ONCE = 8
"""The number of searches that run at the same time. It makes batches large enough to be fast, and they still fit in one
call of the network.
"""
ROOM = 1 << 15
"""The largest number of evaluations that are stored, of about 500 bytes each. The oldest evaluations are removed first.
"""


class Ended(Exception):
    """Raised in a search to end it, because another search has failed or the program must end."""


class _Request:
    """Positions of one search that wait for their evaluation, see ChessRules.evaluate."""

    def __init__(self, rows: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]) -> None:
        self.rows, self.moves, self.offsets = rows, moves, offsets
        self.values = np.empty(len(rows), np.float32)
        self.priors = np.empty(len(moves), np.float32)
        self.is_done = False

    def keys(self) -> list[bytes]:
        """Return a key for each position together with its list of moves."""
        return [self.rows[i].tobytes() + self.moves_of(i).tobytes() for i in range(len(self.rows))]

    def moves_of(self, i: int) -> NDArray[np.uint16]:
        """Return the moves of the position with index i."""
        return self.moves[self.offsets[i] : self.offsets[i + 1]]

    def set(self, i: int, value: np.float32, priors: NDArray[np.float32]) -> None:
        """Set the value of the position with index i, and the priors of its moves."""
        self.values[i], self.priors[self.offsets[i] : self.offsets[i + 1]] = value, priors


class Together:
    """Runs several searches at the same time, which share batches of network evaluations.

    rules: the object that evaluates the positions of all searches. Nothing else may use it at the same time.
    """

    def __init__(self, rules: ChessRules, room: int = ROOM) -> None:
        self._rules, self._room = rules, room
        self._known: dict[bytes, tuple[np.float32, NDArray[np.float32]]] = {}
        self._changed = threading.Condition()
        self._requests: dict[int, _Request] = {}
        self._running = 0
        self._error: BaseException | None = None

    def run(self, searches: Sequence[Callable[[int], Result]], count: int) -> list[Result]:
        """Run `count` searches, which have the numbers 0 to count - 1, and return their results in the order of the
        numbers.

        searches: functions that run one search. A function gets the number of a search and returns its result. Each
        function runs in its own thread, which calls it with further numbers until all searches have run. The search
        must evaluate positions with a `TogetherRules` that has its number.

        If there is only one function, it runs in the calling thread. If a search raises an error, the other searches
        end, and `run` raises the error.
        """
        found: dict[int, Result] = {}
        left = iter(range(count))
        self._running, self._error = len(searches), None
        self._requests.clear()
        if len(searches) == 1:
            self._work(searches[0], left, found)
        else:
            with ThreadPoolExecutor(len(searches)) as pool:
                try:  # also around the start of the threads, because those that run wait for all others
                    working = [pool.submit(self._work, search, left, found) for search in searches]
                    for each in working:
                        each.result()
                except BaseException as error:
                    self._fail(error)
                    raise
        return [found[number] for number in range(count)]

    def evaluate(
        self, number: int, rows: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the values of positions and the priors of their moves, as `ChessRules.evaluate` does. The method waits
        until all running searches have positions to evaluate. number: the number of the search.

        Raises Ended if another search has failed.
        """
        request = _Request(rows, moves, offsets)
        with self._changed:
            self._requests[number] = request
            self._answer_if_all_wait()
            self._changed.wait_for(lambda: request.is_done or self._error is not None)
        if not request.is_done:
            raise Ended
        return request.values, request.priors

    def _work(self, search: Callable[[int], Result], left: Iterator[int], found: dict[int, Result]) -> None:
        """Run a search for one number after the other."""
        try:
            while True:
                with self._changed:
                    number = None if self._error else next(left, None)
                if number is None:
                    return
                found[number] = search(number)
        except BaseException as error:
            self._fail(error)
            if not isinstance(error, Ended):
                raise
        finally:
            with self._changed:
                self._running -= 1
                self._answer_if_all_wait()

    def _fail(self, error: BaseException) -> None:
        """End all searches."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def _answer_if_all_wait(self) -> None:
        """If every running search waits, evaluate all positions, and let the searches continue."""
        if self._requests and len(self._requests) == self._running and self._error is None:
            # in the order of the searches, so that the batches are always the same
            all_requests = [self._requests[number] for number in sorted(self._requests)]
            self._requests.clear()
            try:
                self._answer(all_requests)
            except BaseException as error:
                self._error = error
                raise
            finally:
                self._changed.notify_all()

    def _answer(self, all_requests: Sequence[_Request]) -> None:
        """Evaluate the positions of all requests. Unknown positions are evaluated in one call of the network, each only
        once.
        """
        new: dict[bytes, tuple[_Request, int]] = {}
        wanted: list[tuple[_Request, int, bytes]] = []
        for request in all_requests:
            if len(request.rows) == 1:
                request.values, request.priors = self._rules.evaluate(request.rows, request.moves, request.offsets)
                continue
            for i, key in enumerate(request.keys()):
                wanted.append((request, i, key))
                if key not in self._known:
                    new.setdefault(key, (request, i))
        if new:
            new_positions = list(new.values()) * (2 if len(new) == 1 else 1)  # never a batch of one
            moves = [request.moves_of(i) for request, i in new_positions]
            offsets = np.cumsum([0, *map(len, moves)])
            rows = np.stack([request.rows[i] for request, i in new_positions])
            values, priors = self._rules.evaluate(rows, np.concatenate(moves), offsets)
            for n, key in enumerate(new):
                self._known[key] = values[n], priors[offsets[n] : offsets[n + 1]].copy()
        for request, i, key in wanted:
            request.set(i, *self._known[key])
        for request in all_requests:
            request.is_done = True
        while len(self._known) > self._room:
            del self._known[next(iter(self._known))]


class TogetherRules:
    """The rules of chess for one of the searches that run together. The class implements the interface
    `search.SearchRules`.

    number: the number of the search that uses this object. Set it before each search.
    """

    width, tail, usual, most = ChessRules.width, ChessRules.tail, ChessRules.usual, ChessRules.most
    repetition = ChessRules.repetition

    def __init__(self, rules: ChessRules, together: Together) -> None:
        self._rules, self._together = rules, together
        self.number = 0

    def enter(self, rows: NDArray[np.uint8], moves: NDArray[np.uint16]) -> Entered:
        """Return the positions after one legal move in each given position. rows: uint8 [n, 68], the positions as rows
        of 64 codes and 4 numbers of the state, which are overwritten. moves: uint16 [n], packed (see
        `kibitz.games.chess.moves.from_move`).
        """
        return self._rules.enter(rows, moves)

    def condense(self, tree: PuctTree, least: int) -> None:
        """Do nothing, because chess positions have no tail with network outputs (see `search.SearchRules`)."""

    def evaluate(
        self, rows: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the values of positions and the priors of their moves, as `ChessRules.evaluate` does, but evaluate
        them in one batch with those of the other searches.
        """
        return self._together.evaluate(self.number, rows, moves, offsets)
