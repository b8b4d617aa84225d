"""Parse start positions in the notations FEN and EPD. Every part of kibitz reads FENs with `read_fen`."""

from __future__ import annotations

import re

import chess

from kibitz.text import shown

MAX_FEN_LENGTH = 200
MAX_HALFMOVES, MAX_FULLMOVES = 1000, 10_000
_PREFIX = re.compile(r"^(?:position\s+)?(?:fen|epd)\b\s*[:=]?\s*", re.IGNORECASE)
_QUOTES = "\"'“”„`"
_START_PAWNS = chess.BB_RANK_2, chess.BB_RANK_7

_IMPOSSIBLE = {
    chess.STATUS_NO_WHITE_KING: "White has no king",
    chess.STATUS_NO_BLACK_KING: "Black has no king",
    chess.STATUS_TOO_MANY_KINGS: "one color has more than one king",
    chess.STATUS_TOO_MANY_WHITE_PIECES: "White has more than 16 pieces",
    chess.STATUS_TOO_MANY_BLACK_PIECES: "Black has more than 16 pieces",
    chess.STATUS_PAWNS_ON_BACKRANK: "a pawn is on the first or last rank",
    chess.STATUS_OPPOSITE_CHECK: "the side that is not to move is in check",
}
"""Faults of a position that make play impossible. Nine queens are not a fault."""


class BadStart(ValueError):
    """Raised for a FEN that can't be parsed, or for a position that can't be played. The message gives the reason in
    one line.
    """


class Chess960Start(BadStart):
    """Raised for a start position of Chess960, which kibitz does not support."""


def read_fen(fen: str) -> chess.Board:
    """Parse a FEN or EPD and return its board. Castling and en-passant rights that are impossible on this board are
    removed.

    Underscores may replace spaces, and the operations of an EPD are ignored. All fields after the board may be missing:
    White is then to move, without castling and en-passant rights. A castling right is possible if the king is on e1 or
    e8 and the rook is in the corner. Raises Chess960Start for a start position of Chess960, and BadStart for any other
    text that isn't a playable position.
    """
    if len(fen) > MAX_FEN_LENGTH:
        raise BadStart(f"the FEN must have at most {MAX_FEN_LENGTH} characters (got {len(fen):,})")
    fields = _fields(fen)
    try:
        board = chess.Board(" ".join(fields[:4]) + " 0 1", chess960=True)
    except ValueError:
        raise BadStart(f"the FEN cannot be read: {_reason(fields)}") from None
    board.halfmove_clock = _count(fields[4:5], 0, MAX_HALFMOVES)
    board.fullmove_number = _count(fields[5:6], 1, MAX_FULLMOVES)
    for fault, why in _IMPOSSIBLE.items():
        if board.status() & fault:
            raise BadStart(f"the FEN is an impossible position: {why}")
    if _is_chess960(board, fields[2]):
        raise Chess960Start("the FEN has castling rights of Chess960, and kibitz supports only standard chess")
    board.chess960 = False
    board.castling_rights = board.clean_castling_rights()
    if board.status() & chess.STATUS_INVALID_EP_SQUARE or not board.has_legal_en_passant():
        board.ep_square = None
    return board


def _reason(fields: list[str]) -> str:
    """Return, in words for users, why python-chess cannot parse the fields of a FEN."""
    if len(fields) < 4:
        return "it is empty"
    ranks, side, castling = fields[0].split("/"), *fields[1:3]
    if len(ranks) != 8:
        return (
            "the board has 1 rank instead of 8" if len(ranks) == 1 else f"the board has {len(ranks)} ranks instead of 8"
        )
    for number, rank in zip(range(8, 0, -1), ranks, strict=True):
        if other := re.search(r"[^1-8pnbrqkPNBRQK~]", rank):
            return f"rank {number} has the letter {shown(other[0])}, which is no piece"
        if (width := sum(int(one) if one.isdigit() else one != "~" for one in rank)) != 8:
            squares = f"rank {number} has {width} squares instead of 8"
            return f"rank {number} has 1 square instead of 8" if width == 1 else squares
        if pair := re.search(r"\d\d", rank):
            return f"rank {number} has {pair[0]}, but empty squares side by side are one number"
    if side not in ("w", "b"):
        return f"the side to move is {shown(side)} instead of w or b"
    if not re.fullmatch(r"-|[KQkqA-Ha-h]{1,4}", castling):
        return f"the castling rights are {shown(castling)} instead of letters of KQkq"
    if not re.fullmatch(r"-|[KQA-H]{0,2}[kqa-h]{0,2}", castling):
        return f"the castling rights are {shown(castling)}, but at most two of White are before at most two of Black"
    return "its fields are not those of a FEN"


def _fields(fen: str) -> list[str]:
    """Split a FEN into its six fields, with default values for missing fields."""
    plain = _PREFIX.sub("", fen.strip().strip(_QUOTES).strip()).strip(_QUOTES)
    fields = plain.replace("_", " ").split()
    side = fields[1].lower()[:1] if len(fields) > 1 else "w"
    castling = fields[2] if len(fields) > 2 else "-"
    if not re.fullmatch(r"-|[KQkqA-Ha-h]{1,4}", castling):
        castling = "-" if re.fullmatch(r"[–—0]+", castling) else castling
    passing = fields[3].lower() if len(fields) > 3 else "-"
    if not re.fullmatch(r"[a-h][36]", passing):
        passing = "-"
    return [*fields[:1], side, castling, passing, *fields[4:6]]


def _count(field: list[str], usual: int, most: int) -> int:
    """Parse a counter of a FEN. Returns `usual` if it is missing, not a number, or the first operation of an EPD."""
    return min(max(usual, int(field[0])), most) if field and re.fullmatch(r"\d{1,9}", field[0]) else usual


def _is_chess960(board: chess.Board, castling: str) -> bool:
    """Return whether castling rights are those of Chess960: letters of files, or a nonstandard start array."""
    unusual = board.chess960 and board.has_chess960_castling_rights()
    if not unusual:
        return False
    if set(castling) - set("KQkq-") and board.clean_castling_rights():
        return True
    return all(
        board.pieces_mask(chess.PAWN, color) == pawns and chess.popcount(board.occupied_co[color] & rank) == 8
        for color, pawns, rank in zip(chess.COLORS, _START_PAWNS, (chess.BB_RANK_1, chess.BB_RANK_8), strict=True)
    )
