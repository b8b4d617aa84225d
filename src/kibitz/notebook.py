"""Pictures for notebooks. `kibitz.show` shows a position and its evaluation. `kibitz.moves_by_rating` shows which moves
players of each rating choose.
"""

from __future__ import annotations

import io
import math
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess
from markupsafe import Markup, escape

from kibitz.durable import write_whole
from kibitz.errors import KibitzError, UsageError, need_training, one_line
from kibitz.report.boards import chess as boards
from kibitz.report.boards import go as goboards
from kibitz.report.moves_by_rating import moves_by_rating_svg
from kibitz.text import rounded

if TYPE_CHECKING:
    from kibitz.games.go.rules import Board as GoBoard
    from kibitz.web.chess.line import ChessLine
    from kibitz.web.go.line import GoLine
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line

BOARD = 8 * boards.SQUARE
"""The side length of the board in the picture, in pixels."""
PAD = 12
WIDE = BOARD + 2 * PAD + boards.MARGIN
LETTERS = 54
"""The largest number of characters per line of the text below the board."""
ARROWS, FAINTEST = 3, 0.03
"""The most likely moves get an arrow. ARROWS: the largest number of arrows. FAINTEST: the smallest probability of a
move with an arrow.
"""

_TABLE = (800, 1200, 1600, 2000, 2400, 2800)
"""The ratings in the table of the text."""
_CURVE_LETTERS = 80
"""The largest number of characters per line of the text below curves."""

_INK, _QUIET, _MOVE = "#1c1c1c", "#5a5a5a", "#0067a8"
_STYLE = (
    ".kibitz-show .last{fill:#d9b521;fill-opacity:.5}.kibitz-show .heat{fill:#c22f2f}"
    ".kibitz-show .percent{font:600 15px system-ui,sans-serif;text-anchor:end;fill:#1c1c1c;stroke:#fff;"
    "stroke-width:2.5px;paint-order:stroke}"
)


