"""A player's report: whose moves count, what they are divided by, and what intervals say."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import chess.pgn
import numpy as np
import pytest
from rich.console import Console

from kibitz.analysis.chess.moves import AnalysedGame, Judged, Move, Worth
from kibitz.analysis.chess.player import PlayerReport
from kibitz.analysis.chess.player_table import show
from kibitz.analysis.parts import A_GAME, ENOUGH, MAX_WORST
from kibitz.analysis.summary import move_accuracy
from kibitz.games.chess.io.reader import Record

CARO = "1. e4 {[%clk 0:03:00]} c6 {[%clk 0:03:00]} 2. d4 {[%clk 0:00:09]} d5 {[%clk 0:02:50]} 3. Nc3 {[%clk 0:00:05]} *"
HEADERS = '[White "Ana"]\n[Black "Bo"]\n[Date "2020.01.02"]\n[WhiteElo "1500"]\n[BlackElo "1620"]\n[Result "{}"]\n\n'


def game(losses: list[float], result: str = "1-0", usual: float | None = 0.05, number: int = 1) -> AnalysedGame:
    """The game above, judged: what each move lost."""
    record = chess.pgn.read_game(io.StringIO(HEADERS.format(result) + CARO))
    assert record is not None
    moves, board = [], record.board()
    for ply, (played, loss) in enumerate(zip(record.mainline_moves(), losses, strict=True), 1):
        white = board.turn == chess.WHITE
        piece = "knight" if board.piece_type_at(played.from_square) == chess.KNIGHT else "pawn"
        mark = "??" if loss >= 0.3 else "?" if loss >= 0.2 else "?!" if loss >= 0.1 else ""
        judged = Judged(loss, "a2a3", ("a3",), False, "opening", piece, usual)
        worth = Worth(0.6, 0.6 - loss if white else 0.6 + loss, -loss)
        side = "white" if white else "black"
        moves.append(
            Move(ply, board.fullmove_number, side, board.san(played), played.uci(), mark, worth, judged=judged)
        )
        board.push(played)
    return AnalysedGame(Record(number, record), moves, np.full(len(moves) + 1, 0.6))


def report(*games: tuple[AnalysedGame, str]) -> PlayerReport:
    made = PlayerReport("Ana", 0.1)
    for one, side in games:
        made.add(one, side)
    return made


def test_only_the_players_moves_count() -> None:
    found = report(
        (game([0.0, 0.9, 0.3, 0.9, 0.0]), "white"), (game([0.9, 0.2, 0.9, 0.0, 0.9], "0-1"), "black")
    ).as_json()
    assert (found["games"], found["moves"]) == (2, 5)
    assert found["loss"]["value"] == pytest.approx(0.1)
    assert found["usual_loss"]["value"] == 0.05
    assert found["difference"]["value"] == pytest.approx(0.05)
    assert found["marks"] == {"inaccuracies": 0, "mistakes": 1, "blunders": 1}
    assert (found["won"], found["drawn"], found["lost"]) == (2, 0, 0)
    assert found["score"]["value"] == 1.0
    assert found["rating"] == 1560
    of_games = [move_accuracy(0.3), move_accuracy(0.2)]  # with one move without a loss in each game
    pairs = [((2 + one) / 3 + 3 / (2 + 1 / one)) / 2 for one in of_games[:1]]
    pairs += [((1 + one) / 2 + 2 / (1 + 1 / one)) / 2 for one in of_games[1:]]
    assert found["accuracy"]["value"] == pytest.approx(sum(pairs) / 2, abs=1e-4)
    assert {key: part["moves"] for key, part in found["by_side"].items()} == {"white": 3, "black": 2}
    assert {key: part["moves"] for key, part in found["by_piece"].items()} == {"pawn": 4, "knight": 1}
    assert list(found["by_result"]) == ["won"]


def test_time_left_is_that_before_the_move() -> None:
    found = report((game([0.0, 0.0, 0.3, 0.0, 0.2]), "white")).as_json()
    by = {key: (part["moves"], part["loss"]["value"]) for key, part in found["by_time_left"].items()}
    assert by == {"under_10_seconds": (1, 0.2), "3_to_10_minutes": (2, 0.15)}
    assert [mistake["time_left"] for mistake in found["worst"]] == [180.0, 9.0]


def test_openings_have_names_colours_and_scores() -> None:
    games = [
        (game([0.0] * 5, result), side) for result, side in (("1-0", "white"), ("1/2-1/2", "white"), ("*", "black"))
    ]
    openings = report(*games).as_json()["by_opening"]
    assert [(row["name"], row["side"], row["games"]) for row in openings] == [
        ("Caro-Kann Defense", "white", 2), ("Caro-Kann Defense", "black", 1),
    ]  # fmt: skip
    assert openings[0]["eco"].startswith("B1")
    assert (openings[0]["score"]["value"], openings[0]["score"]["n"]) == (0.75, 2)
    assert (openings[1]["score"]["value"], openings[1]["score"]["n"]) == (None, 0)


def test_the_worst_come_first_from_the_players_own_side() -> None:
    first, second = game([0.3, 0.5, 0.35, 0.0, 0.4]), game([0.0, 0.45, 0.0, 0.0, 0.0], number=2)
    worst = report((first, "white"), (second, "black")).worst
    assert [(one.game, one.move.san) for one in worst] == [(2, "c6"), (1, "Nc3"), (1, "d4")]
    assert len([one for one in worst if one.game == 1]) == A_GAME
    assert (worst[0].before, worst[0].after) == (pytest.approx(0.4), pytest.approx(-0.05))
    assert (worst[0].opponent, worst[0].opponent_rating) == ("Ana", 1500)
    assert chess.Board(worst[1].fen).parse_san("Nc3")
    many = report(*[(game([0.5, 0, 0, 0, 0], number=i), "white") for i in range(MAX_WORST + 5)])
    assert len(many.worst) == MAX_WORST


def test_the_loss_of_a_listed_mistake_is_the_difference_of_its_values() -> None:
    """Even if the search before the move overlooked the reply, so that its value is too high."""
    one = game([0.3, 0.0, 0.0, 0.0, 0.0])
    assert one.moves[0].worth is not None
    object.__setattr__(one.moves[0], "worth", replace(one.moves[0].worth, before=0.9))
    (worst,) = report((one, "white")).worst
    assert worst.before - worst.after == pytest.approx(worst.loss)


def test_intervals_need_enough_games() -> None:
    games = [(game([0.1 * (i % 3), 0.0, 0.0, 0.0, 0.3]), "white") for i in range(ENOUGH)]
    few, enough = report(*games[:-1]).parts().whole, report(*games).parts().whole
    assert math.isnan(few.loss.low)
    assert enough.loss.low < enough.loss.value < enough.loss.high
    assert enough.difference.low == pytest.approx(enough.loss.low - 0.05)


def test_what_stands_out_is_sure() -> None:
    games = [(game([0.05 + 0.01 * (i % 2) - 0.005, 0.0, 0.02, 0.0, 0.4]), "white") for i in range(ENOUGH)]
    labels = [row["label"] for row in report(*games).as_json()["stands_out"]]
    assert labels[0] in ("knight moves", "with under 10 s left")
    assert set(labels[-2:]) == {"pawn moves", "with 3 to 10 min left"}
    assert "games won" not in labels
    assert report(*games[:-1]).as_json()["stands_out"] == []


def test_the_rating_in_the_report_is_named_as_the_median() -> None:
    uneven = [(game([0.0] * 5), "white") for _ in range(3)]
    for (one, _), rating in zip(uneven, ("400", "1500", "1600"), strict=True):
        one.record.game.headers["WhiteElo"] = rating
    out = io.StringIO()
    show(report(*uneven), Console(file=out, width=80))
    assert out.getvalue().startswith("Ana (median rating 1500): 3 games\n")


def test_without_ratings_nothing_is_compared() -> None:
    found = report((game([0.0, 0.0, 0.3, 0.0, 0.0], usual=None), "white")).as_json()
    assert "usual_loss" not in found
    assert found["worst"][0]["usual_loss"] is None
    mixed = report((game([0.2] * 5, usual=None), "white"), (game([0.1] * 5), "white")).as_json()
    assert (mixed["loss"]["n"], mixed["difference"]["n"]) == (6, 3)
    assert mixed["difference"]["value"] == pytest.approx(0.05)


def test_a_game_without_moves_or_clocks() -> None:
    bare = game([0.0] * 5)
    for node in bare.record.game.mainline():
        node.comment = ""
    empty = replace(bare, moves=[], record=Record(2, chess.pgn.Game()))
    found = report((bare, "white"), (empty, "white")).as_json()
    assert (found["games"], found["moves"], found["by_time_left"]) == (2, 3, {})
    assert report((empty, "white")).as_json()["moves"] == 0


def test_a_stalemate_is_among_the_worst() -> None:
    one = game([0.2, 0.0, 0.3, 0.0, 0.5])
    last = replace(one.moves[-1], mark="½", fault="??")
    found = report((replace(one, moves=[*one.moves[:-1], last]), "white")).as_json()
    assert [(mistake["ply"], mistake["mark"]) for mistake in found["worst"]] == [(5, "??"), (3, "??")]
    assert found["marks"] == {"inaccuracies": 0, "mistakes": 1, "blunders": 2}


@pytest.mark.parametrize(("result", "low", "high"), [("1-0", 0.7, 1.0), ("0-1", 0.0, 0.3)])
def test_a_score_of_all_or_nothing_has_an_interval(result: str, low: float, high: float) -> None:
    """Twelve lost games do not prove that the player always loses."""
    score = report(*((game([0.0] * 5, result), "white") for _ in range(12))).parts().whole.score
    assert score is not None
    assert (score.value, score.low, score.high) == (low if not low else high, pytest.approx(low, abs=0.05),
                                                    pytest.approx(high, abs=0.05))  # fmt: skip
