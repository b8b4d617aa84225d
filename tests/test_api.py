"""The public Python interface, as its docstrings and docs/reference/python.md show it, and wrong input."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import chess.variant
import numpy as np
import pytest
from sgfmill.boards import Board as SgfmillBoard

import kibitz
from kibitz.api.checks import name_arguments
from kibitz.api.moves import choose_go
from kibitz.api.positions import read_position
from kibitz.cli import run
from kibitz.games.go.points import from_gtp
from kibitz.games.go.sides import komi_byte, rank_byte
from kibitz.play.puct.player import PuctPlayer
from kibitz.play.result import SearchLimits
from kibitz.store.store import Store
from support.causes import naming
from support.helpers import SMALL

MODULES = ("kibitz", *(f"kibitz.{name}" for name in kibitz._MODULES if name.startswith("api.")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_store: Store, bundled_text: str) -> Path:
    """A folder as the examples know it: my.store and my-games.pgn."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(small_store.path, folder / "my.store")
    first, *others = bundled_text.split("[Event ")[1:21]
    # The bundled games have the same engine on both sides, and nobody can be rated by such games.
    others = [game.replace('[Black "Stockfish 15.1"]', '[Black "An opponent"]') for game in others]
    (folder / "my-games.pgn").write_text("[Event " + "[Event ".join([first, *others]))
    return folder


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name.endswith(".training") else ()) for name in MODULES]
)
@pytest.mark.usefixtures("shallow", "few_visits")
def test_the_examples_of_the_docstrings_run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    module = importlib.import_module(name)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testmod(module, optionflags=options)
    assert tried
    assert not failed


@pytest.mark.parametrize("name", kibitz.__all__)
def test_what_is_public_is_documented_with_an_example(name: str) -> None:
    value = getattr(kibitz, name)
    assert inspect.getdoc(value)
    if value.__module__.startswith("kibitz.api."):
        assert ">>> " in (value.__doc__ or ""), name
        for member, function in vars(value).items() if inspect.isclass(value) else ():
            if inspect.isfunction(function) and not member.startswith("_"):
                assert function.__doc__, (name, member)


PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"


