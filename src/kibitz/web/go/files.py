"""Read SGF into trees of moves for the browser page of `kibitz board`, and write trees as SGF. The parser is that of
the library sgfmill.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kibitz.analysis.printing import clean
from kibitz.games.go.io.blocks import stray_text
from kibitz.games.go.io.gib import gib_as_sgf, is_gib
from kibitz.games.go.io.headers import interpret_headers
from kibitz.games.go.io.scan import find_games
from kibitz.games.go.io.text import put_right, read_headers, usual_names
from kibitz.games.go.io.tree import Properties, parse_tree, read_point, read_points, read_size, words_of
from kibitz.games.go.points import BLACK, GRID, PASS, SIZES, WHITE, from_gtp, to_gtp, to_sgf
from kibitz.games.go.rules import Board, Illegal
from kibitz.text import shown
from kibitz.web import game_tree
from kibitz.web.go.annotating import annotate, last_words
from kibitz.web.go.line import DEFAULT_RULES, GoLine, node, read_rules, read_start
from kibitz.web.notes import Notes
from kibitz.web.params import BadRequest, Fields, optional_object
from kibitz.web.workers import check_wanted

HEADERS = (
    "PB", "BR", "BT", "PW", "WR", "WT", "GN", "EV", "RO", "DT", "PC", "RE", "RU", "KM", "HA", "TM", "OT", "ON", "AN",
    "CP", "SO", "US", "GC",
)  # fmt: skip
"""The SGF properties of a game that the page gets, and that are written again when the game is saved."""
_OF_SERVERS = ("KO", "RD", "TE")
"""Properties that Sina uses for headers."""
_MARKS = {"TE": 1, "BM": 2, "IT": 5, "DO": 6}
"""SGF's annotations of a move as PGN's NAGs: good, mistake, interesting, doubtful. BM[2] becomes 4, a blunder."""
_WRITTEN = {1: "TE[1]", 2: "BM[1]", 3: "TE[2]", 4: "BM[2]", 5: "IT[]", 6: "DO[]"}
_OF_MOVES = {"B", "W", "C", *_MARKS}
"""Properties that are read in any node."""
_SETUP = {"AB", "AW", "AE"}
_OF_START = {*_OF_MOVES, *_SETUP, "PL", "FF", "GM", "CA", "AP", "SZ", *HEADERS}
"""Properties that are read before the first move. All other properties stay unchanged."""
_NAME = re.compile(r"[A-Z0-9]{1,64}")
_RAW = re.compile(r"(?:\\.|[^\]\\])*+", re.DOTALL)
"""A value as it is written between its brackets."""
_MOVE = re.compile(rb";\s*[BW]\s*\[")
_HEAD = 5000
"""The headers for a game's title are searched in this number of bytes at its beginning."""
MAX_VALUE_LENGTH = 10_000


def load_sgf(text: str, index: int) -> dict[str, Any]:
    """Return the response of /api/load for an SGF text: the game with this index, from 0, and the titles of the first
    MAX_GAMES (500) games.

    If the game is invalid and the text has other games, the response has an empty game, and "problems" has the reason.
    Raises BadRequest if there is no game with this index, or if the game is invalid and there is no other game.
    """
    data = put_right(text).encode("utf-8", "replace")
    if is_gib(data):
        data = gib_as_sgf(data)
    begins, ends, closed = find_games(data)
    count = len(begins)
    if count == 0:
        raise BadRequest("no game found in this text. Use PGN, SGF or FEN")
    if index >= count:
        raise BadRequest(f"the text has no game {index + 1}. Choose a game from 1 to {count:,}")
    listed = zip(begins[: game_tree.MAX_GAMES].tolist(), ends.tolist(), strict=False)
    titles = [_title(data[begin : min(end, begin + _HEAD)], i) for i, (begin, end) in enumerate(listed)]
    try:
        game = _Game(data[int(begins[index]) : int(ends[index])], bool(closed[index]))
        tree = game.tree()
    except BadRequest as error:
        if count == 1:
            raise
        line = GoLine()
        nothing = [_with(node(line.start()), 0, None, "", [])]
        return game_tree.loaded(line, {}, nothing, titles, count, [f"game {index + 1} cannot be shown: {error}"])
    problems = [*game.problems, *stray_text(data, begins, ends)] if index == 0 else game.problems
    answer = game_tree.loaded(game.line, game.headers, tree, titles, count, problems)
    # If the record lacks komi or rules, the assumed values aren't written into it
    if assumed := [name for name in ("KM", "RU") if name not in game.headers]:
        answer["line"]["assumed"] = assumed
    return answer


