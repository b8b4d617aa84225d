"""A UCI engine as a predictor of moves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import chess
import chess.engine
import numpy as np

from kibitz.errors import UsageError
from kibitz.evaluation.predictors.predictions import LINES, MovePrediction
from kibitz.external.uci import SEARCH_OPTIONS, ExternalEngine, OptionRefused, SearchReport
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import decode_board
from kibitz.store.store import Store

MOVE_STATISTICS = "VerboseMoveStats"
"""The option of Leela Chess Zero (lc0) that prints each move with its probability."""
_STATISTICS = re.compile(
    r"\A(?P<move>[a-h][1-8][a-h][1-8][qrbnQRBN]?)\s.*\(P:\s*(?P<percent>\d+(?:\.(?P<digits>\d+))?)%\)"
)
"""The format of a line such as `e2e4 (322 ) N: 0 (+ 0) (P: 12.34%) …`."""


class UciPredictor:
    """A running UCI engine that predicts the next move of a game. Its hash table is cleared before each position.

    command: the program and its arguments.
    options: the UCI options to set, as a dict from names to values.
    nodes: the number of nodes of each search.
    limit: the number of seconds after which a search counts as failed.
    """

    def __init__(self, command: Sequence[str], options: Mapping[str, str | int], nodes: int, limit: float):
        self._engine = ExternalEngine(command)
        self._nodes, self._limit = nodes, limit
        self.name = self._engine.name
        self._engine.set_options({**SEARCH_OPTIONS, MOVE_STATISTICS: "true"}, known_only=True)
        try:
            self._engine.set_options(options)
        except OptionRefused as error:
            self._engine.kill()
            raise UsageError(
                f"{self.name} refuses an --engine-option ({error}). Check the name and the value."
            ) from None
        self.prints_probabilities = self._engine.has_option(MOVE_STATISTICS)
        most = self._engine.range_of("MultiPV")
        self._lines = 1 if self.prints_probabilities or most is None else min(LINES, most[1])
        self._board, self._moves = chess.Board(), np.empty(0, np.uint16)

    def begin(self, store: Store, game: int) -> None:
        """Set up the start position of a game. game: the game's index in the store."""
        codes, state = store.replay(np.array([game]), np.array([0]))
        self._board = decode_board(codes[0], state[0])
        self._moves = store.moves[store.offsets[game] : store.offsets[game + 1]]
        self._ply = 0

    def advance(self, ply: int) -> None:
        """Play the next moves of the game on the internal board, until `ply` moves of the game have been played."""
        for code in self._moves[self._ply : ply].tolist():
            self._board.push(to_move(code))
        self._ply = ply

    def predict(self) -> MovePrediction:
        """Return the engine's prediction of the next move. Raises EngineDied if the engine fails."""
        report = self._engine.search(self._board, chess.engine.Limit(nodes=self._nodes), self._lines, self._limit)
        return read_report(self._board, report)

    def __enter__(self) -> UciPredictor:
        return self

    def __exit__(self, *error: object) -> None:
        self._engine.kill()


def read_report(board: chess.Board, report: SearchReport) -> MovePrediction:
    """Return the prediction that the output of a search contains: the printed probabilities of moves or, if there are
    none, the ranked list of moves.

    board: the position. report: the output.
    """
    probabilities: dict[int, float] = {}
    least = 0.0
    for text in report.strings:
        if match := _STATISTICS.match(text):
            try:
                move = board.parse_uci(match["move"].lower())
            except ValueError:
                continue
            probabilities[from_move(move)] = float(match["percent"]) / 100
            least = 0.5 * 10.0 ** (-2 - len(match["digits"] or ""))
    if probabilities:
        return MovePrediction(sorted(probabilities, key=lambda move: -probabilities[move]), probabilities, least)
    ranked = [from_move(move) for move in report.moves]
    if not ranked and report.best is not None:
        ranked = [from_move(report.best)]
    return MovePrediction(list(dict.fromkeys(ranked)), {})
