"""`kibitz test` of a person's run: the arms, the paired gain, what is special, the page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kibitz
from kibitz import cli
from kibitz.errors import UsageError
from kibitz.evaluation.policy.personal import beside, evaluator
from kibitz.evaluation.policy.personal.arms import ADAPTED, BASE, BOTH, compare
from kibitz.evaluation.policy.personal.character import character
from kibitz.evaluation.tables import Table
from kibitz.games.chess.material import PHASES
from kibitz.runs import INFO, Run
from kibitz.store.split import TEST
from kibitz.store.store import Store
from support.causes import mentions
from support.trained import point_to


@pytest.fixture(scope="module")
def result(personal_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `kibitz test RUN --json` prints; the run stands in for a stranger's."""
    import contextlib
    import io

    page = tmp_path_factory.mktemp("page") / "page.html"
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        assert cli.run(["test", str(personal_run), "--stranger", str(personal_run), "--out", str(page), "--json"]) == 0
    told: dict[str, Any] = json.loads(output.getvalue())
    return told | {"html": page.read_text(encoding="utf-8")}


def test_the_figures(result: dict[str, Any], personal_run: Path) -> None:
    figures = result["figures"]
    for name in ("accuracy", "accuracy_base", "accuracy_book", "accuracy_adapters", "accuracy_stranger", "gain",
                 "log_loss", "log_loss_base"):  # fmt: skip
        assert {name, f"{name}_past_move_10"} <= figures.keys()
    assert figures["gain"]["value"] == pytest.approx(figures["accuracy"]["value"] - figures["accuracy_base"]["value"])
    assert figures["self_minus_stranger"]["value"] == 0, "the stranger is the person"
    assert figures["accuracy"]["games"] == 6
    assert figures["accuracy_book"]["value"] > figures["accuracy_base"]["value"] + 0.05, "two own moves in each game"
    assert figures["log_loss"]["value"] < figures["log_loss_base"]["value"]
    table = result["tables"][0]
    assert [row[0] for row in table["rows"]][-1] == "moves"
    assert result["headline"] == "accuracy"


def test_the_page(result: dict[str, Any]) -> None:
    for text in ("Prediction of the person", "Mistakes", "Finds"):
        assert text in result["html"]


def test_arms_by_hand(personal_run: Path) -> None:
    """The accuracy of an arm is the share of the moves that have the largest share, counted in a loop."""
    run, store = Run(personal_run), Store(personal_run / "games")
    games = np.flatnonzero(store.sides(run.split) == TEST)
    arms = compare(run, store, games)
    asked = arms.positions
    for arm in (BASE, ADAPTED, BOTH):
        right = [
            asked.moves[first + int(arms.shares[arm][first:last].argmax())] == asked.packed[i]
            for i, (first, last) in enumerate(zip(asked.offsets[:-1], asked.offsets[1:], strict=True))
        ]
        assert arms.judged[arm].right.tolist() == right
        sums = np.add.reduceat(arms.shares[arm], asked.offsets[:-1])
        assert np.abs(sums - 1).max() < 1e-5
    assert arms.seen[asked.plies == 0].all(), "the first position was in the games that were learned from"


@pytest.mark.parametrize("finished", [False, True])
def test_the_note_distinguishes_an_interrupted_training_from_a_useless_one(
    finished: bool, personal_run: Path, human_run: Path, my_games: Path, tmp_path: Path
) -> None:
    """The note on an interrupted run is about the unfinished training, not about a training without success."""
    path = Path(shutil.copytree(personal_run, tmp_path / "r"))
    point_to(path, human_run, my_games)
    info = json.loads((path / INFO).read_text()) | {"kept": "nothing", "finished": finished}
    (path / INFO).write_text(json.dumps(info))
    note = evaluator._note(Run(path))
    assert mentions(note, "finished & resume") is not finished
    assert mentions(note, "improve") is finished
    assert mentions(note, "initial network")


def test_what_is_special(personal_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "LEAST_GAMES", 1)  # made-up opponents seldom repeat each other
    run, store = Run(personal_run), Store(personal_run / "games")
    told = character(run, store, 0, lambda done, total: None)
    openings, mistakes, finds = told["tables"]
    assert 0 < sum(row[3] for row in openings.rows) <= len(store)
    assert openings.rows[0][0].startswith("White: 1. b3")
    assert {row[0].split(":")[0] for row in openings.rows} <= {"White", "Black"}
    for table in (mistakes, finds):
        assert table.rows[0][0] == "all moves"
        phases = [row[4] for row in table.rows[1:] if row[0] in PHASES]
        pieces = [row[4] for row in table.rows[1:] if row[0] not in PHASES]
        assert sum(phases) == sum(pieces) == table.rows[0][4], "every move has a phase, and a piece"
    for card in told["mistakes"]:
        assert card["probability"] < 0.1


