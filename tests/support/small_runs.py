"""Runs that play badly, quickly, and by the rules."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from kibitz.runs import FORMAT, INFO, ONNX, WEIGHTS, write_json
from kibitz.store.store import Store
from support.trained import trained


def make_mover(path: Path, store: Store) -> Path:
    """A small `chessnet` with a value network, trained for a moment."""
    from kibitz.systems.chessnet import Settings
    from kibitz.training.trainer import TrainConfig

    plan = TrainConfig(
        summary_every=20, validate_every=20, checkpoint_every=20, validate_positions=500, precision="32-true"
    )
    settings = Settings(
        layers="8conv3x3p1.ip16", min_rating=0, batch=64, iterations=20, value_batch=64, value_iterations=20
    )
    return trained("chessnet", settings, store, path, plan)


def make_go(path: Path) -> Path:
    """A small `gocnn` for boards of 9 and 13 whose weights are written down: stones reach over the points around them,
    one side's against the other's."""
    import torch
    from safetensors.torch import save_file

    from kibitz.games.go.replay import encode_board
    from kibitz.games.go.rules import Board
    from kibitz.systems.gocnn import GoNet, Settings
    from kibitz.training.export import export_onnx

    path.mkdir()
    settings = Settings(sizes="9,13", layers="2conv5x5p2")
    network = GoNet(settings)
    away = torch.arange(5) - 2
    reach = torch.exp(-(away[:, None].abs() + away.abs()).float())
    with torch.no_grad():
        first, last = network.steps[0], network.last
        for weights in (first.weight, first.bias, last.weight, last.bias):
            weights.zero_()
        first.weight[0, :3] = first.weight[1, 3:6] = reach
        last.weight[0] = torch.stack([reach, -reach])
    save_file(network.state_dict(), path / WEIGHTS)
    codes, state = encode_board(Board(13))
    export_onnx(network, codes[None].repeat(2, 0), state[None].repeat(2, 0), path / ONNX)
    write_json(path / INFO, {"kibitz_run": FORMAT, "system": "gocnn", "game": "go", "settings": asdict(settings)})
    return path
