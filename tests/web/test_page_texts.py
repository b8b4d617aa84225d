"""The page translates fixed sentences of the server: each one that a language file names is still in the source."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import kibitz
from kibitz.games.chess.start import _IMPOSSIBLE, BadStart, read_fen
from kibitz.links import what_to_do

ROOT = Path(kibitz.__file__).parent
TEXTS = ROOT.parents[1] / "frontend" / "src" / "texts"
LANGUAGES = ("en", "de", "fr")
COMPOSED = re.compile(
    r"White's win|own |the other side's |squares attacked|.*\(own \+1|(origin|target) of the (last )?move|stones with"
    r"|the middlegame|\w+ moves$|.*the moves after it are skipped|move \{1\} '"
    r"|\{1\} (is used|plays|supports ratings|has no rating|cannot play)"
    r"|\{1\} is too large for the explorer: .* with: \{4\}$"
)
"""Sentences that the source puts together from pieces."""


@cache
def templates() -> str:
    """All strings of the source, one a line; what is put into them is "{}"."""
    found: set[str] = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
                found.add("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return "\n".join(found).replace("'{}'", "{}")


def keys(language: str) -> list[str]:
    """The server's sentences that a language translates, as its file writes them."""
    text = (TEXTS / f"{language}.ts").read_text(encoding="utf-8")
    server = text[text.index("\n  server: {") :]
    return [found.replace('\\"', '"') for found in re.findall(r'^    "((?:[^"\\]|\\.)+)":', server, re.MULTILINE)]


def plain(key: str) -> str:
    """A key as templates are written: quotes around a name come with the name."""
    return re.sub(r"'?\{\d\}'?", "{}", key)


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_of_the_server_that_are_translated_are_in_the_source(language: str) -> None:
    if not TEXTS.is_dir():
        pytest.skip("the source tree is not here")
    known = keys(language)
    assert len(known) > 20
    missing = [key for key in known if plain(key) not in templates() and not COMPOSED.match(key)]
    assert missing == []


@pytest.mark.parametrize(
    "words", ["has no Go game", "games can be analyzed", "match these games", "has no liberty", "top_moves"]
)
def test_sentences_that_a_user_meets_are_translated(words: str) -> None:
    if not TEXTS.is_dir():
        pytest.skip("the source tree is not here")
    assert all(any(words in key for key in keys(language)) for language in ("de", "fr"))


def test_german_and_french_translate_the_same_sentences() -> None:
    if not TEXTS.is_dir():
        pytest.skip("the source tree is not here")
    assert sorted(keys("de")) == sorted(keys("fr"))


BAD_FENS = {
    "": "it is empty",
    "8/8 w": "the board has {1} ranks instead of 8",
    "8 w": "the board has 1 rank instead of 8",
    "4k3/8/8/8/x7/8/8/4K3 w": "rank {1} has the letter {2}, which is no piece",
    "4k3/8/8/8/1/8/8/4K3 w": "rank {1} has 1 square instead of 8",
    "4k3/8/8/8/5/8/8/4K3 w": "rank {1} has {2} squares instead of 8",
    "4k3/8/8/8/44/8/8/4K3 w": "rank {1} has {2}, but empty squares side by side are one number",
    "4k3/8/8/8/8/8/8/4K3 x": "the side to move is {1} instead of w or b",
    "4k3/8/8/8/8/8/8/4K3 w xyz": "the castling rights are {1} instead of letters of KQkq",
    "4k3/8/8/8/8/8/8/4K3 w kqK": "the castling rights are {1}, "
    "but at most two of White are before at most two of Black",
    "4k3/8/8/8/8/8/8/~4K3 w": "its fields are not those of a FEN",
    "8/8/8/8/8/8/8/4K3 w": "Black has no king",
    "4k3/8/8/8/8/8/8/8 w": "White has no king",
    "4k3/pppppppp/pppppppp/p7/8/8/8/4K3 w": "Black has more than 16 pieces",
    "4k3/8/8/8/P7/PPPPPPPP/PPPPPPPP/4K3 w": "White has more than 16 pieces",
    "4k3/8/8/8/8/8/8/K3K3 w": "one color has more than one king",
    "P3k3/8/8/8/8/8/8/4K3 w": "a pawn is on the first or last rank",
    "4k3/8/8/8/8/8/4Q3/4K3 w": "the side that is not to move is in check",
}


@pytest.mark.parametrize("fen", BAD_FENS)
def test_every_reason_for_refusing_a_fen_is_a_sentence_that_is_translated(fen: str) -> None:
    if not TEXTS.is_dir():
        pytest.skip("the source tree is not here")
    with pytest.raises(BadStart) as refused:
        read_fen(fen)
    reason = str(refused.value).partition(": ")[2]
    pattern = re.sub(r"\\{\d\\}", ".+", re.escape(BAD_FENS[fen]))
    assert re.fullmatch(pattern, reason), reason
    for language in ("de", "fr"):
        assert BAD_FENS[fen] in keys(language)


ADDRESSES = {
    "https://www.chess.com/game/live/123": "Download the game there as {2}",
    "https://online-go.com/game/123": "Download the game there as {2}",
    "https://lichess.org/abcdefgh": "Download {2}",
    "https://lichess.org/tv": "Download {2}",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_said_of_the_address_of_a_web_page_is_translated(address: str) -> None:
    if not TEXTS.is_dir():
        pytest.skip("the source tree is not here")
    said = what_to_do(address)
    assert said
    for language in ("de", "fr"):
        patterns = {key: re.sub(r"\\{\d\\}", "(.+)", re.escape(key)) for key in keys(language) if "web page" in key}
        found = {key: match for key, pattern in patterns.items() if (match := re.fullmatch(pattern, said))}
        assert any(ADDRESSES[address] in key for key in found), said
        named = next(iter(found.values()))[2]
        assert named in ("PGN", "SGF") or named.startswith("https://") or named in keys(language)


def test_every_reason_for_refusing_a_fen_is_tried() -> None:
    """Each sentence of `start.py` about a fault of a FEN is one of those above."""
    tree = ast.parse((ROOT / "games" / "chess" / "start.py").read_text(encoding="utf-8"))
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "_reason")
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    written = len(returns) + sum(isinstance(node.value, ast.IfExp) for node in returns)
    reasons = set(BAD_FENS.values())
    assert written == len(reasons - set(_IMPOSSIBLE.values()))
    assert set(_IMPOSSIBLE.values()) < reasons


def test_a_sentence_that_is_not_in_the_source_is_found() -> None:
    assert plain("nobody says {1} '{2}' anywhere") not in templates()
