from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import chess
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.errors import UsageError
from kibitz.games.chess import position_stack
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.position_stack import DRAW, MATE, NO_ROW, ONGOING, enter, set_root
from kibitz.games.chess.replay import encode_board
from kibitz.play.chess import player as player_of_values
from kibitz.play.comparison import alphabeta as kernels
from kibitz.play.comparison import state as search_state
from kibitz.play.comparison.alphabeta import MOVED, ROOT, search
from kibitz.play.comparison.embedding import PositionComparer
from kibitz.play.comparison.player import ComparisonPlayer, Memory, Thinking, seen_twice
from kibitz.play.comparison.state import ComparisonTuning, plain_tuning
from kibitz.play.result import SearchLimits, SearchResult
from kibitz.runs import Run
from support.causes import naming
from support.chess_fakes import Fake
from support.comparison_fakes import (
    drawn_network,
    drawn_weights,
    material,
    material_weights,
    random_board,
    scalar,
    write_run,
)
from support.examples import share
from support.inner_kernels import callable_kernel
from support.patience import PATIENCE

make_move = callable_kernel(position_stack.make_move)

PAWNS = (0, 1, 3, 3, 5, 9, 0)


def player(
    comparer: PositionComparer, lines: int = 1, temperature: float = 0.0, tuning: ComparisonTuning | None = None
) -> ComparisonPlayer:
    """A player without a run."""
    made = ComparisonPlayer.__new__(ComparisonPlayer)
    made.method, made.temperature, made.lines = "comparison", temperature, lines
    made._random = np.random.default_rng(0)
    made.memory = Memory(comparer, 1, tuning or ComparisonTuning())
    return made


def think(
    board: chess.Board | str, limits: SearchLimits, comparer: PositionComparer | None = None, **settings: object
) -> SearchResult:
    board = chess.Board(board) if isinstance(board, str) else board
    thought = player(comparer or material(), **settings).think(board, limits)
    assert thought
    return thought


# The line of positions


def state_of(board: chess.Board) -> np.void:
    state = np.zeros(1, search_state.STATE)[0]
    state["rows"][0] = encode_board(board)
    set_root(state)
    return state


def count(state: np.void, ply: int, depth: int) -> int:
    """Leaves so deep, all draws ignored."""
    enter(state, ply)
    moves = state["moves"][ply, : state["move_count"][ply]].tolist()
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        make_move(state, ply, move)
        total += count(state, ply + 1, depth - 1)
    return total


@pytest.mark.parametrize(
    ("fen", "depth", "leaves"),
    [
        (chess.STARTING_FEN, 3, 8902),
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97862),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43238),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3, 9467),
        ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", 3, 9483),
    ],
)
def test_perft(fen: str, depth: int, leaves: int) -> None:
    assert count(state_of(chess.Board(fen)), 0, depth) == leaves


@given(seed=st.integers(0, 10**6), plies=st.integers(0, 120))
def test_lines_are_python_chess_s(seed: int, plies: int) -> None:
    """Rows, checks, men, and keys that differ exactly where the rules call positions different."""
    draw = random.Random(seed)
    board = random_board(draw, plies)
    state = state_of(board)
    names = {}
    for ply in range(40):
        end, since = enter(state, ply)
        assert (state["rows"][ply] == encode_board(board)).all()
        assert (state["checks"][ply] > 0) == board.is_check()
        assert state["piece_count"][ply] == chess.popcount(board.occupied)
        fresh = state_of(board)
        assert fresh["keys"][0] == state["keys"][ply]
        passing = board.ep_square if board.has_legal_en_passant() else None
        name = (board.board_fen(), board.turn, board.clean_castling_rights(), passing)
        assert names.setdefault(int(state["keys"][ply]), name) == name
        moves = {to_move(int(move)) for move in state["moves"][ply, : state["move_count"][ply]]}
        assert moves == set(board.legal_moves)
        if board.is_checkmate():
            assert (end, since) == (MATE, NO_ROW)
        elif board.is_stalemate() or board.is_insufficient_material():
            assert (end, since) == (DRAW, NO_ROW)
        elif board.halfmove_clock >= 100:
            assert (end, since) == (DRAW, -1)
        elif ply >= 4 and list(names).index(int(state["keys"][ply])) < len(names) - 1 and end == ONGOING:
            # seen in this line, but with a capture or pawn move between: that cannot be
            raise AssertionError("a repetition that was not seen")
        if not moves or len(names) < ply + 1:
            break
        move = draw.choice(sorted(moves, key=str))
        make_move(state, ply, move.from_square | move.to_square << 6 | (move.promotion or 0) << 12)
        board.push(move)


