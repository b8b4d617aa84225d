"""Opening books in Polyglot's format, written by the tests that read them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import chess
import chess.polyglot


def write_book(path: Path, moves: Mapping[str, Mapping[str, int]]) -> Path:
    """A book of the positions after some moves ("e2e4 e7e5", "" at the start), with the weight of each move there."""
    entries = []
    for line, weights in moves.items():
        board = chess.Board()
        for move in line.split():
            board.push_uci(move)
        for text, weight in weights.items():
            move = chess.Move.from_uci(text)
            packed = move.to_square | move.from_square << 6 | ((move.promotion or 1) - 1) << 12
            entries.append((chess.polyglot.zobrist_hash(board), packed, weight))
    path.write_bytes(b"".join(struct.pack(">QHHI", *entry, 0) for entry in sorted(entries)))
    return path
