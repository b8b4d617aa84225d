"""The table of `winner`, against a slow loop over boards of python-chess and the torch network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
import torch

from kibitz.evaluation import EvalConfig, labelled
from kibitz.evaluation.games import Chosen
from kibitz.evaluation.positions.evaluator import GALLERY, IN_BAND, SHOWN, evaluate, protocol_note
from kibitz.external import uci
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import encode_board
from kibitz.runs import Run
from kibitz.store.store import Store
from support.causes import each_mentions, mentions
from support.helpers import program

PAWNS = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}


@dataclass
class Seen:
    """One position as the slow loop sees it."""

    game: int
    ply: int
    chance: float
    won: bool
    material: int
    officers: int
    white_to_move: bool
    ratings: tuple[int, int]

    @property
    def right(self) -> bool:
        return (self.chance > 0.5) == self.won


@pytest.fixture(scope="module")
def loop(opened: Run, small_store: Store, chosen: Chosen) -> list[Seen]:
    """Every position of the test games."""
    network, seen = opened.load_network(), []
    for game in chosen.games.tolist():
        row, board, ply = small_store.row(game), chess.Board(), 0
        moves = small_store.moves[small_store.offsets[game] : small_store.offsets[game + 1]].tolist()
        while True:
            code = torch.from_numpy(encode_board(board))[None]
            with torch.no_grad():
                chance = float(network(code[:, :64], code[:, 64:])[0])
            men = list(board.piece_map().values())
            seen.append(
                Seen(
                    game, ply, chance, row["result"] > 0,
                    sum(PAWNS[man.piece_type] * (1 if man.color else -1) for man in men),
                    sum(man.piece_type not in (chess.PAWN, chess.KING) for man in men),
                    board.turn, (row["white_rating"], row["black_rating"]),
                )
            )  # fmt: skip
            if ply == len(moves):
                break
            board.push(to_move(moves[ply]))
            ply += 1
    return seen


def share(seen: list[Seen]) -> float:
    return sum(position.right for position in seen) / len(seen)


def halves(scores: list[tuple[int, bool]]) -> float:
    return sum(0.5 if score == 0 else float((score > 0) == won) for score, won in scores) / len(scores)


def near(value: float) -> Any:
    """ONNX and torch differ in the last bits, which may turn a position of the loop that stands at 0.5."""
    return pytest.approx(value, abs=2e-4)


def test_figures(result: dict[str, Any], loop: list[Seen], chosen: Chosen) -> None:
    figures = result["figures"]
    assert figures["accuracy"]["value"] == near(share(loop))
    losses = [-math.log(position.chance if position.won else 1 - position.chance) for position in loop]
    assert figures["log_loss"]["value"] == near(sum(losses) / len(losses))
    gaps = np.zeros(10)
    for position in loop:
        gaps[min(int(position.chance * 10), 9)] += position.chance - position.won
    assert figures["calibration_error"]["value"] == near(abs(gaps).sum() / len(loop))
    assert result["headline"] == "accuracy"
    for figure in figures.values():
        assert (figure["n"], figure["games"]) == (len(loop), len(chosen.games))
        assert figure["low"] <= figure["value"] <= figure["high"]
    assert result["data"]["positions"] == result["data"]["positions_tested"] == len(loop)


SLICES = {
    "ply": lambda seen: next(
        name
        for most, name in (
            (9, "0-9"), (19, "10-19"), (29, "20-29"), (39, "30-39"), (59, "40-59"), (79, "60-79"), (99, "80-99"),
            (139, "100-139"), (999, "140 and over"),
        )
        if seen.ply <= most
    ),
    "phase": lambda seen: "opening" if seen.officers > 10 else "middlegame" if seen.officers > 6 else "endgame",
    "material": lambda seen: "equal"
    if not seen.material
    else ("White " if seen.material > 0 else "Black ")
    + next(
        name
        for most, name in ((2, "1 or 2 up"), (4, "3 or 4 up"), (8, "5 to 8 up"), (99, "9 or more up"))
        if abs(seen.material) <= most
    ),
    "side_to_move": lambda seen: "White" if seen.white_to_move else "Black",
}  # fmt: skip


@pytest.mark.parametrize("name", SLICES)
def test_slices(name: str, result: dict[str, Any], loop: list[Seen]) -> None:
    parts: dict[str, list[Seen]] = {}
    for position in loop:
        parts.setdefault(SLICES[name](position), []).append(position)
    rows = {row["slice"]: row["figure"] for row in result["by"][name]["rows"]}
    assert rows.keys() == parts.keys()
    for part, seen in parts.items():
        assert rows[part]["value"] == pytest.approx(share(seen), abs=1.5 / len(seen))
        assert (rows[part]["n"], rows[part]["games"]) == (len(seen), len({position.game for position in seen}))


def test_ratings(result: dict[str, Any], loop: list[Seen]) -> None:
    rows = result["by"]["rating"]["rows"]
    assert sum(row["figure"]["n"] for row in rows) == len(loop)
    assert rows[0]["slice"].startswith("under ")
    bound = int(rows[0]["slice"].split()[1])
    below = [position for position in loop if sum(position.ratings) // 2 < bound]
    assert rows[0]["figure"]["n"] == len(below)
    assert "speed" not in result["by"], "the bundled games have none"


def test_baselines(result: dict[str, Any], loop: list[Seen]) -> None:
    beside = result["baselines"]
    assert list(beside) == ["always_white", "material", "rating"]
    labels = ["always White", "more material (ties count half)", "higher rating (ties count half)"]
    assert [figure["label"] for figure in beside.values()] == labels
    values = [figure["value"] for figure in beside.values()]
    assert values[0] == pytest.approx(sum(position.won for position in loop) / len(loop))
    assert values[1] == pytest.approx(halves([(position.material, position.won) for position in loop]))
    assert values[2] == pytest.approx(halves([(p.ratings[0] - p.ratings[1], p.won) for p in loop]))
    assert all(figure["n"] == len(loop) for figure in beside.values())


def test_games_without_ratings_count_in_neither_side_of_that_baseline(
    opened: Run, bundled_games: list[str], make_store: Any, tmp_path: Path
) -> None:
    lines = [game.replace("WhiteElo", "WhiteTeam") if i % 2 else game for i, game in enumerate(bundled_games[500:506])]
    (tmp_path / "some.pgn").write_text("".join(lines))
    store = make_store(tmp_path / "some.store", tmp_path / "some.pgn", keep=Filter(ending="decisive"))
    chosen = Chosen(np.arange(len(store)), len(store), 0, 0, "")
    found = evaluate(opened, store, chosen, EvalConfig(), lambda *_: None, pytest.fail)
    rated = int((store.plies[store.column("white_rating") > 0] + 1).sum())
    beside = found["baselines"]
    assert beside["rating"]["n"] == rated
    assert beside["network_beside_rating"]["n"] == rated
    assert found["by"]["rating"][-1]["slice"] == "unknown"
    assert found["by"]["rating"][-1]["figure"]["n"] == store.info["positions"] - rated


def test_gallery(result: dict[str, Any], loop: list[Seen], small_store: Store) -> None:
    known = {(str(position.game), position.ply): position for position in loop}
    games: list[str] = []
    for band, (low, high, _) in zip(result["gallery"], GALLERY, strict=True):
        assert band["band"] == [low, high]
        inside = [p for p in loop if low <= p.chance < high]
        for kind, right in (("correct", True), ("wrong", False)):
            assert len(band[kind]) <= IN_BAND
            assert bool(band[kind]) == any(p.right == right and str(p.game) not in games for p in inside)
            for row in band[kind]:
                position = known[row["game"], row["ply"]]
                assert low <= row["probability"] <= high
                assert row["probability"] == near(position.chance)
                assert position.right == right
                assert row["result"] == ("1-0" if position.won else "0-1")
                code = encode_board(chess.Board(row["fen"]))
                replayed, _ = small_store.replay(np.array([position.game]), np.array([position.ply]))
                assert np.array_equal(code[:64], replayed[0])
                games.append(row["game"])
    assert len(games) == len(set(games)) > 7


def test_hardest_and_mistakes(result: dict[str, Any], loop: list[Seen]) -> None:
    games = {position.game for position in loop}
    hardest, mistakes = result["hardest"], result["mistakes"]
    assert len(hardest) == min(SHOWN, len(games))
    assert len({row["game"] for row in hardest}) == len(hardest)
    assert hardest[0]["probability"] == near(min((abs(p.chance - 0.5), p.chance) for p in loop)[1])
    away = [abs(row["probability"] - 0.5) for row in hardest]
    assert away == sorted(away)
    wrong: dict[int, float] = {}
    for position in loop:
        if not position.right:
            wrong[position.game] = max(wrong.get(position.game, 0), abs(position.chance - 0.5))
    sure = sorted(wrong.values(), reverse=True)[:SHOWN]
    assert [abs(row["probability"] - 0.5) for row in mistakes] == [near(value) for value in sure]
    for row in mistakes:
        assert (row["probability"] > 0.5) == (row["result"] == "0-1")


def test_games_of_the_page(result: dict[str, Any], small_store: Store) -> None:
    shown = [*result["hardest"], *result["mistakes"]]
    assert set(result["games"]) == {row["game"] for row in shown}
    for row in shown:
        game = result["games"][row["game"]]
        assert len(game["moves"]) == small_store.plies[int(row["game"])] == len(game["curve"]) - 1
        assert game["curve"][row["ply"]] == near(row["probability"])
        assert game["link"] is None, "the bundled games have no Site"


def test_a_sample_gives_near_figures(opened: Run, small_store: Store, chosen: Chosen, result: dict[str, Any]) -> None:
    config = EvalConfig(positions=500)
    found = labelled(evaluate(opened, small_store, chosen, config, lambda *_: None, pytest.fail))
    assert found["figures"]["accuracy"]["n"] == 500
    assert found["data"]["positions_tested"] == 500
    whole = result["figures"]["accuracy"]["value"]
    assert found["figures"]["accuracy"]["value"] == pytest.approx(whole, abs=5 * (whole * (1 - whole) / 500) ** 0.5)


def test_notes(result: dict[str, Any], small_store: Store, make_store: Any, tmp_path: Path) -> None:
    assert "bundled with kibitz" in result["data"]["note"]
    pgn = '[White "A"]\n[Black "B"]\n[WhiteElo "{}"]\n[BlackElo "2100"]\n[Result "{}"]\n\n1. e4 f6 2. d4 g5 {} {}\n\n'
    games = [(2001, "1-0", "3. Qh5#"), (2000, "1-0", "3. Qh5#"), (2500, "0-1", "")]
    texts = [pgn.format(rating, won, last, won) for rating, won, last in games]
    (tmp_path / "a.pgn").write_text("".join(texts))
    store = make_store(tmp_path / "a.store", tmp_path / "a.pgn", keep=Filter())
    order = [int(np.flatnonzero(store.column("number") == number)[0]) for number in (1, 2, 3) if number != 2]
    assert protocol_note(store, np.array(order[:1])) is None
    note = protocol_note(store, np.array(order))
    assert note is not None
    assert mentions(note, "50.0% & players")


def test_stockfish_beside_the_network_on_the_same_positions(
    opened: Run, small_store: Store, chosen: Chosen, result: dict[str, Any]
) -> None:
    heard: list[str] = []
    found = evaluate(
        opened, small_store, chosen, EvalConfig(stockfish=program("stockfish"), stockfish_positions=100),
        lambda what, *_: heard.append(what), pytest.fail,
    )  # fmt: skip
    rows = {row["label"]: row for name, row in found["baselines"].items() if name not in result["baselines"]}
    (one, shallow), same, (ten, deep), again = rows.items()
    assert one.startswith("Stockfish")
    assert one.endswith(", depth 1, 100 positions")
    assert ten.endswith(", depth 10, 20 positions")
    assert each_mentions([same[0], again[0]], "network & 100 positions", "network & 20 positions")
    assert [row["n"] for row in rows.values()] == [100, 100, 20, 20]
    assert shallow["value"] > 0.6, "games to mate: Stockfish knows more than half of them"
    assert deep["value"] > 0.6
    assert {"positions", "Stockfish, depth 1", "Stockfish, depth 10"} <= set(heard)
    assert labelled(found)["figures"] == result["figures"]


@pytest.mark.process
def test_a_hanging_stockfish_is_left_out(
    opened: Run, small_store: Store, chosen: Chosen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci, "PATIENCE", 0.5)
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\nexec sleep 60\n")
    engine.chmod(0o755)
    said: list[str] = []
    config = EvalConfig(positions=200, stockfish=str(engine), stockfish_positions=10)
    found = evaluate(opened, small_store, chosen, config, lambda *_: None, said.append)
    assert each_mentions(said, "Stockfish & depth 1", "Stockfish & depth 10")
    assert len(found["baselines"]) == 3
