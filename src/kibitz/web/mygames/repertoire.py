"""The opening repertoire of a player: the positions of the games, the moves that the player chose in them, and the
moves by which recent games left the repertoire.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any

import chess

from kibitz.analysis.chess.ratings import ratings_of
from kibitz.explorer.openings import Opening, opening_at
from kibitz.games.chess.filters import RESULTS
from kibitz.games.chess.io.reader import parse

DEPTH = 24
"""The number of plies of a game that belong to the opening."""
LEAST = 2
"""The smallest number of games in which the player chose a move that belongs to the repertoire."""
MOST = 1000
"""The number of newest games that are read."""
RECENT = 20
"""The number of newest games that are compared with the repertoire."""
MOST_POSITIONS = 1500
"""The largest number of positions in the response. If there are more, the response has those with the most games."""
WHITE, BLACK = "white", "black"
_HEADERS = re.compile(r'(?:\s*\[\w+\s+"[^\n]*"\s*\][ \t]*\r?(?:\n|$))*')
_RESULT = re.compile(r'\[Result\s+"(?:1-0|0-1|1/2-1/2)"')
_COMMENT = re.compile(r"\{[^}]*\}")
_LATER = re.compile(rf"(?<=\s){DEPTH // 2 + 1}\.")


@dataclass
class _Choice:
    """A move in a position.

    scores: the player's results of the games with this move, 0 to 1. last: the latest of these games. to: the position
    after the move; "" if the move ends every game.
    """

    san: str
    to: str = ""
    games: int = 0
    last: int = -1
    scores: list[float] = field(default_factory=list)


@dataclass
class _Reached:
    """A position that occurred in games in which the player had the same color. is_own: whether the player is to move.
    lines: how often each order of moves led to the position.
    """

    is_own: bool
    lines: Counter[tuple[str, ...]] = field(default_factory=Counter)
    moves: dict[str, _Choice] = field(default_factory=dict)

    @property
    def games(self) -> int:
        return self.lines.total()

    def usual(self) -> tuple[str, _Choice] | None:
        """Return the move that was played most often, in UCI notation, with its statistics. Returns None if no move was
        played in LEAST games or more, or if two moves were played equally often.
        """
        ranked = sorted(self.moves.items(), key=lambda each: -each[1].games)
        most = [each for each in ranked if each[1].games == ranked[0][1].games]
        return most[0] if len(most) == 1 and most[0][1].games >= LEAST else None

    def board(self) -> tuple[list[str], chess.Board]:
        """Return the most frequent sequence of moves that leads to this position, in UCI notation, and the position."""
        ((line, _),) = self.lines.most_common(1)
        board = chess.Board()
        for move in line:
            board.push_uci(move)
        return list(line), board


@dataclass
class _PlayedOpening:
    """An opening of games in which the player had the same color. scores: the player's results of these games, 0 to 1.
    lines: how often each sequence of moves, in UCI notation, was the first to reach a position with the opening's name.
    ecos: the codes of the positions with this name, by that sequence.
    """

    games: int = 0
    scores: list[float] = field(default_factory=list)
    lines: Counter[tuple[str, ...]] = field(default_factory=Counter)
    ecos: dict[tuple[str, ...], str] = field(default_factory=dict)

    def as_json(self, side: str, name: str) -> dict[str, Any]:
        ((line, _),) = self.lines.most_common(1)
        score = round(fmean(self.scores), 4) if self.scores else None
        return {"side": side, "eco": self.ecos[line], "name": name, "games": self.games, "score": score,
                "line": list(line)}  # fmt: skip


@dataclass
class _Opened:
    """A game up to DEPTH plies. moves: in UCI."""

    number: int
    side: str
    moves: list[str]
    keys: list[str]
    date: str
    opponent: str
    opponent_rating: int


class Repertoire:
    """The opening positions of a player's games, by the player's color. name: the player's name as it is shown."""

    def __init__(self, name: str):
        self.name = name
        self.skipped = 0
        self._positions: dict[str, dict[str, _Reached]] = {WHITE: {}, BLACK: {}}
        self._games: list[_Opened] = []
        self._ratings: list[int] = []
        self._keys: dict[tuple[str, ...], str] = {}
        self._names: dict[tuple[str, ...], Opening | None] = {}
        self._openings: dict[tuple[str, str], _PlayedOpening] = {}

    def add(self, number: int, side: str, text: str) -> None:
        """Add a game. Games must be added in the order in which they were played.

        number: the number of the game in its source. side: the player's color, WHITE or BLACK. text: the game's PGN.
        """
        record = parse(_opening_only(text))
        if record is None or record.refused or record.game.board() != chess.Board():
            self.skipped += 1
            return
        headers = record.game.headers
        ratings, own = ratings_of(headers), int(side == BLACK)
        if ratings[own]:
            self._ratings.append(ratings[own])
        result = RESULTS.get(headers.get("Result", "").strip())
        score = None if result is None else (1 + (-result if own else result)) / 2
        opponent = headers.get("White" if own else "Black", "?")
        date = headers.get("UTCDate") or headers.get("Date", "")
        game = _Opened(number, side, [], [], date, opponent, ratings[1 - own])
        self._games.append(game)
        board, index = chess.Board(), len(self._games)
        before: _Choice | None = None
        for move in record.game.mainline_moves():
            if not move or board.ply() >= DEPTH:
                break
            line = tuple(game.moves)
            if (key := self._keys.get(line)) is None:
                key = self._keys[line] = board.epd()
            if before is not None:
                before.to = key
            before = None
            if key not in game.keys:  # a repeated position counts once for each game
                position = self._positions[side].setdefault(key, _Reached(board.turn == (side == WHITE)))
                position.lines[line] += 1
                if (played := position.moves.get(move.uci())) is None:
                    played = position.moves[move.uci()] = _Choice(board.san(move))
                played.games, played.last = played.games + 1, index
                before = played
                if score is not None:
                    played.scores.append(score)
            game.keys.append(key)
            game.moves.append(move.uci())
            board.push(move)
            if (line := tuple(game.moves)) not in self._names:
                self._names[line] = opening_at(board)
        self._count_opening(game, score)

    def _count_opening(self, game: _Opened, score: float | None) -> None:
        """Count a game under the opening of its last named position, without the variation. The analysis of the
        player's games names openings in the same way. score: the player's result, 0 to 1; None without a result.
        """
        lines = [tuple(game.moves[:ply]) for ply in range(1, len(game.moves) + 1)]
        named = [(line, opening) for line in lines if (opening := self._names[line])]
        if not named:
            return
        family = named[-1][1].family
        line, opening = next(each for each in named if each[1].family == family)
        played = self._openings.setdefault((game.side, family), _PlayedOpening())
        played.games += 1
        played.lines[line] += 1
        played.ecos[line] = opening.eco
        if score is not None:
            played.scores.append(score)

    @property
    def rating(self) -> int | None:
        """The mean of the player's ratings in the newest RECENT (20) games with a rating; None if there is no such
        game.
        """
        return round(fmean(self._ratings[-RECENT:])) if self._ratings else None

    def as_json(self) -> dict[str, Any]:
        """Return the repertoire as a dict for the browser page of `kibitz board`. It has these keys, among others:

        positions: the positions that occurred in two games or more, the most frequent first. In each, "own" is whether
            the player is to move, and "line" is the most frequent sequence of moves that leads to it. "played" has the
            moves that were played there, the most frequent first.
        openings: the openings of the games, separately for White and Black, the most frequent first. "line" is the most
            frequent sequence of moves to the first position of the opening.
        left: the recent games in which the player left the repertoire, the newest first.
        """
        positions = [
            _as_json(side, position)
            for side in (WHITE, BLACK)
            for position in self._positions[side].values()
            if position.games >= LEAST
        ]
        positions.sort(key=lambda each: (-each["games"], len(each["line"])))
        openings = [played.as_json(side, name) for (side, name), played in self._openings.items()]
        left = [found for game in self._games[: -RECENT - 1 : -1] if (found := self._left(game)) is not None]
        return {
            "player": self.name, "games": len(self._games), "skipped": self.skipped, "rating": self.rating,
            "depth": DEPTH, "positions": positions[:MOST_POSITIONS], "recent": min(RECENT, len(self._games)),
            "left": left, "openings": sorted(openings, key=lambda each: -each["games"]),
        }  # fmt: skip

    def _left(self, game: _Opened) -> dict[str, Any] | None:
        """Return the first move of a game that the player does not usually play; None if there is none.

        opening: the name of the opening before this move; None if it has none. before: the moves before it, in SAN.
        """
        for ply, (key, move) in enumerate(zip(game.keys, game.moves, strict=True)):
            position = self._positions[game.side][key]
            usual = position.usual() if position.is_own else None
            if usual is None or move not in position.moves or position.moves[move].games >= LEAST:
                continue
            board = chess.Board()
            before: list[str] = []
            opening = None
            for each in game.moves[:ply]:
                before.append(board.san(chess.Move.from_uci(each)))
                board.push_uci(each)
                opening = opening_at(board) or opening
            return {
                "opening": opening and opening.name, "before": before,
                "game": game.number, "ply": ply + 1, "side": game.side, "san": position.moves[move].san,
                "usual": usual[1].san, "usual_games": usual[1].games, "line": game.moves[:ply],
                "date": game.date, "opponent": game.opponent, "opponent_rating": game.opponent_rating or None,
            }  # fmt: skip
        return None