def test_en_passant_is_part_of_a_key_only_where_it_is_legal() -> None:
    def key(fen: str) -> int:
        return int(state_of(chess.Board(fen))["keys"][0])

    assert key("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1") == key("4k3/8/8/8/4P3/8/8/4K3 b - - 0 1")
    assert key("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1") != key("4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1")
    # The pawn that stands ready is pinned through both pawns.
    assert key("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1") == key("8/8/8/8/k2pP2R/8/8/4K3 b - - 0 1")


# Plain alpha-beta, slow and obvious


def number(row: np.ndarray, weights: np.ndarray) -> float:
    """What a scalar comparator compares: the sum of the weights of a position's bits, White's view."""
    bits = [(int(row[i]) - 1) * 64 + i for i in range(64) if row[i]]
    bits += [768] if row[64] == 0 else []
    return float(weights[bits + [769 + i for i in range(4) if row[65] >> i & 1]].sum())


def obvious(weights: np.ndarray, drawn: float, board: chess.Board, moves: list[int], depth: int) -> tuple[float, int]:
    """The value of the first best of the moves, and the move: negamax with numbers, and the search's quiescence."""

    def taken(board: chess.Board, move: chess.Move) -> bool:
        """Whether quiescence tries the move."""
        piece, victim = board.piece_type_at(move.from_square), board.piece_type_at(move.to_square)
        assert piece
        if move.promotion:
            return move.promotion == chess.QUEEN
        if board.is_en_passant(move):
            return True
        if victim is None:
            return False
        if piece == chess.KING or PAWNS[piece] <= PAWNS[victim]:
            return True
        others = board.occupied & ~chess.BB_SQUARES[move.from_square]
        return not board.attackers_mask(not board.turn, move.to_square, others)

    def name(board: chess.Board) -> str:
        return board.fen(en_passant="legal").rsplit(maxsplit=2)[0]

    def value(board: chess.Board, depth: int, way: list[str], low: float, high: float) -> float:
        side = 1 if board.turn else -1
        moves, best = list(board.legal_moves), -1e9
        if not moves and board.is_check():
            return len(way) - 1e6
        if not moves or board.is_insufficient_material() or board.halfmove_clock >= 100 or name(board) in way:
            return side * drawn
        way = [*way, name(board)]
        if depth <= 0 and not board.is_check():
            best = side * number(encode_board(board), weights)
            moves = [move for move in moves if taken(board, move)]
        for move in moves:
            if best >= high:
                break
            board.push(move)
            best = max(best, -value(board, depth - 1, way, -high, -max(low, best)))
            board.pop()
        return best

    best, chosen = -1e9, 0
    for move in moves:
        board.push(to_move(move))
        found = -value(board, depth - 1, [name(chess.Board(board.root().fen()))], -1e9, -best)
        board.pop()
        if found > best:
            best, chosen = found, move
    return best, chosen


TUNINGS = {
    "nothing": plain_tuning()._replace(table=False, order=False),
    "order": plain_tuning()._replace(table=False),
    "table": plain_tuning()._replace(order=False),
    "both": plain_tuning(),
    "summed anew": plain_tuning()._replace(incremental=False),
}
ENDINGS = [
    ("8/8/8/8/5kp1/P7/8/1K1N4 w - - 0 1", 4),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3),
    ("k7/P7/2K5/8/8/8/8/7r b - - 0 1", 4),
    ("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1", 5),
    ("7k/5K2/8/6Q1/8/8/8/8 b - - 96 1", 4),
    # A draw, neither the best nor the worst that can be had, is the answer.
    ("8/8/8/3k4/8/8/1q6/2K5 w - - 0 1", 3),
    ("2k5/1Q6/8/8/3K4/8/8/8 b - - 0 1", 3),
    ("7k/8/6KP/8/8/8/1r6/8 w - - 99 1", 2),
]


