"""What a controller's words become: commands, rules, clocks, places of handicap stones, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.engines.gtp.board import file_argument
from kibitz.engines.gtp.game import GtpClock, GtpGame, fixed_handicap
from kibitz.engines.gtp.parse import Command, GtpError, answer, argument, number, read_command, truth, whole
from kibitz.games.go import rulesets
from kibitz.games.go.io.sgf import write_sgf
from kibitz.games.go.points import BLACK, PASS, WHITE, from_gtp, to_gtp
from kibitz.games.go.rulesets import NAMED, Rules, UnknownRules, read_rules
from support.causes import mentions, naming


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("genmove b", Command("", "genmove", ("b",), "b")),
        ("12 PLAY  b\tE5 # why", Command("12", "play", ("b", "E5"), "b E5")),
        ("007", Command("007", "", (), "")),
        ("12345678901234567890 name", Command("12345678901234567890", "name", (), "")),
        ("123456789012345678901 name", Command("", "123456789012345678901", ("name",), "name")),
        ("12345678901234567890123 name", Command("", "12345678901234567890123", ("name",), "name")),
        ("\x01na\x7fme\x00", Command("", "name", (), "")),
        ("# all", None),
        (" \t ", None),
        ("\u0663 name", Command("", "\u0663", ("name",), "name")),
    ],
)
def test_read_command(line: str, expected: Command | None) -> None:
    assert read_command(line) == expected


@given(st.text(), st.text(max_size=3))
def test_an_answer_has_one_empty_line(text: str, number: str) -> None:
    said = answer(number.replace("\n", ""), text)
    assert said.startswith("=")
    assert said.endswith("\n\n")
    assert "\n\n" not in said[:-2]


def test_the_longest_move_leaves_a_tenth_of_a_second() -> None:
    assert GtpClock(main=600, longest=1.0).seconds() == 0.9


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "1_0", "\u0663", "", "0x10", "1" * 50])
def test_no_number(text: str) -> None:
    with pytest.raises(GtpError, match="syntax error"):
        number(text)


def test_numbers_and_words_at_their_bounds() -> None:
    assert (number("-3.5", -3.5, 7), number("7", -3.5, 7), number("1e2")) == (-3.5, 7, 100)
    assert (whole("2", 2, 9), whole("9", 2, 9)) == (2, 9)
    for read, text in ((number, "-3.6"), (number, "7.1"), (whole, "1"), (whole, "10"), (whole, "2.0"), (whole, "x")):
        with pytest.raises(GtpError, match="syntax error"):
            read(text, 2 if read is whole else -3.5, 9 if read is whole else 7)  # type: ignore[operator]
    assert (truth("TRUE"), truth("False")) == (True, False)
    with pytest.raises(GtpError, match="true or false"):
        truth("yes")
    assert (argument(["a", "b"]), argument(["a", "b"], 1)) == ("a", "b")
    with pytest.raises(GtpError, match="an argument is missing"):
        argument(["a", "b"], 2)


def test_an_answer_has_its_number() -> None:
    assert answer("12", "a\n\nb  \n") == "=12 a\nb\n\n"
    assert answer("", "no", good=False) == "? no\n\n"


def test_rules_by_name_and_back() -> None:
    for name, rules in NAMED.items():
        assert read_rules(name.upper().replace("-", "_"), Rules()) == rules
        assert read_rules(rules.json(), NAMED["japanese"]) == rules
        assert read_rules(name.replace("-", " "), Rules()) == rules
    assert read_rules('{"ko":"positional","suicide":"true"}', Rules()) == Rules(ko="POSITIONAL", suicide=True)
    assert set(json.loads(Rules().json())) == rulesets.CHOICES.keys() | rulesets.FLAGS.keys()


@pytest.mark.parametrize("text", ['{"ko":1}', '{"suicide":2}', "{", '{"a":1}', "[]", "{" * 100_000, ""])
def test_no_rules(text: str) -> None:
    with pytest.raises(UnknownRules):
        read_rules(text, Rules())


def test_points_for_handicap_stones() -> None:
    bonus = {name: [rules.bonus(count) for count in (0, 1, 2, 9)] for name, rules in NAMED.items()}
    assert bonus["chinese"] == [0, 0, 2, 9]
    assert bonus["aga"] == [0, 0, 1, 8]
    assert bonus["japanese"] == bonus["tromp-taylor"] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("clock", "low", "high"),
    [
        (GtpClock(main=60), 1, 3),
        (GtpClock(main=60, left=6), 0.1, 0.3),
        (GtpClock(main=60, left=0.0), 0, 0),
        (GtpClock(period=10, stones=5), 1, 2.1),
        (GtpClock(main=60, period=10, stones=1), 8, 10),  # nothing is lost by using a period
        (GtpClock(main=60, period=10, stones=1, left=4, left_stones=1), 2, 4),
        (GtpClock(main=60, increment=5, left=60), 4, 10),
        (GtpClock(main=0, period=30, stones=1, left=30, left_stones=5, periods=True), 20, 30),  # five periods are left
        (GtpClock(main=60, period=10, stones=5, spent=61), 1, 2.1),
    ],
)
def test_seconds(clock: GtpClock, low: float, high: float) -> None:
    seconds = clock.seconds()
    assert seconds is not None
    assert low <= seconds <= high


@pytest.mark.parametrize("clock", [GtpClock(main=300), GtpClock(main=300, left=300)])
def test_a_clock_of_which_nobody_tells_runs_too(clock: GtpClock) -> None:
    total = 0.0
    for _ in range(400):
        seconds = clock.seconds()
        assert seconds is not None
        total += seconds
        clock.spend(seconds)
    assert 200 < total < 300


def test_time_in_overtime() -> None:
    stones = GtpClock(main=60, period=10, stones=2, left=10, left_stones=2)
    stones.spend(4)
    assert (stones.left, stones.left_stones) == (6, 1)
    stones.spend(5)
    assert (stones.left, stones.left_stones) == (10, 2)
    periods = GtpClock(main=60, period=10, stones=1, left=3, left_stones=4, periods=True)
    periods.spend(2)
    assert (periods.left, periods.left_stones) == (10, 4)
    fischer = GtpClock(main=60, increment=5)
    fischer.spend(3)
    assert fischer.spent == -2


def test_a_capped_clock() -> None:
    """No move takes longer than it may, and increments do not bring more than the limit."""
    clock = GtpClock(main=600, increment=10, limit=605, longest=15)
    for _ in range(8):
        seconds = clock.seconds()
        assert seconds is not None
        assert 5 < seconds < 15
        clock.spend(1)
    assert clock.main - clock.spent == 605
    clock.set_time_left(600, 0)
    clock.spend(0)
    assert clock.left == 605


@pytest.mark.parametrize(("before", "count"), [(4, 3), (None, 4), (1, 0)])
def test_passes_that_are_not_in_the_file_are_no_moves(tmp_path: Path, before: int | None, count: int) -> None:
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9]KM[0.5]AB[ge][cg];W[ee];B[cc];B[gg];W[ec])")
    loaded = game()
    loaded.load(str(tmp_path / "game.sgf"), before)
    played = [(WHITE, "E5"), (BLACK, "C7"), (BLACK, "G3"), (WHITE, "E7")]
    assert [(side, to_gtp(point, 9)) for side, point in loaded.moves] == played[:count]
    assert loaded.board[from_gtp("G3", 9)] == (BLACK if count > 2 else 0)


@pytest.mark.parametrize("name", NAMED)
def test_a_record_keeps_the_rules_with_their_ko(tmp_path: Path, name: str) -> None:
    saved = GtpGame(9, 7.5, NAMED[name])
    (tmp_path / "game.sgf").write_text(write_sgf(saved.record()))
    loaded = game()
    loaded.set_rules(NAMED["japanese" if name != "japanese" else "aga"])
    loaded.load(str(tmp_path / "game.sgf"), None)
    assert loaded.rules == NAMED[name]
    assert loaded.board.superko == (NAMED[name].ko == "POSITIONAL")


def test_a_game_without_komi_keeps_the_one_that_was_set(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9];B[ee])")
    loaded = game()
    loaded.load(str(tmp_path / "game.sgf"), None)
    assert loaded.komi == 7.5
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9]KM[];B[ee])")
    loaded.load(str(tmp_path / "game.sgf"), None)
    assert loaded.komi == 7.5
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9]KM[0];B[ee])")
    loaded.load(str(tmp_path / "game.sgf"), None)
    assert loaded.komi == 0


def test_a_new_game_forgets_what_was_left_of_a_clock_that_nobody_set() -> None:
    timed = game()
    timed.clocks = {BLACK: GtpClock(main=60, left=5), WHITE: GtpClock(left=300, lacks_settings=True)}
    timed.clear()
    assert list(timed.clocks) == [BLACK]
    assert timed.clocks[BLACK].left is None


def test_fixed_handicap() -> None:
    def places(count: int, size: int) -> str:
        return " ".join(to_gtp(point, size) for point in fixed_handicap(count, size))

    assert places(2, 19) == "D4 Q16"
    assert places(5, 19) == "D4 Q16 D16 Q4 K10"
    assert places(9, 19) == "D4 Q16 D16 Q4 D10 Q10 K16 K4 K10"
    assert places(6, 19) == "D4 Q16 D16 Q4 D10 Q10"
    assert places(7, 19) == "D4 Q16 D16 Q4 D10 Q10 K10"
    assert places(8, 19) == "D4 Q16 D16 Q4 D10 Q10 K16 K4"
    assert places(4, 9) == "C3 G7 C7 G3"
    assert places(3, 13) == "D4 K10 D10"
    assert [len(set(fixed_handicap(count, 19))) for count in range(2, 10)] == list(range(2, 10))


def game() -> GtpGame:
    made = GtpGame(19, 7.5, NAMED["chinese"])
    made.clear(9)
    return made


def test_undo_makes_the_board_again() -> None:
    played = game()
    boards = []
    for i, name in enumerate(["B1", "A1", "A2", "PASS", "A1"]):
        boards.append((played.board.colours().tobytes(), played.board.ko, played.board.to_move))
        played.play(1 + i % 2, from_gtp(name, 9))
    for before in reversed(boards):
        played.undo()
        assert (played.board.colours().tobytes(), played.board.ko, played.board.to_move) == before
    with pytest.raises(GtpError, match="cannot undo"):
        played.undo()


def test_undo_of_several_moves_and_the_last_point() -> None:
    played = game()
    assert played.last_point() == PASS
    for colour, point in ((BLACK, 0), (WHITE, 1), (BLACK, PASS), (WHITE, 2)):
        played.play(colour, point)
        assert played.last_point() == point
    with pytest.raises(GtpError, match="cannot undo"):
        played.undo(5)
    played.undo(2)
    assert played.moves == [(BLACK, 0), (WHITE, 1)]
    assert played.board.to_move == BLACK
    played.undo(2)
    assert played.moves == []
    assert played.is_empty()


def test_all_moves_or_none() -> None:
    played = game()
    played.play(BLACK, 0)
    with pytest.raises(GtpError, match="illegal move"):
        played.play_all([(WHITE, 1), (BLACK, PASS), (WHITE, 0)])
    assert played.moves == [(BLACK, 0)]
    assert played.board.to_move == WHITE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.sgf", ("a.sgf", None)),
        ("a.sgf 12", ("a.sgf", 12)),
        ("my games/a b.sgf 3", ("my games/a b.sgf", 3)),
        ('"my games/12" 3', ("my games/12", 3)),
        ('"12"', ("12", None)),
        ("12", ("12", None)),
        ("a b 1.sgf", ("a b 1.sgf", None)),
    ],
)
def test_file_argument(text: str, expected: tuple[str, int | None]) -> None:
    assert file_argument(Command("", "loadsgf", tuple(text.split()), text)) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(;SZ[20])", "cannot load file"),
        ("(;SZ[9];B[aa];W[aa])", "illegal"),
        ("no game", "cannot load file"),
        ("", "cannot load file"),
    ],
)
def test_a_file_that_cannot_be_loaded_changes_nothing(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(text)
    played = game()
    played.play(BLACK, 0)
    with pytest.raises(GtpError, match=reason):
        played.load(str(path), None)
    assert played.moves == [(BLACK, 0)]
    assert played.komi == 7.5


def test_stones_without_liberties_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9]KM[5.5]AB[ba][ab]AW[aa]PL[B];B[ee])")
    with pytest.raises(GtpError, match=naming("liberty")):
        game().load(str(tmp_path / "game.sgf"), None)


@pytest.mark.parametrize(("before", "moves"), [(5, ["D6"]), (4, []), (6, ["D6", "E5"]), (None, ["D6", "E5", "F4"])])
def test_handicap_stones_of_the_old_style_are_counted_as_moves(
    tmp_path: Path, before: int | None, moves: list[str]
) -> None:
    """As GNU Go counts them."""
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9]HA[3];B[cc];B[gg];B[cg];W[dd];B[ee];W[ff])")
    played = game()
    played.load(str(tmp_path / "game.sgf"), before)
    assert [to_gtp(point, 9) for _, point in played.moves] == moves
    assert played.handicap == 3


def test_a_file_up_to_an_illegal_move(tmp_path: Path) -> None:
    """What comes after the wanted position does not matter."""
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[9]RU[AGA]AB[cc][gg]AW[dd]PL[W];W[ee];W[ff];B[aa];W[bb])")
    played = game()
    played.load(str(path), 3)
    assert played.moves[0] == (WHITE, from_gtp("E5", 9))
    assert played.board[from_gtp("D6", 9)] == WHITE
    assert played.rules == NAMED["aga"]
    played.load(str(path), None)
    assert [point for colour, point in played.moves if colour == BLACK] == [0]  # no pass that is not in the file


def test_leading_black_moves_are_handicap_stones() -> None:
    played = game()
    for i, name in enumerate(["C3", "G7", "C7"]):
        played.play(BLACK, from_gtp(name, 9))
        assert played.handicap == (0 if i == 0 else i + 1)
    played.play(WHITE, from_gtp("E5", 9))
    played.play(BLACK, from_gtp("G3", 9))
    assert played.handicap == 3
    assert played.terms.komi == 7.5 + 3  # by Chinese rules
    record = played.record()
    assert (record.handicap, len(record.black), record.side, len(record.moves)) == (3, 3, WHITE, 2)
    played.undo(4)
    assert played.handicap == 0
    even = game()
    for colour, name in ((BLACK, "C3"), (WHITE, "E5"), (BLACK, "G7"), (BLACK, "C7")):
        even.play(colour, from_gtp(name, 9))
    assert even.handicap == 0
    assert even.record().moves == [from_gtp(name, 9) for name in ("C3", "E5", "G7", "PASS", "C7")]


def test_a_record_with_stones_among_its_moves_is_loaded_up_to_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "game.sgf"
    file.write_text("(;SZ[9];B[ee];W[cc];AB[aa];B[gg])")
    played = game()
    played.load(str(file), None)
    assert len(played.moves) == 2
    assert mentions(capsys.readouterr().err, "loadsgf & 2 & stones")
    file.write_text("(;SZ[9];B[ee];W[cc];B[gg])")
    played.load(str(file), None)
    assert len(played.moves) == 3
    assert capsys.readouterr().err == ""


CUT_OFF = "(;GM[1]SZ[9]KM[5.5]RU[Japanese]AB[gg]PL[W];W[ee];B[cc]C[a \\] ];W[d"


@pytest.mark.parametrize(
    ("before", "moves", "noted"),
    [(None, 2, True), (9, 2, True), (4, 2, True), (3, 2, False), (2, 1, False), (1, 0, False)],
)
def test_a_record_that_is_cut_off_is_loaded_up_to_its_last_complete_move(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: int | None, moves: int, noted: bool
) -> None:
    """A note appears only if the requested move is missing."""
    file = tmp_path / "game.sgf"
    file.write_text(CUT_OFF)
    played = game()
    played.load(str(file), before)
    assert played.moves == [(WHITE, from_gtp("E5", 9)), (BLACK, from_gtp("C7", 9))][:moves]
    assert (played.size, played.komi) == (9, 5.5)
    assert played.board[from_gtp("G3", 9)] == BLACK
    error = capsys.readouterr().err
    assert error.count("\n") == noted
    assert not noted or mentions(error, f"loadsgf & cut short & {moves}")
    file.write_text(f"{CUT_OFF}d])")
    played.load(str(file), before)
    assert len(played.moves) == (3 if before is None else min(3, before - 1))
    assert capsys.readouterr().err == ""


def test_a_record_that_is_cut_off_before_its_first_move_changes_nothing(tmp_path: Path) -> None:
    """The board could lack setup stones."""
    file = tmp_path / "game.sgf"
    text = CUT_OFF[: CUT_OFF.index("[ee]")]
    file.write_text(text)
    played = game()
    played.play(BLACK, 0)
    with pytest.raises(GtpError, match=naming("load & cut short")):
        played.load(str(file), None)
    assert played.moves == [(BLACK, 0)]
    file.write_text(f"{text}[ee]")
    played.load(str(file), None)
    assert played.moves == [(WHITE, from_gtp("E5", 9))]