def _as_json(side: str, position: _Reached) -> dict[str, Any]:
    line, board = position.board()
    opening = opening_at(board)
    moves = sorted(position.moves.items(), key=lambda each: (-each[1].games, -each[1].last))
    return {
        "side": side, "own": position.is_own, "fen": board.fen(), "line": line, "games": position.games,
        "opening": opening and {"eco": opening.eco, "name": opening.name},
        "played": [
            {"move": move, "san": played.san, "games": played.games, "to": played.to,
             "score": round(fmean(played.scores), 4) if played.scores else None}
            for move, played in moves
        ],
    }  # fmt: skip


def repertoire(
    name: str, games: Iterable[tuple[int, str, str]], on_game: Callable[[int], None] = lambda done: None
) -> dict[str, Any]:
    """Return a player's repertoire as a dict for the browser page of `kibitz board` (see `Repertoire.as_json`).

    name: the player's name as it is shown.
    games: for each game its number, the player's color ("white" or "black") and the PGN. The function sorts the games
        by date and time. Games of the same day without times keep their order in `games`. If `games` begins with the
        newest games, this order is reversed.
    on_game: a function that is called after each game, with the number of games read so far.
    """
    found, listed = Repertoire(name), [(_moment(text), number, side, text) for number, side, text in games]
    later = sum(1 if one[0][0] < other[0][0] else -1 for one, other in pairwise(listed) if one[0][0] != other[0][0])
    in_time = sorted(listed if later >= 0 else listed[::-1], key=lambda game: game[0])
    for done, (_, number, side, text) in enumerate(in_time, 1):
        found.add(number, side, text)
        on_game(done)
    return found.as_json()


def _opening_only(text: str) -> str:
    """Return a game without the moves after the opening, which take time to read.

    A game stays as it is if it has variations, comments that are not in braces, or no result in its headers.
    """
    headers = _HEADERS.match(text)
    head = headers[0] if headers else ""
    body = _COMMENT.sub(" ", text[len(head) :])
    if any(mark in body for mark in "([{;%") or not _RESULT.search(head):
        return text
    end = _LATER.search(body)
    return head + body[: end.start()] if end else text


def _moment(text: str) -> tuple[str, str]:
    """Return the date and the time of a game, as text that can be sorted; "" if unknown."""
    tags: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("["):
            break
        with contextlib.suppress(ValueError):
            tag, value = line[1:].split(None, 1)
            tags[tag] = value.strip(' "]')
    date = tags.get("UTCDate") or tags.get("Date", "")
    return (date.replace("?", "0") if "?" not in date[:4] else "", tags.get("UTCTime", ""))
