"""The arrays must say what the torch network says."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.replay import encode_board
from kibitz.play.comparison.embedding import load
from kibitz.runs import WEIGHTS, Run
from support.causes import naming
from support.comparison_fakes import drawn_weights, random_board, scalar, write_run


def positions(n: int) -> tuple[np.ndarray, np.ndarray]:
    draw = random.Random(5)
    rows = np.stack([encode_board(random_board(draw, draw.randrange(120))) for _ in range(n)])
    return np.ascontiguousarray(rows[:, :64]), np.ascontiguousarray(rows[:, 64:])


@pytest.mark.parametrize("antisymmetric", [False, True])
@pytest.mark.parametrize("part", ["full", "distilled"])
@pytest.mark.parametrize(
    "layers", [{}, {"small_pos2vec": "33", "small_compare": "16", "pos2vec": "33", "compare": "7"}]
)
def test_answers_are_those_of_torch(tmp_path: Path, part: str, antisymmetric: bool, layers: dict[str, str]) -> None:
    run = Run(write_run(tmp_path / "run", antisymmetric=antisymmetric, **layers))
    comparer = load(run, part)
    network = run.load_network()
    torch_part = network.parts()[part]
    codes, state = positions(100)
    embeddings = comparer.embed(codes, state)
    first, second = np.arange(100), np.random.default_rng(0).permutation(100)
    with torch.inference_mode():
        features = torch_part.pos2vec(torch.from_numpy(codes), torch.from_numpy(state))
        wanted = torch_part.logit(features, torch.from_numpy(first), torch.from_numpy(second)).numpy()
        references = torch_part.pos2vec(network.get_buffer("reference_codes"), network.get_buffer("reference_state"))
        shares = torch.sigmoid(torch_part.against(features, references)).mean(1).numpy()
    assert np.abs(wanted).max() > 0.1
    np.testing.assert_allclose(comparer.compare(embeddings, embeddings[second]), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(comparer.white_better(embeddings), shares, rtol=1e-4, atol=1e-5)
    if antisymmetric:
        back = comparer.compare(embeddings[second], embeddings)
        np.testing.assert_array_equal(comparer.compare(embeddings, embeddings[second]), -back)


def test_what_the_run_itself_answers(tmp_path: Path) -> None:
    run = Run(write_run(tmp_path / "run", "distilled"))
    codes, state = positions(20)
    comparer = load(run)
    with torch.inference_mode():
        (wanted,) = run.load_network()(torch.from_numpy(codes), torch.from_numpy(state))
    np.testing.assert_allclose(comparer.white_better(comparer.embed(codes, state)), wanted.numpy(), rtol=1e-4)


def test_the_draw_is_the_most_balanced_reference(tmp_path: Path) -> None:
    comparer = load(Run(write_run(tmp_path / "run")), "full")
    away = np.abs(comparer.white_better(comparer.references) - 0.5)
    assert away[comparer.draw] == away.min()
    assert comparer.references.shape[0] == len(comparer.rows) == 64


def test_the_distilled_network_comes_first(tmp_path: Path) -> None:
    both = Run(write_run(tmp_path / "both"))
    assert load(both).weights.embedding_dim == load(both, "distilled").weights.embedding_dim
    small, full = load(both, "distilled"), load(both, "full")
    assert small.weights.feature_weights.shape[1] == 32
    assert full.weights.feature_weights.shape[1] == 48
    only = Run(write_run(tmp_path / "full", "full"))
    assert load(only).weights.feature_weights.shape[1] == 48
    with pytest.raises(UsageError, match=naming("full & distilled")):
        load(only, "distilled")
    with pytest.raises(UsageError, match=naming("distilled")):
        load(Run(write_run(tmp_path / "small", "distilled")), "full")


def test_what_compares_nothing_and_what_is_damaged(tmp_path: Path, small_run: Path) -> None:
    with pytest.raises(UsageError, match=naming("deepchess & positions")):
        load(Run(small_run))
    run = Run(write_run(tmp_path / "run"))
    data = (run.path / WEIGHTS).read_bytes()
    (run.path / WEIGHTS).write_bytes(data[: len(data) // 2])
    with pytest.raises(KibitzError, match=naming(f"{run.path} & weights")):
        load(run)
    from safetensors.numpy import load as parse
    from safetensors.numpy import save_file

    for change in ("missing", "shape", "codes"):
        arrays = parse(data)
        if change == "missing":
            del arrays["distilled.compare.as_second.weight"]
        elif change == "shape":
            arrays["distilled.pos2vec.rest.0.weight"] = arrays["distilled.pos2vec.rest.0.weight"][:, :5].repeat(9, 1)
        else:
            arrays["reference_codes"] = arrays["reference_codes"] + np.uint8(13)
        save_file(arrays, run.path / WEIGHTS)
        with pytest.raises(KibitzError, match=r"best\.safetensors is damaged"):
            load(run)


def test_whole_numbers_stay_whole() -> None:
    weights = drawn_weights(3)
    comparer = scalar(weights)
    codes, state = positions(50)
    embeddings = comparer.embed(codes, state)
    sums = [
        sum(weights[(int(code) - 1) * 64 + square] for square, code in enumerate(row) if code)
        + (weights[768] if numbers[0] == 0 else 0)
        + sum(weights[769 + right] for right in range(4) if numbers[1] >> right & 1)
        for row, numbers in zip(codes, state, strict=True)
    ]
    found = comparer.compare(embeddings, np.roll(embeddings, 1, axis=0))
    np.testing.assert_array_equal(found, np.array(sums) - np.roll(sums, 1))
