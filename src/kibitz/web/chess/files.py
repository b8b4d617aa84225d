"""Read PGN and FEN into trees of moves for the browser page of `kibitz board`, and write trees as PGN."""

from __future__ import annotations

import re
from typing import Any

import chess
import chess.engine
import chess.pgn

from kibitz.analysis.printing import clean
from kibitz.games.chess.io.blocks import find_games
from kibitz.games.chess.io.exporter import Exporter
from kibitz.games.chess.io.reader import read_game
from kibitz.games.chess.io.tags import read_headers
from kibitz.web import game_tree
from kibitz.web.chess.line import ChessLine, node, read_move, read_start
from kibitz.web.notes import Notes
from kibitz.web.params import BadRequest, Fields, text
from kibitz.web.workers import check_wanted

_PLACEMENT = re.compile(r"(?:[pnbrqkPNBRQK1-9]{1,8}/){4,}[pnbrqkPNBRQK1-9]{1,8}")
"""The beginning of a FEN, valid or not."""
_FEN_PREFIX = re.compile(r"(?:position\s+)?(?:fen|epd)\b\s*[:=]?\s*", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
_RULED = ("SetUp", "FEN", "Variant")
"""Headers that are determined by the start position."""
_COMMAND = re.compile(r"\[%([A-Za-z_]\w{0,29})\s([^\]]*)\]")
"""A command inside a comment, such as "[%clk 0:05:03]"."""
_COMMAND_NAME = re.compile(r"[A-Za-z_]\w{0,29}")
_SHAPE = re.compile(r"[GRYB][a-h][1-8](?:[a-h][1-8])?")
"""A circle or an arrow with its color, such as "Gd4" or "Rb1c3"."""
MAX_SHAPES = 100
MAX_STRAYS = 5
"""The largest number of messages about text between games that is neither a tag nor a move."""
MAX_HEADERS = 200
MAX_VALUE_LENGTH = 1000


def fen_of(words: str) -> str | None:
    """Return the FEN or EPD in a text that contains nothing else; None for any other text. The FEN isn't checked
    completely, so it may be invalid. The text may have underscores in place of spaces.
    """
    line = words.strip().strip("\"'`").strip()
    if len(line) > 300 or "\n" in line:
        return None
    fen = _FEN_PREFIX.sub("", line, count=1)
    return fen if _PLACEMENT.match(fen) else None


LONGEST_WORD = 10_000
"""The largest number of characters without a space in a text with games. With longer words, regular expressions would
take seconds.
"""


def load_fen(fen: str) -> dict[str, Any]:
    """Return the response of /api/load for a FEN: a tree of moves that has only this position. Raises BadRequest for an
    invalid FEN.
    """
    board = read_start(fen)
    return game_tree.loaded(ChessLine(board.fen()), {}, [_with(node(board), 0, None, "", [])], [], 1, [])


def _with(node: dict[str, Any], id_: int, parent: int | None, comment: str, nags: list[int]) -> dict[str, Any]:
    """Return the node with its place in the tree. The comment is divided into text, commands and drawings."""
    commands: dict[str, str] = {}
    shapes: list[str] = []
    for name, value in _COMMAND.findall(comment):
        drawn = [shape.strip() for shape in value.split(",")]
        if name in ("csl", "cal") and all(_SHAPE.fullmatch(shape) for shape in drawn):
            shapes += drawn
        else:
            commands[name] = value.strip()
    words = [part.strip() for part in _COMMAND.sub("\0", comment).split("\0")]
    text = " ".join(filter(None, words))[: game_tree.MAX_COMMENT_LENGTH]
    found = {**node, "id": id_, "parent": parent, "comment": text, "nags": nags}
    return found | ({"commands": commands} if commands else {}) | ({"shapes": shapes} if shapes else {})


def load_pgn(text: str, index: int) -> dict[str, Any]:
    """Return the response of /api/load for a PGN text. It has the game with this index (from 0), and the titles of the
    first 500 games. Raises BadRequest if there is no such game, or if the only game is invalid.
    """
    data = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")
    if max(map(len, data.split()), default=0) > LONGEST_WORD:
        raise BadRequest(
            f"this is not a game: it contains a word of more than {LONGEST_WORD:,} characters. Use PGN, SGF or FEN"
        )
    block = find_games(data)
    count = len(block)
    if count == 0:
        raise BadRequest("no game found in this text. Use PGN, SGF or FEN")
    if index >= count:
        raise BadRequest(f"the text has no game {index + 1}. Choose a game from 1 to {count:,}")
    titles = [_title(block.texts(i)[0], i) for i in range(min(count, game_tree.MAX_GAMES))]
    try:
        line, headers, tree, problems = _game(*block.texts(index))
    except BadRequest as error:
        if count == 1:
            raise
        line, headers, problems = ChessLine(chess.STARTING_FEN), {}, [f"game {index + 1} cannot be shown: {error}"]
        tree = [_with(node(chess.Board()), 0, None, "", [])]
    problems += [
        f"line {stray.line}: text that belongs to no game: {stray.words}"
        for stray in block.strays[:MAX_STRAYS]
        if not stray.words.startswith("%")
    ]
    return game_tree.loaded(line, headers, tree, titles, count, problems)


def _title(head: str, index: int) -> str:
    check_wanted()
    known = {name: clean(value) for name, value in read_headers(head).items() if value.strip(" ?.")}
    players = " – ".join(known.get(side, "?") for side in ("White", "Black"))
    rest = [known[name] for name in ("Result", "Event", "Date") if name in known]
    return ", ".join([players if players != "? – ?" else f"game {index + 1}", *rest])


def _game(head: str, moves: str) -> tuple[ChessLine, dict[str, str], list[dict[str, Any]], list[str]]:
    """Parse one game: its start, headers, tree and problems. Raises BadRequest."""
    record = read_game(head, moves, allow_null=True)
    if record.refused:
        raise BadRequest(record.refused)
    headers = dict(record.game.headers)
    board = read_start(headers.get("FEN", chess.STARTING_FEN))
    problems = [record.problem + "; the moves after it are skipped"] if record.problem else []
    problems += record.notes
    line = ChessLine(board.fen())
    tree = _tree(record.game, board, problems)
    return line, headers, tree, problems


def _tree(game: chess.pgn.Game, board: chess.Board, problems: list[str]) -> list[dict[str, Any]]:
    """Return the nodes of a game. board: the start position; moves are played on it and undone."""
    tree = [_with(node(board), 0, None, game.comment, [])]
    # A stack of tasks: a node to enter with its parent's id, or a move to undo (None).
    todo: list[tuple[chess.pgn.ChildNode, int] | None] = [(child, 0) for child in reversed(game.variations)]
    while todo:
        check_wanted()
        task = todo.pop()
        if task is None:
            board.pop()
            continue
        child, parent = task
        if len(tree) == game_tree.MAX_NODES:
            problems.append(f"only the first {game_tree.MAX_NODES:,} positions are shown")
            break
        ply = tree[parent]["ply"] + 1
        san = board.san_and_push(child.move)
        comment = "\n".join(part for part in (child.starting_comment, child.comment) if part)
        child_node = node(board, child.move.uci(), san, ply)
        nags = sorted(nag for nag in child.nags if 0 <= nag <= game_tree.MAX_NAG)
        tree.append(_with(child_node, len(tree), parent, comment, nags))
        todo.append(None)
        todo += [(grandchild, tree[-1]["id"]) for grandchild in reversed(child.variations)]
    return tree


def save_pgn(tree: list[game_tree.Written], headers: Fields, start: str | None, notes: Notes | None = None) -> str:
    """Return a tree of moves as PGN text. headers: the PGN tags. Raises BadRequest for an illegal move or invalid data.

    tree: the nodes, the root first.
    start: the FEN of the root position. None for the FEN in the root node or, if it has none, the standard start
        position.
    notes: the results of an analysis to write into the PGN; None for none.
    """
    fen = start or text(tree[0].fields, "fen", "") or chess.STARTING_FEN
    board = read_start(fen)
    game = chess.pgn.Game()
    for name, value in list(headers.items())[:MAX_HEADERS]:
        if _NAME.fullmatch(name) and isinstance(value, str) and name not in _RULED:
            # Many programs can't read quotation marks inside a header.
            game.headers[name] = clean(value, MAX_VALUE_LENGTH).replace('"', "'")
    if game.headers["Result"] not in _RESULTS:
        game.headers["Result"] = "*"
    if board.fen() != chess.STARTING_FEN:
        game.setup(board)
    game.comment = _comment(tree[0])
    if notes:
        from kibitz.analysis.chess.notes import note_game

        note_game(game, notes.meaning, notes.checked_by, notes.summary)
    todo: list[tuple[int, chess.pgn.GameNode] | None] = [(child, game) for child in reversed(tree[0].children)]
    while todo:
        task = todo.pop()
        if task is None:
            board.pop()
            continue
        index, parent = task
        written = tree[index]
        move = read_move(board, written.move or "")
        board.push(move)
        child_node = parent.add_variation(move, comment=_comment(written), nags=written.nags)
        if notes and index in notes.moves:
            _note(child_node, board, notes, index)
        todo.append(None)
        todo += [(child, child_node) for child in reversed(written.children)]
    return game.accept(Exporter(columns=80)) + "\n"


def _note(child_node: chess.pgn.ChildNode, board: chess.Board, notes: Notes, index: int) -> None:
    """Add the results of an analysis to the move that led to a position. board: the position after the move. index: the
    index of the move's node in `notes`.
    """
    from kibitz.analysis.chess.notes import centipawns, drop_mark, note_move, unnamed

    found = notes.moves[index]
    drop_mark(child_node)
    score: chess.engine.Score | None = None
    if found.value is not None and not board.is_checkmate():
        if found.mate:
            score = chess.engine.Mate(found.mate)
        else:
            score = chess.engine.Cp(0 if board.is_stalemate() else centipawns(found.value))
    reason, better = notes.reason(index), ""
    if found.mark:
        line, before = list[str](), child_node.parent.board()
        for name in found.line or (found.best,):
            try:
                line.append(before.san_and_push(before.parse_san(name)))
            except ValueError:
                break
        better = unnamed(line, child_node.san(), reason)
    note_move(child_node, score, found.mark, reason, better)


def _comment(written: game_tree.Written) -> str:
    """Format the comment, the shapes and the commands of a node in one line that every program can read."""
    shapes = [] if written.fields.get("shapes") is None else written.fields["shapes"]
    if not isinstance(shapes, list) or not all(isinstance(each, str) and _SHAPE.fullmatch(each) for each in shapes):
        raise BadRequest("shapes must be a list of circles and arrows like Gd4 and Rb1c3")
    parts = [written.comment]
    for name, length in (("csl", 3), ("cal", 5)):
        if drawn := [shape for shape in shapes[:MAX_SHAPES] if len(shape) == length]:
            parts.append(f"[%{name} {','.join(drawn)}]")
    for name, value in game_tree.texts(written.fields, "commands").items():
        if _COMMAND_NAME.fullmatch(name):
            parts.append(f"[%{name} {re.sub(r'[]{}]', '', value)}]")
    return " ".join(" ".join(parts).split())
