"""The player of Go that searches: limits, the tree that is kept, points, passes, and what is refused."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from kibitz.errors import UsageError
from kibitz.games.go.endings.final import nothing_to_gain
from kibitz.games.go.points import BLACK, GRID, PASS, WHITE, from_gtp, to_gtp
from kibitz.games.go.replay import colours_of
from kibitz.games.go.rules import Board
from kibitz.games.go.sides import BEYOND, OPPONENT, RANK, rank_byte
from kibitz.play.go.player import GoPlayer, own_eyes
from kibitz.play.go.players import player_of
from kibitz.play.go.puct import GoPuctPlayer, _rank, likely_line
from kibitz.play.go.thought import GoThought, Terms
from kibitz.play.puct.go import weigh_again
from kibitz.play.puct.search import children
from kibitz.play.session import Session
from support.go_fakes import FakeGo, FakeOwners
from support.patience import PATIENCE


def point(name: str) -> int:
    return from_gtp(name, 9)


def board(*rows: str) -> Board:
    """A 9×9 board from rows of `.`, X (Black) and O (White)."""
    found = Board(9, superko=True)
    for i, row in enumerate(rows):
        for j, stone in enumerate(row):
            if stone != ".":
                found.put(BLACK if stone == "X" else WHITE, i * GRID + j)
    return found


WON = ["....XO...", ".O..XO...", *["....XO..."] * 7]
"""Black's 45 points, White's 36, and a white stone that is dead."""


class Sides(FakeGo):
    """The left five columns are Black's, the others White's, whatever lies there; whoever leads wins."""

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        said = super().evaluate(codes, state)
        said["black_owns"] = np.where(np.arange(361) % GRID < 5, 0.99, 0.01) * np.ones((len(codes), 1), np.float32)
        lead = np.where(state[:, 0] == 0, 1, -1) * (45 - 36 - (state[:, 4].astype(float) - 128) / 2)
        said["lead"], said["value"] = lead.astype(np.float32), np.tanh(lead / 3).astype(np.float32)
        return said


class Ranked(FakeGo):
    """A network with rank inputs."""

    side_inputs = BEYOND


class Loves(FakeGo):
    """Everything is worth the same chance; a black stone at D4 is worth so many points."""

    def __init__(self, points: float):
        super().__init__()
        self.points = points

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        said = super().evaluate(codes, state)
        there = colours_of(codes)[:, point("D4")] == BLACK
        sign = np.where(state[:, 0] == 0, 1, -1)
        said["value"] = (0.9 * sign).astype(np.float32)
        said["lead"] = (sign * (30 + self.points * there)).astype(np.float32)
        said["policy"][:, :] = 1 / 362
        return said


class Stones(FakeGo):
    """Stones are all that counts, and no move is likelier than another."""

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        said = super().evaluate(codes, state)
        colours = colours_of(codes)
        more = (colours == BLACK).sum(1) - (colours == WHITE).sum(1)
        said["value"] = (np.where(state[:, 0] == 0, 1, -1) * more / 10).astype(np.float32)
        said["policy"][:, :] = 1 / 362
        return said


def test_it_finds_the_capture() -> None:
    position = board(".........", ".........", ".........", "....OOO..", "...OXXXO.", "....OO...")
    position.to_move = WHITE
    found = GoPuctPlayer(Stones(), visits=400).choose(position, WHITE, Terms(0.5))
    assert to_gtp(found.point, 9) == "G4"
    assert found.captured == 3
    assert found.pv[0] == found.point
    assert found.pv_visits[0] == found.visits > 50
    assert found.lcb < found.winrate


def test_points_are_not_given_away_where_the_game_is_won_anyway() -> None:
    assert to_gtp(GoPuctPlayer(Loves(8), visits=800).choose(Board(9), BLACK, Terms()).point, 9) == "D4"


def test_it_passes_when_the_other_side_has_and_it_wins() -> None:
    won = board(*WON)
    won.play(BLACK, PASS)
    won.play(WHITE, PASS)
    player = GoPuctPlayer(Sides(), visits=60)
    assert player.choose(won, BLACK, Terms(7.0)).point == PASS
    assert player.choose(won, BLACK, Terms(7.0), clean_up=True).point in map(point, ("A8", "B7", "B9", "C8"))
    assert player.choose(won, BLACK, Terms(11.0)).point != PASS, "it is behind"
    assert player.choose(won, BLACK, Terms(40.0)).point == PASS, "so far that there is nothing to be had"


@pytest.mark.parametrize("visits", [1, 3, 8, 24])
@pytest.mark.parametrize("territory", [False, True])
def test_a_short_search_does_not_end_the_game(visits: int, territory: bool) -> None:
    """It has not evaluated the move that gains points, so it searches further before it passes."""
    settled = board(*["XXX.XOO.O"] * 9)
    terms = Terms(7.0, territory)
    player = GoPuctPlayer(Loves(20), visits=visits)
    assert to_gtp(player.choose(settled, BLACK, terms).point, 9) == "D4"
    assert player.search.tree.visits[0] > visits
    assert GoPuctPlayer(Loves(0.5), visits=visits).choose(settled, BLACK, terms).point == PASS


@pytest.mark.parametrize("territory", [False, True])
def test_playouts_do_not_end_a_game_in_which_the_search_sees_a_gain(territory: bool) -> None:
    settled = board(*["XXX.XOO.O"] * 9)
    assert nothing_to_gain(settled.colours(), BLACK, territory)
    terms = Terms(7.0, territory)
    assert GoPuctPlayer(Loves(0.5), visits=200).choose(settled, BLACK, terms).point == PASS
    assert to_gtp(GoPuctPlayer(Loves(20), visits=200).choose(settled, BLACK, terms).point, 9) == "D4"


def test_it_does_not_pass_while_much_is_open() -> None:
    class Passes(FakeGo):
        def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
            said = super().evaluate(codes, state)
            said["policy"] = np.full((len(codes), 362), 1e-4, np.float32)
            said["policy"][:, PASS] = 1
            return said

    for method in ("puct", "top-prob"):
        assert GoPuctPlayer(Passes(), method=method, visits=50).choose(Board(9), BLACK, Terms()).point != PASS


def test_a_game_with_itself_ends_and_fills_no_eyes() -> None:
    player, position = GoPuctPlayer(FakeGo(), visits=24), Board(9, superko=True)
    while position.passes < 2:
        move = player.choose(position, position.to_move, Terms(6.5)).point
        assert move == PASS or not own_eyes(position, position.to_move)[move]
        position.play(position.to_move, move)  # by the rules
        assert position.ply <= 3 * 81 + 3
    assert position.ply > 30


def test_a_game_ends_against_one_who_never_passes() -> None:
    position = Board(9)
    position.ply = 3 * 81 + 1
    assert GoPuctPlayer(FakeGo(), visits=20).choose(position, BLACK, Terms()).point == PASS


def test_the_tree_goes_on_with_the_game_and_no_other() -> None:
    network = FakeGo()
    player, position = GoPuctPlayer(network, visits=300), Board(9, superko=True)
    first = player.choose(position, BLACK, Terms())
    for move in first.pv[:2]:
        position.play(position.to_move, move)
    looks = player.looks(position, position.to_move, Terms())
    before = player.search.evaluated
    kept = next(looks)().visits
    assert kept > 5
    assert player.search.evaluated == before
    looks.close()
    assert next(player.looks(position, 3 - position.to_move, Terms()))().visits == 1, "the other side is to move"
    player.choose(position, position.to_move, Terms())
    assert next(player.looks(position, position.to_move, Terms(0.5)))().visits == 1, "komi is another"
    assert network.asked[-1][1][0, 4] == 129
    player.new_game()
    assert player.search.tree.size[0] == 0


def test_visits_seconds_and_a_stop() -> None:
    player = GoPuctPlayer(FakeGo(), visits=100, temperature=1.0, seed=3)
    looks: list[int] = []
    player.choose(Board(19), BLACK, Terms(), on_progress=lambda look: looks.append(look().visits))
    assert 100 <= looks[-1] < 110
    begun = time.perf_counter()
    GoPuctPlayer(FakeGo()).choose(Board(9), BLACK, Terms(), seconds=0.2)
    assert time.perf_counter() - begun < PATIENCE
    stop = threading.Event()
    stop.set()
    stopped = GoPuctPlayer(network := FakeGo()).choose(Board(9), BLACK, Terms(), stop=stop)
    assert stopped.point != PASS
    assert len(network.asked) == 1


def test_so_many_visits_always_find_the_same() -> None:
    first, second = (GoPuctPlayer(FakeGo(), visits=200).choose(Board(9), BLACK, Terms()) for _ in range(2))
    assert (first.point, first.visits, first.pv) == (second.point, second.visits, second.pv)


def test_the_likeliest_move_without_a_search() -> None:
    network = FakeGo()
    player = GoPuctPlayer(network, method="top-prob")
    found = player.choose(position := board(*WON), BLACK, Terms())
    assert len(network.asked) == 1
    odds = network.evaluate(*network.asked[0])["policy"][0]
    legal = [p for p in position.legal(BLACK) if not own_eyes(position, BLACK)[p]]
    assert found.point == max(legal, key=lambda p: odds[p])
    assert player.searches is False


def test_temperature_draws_other_first_moves() -> None:
    def moves(temperature: float, ply: int) -> set[int]:
        position = Board(9)
        position.ply = ply
        return {
            GoPuctPlayer(FakeGo(), visits=40, temperature=temperature, seed=seed).choose(position, BLACK, Terms()).point
            for seed in range(5)
        }

    assert len(moves(1.0, 0)) > 1
    assert len(moves(1.0, 9)) == len(moves(0.0, 0)) == 1


def test_a_rank_is_the_input_of_both_players_and_every_move_is_sampled() -> None:
    def asked(rank: str | None) -> tuple[set[int], set[tuple[int, ...]]]:
        points, ranks = set(), set()
        for seed in range(6):
            network, position = Ranked(), Board(9)
            position.ply = 30
            player = GoPuctPlayer(network, method="top-prob", temperature=1.0, seed=seed, rank=rank)
            points.add(player.choose(position, BLACK, Terms()).point)
            ranks |= {tuple(row) for _, state in network.asked for row in state[:, [RANK, OPPONENT]]}
        return points, ranks

    points, ranks = asked("5k")
    assert ranks == {(rank_byte("5k"), rank_byte("5k"))}
    assert len(points) > 1
    usual, strong = asked(None)
    assert strong == {(rank_byte("9d"), rank_byte("9d"))}
    assert len(usual) == 1


def test_only_some_moves() -> None:
    player = GoPuctPlayer(FakeGo())
    looks = player.looks(Board(9), BLACK, Terms(), only=[point("A1"), point("E5")])
    thought = [look for look, _ in zip(looks, range(20), strict=False)][-1]()
    assert {to_gtp(move.point, 9) for move in thought.moves} == {"A1", "E5"}
    assert next(player.looks(Board(9), BLACK, Terms()))().visits == 1, "that tree is of no use for all moves"


def test_what_is_told_is_seen_by_the_side_to_move() -> None:
    def think(colour: int) -> GoThought:
        looks = GoPuctPlayer(Sides()).looks(board(*WON), colour, Terms(5.0))
        return [look for look, _ in zip(looks, range(12), strict=False)][-1](5, True)

    black, white = think(BLACK), think(WHITE)
    assert black.lead == pytest.approx(4, abs=0.1)
    assert white.lead == pytest.approx(-4, abs=0.1)
    assert black.winrate > 0.8
    assert white.winrate < 0.2
    for thought in (black, white):
        assert thought.owners[point("A1")] > 0.9 > 0.1 > thought.owners[point("J1")]
        assert len(thought.moves) == 5
        assert thought.moves[0].owners is not None
        assert thought.moves[0].visits == max(move.visits for move in thought.moves)
        assert sum(move.prior for move in thought.moves) <= 1.0001


def test_moves_are_told_in_order_and_with_their_doubt() -> None:
    player = GoPuctPlayer(Sides(), visits=150)
    player.choose(board(*WON), BLACK, Terms(5.0))
    tree, thought = player.search.tree, player.look(unvisited=True)
    nodes = {int(tree.move[child]): child for child in children(tree, 0).tolist()}
    assert len(thought.moves) == len(nodes)
    passing = next(move for move in thought.moves if move.point == PASS)
    assert passing.visits
    order = []
    for move in thought.moves:
        child = nodes[move.point]
        visits = int(tree.visits[child])
        order.append((visits, -float(tree.total[child]) / visits if visits else -1.0, float(tree.prior[child])))
        doubt = 2 * (move.winrate * (1 - move.winrate) / max(1, visits)) ** 0.5
        assert move.visits == visits
        assert move.lcb == pytest.approx(max(0.0, move.winrate - doubt))
        assert move.gain == pytest.approx(move.lead - passing.lead)
    assert order == sorted(order, reverse=True)
    visited = [move for move in thought.moves if move.visits]
    assert 1 < len(visited) < len(nodes)
    assert [move.point for move in player.look().moves] == [move.point for move in visited]
    assert [move.point for move in player.look(3).moves] == [move.point for move in visited[:3]]


def test_memory_stays_within_bounds_and_thinking_goes_on() -> None:
    player = GoPuctPlayer(FakeGo(), hash_mb=8)
    for _ in player.looks(Board(9), BLACK, Terms()):
        used = sum(array.nbytes for array in (*player.search.tree, *player.search.cache))
        assert used <= 8_000_000
        if player.search.tree.visits[0] > 4000:
            break
    tree = player.search.tree
    n = int(tree.size[0])
    assert tree.visits[0] > 4000 > 2 * (tree.first[:n] >= 0).sum(), "more than it can hold"


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(UsageError, match="gohuman"):
        GoPuctPlayer(FakeOwners())
    with pytest.raises(UsageError, match="at least 1"):
        GoPuctPlayer(FakeGo(), visits=0)
    assert isinstance(player_of(FakeOwners()), GoPlayer)
    assert isinstance(player_of(FakeGo(), "best-score"), GoPlayer)
    assert isinstance(player_of(FakeGo()), GoPuctPlayer)


def test_visits_of_what_was_cut_back_count() -> None:
    """A leaf that was more before tells the mean of all that was below it: chance, lead and owners stay what they were,
    within what a row's numbers round, and so does what a tree is worth when it is weighed again."""
    position = board(".........", ".........", ".........", "....OOO..", "...OXXXO.", "....OO...")
    position.to_move = WHITE
    player = GoPuctPlayer(Stones(), visits=900, hash_mb=16)
    assert to_gtp(player.choose(position, WHITE, Terms(0.5)).point, 9) == "G4"
    search = player.search
    before, totals = player.look(owners=True), search.tree.total[: search.tree.size[0]].copy()
    assert search._cut()
    tree = search.tree
    n = int(tree.size[0])
    assert ((tree.first[:n] < 0) & (tree.row[:n] >= 0) & (tree.visits[:n] > 1)).any(), "leaves that were more before"
    own = tree.visits[:n] - np.bincount(tree.parent[1:n], tree.visits[1:n], n)
    assert own[tree.row[:n] >= 0].sum() == tree.visits[0]
    after = player.look(owners=True)
    assert (after.visits, after.winrate) == (before.visits, pytest.approx(before.winrate, abs=1e-3))
    assert after.owners == pytest.approx(before.owners, abs=1e-2)
    for one, other in zip(before.moves, after.moves, strict=True):
        assert (one.point, one.visits) == (other.point, other.visits)
        assert other.winrate == pytest.approx(one.winrate, abs=1e-3)
    preference = player.rules.preference
    weigh_again(tree, preference.share, preference.centre)
    top = children(tree, 0)
    assert tree.total[top] / np.maximum(1, tree.visits[top]) == pytest.approx(
        totals[top] / np.maximum(1, tree.visits[top]), abs=0.02
    )
    while tree.visits[0] < 1500:
        assert search.grow(8, np.empty(0, np.uint64))
        tree = search.tree
    check = tree.row[: tree.size[0]]
    assert len(np.unique(check[check >= 0])) == tree.size[1], "a leaf that is more again has the row that it had"


