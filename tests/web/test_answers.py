"""What networks say, against the networks asked directly."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest

from kibitz.analysis import load, load_owners
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import encode_board
from kibitz.games.go.points import from_gtp, to_gtp
from kibitz.games.go.replay import encode_board as encode_go
from kibitz.games.go.sides import side_inputs
from kibitz.play.go.ownership import BothSides, lead, points_of, spread, winrate, with_board_inputs
from kibitz.play.session import Session
from kibitz.play.side_inputs import with_side_inputs
from kibitz.web.go.answers import N_MOVES
from kibitz.web.go.line import GoLine
from support.board_client import Client
from support.causes import mentions
from support.random_lines import random_chess, random_go

MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


def rows(boards: list[chess.Board]) -> tuple[Any, Any]:
    found = np.stack([encode_board(board) for board in boards])
    return np.ascontiguousarray(found[:, :64]), np.ascontiguousarray(found[:, 64:])


def boards_of(moves: list[str]) -> list[chess.Board]:
    board = chess.Board()
    found = [board.copy()]
    for move in moves:
        board.push_uci(move)
        found.append(board.copy())
    return found


@pytest.mark.parametrize("name", ["winner", "chessnet", "chessnet-value", "convchess"])
def test_analysis_of_a_game_of_chess(client: Client, name: str) -> None:
    moves = random_chess(4, 60)
    lines = client.stream("/api/analyse", {"network": name, "line": {"game": "chess", "moves": moves}, "seq": 7})
    assert all(line["seq"] == 7 for line in lines)
    assert lines[0] == {"seq": 7, "total": 61}
    assert lines[-1]["done"] is True
    results = lines[1:-1]
    assert [result["ply"] for result in results] == list(range(61))
    boards = boards_of(moves)
    session, analysis = Session(name), load("chessnet" if name == "chessnet-value" else name)
    codes, state = rows(boards)
    answers = session.evaluate(codes, state)
    white = analysis.white_wins(answers, state)
    expected = analysis.expected_moves(answers, codes, state)
    for i, (result, board) in enumerate(zip(results, boards, strict=True)):
        if white is None:
            assert result["white"] is None
        elif not board.is_game_over():
            assert result["white"] == pytest.approx(white[i], abs=1e-3)
        if expected is None:
            assert result["moves"] is None
            assert result["origin"] is None
            continue
        np.testing.assert_allclose(result["origin"], answers["origin"][i], atol=1e-3)
        legal, offsets, shares = expected
        one = slice(offsets[i], offsets[i + 1])
        best = max(zip(shares[one].tolist(), legal[one].tolist(), strict=True))[0] / shares[one].sum()
        assert len(result["moves"]) == min(8, len({(m.from_square, m.to_square) for m in board.legal_moves}))
        assert result["moves"][0]["p"] == pytest.approx(best, abs=1e-3)
        shown = [move["p"] for move in result["moves"]]
        assert shown == sorted(shown, reverse=True)
        for move in result["moves"]:
            assert board.san(board.parse_uci(move["move"])) == move["san"]


def test_likely_moves_are_those_of_the_players_and_the_chance_is_nobodys(client: Client) -> None:
    """Moves: both ratings and the last moves are told. Chance: no rating, so that names alone change no evaluation."""
    moves, ratings = random_chess(3, 30), [900, 2300]
    line = {"game": "chess", "moves": moves, "ratings": ratings}
    results = client.stream("/api/analyse", {"network": "human", "line": line, "from": 7})[1:-1]
    boards = boards_of(moves)[7:]
    session, analysis = Session("human"), load("human")
    for result, board in zip(results, boards, strict=True):
        codes, state = rows([board])
        known = {"rating": ratings[not board.turn] // 16, "opponent_rating": ratings[board.turn] // 16}
        told = session.evaluate(codes, with_side_inputs(state, session.side_inputs, board, known))
        _, _, shares = analysis.expected_moves(told, codes, state)  # type: ignore[misc]
        assert result["rating"] == ratings[not board.turn]
        assert result["moves"][0]["p"] == pytest.approx(shares.max() / shares.sum(), abs=1e-3)
        alone = session.evaluate(codes, with_side_inputs(state, session.side_inputs, board, {}))
        assert result["white"] == pytest.approx(analysis.white_wins(alone, state)[0], abs=1e-3)  # type: ignore[index]
        assert [each["rating"] for each in result["by_rating"]] == [1200, 2200]
    unrated = client.stream("/api/analyse", {"network": "human", "line": {"game": "chess", "moves": moves}, "from": 29})
    assert "rating" not in unrated[1]
    half = {"game": "chess", "moves": moves, "ratings": [0, 2300]}
    told_by_half = client.stream("/api/analyse", {"network": "human", "line": half, "from": 29})[1:-1]
    assert [result.get("rating") for result in told_by_half] == [2300, None], "Black's of the two positions"


@pytest.mark.parametrize("ratings", [[1500], [1500, -1], [1500, 4001], ["1500", 1500], [True, 1500], 1500, None])
def test_ratings_that_are_none(client: Client, ratings: object) -> None:
    answer = client.post("/api/analyse", {"network": "human", "line": {"game": "chess", "ratings": ratings}})
    assert answer.status == 400
    assert mentions(answer.json["error"], "ratings & 4000 & whole")


def test_the_rules_have_the_word_at_the_end(client: Client) -> None:
    lines = client.stream("/api/analyse", {"network": "chessnet", "line": {"game": "chess", "moves": MATE}, "from": 3})
    assert [line.get("ply") for line in lines] == [None, 3, 4, None]
    assert lines[2]["white"] == 0
    assert lines[2]["moves"] == []
    stalemate = {"game": "chess", "fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}
    assert client.stream("/api/analyse", {"network": "winner", "line": stalemate})[1]["white"] == 0.5


def test_analysis_of_a_game_of_go(client: Client) -> None:
    line = random_go(4, 40, 9)
    lines = client.stream("/api/analyse", {"network": "gocnn", "line": line.as_json(), "from": 5, "to": 33, "seq": 1})
    assert lines[0] == {"seq": 1, "total": 29}
    session = BothSides(Session("gocnn"))
    board = line.start()
    for ply, point in enumerate(line.moves[:33], 1):
        board.play(board.to_move, point)
        if ply < 5:
            continue
        result = lines[ply - 4]
        codes, state = encode_go(board)
        owners = load_owners("gocnn").black_owns(session.evaluate(codes[None], state[None]))[0].astype(np.float32)
        assert result["ply"] == ply
        np.testing.assert_allclose(result["owners"], owners[points_of(9)], atol=2e-3)
        points = float(lead(owners, 9)) - 7.5
        assert result["score"] == pytest.approx(points, abs=0.05)
        assert result["black"] == pytest.approx(winrate(points, spread(owners, 9)), abs=2e-3)


def test_white_is_paid_for_handicap_stones_as_the_engine_does(client: Client) -> None:
    line: dict[str, Any] = {"game": "go", "size": 9, "komi": 0, "side": "w", "setup": {"B": ["C3", "G7"], "W": []}}
    scores = {
        rules: client.stream("/api/analyse", {"network": "gocnn", "line": {**line, "rules": rules}})[1]["score"]
        for rules in ("chinese", "japanese", "aga", "new-zealand")
    }
    lost = {rules: scores["new-zealand"] - score for rules, score in scores.items()}
    assert lost == pytest.approx({"chinese": 2, "japanese": 2, "aga": 1, "new-zealand": 0})


def test_likely_moves_of_go_are_those_of_the_players(client: Client) -> None:
    """`gohuman`: the probabilities of all moves, of which the likeliest are shown."""
    line = {"game": "go", "size": 9, "moves": ["E5", "C3"]}
    moves = client.stream("/api/analyse", {"network": "gohuman", "line": line})[-2]["moves"]
    shares = [move["p"] for move in moves]
    assert len(moves) == N_MOVES
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) <= 1.001
    assert all(move["move"] == move["san"] for move in moves)
    assert not {move["move"] for move in moves} & set(line["moves"])
    known = client.stream("/api/analyse", {"network": "gocnn", "line": line})[-2]
    assert known["moves"] is None  # it predicts none


def test_a_network_of_go_hears_komi_and_rules_and_nothing_of_the_players() -> None:
    usual = {"komi": 1, "rank": 2, "handicap": 3, "rules": 4, "server": 5}
    line = GoLine(9, 6.5, "japanese", (), (), 1)
    known = side_inputs(6.5, None, "japanese")
    told = with_board_inputs(np.zeros((2, 4), np.uint8), usual, line.terms)
    assert told.tolist() == [[0, 0, 0, 0, known["komi"], 2, known["handicap"], known["rules"], 5]] * 2
    assert known["komi"] != 1


@pytest.mark.parametrize(
    ("asked", "told", "status"),
    [
        ({"network": "nothing"}, "'nothing' & nothing", 404),
        ({"network": "../../etc"}, "unknown network", 404),
        ({"network": 3}, "network & string", 400),
        ({}, "network & string", 400),
        ({"network": "gocnn"}, "gocnn & Go & network", 400),
        ({"network": "winner", "line": {"game": "go"}}, "winner & chess", 400),
        ({"network": "winner", "line": None}, "line & JSON & object", 400),
        ({"network": "winner", "from": 3}, "from & 0 & whole", 400),
        ({"network": "winner", "to": -1}, "to & 0 & whole", 400),
        ({"network": "winner", "seq": "x"}, "seq & whole", 400),
        ({"network": "winner", "snapshot": 3}, "snapshot & string", 400),
    ],
)
def test_what_cannot_be_analysed(client: Client, asked: dict[str, Any], told: str, status: int) -> None:
    assert mentions(client.error("/api/analyse", {"line": {"game": "chess"}, **asked}, status), told)


def test_targets(client: Client) -> None:
    line = {"game": "chess", "moves": ["e2e4"]}
    for name in ("convchess", "chessnet"):
        found = client.good("/api/targets", {"network": name, "line": line, "square": "g8"})["targets"]
        codes, state = rows([boards_of(["e2e4"])[-1]])
        target = Session(name).evaluate(codes, state)["target"][0]
        np.testing.assert_allclose(found, target[62 if len(target) == 64 else 1], atol=1e-3)
        assert sum(found) == pytest.approx(1, abs=0.01)
        for square in ("e5", "e4"):  # empty; White's
            assert set(client.good("/api/targets", {"network": name, "line": line, "square": square})["targets"]) == {0}
    asked = {"network": "convchess", "line": line}
    assert mentions(client.error("/api/targets", {**asked, "square": "i9"}), "square & a1 & h8")
    assert mentions(client.error("/api/targets", {**asked, "network": "winner", "square": "g8"}), "winner & moves")


def test_targets_of_a_network_that_is_told_ratings_and_the_moves_before(client: Client) -> None:
    """Where a piece would go is told as the moves are: with what the line says of the players, and how it came here."""
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "e1g1", "g8f6", "d2d3", "d7d6", "c1g5", "h7h6"]
    line = {"game": "chess", "moves": moves, "ratings": [1000, 1000]}
    found = client.good("/api/targets", {"network": "human", "line": line, "square": "g5"})["targets"]
    asked = client.stream("/api/analyse", {"network": "human", "line": line, "from": 12, "to": 12})
    listed = {each["move"]: each["p"] for each in asked[1]["moves"]}
    piece = sum(p for move, p in listed.items() if move.startswith("g5"))
    assert piece > 0.5
    for move, p in listed.items():
        if move.startswith("g5"):
            # The list has the likely moves alone.
            assert found[chess.parse_square(move[2:4])] == pytest.approx(p / piece, abs=0.03)


def claimed(client: Client, name: str) -> str:
    """What the page calls the network's value."""
    networks = client.get("/api/networks").json["networks"]
    return str(next(each for each in networks if each["name"] == name)["claim"]["name"])


