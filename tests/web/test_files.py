"""Texts to games and back: PGN, SGF and FEN, with variations, comments and whatever people put into them."""

from __future__ import annotations

import io
import random
import time
from typing import Any

import chess.pgn
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as some
from sgfmill import sgf

from kibitz.analysis.go.notes import mark_line
from kibitz.analysis.go.reason_texts import sentence
from kibitz.games.go.io.text import put_right
from kibitz.games.go.points import to_sgf
from kibitz.web import files, game_page, game_tree
from kibitz.web.params import BadRequest
from support.board_client import Client
from support.causes import each_mentions, mentions, naming
from support.random_lines import random_chess, random_go

HOSTILE = "<img src=x onerror=alert(1)>\"'&]}</script>\\"


def load(text: str, index: int = 0) -> dict[str, Any]:
    return files.load({"text": text, "index": index})


def save(found: dict[str, Any], **changes: Any) -> str:
    asked = {"game": found["game"], "tree": found["tree"], "headers": found["headers"], **changes}
    text: str = files.save(asked)["text"]
    return text


def shape(tree: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(n["parent"], n["ply"], n["move"], n["comment"], n["nags"]) for n in tree]


def test_a_tree_of_chess() -> None:
    found = load("1. e4 (1. d4 d5 (1... Nf6 2. c4) 2. c4) 1... e5 {a} 2. Nf3 $2 $18 {b} *")
    assert found["game"] == "chess"
    assert found["line"] == {"game": "chess", "fen": chess.STARTING_FEN, "moves": []}
    assert found["problems"] == []
    assert [(n["id"], n["parent"], n["san"], n["comment"], n["nags"]) for n in found["tree"]] == [
        (0, None, "", "", []),
        (1, 0, "e4", "", []),
        (2, 1, "e5", "a", []),
        (3, 2, "Nf3", "b", [2, 18]),
        (4, 0, "d4", "", []),
        (5, 4, "d5", "", []),
        (6, 5, "c4", "", []),
        (7, 4, "Nf6", "", []),
        (8, 7, "c4", "", []),
    ]
    again = load(save(found))
    assert shape(again["tree"]) == shape(found["tree"])
    assert again["tree"][3]["dests"] == found["tree"][3]["dests"]


def test_a_tree_of_go() -> None:
    found = load(
        "(;GM[1]SZ[9]KM[5.5]RU[Japanese]PB[A]PW[B\\]b]RE[W+2.5]C[root]"
        ";B[ee]C[one\\: \\] \\\\](;W[cc]DO[]LB[aa:1];B[gg])"
        "(;W[gc]BM[2](;B[cg]TE[1])(;B[])(;W[ac])))"
    )
    assert found["headers"] == {"PB": "A", "PW": "B]b", "RE": "W+2.5", "RU": "Japanese", "KM": "5.5"}
    said = {"size": 9, "komi": 5.5, "rules": "japanese", "side": "b"}
    assert found["line"] == {"game": "go", **said, "setup": {"B": [], "W": []}, "moves": []}
    assert found["problems"] == []
    assert found["tree"][2]["props"] == {"LB": ["aa:1"]}
    assert [(n["id"], n["parent"], n["move"], n["comment"], n["nags"]) for n in found["tree"]] == [
        (0, None, None, "root", []),
        (1, 0, "E5", "one: ] \\", []),
        (2, 1, "C7", "", [6]),
        (3, 2, "G3", "", []),
        (4, 1, "G7", "", [4]),
        (5, 4, "C3", "", [1]),
        (6, 4, "pass", "", []),
        (7, 4, "pass", "", []),  # who moves twice: the other has passed
        (8, 7, "A7", "", []),
    ]
    for line in ({}, {"line": found["line"]}):
        again = load(save(found, **line))
        assert shape(again["tree"]) == shape(found["tree"])
        assert again["headers"] == found["headers"]
        assert again["line"] == found["line"]
    game = sgf.Sgf_game.from_string(save(found))
    assert game.get_komi() == 5.5
    assert len(game.get_root()[0]) == 2


