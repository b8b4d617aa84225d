"""Ratings, scales and speeds as small numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import pytest

from kibitz.games.chess import sides
from kibitz.games.chess.moves import from_move
from kibitz.play.side_inputs import last_moves
from kibitz.store.store import Store

GAME = '[Event "{}"]\n[Site "{}"]\n[White "a{}"]\n[Black "b"]\n[Result "1-0"]\n[TimeControl "{}"]\n\n1. {} e5 1-0\n\n'


@pytest.mark.parametrize(
    ("site", "scale"),
    [
        ("https://lichess.org/DWpef5hg", "lichess"), ("lichess.org", "lichess"), ("lichess.org INT", "fide"),
        ("Chess.com", "chess.com"), ("https://www.chess.com/game/daily/1", "chess.com"), ("chess.com INT", "fide"),
        ("FICS freechess.org", "fics"), ("Wijk aan Zee NED", "fide"), ("?", ""), ("", ""), ("??.", ""),
        ("https://example.org/game", ""), ("lichess.org/DWpef5hg", "lichess"), ("www.chess.com/game/1", "chess.com"),
        ("https://www.365chess.com/game.php?gid=1", ""), ("playchess.com", ""), ("en.lichess.org/abc", "lichess"),
        ("https://www.playchess.com/a", ""), ("https://lichess.org/broadcast/a/b/c", "fide"), ("Lagos/Nigeria", "fide"),
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


def test_side_inputs_of_games_are_those_of_boards() -> None:
    """Of all positions of two games that lie one after the other: the moves of one are not the last of the other."""
    rows, told, moves = [], [], []
    for line in ("e4 e5 Nf3 Nc6", "d4 d5 c4"):
        board = chess.Board()
        for ply, san in enumerate([*line.split(), ""]):
            rows.append(sides.BEYOND | {"rating": 93, "opponent_rating": 100, "speed": 2} | last_moves(board))
            told.append((len(moves), ply))
            if san:
                moves.append(from_move(board.push_san(san)))
    at, plies = np.array(told, np.int64).T
    count = len(rows)
    speeds, scales = np.full(count, 2, np.uint8), np.zeros(count, np.uint8)
    found = sides.side_inputs(
        np.full(count, 1500), np.full(count, 1600), speeds, scales, np.array(moves, np.uint16), at, plies
    )
    assert found.tolist() == [list(row.values()) for row in rows]
    assert not any(sides.BEYOND.values()), "nothing is known where nobody says"