class Passing(FakeGo):
    """A pass looks good at a glance and loses fifty points a ply later."""

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        said = super().evaluate(codes, state)
        sign = np.where(state[:, 0] == 0, 1, -1)  # of Black
        colours = colours_of(codes)
        black, white = (colours == BLACK).any(1), (colours == WHITE).any(1)
        lead = np.where(black, 4.0, np.where(white, -50.0, 5.0))
        said["lead"] = (sign * lead).astype(np.float32)
        said["value"] = np.tanh(said["lead"] / 20).astype(np.float32)
        said["black_owns"][:] = 0.9
        said["policy"][:, :] = 1 / 362
        return said


def test_it_does_not_pass_after_a_glance() -> None:
    """Black loses where White has the first stone."""
    player = GoPuctPlayer(Passing(), visits=160)
    found = player.choose(Board(9), BLACK, Terms())
    passing = next(move for move in player.look(unvisited=True).moves if move.point == PASS)
    assert found.point != PASS
    assert passing.visits >= 2


def test_it_does_not_give_points_away_where_the_game_is_lost() -> None:
    """Against so many stones the chance is near 0 whatever it does, and a pass may have the most visits."""
    position = Board(9)
    for name in ("C3", "G7", "C7", "G3", "C5", "G5"):
        position.put(BLACK, point(name))
    network = Session("gohuman")
    for visits in (30, 100):
        player = GoPuctPlayer(network, visits=visits)
        assert player.choose(position, WHITE, Terms(0.5, handicap=6)).point != PASS


