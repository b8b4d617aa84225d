"""What a map of owners is worth, on boards small enough to be counted by hand."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from kibitz.games.go.endings.final import count_board
from kibitz.games.go.points import BLACK, GRID, PASS, POINTS, SIZES, WHITE, from_gtp
from kibitz.games.go.replay import PASSES, SIDE, encode_board
from kibitz.games.go.rules import Board
from kibitz.games.go.sides import BEYOND
from kibitz.play.go import ownership
from kibitz.play.go.puct import GoPuctPlayer
from kibitz.play.go.thought import Terms
from kibitz.play.go.value import judge_board, search_board
from kibitz.play.session import Session
from support.go_fakes import FakeOwners, influence, owners


def board(*rows: str) -> Board:
    """A 9×9 board from rows of `.`, X (Black) and O (White)."""
    found = Board(9)
    for i, row in enumerate(rows):
        for j, stone in enumerate(row):
            if stone != ".":
                found.put(BLACK if stone == "X" else WHITE, i * GRID + j)
    return found


def points(*names: str) -> list[int]:
    return [from_gtp(name, 9) for name in names]


SPLIT = ["...XO...."] * 9
"""Black has the left side, White the right one, and a stone of each lies in the other's."""
INVADED = ["...XO....", "...XO....", ".O.XO..X.", "...XO....", *["...XO...."] * 5]
MAP = owners(*["999911111"] * 9).astype(np.float32)


def test_lead_and_spread() -> None:
    sure = owners(*["999900000"] * 9).round().astype(np.float32)
    assert ownership.lead(sure, 9) == 36 - 45
    assert ownership.spread(sure, 9) == ownership.MIN_SPREAD
    assert ownership.lead(np.stack([MAP, 1 - MAP]), 9) == pytest.approx([0.8 * -9, 0.8 * 9], abs=1e-4)
    assert ownership.spread(MAP, 9) == pytest.approx((2 * 81 * 4 * 0.09) ** 0.5, rel=1e-5)
    assert ownership.spread(np.full(361, 0.5, np.float32), 19) > 25


@pytest.mark.parametrize("rules", ["japanese", "korean", "chinese", "aga", "new zealand", None])
def test_a_lead_by_owners_is_the_count_under_the_rules(rules: str | None) -> None:
    """Both sides have placed nine stones, and Black had two handicap stones before."""
    end = board("X..XO....", "X..XO....", *["...XO...."] * 7)
    terms = Terms.of_record(rules, 0.5, 2)
    lead, _ = judge_board(FakeOwners([owners(*["999900000"] * 9).round()]), end, terms)
    counted = count_board(end, terms.komi, terms.territory).lead
    assert counted == -9 - 0.5 - {"japanese": 2, "korean": 2, "chinese": 2, "aga": 1}.get(rules or "", 0)
    assert lead.lead == pytest.approx(counted, abs=1e-4)


def test_every_size_of_board_has_its_least_swing() -> None:
    assert list(ownership.SWINGS) == list(SIZES)
    assert list(ownership.SWINGS.values()) == sorted(ownership.SWINGS.values())


def test_winrate() -> None:
    assert ownership.winrate(0, 3) == 0.5
    assert ownership.winrate(3, 3) == pytest.approx(1 - ownership.winrate(-3, 3)) == pytest.approx(0.86, abs=0.002)
    assert ownership.winrate(1e9, 1) == pytest.approx(1)
    assert ownership.winrate(-1e9, 1) == pytest.approx(0)


@pytest.mark.parametrize("size", [9, 13, 19])
def test_turned_there_and_back(size: int) -> None:
    there, back = ownership.symmetric_points(size)
    everywhere = np.arange(361)
    for way in range(8):
        np.testing.assert_array_equal(everywhere[there[way]][back[way]], everywhere)
    assert len({tuple(row) for row in there}) == 8


def test_chains_and_the_dead() -> None:
    position = board(*INVADED)
    colours = position.colours()
    assert [len(chain) for chain in ownership.chains(colours, 9)] == [9, 9, 1, 1]
    assert ownership.dead_chains(MAP, colours, 9) == [points("B7"), points("H7")]
    assert ownership.dead_chains(np.full(361, 0.5, np.float32), colours, 9) == []


def test_settled() -> None:
    owner = ownership.settled(MAP, board(*INVADED).colours(), 9).reshape(GRID, GRID)
    assert (owner[:9, :4] == BLACK).all()
    assert (owner[:9, 4:9] == WHITE).all()
    assert not owner[9:].any()


