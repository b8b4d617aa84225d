"""A GTP engine as a predictor of moves."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

import numpy as np

from kibitz.evaluation.predictors.predictions import MovePrediction, MoveRefused
from kibitz.external import EngineDied
from kibitz.external.gtp import CommandRefused, GtpProgram
from kibitz.games.go.points import BLACK, GRID, PASS, POINTS, WHITE, from_gtp, to_gtp
from kibitz.store.store import Store

RAW_NETWORK = "kata-raw-nn"
"""The GTP command by which KataGo and `kibitz gtp` print the probability of a move on each point."""
FIRST_ANSWER_SECONDS = 120.0
"""The time limit, in seconds, for an engine's first command, because the engine may have to load a network."""
COMMAND_SECONDS = 20.0
COLORS = {BLACK: "black", WHITE: "white"}


class GtpPredictor:
    """A running GTP engine that predicts the next move of a game.

    command: the program and its arguments.
    limit: the number of seconds after which a prediction counts as failed.

    If the engine supports `kata-raw-nn`, the prediction is a probability for each point. Otherwise, it is the move that
    the engine would play.
    """

    def __init__(self, command: Sequence[str], limit: float):
        self._program = GtpProgram(command)
        self._limit = limit
        try:
            self.name = self._program.request("name", FIRST_ANSWER_SECONDS) or self._program.name
            self.prints_probabilities = self._knows(RAW_NETWORK)
            self._without_playing = self._knows("reg_genmove")
        except CommandRefused as error:
            self._program.kill()
            raise EngineDied(f"{self._program.name} refused the first command ({error})", "died") from None
        except EngineDied:
            self._program.kill()
            raise

    def _knows(self, command: str) -> bool:
        return self._program.request(f"known_command {command}", COMMAND_SECONDS).strip().lower() == "true"

    def begin(self, store: Store, game: int) -> None:
        """Set up the board size, the komi and the start position of a game. game: the game's index in the store."""
        start = store.starts[store.start_of[game]].astype(np.int64)
        self._first, self._size, self._ply = int(start[POINTS]), int(start[POINTS + 1]), 0
        self._moves = store.moves[store.offsets[game] : store.offsets[game + 1]].astype(np.int64)
        komi = float(store.column("komi")[game])
        self._send(f"boardsize {self._size}", "clear_board", f"komi {komi if math.isfinite(komi) else 0:g}")
        for point in np.flatnonzero((start[:POINTS] == BLACK) | (start[:POINTS] == WHITE)).tolist():
            self._send(f"play {COLORS[int(start[point])]} {to_gtp(point, self._size)}")

    def _send(self, *commands: str) -> None:
        for command in commands:
            try:
                self._program.request(command, COMMAND_SECONDS)
            except CommandRefused as error:
                self._program.kill()
                raise EngineDied(f"{self.name} refused {command!r} ({error})", "died") from None

    def advance(self, ply: int) -> None:
        """Send the game's moves to the engine until `ply` moves have been played. Raises MoveRefused if the engine
        rejects a move.
        """
        for at in range(self._ply, ply):
            move = f"play {self._color(at)} {to_gtp(int(self._moves[at]), self._size)}"
            try:
                self._program.request(move, COMMAND_SECONDS)
            except CommandRefused as error:
                raise MoveRefused(f"{self.name} refused {move!r} ({error})") from None
        self._ply = ply

    def _color(self, ply: int) -> str:
        return ("black", "white")[(self._first + ply) % 2]

    def predict(self) -> MovePrediction:
        """Return the engine's prediction of the next move. Raises EngineDied if the engine fails."""
        try:
            if self.prints_probabilities:
                return read_network(self._program.request(f"{RAW_NETWORK} 0", self._limit), self._size)
            color = self._color(self._ply)
            if self._without_playing:
                return _chosen(self._program.request(f"reg_genmove {color}", self._limit), self._size)
            prediction = _chosen(self._program.request(f"genmove {color}", self._limit), self._size)
            if prediction.ranked:
                self._send("undo")
            return prediction
        except CommandRefused as error:
            self._program.kill()
            raise EngineDied(f"{self.name} played no move ({error})", "died") from None

    def __enter__(self) -> GtpPredictor:
        return self

    def __exit__(self, *error: object) -> None:
        self._program.kill()


def _chosen(text: str, size: int) -> MovePrediction:
    """Parse the move that an engine chose. Returns it as the only predicted move; an empty prediction if the engine
    resigns.
    """
    with contextlib.suppress(ValueError):
        return MovePrediction([from_gtp(text.split()[0] if text.split() else "", size)], {})
    return MovePrediction([], {})


def read_network(text: str, size: int) -> MovePrediction:
    """Parse the reply to the command `kata-raw-nn`, which contains a probability for each point and for a pass. Raises
    EngineDied if the reply has no table of probabilities.

    text: the reply. The table is after the word policy, with "NAN" at illegal points. The probability of a pass is
    after policyPass. size: the board's size.
    """
    words = text.split()
    try:
        first = words.index("policy") + 1
        table = [float(word) for word in words[first : first + size * size]]
        passes = float(words[words.index("policyPass") + 1])
    except (ValueError, IndexError):
        raise EngineDied(f"the reply to {RAW_NETWORK} has no table of probabilities", "died") from None
    points = {(at // size) * GRID + at % size: value for at, value in enumerate(table)} | {PASS: passes}
    known = {point: value for point, value in points.items() if math.isfinite(value)}
    digits = max((len(word.partition(".")[2]) for word in words[first : first + size * size]), default=0)
    return MovePrediction(sorted(known, key=lambda point: -known[point]), known, 0.5 * 10.0**-digits)