@dataclass(frozen=True, repr=False)
class Shown:
    """The result of `show`. In notebooks it appears as a picture, elsewhere as text.

    svg: the picture.
    text: the same content as text.
    answer: the evaluation as a dict with the keys below. A value is None if the network does not predict it.

    "white" or "black": the win probability of White in chess, or of Black in Go, 0 to 1. "moves": the moves, the most
    likely first, each with "move", "san" and "p", its probability. "origin": for each of the 64 squares, a1 first, the
    probability that the piece on it moves. "by_rating", for networks with rating inputs: a list of dicts, each with a
    "rating" and the "moves" that are likely at this rating. "owners": the probability that each point will be Black's,
    row by row from the upper left. "score": Black's lead in points.
    """

    svg: str
    text: str
    answer: dict[str, Any] = field(compare=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


def show(position: chess.Board | GoBoard | str, run: str | Path, *, ply: int | None = None) -> Shown:
    """Evaluate a position with a network, and return a picture of the position and its evaluation.

    position: a chess.Board, a Go board (kibitz.games.go.rules.Board; komi 7.5, Chinese rules), or a text: FEN, PGN or
        SGF. The ratings, the time control and the site in the headers of a PGN are inputs of networks with rating
        inputs.
    run: the name of a bundled network, such as "chessnet", or the directory of a network that you trained.
    ply: for a PGN or SGF, how many moves of the main line to play: 0 for the start position, None for the position
        after the last move.

    Raises KibitzError if the text can't be read, if the network doesn't exist, or if the network is for the other game.
    """
    networks = _networks(str(run))
    known = networks.ready(str(run))
    if isinstance(position, str):
        position, line = _read(position, ply)
    elif ply is not None:
        raise UsageError(f"ply works only with a PGN or SGF (got a board and ply {ply}). Leave ply out.")
    else:
        line = None
    if isinstance(position, chess.Board):
        return _chess(networks, known, position, line or chess_line(position))
    return _go(networks, known, position, line)


@dataclass(frozen=True, repr=False)
class MovesByRating:
    """The result of `moves_by_rating`. In notebooks it appears as a picture, elsewhere as text.

    ratings: the ratings, 800 to 2800 in steps of 100. At each of them, both players have the same rating.
    moves: the likely moves, those with the highest average probability first. Each is a dict. "move" and "san" are the
        move in UCI and in standard algebraic notation. "p" is the list of the move's probabilities at these ratings, 0
        to 1. "loss" is the mover's loss of win probability according to the search, or None if the move was not
        searched.
    risk: the probability of a mistake at each rating, 0 to 1. A mistake loses 10 percentage points or more. () if no
        move is legal.
    traps: bad moves (see `moves_by_rating`) that weaker players choose, the most frequent first. Each is a dict with
        "move", "san", "loss", "weak_rating" and "strong_rating", and with two shares. "weak" and "strong" are the
        shares of players with these two ratings who choose the move.
    title: the description of the position above the curves.
    """

    ratings: tuple[int, ...]
    moves: tuple[dict[str, Any], ...]
    risk: tuple[float | None, ...]
    traps: tuple[dict[str, Any], ...]
    title: str

    @property
    def text(self) -> str:
        """The result as text: a table of the moves' probabilities at some ratings, the probability of a mistake, and
        the traps.
        """
        if not self.moves:
            return f"{self.title}\nNo move is legal."
        some = [self.ratings.index(rating) for rating in _TABLE]
        head = f"{'rating':<10}" + "".join(f"{rating:>7}" for rating in _TABLE)
        rows = [(move["san"], move["p"]) for move in self.moves]
        if self.risk:
            rows.append(("mistake", self.risk))
        lines = [
            f"{name:<10}" + "".join("      –" if p[at] is None else f"{p[at]:>7.0%}" for at in some) for name, p in rows
        ]
        return "\n".join([self.title, head, *lines, *self._words()])

    @property
    def svg(self) -> str:
        """The picture as SVG. It shows a curve for each likely move; the curves of traps are red and dashed."""
        words = [line for text in self._words() for line in textwrap.wrap(text, _CURVE_LETTERS)]
        return str(moves_by_rating_svg(self.as_json(), self.title, words))

    def as_json(self) -> dict[str, Any]:
        """Return the result as a dict for JSON. Its keys are stable: later versions of kibitz don't rename them."""
        return {
            "ratings": list(self.ratings), "moves": list(self.moves), "risk": list(self.risk) or None,
            "traps": list(self.traps),
        }  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The extension of the path selects the format, .svg or .png.

        Raises UsageError for any other extension. Raises KibitzError if the file can't be written, or for .png if the
        extra `train` is not installed.
        """
        target = Path(path)
        kind = check_picture(target)
        if kind == ".svg":
            data = self.svg.encode()
        else:
            from kibitz.report.curves import moves_by_rating_png

            words = [line for text in self._words() for line in textwrap.wrap(text, _CURVE_LETTERS)]
            data = moves_by_rating_png(self.as_json(), self.title, words)
        try:
            write_whole(target, data)
        except OSError as error:
            raise KibitzError(f"{target}: {one_line(error)}. Choose another file.") from None

    def _words(self) -> list[str]:
        """Return a sentence for each trap."""
        return [
            f"Trap: {trap['san']} loses {100 * trap['loss']:.0f} percentage points. {trap['weak']:.0%} of players rated"
            f" {trap['weak_rating']} and {trap['strong']:.0%} of players rated {trap['strong_rating']} choose it."
            for trap in self.traps
        ]

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


def check_picture(path: Path) -> str:
    """Check that a picture can be written to this path, and return the extension, .svg or .png.

    Raises UsageError for any other extension, and KibitzError for .png if the extra `train` is not installed.
    """
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise UsageError(f"a picture must be .svg or .png (got {path.name}). Choose another name.")
    if kind == ".png":
        need_training("a PNG")
    return kind


def moves_by_rating(position: chess.Board | str, run: str | Path = "human", *, ply: int | None = None) -> MovesByRating:
    """Predict the moves that players rated 800 to 2800 choose in a chess position, and find traps: bad moves that
    weaker players choose.

    position: a chess.Board, a FEN or a PGN. The time control and the site in the headers of a PGN are inputs of the
        network.
    run: a network with rating inputs: the name of a bundled network, or the directory of a network that you trained.
    ply: for a PGN, how many moves of the main line to play: 0 for the start position, None for the position after the
        last move.

    A trap is a move that lowers the mover's win probability by 20 percentage points or more, according to a search with
    the network. At one or more of the ratings up to 1400, at least 10% of the players choose it. At a rating of 2200,
    at most half as many players choose it. The page of `kibitz board` shows the same numbers.

    Raises KibitzError for a text that can't be read, for a Go position, and for a network without rating inputs.

    >>> import kibitz
    >>> found = kibitz.moves_by_rating("1. e4 e5 2. Nf3 *")
    >>> found.ratings[0], found.ratings[-1], found.moves[0]["san"], len(found.moves[0]["p"])
    (800, 2800, 'Nc6', 21)
    """
    _networks(str(run)).ready(str(run))
    line: ChessLine | GoLine | None = None
    board: chess.Board | GoBoard
    if isinstance(position, str):
        board, line = _read(position, ply)
    else:
        board = position
        if ply is not None:
            raise UsageError(f"ply works only with a PGN (got a board and ply {ply}). Leave ply out.")
    if not isinstance(board, chess.Board):
        raise UsageError("the moves by rating are available only for chess (got a Go position). Give a chess position.")
    return moves_by_rating_of(line or chess_line(board), board, run)


def moves_by_rating_of(line: Line, board: chess.Board, run: str | Path) -> MovesByRating:
    """Return the result of `moves_by_rating` for the last position of a chess line (a start position and moves). board:
    this position, with the moves of its game. run: as in `moves_by_rating`.
    """
    from kibitz.analysis.chess.traps import find_traps
    from kibitz.web.chess.candidates import search
    from kibitz.web.chess.ratings import by_rating, likely_moves

    networks = _networks(str(run))
    known = networks.ready(str(run))
    line.check(known)
    searched = search(networks, known, line, lambda interim: None, threading.Event())
    values = {one["moves"][0]: one["white"] for one in (searched or {"lines": []})["lines"]}
    sign = 1 if board.turn == chess.WHITE else -1
    best = max((sign * value for value in values.values()), default=0.0)
    losses = {move: best - sign * value for move, value in values.items()}
    found = by_rating(networks, known, line)
    shares = {move["move"]: move["p"] for move in found["moves"]}
    sans = {move["move"]: move["san"] for move in found["moves"]}
    last = board.peek() if board.move_stack else None
    return MovesByRating(
        tuple(found["ratings"]),
        tuple({**move, "loss": _rounded(losses.get(move["move"]))} for move in likely_moves(found)),
        tuple(searched["risk"] if searched else ()),
        tuple(
            {"move": trap.move, "san": sans[trap.move], **trap.as_json()}
            for trap in find_traps(found["ratings"], shares, losses)
        ),
        f"{_when(board, last)}{'White' if board.turn else 'Black'} to move.",
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else rounded(value, 4)


@lru_cache(maxsize=8)
def _networks(run: str) -> NetworkRegistry:
    """Return a cached registry with the loaded network. The network is loaded again if its weights change."""
    from kibitz.web.networks import NetworkRegistry

    return NetworkRegistry([run])


def _read(text: str, ply: int | None) -> tuple[chess.Board | GoBoard, Any]:
    """Parse a text. Returns its position and the line that leads to the position. A chess line has the headers and the
    ratings of its game.
    """
    from kibitz.web.files import load
    from kibitz.web.positions import read_line

    record = load({"text": text})
    moves: list[str] = []
    last = 0
    for node in record["tree"]:  # a parent comes before its children, the main one before the others
        if node["parent"] == last and len(moves) < node["ply"]:
            moves.append(node["move"])
            last = node["id"]
    if ply is not None and not 0 <= ply <= len(moves):
        raise UsageError(f"ply must be from 0 to {len(moves)} in this game (got {ply})")
    line: Any = read_line({"line": {**record["line"], "moves": moves[:ply]}})
    return line.board(), line.with_headers(record["headers"]) if line.game == "chess" else line


def _chess(networks: NetworkRegistry, known: NetworkInfo, board: chess.Board, line: ChessLine) -> Shown:
    from kibitz.web import answers

    line.check(known)
    ply = len(line.moves)
    (_, [result], _) = answers.analyse(networks, known, line, ply, ply, 0, None)
    last = board.peek() if board.move_stack else None
    words = [f"{_when(board, last)}{'White' if board.turn else 'Black'} to move."]
    if result["white"] is not None:
        words.append(f"{known.name}: {_claim(known)} {result['white']:.0%}.")
    if result["origin"] is not None:
        side = "White" if board.turn else "Black"
        words.append(
            f"{known.name}: {side}'s next move. Red: its origin square, in percent. Arrows: the most likely moves."
        )
        words.append(_first(result["moves"]) or "No move is legal.")
        for one in result.get("by_rating", ()):
            words.append(f"Players of {one['rating']}: {_first(one['moves'])}")
    drawn = boards.board_svg(board.fen(), last.uci() if last else None, result["origin"])
    arrows = _arrows(result["moves"] or [])
    return _picture(drawn, boards.piece_defs(), BOARD + boards.MARGIN, result["white"], "white", words, result, arrows)


def chess_line(board: chess.Board) -> ChessLine:
    """Return the line to a board. If the earlier moves lead to the board, they are included, because they are inputs of
    some networks.
    """
    from kibitz.web.chess.line import ChessLine, read_start

    here = read_start(board.fen()).fen()
    if board.move_stack:
        begun = read_start(board.root().fen())
        line = ChessLine(begun.fen(), tuple(move.uci() for move in board.move_stack))
        if all(_pushed(begun, move) for move in board.move_stack) and begun.fen() == here:
            return line
    return ChessLine(here)


def _pushed(board: chess.Board, move: chess.Move) -> bool:
    """Play a move on a board if it is legal. Returns whether it is legal."""
    if legal := board.is_legal(move):
        board.push(move)
    return legal


def _first(moves: list[dict[str, Any]]) -> str:
    """Return the most likely moves as text: "e4 35%, d4 30%"."""
    return ", ".join(f"{move['san']} {move['p']:.0%}" for move in moves[:5])


def _go(networks: NetworkRegistry, known: NetworkInfo, board: GoBoard, line: GoLine | None) -> Shown:
    from kibitz.games.go.points import BLACK, to_gtp
    from kibitz.games.go.replay import encode_board
    from kibitz.web.go import answers
    from kibitz.web.go.line import GoLine, node

    line = line or GoLine(board.size)
    line.check(known)
    codes, state = encode_board(board)
    [[result]] = answers.results_of(networks.session(known.name), known, line, codes[None], state[None])
    lead, chance, owned, moves = result["score"], result["black"], result["owners"], result["moves"]
    size = board.size
    stones = node(board)["stones"].replace("B", "X").replace("W", "O")
    percents = [f"{100 * p:.0f}" for p in owned]
    rows = range(0, size * size, size)
    last = to_gtp(line.moves[-1], size) if line.moves else None
    position = {
        "size": size,
        "stones": [stones[at : at + size] for at in rows],
        "black_owns": [" ".join(percents[at : at + size]) for at in rows],
    }
    when = f"After move {len(line.moves)}, {last}. " if last else ""
    words = [
        f"{when}{'Black' if board.to_move == BLACK else 'White'} to move.",
        f"{known.name}: {_claim(known)} {chance:.0%};"
        f" {'Black' if lead >= 0 else 'White'} leads by {abs(lead):.1f} points, komi {line.komi:g} counted.",
        *([f"{_first(moves)}."] if moves else []),
        "Squares: predicted owner of each intersection, larger if more certain.",
    ]
    drawn = goboards.board_svg(position, last)
    return _picture(drawn, goboards.board_defs([size]), BOARD, chance, "black", words, result, "")


def _claim(known: NetworkInfo) -> str:
    """Return the meaning of the probability, such as "White's win probability"."""
    return known.claim["name"] if known.claim else ""


def _when(board: chess.Board, last: chess.Move | None) -> str:
    if last is None:
        return ""
    before = board.copy()
    before.pop()
    dots = "." if before.turn else "..."
    return f"After {before.fullmove_number}{dots}{before.san(last) if last else '--'}. "


def _picture(
    board: Markup, shared: Markup, wide: int, chance: float | None, whose: str, words: list[str],
    answer: dict[str, Any], above: str,
) -> Shown:  # fmt: skip
    """Draw the board, a bar with the win probability if there is one, and the text. above: the elements that are drawn
    over the board.
    """
    lines = [line for text in words for line in textwrap.wrap(text, LETTERS) or [""]]
    bar = "" if chance is None else _bar(chance, whose, PAD + BOARD + 8)
    top = PAD + BOARD + (34 if bar else 8)
    tall = top + 17 * len(lines) + PAD
    out = io.StringIO()
    out.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="kibitz-show" width="{WIDE}" height="{tall}"'
        f' viewBox="0 0 {WIDE} {tall}" font-family="system-ui, sans-serif" font-size="12.5"><style>{_STYLE}</style>'
        f'<rect width="{WIDE}" height="{tall}" rx="6" fill="#fff"/>{shared}'
    )
    placed = f'<svg x="{PAD}" y="{PAD}" width="{wide}" height="{BOARD}" '
    out.write(str(board).replace("<svg ", placed, 1))
    out.write(f'<g transform="translate({PAD} {PAD})">{above}</g>{bar}')
    for i, line in enumerate(lines):
        out.write(f'<text x="{PAD}" y="{top + 13 + 17 * i}" fill="{_INK if i else _QUIET}">{escape(line)}</text>')
    out.write("</svg>")
    return Shown(out.getvalue(), "\n".join(words), answer)


def _bar(chance: float, whose: str, y: int) -> str:
    """Draw a bar as wide as the board. Its left part shows the probability of the side `whose`."""
    part = round(BOARD * chance, 1)
    mine, other = ("#fafaf7", "#26282b") if whose == "white" else ("#26282b", "#fafaf7")
    end = part < BOARD / 2  # the number goes where there is more space
    x, anchor, ink = (BOARD - 8, "end", mine) if end else (8, "start", other)
    return (
        f'<g transform="translate({PAD} {y})"><rect width="{BOARD}" height="20" fill="{other}"/>'
        f'<rect width="{part:g}" height="20" fill="{mine}"/>'
        f'<rect width="{BOARD}" height="20" fill="none" stroke="#777"/>'
        f'<text x="{x}" y="15" text-anchor="{anchor}" font-weight="600" fill="{ink}">'
        f"{whose.capitalize()} {chance:.0%}</text></g>"
    )


def _arrows(moves: list[dict[str, Any]]) -> str:
    """Draw arrows for the most likely moves, with the arrow of the first move on top, and their percentages."""
    some = [move for move in moves[:ARROWS] if move["p"] >= FAINTEST][::-1]
    return "".join(_arrow(move["move"], move["p"]) for move in some) + "".join(_labels(some))


def _ends(move: str) -> tuple[float, float, float, float]:
    """Return the centers of both squares of a move."""
    xy = []
    for name in (move[:2], move[2:4]):
        square = chess.parse_square(name)
        xy += [
            (chess.square_file(square) + 0.5) * boards.SQUARE,
            (7.5 - chess.square_rank(square)) * boards.SQUARE,
        ]
    return xy[0], xy[1], xy[2], xy[3]


def _arrow(move: str, chance: float) -> str:
    """Draw an arrow whose width shows the probability, from the edge of the first square to the center of the second
    square.
    """
    x0, y0, x1, y1 = _ends(move)
    long = math.hypot(x1 - x0, y1 - y0)
    dx, dy = (x1 - x0) / long, (y1 - y0) / long
    half = 1.5 + 4.5 * chance**0.5
    head = 2.2 * half + 3
    points = [(12, half), (long - 1.6 * head, half), (long - 1.6 * head, head), (long, 0)]
    outline = points + [(along, -across) for along, across in points[2::-1]]
    drawn = " ".join(f"{x0 + a * dx - b * dy:.1f},{y0 + a * dy + b * dx:.1f}" for a, b in outline)
    return f'<polygon points="{drawn}" fill="{_MOVE}" fill-opacity="{0.45 + 0.4 * chance:.2f}"/>'


def _labels(moves: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the percentages of the moves, in the upper half of their target squares. If several moves have the same
    target, the percentages of later moves are lower on the square.
    """
    heights: dict[str, int] = {}
    for move in reversed(moves):
        _, _, x, y = _ends(move["move"])
        target = move["move"][2:4]
        y += 16 * heights.get(target, 0) - 12
        heights[target] = heights.get(target, 0) + 1
        yield (
            f'<g><rect x="{x - 17:g}" y="{y - 8:g}" width="34" height="16" rx="4" fill="{_MOVE}"/>'
            f'<text x="{x:g}" y="{y + 4.5:g}" font-size="12" font-weight="600" text-anchor="middle" fill="#fff">'
            f"{move['p']:.0%}</text></g>"
        )