def test_what_is_set_up() -> None:
    found = load("(;SZ[9]AB[aa:bb]AW[cc][dd]AE[aa]PL[W]C[x];C[y];W[ee])")
    assert found["line"]["setup"] == {"B": ["B9", "A8", "B8"], "W": ["C7", "D6"]}
    assert found["line"]["side"] == "w"
    assert found["tree"][0]["comment"] == "x\ny"
    assert found["tree"][0]["turn"] == "w"
    again = load(save(found, line=found["line"]))
    assert again["line"] == found["line"]
    for text in (
        "(;SZ[9]AB[dd][ff]B[cc];W[gg])",
        "(;SZ[9];AB[dd][ff]B[cc];W[gg])",
    ):  # the first move is in the same node
        mixed = load(text)
        assert (mixed["line"]["setup"]["B"], mixed["line"]["side"], mixed["problems"]) == (["D6", "F4"], "b", [])
        assert [node["move"] for node in mixed["tree"]] == [None, "C7", "G3"]
    handicap = load("(;SZ[19]HA[2]AB[dp][pd]KM[0.5];W[dd])")
    assert handicap["line"]["side"] == "w"
    old = load("(;SZ[19];B[dp]C[one];B[pd];W[dd];B[pp])")
    assert old["line"]["setup"]["B"] == ["D4", "Q16"]
    assert [n["move"] for n in old["tree"]] == [None, "D16", "Q4"]
    assert old["tree"][0]["comment"] == "one"


@pytest.mark.parametrize(
    ("text", "moves", "told"),
    [
        ("(;SZ[9];B[ee];W[ee];B[aa])", 1, "move 2 & E5 & illegal"),
        ("(;SZ[9];B[ee];W[zz])", 1, "move 2 & zz & illegal"),
        ("(;SZ[9];B[ee];AW[aa];W[cc])", 1, "stones & move 1"),
        ("(;SZ[9];B[ee];W[cc]C[unfin", 2, "end"),
        ("(;SZ[9];B[ee];W[cc](;B[dd", 2, "end"),
        ("1. e4 e5 2. Ke3 Nf6", 2, "2. & Ke3 & illegal"),
        ("1. e4 e5 2. xx Nf6", 2, "2. & xx"),
        ("1. e4 e5 (1... Ke6 2. d4) 2. Nf3", 3, "1… & Ke6 & variation"),
        ("1. e4 -- 2. d4 xx e5", 3, "2… & xx"),
        ("1. e4 f6 2. Qh5+ -- 3. d4", 3, "2… & '--'"),
        ("1. e4 e5 2. Sf9 Sc6", 2, "2. & Sf9"),
    ],
)
def test_what_cannot_be_shown_is_said(text: str, moves: int, told: str) -> None:
    found = load(text)
    assert each_mentions(found["problems"], told)
    assert len(found["tree"]) == moves + 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "PGN & SGF & FEN & nothing"),
        (" \ufeff\n", "nothing"),
        ("hello there", "PGN & SGF & FEN & text"),
        ("\0\0\0\x01", "text"),
        ("(;", "text"),
        ("(;B)", "SGF"),
        ("(;GM[2]SZ[8])", "GM & 2 & game"),
        ("(;SZ[15];B[aa])", "15 & 9 & 13 & 19 & board"),
        ("(;SZ[9]AB[zz])", "stone"),
        ('[Variant "Atomic"]\n\n1. e4 *', "Atomic & variant"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "king"),
        ('[FEN "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. e4 *', "FEN & position"),
        ("8/8/8/8/8/8/8/8 w", "FEN & White & king"),
        ("9/8/8/8/8/8/8/8 w", "FEN"),
    ],
)
def test_what_is_no_game(text: str, told: str) -> None:
    with pytest.raises(BadRequest, match=r"^[^\n]+$") as error:
        load(text)
    assert mentions(str(error.value), told)