def same_as_obvious(comparer: PositionComparer, weights: np.ndarray, board: chess.Board, depth: int) -> None:
    board = chess.Board(board.fen())  # without its moves: what came before is another test
    moves = [move.from_square | move.to_square << 6 | (move.promotion or 0) << 12 for move in board.legal_moves]
    if not moves:
        return
    drawn = number(comparer.rows[comparer.draw], weights)
    side = 1 if board.turn else -1
    best, move = obvious(weights, drawn, board.copy(), moves, depth)
    for name, tuning in TUNINGS.items():
        memory = Memory(comparer, 1, tuning)
        for _ in range(2):  # the second time with what the first left in the table
            thinking = Thinking(memory, board, moves, SearchLimits(depth=depth))
            for deep in range(1, depth + 1):
                thinking.moves = list(moves)  # in this order, of whose equals the first one is best
                thinking._search_depth(deep, 1)
            state = thinking.search.data
            mate = int(state["bound_mate"][0])
            found = side * number(state["bound_row"][0], weights)
            if mate:
                found = side * (1e6 - (search_state.MATE_BASE - abs(mate))) * (1 if mate > 0 else -1)
            assert (found, thinking.lines[0].pv[0]) == (best, move), name


@settings(max_examples=share(0.1))
@given(seed=st.integers(0, 10**6), plies=st.integers(0, 200), by_material=st.booleans())
def test_a_scalar_comparator_gives_plain_alpha_beta(seed: int, plies: int, by_material: bool) -> None:
    """With an order that a number could give, value and move are those of alpha-beta with numbers, whatever helps."""
    weights = material_weights() if by_material else drawn_weights(seed)
    same_as_obvious(scalar(weights), weights, random_board(random.Random(seed), plies), 2)


@pytest.mark.parametrize(("fen", "depth"), ENDINGS)
def test_the_same_where_ways_meet(fen: str, depth: int) -> None:
    for weights in (material_weights(), drawn_weights(1)):
        same_as_obvious(scalar(weights), weights, chess.Board(fen), depth)


@numba.njit(nogil=True)
def answer(s, depth, bound, mode):  # type: ignore[no-untyped-def]
    """What a search of the first row answers about one record."""
    enter(s.data, ROOT)
    return search(s, ROOT, depth, bound, bound, mode, MOVED)


@numba.njit(nogil=True)
def embedding_of(s, ply):  # type: ignore[no-untyped-def]
    return s.embeddings[search_state.cached_embedding(s, ply)]


def test_first_layers_go_on_from_move_to_move() -> None:
    """Along random lines each position has the embeddings that it has by itself; whole numbers, so exactly."""
    draw = random.Random(3)
    for seed in range(20):
        board = random_board(draw, 8 * (seed % 3))
        comparer = scalar(drawn_weights(seed))
        made = Memory(comparer, 1, ComparisonTuning()).search(encode_board(board), np.zeros(0, np.int64), 1 << 40)
        for ply in range(60):
            if ply % 3 == 0:  # those between are caught up with
                row = encode_board(board)[None]
                np.testing.assert_array_equal(embedding_of(made, ply), comparer.embed(row[:, :64], row[:, 64:])[0])
            moves = list(board.legal_moves)
            if not moves:
                break
            move = draw.choice(moves)
            make_move(made.data, ply, np.uint16(move.from_square | move.to_square << 6 | (move.promotion or 0) << 12))
            made.data["accumulated"][ply + 1] = 0
            board.push(move)


