"""The table of `deepchess`, against a slow loop over boards of python-chess and the torch network."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
import torch

from kibitz.errors import KibitzError
from kibitz.evaluation import EvalConfig, evaluate
from kibitz.evaluation.games import Chosen, choose
from kibitz.evaluation.pairs import baselines, distilled, evaluator
from kibitz.evaluation.pairs import split as pairs_split
from kibitz.evaluation.pairs.answers import PairSample, answers, both_orders, fill, intransitive, networks, pairs
from kibitz.evaluation.pairs.baselines import MATERIAL
from kibitz.evaluation.pairs.samples import GALLERY, IN_BAND, MISTAKES
from kibitz.evaluation.pairs.split import nearest
from kibitz.external import uci
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import decode_board, encode_board
from kibitz.keys import key_of
from kibitz.report.page import render_test_page
from kibitz.runs import INFO, Run
from kibitz.store.sampling import Sample
from kibitz.store.split import TRAIN, Split
from kibitz.store.store import Store
from kibitz.systems.deepchess import Settings, positions
from support.causes import each_mentions, mentions, naming
from support.helpers import SMALL_PAIRS, bare, import_games, program
from support.trained import trained

PAWNS = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
ALL = EvalConfig(positions=0)


def quiet(*_: object) -> None:
    pass


Made = Callable[..., Run]


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """Fewer triples and pairs, and shorter looks at speed, than a real test has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "TRIPLES", 5000)
        patch.setattr(pairs_split, "PAIRS", 5000)
        patch.setattr(distilled, "SECONDS", 0.005)
        yield


@pytest.fixture(scope="module")
def made(small_store: Store, tmp_path_factory: pytest.TempPathFactory, quick: None) -> Made:
    """A run on the small store, trained for a moment. Other settings are trained now: their records would be large."""
    from kibitz.training.trainer import TrainConfig

    def make(**settings: Any) -> Run:
        path = tmp_path_factory.mktemp("pairs") / "deepchess-1"
        quick = {**SMALL_PAIRS, "positions": 6, "pretrain_epochs": 1.0, "epochs": 2.0, "pairs": 10_000}
        plan = TrainConfig(1000, 1000, 1000, validate_positions=500, precision="32-true")
        return Run(trained("deepchess", Settings(**quick | settings), small_store, path, plan, record=not settings))  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="module")
def opened(made: Made) -> Run:
    return made()


@pytest.fixture(scope="module")
def chosen(opened: Run, small_store: Store) -> Chosen:
    return choose(opened, small_store)


@pytest.fixture(scope="module")
def result(opened: Run, small_store: Store, chosen: Chosen) -> dict[str, Any]:
    """Of every pair of the run's test games, without Stockfish."""
    return evaluate(opened, small_store, chosen, ALL, command="kibitz test it", on_progress=quiet, log=pytest.fail)


@dataclass
class Seen:
    """One position as the slow loop sees it."""

    game: int
    ply: int
    won: bool
    board: chess.Board
    ratings: tuple[int, int]

    @cached_property
    def material(self) -> int:
        men = self.board.piece_map().values()
        return sum(PAWNS[man.piece_type] * (1 if man.color else -1) for man in men)

    @cached_property
    def officers(self) -> int:
        return sum(man.piece_type not in (chess.PAWN, chess.KING) for man in self.board.piece_map().values())


def seen_in(store: Store, sample: Sample) -> list[Seen]:
    found = []
    for game, ply in zip(sample.games.tolist(), sample.plies.tolist(), strict=True):
        row, board = store.row(game), chess.Board()
        first = int(store.offsets[game])
        for code in store.moves[first : first + ply].tolist():
            board.push(to_move(code))
        found.append(Seen(game, ply, row["result"] > 0, board, (row["white_rating"], row["black_rating"])))
    return found


