"""`kibitz tune` from the outside: options, table, the next line, errors in one line, kills and interrupts."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kibitz.cli import run
from kibitz.commands import tune
from kibitz.store.store import Store
from kibitz.systems import DEFAULT, find_recipe
from support.causes import mentions, must_succeed
from support.patience import PATIENCE

TINY = [
    "--layers", "8conv3x3p1.ip16", "--batch", "32", "--min-rating", "0", "--precision", "float32",
    "--validate-positions", "400", "--initials", "he",
]  # fmt: skip
LONG = [*TINY, "--learning-rates", "0.001,0.002", "--weight-decays", "0", "--iterations-per-trial", "300", "--no-prune"]


def test_a_search_from_the_command_line(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = ["tune", "convchess", str(small_store.path), *TINY, "--iterations-per-trial", "5"]
    call += ["--learning-rates", "0.002,1e30", "--weight-decays", "0,0.001", "--rating-plane"]
    assert run(call) == 0
    said = capsys.readouterr()
    lines = said.err.strip().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("trial 1 of 4: learning rate ")
    table = said.out.splitlines()
    assert table[0].split("  ")[0] == "trial"
    assert [row.split()[-1] for row in table[1:5]] == ["done", "done", "diverged", "diverged"]
    words = shlex.split(table[-1].removeprefix("next: "))
    assert words[:4] == ["kibitz", "train", "convchess", str(small_store.path)]
    options = dict(zip(words[4::2], words[5::2], strict=False))
    assert options["--learning-rate"] == "0.002"
    assert options["--initial"] == "he"
    assert "--weight-decay" in words
    assert {"--rating-plane", "--layers", "--batch"} < set(words)
    assert not {"--networks", "--iterations"} & set(words)
    assert run([*words[1:], "--run", "r", "--iterations", "1", "--networks", "piece"]) == 0, "the next line is a call"
    capsys.readouterr()

    assert run([*call, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["study"] == f"searches/convchess-{small_store.path.stem}.journal"
    assert (report["ended"], report["left"], len(report["trials"])) == ("all trials done", 0, 4)
    assert report["best"] in report["trials"]
    assert (tmp_path / report["best"]["path"] / "best.safetensors").is_file()
    assert report["next"] == shlex.join(words)


def test_a_study_for_each_network(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = [
        "tune",
        "chessnet",
        str(small_store.path),
        *TINY,
        "--iterations-per-trial",
        "2",
        "--trials",
        "1",
        "--json",
    ]
    assert run([*call, "--network", "value", "--value-batch", "32"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["study"].endswith("-value.journal")
    assert "--value-learning-rate" in value["next"]
    assert run([*call, "--share", "body", "--layers", "4conv3x3p1"]) == 0, "one body: all networks are trained"
    words = shlex.split(json.loads(capsys.readouterr().out)["next"])
    assert words[words.index("--layers") + 1] == "4conv3x3p1"
    usual = find_recipe("chessnet", DEFAULT).settings
    assert usual["share"] == "body"
    assert "--share" not in words, "the recipe says it"
    assert words[words.index("--optimiser") + 1] != usual["optimiser"], "what the recipe would change is written out"


def test_winner_has_initial_weights_of_its_own(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["tune", "winner", str(small_store.path), "--layers", "16conv4x4.pool2x2.ip8", "--batch", "32"]
    call += [
        "--learning-rates",
        "0.01",
        "--weight-decays",
        "0",
        "--iterations-per-trial",
        "2",
        "--precision",
        "float32",
    ]
    assert run([*call, "--validate-positions", "100", "--out", str(tmp_path / "s.journal"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {trial["settings"]["initial"] for trial in report["trials"]} == {"mocha", "unit"}


def test_the_options_of_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "convchess", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "--layers" in text
    assert "--optimiser" in text
    for option in ("--learning-rate ", "--networks ", "--initial ", "--l2 "):
        assert f"│ {option}" not in text
    assert run(["tune", "--help"]) == 0
    assert "--layers" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--learning-rates", "0.1,fast"], 2, "--learning-rates & 0.1 & number"),
        (["--learning-rates", "0"], 2, "--learning-rates & 0"),
        (["--weight-decays", "0,-1"], 2, "-1 & 0 & number"),
        (["--weight-decays", "0,,1"], 2, "separated by commas"),
        (["--initials", "mocha"], 2, "--initial & mocha & xavier"),
        (["--network", "castle"], 2, "--network & castle & pawn"),
        (["--network", "pawn,king"], 2, "pawn"),
        (["--trials", "0"], 2, "trials"),
        (["--time-limit", "0"], 2, "--time-limit & 0"),
        (["--precision", "int4"], 2, "--precision & int4 & bf16"),
        (["--device", "tpu"], 2, "auto & cpu & cuda"),
        (["--learning-rate", "0.1"], 2, "--learning-rate"),
        (["--layers", "400conv9x9.ip8"], 2, "layer 1 (400conv9x9)"),
    ],
)
def test_wrong_calls_are_told_in_one_line(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int, said: str
) -> None:
    out = tmp_path / "s.journal"
    assert run(["tune", "convchess", str(small_store.path), "--out", str(out), *TINY, *more]) == code
    error = capsys.readouterr().err
    assert mentions(error, said)
    assert len(error.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
    without = ["--learning-rates", "0.001", "--weight-decays", "0", "--iterations-per-trial", "2"]
    must_succeed(["tune", "convchess", small_store.path, "--out", out, *TINY, *without], once="tune convchess")


def test_a_system_that_cannot_be_searched(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", "deepchess", str(small_store.path), "--out", str(tmp_path / "s.journal")]) == 2
    assert mentions(capsys.readouterr().err, "deepchess")


@pytest.mark.parametrize(
    ("more", "said"),
    [(["--network", "all"], "--network & winner"), (["--out", "."], "--out & folder")],
)
def test_what_one_network_and_one_file_do_not_take(
    small_store: Store, more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", "winner", str(small_store.path), *more]) == 2
    assert mentions(capsys.readouterr().err, said)


@pytest.mark.parametrize("trials", [[], ["--trials", "2"]])
def test_a_system_without_a_choice_of_initial_weights(
    trials: list[str], small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = [
        "tune",
        "human",
        str(small_store.path),
        "--blocks",
        "1",
        "--filters",
        "4",
        "--batch",
        "16",
        "--iterations-per-trial",
    ]
    call += ["2", "--validate-positions", "50", "--learning-rates", "0.001,0.01", "--weight-decays", "0.01", *trials]
    out = ["--out", str(tmp_path / "s.journal")]
    assert run([*call, *out, "--initials", "he"]) == 2
    assert mentions(capsys.readouterr().err, "--initials & he & human & weights")
    assert run([*call, *out]) == 0
    shown = capsys.readouterr().out
    assert "learning rate" in shown
    assert "initial" not in shown
    assert run([*call, *out, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert len(report["trials"]) == 2
    assert all(set(trial["settings"]) == {"learning_rate", "weight_decay"} for trial in report["trials"])
    assert report["next"].startswith(f"kibitz train human {small_store.path} --learning-rate")


def test_missing_stores_and_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "winner", str(tmp_path / "no.store")]) == 1
    assert "no such store" in capsys.readouterr().err
    assert run(["tune", "loser", str(tmp_path / "no.store")]) == 2
    assert "unknown system" in capsys.readouterr().err


def test_nothing_but_divergence_is_an_error(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["tune", "convchess", str(small_store.path), *TINY, "--learning-rates", "1e30", "--weight-decays", "0"]
    assert run([*call, "--iterations-per-trial", "5", "--out", str(tmp_path / "s.journal")]) == 1
    assert "smaller --learning-rates" in capsys.readouterr().err


def started(call: list[str], until: Path) -> subprocess.Popen[str]:
    """A search in a process of its own, once that file is there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kibitz", *call], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    limit = time.monotonic() + PATIENCE
    while not until.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit, "no such file within ten minutes"
        time.sleep(0.002)
    return process


