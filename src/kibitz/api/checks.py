"""Checks of numbers from callers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kibitz.errors import UsageError


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise UsageError unless the value is an integer (of Python or NumPy) from least to most."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise UsageError(f"{name} must be a whole number (got {value!r})")
    if value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name} must be {limits} (got {value})")


def check_number(name: str, value: Any, above: float | None = None, least: float | None = None) -> None:
    """Raise UsageError unless the value is a finite number above `above`, and at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise UsageError(f"{name} must be a number (got {value!r})")
    if not math.isfinite(value):
        raise UsageError(f"{name} must be a finite number (got {value})")
    if above is not None and not value > above:
        raise UsageError(f"{name} must be greater than {above:g} (got {value:g})")
    if least is not None and value < least:
        raise UsageError(f"{name} must be at least {least:g} (got {value:g})")