@pytest.mark.parametrize(
    ("text", "fen"),
    [
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        ("  4k3/8/8/8/8/8/4P3/4K3 b\n", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"),
        ("4k3/8/8/8/8/8/4P3/4K3", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        ("FEN: 4k3/8/8/8/8/8/4P3/4K3 w - - 3 9", "4k3/8/8/8/8/8/4P3/4K3 w - - 3 9"),
    ],
)
def test_a_fen_alone(text: str, fen: str) -> None:
    found = load(text)
    assert found["line"]["fen"] == found["tree"][0]["fen"] == fen
    assert len(found["tree"]) == 1
    assert load(save(found))["line"]["fen"] == fen


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("1. e4 e5 2. Sf3 (2. Lc4 Lc5 (2... Sf6)) Sc6 3. Lb5 a6 4. O-O *", "e4 e5 Nf3 Nc6 Bb5 a6 O-O"),
        ("1. e4 e5 2. Cf3 Cc6 3. Fb5 a6 4. 0-0 Cf6 5. Te1 *", "e4 e5 Nf3 Nc6 Bb5 a6 O-O Nf6 Re1"),
        ("1. e4 e5 2. De2 Re7 3. Cf3 *", "e4 e5 Qe2 Ke7 Nf3"),
        ("1. e4 e5 2. ♘f3! ♞c6 3. ♗b5 ♟a6 *", "e4 e5 Nf3 Nc6 Bb5 a6"),
        ("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1", "e4 e5 Nf3 Nc6 Bb5 a6 O-O"),
        ("1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6", "e4 e5 Nf3 Nc6"),
        ("1. e4 -- 2. d4 Z0 3. c4 (3. -- e5) e5", "e4 -- d4 -- c4 e5"),
        ('[FEN "8/P6k/8/8/8/8/8/K7 w - - 0 1"]\n\n1. a8D Kg6', "a8=Q Kg6"),
        ("1. e4 e5 {Sf3 and Lc4 come} 2. Nf3 *", "e4 e5 Nf3"),
    ],
)
def test_other_spellings(text: str, moves: str) -> None:
    found = load(text)
    assert found["problems"] == []
    main, at = [], found["tree"][0]
    while children := [n for n in found["tree"] if n["parent"] == at["id"]]:
        at = children[0]
        main.append(at["san"])
    assert " ".join(main) == moves
    assert shape(load(save(found))["tree"]) == shape(found["tree"])


def test_commands_of_comments_are_no_words() -> None:
    found = load(
        "{ [%csl Rd4] } 1. e4 { [%eval 0.38] [%clk 0:05:03] } e5 { [%csl Gd4,Rb1][%cal Ye2e4] sharp [%mdl 64] } *"
    )
    root, first, second = found["tree"]
    assert root["shapes"] == ["Rd4"]
    assert (first["comment"], first["commands"]) == ("", {"eval": "0.38", "clk": "0:05:03"})
    assert "shapes" not in first
    assert (second["comment"], second["commands"]) == ("sharp", {"mdl": "64"})
    assert second["shapes"] == ["Gd4", "Rb1", "Ye2e4"]
    again = load(save(found))
    for key in ("comment", "commands", "shapes"):
        assert [n.get(key) for n in again["tree"]] == [n.get(key) for n in found["tree"]]
    first["commands"] = {"clk": "1] } 2. e4 {", "no name": "x"}
    assert load(save(found))["tree"][1]["commands"] == {"clk": "1 2. e4"}
    second["shapes"] = ["Xd4"]
    with pytest.raises(BadRequest, match="circles and arrows"):
        save(found)


def test_a_comment_of_blanks_is_read_at_once() -> None:
    begun = time.process_time()  # of this process alone: others may have the cores
    found = load("1. e4 {a" + " " * 200_000 + "b [%clk 0:01:00]} *")
    assert time.process_time() - begun < 2
    assert found["tree"][1]["commands"] == {"clk": "0:01:00"}


def test_an_sgf_keeps_what_is_not_understood() -> None:
    root = "ST[2]TC[3]N[na\\]me]LB[aa:1][bb:\\]x]"
    text = f"(;GM[1]SZ[9]PB[A]{root};B[ee]TR[aa][bb]XX[1\n2];W[cc]TE[2];CR[dd](;B[gg]TT[5])(;B[];W[]TB[]TW[aa:cc]))"
    found = load(text)
    assert found["problems"] == []
    assert found["line"]["assumed"] == ["KM", "RU"]
    said = {"line": found["line"]}
    saved = save(found, **said)
    for part in (root, "TR[aa][bb]XX[1\n2]", "TE[2]CR[dd]", "TT[5]", "TB[]TW[aa:cc]"):
        assert part in saved
    assert "KM" not in saved
    assert "RU" not in saved
    again = load(saved)
    assert [n.get("props") for n in again["tree"]] == [n.get("props") for n in found["tree"]]
    assert again["line"] == found["line"]
    assert "KM[3.75]" in save(load("(;SZ[19]KM[3.75]RU[Chinese];B[dd])"))  # as it was written
    found["tree"][1]["props"] = {"LB": ["a];W[aa", "b\\"], "x]": ["1"], "KM": ["9"]}
    assert len(load(save(found, **said))["tree"]) == 6
    assert load(save(found, **said))["tree"][1]["props"]["LB"][0] == "a\\];W[aa"


