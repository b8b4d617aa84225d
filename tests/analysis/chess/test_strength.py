"""The rating that moves look like: its arithmetic, the network's inputs, and parts of a player's games."""

from __future__ import annotations

import io
import math
from typing import Any

import chess
import chess.pgn
import numpy as np
import pytest

from kibitz.analysis.chess.strength import estimate
from kibitz.analysis.chess.strength.estimate import (
    HIGHEST,
    PARTS,
    WHOLE,
    estimate_rating,
    rating_model,
    raw_rating,
)
from kibitz.analysis.chess.strength.likelihoods import LEAST_LIKELY, RATINGS, MoveLikelihoods, side_likelihoods
from kibitz.analysis.chess.strength.player import PlayerGame, PlayerStrength, is_fitted_for, player_game, rating_network
from kibitz.play.session import Session

CHILDISH = "1. h4 a5 2. Rh3 Ra6 3. Rg3 Rh6 4. d4 Rxh4 5. Qd2 Rh1 6. Qh6 gxh6 7. a4 f6 8. f3 Kf7 9. b4 Ke8 1-0"
SOUND = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 1/2-1/2"


def game(text: str, **headers: str) -> chess.pgn.Game:
    found = chess.pgn.read_game(io.StringIO(text))
    assert found is not None
    found.headers.update({"Site": "https://lichess.org/x", "TimeControl": "300+0", **headers})
    return found


def moves(likely_at: int, count: int = 40, phase: int = 0, seconds: float = math.nan) -> MoveLikelihoods:
    """Moves that are most likely at one of RATINGS."""
    log = -0.1 * np.abs(np.arange(len(RATINGS)) - likely_at, dtype=np.float32)
    return MoveLikelihoods(
        np.tile(log, (count, 1)).astype(np.float32), np.full(count, phase, np.int8), np.full(count, seconds, np.float32)
    )


def played(likely_at: int = 3, **fields: Any) -> PlayerGame:
    base = {"moves": moves(likely_at), "side": "white", "scale": "lichess", "speed": "blitz", "month": "", "rating": 0}
    return PlayerGame(**{**base, **fields})


def test_without_evidence_the_raw_rating_is_that_of_the_prior() -> None:
    assert raw_rating(np.zeros(6)) == pytest.approx(estimate.PRIOR[0], abs=5)


@pytest.mark.parametrize("at", range(1, len(RATINGS) - 1))
def test_much_evidence_for_a_rating_gives_this_rating(at: int) -> None:
    log = -((np.array(RATINGS) - RATINGS[at]) ** 2) / 2_000.0
    assert raw_rating(log) == pytest.approx(RATINGS[at], abs=60)


def test_likelihoods_that_rise_up_to_the_last_rating_point_beyond_it() -> None:
    rising = np.arange(6) * 20.0
    assert raw_rating(rising) > RATINGS[-1]
    assert raw_rating(rising[::-1]) < RATINGS[0]


def test_the_likelihood_between_the_ratings_is_smooth_and_linear_outside() -> None:
    x, y = np.array(RATINGS, float), np.array([0.0, 3, 1, 4, 1, 5])
    assert estimate._spline(x, y, x) == pytest.approx(y)
    line = 2 * x - 7
    everywhere = np.arange(0.0, 3500, 50)
    assert estimate._spline(x, line, everywhere) == pytest.approx(2 * everywhere - 7)
    near = estimate._spline(x, y, np.array([999.0, 1000, 1001, 2599, 2600, 2601]))
    assert abs(near[0] - 2 * near[1] + near[2]) < 1e-4
    assert abs(near[3] - 2 * near[4] + near[5]) < 1e-4


def test_more_games_give_a_narrower_interval_but_style_remains() -> None:
    few, many = (estimate_rating([moves(3)] * count, "lichess") for count in (5, 500))
    assert few is not None
    assert many is not None
    style = rating_model("lichess").style
    assert few.high - few.low > many.high - many.low > 2 * style
    assert many.high - many.low == pytest.approx(2 * style, rel=0.05)
    assert (few.games, few.moves, many.games) == (5, 200, 500)


def test_stronger_moves_give_a_higher_rating_on_every_scale_and_in_every_part() -> None:
    for scale in ("lichess", "chess.com", "fide", ""):
        for part in PARTS:
            weak, strong = (estimate_rating([moves(at)] * 10, scale, part) for at in (1, 4))
            assert weak is not None
            assert strong is not None
            assert weak.value < strong.value


def test_an_unknown_scale_has_the_parameters_of_all() -> None:
    assert rating_model("fics") == rating_model("")
    assert rating_model("lichess") != rating_model("")


def test_estimates_end_at_the_limits() -> None:
    top = MoveLikelihoods(np.tile(np.arange(6, dtype=np.float32) * 5, (400, 1)), np.zeros(400, np.int8), np.zeros(400))
    found = estimate_rating([top] * 50, "chess.com")
    assert found is not None
    assert found.high == HIGHEST
    assert estimate_rating([], "lichess") is None


