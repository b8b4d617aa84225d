"""Networks that need no training: deterministic policies, and material as the value; and a game that repeats itself."""

from __future__ import annotations

import zlib

import chess
import numpy as np

WORTH = np.array([0, 1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0])


class Fake:
    """policy: "square" or "piece" (rows of `target`), or none; value: whether it values the mover's material.

    Its policy is drawn from the position, so that it is always the same there. calls: the sizes of all batches.
    """

    name = "fake"
    of_person = False

    def __init__(self, policy: str | None = "square", value: bool = True, noise: float = 0.0, sharp: float = 1.0):
        self.rows = {None: 0, "square": 64, "piece": 6}[policy]
        self.value, self.noise, self.sharp = value, noise, sharp
        self.outputs = (("origin", "target") if policy else ()) + (("value",) if value else ())
        self.calls: list[int] = []

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        assert codes.shape == (len(codes), 64)
        assert state.shape == (len(codes), 4)
        assert codes.dtype == np.uint8
        self.calls.append(len(codes))
        answers: dict[str, np.ndarray] = {}
        draws = [
            np.random.default_rng(zlib.crc32(c.tobytes() + s[:1].tobytes())) for c, s in zip(codes, state, strict=True)
        ]
        if self.rows:
            origin = np.array([draw.exponential(size=64) for draw in draws]).reshape(-1, 64) ** self.sharp
            target = np.array([draw.exponential(size=(self.rows, 64)) for draw in draws]).reshape(-1, self.rows, 64)
            target **= self.sharp
            answers["origin"] = (origin / origin.sum(1, keepdims=True)).astype(np.float32)
            answers["target"] = (target / target.sum(2, keepdims=True)).astype(np.float32)
        if self.value:
            material = WORTH[codes].sum(1) * np.where(state[:, 0] == 0, 1, -1)
            noise = np.array([draw.normal() for draw in draws]) * self.noise
            answers["value"] = np.tanh(material / 10 + noise).astype(np.float32)
        return answers


def before_a_repetition(rounds: int) -> tuple[chess.Board, chess.Move]:
    """A game in which White is a queen down, and Black's move to a position that came so many times."""
    board = chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1")
    for move in (["g1f3", "g8f6", "f3g1", "f6g8"] * rounds)[:-1]:
        board.push_uci(move)
    return board, chess.Move.from_uci("f6g8")
