"""Find players by name: the spellings of one person's name, the person who is in nearly all games, and similar
names.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kibitz.errors import UsageError
from kibitz.store.store import Store
from kibitz.text import shown

SEPARATOR = "\n"
"""The character between two names in a setting. Any other character may occur in a name."""
NEARLY_ALL = 0.9
"""The share of the games, 0 to 1, that a player must have played to be selected without a name."""
SHOWN_NAMES = 5
"""The largest number of names in an error message."""
PREFIX = 5
"""The number of letters at the beginning that two names must have in common to be similar."""
_ONE_WORD = re.compile(r"[\w+-]+")
_PROGRAM = re.compile(
    r"\b(stockfish|lc0|leela|komodo|gnu ?chess|crafty|houdini|rybka|fritz|shredder|maia\d*|sunfish|ethereal|"
    r"bot|computer|lichess ai|ai level \d+)\b|(?:bot|_ai)$"
)


def key(name: str) -> str:
    """Return a key for comparing names. The key ignores case, accents, word order, and punctuation between words. So
    "Muñoz, Ana" and "ana munoz" have the same key.

    A name of one word is usually an account. Its underscores, hyphens and plus signs count: "bob" and "bob_" have
    different keys.
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter)).strip()
    if _ONE_WORD.fullmatch(letters):
        return letters
    return " ".join(sorted(re.findall(r"[^\W_]+(?:[-_]\w+)*", letters))) or letters


def looks_like_a_program(name: str) -> bool:
    """Return whether a name contains the name of a well-known program, contains the word "bot" or "computer", or ends
    in "bot" or "_ai".
    """
    return _PROGRAM.search(name.casefold()) is not None


@dataclass(frozen=True)
class Player:
    """A player in a collection of games.

    name: the most frequent spelling of the name. spellings: all spellings of the name. games: the number of the
    player's games.
    """

    name: str
    spellings: tuple[str, ...]
    games: int


def players_of(store: Store) -> list[Player]:
    """Return the players of a store, the player with the most games first. Spellings with the same `key` belong to one
    player.

    Unknown names ("?") are skipped. A game with the same player on both sides counts once.
    """
    written: Counter[str] = Counter()
    sides = [store.column(column) for column in ("white", "black") if column in store.columns]
    for column in sides:
        written.update(column.tolist())
    if len(sides) == 2:
        written.subtract(sides[0][sides[0] == sides[1]].tolist())
    return players_among(written)


def players_among(written: Counter[str]) -> list[Player]:
    """Return the players to whom the given spellings of names belong, the player with the most games first. Spellings
    with the same `key` belong to one player.

    written: the number of games of each spelling. Empty names and "?" are skipped.
    """
    by_key: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for name, games in written.most_common():
        if name and name.strip("?. "):
            by_key[key(name)].append((name, games))
    players = [Player(some[0][0], tuple(name for name, _ in some), sum(n for _, n in some)) for some in by_key.values()]
    return sorted(players, key=lambda player: (-player.games, player.name))


def find(store: Store, names: Sequence[str], where: str) -> list[Player]:
    """Return the players of a store with the given names. If no name is given, return the player who is in nearly all
    games.

    where: a description of the games, which error messages contain. Raises UsageError for an unknown name; the message
    suggests the most similar names. Raises UsageError also if no name is given and no player is in nearly all games.
    """
    return find_among(players_of(store), len(store), names, where)


def find_among(players: Sequence[Player], games: int, names: Sequence[str], where: str) -> list[Player]:
    """Return those of the given players who have one of the names. If no name is given, return the player who is in
    nearly all games. Errors are those of `find`.

    games: the number of all games. where: a description of the games, which error messages contain.
    """
    if not players:
        raise UsageError(f"{where}: the games have no player names. Choose other games.")
    if not names:
        return [_in_nearly_all(players, games, where)]
    return named(players, names, where)


def present(store: Store, names: Iterable[str]) -> list[str]:
    """Return those of the given names that belong to a player of the store. A name may be spelled differently in the
    store if both spellings have the same `key`.
    """
    there = {key(player.name) for player in players_of(store)}
    return [name for name in names if key(name) in there]


def named(players: Sequence[Player], names: Sequence[str], where: str, option: str = "--player ") -> list[Player]:
    """Return the players who have one of these names.

    where: a description of the games, which error messages contain.
    option: the text before a name in an error message, such as a command-line option.

    Raises UsageError for a name that no player has.
    """
    by_key = {key(player.name): player for player in players}
    found: dict[str, Player] = {}
    for name in names:
        if key(name) not in by_key:
            raise UsageError(f"{option}{shown(name)} has no games in {where}. {_nearest(name, players)}")
        found[key(name)] = by_key[key(name)]
    return list(found.values())


def _in_nearly_all(players: Sequence[Player], games: int, where: str) -> Player:
    first = players[0]
    if len(players) > 1 and players[1].games == first.games:
        raise UsageError(
            f"{where}: two players have the same number of games. Choose one with --player: {listed(players)}"
        )
    if first.games < NEARLY_ALL * games:
        raise UsageError(f"{where} has games of many players. Choose one with --player: {listed(players)}")
    return first


def listed(players: Iterable[Player]) -> str:
    """Return a line of text that lists at most five players, with their numbers of games."""
    return ", ".join(f"{shown(player.name)} ({player.games:,})" for player in list(players)[:SHOWN_NAMES])


def _nearest(name: str, players: Sequence[Player]) -> str:
    """Return the most similar names as text. If no name is similar, return the most frequent names."""
    wanted = key(name)
    of_key = {key(player.name): player for player in players}
    every = {word for text in of_key for word in text.split()}
    words = {
        near for word in wanted.split() for near in difflib.get_close_matches(word, every, SHOWN_NAMES, cutoff=0.75)
    }
    near = [player for text, player in of_key.items() if words & set(text.split()) or (wanted and wanted in text)]
    close = difflib.get_close_matches(wanted, list(of_key), SHOWN_NAMES, cutoff=0.6)
    same = [player for text, player in of_key.items() if wanted[:PREFIX] == text[:PREFIX] and len(wanted) >= PREFIX]
    chosen = dict.fromkeys([*(of_key[text] for text in close), *near, *same])
    return f"Similar names: {listed(chosen)}" if chosen else f"Most frequent names: {listed(players)}"