def test_the_table_answers_one_question_as_the_search_does() -> None:
    """With a network that is not transitive too: only what was proven against the very record is used."""
    draw, found = random.Random(2), set()
    for seed in range(12):
        comparer = drawn_network(seed, antisymmetric=seed % 2 == 1) if seed < 8 else material()
        board, bounds = random_board(draw, 7 * (seed % 4)), [random_board(draw, 60) for _ in range(4)]
        bounds.append(board)  # whose material nothing may change
        memories = [Memory(comparer, 1, plain_tuning()._replace(order=False, table=table)) for table in (True, False)]
        for depth in (1, 2, 3):
            for bound in bounds:
                for mode in (search_state.ABOVE, search_state.FROM):
                    answers = []
                    for memory in memories:
                        made = memory.search(encode_board(chess.Board(board.fen())), np.zeros(0, np.int64), 1 << 40)
                        row = encode_board(bound)
                        made.bound_embeddings[search_state.DRAWN - 3] = comparer.embed(row[None, :64], row[None, 64:])
                        made.data["bound_key"][search_state.DRAWN - 3] = state_of(bound)["keys"][0]
                        answers.append(answer(made, depth, search_state.DRAWN - 3, mode))
                    assert answers[0] == answers[1]
                    found.add(int(answers[0]))
    assert found == {-1, 1}


def evaluated(tuning: ComparisonTuning, depth: int, times: int = 1) -> list[int]:
    """How many positions each of several searches to a depth evaluates, with one table for all."""
    thinker = player(scalar(drawn_weights(1)), tuning=tuning)
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
    found = [thinker.think(board, SearchLimits(depth=depth)) for _ in range(times)]
    return [result.nodes for result in found if result]


def test_a_search_does_not_repeat_what_is_in_the_table() -> None:
    """Even if only entries of the same depth may be used."""
    first, second = evaluated(plain_tuning(), 3, times=2)
    assert 4 * second < first
    first, second = evaluated(plain_tuning()._replace(table=False), 3, times=2)
    assert 4 * second > first


def test_late_quiet_moves_are_searched_less_deeply() -> None:
    (whole,) = evaluated(plain_tuning(), 4)
    (reduced,) = evaluated(plain_tuning()._replace(reduce=True), 4)
    assert reduced < 0.85 * whole


def test_kernels_are_compiled_once() -> None:
    """For several types a recursive function would be loaded wrongly from its cache, and take as often as long."""
    think(chess.Board(), SearchLimits(depth=3))
    think(chess.Board(), SearchLimits(nodes=300), drawn_network(0), lines=2, temperature=1.0)
    for kernel in (
        search,
        kernels.quiescence,
        search_state.compare_position,
        search_state.compare_terminal,
        search_state.cached_embedding,
    ):
        assert len(kernel.signatures) <= 1


# Chess


MATES = [
    ("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1", 1),
    ("8/8/8/8/8/6k1/4p3/7K b - - 0 1", 1),  # by a promotion
    ("6rk/6pp/8/6N1/8/8/8/6K1 w - - 99 99", 1),  # with the last of the fifty moves
    ("2bqkbn1/2pppp2/np2N3/r3P1p1/p2N2B1/5Q2/PPPPKPP1/RNB2r2 w - - 0 1", 2),
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),  # Morphy: a sacrifice of the rook
    ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
    ("8/8/8/8/8/5k2/6q1/7K w - - 0 1", 0),
]


@pytest.mark.parametrize(("fen", "moves"), MATES)
def test_mates(fen: str, moves: int) -> None:
    board = chess.Board(fen)
    thought = player(material()).think(board, SearchLimits(nodes=200_000))
    if moves == 0:
        assert thought is None
        return
    assert thought
    line = thought.lines[0]
    assert (line.mate, line.score, line.wdl) == (moves, 2000, (1000, 0, 0))
    for move in line.pv:
        assert move in board.legal_moves
        board.push(move)
    assert board.is_checkmate() or len(line.pv) < 2 * moves - 1


def test_being_mated_is_put_off() -> None:
    line = think("7k/8/6K1/8/8/8/8/R7 b - - 0 1", SearchLimits(depth=4)).lines[0]
    assert (line.mate, line.score) == (-1, -2000)


def test_wins_what_hangs_and_leaves_what_is_guarded() -> None:
    assert think("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", SearchLimits(depth=1)).lines[0].move.uci() == "c3d5"
    assert think("4k3/2p5/3p4/8/8/8/3Q4/4K3 w - - 0 1", SearchLimits(depth=1)).lines[0].move.uci() != "d2d6"


def test_stalemate_and_dead_positions_are_draws() -> None:
    line = think("7k/5K2/8/8/8/8/6Q1/8 w - - 0 1", SearchLimits(depth=3)).lines[0]
    assert line.mate is not None  # not Qg6, which stalemates
    board = chess.Board("8/8/8/8/8/5k2/8/4n2K w - - 0 1")
    assert think(board, SearchLimits(depth=3)).lines[0].score == 0


