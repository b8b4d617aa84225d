from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from kibitz.play.chess import position as positions
from kibitz.play.chess import score
from kibitz.play.chess.best_first import BestFirstSearch, SearchTuning
from kibitz.play.chess.evaluator import DRAWN, Evaluator, TableEntry
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.chess.tactics import gains_and_checks
from kibitz.play.chess.tree import Tree
from kibitz.play.result import SearchLimits, SearchResult
from support.chess_fakes import Fake
from support.helpers import SHARED

SEARCHES = ("topprob-negamax", "value-negamax")
"""Those that know tactics; test_fixed_depth.py has the one that does not."""
MATES_IN_2 = [
    "2bqkbn1/2pppp2/np2N3/r3P1p1/p2N2B1/5Q2/PPPPKPP1/RNB2r2 w - - 0 1",
    "8/6K1/1p1B1RB1/8/2Q5/2n1kP1N/3b4/4n3 w - - 0 1",
    "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1",  # Morphy: a sacrifice of the rook
]


def think(method: str, board: chess.Board | str, limits: SearchLimits, **settings: object) -> SearchResult:
    board = chess.Board(board) if isinstance(board, str) else board
    thought = ChessPlayer(Fake(), method=method, **settings).think(board, limits)
    assert thought
    return thought


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize(
    "fen",
    [
        "6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1",
        "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 0 1",
        "8/8/8/8/8/6k1/4p3/7K b - - 0 1",  # by a promotion: only a queen or rook does it
        "6rk/6pp/8/6N1/8/8/8/6K1 w - - 99 99",  # with the last of the fifty moves
    ],
)
def test_mate_in_one_at_once(method: str, fen: str) -> None:
    line = think(method, fen, SearchLimits(nodes=60)).lines[0]
    assert line.mate == 1
    assert line.score == 2000
    assert line.wdl == (1000, 0, 0)
    assert len(line.pv) == 1
    board = chess.Board(fen)
    board.push(line.move)
    assert board.is_checkmate()


def forced(board: chess.Board, moves: int) -> bool:
    """Whether the mover mates in so many moves: a slow and obvious search."""
    for move in list(board.legal_moves):
        board.push(move)
        replies = list(board.legal_moves)
        won = board.is_checkmate()
        if not won and moves > 1 and replies:
            won = True
            for reply in replies:
                board.push(reply)
                won = forced(board, moves - 1)
                board.pop()
                if not won:
                    break
        board.pop()
        if won:
            return True
    return False


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("fen", MATES_IN_2)
def test_mate_in_two(method: str, fen: str) -> None:
    thought = think(method, fen, SearchLimits(nodes=30_000), cut=1.0, width=256)
    line = thought.lines[0]
    assert line.mate == 2
    assert len(line.pv) == 3
    board = chess.Board(fen)
    for move in line.pv:
        board.push(move)
    assert board.is_checkmate()


@pytest.mark.parametrize(("fen", "depth"), [("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1", 1), (MATES_IN_2[2], 2)])
def test_alpha_beta_looks_for_a_mate_no_deeper_than_it_is(fen: str, depth: int) -> None:
    """Positions see a mate in one by themselves, so that the last move of a mate is no depth of its own."""
    assert think("value-negamax", fen, SearchLimits(nodes=30_000)).depth == depth


@pytest.mark.parametrize("method", SEARCHES)
def test_composed_mates(method: str) -> None:
    suite = SHARED / "suites" / "mate_in_2.epd"
    if not suite.is_file():
        pytest.skip("no suites here")
    lines = suite.read_text().splitlines()
    for line in random.Random(4).sample(lines, 2):
        board = chess.Board(" ".join(line.split()[:4]) + " 0 1")
        player = ChessPlayer(Fake(), method=method, cut=1.0, width=256)
        # Until the mate is found, and never another length than the true one.
        thought = player.think(board, SearchLimits(nodes=60_000))
        assert thought
        assert thought.lines[0].mate == 2, line
        after = board.copy()
        after.push(thought.lines[0].move)
        for reply in list(after.legal_moves):
            after.push(reply)
            assert forced(after, 1)
            after.pop()