def report_of(call: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[Any, str]:
    assert run([*call, "--json"]) == 0
    said = capsys.readouterr()
    return json.loads(said.out), said.err


@pytest.mark.slow
def test_a_killed_search_goes_on(small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """kill -9 in the second trial: the first is kept, the second goes on, and all comes out as if nothing had been."""
    call = ["tune", "convchess", str(small_store.path), *LONG, "--out", str(tmp_path / "s.journal")]
    process = started(call, tmp_path / "s" / "trial-002" / "last.pt")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=600)
    assert process.returncode == -signal.SIGKILL
    report, said = report_of(call, capsys)
    assert "trial 1 of 2" not in said
    assert mentions(said, "trial-002 & run")
    whole, _ = report_of([*call[:-1], str(tmp_path / "whole.journal")], capsys)
    for mine, other in zip(report["trials"], whole["trials"], strict=True):
        assert mine["settings"] == other["settings"]
        assert mine["figures"] == pytest.approx(other["figures"], rel=1e-4)


def test_an_interrupt_tells_what_is_known(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(progress: Any, step: Any) -> None:
        if (step.number, step.progress.iteration) == (2, 40):
            signal.raise_signal(signal.SIGINT)

    call = ["tune", "convchess", str(small_store.path), *LONG, "--out", str(tmp_path / "s.journal")]
    monkeypatch.setattr(tune.TuningProgress, "on_step", tell)
    assert run(call) == 130
    out = capsys.readouterr().out
    assert [row.split()[-1] for row in out.splitlines()[1:3]] == ["done", "begun"]
    assert mentions(out, "1 & 2 & trials")
    assert "next: kibitz train convchess" in out