@pytest.mark.parametrize(
    ("text", "root", "after"),
    [
        ("(;SZ[9]B[ee])", "SZ[9]", ";B[ee]"),
        ("(;GM[1]SZ[9]KM[5.5]PB[x]C[hi]B[ee]LB[ee:A];W[ec])", "PB[x]KM[5.5]SZ[9]", ";B[ee]C[hi]LB[ee:A];W[ec]"),
        ("(;SZ[9]AB[cc]AW[gg]W[ee];B[ec])", "SZ[9]AB[cc]AW[gg]PL[W]", ";W[ee];B[ec]"),
        ("(;SZ[9]B[cc]LB[cc:A];B[gg]TR[gg];W[ee])", "SZ[9]AB[cc][gg]PL[W]LB[cc:A]TR[gg]", ";W[ee]"),
    ],
)
def test_a_move_in_the_root_of_an_sgf_gets_its_own_node(text: str, root: str, after: str) -> None:
    found = load(text)
    saved = save(found, line=found["line"])
    assert saved.replace("\n", "") == f"(;FF[4]GM[1]CA[UTF-8]AP[kibitz]{root}{after})"
    assert load(saved)["tree"] == found["tree"]


def test_games_of_a_file(bundled_text: str) -> None:
    found = load(bundled_text, 3)
    text = io.StringIO(bundled_text)
    games = [chess.pgn.read_game(text) for _ in range(4)]
    assert found["count"] > 1000
    assert len(found["games"]) == game_tree.MAX_GAMES
    assert games[3]
    assert [n["move"] for n in found["tree"][1:]] == [move.uci() for move in games[3].mainline_moves()]
    assert found["headers"]["White"] == games[3].headers["White"]
    assert found["games"][3]["title"].startswith(games[3].headers["White"])
    with pytest.raises(BadRequest, match="no game 100000"):
        load(bundled_text, 99_999)


def test_titles_of_games() -> None:
    text = (
        '[Event "Cup"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n[Date "2024.01.02"]\n\n1. e4 1-0\n\n'
        '[Event "?"]\n[White "?"]\n[Black "?"]\n[Result "*"]\n[Date "????.??.??"]\n\n1. d4 *\n\n'
        '[White "?"]\n[Black "C"]\n[Result "0-1"]\n\n1. c4 0-1\n'
    )
    assert load(text)["games"] == [
        {"index": 0, "title": "A – B, 1-0, Cup, 2024.01.02"},
        {"index": 1, "title": "game 2, *"},
        {"index": 2, "title": "? – C, 0-1"},
    ]


def test_marks_at_their_bounds() -> None:
    tree: list[dict[str, Any]] = [
        {"id": "a", "fen": chess.STARTING_FEN},
        {"id": "b", "parent": "a", "move": "e2e4", "nags": [255, 0, 1, 1]},
    ]
    text = files.save({"game": "chess", "tree": tree, "headers": {}})["text"]
    assert load(text)["tree"][1]["nags"] == [0, 1, 255]
    tree[1]["nags"] = [256]
    with pytest.raises(BadRequest, match=naming("1 & 0 & 255 & nags")):
        files.save({"game": "chess", "tree": tree, "headers": {}})


def test_one_bad_game_does_not_hide_the_others() -> None:
    for text in ('[Variant "Atomic"]\n\n1. e4 *\n\n[White "A"]\n\n1. d4 *', "(;SZ[15];B[aa])\n(;SZ[9]PB[A];B[ee])"):
        found = load(text)
        assert found["count"] == 2
        assert found["problems"][0].startswith("game 1 cannot be shown: ")
        assert len(found["tree"]) == 1
        assert found["games"][1]["title"].startswith("A – ?")
        assert len(load(text, 1)["tree"]) == 2


def test_markup_passes_through_as_plain_data(client: Client) -> None:
    plain = HOSTILE.replace("}", "").rstrip("\\")
    pgn = f'[White "{plain}"]\n[Event "</title>"]\n\n1. e4 {{ {plain} }} *'
    found = client.good("/api/load", {"text": pgn})
    assert found["headers"]["White"] == plain
    assert found["tree"][1]["comment"] == plain
    saved = client.good("/api/save", {key: found[key] for key in ("game", "tree", "headers")})["text"]
    assert client.good("/api/load", {"text": saved})["tree"][1]["comment"] == plain
    escaped = HOSTILE.replace("\\", "\\\\").replace("]", "\\]")
    found = client.good("/api/load", {"text": f"(;SZ[9]PB[{escaped}];B[ee]C[{escaped}])"})
    assert found["headers"]["PB"] == HOSTILE
    assert found["tree"][1]["comment"] == HOSTILE
    saved = client.good("/api/save", {key: found[key] for key in ("game", "tree", "headers")})["text"]
    assert shape(client.good("/api/load", {"text": saved})["tree"]) == shape(found["tree"])


