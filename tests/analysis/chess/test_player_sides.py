"""The games of one player in PGN files: which are used, which are skipped, and what is said about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.analysis.chess.player_sides import PlayerSides, own_games, players_in
from kibitz.errors import KibitzError, UsageError

MOVES = "1. e4 e5 2. Nf3 Nc6"


def game(number: int, moves: str = MOVES, result: str = "1-0", white: str = "Ana", more: str = "") -> str:
    black = f"Opponent {number}"
    return f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n{more}\n{moves} {result}\n\n'


def found(path: Path, text: str) -> tuple[int, int, list[str]]:
    """The number of games that are expected, the number of games that are yielded, and the messages."""
    path.write_text(text)
    players = players_in([str(path)], ["Ana"], path.name)
    problems: list[str] = []
    games = list(own_games([str(path)], PlayerSides(players), problems.append))
    return players[0].games, len(games), [problem.removeprefix(f"{path} ") for problem in problems]


@pytest.mark.parametrize(
    ("odd", "more", "message"),
    [
        ("", 0, ""),
        (game(5), 1, ""),
        (game(5, "1. e4 e5 2. Ke5"), 1, "illegal"),
        (game(5, "1. e4 zz9"), 1, "cannot be read"),
        (game(5, "1. e4 e5 2. -- a6"), 1, ""),
        (game(5, MOVES, "1-0").replace("Nc6 1-0", "Nc6 0-1"), 1, ""),
        (game(5, MOVES, "*"), 1, ""),
        (game(1), 0, "repeated"),
        (game(5, ""), 0, "without moves"),
        (game(5, "{a1 a2} ; h8"), 0, "without moves"),
        (game(5).replace("Opponent 5", "ana"), 0, "both sides"),
    ],
)
def test_odd_games_count_alike_before_and_while_they_are_read(
    tmp_path: Path, odd: str, more: int, message: str
) -> None:
    expected, games, problems = found(tmp_path / "a.pgn", game(1) + game(2) + odd + game(3))
    assert expected == games == 3 + more
    assert len(problems) == bool(message)
    assert message in "".join(problems)


def test_games_of_another_variant_are_named_and_not_used(tmp_path: Path) -> None:
    _, games, problems = found(tmp_path / "a.pgn", game(1) + game(2, more='[Variant "Atomic"]\n'))
    assert games == 1
    assert len(problems) == 1
    assert "Atomic" in problems[0]


def test_text_outside_of_games_is_reported(tmp_path: Path) -> None:
    assert found(tmp_path / "a.pgn", game(1))[2] == []
    problems = found(tmp_path / "b.pgn", game(1) + "Thanks to both players!\n")[2]
    assert len(problems) == 1
    assert "both players" in problems[0]


def test_a_file_without_a_move_or_a_game_is_refused(tmp_path: Path) -> None:
    alone = game(1).replace("Opponent 1", "Ana")
    wrong = (game(1, ""), "no game has a move"), ("Hello\n", "PGN"), ("", "PGN"), (alone, "same name")
    for number, (text, match) in enumerate(wrong):
        path = tmp_path / f"{number}.pgn"
        path.write_text(text)
        with pytest.raises(KibitzError, match=match) as error:
            players_in([str(path)], [], path.name)
        assert "\n" not in str(error.value)
    assert found(tmp_path / "good.pgn", game(1))[0] == 1


def test_a_damaged_file_of_several_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(game(1) + game(2))
    (tmp_path / "b.pgn").write_bytes(bytes(range(256)) * 4)
    files = [str(tmp_path / name) for name in ("b.pgn", "a.pgn")]
    (player,) = players_in(files, [], "folder")
    assert (player.name, player.games) == ("Ana", 2)
    problems: list[str] = []
    assert len(list(own_games(files, PlayerSides([player]), problems.append))) == 2
    assert len(problems) == 1
    with pytest.raises(KibitzError, match="binary"):
        players_in(files[:1], [], "b.pgn")


def test_a_name_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pgn"
    path.write_text(game(1) + game(2))
    assert players_in([str(path)], ["ANA"], "a.pgn")[0].name == "Ana"
    with pytest.raises(UsageError, match="Zoe"):
        players_in([str(path)], ["Zoe"], "a.pgn")
