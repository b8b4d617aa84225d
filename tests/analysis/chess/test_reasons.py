"""Reasons of mistakes: a position for every kind, and one in which the kind must not be claimed."""

from __future__ import annotations

import string
from typing import Any

import chess
import pytest

from kibitz.analysis.chess import mates
from kibitz.analysis.chess.mates import forced_mate
from kibitz.analysis.chess.reason_texts import ENGLISH, LANGUAGES, sentence
from kibitz.analysis.chess.reasons import INSTEAD, Case, Found, Reason, explain
from kibitz.web.reason_lines import reason_lines
from support.causes import mentions
from support.random_lines import random_chess

DEPTH = 4


def why(fen: str, played: str, best: str, after: float = 0.1, depth: int = DEPTH, before: float = 0.5) -> Reason | None:
    board = chess.Board(fen)
    assert board.is_valid()
    (reason,) = explain([Case(board, board.parse_san(played), board.parse_san(best), before, after)], 1, depth)
    return reason


KINDS = [
    # code, parameters; a position, the played and the better move; the same where the kind must not be claimed
    ("allows_mate", {"mate_in": 1, "line": ["Qh4#"]},
     ("rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2", "g4", "e4"),
     ("rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2", "g3", "e4")),
    ("allows_back_rank_mate", {"mate_in": 1, "line": ["Re1#"]},
     ("4r1k1/5ppp/8/8/8/8/3R1PPP/6K1 w - - 0 1", "Rd5", "h3"),
     ("4r1k1/5ppp/8/8/8/7P/3R1PP1/6K1 w - - 0 1", "Rd5", "h4")),
    ("misses_mate", {"mate_in": 1, "line": ["Ra8#"]},
     ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "h3", "Ra8#"),
     ("6k1/5pp1/7p/8/8/8/5PPP/R5K1 w - - 0 1", "h3", "Ra8+")),
    ("gives_stalemate", {},
     ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "Qf7", "Qg7#"),
     ("7k/p7/5KQ1/8/8/8/8/8 w - - 0 1", "Qf7", "Qg7#")),
    ("allows_promotion", {"line": ["b2", "Ke4", "b1=Q+"]},
     ("7k/8/8/8/8/1p2K3/6P1/8 w - - 0 1", "g4", "Kd3"),
     ("7k/8/8/8/8/1p1K4/6P1/8 w - - 0 1", "g4", "Kc3")),
    ("misses_promotion", {"line": ["a8=Q+"]},
     ("6k1/P4pp1/7p/8/8/3b4/6PP/6K1 w - - 0 1", "h3", "a8=Q+"),
     ("6k1/P4pp1/7p/8/4b3/8/6PP/6K1 w - - 0 1", "h3", "a8=Q+")),
    ("loses", {"lost": ["pawn"], "square": "c3", "line": ["Bxc3"]},
     ("6k1/5ppp/8/b7/8/2P5/5PPP/2B3K1 w - - 0 1", "Be3", "Bd2"),
     ("6k1/5ppp/8/b7/8/2P5/5PPP/2B3K1 w - - 0 1", "Bd2", "Bb2")),
    ("loses", {"lost": ["exchange"], "line": ["Bxe1"]},
     ("6k1/5ppp/8/8/1b6/8/5PPP/R4K2 w - - 0 1", "Re1", "Rb1"),
     ("6k1/5ppp/8/8/2b5/8/5PPP/R4K2 w - - 0 1", "Kg1", "Ke1")),
    ("loses", {"lost": ["queen"], "gained": ["rook"], "line": ["Rxd5"]},
     ("3rk3/8/8/3r4/8/8/3Q4/4K3 w - - 0 1", "Qxd5", "Qe3+"),
     ("4k3/8/8/3r4/8/8/3Q4/4K3 w - - 0 1", "Qxd5", "Qe3+")),
    ("misses", {"won": ["bishop"], "line": ["cxb4"]},
     ("6k1/5ppp/8/8/1b6/2P5/5PPP/2B3K1 w - - 0 1", "Be3", "cxb4"),
     ("6k1/2p2ppp/1p6/b7/8/2P5/5PPP/2B3K1 w - - 0 1", "Kf1", "Bd2")),
    ("overlooks_fork", {"lost": ["rook"], "move": "Nc7+", "targets": ["king", "rook"]},
     ("r3k3/pp3ppp/8/1N6/8/8/PPP2PPP/4K3 b - - 0 1", "h6", "Kd7"),
     ("r3k3/pp3ppp/3b4/1N6/8/8/PPP2PPP/4K3 b - - 0 1", "h6", "Kd7")),
    ("misses_fork", {"won": ["rook", "pawn"], "move": "Nxc7+", "targets": ["king", "rook"]},
     ("r3k3/ppp2ppp/8/1N6/8/8/PPP2PPP/4K3 w - - 0 1", "a3", "Nxc7+"),
     ("r4k2/ppp2ppp/3b4/1N6/8/8/PPP2PPP/4K3 w - - 0 1", "Nxc7", "a3")),
    ("overlooks_pin", {"lost": ["exchange"], "move": "Bh5", "piece": "rook", "square": "f7"},
     ("4k3/pp3r2/8/8/8/8/PP2B3/4K3 b - - 0 1", "a6", "Rf8"),
     ("4k3/pp3r1p/6p1/8/8/8/PP2B3/4K3 b - - 0 1", "a6", "Rf8")),
    ("overlooks_pinned_piece", {"lost": ["knight"], "gained": ["pawn"], "move": "d5", "square": "c6"},
     ("4k3/1p3ppp/2n5/1B6/3P4/8/P4PPP/4K3 b - - 0 1", "h6", "Kd8"),
     ("3k4/1p3ppp/2n5/1B6/3P4/8/P4PPP/4K3 b - - 0 1", "h6", "Kd7")),
    ("overlooks_skewer", {"lost": ["queen"], "move": "Re1+"},
     ("4q3/6pp/8/3k4/8/8/6PP/R5K1 b - - 0 1", "Ke5", "Qe4"),
     ("4q3/6pp/8/3k4/8/8/6PP/1N4K1 b - - 0 1", "Ke5", "Qe4")),
    ("overlooks_discovered_attack", {"lost": ["queen", "pawn"], "gained": ["bishop"], "move": "Bxh7+"},
     ("6k1/pp3ppp/8/8/3q4/3B4/PP3PPP/3R2K1 b - - 0 1", "a6", "Qb6"),
     ("6k1/pp3ppp/8/8/3q4/3B4/PP3PPP/4R1K1 b - - 0 1", "a6", "Qb6")),
    ("overlooks_trapped_piece", {"lost": ["bishop"], "gained": ["pawn"], "move": "c4", "square": "b3"},
     ("4k3/5ppp/p7/1pp5/4P3/1B6/PPP2PPP/4K3 w - - 0 1", "h3", "c3"),
     ("4k3/5ppp/p7/1pp5/4P3/1BP5/PP3PPP/4K3 w - - 0 1", "h3", "g3")),
    ("overlooks_pinned_defender", {"lost": ["pawn", "pawn"], "move": "Nxe5", "piece": "knight", "square": "c6"},
     ("4k3/ppp2ppp/2n5/1B2p3/8/5N2/PPP2PPP/4K3 b - - 0 1", "h6", "f6"),
     ("4k3/ppp2ppp/2n5/4p3/8/5N2/PPP1BPPP/4K3 b - - 0 1", "h6", "f6")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "parameters", "shown", "other"), KINDS, ids=[f"{kind[0]}{i}" for i, kind in enumerate(KINDS)]
)
def test_a_kind_is_claimed_only_where_its_line_proves_it(
    code: str, parameters: dict[str, Any], shown: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    reason = why(*shown)
    assert reason is not None
    assert (reason.code, {name: reason.parameters[name] for name in parameters}) == (code, parameters)
    counter = why(*other)
    assert counter is None or counter.code != code
    # The lines of the text are legal where they begin, in each language.
    lines = reason_lines(reason.as_json(), INSTEAD)
    assert len(lines) == ("line" in reason.parameters) + (reason.better is not None)
    for instead, moves in lines:
        board = chess.Board(shown[0])
        for move in [*([] if instead else [shown[1]]), *moves]:
            board.push_san(move)
        assert all(" ".join(moves) in reason.text(language) for language in LANGUAGES)


def test_stalemate_that_the_opponent_forces() -> None:
    shown = "k7/8/8/2Q1R3/8/8/4r1PP/7K w - - 0 1"
    reason = why(shown, "Qc7", "Rxe2", depth=2)
    assert reason is not None
    assert (reason.code, reason.parameters["line"]) == ("allows_stalemate", ["Re1+", "Rxe1"])
    other = why(shown.replace("k7/8", "k7/1p6"), "Qc7", "Rxe2", depth=2)  # a pawn can still move
    assert other is None or other.code != "allows_stalemate"


def test_a_line_does_not_end_where_the_reader_expects_to_take_back() -> None:
    fen = "r1b1k2r/ppp2ppp/2n1pn2/1N5q/1b1P4/3B1N2/PPPB1PPP/R2Q1RK1 b kq - 5 9"
    reason = why(fen, "Ba5", "Bd6", 0.9)  # the knight on c6 protects a5, but c7 falls
    assert reason is not None
    assert reason.parameters["lost"] == ["bishop", "pawn"]
    line = reason.parameters["line"]
    assert line[0] == "Bxa5"
    assert any("xc7" in san for san in line[1:])


def test_what_is_lost_anyway_is_no_reason() -> None:
    hangs = "6k1/5ppp/8/b7/8/2P5/5PPP/6K1 w - - 0 1"
    assert why(hangs, "h3", "g3") is None  # the pawn is lost after both moves
    assert why(hangs, "h3", "c4") is not None


def test_a_single_pawn_is_a_reason_only_if_the_move_costs_much() -> None:
    pawn = ("6k1/5ppp/8/b7/8/2P5/5PPP/2B3K1 w - - 0 1", "Be3", "Bd2")
    assert why(*pawn, after=0.3) is None
    assert why(*pawn, after=0.2) is not None
    exchange = ("6k1/5ppp/8/8/1b6/8/5PPP/R4K2 w - - 0 1", "Re1", "Rb1")
    assert why(*exchange, after=0.3) is not None


def test_a_player_who_stays_far_ahead_gets_a_reason_only_if_the_move_costs_much() -> None:
    ahead = ("6k1/5ppp/8/p7/1b6/8/5PPP/RR3K2 w - - 0 1", "Re1", "Kg1")
    assert why(*ahead, after=0.7, before=0.9) is None
    much = why(*ahead, after=0.6, before=0.9)
    assert much is not None
    assert much.parameters["lost"] == ["exchange"]


def test_a_better_move_in_a_lost_position_only_delays_a_mate() -> None:
    mated = ("rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2", "g4", "e4")
    for before, code in ((0.2, "better_delays_mate"), (0.5, "better_avoids_mate")):
        reason = why(*mated, after=0.0, before=before)
        assert reason is not None
        assert reason.better is not None
        assert reason.better.code == code


def test_a_piece_that_comes_to_its_square_in_the_line_is_named_with_this_move() -> None:
    """The queen is on d5. It is pinned on b3 only after it has covered the check."""
    reason = why("r4r2/1pk4p/p5p1/1bPQ2P1/1P1P4/8/P1K2q1P/RN2R3 w - - 0 25", "Kd1", "Nd2", depth=5)
    assert reason is not None
    assert reason.parameters["arrival"] == "Qb3"
    assert mentions(reason.text(), "queen & pinned on b3 & after Qb3")
    for language in LANGUAGES:
        assert mentions(reason.text(language), "Ba4+ Qb3 Qf3+ & b3 & Qb3")


def test_a_gain_needs_a_value_that_confirms_it() -> None:
    """Black takes a pawn on b2 in the line, but White's attack is worth more than a pawn."""
    board = chess.Board("8/5ppk/p4n1r/1pq4p/4P3/P1B2PQP/1P4P1/5R1K b - - 2 26")
    played, best = board.parse_san("a5"), board.parse_san("h4")
    after_played = (chess.Move.from_uci("c3a5"), chess.Move.from_uci("h5h4"))
    after_best = tuple(
        map(chess.Move.from_uci, ("g3f4", "a6a5", "c3d2", "c5c2", "f1c1", "c2b2", "e4e5", "f6g8"))
    )  # fmt: skip
    codes = {}
    for before in (0.32, 0.55):
        (found,) = explain([Case(board, played, best, before, before - 0.3, after_best, after_played)], 1, 0)
        assert found is not None
        assert found.better is not None
        codes[before] = found.better.code
    assert codes == {0.32: "better_saves", 0.55: "better_wins"}


def test_a_capture_at_the_end_of_a_line_proves_nothing_if_the_piece_is_lost() -> None:
    """The line ends with Rxb7. Then the fork Nd6+ wins the rook."""
    board = chess.Board("4n1k1/1p3ppp/8/8/1R2K3/8/7P/8 w - - 0 1")
    played, best = board.parse_san("h3"), board.parse_san("Rxb7")
    quiet = tuple(map(chess.Move.from_uci, ("g7g6", "e4e3", "h7h5", "e3e2")))
    (found,) = explain([Case(board, played, best, 0.7, 0.4, (), quiet)], 1, 3)
    assert found is None


def test_the_better_move_says_what_it_does() -> None:
    reason = why("6k1/5ppp/8/b7/8/2P5/5PPP/2B3K1 w - - 0 1", "Be3", "Bd2")
    assert reason is not None
    words = {"en": ("pawn", "avoids"), "de": ("Bauern", "vermeidet"), "fr": ("pion", "évite")}
    for language, (piece, better) in words.items():
        first, second = reason.text(language).split(". ")
        assert all(word in first for word in (piece, "c3", "Bxc3"))
        assert second.startswith(f"Bd2 {better}")
    found = Reason(reason.code, reason.parameters, reason.better, Found("Bd2", 1540, 0.31))
    assert mentions(found.text(), "31% & 1540 & Bd2")
    assert found.as_json()["found"] == {"move": "Bd2", "rating": 1540, "probability": 0.31}
    assert set(found.as_json()) == {"code", "parameters", "better", "found", "text"}
    assert "found" not in reason.as_json()
    lines = [(False, ["Bxc3"]), (True, ["Bd2"])]
    assert reason_lines(reason.as_json(), INSTEAD) == lines
    assert reason_lines(found.as_json(), INSTEAD) == [*lines, (True, ["Bd2"])]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_with_the_same_places(language: str) -> None:
    def places(text: str) -> set[str]:
        return {name.replace("the_", "") for _, name, _, _ in string.Formatter().parse(text) if name}

    words = LANGUAGES[language]
    for name in ("a", "the", "subject", "numbers"):
        assert getattr(words, name).keys() == getattr(ENGLISH, name).keys(), name
    own = words.sentences
    assert own.keys() == ENGLISH.sentences.keys()
    assert [code for code in own if places(own[code]) != places(ENGLISH.sentences[code])] == []


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1),
        ("7k/6pp/8/8/8/8/8/KRR5 w - - 0 1", 1),
        ("k7/8/8/8/8/8/1R6/2R4K w - - 0 1", 1),
        ("5k2/8/8/8/8/8/R7/1R5K w - - 0 1", 2),
    ],
)
def test_the_solver_mates_against_every_defense(fen: str, moves: int) -> None:
    board = chess.Board(fen)
    line = forced_mate(board)
    assert line is not None
    assert len(line) == 2 * moves - 1
    for move in line:
        assert board.is_legal(move)
        board.push(move)
    assert board.is_checkmate()


