"""The table of `gocnn`, against a slow loop that plays every game on a board and asks the torch network."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from kibitz.cli import run as cli
from kibitz.errors import UsageError
from kibitz.evaluation import EvalConfig, evaluate
from kibitz.evaluation.games import Chosen
from kibitz.evaluation.owners import gnugo as go_gnugo
from kibitz.evaluation.owners.baselines import every_so_many
from kibitz.evaluation.owners.evaluator import STAGES, note
from kibitz.evaluation.owners.samples import MOMENTS, result_text
from kibitz.evaluation.owners.volatility import followed
from kibitz.external.gtp import CommandRefused
from kibitz.external.pool import Counter
from kibitz.external.programs import find_gnugo, find_named
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.go.io.ingest import COLUMNS, PER_GAME, PER_MOVE
from kibitz.games.go.points import GRID, PASS, POINTS, on_board
from kibitz.games.go.replay import STANDARD_START, encode_board, start_row
from kibitz.games.go.rules import Board
from kibitz.keys import key_of
from kibitz.report.page import render_test_page
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from support.causes import each_mentions, mentions
from support.helpers import bare, program
from support.trained import trained

GAMES = 16
QUIET = EvalConfig(gnugo=None, playout_positions=0)


def opened(start: np.ndarray) -> Board:
    """The board of a start position."""
    board = Board(int(start[POINTS + 1]))
    board.to_move = 1 + int(start[POINTS])
    for point in np.flatnonzero((start[:POINTS] == 1) | (start[:POINTS] == 2)).tolist():
        board.put(int(start[point]), point)
    return board


def random_game(rng: np.random.Generator, start: np.ndarray, length: int) -> list[int]:
    board = opened(start)
    size = board.size
    moves: list[int] = []
    while len(moves) < length:
        point = int(rng.integers(size)) * GRID + int(rng.integers(size))
        move = PASS if rng.random() < 0.03 else point
        if board.why_not(board.to_move, move) is None:
            board.play(board.to_move, move)
            moves.append(move)
    return moves


def row(number: int, size: int, result: int) -> dict[str, Any]:
    komi = [6.5, 0.0, None][number % 3] if number < 14 else 7.5
    return {
        "black": f"B{number}", "white": "<W>", "black_rank": ["9d", "2k", None][number % 3],
        "white_rank": ["1p", "12k", "3d"][number % 3], "result": result,
        "margin": 2.5 if result and number % 2 else None, "ending": "counted" if result else "void", "komi": komi,
        "rules": ["japanese", "chinese", None][number % 3], "handicap": 2 * (number % 4 == 3), "size": size,
        "date": None, "event": None, "place": None, "labels": ["playouts", "gnugo"][number % 2], "source": "a.sgf",
        "number": number + 1,
    }  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Random games on two sizes of board, some called handicap games; owners at random, every fifth point neutral."""
    rng = np.random.default_rng(4)
    games, starts, owners, rows = [], [], [], []
    for number in range(GAMES):
        size = 13 if number % 4 == 0 else 9
        black, white = ((0, 8), (8 * GRID,)) if number % 8 == 5 else ((), ())
        starts.append(start_row(size, black, white, side=int(number % 8 == 6)))
        games.append(random_game(rng, starts[-1], int(rng.integers(30, 70))))
        owner = rng.choice(3, POINTS, p=[0.2, 0.45, 0.35]).astype(np.uint8)
        owner[[not on_board(point, size) for point in range(POINTS)]] = 0
        owners.append(owner)
        rows.append(row(number, size, int(rng.choice([1, -1, 0], p=[0.5, 0.4, 0.1]))))
    batch = GameBatch(
        np.concatenate(games).astype(np.uint16), np.array([len(game) for game in games], np.int32), np.stack(starts),
        pa.Table.from_pylist(rows, COLUMNS), Rejections(), GAMES, per_game={"owner": np.stack(owners)},
    )  # fmt: skip
    path = tmp_path_factory.mktemp("go") / "random.store"
    with StoreWriter(path, "go", COLUMNS, STANDARD_START, PER_MOVE, per_game=PER_GAME) as writer:
        assert writer.add(batch) == GAMES
        return writer.commit({})