@pytest.mark.parametrize("visits", [1, 2])
@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_few_visits_are_no_reason_to_pass(visits: int, temperature: float) -> None:
    player = GoPuctPlayer(FakeGo(), visits=visits, temperature=temperature, seed=1)
    assert player.choose(Board(9), BLACK, Terms()).point != PASS


def test_only_some_points_may_be_played() -> None:
    for player in (GoPuctPlayer(FakeGo(), visits=30), GoPlayer(FakeOwners())):
        assert player.choose(Board(9), BLACK, Terms(), only=[point("A1")]).point == point("A1")


def test_a_move_that_the_game_forbids_is_not_played_from_the_tree_before() -> None:
    """The tree goes on, and nothing is looked at: what the position after a move repeats is known by the game alone."""
    player, here = GoPuctPlayer(FakeGo()), board(*["." * 9] * 9)
    first = player.choose(here, BLACK, Terms(7.5), visits=40).point
    after = here.copy()
    after.play(BLACK, first)
    seen = here.copy()
    seen._before = {*here.positions, *after.positions}
    assert seen.why_not(BLACK, first) == "repeats a position"
    assert player.choose(seen, BLACK, Terms(7.5), seconds=0.0).point != first


def test_a_likely_line_follows_the_most_visited_moves() -> None:
    """The moves are those of a loop over all of them, also where several have as many visits."""
    player = GoPuctPlayer(Session("gohuman"))
    position = Board(9)
    position.play(BLACK, point("E5"))
    player.choose(position, WHITE, Terms(), visits=60)
    tree, ties = player.search.tree, 0
    for child in children(tree, 0).tolist():
        node, line = child, [int(tree.move[child])]
        while tree.first[node] >= 0:
            below = children(tree, node).tolist()
            node = max(below, key=lambda each: _rank(tree, each))
            if not tree.visits[node]:
                break
            ties += sum(int(tree.visits[each] == tree.visits[node]) for each in below) > 1
            line.append(int(tree.move[node]))
        assert likely_line(tree, child)[0] == tuple(line)
    assert ties
