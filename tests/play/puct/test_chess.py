"""What PUCT needs of chess, against python-chess."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import encode_board
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.puct.chess import CaptureWeights, ChessRules, described, history, repeated, short_mate, start
from kibitz.play.puct.tree import DRAW, LOSS, UNKNOWN, WIN
from support.chess_fakes import Fake

ODD = [
    "8/8/8/8/8/6k1/4p3/7K b - - 0 1", "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 98 80", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "8/8/4k3/8/2B5/8/4K3/3b4 w - - 0 1",
    "6k1/5ppp/8/8/8/8/q4PPP/1R4K1 w - - 0 1",
]  # fmt: skip


def end_of(board: chess.Board) -> int:
    """How a position ends its game by itself: the slow twin of `ChessRules.enter`."""
    if board.is_checkmate():
        return LOSS
    ended = board.is_stalemate() or board.is_insufficient_material() or board.halfmove_clock >= 100
    return DRAW if ended else UNKNOWN


def mates_by(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move mates."""
    board.push(move)
    mated = board.is_checkmate()
    board.pop()
    return mated


@pytest.mark.parametrize("seed", range(7))
def test_positions_after_moves(seed: int) -> None:
    draw, rules = random.Random(seed), ChessRules(Fake(), Fake())
    board = chess.Board() if seed == 0 else chess.Board(ODD[seed - 1])
    for _ in range(60):
        moves = list(board.legal_moves)
        if not moves:
            break
        packed = np.array([from_move(move) for move in moves], np.uint16)
        entered = rules.enter(np.repeat(encode_board(board)[None], len(moves), 0), packed)
        for i, move in enumerate(moves):
            after = board.copy()
            after.push(move)
            assert entered.rows[i].tolist() == encode_board(after).tolist()
            there = {to_move(one) for one in entered.moves[entered.offsets[i] : entered.offsets[i + 1]].tolist()}
            mates = {one for one in after.legal_moves if mates_by(after, one)}
            if end_of(after) == UNKNOWN and mates:
                assert entered.ended[i] == WIN
                assert len(there) == 1
                assert there <= mates
            else:
                assert entered.ended[i] == end_of(after), after.fen()
                assert there == set(after.legal_moves)
        board.push(draw.choice(moves))


def test_a_key_stands_for_what_the_rules_call_the_same_position() -> None:
    def key(*moves: str) -> int:
        board = chess.Board()
        for move in moves:
            board.push_uci(move)
        return int(start(board).keys[0])

    assert key("g1f3", "g8f6", "b1c3") == key("b1c3", "g8f6", "g1f3")
    assert key() == key("g1f3", "g8f6", "f3g1", "f6g8")
    boards = ["4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3 b - - 0 1"]
    rows = np.stack([encode_board(chess.Board(fen)) for fen in boards])
    assert len(set(described(rows).keys.tolist())) == 3
    clocks = np.stack([encode_board(chess.Board(f"4k3/8/8/8/8/8/8/R3K3 w - - {clock} 60")) for clock in (0, 50)])
    assert len(set(described(clocks).keys.tolist())) == 1


def test_history_counts_positions_that_may_come_again() -> None:
    board = chess.Board()
    for move in ("e2e4", "e7e5", *("g1f3", "g8f6", "f3g1", "f6g8") * 2):
        board.push_uci(move)
    past, here = history(board), int(start(board).keys[0])
    assert len(past) == 8
    assert [i for i, key in enumerate(past) if key == here] == [0, 4]
    assert here in repeated(past)
    assert len(repeated(past)) == 4
    assert len(repeated(past[:5])) == 1
    assert history(chess.Board()) == []


def mates_in_two(board: chess.Board) -> set[chess.Move]:
    """The moves that do not mate and after which every reply allows a mate: the slow twin of `short_mate`."""
    found = set()
    for move in board.legal_moves:
        board.push(move)
        replies = list(board.legal_moves)
        forced = bool(replies)
        for reply in replies:
            board.push(reply)
            forced = forced and any(mates_by(board, answer) for answer in board.legal_moves)
            board.pop()
        if forced:
            found.add(move)
        board.pop()
    return found


def asked(board: chess.Board, drawn_keys: tuple[int, ...] = ()) -> tuple[chess.Move, ...]:
    """What `short_mate` says of all moves of a board."""
    entered = start(board)
    line = short_mate(entered.rows[0], entered.moves, np.array(drawn_keys, np.uint64))
    return tuple(to_move(move) for move in line or ())


