"""Games of a store of Go are found by names, ranks, results and years; those of chess: tests/web/test_stores.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kibitz.explorer.answers import Explorer, read_band
from kibitz.explorer.search import GameSearch, Wanted
from kibitz.games.go.filters import Filter
from kibitz.games.go.io.ingest import COLUMNS, PER_GAME, PER_MOVE, SgfReader
from kibitz.games.go.replay import STANDARD_START
from kibitz.store.writer import StoreWriter

GAMES = (
    ("Ann", "3k", "Bo", "1k", "B+R", "2001-02-03", "Cup"),
    ("Bo", "2d", "Cho", "9d", "W+5.5", "2010-01-01", "League"),
    ("Cho", "1p", "Ann", "", "B+0.5", "", "Cup"),
    ("Émile", "", "Dee", "", "W+R", "1999-12-31", "İstanbul ΑΘΗΝΑΣ"),
)
"""Black and rank, White and rank, result, date, event."""


def searched(folder: Path, games: Sequence[tuple[str, ...]]) -> GameSearch:
    moves = ";B[dd];W[pp];B[dp];W[pd]"
    (folder / "games.sgf").write_text("\n".join(
        f"(;GM[1]FF[4]CA[UTF-8]SZ[19]KM[6.5]PB[{black}]BR[{high}]PW[{white}]WR[{low}]RE[{result}]DT[{date}]EV[{event}]"
        f"{moves};B[{'abcd'[i]}a];W[ss])"
        for i, (black, high, white, low, result, date, event) in enumerate(games)
    ))  # fmt: skip
    with StoreWriter(folder / "a.store", "go", COLUMNS, STANDARD_START, PER_MOVE, per_game=PER_GAME) as writer:
        for batch in SgfReader([str(folder / "games.sgf")], Filter()):
            writer.add(batch)
        store = writer.commit({})
    assert store.column("black").tolist() == [game[0] for game in games]
    return GameSearch(store, Explorer(store).index.ratings)


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> GameSearch:
    return searched(tmp_path_factory.mktemp("search"), GAMES)


def test_what_the_games_have(search: GameSearch) -> None:
    assert search.has_ratings
    assert search.has_dates


@pytest.mark.parametrize(
    ("rank", "date", "has"), [("", "", (False, False)), ("3k", "", (True, False)), ("", "1970", (False, True))]
)
def test_a_rank_or_a_date_of_one_game_is_enough(rank: str, date: str, has: tuple[bool, bool], tmp_path: Path) -> None:
    unknown = ("Ann", "", "Bo", "", "B+R", "", "Cup")
    search = searched(tmp_path, [unknown, ("Bo", "", "Cho", rank, "B+R", date, "Cup")])
    assert (search.has_ratings, search.has_dates) == has


@pytest.mark.parametrize(
    ("wanted", "games"),
    [
        (Wanted(), [1, 0, 3, 2]),  # the newest first, that without a date last
        (Wanted(("ann",)), [0, 2]),
        (Wanted(("ANN", "cup", "2001-02")), [0]),
        (Wanted(("émile",)), [3]),
        (Wanted(("İstanbul",)), [3]),
        (Wanted(("ΑΘΗΝΑΣ", "dee")), [3]),
        (Wanted(("ann", "league")), []),
        (Wanted(result=-1), [1, 3]),
        (Wanted(rating=read_band("5k-1k", "go")), [0]),
        (Wanted(rating=read_band("5d-", "go")), [1, 2]),  # means; of one rank that one
        (Wanted(first_year=1999, last_year=2001), [0, 3]),
        (Wanted(last_year=2005), [0, 3]),  # without a date in no year
        (Wanted(first_year=2002), [1]),
        (Wanted(("cho",), result=1, rating=read_band("1p-9p", "go")), [2]),
    ],
)
def test_what_is_found(search: GameSearch, wanted: Wanted, games: list[int]) -> None:
    assert search.find(wanted).tolist() == games
