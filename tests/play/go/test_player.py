"""Choosing moves with a network whose answers follow from the stones, or are written down."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kibitz.games.go.points import BLACK, GRID, PASS, WHITE, from_gtp, to_gtp
from kibitz.games.go.replay import colours_of
from kibitz.games.go.rules import Board
from kibitz.play.go import ownership
from kibitz.play.go import player as goplayer
from kibitz.play.go.player import Candidate, GoPlayer, Study, own_eyes, priors
from kibitz.play.go.thought import Terms
from support.go_fakes import FakeOwners, influence


def board(*rows: str) -> Board:
    """A 9×9 board from rows of `.`, X (Black) and O (White)."""
    found = Board(9)
    for i, row in enumerate(rows):
        for j, stone in enumerate(row):
            if stone != ".":
                found.put(BLACK if stone == "X" else WHITE, i * GRID + j)
    return found


def point(name: str) -> int:
    return from_gtp(name, 9)


class Says(FakeOwners):
    """Owners that a function tells, from colours [n, 361] and state."""

    def __init__(self, tell: Callable[[np.ndarray, np.ndarray], np.ndarray]):
        super().__init__()
        self.tell = tell

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        self.asked.append((codes, state))
        return {"black_owns": self.tell(colours_of(codes), state).astype(np.float32)}


def stones_only(colours: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Every stone owns its point."""
    return np.array([0.5, 1.0, 0.0, 0.5])[colours]


def loves(name: str, points: float, side: int = BLACK) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A stone of a colour there is worth so many points, no other stone anything."""

    def tell(colours: np.ndarray, state: np.ndarray) -> np.ndarray:
        gained = (colours[:, point(name)] == side) * points / 81 / 2
        return 0.5 + (gained if side == BLACK else -gained)[:, None] * np.ones(361)

    return tell


@pytest.fixture
def one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The board is never turned: for networks that look at places, not at stones."""
    monkeypatch.setattr(goplayer, "SYMMETRIES", 1)


@pytest.mark.parametrize(("rows", "eyes"), [
    ([".X.......", "XX......."], ["A9"]),
    ([".X.......", "XO......."], []),  # at the edge one stone at a corner is enough
    ([".X.......", "X........"], ["A9"]),
    (["...", ".XXX.", ".X.X.", ".XXX."], ["C7"]),
    (["...", ".XXX.", ".X.X.", ".XXO."], ["C7"]),
    (["...", ".OXX.", ".X.X.", ".XXO."], []),
    (["...", ".XXX.", ".X.O.", ".XXX."], []),
    (["........X", ".......XX", "......XX.", ".......XX"], ["J7"]),
])  # fmt: skip
def test_own_eyes(rows: list[str], eyes: list[str]) -> None:
    assert [to_gtp(p, 9) for p in np.flatnonzero(own_eyes(board(*rows), BLACK)).tolist()] == eyes
    assert not own_eyes(board(*rows), WHITE).any()


def test_priors_fall_by_the_points_that_a_move_loses() -> None:
    """At temperature 1, e times for each point."""

    def of(*values: float) -> list[float]:
        moves = [Candidate(at, 0.0, 0.0, value, 0, 1, np.zeros(361, np.float32)) for at, value in enumerate(values)]
        return priors(moves).tolist()

    assert of() == []
    assert of(-300.0) == [1.0]
    assert of(2.0, 2.0) == [0.5, 0.5]
    odds = np.exp([1.0, 0.0, -0.5])
    assert of(501.0, 500.0, 499.5) == pytest.approx(odds / odds.sum())


def test_the_network_sees_each_move_with_the_other_side_to_move() -> None:
    network = FakeOwners()
    position = board("", "", "..X...O..")
    study = Study(network, position, WHITE, Terms())
    study.look()
    ((codes, state),) = network.asked
    assert len(codes) == 2 + 81 - 2
    assert state[0, 0] == 1
    assert (state[1:, 0] == 0).all()
    colours = colours_of(codes)
    np.testing.assert_array_equal(colours[0], colours[1])
    for row, p in enumerate(study.points.tolist(), 2):
        assert colours[row, p] == WHITE
        assert (colours[row] != colours[0]).sum() == 1
    assert position.to_move == BLACK  # as it was


