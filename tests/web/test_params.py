"""Fields of requests: what is taken, at the bounds too, and what is refused with which words."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kibitz.web.params import (
    BadRequest,
    an_object,
    check_game,
    choice,
    dumps,
    number,
    objects,
    read_body,
    text,
    whole,
    words,
)
from support.causes import mentions


def refused(read: Callable[[], Any]) -> str:
    with pytest.raises(BadRequest) as error:
        read()
    assert error.value.status == 400
    return str(error.value)


def test_a_body_is_an_object() -> None:
    assert read_body(b'{"a": 1}') == {"a": 1}
    for body in (b"", b"\xff", b"[" * 100_000, b"9" * 5000):
        assert refused(lambda body=body: read_body(body)) == "the request is not JSON"
    for body in (b"[]", b"3", b"null", b'"a"'):
        assert mentions(refused(lambda body=body: read_body(body)), "JSON & object")
    assert an_object({}, "it") == {}


def test_lists_have_at_most_so_many_entries() -> None:
    three: list[Any] = [{"a": 1}, {}, {"b": 2}]
    assert objects(three, "tree", 3) == three
    assert objects([], "tree", 0) == []
    assert mentions(refused(lambda: objects(three, "tree", 2)), "tree & 3 & 2")
    assert mentions(refused(lambda: objects({}, "tree", 2)), "tree & list")
    assert mentions(refused(lambda: objects([{}, 3], "tree", 2)), "JSON & object")
    assert words({"moves": ["a", "b"]}, "moves", 2) == ["a", "b"]
    assert words({"moves": None}, "moves", 2) == words({}, "moves", 2) == []
    assert mentions(refused(lambda: words({"moves": ["a"] * 2001}, "moves", 2000)), "moves & 2,001 & 2,000")
    for wrong in ("ab", [1], ["a", None], {"a": "b"}, 0, False):
        assert mentions(refused(lambda wrong=wrong: words({"moves": wrong}, "moves", 9)), "moves & list")


def test_strings() -> None:
    assert text({"name": ""}, "name", "x") == ""
    assert text({"name": None}, "name", "x") == text({}, "name", "x") == "x"
    assert mentions(refused(lambda: text({}, "name")), "name & string")
    assert mentions(refused(lambda: text({"name": 3}, "name", "x")), "name & string")
    assert "incomplete character" in refused(lambda: text({"name": "\ud83d"}, "name"))
    assert choice({"side": "b"}, "side", ("w", "b"), "w") == "b"
    assert choice({}, "side", ("w", "b"), "w") == "w"
    assert "one of w, b" in refused(lambda: choice({"side": "x"}, "side", ("w", "b"), "w"))


def test_whole_numbers() -> None:
    for value in (3, 5000, 3.0):
        found = whole({"n": value}, "n", 7, 3, 5000)
        assert (found, type(found)) == (value, int)
    assert whole({}, "n", 7, 3, 5) == whole({"n": None}, "n", 7, 3, 5) == 7
    for value in (2, 5001, 3.5, True, "4", float("nan"), float("inf"), [4]):
        said = refused(lambda value=value: whole({"n": value}, "n", 7, 3, 5000))
        assert mentions(said, "n & 3 & 5,000 & whole")


def test_numbers() -> None:
    for value in (0.5, 3, 20.0):
        found = number({"s": value}, "s", 7.0, 0.5, 20)
        assert (found, type(found)) == (value, float)
    assert number({}, "s", None, 0.5, 20) is None
    assert number({"s": None}, "s", 7.0, 0.5, 20) == 7
    for wrong in (0.49, 20.1, False, "4", float("nan"), -float("inf"), {}):
        said = refused(lambda wrong=wrong: number({"s": wrong}, "s", 7.0, 0.5, 20))
        assert mentions(said, "s & 0.5 & 20 & number")


def test_a_network_is_for_one_game() -> None:
    network: Any = SimpleNamespace(name="gocnn", game="go")
    check_game(network, "go")
    assert mentions(refused(lambda: check_game(network, "chess")), "gocnn & Go & network")


def test_what_is_no_number_is_null() -> None:
    value = {"a": [1.5, float("nan"), "x", None, True], "b": (float("inf"), {"c": -float("inf")}), "d": 0.0}
    line = dumps(value)
    assert line == b'{"a":[1.5,null,"x",null,true],"b":[null,{"c":null}],"d":0.0}'
    assert dumps({"a": "é\n"}) == rb'{"a":"\u00e9\n"}'
    assert json.loads(dumps([1, 2.5])) == [1, 2.5]


def test_a_refusal_is_one_line() -> None:
    assert str(BadRequest("two\n  lines\tof it", 404)) == "two lines of it"
    assert BadRequest("x", 404).status == 404
