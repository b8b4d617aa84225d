"""Lines of Go: a board, setup stones and moves. This module reads lines from requests of the browser page of `kibitz
board`, and converts their positions to dicts for the page.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import BLACK, PASS, SIZES, WHITE, from_gtp, to_gtp
from kibitz.games.go.replay import encode_board
from kibitz.games.go.rules import CELL, COLOUR, Board, Illegal, is_suicide, place, position_hash
from kibitz.games.go.rulesets import MAX_KOMI, NAMED, Rules, named
from kibitz.kernels import kernel
from kibitz.play.go.ownership import points_of, with_board_inputs, without_early_passes
from kibitz.play.go.thought import Terms
from kibitz.text import shown
from kibitz.web.params import BadRequest, Fields, check_game, choice, number, optional_object, text, whole, words

if TYPE_CHECKING:
    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo
    from kibitz.web.players import PlayRequest
    from kibitz.web.torch_process import TorchSession

MAX_PLIES = 10_000
DEFAULT_RULES = "chinese"
_STONES = np.frombuffer(b".BW.", np.uint8)
_FLAGS = np.frombuffer(b"01", np.uint8)


@dataclass(frozen=True)
class GoLine:
    """A line of Go: a start position and moves from it that are legal by its rules.

    size: the board size.
    komi: the komi in points.
    rules: the name of a ruleset in KataGo, such as "chinese".
    black, white: the intersections of the setup stones, each as row · 19 + column.
    side: the color that moves first: 1 for Black, 2 for White.
    moves: the moves, each as row · 19 + column, or PASS (361).
    """

    game: ClassVar[Literal["go"]] = "go"
    size: int = 19
    komi: float = 7.5
    rules: str = DEFAULT_RULES
    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    side: int = BLACK
    moves: tuple[int, ...] = ()

    @property
    def law(self) -> Rules:
        """The rules of the game, from the name in `rules`."""
        return named(self.rules)

    @property
    def handicap(self) -> int:
        """The number of handicap stones. Setup stones are handicap stones if Black has two or more, White has none, and
        White moves first.
        """
        return len(self.black) if len(self.black) > 1 and not self.white and self.side == WHITE else 0

    @property
    def terms(self) -> Terms:
        """The scoring method, and the komi with handicap compensation, from which the lead is computed."""
        return Terms.by(self.law, self.komi, self.handicap)

    def start(self) -> Board:
        """Return the start position of the line as a board."""
        board = Board(self.size, suicide=self.law.suicide, superko=self.law.ko == "POSITIONAL")
        for colour, stones in ((BLACK, self.black), (WHITE, self.white)):
            for point in stones:
                board.put(colour, point)
        board.to_move = self.side
        return board

    def board(self) -> Board:
        """Return the last position of the line (a start position and moves) as a board."""
        board = self.start()
        for point in self.moves:
            board.play(board.to_move, point)
        return board

    def as_json(self) -> dict[str, Any]:
        """Return the line (a start position and moves) as a dict with the fields that requests of the browser page of
        `kibitz board` have for it.
        """
        return {
            "game": "go",
            "size": self.size,
            "komi": self.komi,
            "rules": self.rules,
            "setup": {
                name: [to_gtp(point, self.size) for point in stones]
                for name, stones in (("B", self.black), ("W", self.white))
            },
            "side": "b" if self.side == BLACK else "w",
            "moves": [to_gtp(point, self.size) for point in self.moves],
        }

    def rows(self, first: int, last: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the positions from ply `first` to ply `last` as input arrays of a network: `codes`, uint8 [n, 361],
        and `state`, uint8 [n, 4], see `kibitz.PositionArrays`.
        """
        board = self.start()
        rows = [encode_board(board)] if first == 0 else []
        for ply, point in enumerate(self.moves[:last], 1):
            board.play(board.to_move, point)
            if ply >= first:
                rows.append(encode_board(board))
        return np.stack([codes for codes, _ in rows]), np.stack([state for _, state in rows])

    def conditioned(self, usual: Mapping[str, int]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        last = len(self.moves)
        codes, state = self.rows(last, last)
        return codes, with_board_inputs(without_early_passes(codes, state), usual, self.terms)

    def nodes(self) -> list[dict[str, Any]]:
        """Return one dict for each position of the line, for the browser page of `kibitz board` (see `node`)."""
        board = self.start()
        nodes = [node(board)]
        for ply, point in enumerate(self.moves, 1):
            board.play(board.to_move, point)
            nodes.append(node(board, to_gtp(point, self.size), ply))
        return nodes

    def after(self, move: str) -> dict[str, Any]:
        """Return the position after one more move as a dict for the browser page of `kibitz board`. move: in GTP
        notation. Raises BadRequest if the move is invalid or illegal.
        """
        board = self.board()
        point = read_point(move, self.size)
        _play(board, point, "")
        return node(board, to_gtp(point, self.size), len(self.moves) + 1)

    def check(self, network: NetworkInfo) -> None:
        """Raise BadRequest if the network is not for Go, or does not support this board size."""
        check_game(network, self.game)
        if self.size not in network.sizes:
            raise BadRequest(
                f"{network.name} supports boards of size {', '.join(map(str, network.sizes))}, not {self.size}"
            )

    def results(
        self, session: Session | TorchSession, network: NetworkInfo, first: int, last: int
    ) -> Iterator[list[dict[str, Any]]]:
        from kibitz.web.go import answers

        return answers.results(session, network, self, first, last)

    def occlusion(self, session: Session, network: NetworkInfo) -> dict[str, Any]:
        from kibitz.web.go.occlusion import occlusion

        return occlusion(session, network, self)

    def think(
        self,
        player: Callable[[], Any],
        request: PlayRequest,
        report: Callable[[Mapping[str, Any]], None],
        stop: threading.Event,
    ) -> str:
        from kibitz.web.go import play

        return play.think(player, self, request, report, stop)


def read_line(fields: Fields) -> GoLine:
    """Return the line in a request: board size, komi, rules, setup stones and moves. fields: the JSON of the request.
    Raises BadRequest for invalid data, or for an invalid or illegal move, which the message quotes.
    """
    size = whole(fields, "size", 19, 1, 1000)
    if size not in SIZES:
        raise BadRequest(f"the size of the board must be one of {', '.join(map(str, SIZES))} (got {size})")
    komi = number(fields, "komi", 7.5, -MAX_KOMI, MAX_KOMI)
    setup = optional_object(fields, "setup")
    black, white = (tuple(read_point(word, size) for word in words(setup, name, size * size)) for name in "BW")
    side = BLACK if choice(fields, "side", ("b", "w"), "b") == "b" else WHITE
    line = GoLine(size, komi or 0.0, read_rules(text(fields, "rules", DEFAULT_RULES)), black, white, side)
    board = read_start(line)
    moves = []
    for ply, word in enumerate(words(fields, "moves", MAX_PLIES), 1):
        point = read_point(word, size, f"move {ply}, ")
        _play(board, point, f"move {ply}, ")
        moves.append(point)
    return GoLine(size, line.komi, line.rules, black, white, side, tuple(moves))


def read_rules(name: str) -> str:
    """Convert the name of a ruleset to KataGo's spelling. Raises BadRequest for an unknown ruleset."""
    words_ = "-".join(name.lower().replace("_", " ").split())
    if words_ not in NAMED:
        raise BadRequest(f"rules must be one of {', '.join(NAMED)} (got {shown(name)})")
    return words_


def read_start(line: GoLine) -> Board:
    """Return the board with the setup stones of a line (a start position and moves). Raises BadRequest if they can't
    all be on a board, for example because a chain has no liberty.
    """
    try:
        board = line.start()
    except Illegal as error:
        raise BadRequest(f"these stones cannot be set up: {error}") from None
    stones = int(np.isin(board.colours(), (BLACK, WHITE)).sum())
    if stones != len(line.black) + len(line.white):
        raise BadRequest("these stones cannot be set up: a chain has no liberty")
    return board


def read_point(word: str, size: int, where: str = "") -> int:
    """Return the intersection of a vertex such as "D4" as the integer row · 19 + column, counted from the upper left,
    for all board sizes. Return PASS (361) for "pass". Raises BadRequest for any other text.

    word: the vertex. size: the board size. where: the beginning of the error message.
    """
    try:
        point = from_gtp(word, size)
    except ValueError:
        if word.strip()[:1].upper() == "I":
            problem = (
                f"{where}{shown(word)} is not on a board of size {size}. The columns of a Go board skip the letter I"
            )
        else:
            problem = f"{where}{shown(word)} is not on a board of size {size}"
        raise BadRequest(problem) from None
    return point


def _play(board: Board, point: int, where: str) -> None:
    try:
        board.play(board.to_move, point)
    except Illegal as error:
        raise BadRequest(f"{where}{to_gtp(point, board.size)} is illegal here ({error})") from None


@kernel
def _legal(board, cells, colour, ko, suicide, before, flags):  # type: ignore[no-untyped-def]
    """Flag the cells where a color may play, in flags, uint8 [size²].

    board: int16 [7, 441]. before: uint64, hashes of positions that may not recur; empty for none.
    """
    after = np.empty_like(board)
    for i in range(cells.shape[0]):
        cell = np.int64(cells[i])
        flags[i] = 0
        if board[COLOUR, cell] != 0 or cell == ko:
            continue
        if not suicide and is_suicide(board, cell, colour):
            continue
        flags[i] = 1
        if before.shape[0]:
            after[:] = board
            place(after, cell, colour, 0)
            now = position_hash(after)
            for k in range(before.shape[0]):
                if before[k] == now:
                    flags[i] = 0
                    break


def legal(board: Board) -> NDArray[np.uint8]:
    """Return for each point whether the side to move may play there, uint8 [size²], row by row from the upper left.

    The result is the same as that of Board.legal, which is slower.
    """
    cells = CELL[points_of(board.size)]
    flags = np.empty(len(cells), np.uint8)
    before = np.array(sorted(board._before), np.uint64) if board.superko else np.empty(0, np.uint64)
    ko = 0 if board.ko == PASS else int(CELL[board.ko])
    _legal(board.board, cells, board.to_move, ko, board.suicide, before, flags)
    return flags


def node(board: Board, move: str | None = None, ply: int = 0) -> dict[str, Any]:
    """Return a position as a dict for the browser page of `kibitz board`. move: the move that led to the position, in
    GTP notation; None for the start position. ply: the number of moves that led to the position.

    In the result, "stones" and "legal" have one character per intersection, row by row from the upper left. "stones"
    has "B", "W", or "." for no stone. "legal" has "1" if the side to move may play there, else "0". "captured" has the
    number of stones that each side has captured.
    """
    colours = board.colours()[points_of(board.size)]
    return {
        "ply": ply,
        "move": move,
        "san": move or "",
        "turn": "b" if board.to_move == BLACK else "w",
        "end": "passes" if board.passes >= 2 else None,
        "stones": _STONES[colours].tobytes().decode(),
        "legal": _FLAGS[legal(board)].tobytes().decode(),
        "captured": {"B": board.captured[WHITE], "W": board.captured[BLACK]},
    }