def _unnamed_rules(stones: int) -> str:
    """Return the rules for a record that has none; `analyze` uses the same rules for such a record (see
    `games.go.io.headers.allows_suicide`).

    They use area scoring. If several black stones are set up at the start, White gets no compensation for them.
    """
    return DEFAULT_RULES if stones < 2 else "new-zealand"


def _title(head: bytes, index: int) -> str:
    """Return a title for a game. head: the beginning of its text; everything after the first move is ignored."""
    check_wanted()
    headers = read_headers(_MOVE.split(head, maxsplit=1)[0].decode("utf-8", "replace"))
    known = {name: clean(value) for name, value in headers.items() if value}
    players = " – ".join(known.get(name, "?") for name in ("PB", "PW"))
    rest = [known[name] for name in ("RE", "EV", "DT") if name in known]
    return ", ".join([players if players != "? – ?" else f"game {index + 1}", *rest])


def _with(node: dict[str, Any], id_: int, parent: int | None, comment: str, nags: list[int]) -> dict[str, Any]:
    return {**node, "id": id_, "parent": parent, "comment": comment, "nags": nags}


@dataclass
class _Start:
    """The setup before the first move, collected from the nodes before it."""

    black: list[int] = field(default_factory=list)
    white: list[int] = field(default_factory=list)
    named: int = 0  # side to move, from PL
    comments: list[str] = field(default_factory=list)


@dataclass
class _Fork:
    """A position from which some branches are not yet played. branches: their number."""

    board: Board
    branches: int

    def take(self) -> Board:
        """Return a board for the next branch: a copy of the board, or the board itself for the last branch."""
        self.branches -= 1
        return self.board.copy() if self.branches else self.board


