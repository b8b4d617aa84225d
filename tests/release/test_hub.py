"""`kibitz export --card hub`: the card that model hubs read has the metrics of the model card."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kibitz.manifest import version_of
from kibitz.report.hub import hub_card
from kibitz.runs import Run, packaged
from support.causes import in_process, refused


@pytest.mark.parametrize("name", list(packaged()))
def test_a_card_has_every_number_of_its_tables(name: str) -> None:
    text = hub_card(Run(name))
    _, front, card = text.split("---\n", 2)
    about = yaml.safe_load(front)
    assert about["library_name"] == "onnx"
    assert about["license"] == "gpl-3.0"
    (model,) = about["model-index"]
    assert model["name"] == version_of(name)
    tables = card.split("\nTest: ")[1:]
    assert len(model["results"]) == len(tables)
    for result, table in zip(model["results"], tables, strict=True):
        rows = [line for line in table.splitlines() if line.startswith("| ")]
        own = [row for row in rows if not row.startswith(("| figure", "| for comparison", "| setting"))]
        own = [row for row in own if row.count("|") == 4]
        assert [metric["name"] for metric in result["metrics"]] == [row.split(" | ")[0][2:] for row in own]
        for metric, row in zip(result["metrics"], own, strict=True):
            shown = row.split(" | ")[1].split(" (")[0].replace(",", "").replace("−", "-")
            value = float(shown.rstrip("%")) / (100 if shown.endswith("%") else 1)
            assert metric["value"] == pytest.approx(value)
            assert metric["interval_95"] in row


def test_export_writes_it(tmp_path: Path) -> None:
    assert in_process(["export", "winner", "--to", tmp_path / "hub", "--card", "hub"]).code == 0
    assert (tmp_path / "hub" / "README.md").read_text(encoding="utf-8") == hub_card(Run("winner"))
    assert (tmp_path / "hub" / "model.onnx").is_file()
    assert in_process(["export", "winner", "--to", tmp_path / "plain"]).code == 0
    assert not (tmp_path / "plain" / "README.md").exists()


def test_another_kind_of_card_is_refused(tmp_path: Path) -> None:
    refused(
        ["export", "winner", "--to", tmp_path / "a", "--card", "hub"],
        ["export", "winner", "--to", tmp_path / "b", "--card", "zoo"],
        code=2,
        names=["--card", "zoo"],
    )


def test_the_card_has_the_public_name(tmp_path: Path) -> None:
    assert in_process(["export", "winner", "--to", tmp_path, "--card", "hub", "--name", "A name"]).code == 0
    lines = (tmp_path / "README.md").read_text(encoding="utf-8").splitlines()
    assert 'model_name: "A name"' in lines
    assert any(line.startswith('model-index: [{"name": "A name"') for line in lines)