def test_the_network_sees_own_moves_with_the_same_rating_of_both_players() -> None:
    seen: list[np.ndarray[Any, Any]] = []

    class Listening:
        side_inputs = Session("human").side_inputs

        def evaluate(self, codes: Any, state: Any) -> Any:
            seen.append(state)
            n = len(codes)
            return {"origin": np.full((n, 64), 1 / 64, np.float32), "target": np.full((n, 64, 64), 1 / 64, np.float32)}

    found = side_likelihoods(game(SOUND, WhiteElo="1000", BlackElo="2000"), chess.BLACK, Listening())
    assert len(found) == 9
    names = list(Listening.side_inputs)
    state = np.concatenate(seen)
    for name in ("rating", "opponent_rating"):
        assert sorted({int(one) * 16 for one in state[:, 4 + names.index(name)]}) == [
            rating // 16 * 16 for rating in RATINGS
        ]
    assert (state[:, 4 + names.index("rating")] == state[:, 4 + names.index("opponent_rating")]).all()
    assert (state[:, 0] == 1).all() or len(set(state[:, 0])) == 1
    assert found.log[0] == pytest.approx(math.log(1 / 20), rel=1e-3)  # 20 equally likely replies
    assert (found.log >= math.log(LEAST_LIKELY) - 1e-6).all()


def test_clocks_are_those_before_the_move() -> None:
    text = "1. e4 {[%clk 0:05:00]} e5 {[%clk 0:04:00]} 2. Nf3 {[%clk 0:03:00]} Nc6 {[%clk 0:02:00]} *"
    session = Session("human")
    assert side_likelihoods(game(text), chess.WHITE, session).seconds.tolist() == [300, 300]
    assert np.isnan(side_likelihoods(game("1. e4 e5 *"), chess.WHITE, session).seconds).all()


def test_sound_moves_look_stronger_than_childish_ones() -> None:
    session = rating_network()
    assert is_fitted_for(session)
    assert not is_fitted_for(Session("chessnet"))
    sound, childish = (
        [side_likelihoods(game(text), side, session) for side in (chess.WHITE, chess.BLACK)] * 10
        for text in (SOUND, CHILDISH)
    )
    high, low = (estimate_rating(one, "lichess") for one in (sound, childish))
    assert high is not None
    assert low is not None
    assert high.value > low.value + 400


def test_fewer_than_five_games_have_no_rating() -> None:
    strength = PlayerStrength("Ana")
    for _ in range(4):
        strength.add(played())
    assert strength.rating() is None
    assert strength.as_json()["rating"] is None
    strength.add(played())
    assert strength.rating() is not None


def test_games_on_another_scale_and_games_of_seconds_do_not_count() -> None:
    strength = PlayerStrength("Ana")
    for _ in range(6):
        strength.add(played(rating=1500))
        strength.add(played(too_fast=True))
    strength.add(played(scale="chess.com", rating=900))
    strength.add(played(moves=moves(3, 0)))
    found = strength.as_json()
    assert (found["games"], found["other_scales"], found["scale"], found["recorded_rating"]) == (6, 1, "lichess", 1500)
    assert found["rating"]["games"] == 6


def test_parts_are_shown_if_there_are_at_least_two() -> None:
    strength = PlayerStrength("Ana")
    for i in range(12):
        strength.add(played(side="white" if i % 2 else "black", month="2026-01" if i < 6 else "2026-02"))
    parts = strength.parts()
    assert set(parts) == {"by_side", "by_month"}
    assert list(parts["by_month"]) == ["2026-01", "2026-02"]
    assert {one.games for one in parts["by_side"].values()} == {6}


def test_parts_by_phase_and_time_left_hold_the_moves_of_each() -> None:
    strength = PlayerStrength("Ana")
    for _ in range(6):
        early, late = moves(4, 30, 0, 100), moves(1, 10, 2, 5)
        strength.add(
            played(
                moves=MoveLikelihoods(
                    *(np.concatenate(pair) for pair in zip(vars(early).values(), vars(late).values(), strict=True))
                )
            )
        )
    parts = strength.parts()
    assert {name: one.moves for name, one in parts["by_phase"].items()} == {"opening": 180, "endgame": 60}
    assert {name: one.moves for name, one in parts["by_time_left"].items()} == {
        "under_30_seconds": 60, "30_seconds_to_2_minutes": 180,
    }  # fmt: skip
    assert parts["by_time_left"]["under_30_seconds"].value < parts["by_time_left"]["30_seconds_to_2_minutes"].value


@pytest.mark.parametrize(
    ("control", "too_fast"),
    [("15+0", True), ("0+1", False), ("30+0", False), ("-", False), ("", False), ("1/86400", False)],
)
def test_games_of_under_half_a_minute_are_too_fast(control: str, too_fast: bool) -> None:
    found = player_game(game(SOUND, TimeControl=control, UTCDate="2026.11.03", BlackElo="1723"), "black", moves(2))
    assert found.too_fast is too_fast
    dated = player_game(game(SOUND, UTCDate="????.??.??", Date="2026.12.01"), "black", moves(2))
    assert dated.month == "2026-12"
    assert (found.scale, found.month, found.rating) == ("lichess", "2026-11", 1723)


def test_the_whole_model_is_there() -> None:
    for scale in ("", "lichess", "chess.com"):
        for part in PARTS:
            model = rating_model(scale, part)
            assert model.slope > 0
            assert model.noise > 0
            assert 100 < model.style < 1000
    assert rating_model("lichess", WHOLE).half_width(100) > rating_model("lichess", WHOLE).half_width(1000)


def test_the_most_frequent_scale_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """If it were found again for each game, the time would grow with the square of the number of games."""
    asked: list[str] = []
    scale = PlayerStrength.scale
    monkeypatch.setattr(PlayerStrength, "scale", property(lambda self: asked.append("") or scale.fget(self)))  # type: ignore[attr-defined]
    strength = PlayerStrength("someone", [played() for _ in range(20)])
    assert len(strength.counted) == 20
    assert len(asked) == 1