@pytest.mark.parametrize("method", SEARCHES)
def test_being_mated_is_told_and_put_off(method: str) -> None:
    # Black can only move the king to and fro: Kh8-g8 allows mate at once, nothing else is legal but that.
    board = chess.Board("7k/8/6K1/8/8/8/8/R7 b - - 0 1")
    line = think(method, board, SearchLimits(nodes=3000)).lines[0]
    assert line.mate == -1
    assert line.score == -2000
    assert line.pv[-1] == chess.Move.from_uci("a1a8")


@pytest.mark.parametrize("method", SEARCHES)
def test_wins_what_hangs_and_leaves_what_is_guarded(method: str) -> None:
    assert think(method, "4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", SearchLimits(nodes=400)).lines[0].move.uci() == "c3d5"
    fork = think(method, "4k2q/8/8/3N4/8/8/8/4K2R w K - 0 1", SearchLimits(nodes=3000)).lines[0]
    assert fork.move.uci() in ("h1h8",)
    guarded = think(method, "4k3/2p5/3p4/8/8/8/3Q4/4K3 w - - 0 1", SearchLimits(nodes=3000)).lines[0]
    assert guarded.move.uci() != "d2d6"


@pytest.mark.parametrize("method", SEARCHES)
def test_repetition_is_a_draw_to_the_loser_s_joy(method: str) -> None:
    # White is seven pawns' worth down and has a perpetual check: a draw only through repetition.
    board = chess.Board("5r1k/5p1p/8/6Q1/8/p1p5/n1n5/7K w - - 0 1")
    line = think(method, board, SearchLimits(nodes=6000)).lines[0]
    assert board.gives_check(line.move)
    assert line.score == 0


@pytest.mark.parametrize("method", SEARCHES)
def test_repetition_through_the_game_is_seen(method: str) -> None:
    # The winner has gone to and fro; the square that makes it a third time is to be avoided.
    board = chess.Board("7k/8/8/8/8/8/R7/K7 w - - 0 1")
    for uci in ("a2b2", "h8g8", "b2a2", "g8h8", "a2b2", "h8g8", "b2a2", "g8h8"):
        board.push_uci(uci)
    only = (chess.Move.from_uci("a2b2"),)
    again = think(method, board, SearchLimits(nodes=300, moves=only)).lines[0]
    assert again.score == 0
    free = think(method, board, SearchLimits(nodes=300)).lines[0]
    assert free.score > 0
    assert free.move not in only


@pytest.mark.parametrize("method", SEARCHES)
def test_the_fifty_moves_are_counted(method: str) -> None:
    fen = "7k/8/8/8/8/8/R3P3/K7 w - - 99 99"
    line = think(method, fen, SearchLimits(nodes=500)).lines[0]
    assert line.move.uci() in ("e2e3", "e2e4")
    assert line.score > 0
    quiet = think(method, fen, SearchLimits(nodes=500, moves=(chess.Move.from_uci("a2b2"),))).lines[0]
    assert quiet.score == 0
    assert quiet.wdl == (250, 500, 250)


@pytest.mark.parametrize("method", SEARCHES)
def test_stalemate_and_dead_positions_are_draws(method: str) -> None:
    # Taking the last piece leaves nothing to mate with; Qc7 would be stalemate.
    stale = think(
        method, "k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", SearchLimits(nodes=200, moves=(chess.Move.from_uci("c1c7"),))
    )
    assert stale.lines[0].score == 0
    assert stale.lines[0].mate is None
    dead = think(method, "8/8/8/8/8/3n4/2K5/6k1 w - - 0 1", SearchLimits(nodes=200)).lines[0]
    assert dead.score == 0


@pytest.mark.parametrize("nodes", [20, 400])
def test_a_draw_at_once_is_seen_however_unlikely(nodes: int) -> None:
    """Black, a queen down, can bring about a position for the third time, by a move that the policy gives no chance."""
    board = chess.Board("6k1/5pp1/7p/8/8/8/3Q1PPP/6K1 w - - 0 1")
    for move in ("d2d8", "g8h7", "d8d2", "h7g8", "d2d8", "g8h7", "d8d2"):
        board.push_uci(move)
    narrow = ChessPlayer(Fake(sharp=9.0), method="topprob-negamax", width=2)
    line = narrow.think(board, SearchLimits(nodes=nodes)).lines[0]
    assert (line.move.uci(), line.score) == ("h7g8", 0)
    fresh = narrow.think(chess.Board(board.fen()), SearchLimits(nodes=nodes)).lines[0]
    assert fresh.score < 0


