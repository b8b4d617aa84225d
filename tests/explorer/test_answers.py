"""What was played, beside a loop over all games of a store with python-chess."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from kibitz.errors import KibitzError, UsageError
from kibitz.explorer import index as indexes
from kibitz.explorer.answers import Explorer, read_band
from kibitz.explorer.index import DEPTH, FOLDER, open_index
from kibitz.explorer.keys import NO_MOVE
from kibitz.explorer.records import record
from kibitz.explorer.report import explore, read_chess
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.game import COLUMNS, PER_MOVE
from kibitz.games.chess.game import Reader as PgnReader
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import STANDARD_START
from kibitz.games.chess.start import read_fen
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from support.causes import naming
from support.helpers import import_games

Slow = dict[str, list[tuple[int, str]]]


def slowly(store: Store) -> Slow:
    """Of each position the games that reached it, and what was played the first time; "" at a game's end."""
    found: Slow = {}
    for game in range(len(store)):
        board = chess.Board()
        moves = store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()
        for ply in range(min(DEPTH, len(moves) + 1)):
            move = to_move(moves[ply]).uci() if ply < len(moves) else ""
            entries = found.setdefault(board.epd(), [])
            if not entries or entries[-1][0] != game:
                entries.append((game, move))
            if move:
                board.push_uci(move)
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return import_games(tmp_path_factory.mktemp("explored") / "a.store", limit=400)


@pytest.fixture(scope="module")
def explorer(store: Store) -> Explorer:
    return Explorer(store)


@pytest.fixture(scope="module")
def known(store: Store) -> Slow:
    return slowly(store)


@pytest.mark.parametrize("band", [None, (1500, 1800), (0, 1200)])
def test_every_position_of_a_store(store: Store, explorer: Explorer, known: Slow, band: tuple[int, int] | None) -> None:
    results, white, black = (store.column(name) for name in ("result", "white_rating", "black_rating"))
    means = (white.astype(int) + black) // 2
    assert len(known) > 5000
    for epd, entries in list(known.items())[::23]:
        games = [(game, move) for game, move in entries if band is None or band[0] <= means[game] <= band[1]]
        found = explorer.explore(chess.Board(epd + " 0 1"), band)
        assert found.total.games == len(games)
        wins = Counter(int(results[game]) for game, _ in games)
        assert (found.total.first, found.total.draws, found.total.second) == (wins[1], wins[0], wins[-1])
        assert {each.move: each.scores.games for each in found.moves} == Counter(move for _, move in games if move)
        counts = [each.scores.games for each in found.moves]
        assert counts == sorted(counts, reverse=True)
        best = sorted((int(means[game]) for game, _ in games), reverse=True)[: len(found.games)]
        assert [int(means[game]) for game in found.games] == best
        assert set(found.games) <= {game for game, _ in games}
    if not (start := explorer.explore(chess.Board(), band)).moves:
        assert band == (0, 1200)  # players of such a rating are in no store of this package
        return
    mine = [int(white[game]) for game, move in known[chess.Board().epd()] if move == start.moves[0].move
            and (band is None or band[0] <= means[game] <= band[1])]  # fmt: skip
    assert start.moves[0].scores.rating == pytest.approx(np.mean(mine), abs=0.051)


def test_some_games_of_a_store_alone(store: Store, explorer: Explorer, known: Slow) -> None:
    among = np.arange(len(store)) % 3 == 0
    for epd, entries in list(known.items())[::37]:
        board = chess.Board(epd + " 0 1")
        found = explorer.explore(board, among=among)
        moves = Counter(move for game, move in entries if game % 3 == 0)
        assert found.total.games == sum(moves.values())
        assert {each.move: each.scores.games for each in found.moves} == {m: n for m, n in moves.items() if m}
        assert all(game % 3 == 0 for game in found.games)
        assert np.flatnonzero(explorer.games_with(board)).tolist() == sorted(game for game, _ in entries)
        move = entries[0][1]
        if move:
            here = np.flatnonzero(explorer.games_with(board, move)).tolist()
            assert here == sorted(game for game, played in entries if played == move)
    assert not explorer.games_with(chess.Board("8/8/8/4k3/8/4K3/8/7R w - - 0 1")).any()