@pytest.mark.slow
def test_the_blocks_of_the_page_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one session, from the top; what stands after >>> gives what stands below it."""
    monkeypatch.chdir(folder)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 4
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "python.md", str(PAGE), 0)
    failed, tried = doctest.DocTestRunner(optionflags=options).run(session)
    assert (failed, bool(tried)) == (0, True)


def test_the_page_names_everything_public() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in kibitz.__all__ if name not in text] == []


def test_keywords_that_there_are_not(winner: kibitz.TrainedNetwork) -> None:
    board: Any = chess.Board()
    wrong: Any = {"ratings": 1500}
    for method in (winner.evaluate, winner.choose_move):
        with pytest.raises(TypeError, match=naming("'ratings' & ratings")):
            method(board, **wrong)


def test_importing_kibitz_loads_nothing_heavy() -> None:
    script = (
        "import sys, kibitz\n"
        "names = {'numpy', 'chess', 'torch', 'numba', 'pyarrow', 'onnxruntime', 'kibitz.api', 'kibitz.notebook'}\n"
        "assert not names & set(sys.modules), names & set(sys.modules)\n"
        "assert set(kibitz.__all__) <= set(dir(kibitz))\n"
        "for name in kibitz.__all__: getattr(kibitz, name)\n"
        "assert 'torch' not in sys.modules and 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_public_names_are_complete_and_no_module_has_one_of_them() -> None:
    assert sorted(kibitz._HOMES) == sorted(kibitz.__all__)
    inside = {path.stem for path in Path(str(kibitz.__file__)).parent.iterdir()}
    assert not inside & set(kibitz.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kibitz.nothing  # noqa: B018


@pytest.fixture(scope="module")
def winner() -> kibitz.TrainedNetwork:
    return kibitz.load_network("winner")


@pytest.fixture(scope="module")
def chessnet() -> kibitz.TrainedNetwork:
    return kibitz.load_network("chessnet")


@pytest.fixture(scope="module")
def gocnn() -> kibitz.TrainedNetwork:
    return kibitz.load_network("gocnn")


@pytest.fixture(scope="module")
def human() -> kibitz.TrainedNetwork:
    return kibitz.load_network("human")


def test_boards_fens_and_arrays_have_the_same_answers(winner: kibitz.TrainedNetwork) -> None:
    board = chess.Board()
    board.push_san("e4")
    arrays = kibitz.encode_positions([board])
    answers = [winner.predict(each)["white_wins"] for each in ([board], [board.fen()], arrays, tuple(arrays))]
    assert all(np.array_equal(answers[0], other) for other in answers[1:])
    assert winner.evaluate(board) == winner.evaluate_all(arrays)[0]
    assert winner.evaluate(board).white == pytest.approx(float(answers[0][0]))
    assert winner.predict([])["white_wins"].shape == (0,)
    assert winner.evaluate_all([]) == []


def test_show_and_evaluate_say_the_same(chessnet: kibitz.TrainedNetwork, gocnn: kibitz.TrainedNetwork) -> None:
    result, shown = chessnet.evaluate(chess.Board()), kibitz.show(chess.Board(), "chessnet").answer
    assert result.moves is not None
    assert result.white == pytest.approx(shown["white"], abs=1e-4)
    assert [move.uci for move in result.moves[:8]] == [move["move"] for move in shown["moves"]]
    sgf = "(;GM[1]SZ[9]KM[5.5];B[ee];W[ec];B[cd])"
    go, shown = gocnn.evaluate(sgf), kibitz.show(sgf, "gocnn").answer
    assert go.owners is not None
    assert go.owners.ravel().tolist() == pytest.approx(shown["owners"], abs=1e-3)
    assert (go.score, go.black) == pytest.approx((shown["score"], shown["black"]), abs=0.01)


def test_the_value_is_white_s_whoever_moves(chessnet: kibitz.TrainedNetwork) -> None:
    position = chess.Board("4k3/8/8/8/8/8/4PPPP/QQ2K3 w - - 0 1")
    mirrored = position.mirror()
    first, second = chessnet.evaluate_all([position, mirrored])
    assert first.white is not None
    assert second.white is not None
    assert first.white > 0.7
    assert second.white == pytest.approx(1 - first.white, abs=0.02)


def test_what_ended_is_worth_what_the_rules_say(chessnet: kibitz.TrainedNetwork) -> None:
    mate, stalemate, bare = chessnet.evaluate_all(
        ["rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "k7/2Q5/1K6/8/8/8/8/8 b - - 0 1",
         "k7/8/1K6/8/8/8/8/8 b - - 0 1"]
    )  # fmt: skip
    assert [each.white for each in (mate, stalemate, bare)] == [0, 0.5, 0.5]
    assert mate.moves == ()
    assert bare.moves


def test_boards_of_go_of_any_kind_are_the_same(gocnn: kibitz.TrainedNetwork) -> None:
    ours, theirs = kibitz.make_go_board(size=9), SgfmillBoard(9)
    for colour, name in ((1, "E5"), (2, "C3"), (1, "J1")):
        point = from_gtp(name, 9)
        ours.put(colour, point)
        theirs.play(8 - point // 19, point % 19, "b" if colour == 1 else "w")
    first, second = kibitz.encode_positions([ours]), kibitz.encode_positions([theirs], to_move="b")
    assert np.array_equal(first.codes, second.codes)
    assert np.array_equal(first.state, second.state)
    black, white = (gocnn.evaluate(theirs, to_move=side) for side in "bw")
    assert black.score != white.score
    with_komi = gocnn.evaluate(ours, komi=0)
    assert with_komi.score is not None
    assert black.score is not None
    assert with_komi.score == pytest.approx(black.score + 7.5)


def test_side_inputs_change_the_answer(human: kibitz.TrainedNetwork, winner: kibitz.TrainedNetwork) -> None:
    weak, strong = (human.evaluate(chess.Board(), rating=rating) for rating in (1000, 2600))
    assert weak.moves != strong.moves
    assert weak.outcome is not None
    assert sum(weak.outcome) == pytest.approx(1, abs=1e-4)
    both = human.evaluate(chess.Board(), rating=1000, opponent_rating=1000)
    assert both == weak
    assert human.evaluate(chess.Board(), side_inputs={"rating": 62, "opponent_rating": 62}) == weak
    arrays = kibitz.encode_positions([chess.Board()])
    assert human.evaluate_all(arrays, rating=1000)[0] == weak
    assert human.evaluate(chess.Board(), speed="blitz", scale="lichess") != human.evaluate(chess.Board())
    after = chess.Board()
    after.push_san("e4")
    assert human.evaluate(after) != human.evaluate(after.fen())  # the last move is an input, too
    moves = {
        human.choose_move(chess.Board(), temperature=1.5, rating=900, seed=seed).uci for seed in range(12)
    }  # fmt: skip
    assert len(moves) > 1


def test_moves_are_chosen_by_every_method(chessnet: kibitz.TrainedNetwork) -> None:
    mate_in_one = chess.Board("7k/8/5KQ1/8/8/8/8/8 w - - 0 1")
    for method in chessnet.methods:
        chosen = chessnet.choose_move(mate_in_one, method=method, nodes=200)
        assert chosen.move in mate_in_one.legal_moves
        assert chosen.line[0] == chosen.san
        if "negamax" in method:
            assert (chosen.san, chosen.mate) == ("Qg7#", 1)
    assert mate_in_one.fen() == "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"
    drawn = {chessnet.choose_move(chess.Board(), method="top-prob", temperature=2, seed=4).uci for _ in range(3)}
    assert len(drawn) == 1


def test_a_search_without_a_limit_takes_a_second(
    chessnet: kibitz.TrainedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, think = [], PuctPlayer.think

    def noted(self: PuctPlayer, board: chess.Board, limits: SearchLimits) -> object:
        asked.append(limits)
        return think(self, board, SearchLimits(nodes=10))

    monkeypatch.setattr(PuctPlayer, "think", noted)
    chessnet.choose_move(chess.Board())
    assert asked[-1] == SearchLimits(seconds=1.0)


def test_a_move_of_go(gocnn: kibitz.TrainedNetwork) -> None:
    board = kibitz.make_go_board(["E5", "E6"], size=9)
    chosen = gocnn.choose_move(board, rules="japanese", komi=6.5)
    assert board.ply == 2
    board.play(board.to_move, chosen.point)
    text = gocnn.choose_move("(;GM[1]SZ[9]KM[6.5];B[ee];W[ed])", rules="japanese")
    assert isinstance(text, kibitz.ChosenPoint)
    assert text == chosen


def test_an_evaluation_by_a_network_that_names_moves_and_score() -> None:
    network, moves = kibitz.load_network("gohuman"), "B[pd];W[dp];B[pp];W[dd]"
    told = network.evaluate(f"(;GM[1]SZ[19]KM[7.5];{moves})")
    assert told.moves is not None
    assert told.score is not None
    assert sum(move.probability for move in told.moves) == pytest.approx(1, abs=1e-3)
    generous = network.evaluate(f"(;GM[1]SZ[19]KM[60.5];{moves})")
    assert generous.black is not None
    assert generous.score is not None
    assert told.black is not None
    assert generous.score < told.score - 15  # it is told the komi of the record
    assert generous.black < told.black - 0.1
    assert network.evaluate(f"(;GM[1]SZ[19]KM[7.5];{moves})", komi=60.5).black == generous.black
    line = kibitz.analyse(f"(;GM[1]SZ[19]KM[60.5];{moves})", "gohuman", raw=True)
    assert line.positions[-1].score.lead == pytest.approx(generous.score, abs=1e-3)


def test_every_game_of_a_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.sgf").write_text("(;GM[1]SZ[9];B[ee])", encoding="utf-8")
    assert len(list(kibitz.analyse_all(str(tmp_path), "gocnn"))) == 2


def test_a_network_of_go_with_side_inputs_takes_boards() -> None:
    network = kibitz.load_network("gohuman")
    board = kibitz.make_go_board(["E5"], size=9)
    [one] = network.evaluate_all([board])
    assert one == network.evaluate(board)
    assert network.predict([board]) is not None


def test_white_is_paid_for_handicap_stones() -> None:
    """As analyse and show count it."""
    text = "(;GM[1]SZ[19]RU[Chinese]KM[0.5]HA[4]AB[dd][pp][dp][pd];W[qf];B[nc];W[rd])"
    network = kibitz.load_network("gocnn")
    score = kibitz.analyse(text, "gocnn").positions[-1].score
    assert score is not None
    assert network.evaluate(text).score == pytest.approx(score.lead, abs=0.01)
    others = [network.evaluate(text.replace("Chinese", rules)).score for rules in ("Japanese", "NZ")]
    assert others == pytest.approx([score.lead, score.lead + 4], abs=0.01)


def test_the_handicap_of_an_sgf_is_told_to_the_search() -> None:
    network = kibitz.load_network("gohuman")
    text = "(;GM[1]SZ[9]KM[0.5]HA[4]AB[cc][gc][cg][gg]PL[W])"
    read = read_position(text)
    assert read.handicap == 4
    told = choose_go(network._run, network._session, read.go_board, {"nodes": 12, "seed": 1}, 0.5, read.handicap)
    untold = choose_go(network._run, network._session, read.go_board, {"nodes": 12, "seed": 1}, 0.5)
    assert told.lead != untold.lead
    assert network.choose_move(text, nodes=12, seed=1).lead == told.lead


def test_a_move_of_go_is_chosen_by_the_rules_of_its_record(gocnn: kibitz.TrainedNetwork) -> None:
    text = "(;GM[1]SZ[9]KM[0.5]RU[Japanese]HA[4]AB[gc][cg][cc][gg];W[ee])"
    leads = [gocnn.choose_move(text, **more).lead for more in ({}, {"rules": "japanese"}, {"rules": "new-zealand"})]  # type: ignore[arg-type, union-attr]
    assert leads[0] == leads[1] == pytest.approx(leads[2] - 4, abs=0.01)
    assert gocnn.choose_move(text, rules=None).lead == leads[0]  # type: ignore[typeddict-item, union-attr]


def test_what_a_network_of_go_is_told_counts_for_its_moves() -> None:
    network = kibitz.load_network("gohuman")
    board = kibitz.make_go_board(["C3", "G7", "C7"], size=9)
    beginner = {"rank": rank_byte("20k"), "opponent_rank": rank_byte("20k")}
    chosen = network.choose_move(board, method="top-prob", side_inputs=beginner)
    assert isinstance(chosen, kibitz.ChosenPoint)
    policy = network.predict([board], side_inputs=beginner)["policy"][0]
    played = network.predict([board], side_inputs={"rank": rank_byte("9d"), "opponent_rank": rank_byte("9d")})[
        "policy"
    ][0]
    assert int(policy.argmax()) != int(played.argmax())
    assert chosen.point == int(policy.argmax())
    assert chosen.gain is None  # nobody has looked at a pass


def test_the_komi_of_arrays_counts() -> None:
    network = kibitz.load_network("gohuman")
    board = kibitz.make_go_board(["E5", "C3"], size=9)
    arrays = kibitz.encode_positions([board])
    [seven], [none] = network.evaluate_all(arrays, komi=7.5), network.evaluate_all(arrays, komi=0.5)
    assert none.score == pytest.approx(network.evaluate(board, komi=0.5).score, abs=1e-3)
    assert seven.score is not None
    assert none.score is not None
    assert none.score > seven.score + 3
    [said] = network.evaluate_all(arrays, komi=0.5, side_inputs={"komi": komi_byte(7.5)})
    assert said.score == seven.score  # as of boards: a side input that is given counts


def test_a_komi_that_is_not_told_is_the_same_for_the_network_and_the_reader() -> None:
    moves = "B[ee];W[cg];B[gc];W[gg]"
    raw = [kibitz.analyse(f"(;GM[1]SZ[9]{komi};{moves})", "gohuman", raw=True) for komi in ("", "KM[0]")]
    assert [one.score.lead for one in raw[0].positions] == [one.score.lead for one in raw[1].positions]


def test_stones_that_cannot_stand_so_do_not_end_an_analysis(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    good, bad = "(;GM[1]SZ[9]KM[5.5];B[ee])", "(;GM[1]SZ[9]AB[aa]AW[ab][ba];B[ee])"
    (tmp_path / "three.sgf").write_text(good + bad + good)
    assert len(list(kibitz.analyse_all(tmp_path / "three.sgf", "gocnn"))) == 2
    with pytest.raises(kibitz.KibitzError, match=naming("liberty")):
        kibitz.analyse(bad, "gocnn")


def test_games_come_from_files_texts_and_objects(folder: Path, bundled_games: list[str]) -> None:
    first = kibitz.analyse(folder / "my-games.pgn", "winner", raw=True)
    text = kibitz.analyse(bundled_games[0], "winner", raw=True)
    with (folder / "my-games.pgn").open() as file:
        game = chess.pgn.read_game(file)
    assert game is not None
    assert first.as_json() == text.as_json() == kibitz.analyse(game, "winner", raw=True).as_json()
    third = kibitz.analyse(str(folder / "my-games.pgn"), "winner", number=3, raw=True)
    assert third.as_json()["number"] == 3
    every = list(kibitz.analyse_all(folder / "my-games.pgn", kibitz.load_network("winner"), raw=True))
    assert len(every) == 20
    assert every[2].as_json() == third.as_json()


def test_games_of_go_come_from_files_and_texts(tmp_path: Path) -> None:
    sgf = "(;GM[1]SZ[9]KM[5.5];B[ee];W[ec];B[cd])\n"
    (tmp_path / "two.sgf").write_text(sgf + "(;GM[1]SZ[9];B[cc])")
    first, second = kibitz.analyse_all(tmp_path / "two.sgf", "gocnn")
    assert first.as_json() == kibitz.analyse(sgf, "gocnn").as_json()
    assert second.as_json() == kibitz.analyse(tmp_path / "two.sgf", "gocnn", number=2).as_json()


def test_moves_are_judged_by_search_as_the_command_does(
    bundled_games: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.pgn").write_text(bundled_games[0])
    found = kibitz.analyse(bundled_games[0], "winner", depth=2)
    assert run(["analyze", "winner", str(tmp_path / "one.pgn"), "--depth", "2", "--json"]) == 0
    assert found.as_json()["moves"] == json.loads(capsys.readouterr().out)["games"][0]["moves"]
    assert all(move.judged for move in found.moves)
    raw = kibitz.analyse(bundled_games[0], "winner", raw=True)
    assert not any(move.judged for move in raw.moves)


def test_what_cannot_be_analysed_is_left_out_of_all(tmp_path: Path) -> None:
    good = '[White "A"]\n\n1. e4 e5 1-0\n\n'
    (tmp_path / "three.pgn").write_text(good + '[Variant "Atomic"]\n\n1. e4 1-0\n\n' + good)
    assert [game.as_json()["number"] for game in kibitz.analyse_all(tmp_path / "three.pgn", "winner")] == [1, 3]
    with pytest.raises(kibitz.KibitzError, match=r"game 2: .*variant Atomic"):
        kibitz.analyse(tmp_path / "three.pgn", "winner", number=2)


def test_a_store_gives_the_same_positions_as_arrays_and_boards(small_store: Store) -> None:
    store = kibitz.open_store(small_store.path)
    games, plies = store.sample(50, part="training", seed=2)
    assert set(games) <= set(store.games("training"))
    arrays, boards = store.positions(games, plies), store.boards(games, plies)
    assert np.array_equal(arrays.codes, kibitz.encode_positions(boards).codes)
    assert np.array_equal(arrays.state, kibitz.encode_positions(boards).state)
    assert [len(board.move_stack) for board in boards] == plies.tolist()
    assert store.positions(3, 0).codes.shape == (1, 64)
    assert store.positions(3, [0, 1, 2]).codes.shape == (3, 64)
    assert np.array_equal(store.sample(10**9)[0], np.repeat(np.arange(len(store)), store.plies + 1))
    assert store.table(["white"]).num_rows == len(store)


def test_a_store_of_go_gives_boards() -> None:
    store = kibitz.open_store(Path(__file__).parent / "recorded" / "old" / "go-store")
    games, plies = store.sample(60)
    boards = store.boards(games, plies)
    arrays, ours = store.positions(games, plies), kibitz.encode_positions(boards)
    assert np.array_equal(arrays.codes, ours.codes)
    assert np.array_equal(arrays.state, ours.state)
    moves = store.moves(0)
    assert len(moves) == store.plies[0]
    assert kibitz.make_go_board(moves, size=boards[0].size).ply == len(moves)


OPTION = re.compile(r"(?<![\w-])--(?!into|append|referee)[a-z]")
"""An option of the command line in a message, which is not part of a command that the message advises."""

WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: kibitz.analyse("my-games.pgn", "winner", number=10_000), kibitz.KibitzError, "Choose number 1 to"),
    (lambda: kibitz.test("winner", "my.store", part="tests"), kibitz.UsageError, "^part must be"),
    (lambda: kibitz.open_store("my.store").sample(5, part="x", network="winner"), kibitz.UsageError, "^part must be"),
    (lambda: kibitz.load_network("nothing"), kibitz.KibitzError, "nothing is not a run"),
    (lambda: kibitz.open_store("nothing"), kibitz.KibitzError, "nothing: no such store"),
    (lambda: kibitz.load_network("winner").evaluate("no FEN"), kibitz.KibitzError, "cannot be read"),
    (lambda: kibitz.load_network("winner").evaluate("8/8/8/8/8/8/8/K7 w - - 0 1"), kibitz.KibitzError, "no king"),
    (lambda: kibitz.load_network("winner").evaluate(7), kibitz.UsageError, "position must be .*got int"),  # type: ignore[arg-type]
    (lambda: kibitz.load_network("winner").evaluate(kibitz.make_go_board()), kibitz.UsageError, "network for chess"),
    (lambda: kibitz.load_network("gocnn").evaluate(chess.Board()), kibitz.UsageError, "network for Go"),
    (lambda: kibitz.load_network("gocnn").evaluate("(no SGF"), kibitz.KibitzError, "SGF cannot be read"),
    (lambda: kibitz.load_network("gocnn").evaluate("(;SZ[9];B[aa];W[aa])"), kibitz.KibitzError, "illegal move"),
    (lambda: kibitz.load_network("gocnn").evaluate(SgfmillBoard(9)), kibitz.UsageError, "to_move must be"),
    (lambda: kibitz.load_network("winner").evaluate(chess.Board(), to_move="b"), kibitz.UsageError, "only with"),
    (lambda: kibitz.load_network("gocnn").evaluate("(;SZ[9];B[ee])", to_move="b"), kibitz.UsageError, "only with"),
    (lambda: kibitz.load_network("gocnn").choose_move("(;SZ[9];B[ee])", to_move="b"), kibitz.UsageError, "only with"),
    (lambda: kibitz.load_network("winner").value_position(chess.Board(), to_move="b"), kibitz.UsageError, "only with"),
    (lambda: kibitz.load_network("winner").value_position(chess.Board(), nodes=5), kibitz.UsageError, "nodes .*got 5"),
    (lambda: kibitz.load_network("gocnn").value_position("(;SZ[9])", nodes=5), kibitz.UsageError, "nodes .*got 5"),
    (lambda: kibitz.encode_positions([chess.Board()], to_move="b"), kibitz.UsageError, "only with"),
    (lambda: kibitz.load_network("winner").predict(kibitz.encode_positions([chess.Board()]), to_move="b"),
     kibitz.UsageError, "only with"),
    (lambda: kibitz.load_network("winner").evaluate(chess.Board(), komi=3), kibitz.UsageError, "only for Go"),
    (lambda: kibitz.load_network("human").evaluate(chess.Board(), rating="1500"), kibitz.UsageError,  # type: ignore[arg-type]
     "rating must be a number .*got '1500'"),
    (lambda: kibitz.load_network("winner").predict(chess.Board()), kibitz.UsageError, "list or arrays"),  # type: ignore[arg-type]
    (lambda: kibitz.load_network("winner").predict((np.zeros((1, 64)), np.zeros((1, 4)))), kibitz.UsageError, "uint8"),
    (lambda: kibitz.load_network("winner").predict((np.zeros((1, 9), "u1"), np.zeros((1, 4), "u1"))),
     kibitz.UsageError, r"codes must be \[n, 64\]"),
    (lambda: kibitz.load_network("winner").predict((np.zeros((2, 64), "u1"), np.zeros((1, 4), "u1"))),
     kibitz.UsageError, r"state must be \[2, 4\]"),
    (lambda: kibitz.load_network("winner").predict((np.full((1, 64), 13, "u1"), np.zeros((1, 4), "u1"))),
     kibitz.UsageError, "ranges for chess"),
    (lambda: kibitz.load_network("gocnn").predict((np.zeros((1, 361), "u1"), np.zeros((1, 4), "u1"))),
     kibitz.UsageError, "size 9, 13, 19"),
    (lambda: kibitz.load_network("winner").evaluate(chess.Board(), rating=1500), kibitz.UsageError, "no input named"),
    (lambda: kibitz.load_network("human").evaluate(chess.Board(), rating=9), kibitz.UsageError, "from 100 to 4000"),
    (lambda: kibitz.load_network("human").evaluate(chess.Board(), speed="slow"), kibitz.UsageError, "must be bullet"),
    (lambda: kibitz.load_network("human").evaluate(chess.Board(), side_inputs={"speed": 256}), kibitz.UsageError,
     "0 to 255"),
    (lambda: kibitz.load_network("winner").choose_move(chess.Board()), kibitz.UsageError, "cannot play"),
    (lambda: kibitz.load_network("chessnet").choose_move(chess.Board(), method="luck"), kibitz.UsageError,
     "method must be"),
    (lambda: kibitz.load_network("chessnet").choose_move(chess.Board(), nodes=0), kibitz.UsageError, "nodes .*got 0"),
    (lambda: kibitz.load_network("chessnet").choose_move(chess.Board(), temperature=-1), kibitz.UsageError,
     "at least 0"),
    (lambda: kibitz.load_network("chessnet").choose_move("k7/2Q5/1K6/8/8/8/8/8 b - - 0 1"), kibitz.UsageError,
     "stalemate"),
    (lambda: kibitz.load_network("gocnn").choose_move(kibitz.make_go_board(), nodes=5), kibitz.UsageError, "method"),
    (lambda: kibitz.load_network("gocnn").choose_move(kibitz.make_go_board(), rules="x"), kibitz.UsageError, "rules"),
    (lambda: kibitz.load_network("chessnet").choose_move(chess.Board(), depth="3"), kibitz.UsageError,  # type: ignore[arg-type]
     "depth .*whole number .*got '3'"),
    (lambda: kibitz.load_network("chessnet").choose_move(chess.Board(), komi=3), kibitz.UsageError, "only for Go"),
    (lambda: kibitz.load_network("winner").evaluate(chess.variant.AtomicBoard()), kibitz.UsageError, "the variant"),
    (lambda: kibitz.load_network("gohuman").evaluate(kibitz.make_go_board(), komi=1000), kibitz.UsageError,
     "from -63.5 to 63.5 points"),
    (lambda: kibitz.load_network("gohuman").evaluate("(;SZ[9]AB[aa:ii])"), kibitz.KibitzError, "has no liberty"),
    (lambda: kibitz.load_network("human").evaluate(chess.Board(chess960=True)), kibitz.UsageError, "Chess960"),
    (lambda: kibitz.load_network("gocnn").choose_move(kibitz.make_go_board(), komi=float("nan")), kibitz.UsageError,
     "komi .*finite"),
    (lambda: kibitz.load_network("winner").predict((np.zeros((1, 64), "u1"), np.array([[0, 16, 0, 0]], "u1"))),
     kibitz.UsageError, "ranges for chess"),
    (lambda: kibitz.make_go_board(["Z9"]), kibitz.UsageError, "move 1, Z9"),
    (lambda: kibitz.make_go_board(["D4", "D4"]), kibitz.UsageError, "move 2, D4, is illegal"),
    (lambda: kibitz.make_go_board(size=11), kibitz.UsageError, "9, 13 or 19"),
    (lambda: kibitz.encode_positions([]), kibitz.UsageError, "Give at least one position"),
    (lambda: kibitz.encode_positions([chess.Board(), kibitz.make_go_board()]), kibitz.UsageError, "once for each game"),
    (lambda: kibitz.analyse("nothing.pgn", "winner"), kibitz.KibitzError, "nothing.pgn: no such file"),
    (lambda: kibitz.analyse("1.pgn", "winner"), kibitz.KibitzError, "1.pgn: no such file"),
    (lambda: kibitz.analyse_all("nothing.pgn", "winner"), kibitz.KibitzError, "nothing.pgn: no such file"),
    (lambda: kibitz.analyse("1. e4 *", "human", ratings=(1500,)), kibitz.UsageError, "two numbers"),  # type: ignore[arg-type]
    (lambda: kibitz.analyse("1. e4 *", "human", ratings=1500), kibitz.UsageError, "two numbers"),  # type: ignore[arg-type]
    (lambda: kibitz.analyse("1. e4 *", "human", ratings=(1500, "a")), kibitz.UsageError, "rating must be a number"),  # type: ignore[arg-type]
    (lambda: kibitz.analyse("1. e4 *", "winner", number="1"), kibitz.UsageError, "number must be a whole"),  # type: ignore[arg-type]
    (lambda: kibitz.analyse("1. e4 *", "winner", depth=1.5), kibitz.UsageError, "depth must be a whole"),  # type: ignore[arg-type]
    (lambda: kibitz.analyse("1. e4 *", "winner", swing="x"), kibitz.UsageError, "swing must be a number"),  # type: ignore[arg-type]
    (lambda: kibitz.analyse("[no game", "winner"), kibitz.KibitzError, "no chess game"),
    (lambda: kibitz.analyse("1. e4 *", "winner", number=0), kibitz.UsageError, "number must be at least 1"),
    (lambda: kibitz.analyse("1. e4 *", "winner", swing=2), kibitz.UsageError, "greater than 0 and at most 1"),
    (lambda: kibitz.analyse("1. e4 *", "winner", ratings=(1500, 1500)), kibitz.UsageError, "no rating inputs"),
    (lambda: kibitz.analyse("(;GM[1]SZ[9];B[aa])", "gocnn", number=2), kibitz.UsageError, "only its first game"),
    (lambda: kibitz.analyse("1. e4 *", "winner", number=2), kibitz.UsageError, "only its first game"),
    (lambda: kibitz.analyse(chess.pgn.Game(), "gocnn"), kibitz.UsageError, "gocnn is a network for Go"),
    (lambda: kibitz.analyse("1. e4 *", "winner", nodes=5), kibitz.UsageError, "winner, which does not search"),
    (lambda: kibitz.analyse("1. e4 *", "convchess", depth=2), kibitz.UsageError, "does not predict who wins"),
    (lambda: kibitz.analyse_all(Path("nothing.pgn"), "winner"), kibitz.KibitzError, "nothing.pgn: no such file"),
    (lambda: kibitz.analyse("1. e4 *", "gocnn"), kibitz.KibitzError, "no Go game"),
    (lambda: kibitz.analyse("1. e4 *", "winner", raw=True, depth=2), kibitz.UsageError, "raw shows"),
    (lambda: kibitz.analyse("1. e4 *", "winner", depth=13), kibitz.UsageError, "from 1 to 12 .*got 13"),
    (lambda: kibitz.analyse("1. e4 *", "human", nodes=-1), kibitz.UsageError, "at least 0 .*got -1"),
    (lambda: kibitz.analyse("(;GM[1]SZ[9];B[aa])", "gocnn", depth=2), kibitz.UsageError, "depth works only for chess"),
    (lambda: kibitz.analyse("(;GM[1]SZ[9];B[aa])", "gocnn", nodes=5), kibitz.UsageError, "does not predict moves"),
    (lambda: kibitz.analyse(7, "winner"), kibitz.UsageError, "game must be .*got int"),  # type: ignore[arg-type]
    (lambda: kibitz.train("nothing", "my.store"), kibitz.UsageError, "unknown system"),
    (lambda: kibitz.train("winner", "nothing.store"), kibitz.KibitzError, "no such store"),
    (lambda: kibitz.train("winner", "my.store", colour="red"), kibitz.UsageError, "no setting colour"),
    (lambda: kibitz.train("winner", "my.store", recipe="cake"), kibitz.UsageError, "recipe .*got cake"),
    (lambda: kibitz.train("winner", "my.store", iterations=-1), kibitz.UsageError, "iterations"),
    (lambda: kibitz.train("winner", "my.store", seed=1.5), kibitz.UsageError, "seed .*whole number .*got 1.5"),
    (lambda: kibitz.train("winner", "my.store", learning_rate="a"), kibitz.UsageError,
     "learning_rate must be a number"),
    (lambda: kibitz.open_store("my.store").explore(rating=(2, 1)), kibitz.UsageError,
     "the lowest and the highest"),
    (lambda: kibitz.open_store("my.store").explore(rating=(float("nan"), 3)),  # type: ignore[arg-type]
     kibitz.UsageError, "rating must be a finite number"),
    (lambda: kibitz.open_store("my.store").explore(rating=5), kibitz.UsageError,  # type: ignore[arg-type]
     "two numbers.*got 5"),
    (lambda: kibitz.open_store("my.store").table([]), kibitz.UsageError, "at least one column"),
    (lambda: kibitz.analyse("hello " * 100, "winner"), kibitz.KibitzError, "this text contains no game"),
    (lambda: kibitz.analyse("1. e4 e5 *", "convchess", nodes=3), kibitz.UsageError, "nodes .*Leave nodes out"),
    (lambda: kibitz.load_network("human").evaluate(chess.Board(), side_inputs={"speed": True}), kibitz.UsageError,
     "speed must be a whole number .*got True"),
    (lambda: kibitz.open_store("my.store").sample(5, seed=-1), kibitz.UsageError, "seed .*at least 0"),
    (lambda: kibitz.open_store("my.store").sample(1.5), kibitz.UsageError, "count .*whole"),  # type: ignore[arg-type]
    (lambda: kibitz.open_store("my.store").moves(1.5), kibitz.UsageError, "game .*whole"),  # type: ignore[arg-type]
    (lambda: kibitz.train("winner", "my.store", precision="half"), kibitz.UsageError, "must be auto, float32"),
    (lambda: kibitz.train("winner", "my.store", compile="perhaps"), kibitz.UsageError, "must be auto, on or off"),
    (lambda: kibitz.train("winner", "my.store", device="tpu"), kibitz.UsageError, "device must be auto"),
    (lambda: kibitz.train("winner", "my.store", time_limit=0), kibitz.UsageError, "greater than 0"),
    (lambda: kibitz.train("winner", "my.store", patience=-1), kibitz.UsageError, "at least 0"),
    (lambda: kibitz.open_store("my.store").positions([0], [999]), kibitz.UsageError, "game 0 has positions 0 to 70"),
    (lambda: kibitz.open_store("my.store").positions([400], [0]), kibitz.UsageError, "no game 400"),
    (lambda: kibitz.open_store("my.store").positions([0.5], [0]), kibitz.UsageError, "whole numbers"),
    (lambda: kibitz.open_store("my.store").positions([0, 1], [0, 1, 2]), kibitz.UsageError, "got 2 and 3"),
    (lambda: kibitz.open_store("my.store").games("rest"), kibitz.UsageError, "must be training"),
    (lambda: kibitz.open_store("my.store").table(["elo"]), kibitz.UsageError, "no column elo"),
    (lambda: kibitz.open_store("my.store").sample(0), kibitz.UsageError, "at least 1"),
    (lambda: kibitz.open_store("my.store").moves(-1), kibitz.UsageError, "no game -1"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), WRONG, ids=[words for _, _, words in WRONG])
def test_what_is_wrong_is_said_in_a_line(
    call: Callable[[], Any], kind: type[Exception], words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(kind, match=words) as caught:
        call()
    assert caught.type is kind
    assert "\n" not in str(caught.value)
    assert not OPTION.search(str(caught.value)), "an option of the command line"


def test_an_error_of_a_function_names_its_arguments() -> None:
    @name_arguments(lambda *args, **kwargs: ("batch", "start_from"), number="game")
    def call(message: str, game: str = "", number: int = 1, part: str = "all") -> None:
        raise kibitz.KibitzError(message)

    for words, expected in (
        ("Choose --game 1 to 5.", "Choose number 1 to 5."),
        ("Try --part all, or a smaller --batch.", 'Try part="all", or a smaller batch.'),
        ("--start-from needs it", "start_from needs it"),
        ("Import them with --referee auto.", "Import them with --referee auto."),
        ("nothing--part", "nothing--part"),
    ):
        with pytest.raises(kibitz.KibitzError) as caught:
            call(words)
        assert str(caught.value) == expected


@pytest.mark.parametrize("settings", [
    {"share": "body", "piece_plane": True}, {"networks": "pawns"}, {"iterations": 0, "epochs": 0.0}, {"initial": "-1"},
])  # fmt: skip
def test_settings_of_a_training_are_named_as_in_the_call(
    folder: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(kibitz.UsageError) as caught:
        kibitz.train("convchess", "my.store", run="runs/refused", **settings)
    assert next(reversed(settings)) in str(caught.value)
    assert not OPTION.search(str(caught.value))


def test_numbers_of_numpy_are_as_good_as_those_of_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    text, ratings = "1. e4 e5 2. Nf3 *", (np.int64(1500), np.int64(1600))
    for network, options in (
        ("human", {"ratings": ratings, "nodes": np.int64(2)}),
        ("human", {"ratings": list(ratings), "raw": True}),
        ("winner", {"swing": np.float32(0.25), "depth": np.int64(1)}),
    ):
        json.dumps(kibitz.analyse(text, network, **options).as_json())  # type: ignore[arg-type]
    game = kibitz.analyse("(;GM[1]SZ[9]KM[5.5];B[ee];W[ec])", "gocnn", swing=np.float32(3))  # type: ignore[arg-type]
    json.dumps(game.as_json())
    json.dumps(kibitz.open_store("my.store").explore(rating=ratings))  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_training_takes_numbers_of_numpy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    settings: dict[str, Any] = {**SMALL, "batch": 64}
    numbers = {"seed": np.int64(3), "iterations": np.int64(2), "learning_rate": np.float64(0.003)}
    run = kibitz.train("winner", "my.store", **{**settings, **numbers, "weight_decay": np.float32(0.5)})
    again = kibitz.train(
        "winner", "my.store", **{**settings, "seed": 3, "iterations": 2, "learning_rate": 0.003, "weight_decay": 0.5}
    )
    assert (again.path, again.continued) == (run.path, True)


@pytest.mark.slow
def test_a_training_tells_stops_and_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    heard: list[kibitz.TrainingProgress] = []

    def stop_at_15(progress: kibitz.TrainingProgress) -> bool:
        heard.append(progress)
        return progress.iteration == 15

    settings = {**SMALL, "iterations": 30, "batch": 64}
    stopped = kibitz.train(
        "winner", "my.store", on_progress=stop_at_15, validate_every=10, precision="float32", **settings
    )
    assert (stopped.finished, stopped.reason, stopped.iteration) == (False, "stopped", 15)
    assert {progress.iteration for progress in heard} == set(range(1, 16))
    assert [progress.iteration for progress in heard if progress.validation] == [10]
    going_on = kibitz.train("winner", "my.store", validate_every=10, precision="float32", **settings)
    assert (going_on.path, going_on.finished, going_on.continued) == (stopped.path, True, True)
    whole = kibitz.train("winner", "my.store", run="whole", validate_every=10, precision="float32", **settings)
    assert (whole.path / "best.safetensors").read_bytes() == (going_on.path / "best.safetensors").read_bytes()
    assert (whole.path / "learning.svg").is_file()
    network = kibitz.load_network(whole)
    assert network.predict([chess.Board()])["white_wins"].shape == (1,)
    taught = kibitz.train("winner", "my.store", run="taught", start_from=whole.path, iterations=5)
    assert taught.finished


@pytest.mark.slow
def test_what_a_callback_raises_is_raised(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)

    def fail(progress: kibitz.TrainingProgress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kibitz.train("winner", "my.store", run="failed", on_progress=fail, **SMALL, iterations=5)