@dataclass
class Loop:
    """All pairs of a sample: positions, and the logits of each network that the White-won one is better, as asked."""

    won: list[Seen]
    lost: list[Seen]
    as_shown: dict[str, np.ndarray]
    """[won, lost]"""

    def pairs(self) -> list[tuple[Seen, Seen, float]]:
        asked = next(iter(self.as_shown.values()))
        return [(one, other, float(asked[i, j])) for i, one in enumerate(self.won) for j, other in enumerate(self.lost)]


def loop_of(run: Run, store: Store, sample: Sample) -> Loop:
    """By the network's own words: parts, logit; one position after the other."""
    network: Any = run.load_network()
    every = seen_in(store, sample)
    won, lost = [one for one in every if one.won], [one for one in every if not one.won]
    first = np.random.default_rng(0).integers(2, size=len(won) * len(lost)).reshape(len(won), len(lost)) > 0
    asked = {}
    for name, part in network.parts().items():
        rows = torch.from_numpy(np.stack([encode_board(one.board) for one in (*won, *lost)]))
        with torch.no_grad():
            features = part.pos2vec(rows[:, :64], rows[:, 64:])
            left = torch.arange(len(won)).repeat_interleave(len(lost))
            right = len(won) + torch.arange(len(lost)).repeat(len(won))
            there, back = part.logit(features, left, right).numpy(), part.logit(features, right, left).numpy()
        asked[name] = np.where(first, there.reshape(first.shape), -back.reshape(first.shape))
    return Loop(won, lost, asked)


@pytest.fixture(scope="module")
def loop(opened: Run, small_store: Store, chosen: Chosen) -> Loop:
    return loop_of(opened, small_store, positions(small_store, chosen.games, opened.settings))


def right(logit: float) -> float:
    return 0.5 if logit == 0 else float(logit > 0)


def near(value: float) -> Any:
    return pytest.approx(value, abs=2e-4)


def test_figures(result: dict[str, Any], loop: Loop, chosen: Chosen) -> None:
    every, figures = loop.pairs(), result["figures"]
    accuracy = np.mean([right(logit) for *_, logit in every])
    material = np.mean([right(one.material - other.material) for one, other, _ in every])
    assert result["headline"] == "accuracy"
    assert figures["accuracy"]["value"] == near(float(accuracy))
    assert figures["ahead_of_material_in_points"]["value"] == near(float(accuracy - material))
    assert figures["log_loss"]["value"] == near(float(np.mean([math.log1p(math.exp(-logit)) for *_, logit in every])))
    assert result["baselines"]["material"]["value"] == pytest.approx(material)
    for name in ("accuracy", "log_loss", "calibration_error", "ahead_of_material_in_points"):
        figure = figures[name]
        assert (figure["n"], figure["games"]) == (len(every), len(chosen.games))
        assert figure["low"] <= figure["value"] <= figure["high"]
    data = result["data"]
    assert data["pairs"] == data["pairs_tested"] == len(every)
    assert data["positions"] == len(loop.won) + len(loop.lost)
    assert mentions(data["split"], "6 & 5 & moves")


def test_positions_are_drawn_as_the_paper_draws_them(loop: Loop) -> None:
    for one in (*loop.won, *loop.lost):
        assert one.ply >= 10
        board = one.board.copy()
        move = board.pop()
        assert not board.is_capture(move)


SLICES: dict[str, Callable[[Seen, Seen], str]] = {
    "ply": lambda one, other: next(
        name
        for most, name in (
            (20, "10-19"), (30, "20-29"), (40, "30-39"), (60, "40-59"), (80, "60-79"), (100, "80-99"),
            (140, "100-139"), (9999, "140 and over"),
        )
        if (one.ply + other.ply) / 2 < most
    ),
    "material difference": lambda one, other: "equal"
    if one.material == other.material
    else next(
        name
        for most, name in ((2, "1 or 2"), (4, "3 or 4"), (8, "5 to 8"), (99, "9 or more"))
        if abs(one.material - other.material) <= most
    )
    + (" ahead" if one.material > other.material else " behind"),
    "phase": lambda one, other: stage(one) if stage(one) == stage(other) else "in two phases",
}  # fmt: skip


