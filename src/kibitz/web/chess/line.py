"""Lines of chess: a start position and moves. This module reads lines from requests of the browser page of `kibitz
board`, and converts their positions to dicts for the page.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess import start
from kibitz.games.chess.io.san import Ambiguous, claims_capture, english_of, find_move, read_word
from kibitz.text import shown
from kibitz.web.params import BadRequest, Fields, check_game, text, words

if TYPE_CHECKING:
    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo
    from kibitz.web.players import PlayRequest
    from kibitz.web.torch_process import TorchSession

MAX_PLIES = 10_000
_UCI = re.compile(r"[a-h][1-8][a-h][1-8][nbrq]?")
NULL = "0000"
"""A null move in UCI notation."""
INPUT_HEADERS = ("Event", "Site", "TimeControl")
"""The names of the headers that determine a game's speed and rating scale."""


@dataclass(frozen=True)
class ChessLine:
    """A line of chess: a start position and legal moves from it.

    fen: the start position as a normalized FEN. moves: the moves in UCI notation, in which "0000" is a null move.
    ratings: White's and Black's rating; 0 if unknown. headers: the game's headers that are inputs of networks (see
    INPUT_HEADERS), as pairs of name and value.
    """

    game: ClassVar[Literal["chess"]] = "chess"
    fen: str
    moves: tuple[str, ...] = ()
    ratings: tuple[int, int] = (0, 0)
    headers: tuple[tuple[str, str], ...] = ()

    def start(self) -> chess.Board:
        """Return the start position of the line as a board."""
        return chess.Board(self.fen)

    def board(self) -> chess.Board:
        """Return the last position of the line (a start position and moves) as a board. The board's list `move_stack`
        has the moves of the line.
        """
        board = self.start()
        for move in self.moves:
            board.push(chess.Move.from_uci(move))
        return board

    def since_null(self) -> chess.Board:
        """Return the last position of the line (a start position and moves) as a board. The board's list `move_stack`
        has only the moves after the last null move, because searches don't support null moves.
        """
        board = self.start()
        for move in self.moves:
            board.push(chess.Move.from_uci(move))
            if move == NULL:
                board.clear_stack()
        return board

    def boards(self) -> Iterator[chess.Board]:
        """Yield every position of the line (a start position and moves), from the start position on. The same board
        object is yielded each time, after one more move on it.
        """
        board = self.start()
        yield board
        for move in self.moves:
            board.push(chess.Move.from_uci(move))
            yield board

    def as_json(self) -> dict[str, Any]:
        """Return the line (a start position and moves) as a dict. The dict has the same fields as a line in a request
        of the browser page of `kibitz board`.
        """
        ratings = {"ratings": list(self.ratings)} if any(self.ratings) else {}
        headers = {"headers": dict(self.headers)} if self.headers else {}
        return {"game": "chess", "fen": self.fen, "moves": list(self.moves), **ratings, **headers}

    def with_headers(self, headers: Mapping[str, str]) -> ChessLine:
        """Return the same line (a start position and moves) with the inputs of networks in the headers of its game: the
        ratings and INPUT_HEADERS.
        """
        from chess.pgn import Headers

        from kibitz.analysis.chess.ratings import ratings_of

        return replace(self, ratings=ratings_of(Headers(dict(headers))), headers=_headers(dict(headers)))

    def rows(self, first: int, last: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the positions from ply `first` to ply `last` as input arrays of a network: `codes`, uint8 [n, 64], and
        `state`, uint8 [n, 4], see `kibitz.PositionArrays`.
        """
        from kibitz.games.chess.moves import from_move
        from kibitz.games.chess.replay import encode_board, replay

        # After each null move a new game begins, because a replay doesn't support null moves
        cuts = [0, *(ply for ply, move in enumerate(self.moves, 1) if move == NULL)]
        starts = [encode_board(board) for ply, board in enumerate(self.boards()) if ply in set(cuts)]
        packed = [from_move(chess.Move.from_uci(move)) for move in self.moves if move != NULL]
        offsets = np.array([*(cut - i for i, cut in enumerate(cuts)), len(packed)])
        # The position before a null move is the end of a game. The position after it is the start of the next game
        plies = np.arange(first, last + 1)
        games = np.searchsorted(cuts, plies, "right") - 1
        indices = plies - np.array(cuts)[games]
        order = np.arange(len(cuts), dtype=np.int32)
        return replay(np.array(packed, np.uint16), offsets, np.stack(starts), order, games, indices)

    def conditioned(self, usual: Mapping[str, int]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        from kibitz.web.chess.answers import telling

        last = len(self.moves)
        codes, state = self.rows(last, last)
        return codes, telling(usual, self, state, last)(self.ratings)

    def nodes(self) -> list[dict[str, Any]]:
        """Return one dict for each position of the line, for the browser page of `kibitz board` (see `node`)."""
        board = self.start()
        nodes = [node(board)]
        for ply, name in enumerate(self.moves, 1):
            san = board.san_and_push(chess.Move.from_uci(name))
            nodes.append(node(board, name, san, ply))
        return nodes

    def after(self, move: str) -> dict[str, Any]:
        """Return the position after one more move as a dict for the browser page of `kibitz board`. move: in UCI
        notation or SAN. Raises BadRequest if the move is invalid or illegal.
        """
        board = self.board()
        played = read_move(board, move)
        san = board.san_and_push(played)
        return node(board, played.uci(), san, len(self.moves) + 1)

    def check(self, network: NetworkInfo) -> None:
        """Raise BadRequest if the network is not for chess."""
        check_game(network, self.game)

    def results(
        self, session: Session | TorchSession, network: NetworkInfo, first: int, last: int
    ) -> Iterator[list[dict[str, Any]]]:
        from kibitz.web.chess import answers

        return answers.results(session, network, self, first, last)

    def occlusion(self, session: Session, network: NetworkInfo) -> dict[str, Any]:
        from kibitz.web.chess.occlusion import occlusion

        return occlusion(session, network, self)

    def think(
        self,
        player: Callable[[], Any],
        request: PlayRequest,
        report: Callable[[Mapping[str, Any]], None],
        stop: threading.Event,
    ) -> str | None:
        from kibitz.web.chess import play

        return play.think(player, self, request, report, stop)


def read_start(fen: str) -> chess.Board:
    """Parse a FEN and return its board. Castling and en-passant rights that are impossible in the position are removed.
    Raises BadRequest for an invalid FEN.
    """
    try:
        return start.read_fen(fen)
    except start.BadStart as error:
        raise BadRequest(str(error)) from None


def read_line(fields: Fields) -> ChessLine:
    """Return the line in a request: its start position, moves, ratings and headers. fields: the JSON of the request.
    Raises BadRequest for an invalid FEN, or for an invalid or illegal move, which the message quotes.
    """
    start = read_start(text(fields, "fen", chess.STARTING_FEN))
    fen = start.fen()
    moves = words(fields, "moves", MAX_PLIES)
    for ply, name in enumerate(moves, 1):
        start.push(_legal(start, name, f"move {ply}, "))
    return ChessLine(fen, tuple(moves), _ratings(fields.get("ratings", [0, 0])), _headers(fields.get("headers", {})))


def _headers(headers: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise BadRequest("headers must be an object of strings")
    return tuple((name, headers[name]) for name in INPUT_HEADERS if name in headers)


def _ratings(ratings: object) -> tuple[int, int]:
    from kibitz.analysis.chess.limits import HIGHEST

    if (
        isinstance(ratings, list)
        and len(ratings) == 2
        and all(type(each) is int and 0 <= each <= HIGHEST for each in ratings)
    ):
        return ratings[0], ratings[1]
    raise BadRequest(f"ratings must be two whole numbers up to {HIGHEST}: White's and Black's, 0 if unknown")


def read_move(board: chess.Board, name: str) -> chess.Move:
    """Parse a move in UCI notation or SAN. Raises BadRequest if it is invalid or illegal, or if it is written as a
    capture and captures nothing.
    """
    name = name.strip()
    if _UCI.fullmatch(name.lower()) or name == NULL:
        return _legal(board, name.lower(), "")
    core = read_word(name[:20]).core
    moves: set[chess.Move | None] = set()
    try:
        if (move := find_move(board, core)) is not None:  # compared with None, because a null move is false
            return _as_written(board, move, core, name)
        moves = {find_move(board, core, letters) for letters in english_of([core])} - {None}
    except Ambiguous:
        raise BadRequest(f"{shown(name)} is ambiguous. Add the square from which the piece moves") from None
    if len(moves) != 1:
        raise BadRequest(f"{shown(name)} is an illegal move here")
    return _as_written(board, moves.pop() or chess.Move.null(), core, name)


def _as_written(board: chess.Board, move: chess.Move, core: str, name: str) -> chess.Move:
    """Return the move. Raises BadRequest if its name is that of a capture, and it captures nothing."""
    if claims_capture(core) and not board.is_capture(move):
        raise BadRequest(f"{shown(name)} is not a capture here")
    return move


def _legal(board: chess.Board, name: str, where: str) -> chess.Move:
    if name == NULL:
        if board.is_check():
            raise BadRequest(f"{where}a side in check cannot pass")
        return chess.Move.null()
    if not _UCI.fullmatch(name):
        raise BadRequest(f"{where}{shown(name)} is not a move. Write moves like e2e4 or e7e8q")
    move = chess.Move(
        chess.parse_square(name[:2]),
        chess.parse_square(name[2:4]),
        chess.PIECE_SYMBOLS.index(name[4]) if name[4:] else None,
    )
    if not board.is_legal(move):
        raise BadRequest(f"{where}{name} is illegal here")
    return move


def node(board: chess.Board, move: str | None = None, san: str = "", ply: int = 0) -> dict[str, Any]:
    """Return a position as a dict for the browser page of `kibitz board`: FEN, legal moves and more.

    board: the position. Its list `move_stack` is used to detect repetitions. move: the move that led to it, in UCI
    notation; None for the start position. san: the same move in SAN. ply: the number of moves that led to the position.
    """
    from kibitz.explorer.openings import opening_at

    dests: dict[str, list[str]] = {}
    for legal in board.legal_moves:
        if legal.promotion in (None, chess.QUEEN):  # lists only one of the four promotions on the same square
            dests.setdefault(chess.SQUARE_NAMES[legal.from_square], []).append(chess.SQUARE_NAMES[legal.to_square])
    return {
        "ply": ply,
        "move": move,
        "san": san,
        "turn": "w" if board.turn else "b",
        "end": end_of(board),
        "fen": board.fen(),
        "check": board.is_check(),
        "dests": dests,
        "opening": str(opening_at(board) or ""),
    }


def end_of(board: chess.Board) -> str | None:
    """Return how the game ended in this position, or the draw that a player can claim in it, such as "checkmate" or
    "repetition"; None if the game continues and no draw can be claimed.
    """
    if not any(board.generate_legal_moves()):
        return "checkmate" if board.is_check() else "stalemate"
    if board.is_insufficient_material():
        return "dead"
    if board.halfmove_clock >= 100:
        return "fifty moves"
    if board.halfmove_clock >= 8 and board.is_repetition(3):
        return "repetition"
    return None
