"""kibitz.show: the picture says what the network says, of every way to name a position, and nothing else's markup."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import chess
import pytest

import kibitz
from kibitz.cli import run
from kibitz.errors import KibitzError, UsageError
from kibitz.games.go.points import BLACK, from_gtp
from kibitz.games.go.rules import Board as GoBoard
from kibitz.notebook import Shown
from kibitz.web import answers
from kibitz.web.chess.ratings import FIRST, by_rating
from kibitz.web.files import load
from kibitz.web.networks import NetworkRegistry
from kibitz.web.positions import read_line
from support.causes import mentions, naming

SVG = "{http://www.w3.org/2000/svg}"
RUY = "1. e4 e5 2. Nf3 (2. f4 exf4) Nc6 3. Bb5 a6 *"
SGF = "(;GM[1]SZ[9]KM[5.5];B[ee];W[ec](;B[cd];W[gd])(;B[gg]))"


def texts(shown: Shown) -> list[str]:
    """All that is written in the picture; that it is well-formed, with one style and nothing from elsewhere."""
    root = ElementTree.fromstring(shown.svg)
    names = [element.tag.removeprefix(SVG) for element in root.iter()]
    assert root.tag == SVG + "svg"
    assert not {"script", "image", "foreignObject", "a"} & set(names)
    used = {use.get("href", "")[1:] for use in root.iter(SVG + "use")}
    assert used <= {element.get("id") for element in root.iter()}
    assert shown.svg.count("http") == 1  # its own namespace
    return ["".join(element.itertext()) for element in root.iter(SVG + "text")]


def test_the_moves_before_a_position_are_told() -> None:
    """`human` is told the last ones, as by evaluate."""
    board = chess.Board()
    for move in ("e4", "e5", "Nf3", "Nc6", "Bb5"):
        board.push_san(move)
    told = kibitz.load_network("human").evaluate(board).moves
    assert told
    for position in (board, "1. e4 e5 2. Nf3 Nc6 3. Bb5 *"):
        shown = {move["san"]: move["p"] for move in kibitz.show(position, "human").answer["moves"]}
        for move in told[:4]:
            assert shown[move.san] == pytest.approx(move.probability, abs=2e-3)
    board.set_piece_at(chess.A2, None)  # it is not where its moves lead
    assert kibitz.show(board, "human").answer["moves"]


def test_a_board_a_fen_and_a_pgn_say_the_same() -> None:
    board = chess.Board()
    for move in ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6"):
        board.push_san(move)
    shown = kibitz.show(board, "chessnet")
    assert kibitz.show(RUY, "chessnet") == shown
    assert kibitz.show(RUY, "chessnet", ply=6).answer == shown.answer
    assert kibitz.show(board.fen(), "chessnet").answer == {**shown.answer, "ply": 0}
    assert shown._repr_svg_() == shown.svg
    assert repr(shown) == shown.text


def test_a_mover_is_shown_with_its_heat_and_its_first_moves() -> None:
    shown = kibitz.show(RUY, "chessnet", ply=5)
    answer = shown.answer
    first = answer["moves"][0]
    written = texts(shown)
    assert f"White {answer['white']:.0%}" in written  # the bar
    assert f"{first['p']:.0%}" in written  # the arrow
    assert f"{first['san']} {first['p']:.0%}" in shown.text
    assert "After 3.Bb5. Black to move." in shown.text
    assert "Black's next move" in shown.text
    assert "White's win probability" in shown.text
    assert shown.svg.count('class="heat"') == sum(p >= 0.005 for p in answer["origin"]) > 0
    assert sum(answer["origin"]) == pytest.approx(1, abs=0.02)


def test_a_network_that_says_who_wins_has_a_bar_alone() -> None:
    shown = kibitz.show("k7/8/8/8/8/8/QR6/K7 b - - 0 1", "winner")
    assert shown.answer["moves"] is None
    assert f"White {shown.answer['white']:.0%}" in texts(shown)
    assert "polygon" not in shown.svg
    assert 'class="heat"' not in shown.svg


def test_the_game_s_end() -> None:
    mate = kibitz.show("1. f3 e5 2. g4 Qh4#", "chessnet-value")
    assert mate.answer["white"] == 0
    assert "White 0%" in texts(mate)
    assert "No move is legal." in kibitz.show("1. f3 e5 2. g4 Qh4#", "chessnet").text


def test_go_is_shown_with_owners_and_score() -> None:
    shown = kibitz.show(SGF, "gocnn", ply=3)
    answer = shown.answer
    assert len(answer["owners"]) == 81
    assert all(0 <= chance <= 1 for chance in answer["owners"])
    assert f"Black {answer['black']:.0%}" in texts(shown)
    assert mentions(shown.text, "3 & C6 & White & move")
    assert "komi 5.5 counted" in shown.text
    assert f"{abs(answer['score']):.1f} points" in shown.text
    assert 'class="owned"' in shown.svg


def test_a_network_that_names_moves_of_go_is_shown_as_the_board_shows_it() -> None:
    shown = kibitz.show(SGF, "gohuman", ply=3)
    best = shown.answer["moves"][0]
    assert f"{best['san']} {best['p']:.0%}" in shown.text
    networks = NetworkRegistry(["gohuman"])
    line = read_line({"line": {**load({"text": SGF})["line"], "moves": ["E5", "E7", "C6"]}})
    (_, [result], _) = answers.analyse(networks, networks.ready("gohuman"), line, 3, 3, 0, None)
    for name in ("black", "score", "moves", "owners"):
        assert shown.answer[name] == result[name]


def test_a_board_of_go() -> None:
    board = GoBoard(9)
    for point in ("E5", "E7", "C6"):
        board.play(board.to_move, from_gtp(point, 9))
    shown = kibitz.show(board, "gocnn")
    assert board.to_move != BLACK
    assert shown.answer["owners"] == kibitz.show(SGF, "gocnn", ply=3).answer["owners"]
    assert "White to move." in shown.text
    assert "komi 7.5" in shown.text


def test_what_cannot_be_shown_is_said_in_a_line() -> None:
    with pytest.raises(KibitzError, match="is not a run"):
        kibitz.show(chess.STARTING_FEN, "runs/none")
    with pytest.raises(KibitzError, match="network for Go"):
        kibitz.show(chess.STARTING_FEN, "gocnn")
    with pytest.raises(KibitzError, match="network for chess"):
        kibitz.show(GoBoard(9), "winner")
    with pytest.raises(UsageError, match="from 0 to 6"):
        kibitz.show(RUY, "winner", ply=7)
    with pytest.raises(UsageError, match=naming("ply & 1")):
        kibitz.show(chess.Board(), "winner", ply=1)
    with pytest.raises(KibitzError, match=naming("open & PGN & FEN")):
        kibitz.show("", "winner")


def test_names_are_text(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from kibitz.runs import packaged

    run = tmp_path / "<b>&amp;"
    run.symlink_to(packaged()["winner"])
    shown = kibitz.show(chess.STARTING_FEN, run)
    assert any("<b>&amp;" in text for text in texts(shown))


def test_two_ratings_side_by_side(human_run: Path) -> None:
    shown = kibitz.show(chess.Board(), human_run)
    ratings = [one["rating"] for one in shown.answer["by_rating"]]
    assert ratings == [1200, 2200]
    for one in shown.answer["by_rating"]:
        assert f"Players of {one['rating']}: {one['moves'][0]['san']}" in shown.text
        assert 0 < sum(move["p"] for move in one["moves"]) <= 1.001
    first, second = (one["moves"] for one in shown.answer["by_rating"])
    assert first != second


def test_moves_by_rating_are_those_of_the_page(tmp_path: Path) -> None:
    board = chess.Board()
    for move in ("e4", "e5", "Nf3", "Nf6", "Nxe5", "Nc6", "Nxc6", "dxc6", "d3", "Bc5"):
        board.push_san(move)
    found = kibitz.moves_by_rating(board)
    networks = NetworkRegistry(["human"])
    line = read_line({"line": {"game": "chess", "moves": [move.uci() for move in board.move_stack]}})
    page = by_rating(networks, networks.ready("human"), line)
    assert list(found.ratings) == list(page["ratings"])
    of_page = {move["move"]: move for move in page["moves"]}
    assert FIRST <= len(found.moves) < len(of_page)
    assert all(
        (move["san"], move["p"]) == (of_page[move["move"]]["san"], of_page[move["move"]]["p"]) for move in found.moves
    )
    assert set(found.moves[0]) == {"move", "san", "p", "loss"}
    likely = found.moves[0]
    assert found.moves[0]["loss"] is not None
    assert min(move["loss"] for move in found.moves if move["loss"] is not None) >= 0
    assert f"{likely['p'][0]:>7.0%}" in repr(found)
    assert "After 5...Bc5. White to move." in repr(found)
    for trap in found.traps:
        assert f"Trap: {trap['san']} loses" in found.text
        assert f"{trap['san']} (trap)" in found.svg
    root = ElementTree.fromstring(found._repr_svg_())
    assert found.svg.count("polyline") == len(list(root.iter(SVG + "polyline"))) > 0
    found.save(tmp_path / "moves.svg")
    assert (tmp_path / "moves.svg").read_text(encoding="utf-8") == found.svg
    found.save(tmp_path / "moves.png")
    assert (tmp_path / "moves.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=naming("moves.gif & svg")):
        found.save(tmp_path / "moves.gif")
    with pytest.raises(KibitzError, match="nowhere"):
        found.save(tmp_path / "nowhere" / "moves.svg")


HEADERS = {"Event": "Rated Bullet game", "Site": "https://lichess.org/abcdefgh", "TimeControl": "60+0"}


def test_the_headers_of_a_pgn_are_inputs_as_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = {"WhiteElo": "900", "BlackElo": "2300"}
    pgn = "".join(f'[{name} "{value}"]\n' for name, value in (HEADERS | ratings).items()) + f"\n{RUY}\n"
    networks = NetworkRegistry(["human"])
    known = networks.ready("human")
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"]
    line = read_line({"line": {"game": "chess", "moves": moves, "headers": HEADERS, "ratings": [900, 2300]}})
    shares = {move["move"]: move["p"] for move in by_rating(networks, known, line)["moves"]}
    found = kibitz.moves_by_rating(pgn)
    assert {move["move"]: move["p"] for move in found.moves}.items() <= shares.items()
    assert found.moves != kibitz.moves_by_rating(RUY).moves
    file = tmp_path / "game.pgn"
    file.write_text(pgn, encoding="utf-8")
    assert run(["analyze", "human", str(file), "--by-rating", str(tmp_path / "moves.svg"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["moves"] == list(found.moves)
    (_, [result], _) = answers.analyse(networks, known, line, 6, 6, 0, None)
    assert kibitz.show(pgn, "human").answer["moves"] == result["moves"]
    assert kibitz.show(RUY, "human").answer["moves"] != result["moves"]


def test_moves_by_rating_at_the_end_and_where_there_are_none() -> None:
    assert kibitz.moves_by_rating("1. f3 e5 2. g4 *").moves
    over = kibitz.moves_by_rating("1. f3 e5 2. g4 Qh4#")
    assert (over.moves, over.risk, over.traps) == ((), (), ())
    assert "No move is legal." in over.text
    assert ElementTree.fromstring(over.svg).tag == SVG + "svg"
    with pytest.raises(KibitzError, match=naming("chessnet & rating")):
        kibitz.moves_by_rating(chess.Board(), "chessnet")
    with pytest.raises(KibitzError, match="chess"):
        kibitz.moves_by_rating(SGF)
    with pytest.raises(UsageError, match=naming("ply & 1")):
        kibitz.moves_by_rating(chess.Board(), ply=1)