def test_points_between_living_stones() -> None:
    """Neutral ones belong to nobody; where the map is sure, as in a game that is not over, it decides."""
    rows = ["...X.O..."] * 9
    unsure = owners(*["999951111"] * 9).astype(np.float32)
    owner = ownership.settled(unsure, board(*rows).colours(), 9).reshape(GRID, GRID)
    assert not owner[:9, 4].any()
    owner = ownership.settled(owners(*["999991111"] * 9).astype(np.float32), board(*rows).colours(), 9)
    assert (owner.reshape(GRID, GRID)[:9, 4] == BLACK).all()


def test_an_open_board_is_the_map() -> None:
    codes, _ = encode_board(board("", "", "..X...O.."))
    probabilities = influence(codes[None])[0].astype(np.float32)
    owner = ownership.settled(probabilities, board("", "", "..X...O..").colours(), 9)
    assert owner[points("C7")] == BLACK
    assert owner[points("G7")] == WHITE
    assert owner[points("C8")] == BLACK
    assert owner[points("E1")] == 0


def test_all_ways_are_averaged_on_boards_of_any_size() -> None:
    from kibitz.games.go.points import symmetries
    from kibitz.games.go.replay import encode_board
    from kibitz.play.go.ownership import OUTPUT, SymmetryAverage

    class Corner:
        """Sees Black in the upper left corner of any board, and nobody elsewhere."""

        def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
            seen = np.full(codes.shape, 0.5, np.float32)
            seen[:, 0] = 1.0
            seen[:, 1] = (codes[:, 1] & 15 == 0).astype(np.float32)
            return {OUTPUT: seen}

    boards = [encode_board(Board(size)) for size in (9, 19, 9)]
    codes, state = (np.stack(parts) for parts in zip(*boards, strict=True))
    answer = SymmetryAverage(Corner()).evaluate(codes, state)[OUTPUT]
    for i, size in enumerate((9, 19, 9)):
        corners = [0, size - 1, (size - 1) * 19, (size - 1) * 20]
        assert answer[i, corners].tolist() == pytest.approx([0.5 + 0.5 * 2 / 8] * 4)
        assert np.count_nonzero(answer[i] != 0.5) == 12
        assert all(np.allclose(answer[i][way], answer[i]) for way in symmetries(size))


class Tempo:
    """A network that says how much it likes the side to move: each point of that board, less where it is settled."""

    outputs = (ownership.OUTPUT,)

    def __init__(self, black: float, white: float):
        self.says = np.array([black, white], np.float32)

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        return {ownership.OUTPUT: np.repeat(self.says[state[:, SIDE]][:, None], POINTS, 1)}


def test_both_sides_take_a_part_of_what_the_move_is_worth() -> None:
    black, white = encode_board(Board(9)), encode_board(board("XO......."))
    codes = np.stack([black[0], white[0]])
    state = np.stack([black[1], black[1]])
    state[1, SIDE] = 1
    said = ownership.BothSides(Tempo(0.6, 0.4)).evaluate(codes, state)[ownership.OUTPUT]
    there = ownership.points_of(9)
    expected = 0.4 * 0.1 + 0.6 * 0.01 * 1  # of the network's own tenth, and of the usual hundredth
    assert said[0, there] == pytest.approx(0.5 + expected, abs=1e-6)
    assert said[1, there] == pytest.approx(0.5 - expected, abs=1e-6)
    outside = np.setdiff1d(np.arange(POINTS), there)
    assert said[0, outside] == pytest.approx(0.6)  # as it came


def test_settled_points_are_worth_no_move() -> None:
    codes, state = (one[None] for one in encode_board(Board(9)))
    assert (ownership.BothSides(Tempo(1, 1)).evaluate(codes, state)[ownership.OUTPUT] == 1).all()


def test_only_networks_of_owners_alone_are_asked_twice() -> None:
    one = Tempo(0.5, 0.5)
    assert isinstance(ownership.steady(one), ownership.BothSides)
    one.outputs = ("policy", "black_owns")  # type: ignore[misc, assignment]
    assert ownership.steady(one) is one


class Doubting:
    """Black is ahead by 3 points and 0.4 in log odds; the move is worth 2 × 5 points and 2 × 0.6 to whoever has it."""

    outputs = ("policy", "value", "black_owns", "lead", "spread")

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        self.asked.append(state)
        sign = np.where(state[:, 0] == 0, 1, -1)
        n = len(state)
        return {
            "value": np.tanh((sign * 0.4 + 0.6) / 2).astype(np.float32),
            "lead": (sign * 3 + 5).astype(np.float32),
            "black_owns": np.tile((0.5 + 0.2 * sign)[:, None], (1, 361)).astype(np.float32),
            "policy": np.full((n, 362), 1 / 362, np.float32),
            "spread": np.full(n, 9, np.float32),
        }


