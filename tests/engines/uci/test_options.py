"""Options: how they are declared and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.engines.uci.options import METHODS, OWN_TEMPERATURE, Options, changed, declared, split_setoption
from kibitz.play.chess import player
from kibitz.play.comparison import player as comparison
from kibitz.text import shown, whole_number
from support.causes import mentions, naming


def test_the_methods_are_those_of_the_player() -> None:
    assert (*player.METHODS, *comparison.METHODS, "puct", "human-search") == METHODS


def test_declared() -> None:
    lines = declared(Options(threads=2, value="runs/a b", method="top-prob", show_wdl=True))
    assert lines == [
        "option name Hash type spin default 64 min 1 max 16384",
        "option name Threads type spin default 2 min 1 max 512",
        "option name MultiPV type spin default 1 min 1 max 218",
        "option name Move Overhead type spin default 30 min 0 max 10000",
        "option name Method type combo default top-prob"
        " var auto var top-move var top-prob var topprob-negamax var value-negamax var thesis-negamax var comparison"
        " var comparison-full var puct var human-search",
        "option name Temperature type spin default 0 min 0 max 200",
        "option name Value type string default runs/a b",
        "option name UCI_ShowWDL type check default true",
        "option name Ponder type check default false",
        "option name SyzygyPath type string default <empty>",
        "option name BookFile type string default <empty>",
        "option name BookDepth type spin default 30 min 0 max 1000",
        "option name Seed type spin default 0 min 0 max 2147483647",
        "option name Clear Hash type button",
    ]
    assert "option name Value type string default <empty>" in declared(Options())


def test_networks_of_ratings_have_a_strength() -> None:
    plain, rated = Options(), Options(rated=True, temperature=OWN_TEMPERATURE)
    more = [line for line in declared(rated) if line not in declared(plain)]
    assert more == [
        "option name Temperature type spin default -1 min -1 max 200",
        "option name UCI_LimitStrength type check default false",
        "option name UCI_Elo type spin default 1500 min 800 max 2800",
        "option name ThinkTimes type check default false",
        "option name Resign type check default false",
    ]
    limited = changed(changed(rated, "uci_limitstrength", "true"), "uci_elo", "2200")
    assert (limited.limit_strength, limited.elo, limited.temperature) == (True, 2200, OWN_TEMPERATURE)
    for name, value in (("uci_elo", "1500"), ("uci_limitstrength", "true"), ("temperature", "-1")):
        with pytest.raises(ValueError, match=r"unknown option|from 0 to 200"):
            changed(plain, name, value)


@pytest.mark.parametrize("value", ["0", "799", "2801", "-1", "strong", ""])
def test_a_strength_that_cannot_be_is_told_and_the_old_one_stays(value: str) -> None:
    with pytest.raises(ValueError, match=naming("800 & 2800 & 1500 & whole")):
        changed(Options(rated=True), "uci_elo", value)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("setoption name Hash value 32", ("hash", "32")),
        ("SetOption NAME hASH VALUE 32", ("hash", "32")),
        ("setoption name Move Overhead value 100", ("move_overhead", "100")),
        ("setoption name Clear Hash", ("clear_hash", "")),
        ("setoption name Value value My  Runs/Net-1", ("value", "My  Runs/Net-1")),
        ("setoption name Value value value", ("value", "value")),
        ("setoption name Value value", ("value", "")),
        ("setoption name", ("", "")),
        ("setoption", ("", "")),
        ("setoption Hash 32", ("", "")),
    ],
)
def test_split(line: str, expected: tuple[str, str]) -> None:
    assert split_setoption(line) == expected


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("hash", "128", "hash", 128),
        ("multipv", "218", "multipv", 218),
        ("move_overhead", "0", "overhead", 0),
        ("method", "Top-Move", "method", "top-move"),
        ("temperature", "200", "temperature", 200),
        ("value", "Runs/X", "value", "Runs/X"),
        ("value", "<empty>", "value", ""),
        ("uci_showwdl", "TRUE", "show_wdl", True),
    ],
)
def test_changed(name: str, value: str, field: str, expected: object) -> None:
    before = Options(value="a")
    after = changed(before, name, value)
    assert getattr(after, field) == expected
    assert sum(vars(before)[key] != vars(after)[key] for key in vars(before)) == 1


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("hash", "lots", "Hash & lots & 1 & 16384 & 64 & whole"),
        ("hash", "0", "Hash & 0 & 1 & 16384 & 64 & whole"),
        ("multipv", "", "1 & 218 & whole"),
        ("method", "luck", "Method & luck & auto & top-move & move"),
        ("uci_showwdl", "1", "UCI_ShowWDL & 1 & False"),
        ("ponder", "1", "Ponder & 1 & False"),
        ("contempt", "true", "Hash & Threads & option"),
        ("", "", "Hash & option"),
    ],
)
def test_what_cannot_be(name: str, value: str, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        changed(Options(), name, value)
    assert mentions(str(error.value), told)


@given(st.text(), st.text())
def test_any_text_is_an_option_or_a_line(name: str, value: str) -> None:
    told = "fine"
    try:
        changed(Options(), *split_setoption(f"setoption name {name} value {value}"))
    except ValueError as error:
        told = str(error)
    assert told.isprintable()


@given(st.text())
def test_words(text: str) -> None:
    assert shown(text).isprintable()
    assert len(shown(text)) <= 100
    assert whole_number(text) is None or whole_number(text) == int(text)