def test_what_the_rules_decide_is_not_doubted() -> None:
    """A certain draw is better than a loss of a twentieth, though the network gives it one chance in a million."""
    position, _ = positions.root(chess.Board())
    moves, weights, marks = (
        np.array([796, 731], np.uint16),
        np.array([0.999999, 1e-6], np.float32),
        np.zeros(2, np.uint8),
    )
    tree = Tree(1000, TableEntry(-0.05, False, moves, weights, marks, 2), position)
    worse = TableEntry(0.05, False, moves[:0], weights[:0], marks[:0], 0)
    for edge, entry in ((0, worse), (1, DRAWN)):
        tree.add(0, edge, position, entry)
    tree.backup(0.03)
    assert [edge for edge, _ in tree.sorted_moves(0.03)] == [1, 0]
    assert tree.best[0] == 1
    assert tree.value[0] == 0


@pytest.mark.parametrize("method", SEARCHES)
def test_several_lines_come_in_order(method: str) -> None:
    thought = think(method, "4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", SearchLimits(nodes=1500), lines=4)
    assert len(thought.lines) == 4
    scores = [line.score for line in thought.lines]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[1]


def test_a_depth_ends_by_itself() -> None:
    for depth in (1, 2, 3):
        thought = think("topprob-negamax", chess.Board(), SearchLimits(depth=depth))
        assert thought.depth == depth
        assert max(len(line.pv) for line in thought.lines) <= depth + 1  # a mate in one is seen a ply further
        thought = think("value-negamax", chess.Board(), SearchLimits(depth=depth))
        assert thought.depth == depth


@pytest.mark.parametrize("method", SEARCHES)
def test_a_deeper_search_evaluates_more_positions(method: str) -> None:
    """The moves that it follows become less likely by a factor of four with each ply."""
    nodes = [think(method, chess.Board(), SearchLimits(depth=depth)).nodes for depth in (1, 2, 3)]
    assert 2 * nodes[0] < nodes[1]
    assert 2 * nodes[1] < nodes[2]


def test_full_width_is_negamax() -> None:
    """Against a loop without windows, tables and batches."""
    fake = Fake("piece", noise=0.3)
    evaluator = Evaluator(fake, fake, cut=1.0, width=256, hash_mb=64)

    def negamax(position: positions.SearchPosition, depth: int, way: list[int]) -> float:
        evaluator.evaluate([position])
        entry = evaluator.table[position.key]
        if entry.final or depth == 0:
            return entry.value
        best = -9.0
        for child in positions.children([position] * len(entry.moves), entry.moves):
            if (child.clock >= 100 and not child.board.is_checkmate()) or child.key in [*way, position.key]:
                best = max(best, 0.0)
            else:
                best = max(best, score.to_parent(negamax(child, depth - 1, [*way, position.key])))
        return best

    for seed, plies, depth in ((1, 30, 2), (2, 60, 2), (3, 90, 2), (9, 190, 3)):
        draw = random.Random(seed)
        board = chess.Board()
        for _ in range(plies):
            board.push(draw.choice(list(board.legal_moves)))
        position, _ = positions.root(board)
        if not position.legal() or position.has_insufficient_material():
            continue
        evaluator.table.clear()
        want = negamax(position, depth, [])
        got = ChessPlayer(Fake("piece", noise=0.3), method="value-negamax").think(board, SearchLimits(depth=depth))
        assert got
        assert got.lines[0].score == score.centipawns(want)
        assert got.lines[0].mate == score.mate(want)


def test_the_tree_takes_up_negamax() -> None:
    """A node whose moves are all tried has the best of its children; others lie between that and the network."""
    fake = Fake(noise=0.2)
    evaluator = Evaluator(fake, fake, cut=0.9, width=5, hash_mb=16)
    from kibitz.play.chess.best_first import BestFirstSearch, SearchTuning

    position, seen = positions.root(chess.Board())
    search = BestFirstSearch(evaluator, SearchTuning(doubt=0.0), position, seen, SearchLimits(nodes=800), 1, 1)
    search.think(None, lambda thought: None)
    tree: Tree = search.tree
    full = 0
    for i in range(tree.n):
        first, width = int(tree.first[i]), int(tree.width[i])
        tried = [int(c) for c in tree.child[first : first + width] if c >= 0]
        assert tree.size[i] == 1 + sum(int(tree.size[c]) for c in tried)
        if tree.final[i] or not tried:
            assert tree.value[i] == tree.static_eval[i]
            continue
        best = max(score.to_parent(float(tree.value[c])) for c in tried)
        if len(tried) == width:
            full += 1
            assert tree.value[i] == best
        else:
            assert min(best, tree.static_eval[i]) <= tree.value[i] <= max(best, tree.static_eval[i])
    assert full > 10


