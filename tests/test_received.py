"""Files of others: nothing in them is executed, they open no other file, and take no memory that they only claim."""

from __future__ import annotations

import json
import pickle
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

from kibitz import received
from kibitz.errors import KibitzError
from kibitz.personal.book import Book
from kibitz.play.session import Session
from kibitz.received import inflates, is_self_contained, read_array, read_json
from kibitz.runs import Run, packaged
from kibitz.store.store import Store
from kibitz.systems.winner import Settings
from kibitz.training.fit import train
from kibitz.training.standalone import describe
from kibitz.training.trainer import TrainConfig
from support.causes import mentions, naming
from support.helpers import SMALL

TOUCHED: list[str] = []


def touch(what: str) -> None:
    TOUCHED.append(what)


class Trap:
    """Unpickled, it calls `touch`."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return touch, ("executed",)


@pytest.fixture(autouse=True)
def _nothing_is_executed() -> Any:
    TOUCHED.clear()
    pickle.loads(pickle.dumps(Trap()))
    assert TOUCHED == ["executed"]  # the trap works
    TOUCHED.clear()
    yield
    assert TOUCHED == []


def test_a_checkpoint_with_code_in_it(tmp_path: Path, small_store: Store) -> None:
    plan = TrainConfig(20, 40, 40, validate_positions=100, precision="32-true", time_limit=0.0)
    settings = Settings(**SMALL, batch=64, iterations=50)
    train("winner", settings, str(small_store.path), run=tmp_path / "r", plan=plan)
    last = tmp_path / "r" / "last.pt"
    whole = torch.load(last, weights_only=True)
    bombs = {"network": whole, "more": torch.zeros(10**6)}
    for harm in ("object", "plain pickle", "state", "bomb"):
        if harm == "object":
            torch.save({**whole, "network": Trap()}, last)
        elif harm == "plain pickle":
            last.write_bytes(pickle.dumps(Trap()))
        elif harm == "state":
            torch.save({"stage": "x", "network": [1]}, last)
        else:
            torch.save(bombs, tmp_path / "plain.pt")
            with (
                zipfile.ZipFile(tmp_path / "plain.pt") as source,
                zipfile.ZipFile(last, "w", zipfile.ZIP_DEFLATED) as to,
            ):
                for member in source.infolist():
                    to.writestr(member.filename, source.read(member))
            assert inflates(last.read_bytes())
        with pytest.raises(KibitzError, match=naming("last.pt & damaged")):
            train("winner", settings, str(small_store.path), run=tmp_path / "r", plan=plan)


def test_torch_itself_packs_nothing(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(10**6), "b": [1, 2]}, tmp_path / "x.pt")
    assert not inflates((tmp_path / "x.pt").read_bytes())


def test_arrays_of_objects_and_arrays_that_claim_too_much(tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    np.save(file, np.arange(5, dtype=np.uint32))
    assert read_array(file, np.uint32).tolist() == [0, 1, 2, 3, 4]
    np.save(file, np.empty(0, np.uint32))
    assert read_array(file, np.uint32).tolist() == []
    np.save(file, np.array([Trap()], object), allow_pickle=True)
    with pytest.raises(ValueError, match="object"):
        read_array(file, np.uint32)
    np.savez(file.with_suffix(".npz"), a=np.arange(3))
    shutil.move(file.with_suffix(".npz"), file)
    with pytest.raises(ValueError, match="one-dimensional"):
        read_array(file, np.uint32)
    for shape in ("(1000000000000000,)", "(-1,)", "(2,2)", "(((((" * 900, "(3", "'''", "\0"):
        header = f"{{'descr': '<u4', 'fortran_order': False, 'shape': {shape}, }}".encode()
        file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(64))
        with pytest.raises(ValueError, match=r"."):
            read_array(file, np.uint32)


def test_a_book_and_seen_games_that_claim_too_much(tmp_path: Path) -> None:
    run = tmp_path / "r"
    shutil.copytree(packaged()["winner"], run)
    header = b"{'descr': '<u4', 'fortran_order': False, 'shape': (99999999999999,), }"
    claim = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    (run / "seen.npy").write_bytes(claim)
    with pytest.raises(KibitzError, match=r"seen\.npy is damaged"):
        Run(run).seen()
    (tmp_path / "book.npy").write_bytes(claim)
    with pytest.raises(KibitzError, match="missing or damaged"):
        Book.open(tmp_path / "book.npy")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, '{"kibitz_run": 1, "a": ' + "9" * 5000 + "}", "NaN"])
def test_accounts_that_are_deep_or_long(tmp_path: Path, text: str) -> None:
    for name in ("run.json", "store.json"):
        (tmp_path / name).write_text(text)
    with pytest.raises(KibitzError, match=r"run\.json is damaged"):
        Run(tmp_path)
    with pytest.raises(KibitzError, match=r"store\.json is damaged"):
        Store(tmp_path)


def test_an_account_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.json"
    file.write_text("[" + "1," * 100 + "1]")
    assert len(read_json(file)) == 101
    monkeypatch.setattr(received, "MOST_JSON_BYTES", 100)
    with pytest.raises(ValueError, match="larger than 0 MB"):
        read_json(file)
    with pytest.raises(KibitzError, match="damaged"):
        Run(tmp_path)


def model(place: str) -> onnx.ModelProto:
    """A network whose one weight lies in another file. place: initializer, attribute, branch or sparse."""
    outside = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    outside.external_data.add(key="location", value="secret.bin")
    codes = helper.make_tensor_value_info("codes", TensorProto.UINT8, ["n", 64])
    state = helper.make_tensor_value_info("state", TensorProto.UINT8, ["n", 4])
    out = helper.make_tensor_value_info("white", TensorProto.FLOAT, [1])
    initializer, nodes = [], [helper.make_node("Identity", ["w"], ["white"])]
    if place == "initializer":
        initializer = [outside]
    elif place == "attribute":
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=outside))
    elif place == "branch":
        inner = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "b", [], [out], [outside])
        nodes = [helper.make_node("If", ["state"], ["white"], then_branch=inner, else_branch=inner)]
    graph = helper.make_graph(nodes, "g", [codes, state], [out], initializer)
    if place == "sparse":
        graph.sparse_initializer.add(values=outside, indices=outside)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("place", ["initializer", "attribute", "branch", "sparse"])
def test_networks_with_weights_elsewhere(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "r"
    shutil.copytree(packaged()["winner"], run)
    (run / "secret.bin").write_bytes(struct.pack("<f", 42.0))
    (run / "model.onnx").write_bytes(model(place).SerializeToString())
    assert not is_self_contained(run / "model.onnx")
    session = Session(run)
    assert mentions(capsys.readouterr().err, "model.onnx & PyTorch")
    assert session.outputs == Session("winner").outputs  # of best.safetensors
    with pytest.raises(KibitzError, match=r"model\.onnx is damaged"):
        describe(Run(run))


@pytest.mark.parametrize("name", packaged())
def test_our_networks_have_their_weights_inside(name: str) -> None:
    assert is_self_contained(packaged()[name] / "model.onnx")


def test_damage_and_depth_of_onnx(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    deep = b""
    for _ in range(5000):
        for key in (b"\x32", b"\x2a", b"\x0a"):  # a graph in an attribute in a node
            length, size = len(deep), b""
            while length > 127:
                size += bytes([length & 127 | 128])
                length >>= 7
            deep = key + size + bytes([length]) + deep
    for data in (b"", b"\xff" * 40, b"\x3a\x7f", b"\x0b", b"\x3a" + b"\xff" * 9 + b"\x01", b"\x3a\x80\x80\x10" + deep):
        file.write_bytes(data)
        with pytest.raises(ValueError, match=r"empty|damaged|deep"):
            is_self_contained(file)


@pytest.mark.parametrize("header", [2**63, 10**9, 0])
def test_weights_that_claim_too_much(header: int, tmp_path: Path) -> None:
    run = tmp_path / "r"
    shutil.copytree(packaged()["winner"], run)
    body = json.dumps({"w": {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4 * 10**12]}}).encode()
    (run / "best.safetensors").write_bytes(struct.pack("<Q", header or len(body)) + body)
    with pytest.raises(KibitzError, match=naming(f"{run} & weights")):
        Run(run).load_weights()
    with pytest.raises(KibitzError, match=naming(f"{run} & weights")):
        Run(run).load_network()


HARM: list[tuple[str, Any]] = [
    ("folder", ".."),
    ("folder", "/etc"),
    ("folder", "0001/../.."),
    ("tables", ["../../games.parquet"]),
    ("beside", {"../../x": {"dtype": "<i4"}}),
    ("beside", {"clock": {"dtype": "O"}}),
    ("beside", {"clock": {"dtype": "V8"}}),
    ("games", -1),
    ("games", 1e30),
    ("moves", 10**30),
    ("start_width", 0),
    ("start_width", 1),
    ("game", "os"),
]


@pytest.mark.parametrize(("key", "value"), HARM)
def test_a_store_that_leads_elsewhere(key: str, value: Any, small_store: Store, tmp_path: Path) -> None:
    shutil.copytree(small_store.path, tmp_path / "s")
    info = json.loads((tmp_path / "s" / "store.json").read_text())
    (tmp_path / "s" / "store.json").write_text(json.dumps({**info, key: value}))
    with pytest.raises(KibitzError, match=r"damaged|size"):
        Store(tmp_path / "s")


@pytest.mark.parametrize("at", [0, 64, 65, 66])
def test_start_positions_that_there_are_not(at: int, small_store: Store, tmp_path: Path) -> None:
    """Compiled loops take them for indices."""
    shutil.copytree(small_store.path, tmp_path / "s")
    file = next((tmp_path / "s").rglob("starts.u8"))
    rows = np.fromfile(file, np.uint8)
    rows[at] = 200
    rows.tofile(file)
    with pytest.raises(KibitzError, match=r"starts\.u8 is damaged"):
        _ = Store(tmp_path / "s").starts
