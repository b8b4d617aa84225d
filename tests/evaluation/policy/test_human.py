"""The evaluation of `human`: its figures against a plain count, and what it says of lost pieces."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from kibitz.analysis.chess.ratings import add_side_inputs
from kibitz.evaluation import EvalConfig, evaluate
from kibitz.evaluation.games import Chosen, choose
from kibitz.evaluation.policy import handicaps
from kibitz.evaluation.policy.human.baselines import usual_moves
from kibitz.evaluation.policy.human.evaluator import eligible, measure_rows
from kibitz.evaluation.policy.human.results import BANDS, RatedSession, ranked, rating_bands
from kibitz.evaluation.policy.human.side_inputs import _Compared
from kibitz.evaluation.rows import MOVE, WINNER
from kibitz.evaluation.samples import records
from kibitz.games.chess.moves import from_move
from kibitz.play.session import Session
from kibitz.report.page import render_test_page
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Batch
from kibitz.store.store import Store
from support.causes import mentions


@pytest.fixture(scope="module")
def games(human_run: Path, small_store: Store) -> Chosen:
    whole = choose(Run(human_run), small_store)
    return replace(whole, games=whole.games[:8])


@pytest.fixture(scope="module")
def result(human_run: Path, small_store: Store, games: Chosen) -> dict[str, Any]:
    return evaluate(
        Run(human_run),
        small_store,
        games,
        EvalConfig(),
        command="kibitz test it",
        on_progress=lambda *_: None,
        log=lambda _: None,
    )


def test_accuracy_and_log_loss_are_those_of_a_plain_count(
    human_run: Path, small_store: Store, games: Chosen, result: dict[str, Any]
) -> None:
    """Position by position, with python-chess's legal moves and ratings told as `analyze` tells them."""
    session = Session(human_run)
    right, losses = [], []
    for game in games.games:
        record = records(small_store, [int(game)])[int(game)]
        plies = np.arange(len(record.uci))
        codes, state = small_store.replay(np.full(len(plies), game), plies)
        headers: Any = {
            "WhiteElo": str(record.row["white_rating"] or ""), "BlackElo": str(record.row["black_rating"] or ""),
            "Site": record.row["site"] or "", "TimeControl": record.row["time_control"] or "",
            "Event": record.row["event"] or "",
        }  # fmt: skip
        moves = [chess.Move.from_uci(uci) for uci in record.uci]
        state = add_side_inputs(state, headers, session.side_inputs, moves)
        answers = session.evaluate(codes, state)
        for i, move in enumerate(moves):
            board = chess.Board(record.fen(i))
            chances = {}
            for legal in board.legal_moves:
                p = answers["origin"][i, legal.from_square] * answers["target"][i, legal.from_square, legal.to_square]
                if legal.promotion:
                    p *= answers["promotion"][i, chess.square_file(legal.to_square), legal.promotion - 2]
                chances[from_move(legal)] = float(p)
            own = chances[from_move(move)]
            right.append(own == max(chances.values()))
            losses.append(-np.log(own / sum(chances.values())))
    assert result["figures"]["accuracy"]["value"] == pytest.approx(np.mean(right), abs=2 / len(right))
    assert result["figures"]["log_loss"]["value"] == pytest.approx(np.mean(losses), rel=1e-3)
    assert result["figures"]["accuracy"]["n"] == len(right)


def test_rows_of_moves_and_of_winners(human_run: Path, small_store: Store, games: Chosen) -> None:
    """What `--against` compares, position by position; drawn games have no winner."""
    run, results, some = Run(human_run), small_store.column("result"), games.games[:5]
    rated = RatedSession(Session(human_run), small_store)
    for question in (MOVE, WINNER):
        positions = eligible(run, small_store, some, question)
        assert set(positions.locate(np.arange(len(positions)))[0]) == {
            game for game in some if question == MOVE or results[game]
        }
        played, plies = positions.locate(np.arange(0, len(positions), 9))
        rows = measure_rows(run, small_store, played, plies, question, lambda done, total: None)
        batch = Batch(*small_store.replay(played, plies), played, plies)
        state = rated.full_state(batch)
        marks, outcome = rated.measure(batch, state), rated.session.evaluate(batch.codes, state)["outcome"]
        right, losses = [], []
        for i, game in enumerate(played):
            if question == MOVE:
                right.append(float(marks["rank"][i] == 1))
                losses.append(-np.log(marks["chance"][i]))
            else:
                win, _, loss = outcome[i].tolist()
                won = results[game] == (1 if plies[i] % 2 == 0 else -1)
                right.append(float((win > loss) == won))
                losses.append(-np.log((win if won else loss) / (win + loss)))
        assert 0 < sum(right) < len(right)
        assert rows.question == question
        assert rows.right.tolist() == right
        assert rows.loss == pytest.approx(losses, rel=1e-5, abs=1e-6)
        assert (rows.games.tolist(), rows.plies.tolist()) == (played.tolist(), plies.tolist())
        assert rows.weight.tolist() == [1.0] * len(played)