def test_a_position_that_nobody_reached(explorer: Explorer) -> None:
    board = chess.Board("8/8/8/4k3/8/4K3/8/7R w - - 0 1")
    found = explorer.explore(board)
    assert (found.total.games, found.total.rating, found.moves, found.games) == (0, None, [], [])
    assert explore(explorer, fen=board.fen())["examples"] == []


def test_the_index_is_kept_and_follows_the_store(tmp_path: Path, bundled_file: Path) -> None:
    path = tmp_path / "a.store"
    store = import_games(path, limit=50)
    told: list[float] = []
    first = open_index(store, told.append)
    assert told == sorted(told)
    assert told[-1] == 1
    again = open_index(Store(path), told.append)
    assert again.folder == first.folder
    assert told[-1] == 1
    assert len(told) == len(set(told)) or told.count(1.0) == 1
    with StoreWriter(path, "chess", COLUMNS, STANDARD_START, PER_MOVE, append=True) as writer:
        for batch in PgnReader([str(bundled_file)], Filter()):
            writer.add(batch, 100)
            break
        grown = writer.commit({})
    assert len(grown) > 50
    explorer = Explorer(grown)
    assert explorer.index.folder != first.folder
    assert not first.folder.exists()
    assert explorer.explore(chess.Board()).total.games == len(grown)


def test_a_store_that_cannot_be_written_has_its_index_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = import_games(tmp_path / "a.store", limit=20)
    (store.path / FOLDER).write_text("in the way")
    monkeypatch.setattr(indexes, "user_cache", lambda: tmp_path / "cache")
    found = open_index(store)
    assert tmp_path / "cache" in found.folder.parents
    assert open_index(store).folder == found.folder
    monkeypatch.setattr(indexes, "user_cache", lambda: store.path / FOLDER / "nowhere")
    assert tmp_path not in open_index(store).folder.parents


def test_work_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    store = import_games(tmp_path / "a.store", limit=20)

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_index(store, stop)
    assert list((store.path / FOLDER).iterdir()) == []
    assert Explorer(store).explore(chess.Board()).total.games == 20


def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    store = import_games(tmp_path / "a.store", limit=20)
    first = open_index(store)
    os.truncate(first.folder / "gamesu4", 4)
    (store.path / FOLDER / "index.json").write_text("{")
    assert Explorer(store).explore(chess.Board()).total.games == 20