@pytest.mark.parametrize("name", ["winner", "chessnet", "convchess"])
def test_what_matters_in_chess(client: Client, name: str) -> None:
    """Against the position set up again without each piece."""
    board = chess.Board("r3k2r/pp3ppp/2n5/3pP3/8/2N2N2/PP3PPP/R3K2R w KQkq d6 0 1")
    line = {"game": "chess", "fen": board.fen()}
    found = client.good("/api/occlusion", {"network": name, "line": line})
    session, analysis = Session(name), load(name)
    without = []
    squares = [square for square, piece in board.piece_map().items() if piece.piece_type != chess.KING]
    for square in squares:
        changed = board.copy()
        changed.remove_piece_at(square)
        if square == chess.D5:
            changed.ep_square = None
        without.append(changed)
    codes, state = rows([board, *without])
    answers = session.evaluate(codes, state)
    white = analysis.white_wins(answers, state)
    if white is not None:
        value, what = white, claimed(client, name)
    else:
        expected = analysis.expected_moves(answers, codes, state)
        assert expected is not None
        best = int(expected[0][: expected[1][1]][np.argmax(expected[2][: expected[1][1]])])
        start, end = best & 63, best >> 6 & 63
        kind = (int(codes[0, start]) - 1) % 6
        value = answers["origin"][:, start] * answers["target"][:, kind, end]
        if start in squares:  # what is gone cannot move
            value[1 + squares.index(start)] = 0
        what = f"the probability of {board.san(chess.Move(start, end))}"
    assert found["what"] == what
    shown = np.zeros(64)
    shown[squares] = value[1:] - value[0]
    np.testing.assert_allclose(found["values"], shown, atol=2e-3)