def test_all_sides_of_the_board_agree() -> None:
    """A network that is fair to all directions says the same, however the board is turned."""
    network = FakeOwners()
    one = Study(network, board("", "", "..X...O..", "", ".X"), BLACK, Terms(komi=7))
    one.look()
    for _ in one.steps():
        pass
    fresh = Study(network, board("", "", "..X...O..", "", ".X"), BLACK, Terms(komi=7))
    fresh.look()
    assert one.looks.max() == 9  # 1, and the 8 of `steps`
    np.testing.assert_allclose(one.owners(), fresh.owners(), atol=1e-5)
    codes, _ = network.asked[0]
    np.testing.assert_allclose(one.owners(), influence(codes[:1])[0], atol=1e-5)
    assert one.lead() == pytest.approx(float(ownership.lead(fresh.owners(), 9)) - 7, abs=1e-3)


def test_the_position_and_a_pass_come_first_then_each_move_once_then_the_best_from_all_sides() -> None:
    study = Study(FakeOwners(), board("", "", "..X...O.."), BLACK, Terms())
    steps = study.steps(20)
    next(steps)
    assert study.looks[:2].tolist() == [1, 1]
    assert not study.looks[2:].any()
    for looked in (20, 40, 60, 79):
        next(steps)
        assert study.looks[2:].sum() == looked
        assert study.looks.max() == 1
    for _ in steps:
        pass
    assert study.looks[:2].tolist() == [8, 8]
    assert sorted(study.looks[2:].tolist()) == [1] * 63 + [8] * 16
    assert not GoPlayer(FakeOwners()).searches


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.usefixtures("one_way")
def test_it_plays_what_gains_most(colour: int) -> None:
    player = GoPlayer(Says(loves("D4", 3, colour)))
    found = player.choose(Board(9), colour, Terms(komi=5))
    assert to_gtp(found.point, 9) == "D4"
    assert found.gain == pytest.approx(3, abs=0.01)
    assert found.lead == pytest.approx(3 - 5 if colour == BLACK else 3 + 5, abs=0.01)


@pytest.mark.parametrize(("points", "territory", "played"), [
    (0.6, False, "D4"), (0.4, False, "pass"), (1.4, True, "pass"), (1.6, True, "D4"), (-5, False, "pass"),
])  # fmt: skip
@pytest.mark.usefixtures("one_way")
def test_it_passes_when_nothing_is_gained(points: float, territory: bool, played: str) -> None:
    player = GoPlayer(Says(loves("D4", points)))
    assert to_gtp(player.choose(Board(9), BLACK, Terms(territory=territory)).point, 9) == played


def test_only_some_points() -> None:
    study = GoPlayer(FakeOwners()).study(Board(9), BLACK, Terms(), only=[point("D4")])
    study.look()
    assert {to_gtp(candidate.point, 9) for candidate in study.candidates()} == {"D4"}
    study = GoPlayer(FakeOwners()).study(Board(9), BLACK, Terms(), only=[point("D4"), PASS])
    study.look()
    assert {to_gtp(candidate.point, 9) for candidate in study.candidates()} == {"D4", "pass"}


@pytest.mark.usefixtures("one_way")
def test_after_a_pass_it_is_content_with_a_lead_that_is_sure() -> None:
    left = board(*["....XO..."] * 9)

    def tell(colours: np.ndarray, state: np.ndarray) -> np.ndarray:
        sure = np.where(np.arange(361) % GRID < 5, 1.0, 0.0) * np.ones((len(colours), 1))
        sure[:, point("A1")] = 0.5 + 0.5 * (colours[:, point("A1")] == BLACK)
        return sure

    player = GoPlayer(Says(tell))
    assert player.choose(left, BLACK, Terms()).point == point("A1")  # a point is to be had
    left.play(WHITE, PASS)
    assert player.choose(left, BLACK, Terms()).point == PASS
    # 44 points and 36 for White, and two that are open (1 stands for two of doubt): a lead of 3 is sure, one of 1 not.
    assert player.choose(left, BLACK, Terms(komi=5)).point == PASS
    assert player.choose(left, BLACK, Terms(komi=7)).point == point("A1")
    assert player.choose(left, BLACK, Terms(komi=9)).point == point("A1")  # it is behind


def test_eyes_are_not_filled_nor_stones_given() -> None:
    """Where stones are all that counts, every point is filled but eyes and suicide, and the game ends."""
    player = GoPlayer(Says(stones_only))
    position, passes = Board(9), 0
    while passes < 2:
        colour = position.to_move
        eyes = own_eyes(position, colour)
        move = player.choose(position, colour, Terms()).point
        assert move == PASS or not eyes[move]
        passes = passes + 1 if move == PASS else 0
        position.play(colour, move)  # by the rules
        assert position.ply < 1000
    assert position.ply > 60


