import io
import warnings

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from kibitz.errors import UsageError
from kibitz.nets.build import build, make_pool
from kibitz.nets.layers import Conv, Dense, Pool, read_layers, shapes
from kibitz.systems.winner import PAPER_LAYERS
from support.causes import naming


def test_the_posts_layers_have_the_posts_shapes() -> None:
    layers = read_layers(PAPER_LAYERS)
    assert layers == [Conv(400, 4, 4), Pool(2, 2), Conv(200, 2, 2), Dense(70)]
    assert shapes(layers, 7) == [(400, 5, 5), (400, 3, 3), (200, 2, 2), (70, 1, 1)]


def test_stride_and_padding_are_read() -> None:
    assert read_layers("32conv3x3s2p1") == [Conv(32, 3, 3, (2, 2), (1, 1))]
    assert shapes(read_layers("32conv4x4s2p1"), 7) == [(32, 4, 4)]


def test_they_may_be_rectangular() -> None:
    layers = read_layers("8conv4x2s2x1p0x2")
    assert layers == [Conv(8, 4, 2, (2, 1), (0, 2))]
    assert shapes(layers, 7) == [(8, 3, 11)]  # (8 + 0 − 4) / 2 + 1 and (8 + 4 − 2) / 1 + 1
    steps, width = build(layers, 7, None, nn.Sigmoid)
    assert nn.Sequential(*steps)(torch.zeros(2, 7, 8, 8)).shape == (2, width) == (2, 8 * 3 * 11)
    with pytest.raises(UsageError, match=naming("8 & 4")):
        shapes(read_layers("8conv4x2s2x4"), 7)
    with pytest.raises(UsageError, match=naming("8 & 3")):
        shapes(read_layers("8conv4x2s3x2"), 7)


def test_kinds_of_pooling() -> None:
    layers = read_layers("pool2x2.avgpool2x2.stochpool2x2")
    assert layers == [Pool(2, 2), Pool(2, 2, "avg"), Pool(2, 2, "stoch")]
    assert shapes(layers, 3) == [(3, 4, 4), (3, 2, 2), (3, 1, 1)]
    values = torch.tensor([[1.0, 3.0, 2.0], [0.0, -4.0, 0.0], [5.0, 0.0, -1.0]])[None, None]
    assert make_pool(Pool(2, 2))(values)[0, 0].tolist() == [[3, 2], [5, -1]]
    assert make_pool(Pool(2, 2, "avg"))(values)[0, 0].tolist() == [[0, 1], [2.5, -1]]
    pool = make_pool(Pool(2, 2, "stoch"))
    drawn = torch.stack([pool(values)[0, 0] for _ in range(4000)])
    assert set(drawn[:, 0, 0].tolist()) == {1.0, 3.0}, "values of 0 and under are never drawn"
    assert (drawn[:, 0, 0] == 3).float().mean() == pytest.approx(0.75, abs=0.04)
    assert (drawn[:, 1, 1] == 0).all()
    assert pool.eval()(values)[0, 0].tolist() == [[2.5, 2.0], [5.0, 0.0]]  # 0.25 · 1 + 0.75 · 3


@pytest.mark.parametrize("kind", ["", "avg", "stoch"])
@pytest.mark.parametrize(("width", "size"), [(2, 5), (3, 5), (2, 4), (3, 7)])
def test_a_pool_is_the_same_in_an_onnx_file(kind: str, width: int, size: int) -> None:
    """Also where the windows at the edge are smaller."""
    pool = make_pool(Pool(width, width, kind)).eval()
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the exporter itself
        torch.onnx.export(
            pool, (torch.randn(3, 2, size, size),), target,  # type: ignore[arg-type]
            input_names=["x"], dynamic_axes={"x": {0: "n"}}, opset_version=18, dynamo=False,
        )  # fmt: skip
    values = torch.randn(4, 2, size, size)
    (found,) = onnxruntime.InferenceSession(target.getvalue()).run(None, {"x": values.numpy()})
    wanted = pool(values).numpy()
    assert found.shape == wanted.shape == (4, 2, -(-size // width), -(-size // width))
    assert np.allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("400conv9x9", "layer 1 (400conv9x9)"),  # larger than the board
        ("400conv8x8", "layer 1 (400conv8x8)"),  # W + 2P − F = 0, which the post excludes
        ("400conv4x4.pool2x2.200conv4x4", "layer 3 (200conv4x4)"),
        ("400conv3x3s2", "layer 1 (400conv3x3)"),  # 5 is no multiple of 2
        ("400conv4x4.pool7x7", "layer 2, pool7x7"),
    ],
)
def test_a_layer_that_does_not_fit_is_named(text: str, named: str) -> None:
    with pytest.raises(UsageError, match="layer") as error:
        shapes(read_layers(text), 7)
    assert named in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "400conv4x4.", "conv4x4", "400conv4", "ip0", "0conv2x2", "4conv2x2s0", "ip8.4conv2x2"]
)
def test_what_is_no_layer_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"layer \d"):
        read_layers(text)


def test_residual_blocks_and_repetition() -> None:
    layers = read_layers("16conv3x3p1.2*16res3x3.8res3x3")
    assert len(layers) == 4
    assert shapes(layers, 7) == [(16, 8, 8), (16, 8, 8), (16, 8, 8), (8, 8, 8)]
    for wrong in ("0*16res3x3", "16res2x2", "0res3x3", "*16res3x3", "2*"):
        with pytest.raises(UsageError):
            read_layers(wrong)
    assert len(read_layers("16conv3x3p1.100*16res3x3")) == 101
    with pytest.raises(UsageError, match=r"at most 100 times \(got 101\*16res3x3\)"):
        read_layers("16conv3x3p1.101*16res3x3")
