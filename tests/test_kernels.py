"""What makes the compiling of kernels short, and what is said about it."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core import event

from kibitz import kernels


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


@pytest.mark.parametrize(("patience", "times"), [(0.0, 1), (600.0, 0)])
def test_long_compiling_is_told_once(monkeypatch: pytest.MonkeyPatch, patience: float, times: int) -> None:
    told: list[bool] = []
    monkeypatch.setattr(kernels, "PATIENCE", patience)
    with event.install_listener("numba:compile", kernels.CompileListener([lambda: told.append(True)])):
        for constant in (1, 2):
            assert numba.njit(lambda x, constant=constant: x + constant)(3) == 3 + constant
    assert len(told) == times