def test_a_header_cannot_become_another(client: Client) -> None:
    found = load("1. e4 *")
    headers = {
        "White": 'x"]\n[Result "1-0"]',
        "Bad name": "x",
        "Result": "1-0\n\n1. d4",
        "FEN": "x",
        "Y": 3,
        "Round": "ä",
    }
    again = load(save(found, headers=headers))
    assert again["headers"]["White"] == "x'] [Result '1-0']"
    assert again["headers"]["Result"] == "*"
    assert again["headers"]["Round"] == "ä"
    assert "Bad name" not in again["headers"]
    assert "FEN" not in again["headers"]
    assert again["count"] == 1
    found = load("(;SZ[9];B[ee])")
    again = load(save(found, headers={"PB": "x];W[aa", "SZ": "19", "AB": "aa", "KM": "6.5)"}))
    assert again["headers"]["PB"] == "x];W[aa"
    assert len(again["tree"]) == 2


def test_2000_moves() -> None:
    line = random_go(5, 2000, 19)
    text = "(;SZ[19]" + "".join(f";{'BW'[i % 2]}[{to_sgf(point)}]" for i, point in enumerate(line.moves)) + ")"
    found = load(text)
    assert len(found["tree"]) == 2001
    assert found["problems"] == []
    assert shape(load(save(found))["tree"]) == shape(found["tree"])
    moves = random_chess(5, 2000)
    game = chess.pgn.Game()
    node: chess.pgn.GameNode = game
    for move in moves:
        node = node.add_variation(chess.Move.from_uci(move))
    found = load(str(game))
    assert [n["move"] for n in found["tree"][1:]] == moves


def test_deep_variations() -> None:
    """One inside the other, thousands deep: nothing recurses."""
    depth = 400
    nested = "1. Nf3 " + "".join("( 1. Nc3 " for _ in range(depth)) + ") " * depth + "1... Nf6 *"
    assert len(load(nested)["tree"]) > 2
    sgf_text = "(;SZ[19]" + "".join(f"(;{'BW'[i % 2]}[]" for i in range(depth)) + ")" * depth + ")"
    found = load(sgf_text)
    assert len(found["tree"]) == depth + 1
    tree: list[dict[str, Any]] = [{"id": 0, "parent": None, "fen": chess.STARTING_FEN}]
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"]
    others = ["b1c3", "b8c6", "b1a3", "b8a6"]
    parent = 0
    for i in range(depth):
        tree.append({"id": 2 * i + 1, "parent": parent, "move": moves[i % 4]})
        tree.append({"id": 2 * i + 2, "parent": parent, "move": others[i % 4]})
        parent = 2 * i + 1
    text = files.save({"game": "chess", "tree": tree, "headers": {}})["text"]
    assert len(load(text)["tree"]) == 2 * depth + 1


def test_a_very_large_tree_is_cut() -> None:
    text = "(;SZ[9]" + "(;B[ee])" * (game_tree.MAX_NODES + 5) + ")"
    found = load(text)
    assert len(found["tree"]) == game_tree.MAX_NODES
    assert each_mentions(found["problems"], "20,000")


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        ([], "tree must have a root"),
        ("x", "tree & list"),
        ([1], "JSON & object"),
        ([{"id": 0}, {"id": 0, "parent": 0, "move": "e2e4"}], "tree & 1 & id"),
        ([{"id": 0}, {"id": 1, "parent": 2, "move": "e2e4"}], "tree & 1 & parent"),
        ([{"id": 0}, {"id": 1, "parent": 1, "move": "e2e4"}], "tree & 1 & parent"),
        ([{"id": 0}, {"id": 1, "parent": 0}], "tree & 1 & node"),
        ([{"id": 0}, {"id": 1, "parent": 0, "move": "e2e5"}], "e2e5 is illegal here"),
        ([{"id": 0, "nags": [-1]}], "tree & 0 & 255 & nags"),
        ([{"id": []}], "tree & 0 & id"),
    ],
)
def test_trees_that_cannot_be_saved(client: Client, tree: Any, told: str) -> None:
    assert mentions(client.error("/api/save", {"game": "chess", "tree": tree, "headers": {}}), told)