def test_a_perpetual_check_is_a_draw_to_the_loser_s_joy() -> None:
    board = chess.Board("5r1k/5p1p/8/6Q1/8/p1p5/n1n5/7K w - - 0 1")
    line = think(board, SearchLimits(depth=7)).lines[0]
    assert board.gives_check(line.move)
    assert line.score == 0


def test_repetition_through_the_game_is_seen() -> None:
    board = chess.Board("7k/8/8/8/8/8/R7/K7 w - - 0 1")
    for uci in ("a2b2", "h8g8", "b2a2", "g8h8", "a2b2", "h8g8", "b2a2", "g8h8"):
        board.push_uci(uci)
    only = (chess.Move.from_uci("a2b2"),)
    assert think(board, SearchLimits(depth=1, moves=only)).lines[0].score == 0
    free = think(board, SearchLimits(depth=1)).lines[0]
    assert free.score > 0
    assert free.move not in only
    assert len(seen_twice(board)) == 4


def test_more_repeated_positions_than_the_stack_has_room_for() -> None:
    board = chess.Board("k7/p7/P7/8/8/7p/7P/7K w - - 0 1")
    white, black = "h1 g1 f1 e1 d1 c1 b1 a1 a2 b2 c2 d2", "a8 b8 c8 d8 e8 f8 g8 h8 h7 g7 f7 e7 d7"
    ways = [[*there, *there[-2:0:-1]] for there in (white.split(), black.split())]
    for ply in range(1, 600):
        way, at = ways[(ply + 1) % 2], (ply + 1) // 2
        board.push_uci(way[(at - 1) % len(way)] + way[at % len(way)])
    assert len(seen_twice(board)) > position_stack.FIFTY_MOVES
    assert think(board, SearchLimits(depth=1)).lines[0].move in board.legal_moves


def test_the_fifty_moves_are_counted() -> None:
    line = think("7k/8/8/8/8/8/R3P3/K7 w - - 99 99", SearchLimits(depth=1)).lines[0]
    assert line.move.uci() in ("e2e3", "e2e4")
    assert line.score > 0


# What is asked of a player


@given(
    seed=st.integers(0, 10**6),
    plies=st.integers(0, 200),
    temperature=st.sampled_from([0, 0.5, 3]),
    nodes=st.integers(1, 3000),
    lines=st.integers(1, 300),
)
def test_any_settings_in_any_position(seed: int, plies: int, temperature: float, nodes: int, lines: int) -> None:
    board = random_board(random.Random(seed), plies)
    thought = player(DRAWN, lines, temperature).think(board, SearchLimits(nodes=nodes))
    if not any(board.legal_moves):
        assert thought is None
        return
    assert thought
    assert 1 <= len(thought.lines) <= lines
    assert len({line.move for line in thought.lines}) == len(thought.lines)
    for line in thought.lines:
        assert line.pv[0] == line.move
        after = board.copy()
        for move in line.pv:
            assert move in after.legal_moves
            after.push(move)
        assert -2000 <= line.score <= 2000
        assert sum(line.wdl) == 1000
    if temperature == 0:
        assert thought.nodes <= nodes


DRAWN = drawn_network(4)


def test_limits() -> None:
    board = random_board(random.Random(8), 30)
    assert think(board, SearchLimits(depth=3)).depth == 3
    assert think(board, SearchLimits(nodes=1)).lines[0].move in board.legal_moves
    assert think(board, SearchLimits(nodes=5000)).nodes <= 5000
    some = tuple(list(board.legal_moves)[3:5])
    assert think(board, SearchLimits(depth=2, moves=some)).lines[0].move in some
    assert player(material()).think(board, SearchLimits(depth=1, moves=(chess.Move.from_uci("a1h8"),))) is None
    told: list[SearchResult] = []
    last = player(material()).think(board, SearchLimits(depth=4), on_result=told.append)
    assert [thought.depth for thought in told] == [1, 2, 3, 4]
    assert last
    assert told[-1].lines == last.lines