def test_python_refuses_to_list_positions_before_the_test(personal_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kibitz.evaluation.evaluate", None)
    with pytest.raises(UsageError, match="positions"):
        kibitz.test(personal_run, positions=10)


def test_a_score_of_few_games_has_no_interval() -> None:
    score = np.array([1.0, 0.0] * 10)
    games = [("few", np.arange(beside.FEW_GAMES - 1)), ("enough", np.arange(beside.FEW_GAMES)), ("once", np.arange(2))]
    enough, few = beside.favourites([("White", games)], score, "").rows
    assert (enough[0], enough[3], few[0], few[3]) == ("White: enough", 10, "White: few", 9)
    assert enough[1].low < enough[1].high  # type: ignore[union-attr]
    assert np.isnan(few[1].low)  # type: ignore[union-attr]


def test_mistakes_and_finds_have_limits() -> None:
    """Values at the limits count, values just inside do not."""
    own = np.array([-0.21, -0.2, -0.19, 0.0, 0.09, 0.1, 0.11, 0.5])
    positions: Any = SimpleNamespace(games=np.arange(8))
    compared = beside.BesideOthers(positions, own, -own, np.zeros(8, np.uint16), np.ones(8))
    early = np.arange(8) < 2
    parts = [("all moves", np.ones(8, np.bool_)), ("early", early), ("none", np.zeros(8, np.bool_))]
    mistakes, finds = beside.mistakes_and_finds(compared, parts, "phase")
    assert (mistakes.title, finds.title) == ("Mistakes", "Finds")
    assert mentions(mistakes.text, "0.2 & phase")
    assert mentions(finds.text, "0.1 & phase")

    def shares(table: Table) -> list[list[object]]:
        return [[row[0], *(cell.value for cell in row[1:4]), row[4]] for row in table.rows]  # type: ignore[union-attr]

    assert shares(mistakes) == [["all moves", 2 / 8, 1 / 8, 1 / 8, 8], ["early", 1.0, 0.0, 1.0, 2]]
    assert shares(finds) == [["all moves", 3 / 8, 3 / 8, 0.0, 8], ["early", 0.0, 1.0, -1.0, 2]]


def test_favourite_openings_are_the_most_frequent_with_enough_games() -> None:
    white = [(f"{count} games", np.arange(count)) for count in range(1, 13)]
    table = beside.favourites(
        [("White", white), ("Black", [("a", np.arange(3)), ("b", np.arange(2))])], np.ones(12), ""
    )
    assert [row[0] for row in table.rows] == [*(f"White: {count} games" for count in range(12, 4, -1)), "Black: a"]
    assert [row[2] for row in table.rows] == [*(count / 78 for count in range(12, 4, -1)), 3 / 5]
    assert [row[3] for row in table.rows] == [*range(12, 4, -1), 3]


def test_a_store_without_the_person(personal_run: Path, small_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["test", str(personal_run), str(small_store.path)]) == 1
    assert mentions(capsys.readouterr().err, "personal")


def test_options_of_persons_are_for_persons(
    small_run: Path, personal_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["test", str(small_run), "--learning-curve"]) == 2
    assert mentions(capsys.readouterr().err, "personal & runs")
    assert cli.run(["test", str(personal_run), "--stranger", str(small_run)]) == 2
    assert mentions(capsys.readouterr().err, "winner & personal & run")


@pytest.mark.slow
def test_the_learning_curve(personal_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "p.html"
    assert cli.run(["test", str(personal_run), "--learning-curve", "--json", "--out", str(page)]) == 0
    (curve,) = json.loads(capsys.readouterr().out)["curves"]
    for line in curve["lines"]:
        assert [at for at, _ in line["points"]] == [20, 50, 54]
    assert "Learning curve" in page.read_text(encoding="utf-8")


def test_a_moved_run_finds_its_games(
    personal_run: Path, tmp_path: Path, make_store: Callable[..., Store], capsys: pytest.CaptureFixture[str]
) -> None:
    import shutil

    shutil.copytree(personal_run, tmp_path / "moved")
    info = json.loads((tmp_path / "moved" / "run.json").read_text(encoding="utf-8"))
    info["data"]["store"] = "elsewhere/games"
    (tmp_path / "moved" / "run.json").write_text(json.dumps(info), encoding="utf-8")
    assert cli.run(["test", str(tmp_path / "moved"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["games"] == 6