def test_what_matters_in_go(client: Client) -> None:
    line = random_go(2, 30, 9)
    found = client.good("/api/occlusion", {"network": "gocnn", "line": line.as_json()})
    assert found["what"] == claimed(client, "gocnn")
    board = line.board()
    stones = [p for p in points_of(9).tolist() if board[p]]
    shown = {point for point, value in zip(points_of(9).tolist(), found["values"], strict=True) if value}
    assert shown <= set(stones)
    assert len(shown) > len(stones) // 2
    # One of them by hand: a stone set up is as one that was played, but for its age, of which this network is not told.
    gone, left = stones[0], stones[1:]
    black, white = (tuple(p for p in left if board[p] == colour) for colour in (1, 2))
    side = board.to_move
    again = GoLine(9, 7.5, "japanese", black, white, side).as_json()
    before = client.stream("/api/analyse", {"network": "gocnn", "line": line.as_json(), "from": 30})[1]["black"]
    after = client.stream("/api/analyse", {"network": "gocnn", "line": again})[1]["black"]
    assert found["values"][points_of(9).tolist().index(gone)] == pytest.approx(after - before, abs=3e-3)
    assert to_gtp(gone, 9)


def test_what_matters_is_told_of_the_game(client: Client) -> None:
    """`human` hears the last moves, and `gohuman` says Black's chance itself, as in its other answers."""
    line = {"game": "chess", "moves": ["e2e4", "e7e5", "g1f3", "b8c6"]}
    last = client.stream("/api/analyse", {"network": "human", "line": line})[-2]
    with_moves = client.good("/api/occlusion", {"network": "human", "line": line})["values"]
    board = chess.Board()
    for move in line["moves"]:
        board.push_uci(move)
    alone = client.good("/api/occlusion", {"network": "human", "line": {"game": "chess", "fen": board.fen()}})["values"]
    assert np.abs(np.array(with_moves) - alone).max() > 0.002
    assert last["white"] + min(with_moves) >= -1e-3
    small = {"game": "go", "size": 9, "moves": ["E5", "C3", "G3"]}
    there = client.stream("/api/analyse", {"network": "gohuman", "line": small})[-2]["black"]
    values = client.good("/api/occlusion", {"network": "gohuman", "line": small})["values"]
    # The same last two moves, without the stone on E5.
    gone = {"game": "go", "size": 9, "side": "w", "moves": ["C3", "G3"]}
    without = client.stream("/api/analyse", {"network": "gohuman", "line": gone})[-2]["black"]
    assert values[4 * 9 + 4] == pytest.approx(without - there, abs=0.002)


