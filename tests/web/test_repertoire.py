"""The opening repertoire of one's own games: what is played in it, how often, and where recent games left it."""

from __future__ import annotations

from typing import Any

from kibitz.web.mygames.repertoire import DEPTH, LEAST, RECENT, repertoire

ITALIAN = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3"
SCOTCH = "1. e4 e5 2. Nf3 Nc6 3. d4 exd4"


def game(moves: str, day: int, white: str = "Ana", black: str = "Bo", result: str = "1-0", more: str = "") -> str:
    return (
        f'[White "{white}"]\n[Black "{black}"]\n[WhiteElo "{1500 + day}"]\n[BlackElo "1400"]\n'
        f'[Date "2024.03.{day:02}"]\n[Result "{result}"]\n{more}\n{moves} {result}\n\n'
    )


def found(*games: tuple[str, str]) -> dict[str, Any]:
    return repertoire("Ana", [(number, side, text) for number, (side, text) in enumerate(games, 1)])


def at(told: dict[str, Any], side: str, *line: str) -> dict[str, Any] | None:
    """The position after these moves, by whichever moves it was reached."""
    return next((each for each in told["positions"] if each["side"] == side and each["line"] == list(line)), None)


MINE = (
    ("white", game(ITALIAN, 1)), ("white", game(ITALIAN, 2, result="0-1")), ("white", game(SCOTCH, 3)),
    ("black", game("1. e4 c5 2. Nf3 d6", 4, "Bo", "Ana")), ("black", game("1. e4 c5 2. c3 d5", 5, "Bo", "Ana")),
)  # fmt: skip


def test_positions_moves_and_results() -> None:
    told = found(*MINE)
    assert (told["player"], told["games"], told["skipped"]) == ("Ana", 5, 0)
    start = at(told, "white")
    assert start is not None
    assert (start["own"], start["games"]) == (True, 3)
    after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"
    assert start["played"] == [{"move": "e2e4", "san": "e4", "games": 3, "to": after, "score": round(2 / 3, 4)}]
    # The opponent's answer is a position, too, but not an own one.
    answers = at(told, "white", "e2e4")
    assert answers is not None
    assert not answers["own"]
    assert [each["san"] for each in answers["played"]] == ["e5"]
    third = at(told, "white", "e2e4", "e7e5", "g1f3", "b8c6")
    assert third is not None
    assert [(each["san"], each["games"], each["score"]) for each in third["played"]] == [
        ("Bc4", 2, 0.5),
        ("d4", 1, 1.0),
    ]
    assert third["opening"]["eco"].startswith("C")
    sicilian = at(told, "black", "e2e4")
    assert sicilian is not None
    assert [each["san"] for each in sicilian["played"]] == ["c5"]
    # What occurred once is not in the repertoire.
    assert at(told, "black", "e2e4", "c7c5", "c2c3") is None
    assert all(each["games"] >= LEAST for each in told["positions"])


def test_openings_with_their_results() -> None:
    told = found(*MINE, ("white", game("1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6", 6, result="*")))["openings"]
    assert [(each["side"], each["name"], each["games"], each["score"]) for each in told] == [
        ("white", "Italian Game", 3, 0.5),  # one game has no result
        ("black", "Sicilian Defense", 2, 0.0),
        ("white", "Scotch Game", 1, 1.0),
    ]
    italian, sicilian, _ = told
    assert (italian["line"], italian["eco"]) == (["e2e4", "e7e5", "g1f3", "b8c6", "f1c4"], "C50")
    assert sicilian["line"] == ["e2e4", "c7c5"]
    # Another order of moves is the same opening, and a game without moves has none.
    told = found(
        ("white", game("1. d4 d5 2. c4 e6", 1)), ("white", game("1. c4 e6 2. d4 d5", 2)), ("white", game("", 3))
    )["openings"]
    assert [(each["name"], each["games"]) for each in told] == [("Queen's Gambit Declined", 2)]


def test_another_order_of_moves_is_the_same_position() -> None:
    told = found(
        ("white", game("1. d4 d5 2. c4 e6 3. Nc3", 1)),
        ("white", game("1. c4 e6 2. d4 d5 3. Nc3", 2)),
        ("white", game("1. d4 d5 2. c4 e6 3. cxd5", 3)),
    )
    merged = at(told, "white", "d2d4", "d7d5", "c2c4", "e7e6")
    assert merged is not None, "the line is the most frequent one"
    assert [(each["san"], each["games"]) for each in merged["played"]] == [("Nc3", 2), ("cxd5", 1)]


