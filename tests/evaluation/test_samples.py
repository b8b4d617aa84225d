"""Positions and games for the page: SAN, FEN and links as python-chess reads them from the PGN."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import chess
import chess.pgn
import numpy as np
import pytest

from kibitz.evaluation.pairs.answers import PairResults
from kibitz.evaluation.pairs.samples import take
from kibitz.evaluation.positions.evaluator import judged
from kibitz.evaluation.rows import winner_right
from kibitz.evaluation.samples import DiverseSampler, GameRecord, curve, fens, game_curve, position, records
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.positions import Positions
from kibitz.store.store import Store

PGN = """[Event "Rated game"]
[Site "{site}"]
[Date "2021.03.04"]
[White "A"]
[Black "B"]
[WhiteElo "2100"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1

"""


@pytest.fixture
def record(make_store: Callable[..., Store], tmp_path: Path) -> Callable[[str], GameRecord]:
    def make(site: str) -> GameRecord:
        (tmp_path / "a.pgn").write_text(PGN.format(site=site))
        return records(make_store(tmp_path / "a.store", tmp_path / "a.pgn"), [0])[0]

    return make


def test_records_are_the_games(small_store: Store, bundled_games: list[str]) -> None:
    for game, record in records(small_store, [7, 3, 7, 399]).items():
        played = chess.pgn.read_game(io.StringIO(bundled_games[record.row["number"] - 1]))
        assert played is not None
        nodes = list(played.mainline())
        assert record.san == [node.san() for node in nodes]
        assert record.uci == [node.move.uci() for node in nodes]
        boards = [played.board(), *(node.board() for node in nodes)]
        shown = [record.fen(ply).split()[:4] for ply in range(len(boards))]
        assert shown == [board.fen().split()[:4] for board in boards]
        assert record.result == played.headers["Result"]
        assert record.headers["white_rating"] == int(played.headers["WhiteElo"])
        assert len(record.uci) == small_store.plies[game]


def test_fens_keep_what_decides_a_position(small_store: Store) -> None:
    positions = Positions(small_store, np.array([11]))
    at = positions.batch(np.arange(len(positions)))
    record = records(small_store, [11])[11]
    for ply, fen in enumerate(fens(small_store, at.games, at.plies)):
        assert fen.split()[:5] == record.fen(ply).split()[:5]
    assert ply == len(record.uci)


def test_position_and_story(record: Callable[[str], GameRecord]) -> None:
    one = record("https://lichess.org/abcd1234")
    row = position(one, (0, 4), 0.25, "White wins")
    assert chess.Board(row["fen"]).is_checkmate()
    assert (row["last_move"], row["game"], row["ply"], row["result"]) == ("d8h4", "0", 4, "0-1")
    assert (row["white"], row["white_rating"], row["black_rating"], row["date"]) == ("A", 2100, None, "2021-03-04")
    assert position(one, (0, 0), 0.5, "White wins")["last_move"] is None
    told = game_curve(one, [0.5, 0.4, 0.3, 0.2, 0.1], 3)
    assert told["moves"] == ["f3", "e5", "g4", "Qh4#"]
    assert told["link"] == "https://lichess.org/abcd1234#3"
    assert told["event"] == "Rated game"


@pytest.mark.parametrize(
    ("site", "link"),
    [
        ("?", None),
        ("Linares ESP", None),
        ("javascript:alert(1)", None),
        ("https://example.org/7", "https://example.org/7"),
        ("https://lichess.org/abcd1234#9", "https://lichess.org/abcd1234#9"),
    ],
)
def test_links_are_web_addresses(site: str, link: str | None, record: Callable[[str], GameRecord]) -> None:
    assert game_curve(record(site), [], 3)["link"] == link


def test_picker_takes_no_game_and_no_position_twice(small_store: Store) -> None:
    games = np.array([0, 0, 1, 2, 2, 3])
    plies = np.array([9, 8, 0, 0, 9, 12])
    sampler = DiverseSampler(small_store, games, plies)
    # 1 is of a game that is taken; 3 is the start position again, as 2 was, so that 4 stands for its game.
    assert sampler.take(range(6), 3) == [0, 2, 4]
    assert sampler.take(range(6), 3) == [5], "and remembers"


def test_a_pair_that_is_left_out_takes_no_game(small_store: Store) -> None:
    """The pairs by their positions: game 0 twice, game 2 with a start position that was shown, and games 2 and 3."""
    games, plies = np.array([0, 1, 0, 2, 2, 3]), np.array([9, 0, 8, 12, 0, 12])
    of = SimpleNamespace(won=np.array([0, 2, 4, 3]), lost=np.array([1, 5, 5, 5]))
    sampler = DiverseSampler(small_store, games, plies)
    found = take(cast(PairResults, SimpleNamespace(pairs=of)), sampler, np.arange(4), 4)
    assert found == [0, 3], "the pairs 1 and 2 leave game 3 to pair 3"


def test_a_win_probability_of_one_half_is_half_right() -> None:
    chance, won = np.array([0.5, 0.5, 0.6, 0.6, 0.4]), np.array([True, False, True, False, False])
    assert winner_right(chance, won).tolist() == [0.5, 0.5, 1, 0, 1]
    assert winner_right(chance[2:], won[2:]).dtype == bool
    [right, _] = judged(chance.astype(np.float32), np.zeros(5, np.int16), won)
    assert right.tolist() == [0.5, 0.5, 1, 0, 1]


def test_curve_is_the_network_at_every_ply(small_store: Store, opened: Run) -> None:
    session = Session(opened)
    values = curve(session, small_store, 5, "white_wins")
    assert len(values) == small_store.plies[5] + 1
    for ply in (0, 7, len(values) - 1):
        codes, state = small_store.replay(np.array([5]), np.array([ply]))
        assert values[ply] == pytest.approx(float(session.evaluate(codes, state)["white_wins"][0]), abs=6e-5)


def test_a_game_in_which_black_moves_first() -> None:
    told = game_curve(GameRecord({"result": 0}, ["Qd2"], ["e2d2"], "4k3/8/8/8/8/8/4q3/K7 b - - 0 1"), [0.1, 0.1], 1)
    assert told["black_first"] is True
