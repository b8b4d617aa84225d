"""Comparers that need no training: a linear function of the bits, whose order is transitive, and drawn networks."""

from __future__ import annotations

import random
from dataclasses import asdict
from pathlib import Path

import chess
import numpy as np

from kibitz.games.chess.replay import encode_board
from kibitz.play.comparison.embedding import BIAS, PositionComparer, pack

WORTH = np.array([1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0])
OFFSET = 1 << 16
"""Keeps every value above 0, where ReLU leaves it as it is; whole numbers below 2^24 are exact in float32."""


def scalar(weights: np.ndarray) -> PositionComparer:
    """Compares positions by the sum of whole weights [773] of their bits; exactly."""
    arrays = {
        "pos2vec.first.weight": weights.reshape(BIAS, 1),
        "pos2vec.first.bias": [OFFSET],
        "compare.as_first.weight": [[1], [-1]],
        "compare.as_first.bias": [0, 0],
        "compare.as_second.weight": [[-1], [1]],
        "compare.answer.weight": [[1, 0], [0, 1]],
        "compare.answer.bias": [0, 0],
    }
    start = np.tile(encode_board(chess.Board()), (4, 1))
    return PositionComparer(pack({name: np.array(array, np.float32) for name, array in arrays.items()}), start)


def material_weights() -> np.ndarray:
    weights = np.zeros(BIAS)
    weights[:768] = np.repeat(100 * WORTH, 64)
    return weights


def material() -> PositionComparer:
    return scalar(material_weights())


def drawn_weights(seed: int) -> np.ndarray:
    """Material and whatever else: most positions differ, some do not."""
    weights = np.random.default_rng(seed).integers(-40, 41, BIAS).astype(float)
    weights[:768] += np.repeat(100 * WORTH, 64)
    return weights


def drawn_network(seed: int, antisymmetric: bool = False) -> PositionComparer:
    """A network of small odd sizes with random weights: not transitive."""
    draw = np.random.default_rng(seed)

    def layer(outputs: int, inputs: int) -> np.ndarray:
        return (draw.normal(size=(outputs, inputs)) * (2 / inputs) ** 0.5).astype(np.float32)

    arrays = {
        "pos2vec.first.weight": layer(BIAS, 21) * 8,
        "pos2vec.first.bias": layer(1, 21)[0],
        "pos2vec.rest.0.weight": layer(18, 21),
        "pos2vec.rest.0.bias": layer(1, 18)[0],
        "compare.as_first.weight": layer(17, 18),
        "compare.as_first.bias": layer(1, 17)[0],
        "compare.as_second.weight": layer(17, 18),
        "compare.rest.0.weight": layer(9, 17),
        "compare.rest.0.bias": layer(1, 9)[0],
        "compare.answer.weight": layer(2, 9),
        "compare.answer.bias": layer(1, 2)[0],
    }
    start = np.tile(encode_board(chess.Board()), (4, 1))
    return PositionComparer(pack(arrays, antisymmetric), start)


def random_board(draw: random.Random, plies: int) -> chess.Board:
    """A board after `plies` random moves, or fewer if the game ends."""
    board = chess.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(draw.choice(moves))
    return board


def write_run(path: Path, networks: str = "both", seed: int = 0, **settings: object) -> Path:
    """A run of deepchess whose networks are small and drawn, not trained; its reference positions are random ones.

    networks: both, full, or distilled, which only packaged networks are."""
    import torch
    from safetensors.torch import save_file

    from kibitz.runs import FORMAT, INFO, WEIGHTS, write_json
    from kibitz.systems.deepchess import N_REFERENCES, DeepChess, Settings

    small = {
        "pos2vec": "40.21.18", "compare": "17.20.9", "small_pos2vec": "21.18.18", "small_compare": "17.9",
    } | settings  # fmt: skip
    chosen = Settings(networks=networks, **small)  # type: ignore[arg-type]
    torch.manual_seed(seed)
    network = DeepChess(chosen)
    with torch.no_grad():
        for layer in network.modules():
            if isinstance(layer, torch.nn.Linear):  # livelier than torch draws them
                layer.weight.normal_(0, (2 / layer.in_features) ** 0.5)
                if layer.bias is not None:
                    layer.bias.normal_(0, 0.3)
    draw = random.Random(seed)
    rows = np.stack([encode_board(random_board(draw, 20 + i)) for i in range(N_REFERENCES)])
    network.get_buffer("reference_codes").copy_(torch.from_numpy(rows[:, :64]))
    network.get_buffer("reference_state").copy_(torch.from_numpy(rows[:, 64:]))
    path.mkdir()
    save_file(network.state_dict(), path / WEIGHTS)
    write_json(path / INFO, {"kibitz_run": FORMAT, "system": "deepchess", "game": "chess", "settings": asdict(chosen)})
    return path
