"""Several searches at once: the same results as one after the other, with fewer calls and no position twice."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import chess
import numpy as np
import pytest

from kibitz.play.puct.player import PuctPlayer
from kibitz.play.puct.together import Together, TogetherRules
from kibitz.play.result import SearchLimits
from support.chess_fakes import Fake
from support.patience import PATIENCE

GAME = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6", "f3e5", "d8d4", "e5f3", "d4e4", "d1e2"]
LIMITS = SearchLimits(nodes=60)
Told = tuple[object, ...]


def boards() -> list[chess.Board]:
    """The positions of a game."""
    found = [chess.Board()]
    for move in GAME:
        found.append(found[-1].copy())
        found[-1].push_uci(move)
    return found


class Recording(Fake):
    """Also notes the positions of each call, and fails at one of them."""

    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__(noise=1.0)
        self.seen: list[list[bytes]] = []
        self.fails_at = fails_at

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        self.seen.append([c.tobytes() + s.tobytes() for c, s in zip(codes, state, strict=True)])
        if len(self.seen) == self.fails_at:
            raise OSError("no memory")
        return super().evaluate(codes, state)


def told(player: PuctPlayer, board: chess.Board) -> Told:
    player.new_game()
    result = player.think(board, LIMITS)
    assert result
    line = result.lines[0]
    return result.nodes, player.opinion, line.pv, line.wdl, line.visits


def separately(network: Recording) -> list[Told]:
    player = PuctPlayer(network)
    return [told(player, board) for board in boards()]


def together(network: Recording, searches: int, room: int = 10_000) -> list[Told]:
    players = [PuctPlayer(network) for _ in range(searches)]
    shared = Together(PuctPlayer(network).search.rules, room)  # type: ignore[arg-type]

    def search_with(player: PuctPlayer) -> Callable[[int], Told]:
        rules = player.search.rules = TogetherRules(player.search.rules, shared)  # type: ignore[arg-type]

        def search(number: int) -> Told:
            rules.number = number
            return told(player, boards()[number])

        return search

    return shared.run([search_with(player) for player in players], len(boards()))


@pytest.mark.parametrize("searches", [1, 3, 20])
def test_results_are_those_of_separate_searches(searches: int) -> None:
    alone, shared = Recording(), Recording()
    assert together(shared, searches) == separately(alone)
    sizes = [len(rows) for rows in shared.seen]
    assert sum(sizes) < sum(map(len, alone.seen))
    assert len(sizes) < len(alone.seen) or searches == 1
    # positions that a search evaluates alone stay alone, as they were
    assert sizes.count(1) == [len(rows) for rows in alone.seen].count(1)


def test_each_position_is_evaluated_once() -> None:
    separate, shared = Recording(), Recording()
    separately(separate)
    together(shared, 4)
    assert most_often(separate) > 1
    assert most_often(shared) == 1


def most_often(network: Recording) -> int:
    """How often the most frequent position was evaluated, in batches of several different positions."""
    many = [set(rows) for rows in network.seen if len(set(rows)) > 1]
    return max(Counter(row for rows in many for row in rows).values())


def test_with_little_room_positions_are_evaluated_again() -> None:
    shared = Recording()
    assert together(shared, 4, room=10) == separately(Recording())
    assert most_often(shared) > 1


def test_the_batches_are_always_the_same() -> None:
    first, second = Recording(), Recording()
    together(first, 4)
    together(second, 4)
    assert first.seen == second.seen


@pytest.mark.parametrize("searches", [1, 4])
def test_a_failure_of_the_network_ends_all_searches(searches: int) -> None:
    before = threading.active_count()
    with pytest.raises(OSError, match="no memory"):
        together(Recording(fails_at=9), searches)
    assert threading.active_count() == before
    assert len(together(Recording(), searches)) == len(boards())


def test_an_interruption_while_the_threads_start_ends_all_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads that have begun wait for the others, which never begin."""
    submit, number = ThreadPoolExecutor.submit, iter(range(100))

    def interrupted(pool: ThreadPoolExecutor, *arguments: Any) -> Any:
        if next(number) == 2:
            raise KeyboardInterrupt
        return submit(pool, *arguments)

    ended: list[BaseException] = []
    shared = Together(PuctPlayer(Recording()).search.rules)  # type: ignore[arg-type]
    network = (np.zeros((2, 68), np.uint8), np.ones(2, np.uint16), np.arange(3))

    def run() -> None:
        try:
            shared.run([lambda number: shared.evaluate(number, *network)] * 4, 4)
        except BaseException as error:
            ended.append(error)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    running = threading.Thread(target=run)
    running.start()
    running.join(PATIENCE)
    try:
        assert [type(error) for error in ended] == [KeyboardInterrupt]
    finally:
        shared._fail(KeyboardInterrupt())  # otherwise the threads would never end
        running.join()
