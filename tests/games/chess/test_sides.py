"""Ratings, scales and speeds as small numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kibitz.games.chess import sides
from kibitz.store.store import Store

GAME = '[Event "{}"]\n[Site "{}"]\n[White "a{}"]\n[Black "b"]\n[Result "1-0"]\n[TimeControl "{}"]\n\n1. {} e5 1-0\n\n'


@pytest.mark.parametrize(
    ("site", "scale"),
    [
        ("https://lichess.org/DWpef5hg", "lichess"), ("lichess.org", "lichess"), ("lichess.org INT", "fide"),
        ("Chess.com", "chess.com"), ("https://www.chess.com/game/daily/1", "chess.com"), ("chess.com INT", "fide"),
        ("FICS freechess.org", "fics"), ("Wijk aan Zee NED", "fide"), ("?", ""), ("", ""), ("??.", ""),
        ("https://example.org/game", ""),
    ],
)  # fmt: skip
def test_whose_ratings_a_site_has(site: str, scale: str) -> None:
    assert sides.scale_of(site) == scale
    assert scale in sides.SCALES


def test_the_games_of_a_store(make_store: Callable[..., Store], tmp_path: Path) -> None:
    told = [
        ("Rated game", "https://lichess.org/a", "60+0"), ("World Blitz", "Moscow RUS", "-"), ("Open", "?", "-"),
        ("Rated game", "https://lichess.org/b", "600+5"), ("x", "FICS freechess.org", "1/86400"),
    ]  # fmt: skip
    (tmp_path / "g.pgn").write_text(
        "".join(GAME.format(e, s, i, t, f"{'abcde'[i]}4") for i, (e, s, t) in enumerate(told))
    )
    store = make_store(tmp_path / "s.store", tmp_path / "g.pgn")
    assert [sides.SPEEDS[i] for i in sides.speed_codes(store)] == ["bullet", "blitz", "", "rapid", "correspondence"]
    assert [sides.SCALES[i] for i in sides.scale_codes(store)] == ["lichess", "fide", "", "lichess", "fics"]


def test_ratings_fit_a_byte() -> None:
    assert sides.rating_bytes(np.array([0, 15, 16, 1500, 4080, 9999])).tolist() == [0, 0, 1, 93, 255, 255]