class _Game:
    """One game, parsed into a tree of properties. Raises BadRequest if it cannot be shown."""

    def __init__(self, text: bytes, closed: bool):
        self.problems: list[str] = []
        if not closed:
            self.problems.append("the end of the game is missing")
        try:
            self.coarse = parse_tree(text, closed)
        except ValueError as error:
            raise BadRequest(f"invalid SGF: {shown(str(error))}") from None
        root: Properties = self.coarse.sequence[0]
        if (kind := words_of(root.get("GM", []))) not in ("", "1"):
            raise BadRequest(f"this SGF is not a Go game (got GM[{shown(kind)}]). Open the SGF file of a Go game")
        self.size = self._board_size(root)
        start = _Start()
        self.other_properties: dict[str, list[str]] = {}
        written = list(self.coarse.sequence)
        self.first = self._before_moves(start)
        properties = written[: self.first + 1]
        values = {name: p[name] for p in reversed(properties) for name in p if name in (*HEADERS, *_OF_SERVERS)}
        headers = usual_names({name: words_of(value) for name, value in values.items()})
        self.headers = {name: " ".join(headers[name].split())[:MAX_VALUE_LENGTH] for name in HEADERS if name in headers}
        handicap = len(start.black) if len(start.black) > 1 and not start.white else 0
        side = self._first_side() or start.named or (WHITE if handicap else BLACK)
        server = " ".join(words_of([value]) for p in properties for value in p.get("AP", []))
        info = interpret_headers({**self.headers, "AP": server}, handicap, self.size)
        rules = read_rules(info.rules) if info.rules else _unnamed_rules(len(start.black))
        self.line = GoLine(self.size, info.komi, rules, tuple(start.black), tuple(start.white), side)
        self.comment = "\n".join(start.comments)
        self.board = read_start(self.line)

    def _board_size(self, root: Properties) -> int:
        text = words_of(root.get("SZ", [b"19"]))
        if not (size := read_size(text)):
            raise BadRequest(f"board size {shown(text)} is not supported. Use {', '.join(map(str, SIZES))}")
        return size

    def _before_moves(self, start: _Start) -> int:
        """Read the nodes before the first move. Returns the index of the first node with a move.

        Two or more moves of Black at the beginning are a handicap in the old style, and belong to the setup.
        """
        sequence: list[Properties] = self.coarse.sequence
        index = 0
        while index < len(sequence) and not ({"B", "W"} & sequence[index].keys()):
            self._set_up(start, sequence[index])
            index += 1
        if index < len(sequence):  # some programs write the setup and the first move into one node
            first = sequence[index]
            self._set_up(start, {name: values for name, values in first.items() if name in _SETUP})
            # A root that is a move has the properties of the game, which are read apart
            taken = _OF_START - _OF_MOVES if index == 0 else _SETUP
            sequence[index] = {name: values for name, values in first.items() if name not in taken}
        if start.black or start.white:
            return index
        run: list[int] = []
        for properties in sequence[index:]:
            point = self._point(properties["B"][0]) if "B" in properties and "W" not in properties else PASS
            if point in (None, PASS) or point in run:
                break
            run.append(point or 0)
        if len(run) > 1:
            start.black = run
            for properties in sequence[index : index + len(run)]:
                if "C" in properties:
                    start.comments.append(words_of(properties["C"]))
                _keep(self.other_properties, properties, _OF_START)
            return index + len(run)
        return index

    def _set_up(self, start: _Start, properties: Properties) -> None:
        for name, mine, others in (
            ("AB", start.black, (start.white,)),
            ("AW", start.white, (start.black,)),
            ("AE", None, (start.black, start.white)),
        ):
            for point in self._points(properties.get(name, [])):
                for stones in others:
                    if point in stones:
                        stones.remove(point)
                if mine is not None and point not in mine:
                    mine.append(point)
        if "PL" in properties:
            start.named = WHITE if words_of(properties["PL"])[:1].lower() in ("w", "2") else BLACK
        if "C" in properties:
            start.comments.append(words_of(properties["C"]))
        _keep(self.other_properties, properties, _OF_START)

    def _first_side(self) -> int:
        """Return the color of the first move of the main line after the setup; 0 if there is none."""
        coarse, index = self.coarse, self.first
        while True:
            for properties in coarse.sequence[index:]:
                for name, colour in (("B", BLACK), ("W", WHITE)):
                    if name in properties:
                        return colour
            if not coarse.children:
                return 0
            coarse, index = coarse.children[0], 0

    def _point(self, value: bytes) -> int | None:
        return read_point(value, self.size)

    def _points(self, values: list[bytes]) -> list[int]:
        """See `read_points`. Raises BadRequest for a point outside the board."""
        try:
            return read_points(values, self.size)
        except ValueError as error:
            raise BadRequest(f"a stone is set up outside the board: {shown(str(error))}") from None

    def tree(self) -> list[dict[str, Any]]:
        """Return the nodes of the game's tree, the root first."""
        tree = [_with(node(self.board), 0, None, self.comment, [])]
        if self.other_properties:
            tree[0]["props"] = self.other_properties
        # A stack of sequences to read: the sequence, the index to begin at, the id of its parent node, and the position
        # there.
        todo: list[tuple[Any, int, int, _Fork]] = [(self.coarse, self.first, 0, _Fork(self.board, 1))]
        while todo and len(tree) < game_tree.MAX_NODES:
            coarse, index, parent, fork = todo.pop()
            board = fork.take()
            last = self._sequence(tree, coarse.sequence[index:], parent, board)
            if last is not None:
                fork = _Fork(board, len(coarse.children))
                todo += [(child, 0, last, fork) for child in reversed(coarse.children)]
        if len(tree) >= game_tree.MAX_NODES:
            self.problems.append(f"only the first {game_tree.MAX_NODES:,} positions are shown")
        return tree

    def _sequence(
        self, tree: list[dict[str, Any]], sequence: list[Properties], parent: int, board: Board
    ) -> int | None:
        """Add the nodes of a sequence. Returns the id of the last node, or None if the rest of this branch is not
        shown.
        """
        for properties in sequence:
            check_wanted()
            if _SETUP & properties.keys():
                self.problems.append(f"stones are set up after move {tree[parent]['ply']}; the rest is skipped")
                return None
            moves = [
                (colour, value) for name, colour in (("B", BLACK), ("W", WHITE)) for value in properties.get(name, [])
            ]
            for colour, value in moves:
                point = self._point(value)
                name = shown(value.decode("utf-8", "replace")) if point is None else to_gtp(point, self.size)
                # if a player moves twice, a pass of the other player is inserted
                if board.to_move != colour and point != PASS:
                    parent = self._add(tree, parent, board, PASS)
                try:
                    if point is None:
                        raise Illegal("not on the board")
                    if board.to_move == colour:
                        parent = self._add(tree, parent, board, point)
                except Illegal as error:
                    ply = tree[parent]["ply"] + 1
                    self.problems.append(f"move {ply}, {name}, is illegal ({error}); the rest is skipped")
                    return None
                if len(tree) >= game_tree.MAX_NODES:
                    return None
            # The nodes before the first move were read as the setup, except the nodes of variations
            self._note(tree[parent], properties)
        return parent

    @staticmethod
    def _add(tree: list[dict[str, Any]], parent: int, board: Board, point: int) -> int:
        board.play(board.to_move, point)
        child_node = node(board, to_gtp(point, board.size), tree[parent]["ply"] + 1)
        tree.append(_with(child_node, len(tree), parent, "", []))
        return len(tree) - 1

    @staticmethod
    def _note(entry: dict[str, Any], properties: Properties) -> None:
        if "C" in properties:
            more = words_of(properties["C"])
            entry["comment"] = f"{entry['comment']}\n{more}".strip()[: game_tree.MAX_COMMENT_LENGTH]
        for name, nag in _MARKS.items():
            if name in properties:
                twice = properties[name][0].strip() == b"2"
                entry["nags"] = sorted({*entry["nags"], nag + 2 if nag < 3 and twice else nag})
        noted: dict[str, list[str]] = entry.get("props", {})
        _keep(noted, properties, _OF_MOVES)
        if noted:
            entry["props"] = noted