def stage(one: Seen) -> str:
    return "opening" if one.officers > 10 else "middlegame" if one.officers > 6 else "endgame"


@pytest.mark.parametrize("name", SLICES)
def test_slices(name: str, result: dict[str, Any], loop: Loop) -> None:
    parts: dict[str, list[tuple[Seen, Seen, float]]] = {}
    for pair in loop.pairs():
        parts.setdefault(SLICES[name](pair[0], pair[1]), []).append(pair)
    rows = {row["slice"]: row["figure"] for row in result["by"][key_of(name)]["rows"]}
    assert rows.keys() == parts.keys()
    for part, of in parts.items():
        assert rows[part]["value"] == pytest.approx(np.mean([right(logit) for *_, logit in of]), abs=1.5 / len(of))
        games = {seen.game for one, other, _ in of for seen in (one, other)}
        assert (rows[part]["n"], rows[part]["games"]) == (len(of), len(games))


def test_ratings(result: dict[str, Any], loop: Loop) -> None:
    rows = result["by"]["rating"]["rows"]
    assert sum(row["figure"]["n"] for row in rows) == len(loop.pairs())
    bound = int(rows[0]["slice"].removeprefix("under ").split()[0])
    below = [1 for one, other, _ in loop.pairs() if sum(one.ratings + other.ratings) // 4 < bound]
    assert rows[0]["figure"]["n"] == len(below)


def test_calibration_counts_the_position_shown_first(result: dict[str, Any], loop: Loop) -> None:
    rows = result["calibration"]
    assert sum(row["n"] for row in rows) == len(loop.pairs())
    first = np.random.default_rng(0).integers(2, size=len(loop.pairs())) > 0
    asked = np.array([logit for *_, logit in loop.pairs()])
    chance = 1 / (1 + np.exp(np.where(first, -asked, asked)))
    gaps = [
        chance[inside].sum() - first[inside].sum() for inside in np.minimum(chance * 10, 9).astype(int) == np.c_[:10]
    ]
    assert result["figures"]["calibration_error"]["value"] == near(float(np.abs(gaps).sum()) / len(asked))


# By position and by game


def learned_games(run: Run, store: Store) -> np.ndarray:
    decisive = store.column("result") != 0
    return np.flatnonzero(decisive & (store.sides(run.split) == TRAIN) & (store.plies >= 10))


def table(result: dict[str, Any], title: str) -> dict[str, Any]:
    found: dict[str, Any] = next(table for table in result["tables"] if mentions(table["title"], title))
    return found


def test_by_position_is_over_held_out_positions_of_learned_games(
    opened: Run, small_store: Store, chosen: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs_split, "PAIRS", 10**9)
    found = evaluate(opened, small_store, chosen, EvalConfig(positions=10**9), on_progress=quiet, log=pytest.fail)
    games = learned_games(opened, small_store)
    rows = {row[0]: row[1:] for row in table(found, "Split & position")["rows"]}
    for held_out, name, column in ((True, "accuracy_by_position", 1), (False, "accuracy_on_learned_positions", 0)):
        figure = found["figures"][name]
        slow = loop_of(opened, small_store, positions(small_store, games, opened.settings, held_out=held_out))
        for network, asked in slow.as_shown.items():
            assert rows[network][column]["value"] == near(float(np.mean((np.sign(asked) + 1) / 2)))
        assert rows["full"][column] == bare(figure)
        assert figure["n"] == len(slow.won) * len(slow.lost)
        won, lost = (np.array([one.material for one in side]) for side in (slow.won, slow.lost))
        ahead = np.sign(won[:, None] - lost[None, :])
        assert rows["material"][column]["value"] == pytest.approx(float(np.mean((ahead + 1) / 2)))
    for row in rows.values():
        by_position, by_game, gap = row[1:]
        assert gap["value"] == pytest.approx(by_position["value"] - by_game["value"])
        assert gap["low"] < gap["value"] < gap["high"]
    assert rows["full"][2] == bare(found["figures"]["accuracy"])
    near_rows = table(found, "Split by position: distance to training positions")["rows"]
    assert sum(row[-1] for row in near_rows) == found["figures"]["accuracy_by_position"]["n"]


def test_games_that_were_learned_from_are_not_called_unseen(opened: Run, small_store: Store) -> None:
    chosen = choose(opened, small_store, "training")
    assert chosen.seen
    found = evaluate(opened, small_store, chosen, ALL, on_progress=quiet, log=pytest.fail)
    assert mentions(found["data"]["note"], "training")
    assert "not seen" not in found["data"]["note"]
    assert mentions(split_words(found), "games & training")
    assert not [name for name in found["figures"] if "position" in name]


def test_held_out_positions_are_none_that_were_learned(opened: Run, small_store: Store) -> None:
    games = learned_games(opened, small_store)
    own, other = (positions(small_store, games, opened.settings, held_out=held_out) for held_out in (False, True))
    away, same = nearest(small_store, own, other)
    places = list(zip(own.games.tolist(), own.plies.tolist(), strict=True))
    for i in range(0, len(other), 37):
        game, ply = int(other.games[i]), int(other.plies[i])
        slow = [abs(at - ply) for of, at in places if of == game]
        assert away[i] == min(slow) > 0
        boards = [
            decode_board(*(rows[0] for rows in small_store.replay(np.array([game]), np.array([at]))))
            for at in (ply, ply + away[i], ply - away[i])
            if at == ply or (game, at) in places
        ]
        alike = [sum(boards[0].piece_at(s) == board.piece_at(s) for s in chess.SQUARES) for board in boards[1:]]
        assert same[i] in alike


def split_words(result: dict[str, Any]) -> str:
    return str(table(result, "Split by position and by game")["text"])


def test_what_is_said_of_both_splits(result: dict[str, Any], opened: Run, small_store: Store) -> None:
    text = split_words(result)
    assert mentions(text, f"{len(learned_games(opened, small_store)):,} & games")
    gap = table(result, "Split by position and by game")["rows"][0][-1]
    if gap["low"] > 0:
        assert mentions(text, f"{gap['value'] * 100:.1f} & points")
        assert mentions(text, "positions")
    else:
        assert "that may be chance" in text


def test_a_store_that_was_not_learned_from_has_no_by_position(
    opened: Run, bundled_games: list[str], make_store: Any, tmp_path: Path
) -> None:
    (tmp_path / "some.pgn").write_text("".join(bundled_games[500:560]))
    store = make_store(tmp_path / "some.store", tmp_path / "some.pgn", keep=Filter(ending="decisive"))
    found = evaluate(opened, store, choose(opened, store), ALL, on_progress=quiet, log=pytest.fail)
    assert mentions(split_words(found), "store")
    assert not [name for name in found["figures"] if "position" in name]
    for row in table(found, "Split & position")["rows"]:
        assert row[1] is row[2] is row[4] is None
        assert row[3]["value"] > 0
    assert not mentions([table["title"] for table in found["tables"]], "position & distance")
    assert [line["name"] for line in found["curves"][0]["lines"]] == ["games tested", "material, games tested"]
    render_test_page(found)


@pytest.mark.slow
def test_a_run_that_held_nothing_out_has_no_by_position(made: Made, small_store: Store) -> None:
    run = made(held_out=0.0, networks="full", pairs=2000)
    found = evaluate(run, small_store, choose(run, small_store), ALL, on_progress=quiet, log=pytest.fail)
    assert mentions(split_words(found), "training")
    assert "accuracy_by_position" not in found["figures"]
    assert found["figures"]["accuracy_on_learned_positions"]["n"] > 0
    assert [row[0] for row in table(found, "Properties")["rows"]] == ["full"]
    assert "Distilled and full network" not in [table["title"] for table in found["tables"]]


# Networks


def test_both_ways_is_what_the_network_itself_says(opened: Run) -> None:
    generator = torch.Generator().manual_seed(1)
    for part in networks(opened).values():
        features = torch.rand(40, part.compare.as_first.in_features, generator=generator)
        one, other = torch.arange(0, 20), torch.arange(20, 40)
        for antisymmetric in (False, True):
            part.antisymmetric = antisymmetric
            found = both_orders(part, features[one], features[other])
            with torch.no_grad():
                wanted = [part.logit(features, one, other).numpy(), part.logit(features, other, one).numpy()]
            assert found == pytest.approx(np.stack(wanted), abs=1e-6)


def test_distilled_beside_full(result: dict[str, Any], loop: Loop) -> None:
    rows = {row[0]: row[1:] for row in table(result, "Distilled and full network")["rows"]}
    assert list(rows) == ["full", "distilled"]
    agree = np.mean((loop.as_shown["full"] > 0) == (loop.as_shown["distilled"] > 0))
    assert rows["distilled"][2]["value"] == near(float(agree))
    assert rows["full"][2] is None
    for name, asked in loop.as_shown.items():
        assert rows[name][0]["value"] == near(float((asked > 0).mean()))
        assert rows[name][1] is not None
        weights, embeddings, comparisons, evaluations = rows[name][3:]
        assert weights > 0
        assert evaluations == pytest.approx(1 / (1 / embeddings + 1 / comparisons), rel=0.01)
    text = table(result, "Distilled and full network")["text"]
    lost = float((loop.as_shown["full"] > 0).mean() - (loop.as_shown["distilled"] > 0).mean()) * 100
    assert f"{abs(lost):.1f} points {'less' if lost > 0 else 'more'} often" in text


def test_properties(result: dict[str, Any], opened: Run, small_store: Store, chosen: Chosen, loop: Loop) -> None:
    rows = {row[0]: row[1:] for row in table(result, "Properties")["rows"]}
    for name, part in networks(opened).items():
        with torch.no_grad():
            rows_ = [torch.from_numpy(encode_board(one.board))[None] for one in (*loop.won, *loop.lost)]
            codes = torch.cat(rows_)
            features = part.pos2vec(codes[:, :64], codes[:, 64:])
            left = torch.arange(len(loop.won)).repeat_interleave(len(loop.lost))
            right_ = len(loop.won) + torch.arange(len(loop.lost)).repeat(len(loop.won))
            there, back = (part.logit(features, *two) for two in ((left, right_), (right_, left)))
        gap = (torch.sigmoid(there) + torch.sigmoid(back) - 1).abs().mean()
        assert rows[name][0]["value"] == near(float(gap))
        assert rows[name][1]["value"] == near(float(((there > 0) == (back > 0)).float().mean()))
        assert 0 <= rows[name][2]["value"] < 0.25
        assert rows[name][3] > 1000


@pytest.mark.slow
def test_an_antisymmetric_network_is_so_in_the_table(made: Made, small_store: Store) -> None:
    run = made(antisymmetric=True, networks="full", pairs=2000)
    found = evaluate(run, small_store, choose(run, small_store), ALL, on_progress=quiet, log=pytest.fail)
    gap, changed = table(found, "Properties")["rows"][0][1:3]
    assert gap["value"] == pytest.approx(0, abs=1e-6)
    assert changed["value"] == 0


def test_circles_are_found() -> None:
    """A comparison like rock, paper and scissors, of features that are an angle; and one by size."""

    class Angles(torch.nn.Module):
        antisymmetric = False

        def __init__(self, circle: bool) -> None:
            super().__init__()
            self.circle = circle
            self.compare = self

        def as_first(self, features: torch.Tensor) -> torch.Tensor:
            return features

        as_second = as_first

        def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
            return (torch.sin(first - second) if self.circle else first - second)[:, 0]

    angles = torch.rand(60, 1, generator=torch.Generator().manual_seed(3)) * 2 * math.pi
    games = np.arange(60)
    part: Any = Angles(circle=True)
    figure = intransitive(part, angles, games, 4000, 0)
    assert figure.value == pytest.approx(0.25, abs=0.06), "three random points of a circle"
    assert figure.low < figure.value < figure.high
    part = Angles(circle=False)
    assert intransitive(part, angles, games, 4000, 0).value == 0
    assert intransitive(part, angles[:2], games[:2], 4000, 0).n == 0


def test_a_distilled_network_alone(opened: Run, small_store: Store, chosen: Chosen, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = shutil.copytree(opened.path, tmp_path / "alone")
    weights = load_file(path / "best.safetensors")
    kept = {name: value for name, value in weights.items() if not name.startswith(("full.", "decoders."))}
    save_file(kept, path / "best.safetensors")
    info = json.loads((path / INFO).read_text())
    info["settings"]["networks"] = "distilled"
    (path / INFO).write_text(json.dumps(info))
    found = evaluate(Run(path), small_store, chosen, ALL, on_progress=quiet, log=pytest.fail)
    assert mentions(found["data"]["note"], "teacher")
    assert [row[0] for row in table(found, "Split & position")["rows"]] == ["distilled", "material"]
    assert "Distilled and full network" not in [table["title"] for table in found["tables"]]


def test_damaged_weights_are_said(opened: Run, small_store: Store, chosen: Chosen, tmp_path: Path) -> None:
    path = shutil.copytree(opened.path, tmp_path / "run")
    (path / "best.safetensors").write_bytes(b"nothing")
    with pytest.raises(KibitzError, match=naming("weights")):
        evaluate(Run(path), small_store, chosen, ALL, on_progress=quiet, log=quiet)


# PairSample


def test_pairs_are_drawn_evenly(small_store: Store, chosen: Chosen, opened: Run) -> None:
    sample = positions(small_store, chosen.games, opened.settings)
    whole, some = pairs(small_store, sample, 0, 0), pairs(small_store, sample, 300, 0)
    assert whole
    assert some
    assert len(some) == 300
    assert some.possible == len(whole)
    result = small_store.column("result")
    for of in (whole, some):
        won, lost = of.both(of.games)
        assert (result[won] > 0).all()
        assert (result[lost] < 0).all()
        assert np.array_equal(sample.games[of.indices], of.games)
        assert np.array_equal(sample.plies[of.indices], of.plies)
        assert len(set(zip(of.won.tolist(), of.lost.tolist(), strict=True))) == len(of)
        assert set(of.won.tolist()) | set(of.lost.tolist()) == set(range(len(of.games)))
        assert 0.4 < of.first.mean() < 0.6
    white_only = Sample(sample.games[result[sample.games] > 0], sample.plies[result[sample.games] > 0])
    assert pairs(small_store, white_only, 0, 0) is None


def test_some_pairs_give_near_figures(opened: Run, small_store: Store, chosen: Chosen, result: dict[str, Any]) -> None:
    found = evaluate(opened, small_store, chosen, EvalConfig(positions=700), on_progress=quiet, log=pytest.fail)
    assert found["data"]["pairs_tested"] == found["figures"]["accuracy"]["n"] == 700
    assert found["data"]["split"].count(f"700 of the {found['data']['pairs']:,} pairs") == 1
    assert found["figures"]["accuracy"]["value"] == pytest.approx(result["figures"]["accuracy"]["value"], abs=0.08)


def test_answers_are_the_same_in_any_batch(
    opened: Run, small_store: Store, chosen: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = pairs(small_store, positions(small_store, chosen.games, opened.settings), 500, 0)
    assert isinstance(of, PairSample)
    parts = networks(opened)
    whole = fill(of, parts, quiet, "all")
    monkeypatch.setattr("kibitz.evaluation.pairs.answers.BATCH_SIZE", 64)
    again = fill(of, parts, quiet, "all")
    assert again.main.as_shown == pytest.approx(whole.main.as_shown, abs=1e-4)
    assert answers(parts["full"], whole.features["full"], of).as_shown == pytest.approx(whole.main.as_shown, abs=1e-4)
    assert np.array_equal(again.material, whole.material)


# Others beside it


def test_winner_is_asked_about_games_that_it_has_not_seen(
    opened: Run, small_store: Store, chosen: Chosen, result: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    row, same = result["baselines"]["winner"], result["baselines"]["network_beside_winner"]
    assert mentions(row["label"], "winner & positions")
    assert mentions(same["label"], "winner & pairs")
    assert row["n"] == same["n"] == result["data"]["pairs"]
    assert row["value"] > 0.6, "it knows more than half of such pairs"
    said: list[str] = []
    monkeypatch.setattr(Run, "unseen", lambda self, hashes: np.zeros(len(hashes), bool))
    found = evaluate(opened, small_store, chosen, ALL, on_progress=quiet, log=said.append)
    assert each_mentions(said, "winner & comparator & games")
    assert list(found["baselines"]) == ["material"]
    monkeypatch.setattr(baselines, "packaged", dict)
    evaluate(opened, small_store, chosen, ALL, on_progress=quiet, log=said.append)
    assert each_mentions(said[1:], "winner & comparator")


def test_stockfish_beside_the_network_on_the_same_pairs(
    opened: Run, small_store: Store, chosen: Chosen, result: dict[str, Any]
) -> None:
    config = replace(ALL, stockfish=program("stockfish"), stockfish_positions=60)
    found = evaluate(opened, small_store, chosen, config, on_progress=quiet, log=pytest.fail)
    rows = {row["label"]: row for name, row in found["baselines"].items() if name not in result["baselines"]}
    (one, shallow), same, (ten, deep), again = rows.items()
    assert one.startswith("Stockfish")
    assert one.endswith(", depth 1, pairs of 60 positions")
    assert ten.endswith(", depth 10, pairs of 12 positions")
    assert each_mentions([same[0], again[0]], *(f"network & pairs & {n} positions" for n in (60, 12)))
    assert [row["n"] for row in rows.values()] == [900, 900, 36, 36]
    assert shallow["value"] > 0.6
    assert deep["value"] > 0.6
    simpler = {row[0]: row[1:] for row in table(found, "Compared with baselines")["rows"]}
    assert list(simpler)[:2] == [MATERIAL, one]
    assert simpler[one][0] == bare(shallow)
    assert simpler[one][2]["value"] == pytest.approx(same[1]["value"] - shallow["value"])
    assert simpler[MATERIAL][3] is None


@pytest.mark.process
def test_a_hanging_stockfish_is_left_out(
    opened: Run, small_store: Store, chosen: Chosen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci, "PATIENCE", 0.5)
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\nexec sleep 60\n")
    engine.chmod(0o755)
    said: list[str] = []
    config = replace(ALL, stockfish=str(engine), stockfish_positions=10)
    evaluate(opened, small_store, chosen, config, on_progress=quiet, log=said.append)
    assert each_mentions(said, "Stockfish & depth 1", "Stockfish & depth 10")


# The page


def test_result_is_json_and_makes_a_page(result: dict[str, Any]) -> None:
    again = json.loads(json.dumps(result, allow_nan=False))
    assert again == result
    page = render_test_page(again)
    for name in ("figures", "baselines", "calibration", "pairs", "games", "learning", "slices"):
        assert f'<h2 id="{name}"' in page
    assert page.count('class="pairing"') == sum(len(group["pairs"]) for group in result["pairs"]) > 3
    assert '<th scope="col">pairs</th>' in page
    assert f"{result['figures']['accuracy']['n']:,} pairs of " in page
    assert '<th scope="col">positions</th>' not in page


def test_shown_pairs(result: dict[str, Any], small_store: Store) -> None:
    games: list[str] = []
    bands = {title: (low, high) for low, high, title in GALLERY}
    for group in result["pairs"]:
        assert len(group["pairs"]) <= (IN_BAND if "band" in group else MISTAKES)
        for pair in group["pairs"]:
            low, high = bands.get(group["title"], (0, 0.5))
            assert low - 1e-4 <= pair["chance"] <= high + 1e-4
            for kind, wanted in (("won", "1-0"), ("lost", "0-1")):
                row = pair[kind]
                assert row["result"] == wanted
                code = encode_board(chess.Board(row["fen"]))
                replayed, _ = small_store.replay(np.array([int(row["game"])]), np.array([row["ply"]]))
                assert np.array_equal(code[:64], replayed[0])
                games.append(row["game"])
    assert len(games) == len(set(games)), "each pair of other games"
    mistakes = result["pairs"][-1]
    assert mistakes["title"] == "Biggest mistakes"
    chances = [pair["chance"] for pair in mistakes["pairs"]]
    assert chances == sorted(chances)
    shown = [pair[kind] for pair in mistakes["pairs"] for kind in ("won", "lost")]
    assert set(result["games"]) == {row["game"] for row in shown}
    for row in shown:
        game = result["games"][row["game"]]
        assert len(game["curve"]) == len(game["moves"]) + 1
        assert game["curve"][row["ply"]] == pytest.approx(row["probability"], abs=2e-4)


def test_names_in_records_are_escaped(opened: Run, bundled_games: list[str], make_store: Any, tmp_path: Path) -> None:
    import re

    games = [
        re.sub(r'\[White "[^"]*"\]', '[White "<script>alert(1)</script>"]', game) for game in bundled_games[500:540]
    ]
    (tmp_path / "some.pgn").write_text("".join(games))
    store = make_store(tmp_path / "some.store", tmp_path / "some.pgn", keep=Filter(ending="decisive"))
    page = render_test_page(evaluate(opened, store, choose(opened, store), ALL, on_progress=quiet, log=pytest.fail))
    assert "&lt;script&gt;alert" in page
    assert "<script" not in page


# What cannot be tested


def test_games_won_by_one_side_only(opened: Run, small_store: Store, chosen: Chosen) -> None:
    result = small_store.column("result")
    games = chosen.games[result[chosen.games] > 0]
    with pytest.raises(KibitzError, match=naming(f"White & {len(games)} & Black & 0 & store")):
        evaluate(opened, small_store, replace(chosen, games=games), ALL, on_progress=quiet, log=quiet)


def test_a_store_of_draws(opened: Run, bundled_games: list[str], make_store: Any, tmp_path: Path) -> None:
    drawn = [game for game in bundled_games if '[Result "1/2-1/2"]' in game][:20]
    (tmp_path / "drawn.pgn").write_text("".join(drawn))
    store = make_store(tmp_path / "drawn.store", tmp_path / "drawn.pgn", keep=Filter())
    with pytest.raises(KibitzError, match=naming("White & 0 & games")):
        choose(opened, store)


@pytest.mark.slow
def test_a_store_that_was_seen_whole(small_store: Store, tmp_path: Path, made: Made) -> None:
    run = made(networks="full", pairs=2000, epochs=1.0)
    info = json.loads((run.path / INFO).read_text())
    store = import_games(tmp_path / "same.store", limit=400)
    np.save(run.path / "seen.npy", (store.column("hash") >> np.uint64(32)).astype(np.uint32))
    assert Split.from_json(info["data"]["split"])
    with pytest.raises(KibitzError, match=naming("games")):
        choose(run, store)
