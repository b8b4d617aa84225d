"""kibitz bench: one line, or one JSON object with stable keys; what it cannot measure is refused."""

from __future__ import annotations

import json
import re

import pytest

from kibitz import cli
from support.causes import refused


def test_a_line_that_can_be_posted(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["bench", "--seconds", "0.1"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert re.match(r"kibitz \S+, chessnet, .+, \d+ cores", out)
    assert re.search(r"[\d,]+ / [\d,]+ / [\d,]+ evaluations/s .*1 / 16 / 64; [\d,]+/s", out)


def test_the_keys_are_stable(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["bench", "human", "--seconds", "0.1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == ["network", "version", "machine", "cores", "raw", "search"]
    assert list(figures["raw"]) == ["1", "16", "64"]
    assert figures["network"] == "human"
    assert list(figures["search"]) == ["method", "rate"]
    assert min(*figures["raw"].values(), figures["search"]["rate"]) > 0


def test_a_network_that_does_not_search_has_no_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["bench", "winner", "--seconds", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["search"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "names"),
    [
        (["gocnn", "--seconds", "0.1"], 2, ["chess"]),
        (["nosuch", "--seconds", "0.1"], 1, ["nosuch"]),
        (["winner", "--seconds", "0"], 2, ["--seconds", "0"]),
    ],
)
def test_what_it_cannot_measure(arguments: list[str], code: int, names: list[str]) -> None:
    refused(["bench", "winner", "--seconds", "0.1"], ["bench", *arguments], code=code, names=names)