@pytest.mark.parametrize("name", ["gamesu4", "resultsi1", "ratingsi2", "bucketsi8"])
def test_an_index_that_is_cut_short_is_made_again(name: str, tmp_path: Path) -> None:
    store = import_games(tmp_path / "a.store", limit=20)
    file = open_index(store).folder / name
    for size in (file.stat().st_size // 16 * 8, 0):
        os.truncate(file, size)
        assert Explorer(store).explore(chess.Board()).total.games == 20
        file = open_index(store).folder / name


def test_numbers_of_games_that_cannot_be(tmp_path: Path) -> None:
    store = import_games(tmp_path / "a.store", limit=20)
    file = open_index(store).folder / "gamesu4"
    file.write_bytes(b"\xff" * file.stat().st_size)
    assert Explorer(store).explore(chess.Board()).total.games == 0


def test_stores_without_ratings_and_with_other_starts(tmp_path: Path, make_store: Callable[..., Store]) -> None:
    text = """[White "A"]
[Black "B"]
[Result "1-0"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]
[SetUp "1"]

1. e4 Kd7 2. e5 Ke6 3. Kd2 Kxe5 4. Kd3 Kd5 5. Kc3 Kc5 1-0

[White "A"]
[Black "B"]
[Result "1/2-1/2"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 1/2-1/2
"""
    (tmp_path / "a.pgn").write_text(text)
    found = explore(
        Explorer(make_store(tmp_path / "a.store", tmp_path / "a.pgn")), fen="4k3/8/8/8/8/8/4P3/4K3 w - - 7 9"
    )
    assert (found["games"], found["white"], found["average_rating"]) == (1, 1, None)
    assert [each["san"] for each in found["moves"]] == ["e4"]
    assert found["examples"][0]["white_rating"] is None


def test_a_record_is_the_game_again(store: Store, explorer: Explorer, tmp_path: Path, make_store: Any) -> None:
    (tmp_path / "a.pgn").write_text(record(store, 3) + "\n\n")
    again = make_store(tmp_path / "b.store", tmp_path / "a.pgn")
    assert again.moves.tolist() == store.moves[store.offsets[3] : store.offsets[4]].tolist()
    for column in ("white", "black", "white_rating", "black_rating", "result", "date", "event", "eco"):
        assert again.row(0)[column] == store.row(3)[column]
    with pytest.raises(IndexError):
        record(store, len(store))
    assert explorer.rows([3])[0]["white"] == store.row(3)["white"]


@pytest.mark.parametrize("code", [0, 7 << 12 | 12 | 28 << 6, 36 | 28 << 6, 65535])
def test_a_damaged_game_is_named_in_a_line(code: int, tmp_path: Path) -> None:
    """An illegal move of a store does not reach python-chess, which raises AssertionError or IndexError."""
    path = tmp_path / "a.store"
    whole = import_games(path, limit=5)
    assert record(whole, 0)
    assert explore(Explorer(whole))["games"] == 5
    moves = np.fromfile(path / "0001" / "moves.u16", "<u2")
    moves[0] = code
    moves.tofile(path / "0001" / "moves.u16")
    (path / FOLDER / "index.json").unlink()
    damaged = Store(path)
    with pytest.raises(KibitzError, match=naming("game 1 & illegal")):
        record(damaged, 0)
    assert record(damaged, 1) == record(whole, 1)
    if code != NO_MOVE:  # this number marks the end of a game
        with pytest.raises(KibitzError, match="illegal"):
            explore(Explorer(damaged))


def test_positions_are_read_in_any_spelling() -> None:
    ways = [["1. e4 e5 2. Nf3"], ["e4", "e5", "Nf3"], ["e2e4", "e7e5", "g1f3"], ["1.e4", "e5", "2.", "Nf3"]]
    assert len({read_chess(way)[-1].fen() for way in ways}) == 1
    assert len(read_chess(ways[0])) == 4
    for moves, fen, words in [
        (["e4", "Ke7"], None, "move 2, Ke7"),
        (["e4", "Z0"], None, "move 2, Z0"),
        (["e4", "0000"], None, "move 2, 0000"),
        (["Nxf3"], None, "move 1, Nxf3, is not a capture"),
        ([], "8/8", "FEN"),
        ([], "8/8/8/8/8/8/8/8 w - - 0 1", "FEN"),
    ]:
        with pytest.raises(UsageError, match=words):
            read_chess(moves, fen)


@pytest.mark.parametrize(
    "fen",
    [
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq c6 bm Nf3; id 7;",
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR_w_KQkq_-_0_2",
        "4k3/8/8/8/8/8/8/4K2R w KQ - 0 1",
    ],
)
def test_a_fen_is_read_as_everywhere(fen: str) -> None:
    """EPD, underscores, and castling rights without a rook."""
    assert read_chess([], fen)[0].fen() == read_fen(fen).fen()
    with pytest.raises(UsageError):
        read_chess([], fen.replace("K", "Q"))


def test_bands() -> None:
    assert read_band("1600-2000", "chess") == (1600, 2000)
    assert read_band("2400-", "chess")[0] == 2400
    assert read_band("-1200", "chess")[1] == 1200
    assert read_band("5k-3d", "go") == (-4, 3)
    assert read_band("0-99999999999", "chess") == (0, 30_000)
    for text in ("", "-", "20", "a-b", "2000-1600", "1_5-1700", "0-9999999999999999999"):
        with pytest.raises(KibitzError):
            read_band(text, "chess")


def test_ratings_beyond_all(explorer: Explorer) -> None:
    everything, known = explorer.explore(chess.Board()), explorer.explore(chess.Board(), (-(10**20), 10**20))
    assert known.total.games == everything.total.games


def test_the_answer_is_json(explorer: Explorer) -> None:
    found = json.loads(json.dumps(explore(explorer, ["e4"], rating=(1000, 2000))))
    assert found["opening"] == {"eco": "B00", "name": "King's Pawn Game"}
    assert found["rating"] == [1000, 2000]
    assert explore(explorer, ["e4"], rating=read_band("1000-", "chess"))["rating"] == [1000, None]
    assert found["games"] == found["white"] + found["draws"] + found["black"] > 0
