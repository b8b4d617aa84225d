"""The games of one Go player in SGF files: which are used, which are skipped, and what is said about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.analysis.go.player import GoSides, players_in
from kibitz.analysis.repeats import skipped_games
from kibitz.errors import KibitzError, UsageError
from kibitz.games.go.io.sgf import Record, read_records

MOVES = ";B[ee];W[ec];B[cc];W[gg]"


def game(number: int, moves: str = MOVES, result: str = "B+3.5", white: str = "") -> str:
    return f"(;GM[1]SZ[9]KM[6.5]PB[Ana]PW[{white or f'Opponent {number}'}]RE[{result}]{moves})\n"


def found(path: Path, text: str) -> tuple[int, int, list[str]]:
    """The number of games that are expected, the number of games that are used, and the messages."""
    path.write_text(text)
    players = players_in(str(path), ["Ana"])
    sides = GoSides(players)
    used = [one for one in read_records([str(path)], cut=True) if isinstance(one, Record) and sides.wants(one)]
    return players[0].games, len(used), list(skipped_games(sides.again, sides.empty, sides.both))


@pytest.mark.parametrize(
    ("odd", "more", "message"),
    [
        ("", 0, ""),
        (game(5), 1, ""),
        (game(5, MOVES + ";B[ee]"), 1, ""),  # on a stone
        (game(5, MOVES + ";B[zz]"), 1, ""),
        (game(5, result="?"), 1, ""),
        (game(5, MOVES + ";AB[aa]"), 1, ""),
        (game(5).replace("SZ[9]", "SZ[9:7]"), 0, ""),
        ("some words\n", 0, ""),
        (game(1), 0, "1 repeated"),
        (game(5, ""), 0, "1 game "),
        (game(5, "") + game(6, ""), 0, "2 games "),
        (game(5, white="ANA"), 0, "both sides"),
    ],
)
def test_odd_games_count_alike_before_and_while_they_are_read(
    tmp_path: Path, odd: str, more: int, message: str
) -> None:
    expected, games, problems = found(tmp_path / "a.sgf", game(1) + game(2) + odd + game(3))
    assert expected == games == 3 + more
    assert len(problems) == bool(message)
    assert message in "".join(problems)


def test_a_file_without_a_move_or_a_game_is_refused(tmp_path: Path) -> None:
    for number, (text, match) in enumerate(((game(1, ""), "no game has a move"), ("Hello\n", "SGF"), ("", "SGF"))):
        path = tmp_path / f"{number}.sgf"
        path.write_text(text)
        with pytest.raises(KibitzError, match=match) as error:
            players_in(str(path), [])
        assert "\n" not in str(error.value)
    assert found(tmp_path / "good.sgf", game(1))[0] == 1


def test_the_player_in_nearly_all_games_needs_no_name(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text(game(1) + game(2))
    (tmp_path / "b.sgf").write_text("nothing")
    (player,) = players_in(str(tmp_path), [])
    assert (player.name, player.games) == ("Ana", 2)
    with pytest.raises(UsageError, match="Zoe"):
        players_in(str(tmp_path), ["Zoe"])
