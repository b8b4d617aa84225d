"""Compute the value of a Go position: win probability, lead, and best line.

If two passes ended the game, the value follows from the final score. Otherwise it is the value of the best line of a
search. If the network does not support a search, the value is the network's evaluation of the position.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from kibitz.games.go.points import to_gtp
from kibitz.games.go.replay import SIDE, encode_board
from kibitz.games.go.rules import Board
from kibitz.play.go import ownership
from kibitz.play.go.puct import NEEDED, GoPuctPlayer
from kibitz.play.go.thought import GoThought, Look, Terms
from kibitz.play.session import NetworkSession
from kibitz.play.value import NETWORK, RULES, SEARCH, PositionValue

if TYPE_CHECKING:
    from kibitz.games.go.endings.final import FinalCount

VISITS = 120
"""The number of visits of the search that gives a position's value."""


def searches(network: NetworkSession) -> bool:
    """Return whether the network can be used for a search: it must predict moves, winner, territory and score."""
    return set(NEEDED) <= set(ownership.outputs_of(network))


def value_board(
    network: NetworkSession,
    board: Board,
    terms: Terms,
    visits: int = VISITS,
    *,
    on_progress: Callable[[Look], None] = lambda look: None,
    stop: threading.Event | None = None,
) -> PositionValue:
    """Return the value of a Go position: by its final score, by a search, or by the network.

    terms: the conditions of the game, such as komi. The network gets neither ranks nor the number of handicap stones as
        inputs.
    visits: the number of visits of the search; 0 for the network's value without a search.
    on_progress: called with a `Look`, a function that returns the results so far, each time there are new results.
    stop: an event; the search ends soon after it is set.
    """
    if (final := final_count(board, terms)) is not None:
        return PositionValue(final.black_wins, RULES, lead=final.lead)
    if not visits or not searches(network):
        return judge_board(network, board, terms)[0]
    return value_of(search_board(network, board, terms, visits, on_progress=on_progress, stop=stop))


def final_count(board: Board, terms: Terms) -> FinalCount | None:
    """Return the final score if two passes have ended the game; None if the game is not over. terms: the conditions of
    the game, such as komi.
    """
    from kibitz.games.go.endings.final import count_board

    return count_board(board, terms.komi, terms.territory) if board.passes >= 2 else None


def search_board(
    network: NetworkSession,
    board: Board,
    terms: Terms,
    visits: int = VISITS,
    *,
    player: GoPuctPlayer | None = None,
    on_progress: Callable[[Look], None] = lambda look: None,
    stop: threading.Event | None = None,
) -> GoThought:
    """Search a position and return the result. Earlier searches have no effect on the result.

    player: the player that searches, whose tree and evaluations are cleared first; None for a new player. The other
    arguments are those of `value_board`.
    """
    player = player or GoPuctPlayer(network)
    player.new_game()
    board = board.copy()
    # uses the superko and suicide rules of the player itself, whatever the board's rules are
    board.superko, board.suicide = True, False
    looks: list[Look] = [player.look]

    def note(look: Look) -> None:
        looks[:] = [look]
        on_progress(look)

    player.choose(board, board.to_move, terms.for_board(), visits=visits, on_progress=note, stop=stop)
    return looks[0](owners=True)


def value_of(thought: GoThought) -> PositionValue:
    """Return the value of a position from the result of its search. It is the value of the best move."""
    best = thought.moves[0]
    black = thought.sign > 0
    return PositionValue(
        best.winrate if black else 1 - best.winrate,
        SEARCH,
        moves=tuple(to_gtp(point, thought.size) for point in best.pv),
        lead=thought.sign * best.lead,
    )


def judge_board(network: NetworkSession, board: Board, terms: Terms) -> tuple[PositionValue, float]:
    """Return the network's value of a position without a search (see ownership.judge), and the standard deviation of
    the score in points. terms: the conditions of the game, such as komi.
    """
    codes, state = encode_board(board)
    judge = ownership.judge(network, terms)
    usual = getattr(network, "side_inputs", {})
    answers = judge.evaluate(codes[None], ownership.with_board_inputs(state[None], usual, terms))
    owners = answers[ownership.OUTPUT][0]
    spread = ownership.spread(owners, board.size)
    if "lead" in answers:
        black = -1 if state[SIDE] else 1
        lead, chance = black * float(answers["lead"][0]), (1 + black * float(answers["value"][0])) / 2
    else:
        lead = float(ownership.lead(owners, board.size)) - terms.margin
        chance = ownership.winrate(lead, spread)
    return PositionValue(chance, NETWORK, lead=lead), spread
