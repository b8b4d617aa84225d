"""The games of Go that come with kibitz: whole, legal, and ended by two passes with the score that is written."""

from __future__ import annotations

import importlib.resources
import re
from collections import Counter

import numpy as np
import pytest
import zstandard
from sgfmill import sgf

from kibitz.games.batch import GameBatch
from kibitz.games.go.endings.scoring import Referee
from kibitz.games.go.filters import Filter
from kibitz.games.go.game import Reader
from kibitz.games.go.points import BLACK, PASS, WHITE, to_sgf
from kibitz.games.go.rules import Board
from support.helpers import program

COLOURS = {"b": BLACK, "w": WHITE}


@pytest.fixture(scope="module")
def file():
    return importlib.resources.files("kibitz") / "data" / "games.sgfl.zst"


@pytest.fixture(scope="module")
def lines(file):
    return zstandard.ZstdDecompressor().decompress(file.read_bytes(), max_output_size=1 << 24).decode().splitlines()


@pytest.fixture(scope="module")
def batch(file, lines) -> GameBatch:
    """All games, as the import reads them."""
    batches = list(Reader([str(file)], Filter(ending="counted")))
    assert sum(len(batch) for batch in batches) == len(lines)
    return max(batches, key=len)


def sgf_point(vertex: tuple[int, int] | None, size: int) -> int:
    """sgfmill counts rows from below."""
    return PASS if vertex is None else (size - 1 - vertex[0]) * 19 + vertex[1]


def test_there_are_games_of_every_kind(lines):
    sizes = Counter(int(re.search(r"SZ\[(\d+)\]", line)[1]) for line in lines)
    assert set(sizes) == {9, 13, 19}
    assert sizes[19] >= 50
    assert sizes[13] >= 70
    assert sizes[9] >= 140
    for mark in ("RU[Japanese]", "RU[Chinese]", "]HA[", "]AW["):
        assert sum(mark in line for line in lines) >= 5, mark
    assert len(set(lines)) == len(lines)


def test_every_game_is_legal_and_ends_with_two_passes(lines):
    for line in lines:
        game = sgf.Sgf_game.from_string(line)
        root, size = game.get_root(), game.get_size()
        assert root.get("EV") == "kibitz bundled games"
        assert re.fullmatch(r"GNU Go 3\.8 level -?\d+", root.get("PB"))
        assert re.fullmatch(r"[BW]\+\d+\.5", root.get("RE"))
        board = Board(size)
        black, white, empty = root.get_setup_stones()
        assert not empty
        for colour, stones in ((BLACK, black), (WHITE, white)):
            for vertex in stones:
                board.put(colour, sgf_point(vertex, size))
        moves = [node.get_move() for node in game.get_main_sequence()[1:]]
        assert game.get_handicap() is None or game.get_handicap() == len(black) == len(black | white)
        assert moves[0][0] == (root.get("PL") if root.has_property("PL") else "b")
        for (colour, vertex), (following, _) in zip(moves, [*moves[1:], (None, None)], strict=True):
            assert colour != following
            board.play(COLOURS[colour], sgf_point(vertex, size))  # raises where it is illegal
        assert board.passes >= 2
        assert 10 < board.ply < 2 * size * size


def test_the_main_line_is_written_as_sgf_points(lines):
    first = re.findall(r";[BW]\[(..)?\]", lines[0])
    game = sgf.Sgf_game.from_string(lines[0])
    moves = [node.get_move() for node in game.get_main_sequence()[1:]]
    assert first == [to_sgf(sgf_point(vertex, game.get_size())) for _, vertex in moves]


def test_the_results_are_what_random_playouts_count(batch):
    with Referee("playouts", workers=1) as referee:
        told = referee.label(batch)
    assert len(told) >= 0.7 * len(batch)
    assert set(told.table["labels"].to_pylist()) == {"playouts"}


def test_the_results_are_what_gnu_go_counts(batch):
    few = batch.take(np.arange(len(batch)) < 30)
    with Referee("gnugo", program("gnugo"), workers=1) as referee:
        assert len(referee.label(few)) >= 0.9 * len(few)