comments = some.text(alphabet=some.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


@given(
    seed=some.integers(0, 10**6),
    words=some.lists(comments, min_size=1, max_size=8),
    game=some.sampled_from(["chess", "go"]),
)
@example(seed=0, words=["\ufeff"], game="chess")
@example(seed=0, words=["\ufeff"], game="go")
def test_what_is_saved_can_be_loaded(seed: int, words: list[str], game: str) -> None:
    draw = random.Random(seed)
    line: Any = {"game": "chess"} if game == "chess" else {"game": "go", "size": 9}
    from kibitz.web import positions

    start = positions.read_line({"line": line}).nodes()[0]
    tree: list[dict[str, Any]] = [{**start, "id": 0, "parent": None, "comment": "", "nags": []}]
    paths: list[list[str]] = [[]]
    for _ in range(12):
        parent = draw.randrange(len(tree))
        here = {**line, "moves": paths[parent]}
        if game == "chess":
            choices = [a + b for a, targets in tree[parent]["dests"].items() for b in targets]
        else:
            choices = ["pass", "A1", "C3", "E5", "G7", "D4"]
        taken = {n["move"] for n in tree if n["parent"] == parent}
        try:
            node = positions.read_line({"line": here}).after(draw.choice(sorted(set(choices) - taken)))
        except (BadRequest, IndexError):
            continue
        comment = " ".join(draw.choice(words).replace("}", "").split()).strip()
        nag = draw.choice([[], [1], [2], [4], [6]])
        tree.append({**node, "id": len(tree), "parent": parent, "comment": comment, "nags": nag})
        paths.append([*paths[parent], node["move"]])
    found = {"game": game, "tree": tree, "headers": {}}
    text = save(found)
    assume(put_right(text) == text)  # no eight letters that can only be Chinese read as Latin
    again = load(text)

    def walk(nodes: list[dict[str, Any]]) -> list[Any]:
        """The tree in one order, whatever the numbers of its nodes."""
        by_parent: dict[Any, list[dict[str, Any]]] = {}
        for node in nodes:
            by_parent.setdefault(node["parent"], []).append(node)
        listed, todo = [], list(by_parent[None])
        while todo:
            node = todo.pop()
            listed.append((node["ply"], node["move"], node["san"], node["comment"], node["nags"]))
            todo += reversed(by_parent.get(node["id"], []))
        return listed

    assert walk(again["tree"]) == walk(tree)


@pytest.mark.parametrize(
    "text",
    ["(" * 500_000, "[" * 500_000, "x" * 3_000_000, "\n" * 1_000_000 + "x", "[A " * 100_000, '["' * 500_000],
)
def test_large_texts_that_are_no_games_come_to_an_end(text: str) -> None:
    with pytest.raises(BadRequest):
        load(text)


@pytest.mark.parametrize(
    "text",
    ["(;" * 100_000, "(;B[" * 50_000, "1. e4 {" * 50_000, "(;" + " " * 500_000 + "W[aa]", "(;B[aa" + "\\" * 99_999],
)
def test_large_texts_in_which_little_is_a_game_come_to_an_end(text: str) -> None:
    assert len(load(text)["tree"]) <= 2


def test_a_word_without_end(client: Client) -> None:
    """Patterns would search it for seconds, and keep all other requests waiting."""
    assert mentions(client.error("/api/load", {"text": "1. e4 " + "x" * 10_001}), "10,000 & characters")
    assert client.good("/api/load", {"text": "1. e4 {" + "x" * 9_000 + "} *"})["games"]


@pytest.mark.parametrize(
    ("text", "field"), [("1. e4", "nags"), ("1. e4", "shapes"), ("1. e4", "commands"), ("1. e4", "fen"),
                        ("(;SZ[9];B[ee])", "nags"), ("(;SZ[9];B[ee])", "props")],
)  # fmt: skip
@pytest.mark.parametrize("wrong", [False, 0, "", [], {}])
def test_an_empty_value_of_another_type_is_no_missing_field(text: str, field: str, wrong: Any) -> None:
    found = load(text)
    right = {"nags": [], "shapes": [], "fen": ""}.get(field, {})
    found["tree"][0][field] = None
    assert save(found)
    found["tree"][0][field] = wrong
    if type(wrong) is type(right):
        assert save(found)
    else:
        with pytest.raises(BadRequest, match=field):
            save(found)


@pytest.mark.parametrize("wrong", [False, 0, "", []])
def test_headers_and_setup_stones_are_objects(wrong: Any) -> None:
    chess, go = load("1. e4"), load("(;SZ[9];B[ee])")
    assert save(chess, headers=None) == save(chess, headers={})
    assert save(go, line=go["line"] | {"setup": None}) == save(go, line=go["line"] | {"setup": {}})
    with pytest.raises(BadRequest, match="headers must be"):
        save(chess, headers=wrong)
    with pytest.raises(BadRequest, match="headers must be"):
        game_page.page({"tree": chess["tree"], "line": chess["line"], "headers": wrong})
    with pytest.raises(BadRequest, match="setup must be"):
        save(go, line=go["line"] | {"setup": wrong})
    with pytest.raises(BadRequest, match="reasons must be"):
        noted(chess, {1: {"value": 0.5, "reasons": wrong}})


def noted(found: dict[str, Any], notes: dict[int, dict[str, Any]], **analysis: Any) -> str:
    tree = [{**node, **({"judged": notes[node["id"]]} if node["id"] in notes else {})} for node in found["tree"]]
    return save(found, tree=tree, analysis=analysis)


def test_chess_with_what_the_page_found() -> None:
    text = '[WhiteElo "1500"]\n\n1. f3 {[%clk 0:01:00] bad} (1. e4) 1... e5 $1 2. g4 $2 (2. h4) 2... Qh4# *'
    found = load(text)
    notes = {
        1: {"value": 0.4, "mark": "?!", "loss": 0.12},
        2: {"value": 0.3, "mark": "??", "loss": 0.4},
        3: {"value": 0.01, "mark": "??", "reasons": {"en": "Mate {in} [1].", "de": "Matt."}},
        4: {"value": 0.0},
        6: {"value": 0.35, "mark": "?", "reasons": {"en": "Weak."}},
    }
    by = {"engine": "Stockfish 15.1", "nodes": 1000, "depth": None}
    written = noted(found, notes, meaning="MEANING", checked_by=by)
    game = chess.pgn.read_game(io.StringIO(written))
    assert game is not None
    assert not game.errors
    assert game.headers["WhiteElo"] == "1500"
    assert mentions(game.comment, "MEANING & Stockfish 15.1 & 1,000")
    nodes = list(game.mainline())
    assert [node.nags for node in nodes] == [{6}, {1}, {2}, set()]  # annotations of the record stay
    assert [score and score.white().score() for score in (node.eval() for node in nodes)] == [-110, -230, -1248, None]
    assert nodes[0].clock() == 60
    again = load(written)
    assert [node["nags"] for node in again["tree"]] == [[], [6], [1], [2], [], [], [2]]
    assert again["tree"][6]["comment"] == "reason: Weak."
    assert again["tree"][1]["commands"] == {"clk": "0:01:00", "eval": "-1.10", "kibitz": "?!"}
    # Written again with other notes: the earlier ones are replaced, those of the record stay.
    twice = load(noted(again, {1: {"value": 0.5}, 6: {"value": 0.5, "mark": "?!"}}))
    assert [node["nags"] for node in twice["tree"]] == [[], [], [1], [2], [], [], [6]]
    assert twice["tree"][6]["comment"] == ""
    assert twice["tree"][1]["comment"] == "bad"
    assert twice["tree"][1]["commands"] == {"clk": "0:01:00", "eval": "0.00"}
    # Without an analysis nothing is written.
    plain = save(found, tree=[{**node, "judged": {"value": 0.5, "mark": "??"}} for node in found["tree"]])
    assert "eval" not in plain


def test_the_reason_has_the_language_of_the_page_or_english() -> None:
    found = load("1. f3 e5")
    note = {1: {"mark": "?", "reasons": {"en": "Weak.", "de": "Schwach."}}}
    assert "reason: Schwach." in noted(found, note, language="de")
    assert "reason: Weak." in noted(found, note, language="fr")
    assert "reason: Weak." in noted(found, note)


def test_a_mark_without_a_reason_has_the_better_move() -> None:
    found = load("1. f3 e5")
    note = {"mark": "?", "best": "d4", "line": ["d4", "d5", "nonsense"]}
    assert "better: d4 d5 " in noted(found, {1: note})
    assert "better" not in noted(found, {1: {**note, "reasons": {"en": "d4 is better."}}}).replace("is better", "")
    assert "better" not in noted(found, {1: {**note, "line": ["f3"]}})
    assert "better" not in noted(found, {1: {**note, "mark": ""}})


def test_the_accuracy_of_a_judged_game() -> None:
    found = load("1. f3 e5 2. g4")
    summary = {
        "game": "chess", "values": [0.5, 0.4, 0.4, 0.1], "movers": ["white", "black", "white"],
        "losses": [0.1, 0, 0.3], "marks": ["?!", "", "??"],
    }  # fmt: skip
    headers = load(noted(found, {}, summary=summary))["headers"]
    assert headers["BlackAccuracy"] == "100.0"
    assert 0 < float(headers["WhiteAccuracy"]) < 70
    assert "BlackAccuracy" not in load(noted(found, {}))["headers"]


def test_a_stalemate_is_even() -> None:
    found = load('[SetUp "1"]\n[FEN "7k/5K2/8/8/6Q1/8/8/8 w - - 9 60"]\n\n60. Qg6 1/2-1/2')
    assert "[%eval 0.00]" in noted(found, {1: {"value": 0.4}})
    assert "[%eval -1.10]" in noted(load("1. e4"), {1: {"value": 0.4}})


def test_a_mate_has_its_number_of_moves() -> None:
    found = load("1. f3 e5 2. g4 a6")
    written = noted(found, {3: {"value": 0.0, "mate": -1}, 4: {"value": 0.0}})
    assert "[%eval #-1]" in written
    assert written.count("[%eval -25.01]") == 1  # the control: a value without a mate is in pawns


def test_go_with_what_the_page_found() -> None:
    text = "(;GM[1]SZ[9]KM[6.5]PB[A]BR[3k];B[ee]BL[59.0];W[ec]C[why?];B[cc]BM[1](;W[gg])(;W[cg]))"
    found = load(text)
    dies = sentence("group_dies", {"colour": "white", "at": "E7", "stones": 1, "line": ["E6", "pass"]})
    notes = {
        0: {"value": 0.5, "lead": 0.0},
        1: {"value": 0.6, "lead": 1.24},
        2: {"value": 0.9, "lead": 7.5, "mark": "??", "points": 6.3, "best": "G5"},
        3: {"value": 0.5, "lead": 0.5, "mark": "?", "points": 7.0, "best": "C3"},
        5: {"value": 0.6, "lead": 4.0, "mark": "?!", "points": None, "loss": 0.125, "reasons": {"en": dies}},
    }
    summary = {
        "game": "go", "values": [0.5, 0.6, 0.9, 0.5, 0.5], "movers": ["black", "white", "black", "white"],
        "losses": [0, 6.3, 7, 0], "marks": ["", "??", "?", ""],
    }  # fmt: skip
    by = {"engine": "GNU Go 3.8", "nodes": None, "depth": None}
    written = noted(found, notes, summary=summary, checked_by=by)
    assert sgf.Sgf_game.from_string(written).get_root().get("BR") == "3k"
    again = load(written)
    tree = again["tree"]
    assert [node["nags"] for node in tree] == [[], [], [4], [2], [], [6]]
    assert tree[0]["comment"] == "Checked by GNU Go 3.8\nLead 0"
    assert tree[1]["props"] == {"BL": ["59.0"], "V": ["1.2"]}
    better = sentence("better_is", {"move": "G5", "points": 6})
    assert tree[2]["comment"].split("\n") == ["why?", "Lead B+7.5", mark_line("??", -6.3, "white"), better]
    assert tree[2]["props"] == {"V": ["7.5"], "HO": ["1"]}
    assert tree[3]["comment"] == "Lead B+0.5"  # the record's own annotation stays
    assert mentions(tree[4]["comment"], "Accuracy & Black & White & Turning point & move 3 & C7")
    said = mark_line("?!", -12.5, "white", "percentage points")
    assert tree[5]["comment"].split("\n") == ["Lead B+4.0", said, dies]
    # The same notes once more change nothing; other ones replace them.
    assert load(noted(again, notes, summary=summary, checked_by=by))["tree"] == tree
    twice = load(noted(again, {2: {"lead": 1.0, "points": 6.3, "best": "G5"}, 3: {"lead": 2.0}}))["tree"]
    assert [node["nags"] for node in twice] == [[], [], [], [2], [], [6]]
    assert twice[2]["comment"] == "why?\nLead B+1.0"
    assert twice[2]["props"] == {"V": ["1.0"]}


@pytest.mark.parametrize(
    ("note", "named"),
    [
        ({"value": 1.5}, "value & 1"),
        ({"mark": "!!"}, "mark"),
        ({"lead": "much"}, "lead"),
        ({"points": -1}, "points"),
        ({"reasons": ["x"]}, "reasons"),
        ({"reasons": {"en": "x" * 1001}}, "1,001"),
    ],
)
def test_notes_that_make_no_sense(note: dict[str, Any], named: str) -> None:
    found = load("1. e4")
    assert noted(found, {1: {"value": 0.5}})
    with pytest.raises(BadRequest) as refused:
        noted(found, {1: note})
    assert mentions(str(refused.value), named)