def test_results_of_both_sides() -> None:
    """What the move is worth is told by many signs; whose turn it is does not change who is ahead."""
    network = Doubting()
    judge = ownership.steady(network)
    assert isinstance(judge, ownership.ResultsOfBothSides)
    state = np.zeros((2, 10), np.uint8)
    state[1, 0], state[0, 2] = 1, 1  # White's turn; a pass before
    state[:, ownership.SIZE] = 9
    state[:, ownership.RANK], state[:, ownership.OPPONENT] = 40, 30
    codes = np.tile(encode_board(Board(9))[0], (2, 1))
    said = judge.evaluate(codes, state)
    assert len(network.asked) == 4, "in two ways, for both sides"
    assert len(judge.evaluate(codes[:0], state[:0])["value"]) == 0
    assert network.asked[2][:, 0].tolist() == [1, 0]
    assert not network.asked[2][:, 2].any(), "nobody has passed where it is the other side's turn"
    assert network.asked[2][0, [ownership.RANK, ownership.OPPONENT]].tolist() == [30, 40]
    part, is_open = judge.OWN_PART, 81 / 81
    chance = 1 / (1 + np.exp(-0.4))
    seen = [1, 0.6, is_open, is_open**2, np.log(9), np.log(362), 0.4, 4 * chance * (1 - chance)]
    worth, points = np.dot(seen, judge.ODDS), np.dot([1, 5, is_open], judge.POINTS)
    assert 2 * np.arctanh(said["value"]) == pytest.approx([0.4 + worth, -0.4 + worth], abs=1e-4)
    assert said["lead"] == pytest.approx([3 + points, -3 + points], abs=1e-4)
    assert said["black_owns"][:, 0] == pytest.approx([0.5 + 0.2 * part, 0.5 - 0.2 * part], abs=1e-5)
    assert set(said) == set(network.outputs)


class Fighting:
    """Black leads by `lead` points on the map, plus `turn` for the side to move. The predicted lead is 12 points."""

    outputs = ("policy", "value", "black_owns", "lead", "spread")

    def __init__(self, lead: float, turn: float) -> None:
        self.lead, self.turn = lead, turn

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        sign, n = np.where(state[:, 0] == 0, 1, -1), len(state)
        black = (1 + (self.lead + self.turn * sign) / 361) / 2
        return {
            "value": np.zeros(n, np.float32),
            "lead": (sign * 12).astype(np.float32),
            "black_owns": np.tile(black[:, None], (1, 361)).astype(np.float32),
            "policy": np.full((n, 362), 1 / 362, np.float32),
            "spread": np.full(n, 9, np.float32),
        }


@pytest.mark.parametrize(("turn", "corrected"), [(0, True), (5, True), (60, False)])
def test_a_lead_that_depends_on_the_next_move_is_not_corrected(turn: float, corrected: bool) -> None:
    """In a fight, the side that moves next is far ahead on the map, whichever it is."""
    codes, state = (one[None] for one in encode_board(Board(19)))
    state = np.concatenate([state, np.zeros((1, 6), np.uint8)], 1)
    state[:, ownership.KOMI_BYTE] = ownership.NO_KOMI
    network = Fighting(50, turn)
    plain = ownership.steady(network).evaluate(codes, state)["lead"]
    whole = ownership.judge(network, Terms()).evaluate(codes, state)["lead"]
    assert (abs(whole - plain) > 20).all() == corrected
    assert (abs(whole - plain) < 1e-3).all() != corrected