@pytest.fixture(scope="module")
def run(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Run:
    from kibitz.systems.gocnn import Settings
    from kibitz.training.trainer import TrainConfig as Training

    path = tmp_path_factory.mktemp("go-runs") / "gocnn-1"
    settings = Settings(
        sizes="9,13", min_moves=0, handicap=9, layers="8conv3x3p1", last=3, iterations=12, batch=64, learning_rate=0.01
    )
    plan = Training(10, 1000, 1000, 500, precision="32-true")
    return Run(trained("gocnn", settings, store, path, plan))


@pytest.fixture(scope="module")
def chosen(store: Store) -> Chosen:
    return Chosen(np.arange(len(store)), len(store), 0, 0, "all")


@pytest.fixture(scope="module")
def result(run: Run, store: Store, chosen: Chosen) -> dict[str, Any]:
    """Of every position, with playouts, without GNU Go."""
    config = EvalConfig(playout_positions=30)
    return evaluate(run, store, chosen, config, command="kibitz test it", on_progress=lambda *_: None, log=pytest.fail)


@dataclass
class Seen:
    """One position as the slow loop sees it; points: (probability for Black, Black owns it, stone) of each known
    point, by its number."""

    game: int
    ply: int
    length: int
    score: float
    points: dict[int, tuple[float, bool, int]]

    def right(self) -> int:
        return sum((chance > 0.5) == black for chance, black, _ in self.points.values())


@pytest.fixture(scope="module")
def loop(run: Run, store: Store) -> list[Seen]:
    network, owners, seen = run.load_network(), store.per_game("owner"), []
    assert owners is not None
    for game in range(len(store)):
        board = opened(store.starts[store.start_of[game]])
        moves = store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()
        for ply in range(len(moves) + 1):
            codes, state = encode_board(board)
            with torch.no_grad():
                chance = network(torch.from_numpy(codes)[None], torch.from_numpy(state)[None])[0][0].numpy()
            inside = [point for point in range(POINTS) if on_board(point, board.size)]
            points = {
                point: (float(chance[point]), owners[game, point] == 1, board[point])
                for point in inside
                if owners[game, point]
            }
            score = sum(2 * float(chance[point]) - 1 for point in inside)
            seen.append(Seen(game, ply, len(moves), score, points))
            if ply < len(moves):
                board.play(board.to_move, moves[ply])
    return seen


def share(seen: list[Seen]) -> float:
    return sum(position.right() for position in seen) / sum(len(position.points) for position in seen)


def near(value: float) -> Any:
    """ONNX and torch differ in the last bits, which may turn a point that stands at 0.5."""
    return pytest.approx(value, abs=3e-4)


def test_figures_over_points(result: dict[str, Any], loop: list[Seen], store: Store) -> None:
    figures = result["figures"]
    assert result["headline"] == "accuracy"
    assert figures["accuracy"]["value"] == near(share(loop))
    on_boards = sum(int(store.column("size")[position.game]) ** 2 for position in loop)
    known = sum(len(position.points) for position in loop)
    assert 0 < known < on_boards
    half = (sum(position.right() for position in loop) + (on_boards - known) / 2) / on_boards
    assert figures["accuracy_over_all_points"]["value"] == near(half)
    late = [position for position in loop if 10 * position.ply >= 9 * position.length]
    assert figures["accuracy_in_last_tenth"]["value"] == near(share(late))
    assert figures["accuracy_in_last_tenth"]["n"] == len(late)
    last = [position for position in loop if position.ply == position.length]
    assert figures["accuracy_after_last_move"]["value"] == near(share(last))
    assert figures["accuracy_after_last_move"]["n"] == len(store)
    over = [position.right() > 0.96 * len(position.points) for position in last if position.points]
    assert figures["games_over_96_percent_at_the_end"]["value"] == near(sum(over) / len(over))
    points = [point for position in loop for point in position.points.values()]
    squared = sum((chance - black) ** 2 for chance, black, _ in points) / len(points)
    assert figures["squared_error"]["value"] == near(squared)
    gaps = np.zeros(10)
    for chance, black, _ in points:
        gaps[min(int(chance * 10), 9)] += chance - black
    assert figures["calibration_error"]["value"] == near(np.abs(gaps).sum() / len(points))
    for name in ("accuracy", "squared_error", "calibration_error", "score_error"):
        assert (figures[name]["n"], figures[name]["games"]) == (len(loop), len(store))
        assert figures[name]["low"] <= figures[name]["value"] <= figures[name]["high"]
    assert result["data"]["positions_tested"] == len(loop)
    assert result["data"]["points_tested"] == len(points)
    assert sum(bin["n"] for bin in result["calibration"]) == len(points)


def placed(store: Store, game: int) -> int:
    """Stones that Black has put on the board, less White's."""
    start = store.starts[store.start_of[game]]
    colour, more = 1 + int(start[POINTS]), 0
    for move in store.moves[store.offsets[game] : store.offsets[game + 1]].tolist():
        more += 0 if move == PASS else (1 if colour == 1 else -1)
        colour = 3 - colour
    return more + sum({1: 1, 2: -1}.get(stone, 0) for stone in start[:POINTS].tolist())


def test_scores_and_winners(result: dict[str, Any], loop: list[Seen], store: Store) -> None:
    owners = store.per_game("owner")
    assert owners is not None
    off, winners = [], []
    for position in loop:
        its = store.row(position.game)
        area = int((owners[position.game] == 1).sum()) - int((owners[position.game] == 2).sum())
        off.append(abs(position.score - area))
        if its["result"] and its["komi"] is not None:
            given = its["komi"] + (its["handicap"] if its["rules"] == "chinese" else 0)
            given += placed(store, position.game) if its["rules"] == "japanese" else 0
            winners.append((position.score - given > 0) == (its["result"] > 0))
    assert result["figures"]["score_error"]["value"] == pytest.approx(np.mean(off), abs=1e-3)
    found = result["figures"]["winner_accuracy"]
    assert found["n"] == len(winners)
    assert found["value"] == pytest.approx(np.mean(winners), abs=2 / len(winners))


PARTS: dict[str, Callable[[Seen, Store], str]] = {
    "move number": lambda seen, _: f"{seen.ply // 20 * 20}-{seen.ply // 20 * 20 + 19}",
    "stage": lambda seen, _: STAGES[min(10 * seen.ply // seen.length, 9)],
    "board": lambda seen, store: str(store.row(seen.game)["size"]),
    "rules": lambda seen, store: store.row(seen.game)["rules"] or "unknown",
    "ownership from": lambda seen, store: store.row(seen.game)["labels"],
    "handicap": lambda seen, store: "1-3" if store.row(seen.game)["handicap"] else "0",
    "weaker player": lambda seen, store: {
        ("9d", "1p"): "7 to 9 dan", ("2k", "12k"): "10 kyu and weaker", (None, "3d"): "unknown"
    }[store.row(seen.game)["black_rank"], store.row(seen.game)["white_rank"]],
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_the_positions(name: str, result: dict[str, Any], loop: list[Seen], store: Store) -> None:
    parts: dict[str, list[Seen]] = {}
    for position in loop:
        parts.setdefault(PARTS[name](position, store), []).append(position)
    rows = {row["slice"]: row["figure"] for row in result["by"][key_of(name)]["rows"]}
    assert rows.keys() == parts.keys()
    for part, seen in parts.items():
        assert rows[part]["value"] == near(share(seen))
        assert rows[part]["n"] == len(seen)


def test_parts_of_the_points(result: dict[str, Any], loop: list[Seen], store: Store) -> None:
    found: dict[str, dict[str, list[bool]]] = {"confidence": {}, "point": {}, "line": {}}
    for position in loop:
        size = store.row(position.game)["size"]
        for point, (chance, black, stone) in position.points.items():
            right = (chance > 0.5) == black
            at = min(int(abs(chance - 0.5) * 10), 4)
            found["confidence"].setdefault(f"{50 + 10 * at} to {60 + 10 * at}% sure", []).append(right)
            words = ("an empty point", "a black stone", "a white stone")[stone]
            found["point"].setdefault(words, []).append(right)
            y, x = divmod(point, GRID)
            found["line"].setdefault(str(1 + min(x, y, size - 1 - x, size - 1 - y)), []).append(right)
    for name, parts in found.items():
        rows = {row["slice"]: row["figure"]["value"] for row in result["by"][key_of(name)]["rows"]}
        assert rows.keys() == parts.keys()
        for part, each in parts.items():
            assert rows[part] == pytest.approx(np.mean(each), abs=2 / len(each) + 3e-4)


def test_the_table_through_the_game(result: dict[str, Any], loop: list[Seen]) -> None:
    table = result["tables"][0]
    assert "by stage" in table["title"]
    assert [row[0] for row in table["rows"]] == [row["slice"] for row in result["by"]["stage"]["rows"]]
    assert [row[1] for row in table["rows"]] == [row["figure"] for row in result["by"]["stage"]["rows"]]
    assert sum(row[-1] for row in table["rows"]) == len(loop)
    assert "The final territory itself" in table["text"]


def test_baselines(result: dict[str, Any], store: Store, loop: list[Seen]) -> None:
    names = [row["label"] for row in result["baselines"].values()]
    total = sum(int(length) // 20 + 1 for length in store.plies)
    count = min(30, total)
    playouts, network = f"200 & playouts & {count} positions", f"network & {count} positions"
    assert each_mentions(names, "nearest stone", playouts, network)
    nearest, drawn, network = result["baselines"].values()
    assert nearest["n"] == len(loop)
    assert drawn["n"] == network["n"] == count
    assert 0.3 < nearest["value"] < 0.7, "the owners are drawn by chance"
    assert 0.3 < drawn["value"] < 0.7
    rows = result["tables"][1]["rows"]
    assert [row[1] for row in rows] == [
        bare(figure) for figure in (nearest, result["figures"]["accuracy"], drawn, network)
    ]
    assert rows[0][2] is None, "nearest stones give no probabilities"
    assert rows[2][2]["value"] > 0


def test_baselines_are_asked_every_twenty_moves(store: Store) -> None:
    games, plies = every_so_many(store, np.array([1, 3]))
    expected = [(game, ply) for game in (1, 3) for ply in range(0, int(store.plies[game]) + 1, 20)]
    assert list(zip(games.tolist(), plies.tolist(), strict=True)) == expected


def test_the_network_on_the_same_positions_is_the_loop_there(
    run: Run, store: Store, chosen: Chosen, loop: list[Seen]
) -> None:
    config = EvalConfig(positions=50, playout_positions=10_000)
    found = evaluate(run, store, chosen, config, on_progress=lambda *_: None, log=pytest.fail)
    figure = found["baselines"]["network_beside_playouts"]
    there = [position for position in loop if position.ply % 20 == 0]
    assert figure["n"] == len(there)
    assert figure["value"] == near(share(there))
    assert found["figures"]["accuracy"]["n"] == 50
    curve = found["curves"][0]["lines"]
    assert [line["name"] for line in curve] == ["the network", "nearest stone", "200 random playouts"]
    games = {move: sum(position.ply == move for position in there) for move in (0, 20, 40, 60)}
    assert [point[0] for point in curve[2]["points"]] == [move for move, count in games.items() if count >= 10]


def test_the_curve_by_move(result: dict[str, Any], loop: list[Seen]) -> None:
    network = result["curves"][0]["lines"][0]
    moves = [point[0] for point in network["points"]]
    assert moves == [10 * i + 4.5 for i in range(len(moves))]
    for i, (_, figure) in enumerate(network["points"]):
        mine = [position for position in loop if position.ply // 10 == i]
        assert figure["value"] == near(share(mine))
        assert figure["games"] >= 10


def test_boards_of_the_page(result: dict[str, Any], loop: list[Seen], store: Store) -> None:
    known = {(str(position.game), position.ply): position for position in loop}
    assert [band["title"] for band in result["gallery"]] == [title for _, title in MOMENTS]
    boards = [position for band in result["gallery"] for position in band["positions"]] + result["mistakes"]
    assert len(boards) >= 20
    for shown in boards:
        position, size = known[shown["game"], shown["ply"]], shown["board"]["size"]
        assert shown["probability"] == pytest.approx(position.right() / len(position.points), abs=2e-2)
        percents = np.array([row.split() for row in shown["board"]["black_owns"]], int)
        for point, (chance, black, stone) in position.points.items():
            y, x = divmod(point, GRID)
            assert abs(percents[y, x] - 100 * chance) < 0.6
            assert shown["board"]["stones"][y][x] == ".XO"[stone]
            assert shown["board"]["owners"][y][x] == ("X" if black else "O")
        assert sum(len(row) - row.count("-") for row in shown["board"]["owners"]) == len(position.points)
        assert len(shown["board"]["stones"]) == size
    last = result["gallery"][-1]["positions"]
    assert all(position["ply"] == store.plies[int(position["game"])] for position in last)


def test_mistakes_are_sure_late_and_one_a_game(result: dict[str, Any], loop: list[Seen]) -> None:
    def surely_wrong(position: Seen) -> int:
        return sum(abs(chance - black) >= 0.9 for chance, black, _ in position.points.values())

    worst: dict[int, int] = {}
    for position in loop:
        if 2 * position.ply >= position.length:
            worst[position.game] = max(worst.get(position.game, 0), surely_wrong(position))
    expected = sorted((count for count in worst.values() if count), reverse=True)[:12]
    assert len({row["game"] for row in result["mistakes"]}) == len(result["mistakes"]) == len(expected)
    known = {(str(position.game), position.ply): position for position in loop}
    found = [surely_wrong(known[row["game"], row["ply"]]) for row in result["mistakes"]]
    assert found == pytest.approx(expected, abs=1)
    for row in result["mistakes"]:
        game = result["games"][row["game"]]
        assert game["curve"][row["ply"]] == pytest.approx(row["probability"], abs=1e-3)
        assert len(game["moves"]) == len(game["curve"]) - 1


def test_the_page_is_whole_and_all_of_it_json(result: dict[str, Any]) -> None:
    page = render_test_page(json.loads(json.dumps(result, allow_nan=False)))
    assert page.count('class="board"') >= 20
    assert 'id="go-9"' in page
    assert "white-knight" not in page
    assert "&lt;W&gt;" in page
    assert "<W>" not in page
    assert "Through the moves" in page
    assert len(page.encode()) < 1_500_000


def test_notes(store: Store) -> None:
    said = note(store, np.arange(len(store)))
    for words in ("0.0% are on 19 × 19", "75.0% are even", "neutral intersections are excluded", "GNU Go (50.0%"):
        assert words in said
    assert "come from GNU Go." in note(store, np.array([1]))


@pytest.mark.parametrize(
    ("result", "margin", "ending", "text"),
    [
        (1, 3.5, "counted", "B+3.5"), (-1, 12.0, "counted", "W+12"), (-1, None, "resignation", "W+R"),
        (1, None, "time", "B+T"), (0, None, "counted", "0"), (0, None, "void", "void"), (1, None, "unknown", "B+"),
    ],
)  # fmt: skip
def test_results(result: int, margin: float | None, ending: str, text: str) -> None:
    assert result_text({"result": result, "margin": margin, "ending": ending}) == text


# GNU Go


def test_territory_is_read() -> None:
    colours = np.zeros(POINTS, np.uint8)
    colours[[0, 1, 20, 21]] = 1, 1, 2, 2
    rows = [["0.00"] * 9 for _ in range(9)]
    rows[0][1], rows[0][2], rows[1][0], rows[1][1], rows[2][0] = "1.50", "-1.00", "0.40", "-2.00", "-0.25"
    chance = go_gnugo.read_territory("\n".join(" ".join(row) for row in rows), 9, colours)
    assert chance[[0, 1, 2, 3]] == pytest.approx([1, 0.25, 1, 0.5]), (
        "a living stone, one that is dying, Black's, nobody's"
    )
    assert chance[[19, 20, 21, 38]] == pytest.approx([0.3, 1, 0, 0.625]), "White's, a dead stone, a living one, Black's"
    assert chance[9:19].tolist() == [0.5] * 10
    for broken in ("", "0 0\n0 0", "x"):
        with pytest.raises(ValueError, match=r"."):
            go_gnugo.read_territory(broken, 9, colours)


def test_gnugo_sees_plain_territory(tmp_path: Path) -> None:
    """Two walls on a small board: each side's own half, and a stone that is dead."""
    black = [row * GRID + 3 for row in range(9)]
    white = [row * GRID + 5 for row in range(9)] + [8 * GRID]
    start = start_row(9, tuple(black), tuple(white))
    table = pa.Table.from_pylist([row(0, 9, 1)], COLUMNS)
    moves = np.array([8 * GRID + 1, PASS, PASS], np.uint16)
    batch = GameBatch(moves, np.array([3], np.int32), start[None], table, Rejections(), 1,
                      per_game={"owner": np.zeros((1, POINTS), np.uint8)})  # fmt: skip
    with StoreWriter(tmp_path / "a.store", "go", COLUMNS, STANDARD_START, PER_MOVE, per_game=PER_GAME) as writer:
        writer.add(batch)
        store = writer.commit({})
    heard: list[int] = []
    asked = go_gnugo.estimate_with_gnugo(
        program("gnugo"), store, np.zeros(2, np.int64), np.array([0, 3]), workers=2,
        on_progress=lambda done, _: heard.append(done),
    )  # fmt: skip
    assert asked.name.startswith("GNU Go")
    assert asked.answered.all()
    assert heard == [1, 2]
    # 36 points on Black's side, 36 on White's, and the file between them. Black has put 9 stones and 1, White 10.
    assert asked.lead == pytest.approx([0, 0], abs=5)
    for one in asked.chance.reshape(2, GRID, GRID):
        assert (one[:9, :4] > 0.5).all()
        assert (one[:9, 5:9] < 0.5).all()
        assert (one[9:] == 0.5).all()


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("W+13.0 (upper bound: 17.9, lower: 8.0)", -13),
        ("B+5.8 (upper bound: 11.8, lower: -23.4)", 5.8),
        ("W+0.0 (upper bound: 0.0, lower: 0.0)", 0),
        ("0 (upper bound: 0.0, lower: 0.0)", 0),
    ],
)
def test_a_score_is_read(text: str, lead: float) -> None:
    assert go_gnugo.read_score(text) == lead
    with pytest.raises(ValueError, match="not a score"):
        go_gnugo.read_score(text[1:])


class NoEstimate:
    """A program with one living black stone in view and no command `estimate_score`."""

    def request(self, command: str, limit: float) -> str:
        if command.startswith("estimate_score"):
            raise CommandRefused("unknown command")
        return "\n".join(["0.0 " * 9] * 9) if command.startswith("initial_influence") else ""


def test_a_program_without_an_estimate_still_has_its_influence(store: Store) -> None:
    game = int(np.flatnonzero(store.column("size") == 9)[0])
    positions = go_gnugo._Positions(store, np.array([game]), np.array([2]), Counter(1, lambda done, total: None))
    positions.estimate(NoEstimate(), game)  # type: ignore[arg-type]
    assert positions.answered.all()
    assert np.isnan(positions.lead).all()


def test_gnugo_stands_beside_the_network(run: Run, store: Store, chosen: Chosen) -> None:
    config = EvalConfig(gnugo=program("gnugo"), gnugo_positions=6, playout_positions=0)
    found = evaluate(run, store, chosen, config, on_progress=lambda *_: None, log=pytest.fail)
    names = [row["label"] for row in found["baselines"].values()]
    assert names[1].startswith("GNU Go")
    assert names[1].endswith("'s influence, 6 positions")
    assert mentions(names[2], "6 & positions")
    rows = {row[0]: row for row in found["tables"][-1]["rows"]}
    score = next(row for name, row in rows.items() if name.endswith("score estimate, 6 positions"))
    assert score[1] is None  # it names no owners
    assert score[3]["n"] == 6
    assert score[3]["value"] > 0
    assert not any("score estimate" in name for name in names)


FAKE = """
import sys, time
for line in sys.stdin:
    number, command, *rest = line.split()
    {body}
    print("=" + number, "1\\n", flush=True)
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(3)", "skipped & GNU & Go"),
        ("if command == 'initial_influence': time.sleep(60)", "0.5 s"),
        ("if command == 'play': print('?' + number, 'no\\n', flush=True); continue", "did not evaluate"),
    ],
)
def test_a_failing_gnugo_costs_only_its_baseline(
    body: str, said: str, run: Run, store: Store, chosen: Chosen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.name == "nt":
        pytest.skip("scripts with a first line of #! are needed")
    fake = tmp_path / "gnugo"
    fake.write_text(f"#!{sys.executable}{FAKE.format(body=body)}")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(go_gnugo, "LIMIT", 0.5 if "sleep" in body else 60.0)
    lines: list[str] = []
    config = EvalConfig(positions=100, gnugo=str(fake), gnugo_positions=10, playout_positions=0)
    found = evaluate(run, store, chosen, config, on_progress=lambda *_: None, log=lines.append)
    assert len(lines) == 1
    assert mentions(lines[0], said)
    assert found["figures"]["accuracy"]["n"] == 100


def test_gnugo_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="--gnugo must be a program"):
        find_named("--gnugo", "/nowhere/gnugo", find_gnugo)


# The command


def test_the_command_prints_the_tables_and_writes_the_page(
    run: Run, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    options = ["--split", "all", "--gnugo-positions", "0", "--playout-positions", "8", "--out", str(page)]
    assert cli(["test", str(run.path), str(store.path), *options]) == 0
    out, err = capsys.readouterr()
    for words in (
        "accuracy in last tenth",
        "200 random playouts, 8 positions",
        "accuracy by confidence",
        "Accuracy by stage",
    ):
        assert words in out
    assert "Stockfish" not in out + err
    assert "GNU Go is not installed" not in err
    assert 'id="go-13"' in page.read_text()
    assert cli(["test", str(run.path), str(store.path), *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["figures"]["accuracy"].keys() == {"label", "value", "low", "high", "n", "games", "kind"}


def test_the_command_does_without_gnugo(
    run: Run, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["test", str(run.path), str(store.path), "--split", "all", "--positions", "50"]
    arguments += ["--playout-positions", "0", "--out", str(tmp_path / "page.html")]
    monkeypatch.setattr("kibitz.external.programs.find_program", lambda name: None)
    assert cli(arguments) == 0
    assert mentions(capsys.readouterr().err, "Go & baselines")
    assert cli([*arguments, "--gnugo", "/nowhere/gnugo"]) == 2
    assert "--gnugo" in capsys.readouterr().err


def test_a_store_without_owners_is_refused(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.Table.from_pylist([row(0, 9, 1)], COLUMNS)
    batch = GameBatch(np.array([0], np.uint16), np.ones(1, np.int32), start_row(9)[None], table, Rejections(), 1)
    with StoreWriter(tmp_path / "a.store", "go", COLUMNS, STANDARD_START, PER_MOVE) as writer:
        writer.add(batch)
        writer.commit({})
    assert cli(["test", str(run.path), str(tmp_path / "a.store"), "--split", "all"]) == 1
    assert mentions(capsys.readouterr().err, "a.store & labels & --referee")


def test_the_games_that_are_followed_lie_evenly_over_all() -> None:
    for count in (1, 199, 200, 201, 399, 400, 10_000):
        games = followed(np.arange(count), 0)
        assert len(games) == min(count, 200)
        assert np.diff(games).max(initial=0) - np.diff(games).min(initial=99) <= 1
        assert count - games[-1] <= max(1, -(-count // 200))
    assert len(followed(np.arange(1000), 2_000)) == 10