def test_batches_grow_large() -> None:
    fake = Fake()
    for method in SEARCHES:
        fake.calls.clear()
        ChessPlayer(fake, method=method).think(chess.Board(), SearchLimits(nodes=4000))
        assert np.mean(fake.calls) > 25


def test_signs_of_moves() -> None:
    def one(fen: str, uci: str) -> tuple[int, bool]:
        board = chess.Board(fen)
        position, _ = positions.root(board)
        moves = np.array(sorted(positions.packed((chess.Move.from_uci(uci),))), np.uint16)
        gain, check = gains_and_checks(position.row[None, :64], position.row[None, 64:], moves, np.array([0, 1]))
        return int(gain[0]), bool(check[0])

    assert one("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", "c3d5") == (9, False)
    assert one("4k3/2p5/3p4/8/8/8/3Q4/4K3 w - - 0 1", "d2d6") == (1 - 9, False)
    assert one("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "h1h8") == (0, True)
    assert one("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1") == (0, True)  # castling checks by its rook
    assert one("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6") == (1, False)
    assert one("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8q") == (8, False)
    assert one("4k3/8/8/8/4B3/8/8/K3R3 w - - 0 1", "e4h1") == (0, True)  # discovered


def test_checks_and_mates_are_python_chess_s() -> None:
    draw = random.Random(7)
    for _ in range(40):
        board = chess.Board()
        for _ in range(draw.randrange(120)):
            if board.is_game_over():
                break
            board.push(draw.choice(list(board.legal_moves)))
        moves = list(board.legal_moves)
        if not moves:
            continue
        position, _ = positions.root(board)
        codes = np.array(position.legal(), np.uint16)
        _, check = gains_and_checks(position.row[None, :64], position.row[None, 64:], codes, np.array([0, len(codes)]))
        for code, found in zip(codes.tolist(), check.tolist(), strict=True):
            move = chess.Move(code & 63, code >> 6 & 63, code >> 12 or None)
            assert board.gives_check(move) == found
            board.push(move)
            assert position.mates(code) == board.is_checkmate()
            board.pop()


def test_values_and_mates() -> None:
    assert score.mate(0.5) is None
    assert score.mate(score.MATED) == 0
    once = score.to_parent(score.MATED)
    assert score.mate(once) == 1
    assert score.mate(score.to_parent(once)) == -1
    assert score.mate(score.to_parent(score.to_parent(once))) == 2
    assert 1 < score.to_parent(score.to_parent(once)) < once  # the shorter mate is better
    for value in (-2.0, -1.9, -1, 0, 0.3, 1, 1.5):
        assert score.to_child(score.to_parent(value)) == pytest.approx(value)
    scores = [score.centipawns(v) for v in np.linspace(-1, 1, 201)]
    assert scores == sorted(scores)
    assert scores[0] == -2000
    assert scores[100] == 0
    for value in np.linspace(-1, 1, 41):
        win, drawn, loss = score.chances(float(value))
        assert win + drawn + loss == 1000
        assert min(win, drawn, loss) >= 0
        assert (win - loss) / 1000 == pytest.approx(value, abs=0.002)


def test_a_search_ends_where_the_tree_has_no_more_room() -> None:
    """Nodes take as much room as the table's entries do, and each is smaller."""
    fake = Fake()
    evaluator = Evaluator(fake, fake, cut=0.98, width=20, hash_mb=1)
    evaluator.max_entries = 1200
    position, seen = positions.root(chess.Board())
    search = BestFirstSearch(evaluator, SearchTuning(), position, seen, SearchLimits(), 1, 1)
    search.think(None, lambda thought: None)
    assert 1600 <= search.tree.n < 1600 + SearchTuning().batch