def test_a_ko_is_not_taken_back_into_an_earlier_position() -> None:
    position = board(".XO......", "X.XO.....", ".XO......")
    position.play(WHITE, point("B8"))
    for move in ("J1", "J2"):
        position.play(position.to_move, point(move))
    everything = GoPlayer(Says(stones_only)).study(position, BLACK, Terms())
    assert point("C8") in everything.points  # threats were made: the stones on the board are others
    position = board(".XO......", "X.XO.....", ".XO......")
    position.play(WHITE, point("B8"))
    assert point("C8") not in GoPlayer(Says(stones_only)).study(position, BLACK, Terms()).points
    position.play(BLACK, PASS)
    position.play(WHITE, PASS)  # now the simple ko would allow it, but the position was there before
    assert position.why_not(BLACK, point("C8")) is None
    assert point("C8") not in GoPlayer(Says(stones_only)).study(position, BLACK, Terms()).points


def test_captures_and_atari_decide_between_equals() -> None:
    def values(position: Board, colour: int) -> dict[str, float]:
        study = Study(Says(lambda colours, state: np.full(colours.shape, 0.5)), position, colour, Terms())
        study.look()
        return {to_gtp(candidate.point, 9): candidate.value for candidate in study.candidates()}

    found = values(board("XO.......", "........."), WHITE)
    assert found["A8"] == pytest.approx(found["J1"] + goplayer.PER_STONE)
    found = values(board(".O.......", "........."), BLACK)
    assert found["A9"] == pytest.approx(found["J1"] - goplayer.SELF_ATARI)


@pytest.mark.usefixtures("one_way")
def test_dead_stones_are_taken_before_it_passes() -> None:
    rows = ["....XO...", ".O..XO...", *["....XO..."] * 7]

    def tell(colours: np.ndarray, state: np.ndarray) -> np.ndarray:
        return np.where(np.arange(361) % GRID < 5, 0.99, 0.01) * np.ones((len(colours), 1))

    player = GoPlayer(Says(tell))
    assert player.choose(board(*rows), BLACK, Terms()).point == PASS
    position = board(*rows)
    moves = []
    while (move := player.choose(position, BLACK, Terms(), clean_up=True).point) != PASS:
        moves.append(to_gtp(move, 9))
        position.play(BLACK, move)
        position.play(WHITE, PASS)
    assert set(moves) == {"A8", "B7", "B9", "C8"}


def test_time_ends_the_looks() -> None:
    quick = GoPlayer(network := FakeOwners()).choose(Board(19), BLACK, Terms(), seconds=0.0, last=point("E5"))
    assert sum(len(codes) for codes, _ in network.asked) == 2 + goplayer.BATCH_SIZE
    assert quick.visits == 1
    near = [divmod(int(np.flatnonzero(colours_of(c) == BLACK)[0]), GRID) for c in network.asked[1][0]]
    down, right = divmod(point("E5"), GRID)
    assert sum(max(abs(r - down), abs(c - right)) <= goplayer.NEAR for r, c in near) == 25


@pytest.mark.usefixtures("one_way")
def test_a_game_ends_even_against_one_who_never_passes() -> None:
    position = Board(9)
    position.ply = goplayer.MAX_MOVES_PER_POINT * 81 + 1
    assert GoPlayer(Says(loves("D4", 5))).choose(position, BLACK, Terms()).point == PASS


def test_temperature_is_for_the_opening() -> None:
    def moves(temperature: float, ply: int) -> set[int]:
        position = Board(9)
        position.ply = ply
        return {
            GoPlayer(FakeOwners(), temperature=temperature, seed=seed).choose(position, BLACK, Terms()).point
            for seed in range(5)
        }

    assert len(moves(2.0, 0)) > 1
    assert len(moves(2.0, 9)) == len(moves(0.0, 0)) == 1


def test_a_pass_that_is_not_allowed(one_way: None) -> None:
    start = board(*["." * 9] * 4, "....X....")
    start.play(BLACK, point("C3"))
    start.play(WHITE, PASS)
    network, terms = Says(stones_only), Terms(-500)
    assert GoPlayer(network).choose(start, BLACK, terms).point == PASS
    allowed = [point("D4"), point("C4")]
    assert GoPlayer(network).choose(start, BLACK, terms, only=allowed).point in allowed
    study = Study(network, start, BLACK, terms, allowed)
    study.look()
    assert {candidate.point for candidate in study.candidates()} == set(allowed)