def test_the_figures_that_programs_read(result: dict[str, Any]) -> None:
    names = {
        "accuracy", "accuracy_at_3", "accuracy_at_5", "log_loss", "perplexity", "log_loss_ratings_shuffled",
        "log_loss_ratings_withheld", "winner_accuracy", "winner_accuracy_ratings_withheld", "ahead_by_queen",
        "ahead_by_rook", "ahead_by_piece", "known_blunder",
    }  # fmt: skip
    assert names <= set(result["figures"])
    assert {"rating", "ply", "opening", "phase"} <= set(result["by"])
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    figures = result["figures"]
    assert figures["perplexity"]["value"] == pytest.approx(np.exp(figures["log_loss"]["value"]))
    counted = sum(row["figure"]["n"] for row in result["by"]["rating"]["rows"])
    assert counted == figures["accuracy"]["n"]
    cost = figures["log_loss_cost_ratings_shuffled"]["value"]
    assert cost == pytest.approx(
        figures["log_loss_ratings_shuffled"]["value"] - figures["log_loss_where_rated"]["value"]
    )
    assert {"random_move", "most_frequent_move"} <= set(result["baselines"])
    assert "Result prediction by rating" in {table["title"] for table in result["tables"]}
    assert BANDS[1:-1] == tuple(range(800, 2801, 200))


def test_the_page_has_it_all(result: dict[str, Any]) -> None:
    page = render_test_page(result)
    assert mentions(page, "opening")
    assert mentions(page, "Effect & ratings")


def test_every_known_rating_has_a_band() -> None:
    ratings = np.array([-1, 1, 799, 800, 2799, 2800, 3999, 4000, 32767])
    found = {name: ratings[inside].tolist() for name, inside in rating_bands(ratings)}
    assert found == {
        "under 800": [1, 799], "800 to 999": [800], "2600 to 2799": [2799], "2800 and over": [2800, 3999, 4000, 32767],
    }  # fmt: skip


def test_a_network_that_is_always_wrong_has_an_interval() -> None:
    none, every = np.zeros(4, np.float32), np.ones(4, np.float32)
    marks = {"win": none, "loss": every, "chance": every / 2, "rank": np.ones(4, np.int16)}
    mask = np.ones(4, np.bool_)
    compared = _Compared(ClusterBootstrap(np.arange(4)), marks, np.ones(4, np.int64), mask, mask)
    winner = compared.figures("bare", marks)["winner_accuracy_bare"].estimate
    assert winner.value == winner.low == 0
    assert winner.high > 0.3
    assert winner in compared.row("bare", marks)


def test_ranks() -> None:
    """Of equal moves the one further left ranks first."""
    board = chess.Board("7k/8/8/8/8/8/8/K7 w - - 0 1")
    from kibitz.games.chess.replay import encode_board

    row = encode_board(board)[None]
    batch = Batch(row[:, :64].copy(), row[:, 64:].copy(), np.array([0]), np.array([0]))
    answers = {"origin": np.full((1, 64), 1 / 64, np.float32), "target": np.zeros((1, 64, 64), np.float32)}
    answers["target"][0, 0, [1, 8, 9]] = (0.2, 0.5, 0.2)
    for uci, rank, chance in (("a1a2", 1, 5 / 9), ("a1b1", 2, 2 / 9), ("a1b2", 3, 2 / 9)):
        found = ranked(answers, batch, np.array([from_move(chess.Move.from_uci(uci))], np.uint16))
        assert (int(found["rank"][0]), int(found["choices"][0])) == (rank, 3)
        assert found["chance"][0] == pytest.approx(chance)
        assert found["surest"][0] == pytest.approx(5 / 9)
        assert int(found["best"][0]) == from_move(chess.Move.from_uci("a1a2"))