def _keep(saved: dict[str, list[str]], properties: Properties, known: set[str]) -> None:
    """Add unknown properties to the properties that are kept. Their values stay as they are between the brackets."""
    for name, values in properties.items():
        if name not in known:
            saved.setdefault(name, []).extend(value.decode("utf-8", "replace") for value in values)


def save_sgf(
    tree: list[game_tree.Written],
    headers: Fields,
    start: GoLine | None,
    assumed: Collection[str] = (),
    notes: Notes | None = None,
) -> str:
    """Return a tree of moves as SGF text. Raises BadRequest for an illegal move or invalid data.

    tree: the nodes, the root first.
    headers: a dict from the names of the game's SGF properties to their values.
    start: a line (a start position and moves) that gives the start position, the komi and the rules. Its moves are
        ignored. None: the root node and the headers give the start position, the komi and the rules.
    assumed: the names of properties that are not written because their values are only assumed: "KM" for the komi, "RU"
        for the rules.
    notes: an analysis to write into the SGF; None for none.
    """
    line = replace(start, moves=()) if start else _root_line(tree[0].fields, headers)
    head = {"FF": "4", "GM": "1", "CA": "UTF-8", "AP": "kibitz"}
    for name in HEADERS:
        if isinstance(value := headers.get(name), str) and value.strip():
            head[name] = clean(value, MAX_VALUE_LENGTH)
    if "KM" in head and interpret_headers({"KM": head["KM"]}, 0, line.size).komi != line.komi:
        del head["KM"]
    head["SZ"] = str(line.size)
    for name, value in (("KM", f"{line.komi:g}"), ("RU", line.rules)):
        if name not in assumed:
            head.setdefault(name, value)
    parts = ["(;" + "".join(f"{name}[{_escaped(value)}]" for name, value in head.items())]
    for name, stones in (("AB", line.black), ("AW", line.white)):
        if stones:
            parts.append(name + "".join(f"[{to_sgf(point)}]" for point in stones))
    if line.black or line.white or line.side == WHITE:
        parts.append(f"PL[{'B' if line.side == BLACK else 'W'}]")
    board = read_start(line)

    def note(index: int, colour: int) -> game_tree.Written:
        return annotate(tree[index], index, notes, colour, line.size, summary.get(index, [])) if notes else tree[index]

    summary = last_words(tree, notes) if notes else {}
    parts.append(_notes(note(0, line.side)))
    # A stack of tasks: a bracket to write, or a node with the position before it.
    todo: list[str | tuple[int, _Fork]] = [")\n"]
    _branch(todo, tree[0].children, board)
    while todo:
        task = todo.pop()
        if isinstance(task, str):
            parts.append(task)
            continue
        index, fork = task
        board = fork.take()
        written, colour = tree[index], board.to_move
        try:
            point = from_gtp(written.move or "", line.size)
            board.play(colour, point)
        except ValueError as error:
            raise BadRequest(f"{shown(written.move or '')}: not a legal move here ({shown(str(error))})") from None
        parts.append(f";{'B' if colour == BLACK else 'W'}[{to_sgf(point)}]{_notes(note(index, colour))}")
        _branch(todo, written.children, board)
    return "".join(parts)