def test_the_solver_claims_no_mate_that_can_be_stopped() -> None:
    assert forced_mate(chess.Board("6k1/5pp1/7p/8/8/8/5PPP/R5K1 w - - 0 1")) is None
    assert forced_mate(chess.Board("5k2/8/8/8/8/8/R7/1R5K w - - 0 1"), most=1) is None
    assert forced_mate(chess.Board("5k2/8/8/8/8/8/R7/1R5K w - - 0 1"), positions=10) is None


@pytest.mark.parametrize(
    ("fen", "check"),
    [
        ("8/1k6/8/3pP3/4B3/8/8/4K3 w - d6 0 1", "exd6+"),
        ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "O-O+"),
        ("8/PNk5/8/8/8/8/8/K7 w - - 0 1", "a8=N+"),
        *((None, seed) for seed in range(12)),
    ],
)
def test_no_check_is_left_out(fen: str | None, check: str | int) -> None:
    """Of rare moves, and in random games."""
    board, moves = chess.Board(fen or chess.STARTING_FEN), random_chess(int(check), 100) if fen is None else [check]
    for played in moves:
        may_check = mates._may_check(board)
        assert all(may_check(move) for move in board.legal_moves if board.gives_check(move))
        board.push(board.parse_uci(str(played)) if fen is None else board.parse_san(str(played)))
    assert fen is None or board.is_check()