def test_where_recent_games_left_the_repertoire() -> None:
    told = found(*MINE)
    (left,) = told["left"]
    assert (left["game"], left["ply"], left["side"], left["san"]) == (3, 5, "white", "d4")
    assert (left["usual"], left["usual_games"], left["opponent"], left["opponent_rating"]) == ("Bc4", 2, "Bo", 1400)
    assert left["line"] == ["e2e4", "e7e5", "g1f3", "b8c6"]
    assert left["before"] == ["e4", "e5", "Nf3", "Nc6"]
    assert left["opening"].startswith("King's Knight Opening")
    # A move that was played twice is one of the repertoire, so no game has left it.
    assert found(*MINE, ("white", game(SCOTCH, 6)))["left"] == []
    # The newest is first, by date and not by the order of the file.
    odd = ("white", game("1. d4 d5", 9)), ("white", game("1. c4 c5", 8))
    assert [each["san"] for each in found(*odd, *MINE)["left"]] == ["d4", "c4", "d4"]
    # An old one is not a recent one.
    later = [("white", game(ITALIAN, 10 + number % 10)) for number in range(RECENT)]
    assert found(*MINE, *later)["left"] == []


def test_a_tie_leaves_no_usual_move() -> None:
    tied = [("white", game(text, number)) for number, text in enumerate(("1. d4", "1. d4", "1. e4", "1. e4"), 1)]
    other = ("white", game("1. c4", 9))
    assert found(*tied, other)["left"] == []
    assert [each["usual"] for each in found(*tied, ("white", game("1. e4", 8)), other)["left"]] == ["e4"]


def test_ratings_depth_and_games_that_do_not_count() -> None:
    assert found(*MINE)["rating"] == round((1501 + 1502 + 1503 + 1400 + 1400) / 5)
    assert found(("white", game("1. e4", 1).replace('[WhiteElo "1501"]\n', "")))["rating"] is None
    setup = '[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n'
    told = found(*MINE, ("white", game("1. e4", 7, more=setup)), ("white", "nothing"))
    assert (told["games"], told["skipped"]) == (5, 2)
    shuffle = " ".join(f"{2 * at + 1}. Nf3 Nf6 {2 * at + 2}. Ng1 Ng8" for at in range(10))
    again = found(("white", game(shuffle, 1)), ("white", game(shuffle, 2)))
    start = at(again, "white")
    assert start is not None
    assert start["games"] == 2, "a position counts once for each game"
    long = (
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5 11. d4 "
        "Qc7 12. Nbd2 cxd4 13. cxd4 Nc6"
    )
    long, cup = f"{long} 13. Nf3 Nh5 14. b4", '[Event "The 13. Cup {of 2024}"]'
    deep = found(
        ("white", game(long, 1, more=cup)), ("white", game(long.replace("5. O-O", "5. O-O (5. d3 13. d4)"), 2))
    )
    assert max(len(each["line"]) for each in deep["positions"]) == DEPTH - 1


def test_braces_remarks_and_results_of_long_games() -> None:
    """What is left out after the opening is not missed."""
    moves = " ".join(f"{2 * at + 1}. Nf3 Nf6 {{[%clk 0:01:00]}} {2 * at + 2}. Ng1 Ng8" for at in range(8))
    plain = found(("white", game(moves, 1)), ("white", game(moves, 2)))
    start = at(plain, "white")
    assert start is not None
    assert (start["games"], start["played"][0]["score"]) == (2, 1.0)
    brace, remark = '[Event "Cup {2024"]', moves.replace(" 2. Ng1", " ; see 13. e4\n2. Ng1")
    unknown = game(moves, 1).replace('[Result "1-0"]\n', "")
    for other in (game(moves, 1, more=brace), game(remark, 1), unknown, game(moves, 1).replace("\n", "\r\n")):
        assert found(("white", other), ("white", game(moves, 2))) == plain, other


def test_games_of_one_day_in_a_file_that_begins_with_the_newest() -> None:
    """The later one of two equally frequent moves is the first, in whichever order the file has the games."""
    games = [("white", game(moves, day)) for moves, day in ((ITALIAN, 1), (ITALIAN, 2), (SCOTCH, 2), (SCOTCH, 2))]
    left = ("white", game("1. e4 e5 2. Nf3 Nc6 3. Bb5", 3))
    for order in ([*games, left], [left, *games[::-1]]):
        position = at(found(*order), "white", "e2e4", "e7e5", "g1f3", "b8c6")
        assert position is not None
        assert [each["san"] for each in position["played"][:2]] == ["d4", "Bc4"]
    games[1], games[3] = games[3], games[1]
    for order in ([*games, left], [left, *games[::-1]]):
        position = at(found(*order), "white", "e2e4", "e7e5", "g1f3", "b8c6")
        assert position is not None
        assert [each["san"] for each in position["played"][:2]] == ["Bc4", "d4"]


def test_the_caller_hears_how_many_games_are_read() -> None:
    heard: list[int] = []
    games = [(number, side, text) for number, (side, text) in enumerate(MINE, 1)]
    told = repertoire("Ana", games, heard.append)
    assert heard == [1, 2, 3, 4, 5]
    assert told == found(*MINE)