def test_a_game_of_go_that_two_passes_ended_has_no_likely_moves(client: Client) -> None:
    line = {"game": "go", "size": 9, "moves": ["E5", "pass", "pass"]}
    answers = client.stream("/api/analyse", {"network": "gohuman", "line": line})
    assert [bool(one["moves"]) for one in answers if "ply" in one] == [True, True, True, False]


def test_the_letter_i_names_no_column_of_a_go_board(client: Client) -> None:
    skipped = "skip the letter I"
    for move in ("I5", "K5"):
        line = {"game": "go", "size": 9, "moves": [move]}
        assert (skipped in client.error("/api/analyse", {"network": "gohuman", "line": line})) == (move == "I5")
    with pytest.raises(ValueError, match=skipped):
        from_gtp("i5", 9)


def test_two_passes_change_no_stone_in_go(client: Client) -> None:
    """A stone that is removed has no final score, whatever ended the line. This network does not see passes."""
    moves = ["D4", "F6", "C6", "G4", "E7"]
    played, ended = (
        client.good("/api/occlusion", {"network": "gocnn", "line": {"game": "go", "size": 9, "moves": each}})["values"]
        for each in (moves, [*moves, "pass", "pass"])
    )
    assert np.abs(played).max() > 0.05
    np.testing.assert_allclose(ended, played, atol=2e-3)