def _branch(todo: list[str | tuple[int, _Fork]], children: list[int], board: Board) -> None:
    """Push the children on the stack. If there are several, each is in brackets."""
    fork = _Fork(board, len(children))
    for child in reversed(children):
        todo += [(child, fork)] if len(children) == 1 else [")", (child, fork), "\n("]


def _notes(written: game_tree.Written) -> str:
    parts = [f"C[{_escaped(written.comment)}]"] if written.comment.strip() else []
    parts += [_WRITTEN[nag] for nag in written.nags if nag in _WRITTEN]
    properties = optional_object(written.fields, "props")
    if not all(isinstance(values, list) for values in properties.values()):
        raise BadRequest("props must be an object whose values are lists")
    for name, values in properties.items():
        if _NAME.fullmatch(name) and name not in _OF_START and values:
            parts.append(name + "".join(f"[{_raw(str(value))}]" for value in values))
    return "".join(parts)


def _raw(value: str) -> str:
    """Return a value as it was read. If it contains an unescaped bracket, the bracket is escaped."""
    return value if _RAW.fullmatch(value) else _escaped(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _root_line(root: Fields, headers: Fields) -> GoLine:
    """Parse the start of a game from the fields of its root node."""
    stones = root.get("stones")
    size = next((size for size in SIZES if isinstance(stones, str) and len(stones) == size * size), 0)
    if not size or not isinstance(stones, str):
        raise BadRequest("tree: its root must have the stones of a board")
    points = (np.arange(size)[:, None] * GRID + np.arange(size)).ravel().tolist()
    black, white = (
        tuple(point for point, stone in zip(points, stones, strict=True) if stone == colour) for colour in "BW"
    )
    info = interpret_headers({name: str(headers.get(name, "")) for name in ("KM", "RU")}, 0, size)
    rules = read_rules(info.rules) if info.rules else _unnamed_rules(len(black))
    return GoLine(size, info.komi, rules, black, white, WHITE if root.get("turn") == "w" else BLACK)