def test_lines_are_the_best_ones() -> None:
    weights = drawn_weights(6)
    board = chess.Board("4k3/8/8/8/5kp1/P7/8/1K1N4 w - - 0 1".replace("4k3", "8"))
    thought = think(board, SearchLimits(depth=3), scalar(weights), lines=4)
    for count, line in enumerate(thought.lines):
        rest = tuple(move for move in board.legal_moves if move not in [one.move for one in thought.lines[:count]])
        assert think(board, SearchLimits(depth=3, moves=rest), scalar(weights)).lines[0].score == line.score


def test_time_and_stop_end_a_search() -> None:
    """Within what a busy machine needs to let a thread run; how late it is at rest, bench_comparison.py tells."""
    think(chess.Board(), SearchLimits(depth=2))
    begun = time.perf_counter()
    thought = think(chess.Board(), SearchLimits(seconds=0.2))
    assert thought.seconds >= 0.2
    assert time.perf_counter() - begun < PATIENCE
    stop = threading.Event()
    begun = time.perf_counter()
    threading.Timer(0.2, stop.set).start()
    assert player(DRAWN).think(chess.Board(), SearchLimits(), stop)
    assert time.perf_counter() - begun < PATIENCE
    assert player(DRAWN).think(chess.Board(), SearchLimits(), stop)  # set before it begins


def test_a_single_move_is_played_at_once() -> None:
    begun = time.perf_counter()
    assert think("7k/8/6K1/8/8/8/8/R7 b - - 0 1", SearchLimits(seconds=3000)).depth == 1
    assert time.perf_counter() - begun < PATIENCE


def test_temperature_draws_among_good_moves() -> None:
    board = chess.Board("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1")
    drawing = player(material(), temperature=0.5)
    moves = set()
    for _ in range(20):
        thought = drawing.think(board, SearchLimits(depth=2))
        assert thought
        moves.add(thought.lines[0].move.uci())
    assert moves == {"c3d5"}  # any other loses what a queen is worth
    quiet = player(material(), temperature=0.5)
    found = {quiet.think(chess.Board(), SearchLimits(depth=2)).lines[0].move for _ in range(20)}  # type: ignore[union-attr]
    assert len(found) > 5


def test_methods(tmp_path: Path, small_run: Path) -> None:
    run = Run(write_run(tmp_path / "run"))
    assert ComparisonPlayer(run).memory.comparer.weights.feature_weights.shape[1] == 32
    assert ComparisonPlayer(run, method="comparison-full").memory.comparer.weights.feature_weights.shape[1] == 48
    thought = ComparisonPlayer(run).think(chess.Board(), SearchLimits(depth=2))
    assert thought
    with pytest.raises(UsageError, match=naming("top-move & comparison")):
        ComparisonPlayer(run, method="top-move")
    with pytest.raises(UsageError, match="at least 1"):
        ComparisonPlayer(run, hash_mb=0)
    with pytest.raises(UsageError, match="does not compare positions"):
        ComparisonPlayer(Run(small_run))
    with pytest.raises(UsageError, match=naming("comparison & top-move & method")):
        player_of_values.ChessPlayer(Fake(), method="comparison")


def test_without_any_time_the_best_position_is_chosen() -> None:
    """Not the first move of a list: a mate, else what the comparison likes best as it stands."""
    thought = think(chess.Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"), SearchLimits(seconds=0.0), material())
    assert (thought.lines[0].move.uci(), thought.lines[0].mate) == ("a1a8", 1)
    for fen, best in (
        ("6k1/5ppp/8/3q4/8/8/5PPP/3R2K1 w - - 0 1", "d1d5"),
        ("3r2k1/5ppp/8/8/3Q4/8/5PPP/6K1 b - - 0 1", "d8d4"),
    ):
        for limits in (SearchLimits(seconds=0.0), SearchLimits(nodes=1), SearchLimits(nodes=5)):
            assert think(chess.Board(fen), limits, material()).lines[0].move.uci() == best
    board = chess.Board("k7/8/8/8/8/K7/7Q/8 w - - 0 1")
    board.push(think(board, SearchLimits(seconds=0.0), material()).lines[0].move)
    assert not board.is_stalemate()