def test_mates_in_two_are_those_of_a_plain_loop() -> None:
    draw, seen = random.Random(5), {True: 0, False: 0}
    while min(seen.values()) < 40:
        board = chess.Board(None)
        pieces = ["K", "k", *draw.choices("QRRBNPqrbnp", k=draw.randint(2, 5))]
        for square, symbol in zip(draw.sample(range(64), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(symbol))
        if not board.is_valid():
            continue
        expected = {move for move in board.legal_moves if mates_by(board, move)} or mates_in_two(board)
        if seen[bool(expected)] >= 40:
            continue
        seen[bool(expected)] += 1
        line = asked(board)
        assert bool(line) == bool(expected), board.fen()
        if line:
            assert line[0] in expected, board.fen()
            for move in line:
                assert move in board.legal_moves
                board.push(move)
            assert board.is_checkmate()


def test_a_mate_in_two_is_none_where_the_game_is_drawn_before() -> None:
    board = chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1")
    line = asked(board)
    assert line[0].uci() == "a1a6"
    board.push(line[0])
    assert not asked(chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"), (int(start(board).keys[0]),))
    board.push(line[1])
    assert not asked(chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"), (int(start(board).keys[0]),))
    assert not asked(chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 98 90"))


def told(fen: str, captures: CaptureWeights | None, value: float = 0.0) -> tuple[float, dict[str, float]]:
    """The value of a position and the priors of its moves, by a network that thinks all alike."""

    class Even(Fake):
        def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
            return {**super().evaluate(codes, state), "value": np.full(len(codes), value, np.float32)}

    rules, entered = ChessRules(Even(sharp=0.0), Even(), captures=captures), start(chess.Board(fen))
    values, priors = rules.evaluate(entered.rows, entered.moves, entered.offsets)
    assert priors.sum() == pytest.approx(1, abs=1e-5)
    moves = [to_move(move).uci() for move in entered.moves.tolist()]
    return float(values[0]), dict(zip(moves, priors.tolist(), strict=True))


class Promotes(Fake):
    """A network that says what a pawn becomes."""

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        pieces = np.random.default_rng(8).dirichlet(np.ones(4), (len(codes), 8)).astype(np.float32)
        return {**super().evaluate(codes, state), "promotion": pieces}


@pytest.mark.parametrize("temperature", [1.0, 1.7])
@pytest.mark.parametrize("kind", ["square", "piece"])
@pytest.mark.parametrize("network", [Fake, Promotes])
@pytest.mark.parametrize("together", [True, False])
def test_priors_are_the_policys_tempered(network: type[Fake], kind: str, temperature: float, together: bool) -> None:
    fens = ["3n1k2/4P1P1/8/8/8/8/p7/1B2K3 w - - 0 1", "3n1k2/4P1P1/8/8/8/8/p7/1B2K3 b - - 0 1", chess.STARTING_FEN]
    every = np.stack([encode_board(chess.Board(fen)) for fen in fens])
    net = network(kind)
    rules = ChessRules(net, net, temperature)
    for rows in [every] if together else [every[i : i + 1] for i in range(len(every))]:
        entered = described(rows)
        _, priors = rules.evaluate(rows, entered.moves, entered.offsets)
        answers = net.evaluate(rows[:, :64].copy(), rows[:, 64:].copy())
        odds = move_probabilities(answers, rows[:, :64], entered.moves, entered.offsets) ** (1 / temperature)
        expected = normalised(odds.astype(np.float32), entered.offsets)
        np.testing.assert_allclose(priors, expected, rtol=1e-4, atol=1e-7)


QUEEN_HANGS = "3qk3/8/8/8/8/8/8/3RK3 w - - 0 1"


def test_captures_weigh_on_priors_and_values() -> None:
    plain_value, plain = told(QUEEN_HANGS, None)
    assert plain_value == 0
    assert plain["d1d8"] == pytest.approx(plain["d1a1"])
    value, priors = told(QUEEN_HANGS, CaptureWeights(loss=0.5, check=0.3, opinion=1.0, pawn=0.1, win=0.2))
    # The queen for the rook; after any other move the rook is lost, which is more than the four pawns that count.
    assert priors["d1d8"] / priors["d1a1"] == pytest.approx(np.exp(0.3 + 0.5 * 4), rel=1e-4)
    assert value == pytest.approx(np.tanh((0.1 * (5 - 9) + 0.2 * (9 - 5)) / 2), rel=1e-4)
    # A rook that can be taken is lost; a guarded one is not.
    _, priors = told("4k3/8/2p5/8/8/8/8/3RK3 w - - 0 1", CaptureWeights(loss=0.5))
    assert priors["d1d5"] / priors["d1d4"] == pytest.approx(np.exp(-0.5 * 4), rel=1e-4)
    assert told("4k3/8/8/8/8/8/8/3RK3 w - - 0 1", CaptureWeights(opinion=0.5, pawn=0.0), 0.6)[0] == pytest.approx(
        np.tanh(0.5 * np.log(1.6 / 0.4) / 2), rel=1e-4
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.0, -1.0])
def test_captures_make_a_number_of_any_value(value: float) -> None:
    found, priors = told(QUEEN_HANGS, CaptureWeights(), value)
    assert -1 <= found <= 1
    assert np.isfinite(list(priors.values())).all()