def test_an_engines_line_proves_what_a_search_does_not_reach() -> None:
    """The line counts up to its last quiet position: one that ends before the capture proves nothing."""
    board = chess.Board("r3k3/pp3ppp/8/1N6/8/8/PPP2PPP/4K3 b - - 0 1")
    played, best = board.parse_san("h6"), board.parse_san("Kd7")
    fork = tuple(map(chess.Move.from_uci, ("b5c7", "e8d7", "c7a8", "h6h5")))
    quiet = (chess.Move.from_uci("b5d4"), chess.Move.from_uci("a7a6"))

    def reason(after_played: tuple[chess.Move, ...]) -> Reason | None:
        return explain([Case(board, played, best, 0.5, 0.1, quiet, after_played)], 1, 0)[0]

    found = reason(fork)
    assert found is not None
    assert found.code == "overlooks_fork"
    assert found.parameters["lost"] == ["rook"]
    assert reason(fork[:2]) is None
    assert reason(()) is None


@pytest.mark.parametrize(
    ("targets", "language", "words"),
    [
        (["rook", "rook"], "en", "both rooks"),
        (["rook", "rook"], "de", "beide Türme"),
        (["rook", "rook"], "fr", "deux tours"),
        (["king", "rook", "rook"], "en", "king and both rooks"),
        (["knight", "knight", "knight"], "en", "three knights"),
        *(([piece, piece], "en", f"both {piece}s") for piece in ("queen", "bishop", "knight")),
        (["queen", "rook"], "en", "queen and"),
    ],
)
def test_a_fork_of_equal_pieces_names_them_once(targets: list[str], language: str, words: str) -> None:
    told = sentence("overlooks_fork", {"line": ["Nc2"], "targets": targets, "lost": ["rook"]}, language)
    assert words in told
