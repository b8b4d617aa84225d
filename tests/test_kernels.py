"""What makes the compiling of kernels short, and what is said about it."""

from __future__ import annotations

import gc
import io
import re

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import event

from kibitz import kernels, preparation
from kibitz.games.chess.io import plain, scan
from kibitz.games.go.io import scan as sgf_scan


@numba.njit
def _use(rows, key, keys):  # type: ignore[no-untyped-def]
    kernels.fill(rows[1], rows[0])
    return kernels.is_among(key, keys)


def test_rows_are_filled_and_keys_found() -> None:
    rows = np.arange(6).reshape(2, 3)
    assert _use(rows, np.uint64(7), np.array([3, 7], np.uint64))
    assert rows.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert not _use(rows, np.uint64(8), np.array([3, 7], np.uint64))
    assert not _use(rows, np.uint64(8), np.empty(0, np.uint64))


TEXTS = (
    b'[Event "A"]\n\n1. e4 {a comment [%clk 0:01:02]} e5 $1 2. Nf3 (2. f4) Nc6 1-0\n\n[Event "B"]\n1. d4 *',
    b'[White "x]\n[Black "y"]\n1. e4 e5 {open [Event "C"]\n[Site "?"]\n\n1. c4 1/2-1/2\n1. e4\n',
    "\r\n% other\n[Name \u201cx\u201d]\n1-0\n1.e4 e5 0\u20131\nFoo".encode(),
    b"",
)


@given(
    st.sampled_from(TEXTS), st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=3)), max_size=5), st.booleans()
)
def test_python_reads_games_as_the_compiled_kernels_do(
    text: bytes, edits: list[tuple[int, bytes]], whole: bool
) -> None:
    for at, new in edits:
        text = text[:at] + new + text[at + len(new) :]
    found = []
    for budget in (-1, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            for kernel in (scan._scan, plain._classify):
                patch.setattr(kernel, "budget", budget)
                patch.setattr(kernel, "_used", 0)
            begins, bodies = scan.scan(text, whole)
            ends = np.append(begins[1:], len(text))[: len(begins)]
            flags, spans = plain.classify(np.frombuffer(text, np.uint8), begins, bodies, ends, False)
        found.append([array.tolist() for array in (begins, bodies, flags, spans)])
    assert found[0] == found[1]


@given(st.lists(st.tuples(st.integers(0, 90), st.binary(max_size=3)), max_size=5), st.integers(0, 2))
def test_python_reads_sgf_as_the_compiled_kernels_do(edits: list[tuple[int, bytes]], kind: int) -> None:
    text = b"(;GM[1]SZ[9]AB[aa:bb]KM[6.5];B[cc];W[dd]C[a (;GM\\] b](;B[ee])(;W[]))\n(;SZ[19]HA[2]PL[W];W[tt];B[qq])"
    for at, new in edits:
        text = text[:at] + new + text[at + len(new) :]
    found = []
    for budget in (-1, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            for kernel in (sgf_scan._find, sgf_scan._main_lines):
                patch.setattr(kernel, "budget", budget)
                patch.setattr(kernel, "_used", 0)
            doubles = sgf_scan.Doubles(np.array([0, 40, 80]), np.array([kind, 0, 2 - kind], np.uint8))
            begins, ends, closed = sgf_scan.find_games(text, doubles)
            lines = sgf_scan.main_lines(text, begins, ends, doubles.of(begins))
        found.append([np.asarray(array).tolist() for array in (begins, ends, closed, *lines)])
    assert found[0] == found[1]


def test_little_work_is_not_compiled_for_and_much_is() -> None:
    @kernels.small_first(4)
    def total(values):  # type: ignore[no-untyped-def]
        sum_ = 0
        for i in range(values.shape[0]):
            sum_ += values[i]
        return sum_

    ones = np.ones(2, np.int64)
    assert (total(ones), total(ones), len(total.compiled.signatures)) == (2, 2, 0)
    assert (total(ones), len(total.compiled.signatures)) == (2, 1)


@pytest.mark.parametrize("patience", [0.0, 600.0])
def test_long_compiling_is_reported(monkeypatch: pytest.MonkeyPatch, patience: float) -> None:
    told: list[preparation.Preparation] = []
    monkeypatch.setattr(kernels, "PATIENCE", patience)
    monkeypatch.setattr(preparation, "expected", lambda: 3)
    listener = kernels.CompileListener([told.append])
    listener.on_loaded()
    with event.install_listener("numba:compile", listener):
        for constant in (1, 2):
            assert numba.njit(lambda x, constant=constant: x + constant)(3) == 3 + constant
    assert [each[:3] for each in told] == (
        [] if patience else [(1, 3, True), (2, 3, False), (2, 3, True), (3, 3, False)]
    )
    # The first kernel gives the time of the others.
    assert [each.left is None for each in told] == ([] if patience else [True, False, False, True])
    assert gc.isenabled()


def test_a_line_shows_the_work_on_a_terminal_and_then_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(screen, "isatty", lambda: True)
    line = preparation.PreparationLine()
    line(preparation.Preparation(6, 14, True, 20))
    shown = screen.getvalue().strip("\r")
    assert shown.endswith("6 of 14, about 20 s left")
    line(preparation.Preparation(7, 14, False))
    assert re.fullmatch(r"\r +\r", screen.getvalue()[-len("\r\r") - len(shown) :])
    assert "\n" not in screen.getvalue()


def test_elsewhere_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    line = preparation.PreparationLine()
    for done in (6, 7, 8):
        line(preparation.Preparation(done, 0, True))
    assert file.getvalue().count("\n") == 1
