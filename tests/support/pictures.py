"""Pictures of the page, compared coarsely: another machine's fonts pass, a panel that is missing or has moved does not.

A picture is kept at a quarter of its size. Two things are compared, in windows of 160 x 160 and of 320 x 60 pixels of
the page: the mean colour, and how much is drawn there (the share of pixels with an edge). Letters of another font have
other shapes, but about as many edges in about the same places, a line higher or lower where other words are broken;
where a panel was, and is not, there are none.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image

SCALE = 4
"""A picture is so many times smaller than the page."""
BLOCK = 5
"""Pixels of a picture on each side of a block; a window begins at every block."""
WINDOWS = ((8, 8), (3, 16))
"""Blocks that a window is high and wide: of a panel, and of a row of buttons."""
EDGE = 20
"""A difference of neighbouring pixels, of 255, from which on it is an edge."""
LEAST = 0.1
"""Where less is drawn than this share, it counts as so much: a line that is gone is no panel that is gone."""
CHANGED = 0.7
"""So much more, or less, may be drawn in a window, as a share of the larger."""
COLOUR = 20
"""So much may the mean colour of a panel's window differ, of 255."""

Picture = NDArray[np.uint8]


def small(png: bytes) -> Picture:
    """A screenshot at a quarter of its size, uint8 [height, width, 3]."""
    whole = Image.open(io.BytesIO(png)).convert("RGB")
    size = (whole.width // SCALE, whole.height // SCALE)
    return np.asarray(whole.resize(size, Image.Resampling.BOX))


def save(picture: Picture, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path, lossless=True, method=6)


def load(path: Path) -> Picture:
    return np.asarray(Image.open(path).convert("RGB"))


def _windows(values: NDArray[np.float64], window: tuple[int, int]) -> NDArray[np.float64]:
    """Means over windows: float64 [height, width, …] of pixels to [rows, columns, …] of windows."""
    rows, columns = values.shape[0] // BLOCK, values.shape[1] // BLOCK
    whole = values[: rows * BLOCK, : columns * BLOCK]
    blocks = whole.reshape(rows, BLOCK, columns, BLOCK, *values.shape[2:]).mean((1, 3))
    high, wide = min(window[0], rows), min(window[1], columns)
    return sliding_window_view(blocks, (high, wide), (0, 1)).mean((-2, -1))


def _edges(picture: Picture) -> NDArray[np.float64]:
    """1 where a pixel has an edge, else 0: float64 [height, width]."""
    grey = picture.astype(np.float64).mean(2)
    steps = np.zeros_like(grey)
    steps[:, 1:] = np.abs(np.diff(grey, axis=1))
    steps[1:] = np.maximum(steps[1:], np.abs(np.diff(grey, axis=0)))
    return (steps > EDGE).astype(np.float64)


def _gap(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each value lies from the others at its place and one block above and below it."""
    padded = np.pad(others, ((1, 1), (0, 0)), "edge")
    near = np.stack([padded[:-2], others, padded[2:]])
    return np.maximum(values - near.max(0), near.min(0) - values).clip(0)


def differences(picture: Picture, reference: Picture) -> list[str]:
    """What differs, in words, with the place on the page; nothing if the pictures are alike."""
    if picture.shape != reference.shape:
        return [
            f"the picture is {picture.shape[1]} x {picture.shape[0]}, not {reference.shape[1]} x {reference.shape[0]}"
        ]
    compared = []
    for window in WINDOWS:
        now, before = _windows(_edges(picture), window), _windows(_edges(reference), window)
        gap = np.maximum(_gap(before, now), _gap(now, before))
        compared.append(("drawn", gap / np.maximum(np.maximum(now, before), LEAST), CHANGED))
    now, before = (_windows(each.astype(np.float64), WINDOWS[0]) for each in (picture, reference))
    compared.append(("colour", np.abs(now - before).max(2), COLOUR))
    found = []
    for what, values, limit in compared:
        row, column = np.unravel_index(np.argmax(values), values.shape)
        if values[row, column] > limit:
            x, y = column * BLOCK * SCALE, row * BLOCK * SCALE
            found.append(f"{what}: {values[row, column]:.2f} (at most {limit}) at {x}, {y} of the page")
    return found