def test_the_most_frequent_moves_are_counted_as_their_mover_sees_them(small_store: Store) -> None:
    games = np.flatnonzero(small_store.plies > 0)[:30]
    counts = usual_moves(small_store, games)
    plain = np.zeros(4096, int)
    for game in games:
        for ply in range(int(small_store.plies[game])):
            move = int(small_store.moves[small_store.offsets[game] + ply]) & 0xFFF
            turned = 56 * (ply % 2)
            plain[((move & 63) ^ turned) + 64 * ((move >> 6) ^ turned)] += 1
    assert np.array_equal(counts, plain)


# A piece up


def test_one_piece_is_taken_and_the_rest_stays(small_store: Store) -> None:
    places = handicaps.openings(small_store, np.flatnonzero(small_store.plies > 0), seed=0)
    assert len(places)
    rng = np.random.default_rng(0)
    from kibitz.games.chess.replay import decode_board

    for game, ply in places[:40]:
        assert handicaps.FROM <= ply <= handicaps.TO
        codes, state = small_store.replay(np.array([game]), np.array([ply]))
        board = decode_board(codes[0], state[0])
        for piece_types in handicaps.TAKEN.values():
            less = handicaps.without(board, piece_types, chess.WHITE, rng)
            if less is None:
                continue
            assert less.is_valid()
            gone = set(board.piece_map().items()) - set(less.piece_map().items())
            assert not set(less.piece_map().items()) - set(board.piece_map().items())
            ((_, piece),) = gone
            assert piece.color == chess.WHITE
            assert piece.piece_type in piece_types


def test_the_known_blunder_is_that_position() -> None:
    board = chess.Board()
    for san in ["e4", "d5", "exd5", "Qxd5", "Nc3", "a6"]:
        board.push_san(san)
    assert board.fen() == handicaps.KNOWN


def test_the_side_that_is_ahead_is_asked_for(monkeypatch: pytest.MonkeyPatch, small_store: Store) -> None:
    """A network that counts pieces and nothing else finds whoever has one more ahead in every position."""

    class Counts:
        side_inputs: dict[str, int] = {}  # noqa: RUF012

        def evaluate(self, codes: Any, state: Any) -> Any:
            white = ((codes > 0) & (codes < 7)).sum(1) * 1.0 - (codes > 6).sum(1)
            return {"value": np.clip(np.where(state[:, 0] == 0, white, -white) + 0.0, -1, 1)}

    counts: Any = Counts()
    even = np.flatnonzero(small_store.plies > 0)
    monkeypatch.setattr(
        handicaps, "openings", lambda *_: np.array([[game, 0] for game in even[:30]])
    )  # every start position: equal in number
    figures, table = handicaps.handicaps(counts, small_store, even, 0)
    for name in handicaps.TAKEN:
        assert figures[f"ahead_by_{name}"].estimate.value == 1
    assert figures["known_blunder"].estimate.value == 1
    assert [row[0] for row in table.rows[:3]] == ["a queen", "a rook", "a piece"]


def test_what_ratings_are_worth_is_not_told_where_there_are_none(
    human_run: Path, make_store: Any, tmp_path: Path, bundled_games: list[str]
) -> None:
    text = re.sub(r"\[(White|Black)Elo [^\]]*\]\n", "", "".join(bundled_games[:6]))
    (tmp_path / "some.pgn").write_text(text)
    store = make_store(tmp_path / "some.store", tmp_path / "some.pgn")
    found = evaluate(
        Run(human_run), store, choose(Run(human_run), store, "all"), EvalConfig(positions=120),
        on_progress=lambda *_: None, log=lambda _: None,
    )  # fmt: skip
    told = next(table for table in found["tables"] if table["title"] == "Effect of ratings and other inputs")
    assert [row[0] for row in told["rows"]] == ["true inputs", "position alone"]
    assert "of games without ratings" in told["text"]
    assert not [name for name in found["figures"] if "rated" in name or "ratings" in name]