@pytest.mark.parametrize(
    ("terms", "counted"),
    [(Terms(6.5), 6.5), (Terms(-3.0), -3.0), (Terms(0.5, handicap=3), 0.5 - 3), (Terms(0.5, True, 3), 0.5)],
)
def test_a_lead_is_corrected_by_what_the_map_says_with_komi(
    terms: Terms, counted: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The map counts handicap stones, which are points of area and none of territory."""
    asked: list[tuple[float, float]] = []
    by_owners = ownership.WholeBoardLead.by_owners

    def noted(board: NDArray[np.float64], komi: NDArray[np.float64], *rest: Any) -> Any:
        asked.append((float(board[0]), float(komi[0])))
        return by_owners(board, komi, *rest)

    monkeypatch.setattr(ownership.WholeBoardLead, "by_owners", staticmethod(noted))
    codes, state = (one[None] for one in encode_board(Board(19)))
    told = ownership.with_board_inputs(state, BEYOND, terms)
    ownership.judge(Fighting(50, 0), terms).evaluate(codes, told)
    assert asked == [(pytest.approx(50 - terms.handicap, abs=1e-3), counted)]


class _Even:
    """Predicts a lead of 20 points before komi, by the komi of its input, and the win probability that follows."""

    outputs = ("policy", "value", "black_owns", "lead", "spread")
    side_inputs: ClassVar[dict[str, int]] = BEYOND
    name = "even"

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        n, black = len(codes), np.where(state[:, SIDE] == 0, 1.0, -1.0)
        lead = black * (20 - (state[:, ownership.KOMI_BYTE].astype(float) - ownership.NO_KOMI) / 2)
        return {
            "policy": np.full((n, 362), 1 / 362, np.float32),
            "value": np.tanh(lead / 40 * ownership.LOGISTIC / 2).astype(np.float32),
            "black_owns": np.full((n, POINTS), 0.5 + 20 / 2 / POINTS, np.float32),
            "lead": lead.astype(np.float32),
            "spread": np.full(n, 40, np.float32),
        }


@pytest.mark.parametrize("komi", [40.0, 63.5, 70.5, 100.0, -80.0])
def test_the_lead_includes_a_komi_that_does_not_fit_into_the_input(komi: float) -> None:
    """Between two komis of the input, lead and win probability change as they do with the komi of the input."""
    for side in (BLACK, WHITE):
        board = Board(19)
        board.to_move = side
        plain = ownership.InGame(_Even(), komi)
        codes, state = (one[None] for one in encode_board(board))
        answers = plain.evaluate(codes, ownership.with_board_inputs(state, BEYOND, Terms(komi)))
        mover = 1 if side == BLACK else -1
        assert answers["lead"][0] == pytest.approx(mover * (20 - komi))
        chance = (1 + mover * float(answers["value"][0])) / 2
        assert chance == pytest.approx(ownership.winrate(20 - komi, 40), abs=1e-4)
        judged, _ = judge_board(_Even(), board, Terms(komi))
        moved, _ = judge_board(_Even(), board, Terms(math.copysign(63.5, komi)))
        assert judged.lead == pytest.approx(moved.lead - komi + math.copysign(63.5, komi)) or abs(komi) < 63.5
        player = GoPuctPlayer(_Even(), visits=4)
        player.choose(board, side, Terms(komi))
        found = player.look()
        assert found.sign * found.lead == pytest.approx(20 - komi, abs=15)  # the correction stretches the lead
        black = found.winrate if side == BLACK else 1 - found.winrate
        assert black == pytest.approx(ownership.winrate(20 - komi, 40), abs=0.02)


def test_a_pass_in_the_opening_is_not_told() -> None:
    few, many = Board(9), board(*["XO.XO.XO."] * 4)
    for one in (few, many):
        one.play(BLACK, PASS)
    codes, state = (np.stack(rows) for rows in zip(*(encode_board(one) for one in (few, many)), strict=True))
    assert state[:, PASSES].tolist() == [1, 1]
    told = ownership.without_early_passes(codes, state)
    assert told[:, PASSES].tolist() == [0, 1]
    assert (np.delete(told, PASSES, 1) == np.delete(state, PASSES, 1)).all()
    assert state[:, PASSES].tolist() == [1, 1]  # the given array stays


@pytest.mark.parametrize("size", [19, 9])
def test_a_pass_in_the_opening_puts_nobody_far_ahead(size: int) -> None:
    network = Session("gohuman", 1)
    moves = ["D5", "P11", "K16", "D11"] if size == 19 else ["E5", "C3"]
    position = Board(size)
    for i, name in enumerate(moves):
        position.play(BLACK if i % 2 == 0 else WHITE, from_gtp(name, size))
    before, _ = judge_board(network, position, Terms(6.5))
    position.play(BLACK, PASS)
    after, _ = judge_board(network, position, Terms(6.5))
    assert before.lead is not None
    assert after.lead is not None
    assert -40 < after.lead - before.lead < 5


def test_a_pass_is_not_the_best_of_equally_visited_moves() -> None:
    position = Board(19)
    for i, name in enumerate(["D5", "P11", "K16", "D11"]):
        position.play(BLACK if i % 2 == 0 else WHITE, from_gtp(name, 19))
    moves = search_board(Session("gohuman", 1), position, Terms(6.5), 16).moves
    passing = next(i for i, move in enumerate(moves) if move.point == PASS)
    assert moves[passing].visits == moves[0].visits == 1
    assert all(move.visits < 1 for move in moves[passing + 1 :])