def test_an_empty_board_matters_nowhere(client: Client) -> None:
    found = client.good("/api/occlusion", {"network": "gocnn", "line": {"game": "go", "size": 9}})
    assert set(found["values"]) == {0}
    kings = {"game": "chess", "fen": "4k3/8/8/8/8/8/8/4K3 w - - 0 1"}
    for name in ("winner", "convchess"):
        assert set(client.good("/api/occlusion", {"network": name, "line": kings})["values"]) == {0}
    mate = {"game": "chess", "moves": MATE}
    found = client.good("/api/occlusion", {"network": "convchess", "line": mate})
    assert mentions(found["what"], "nothing & move")


def test_moves_that_have_no_probability_are_likely_moves_too_where_there_are_few() -> None:
    """But a promotion to less than a queen is one only where the network knows it."""
    from kibitz.web.chess.answers import best_moves

    board = chess.Board("7k/P7/8/8/8/8/8/K7 w - - 0 1")
    legal = list(board.legal_moves)

    def listed(known: dict[str, float], limit: int) -> dict[str, float]:
        shares = np.array([known.get(move.uci(), 0.0) for move in legal], np.float32)
        moves = np.array([from_move(move) for move in legal], np.uint16)
        return {each["move"]: each["p"] for each in best_moves(board, moves, shares, limit)}

    rest = {move.uci(): 0.0 for move in legal if not move.promotion and move.uci() != "a1b1"}
    assert list(listed({"a7a8q": 0.5, "a1b1": 1.5}, 9).items()) == [("a1b1", 0.75), ("a7a8q", 0.25), *rest.items()]
    assert listed({"a7a8n": 0.5, "a1b1": 1.5}, 2) == {"a1b1": 0.75, "a7a8n": 0.25}
