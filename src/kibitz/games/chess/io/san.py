"""Parse chess moves as people and programs write them, with the annotation signs after them.

The notations are short and long algebraic notation, UCI, figurines, and the piece letters of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import chess

NULL = "--"
"""The text of a null move, as PGN programs write it."""
NULLS = frozenset({"--", "Z0", "0000", "@@@@", "null", "NULL", "<>"})
_FIGURINES = str.maketrans(
    dict(zip("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBN\0KQRBN\0", strict=True))
    | dict(zip("асехХ", "acexx", strict=True))  # Cyrillic letters that look like files and the sign of a capture
    | {"\ufe0e": "", "\ufe0f": "", "–": "-", "—": "-", "−": "-", "‑": "-", "‐": "-", "‒": "-", "×": "x", "∶": ":"}
)

_LANGUAGES = (
    "KDTLS",  # German, Danish, Norwegian, Swedish, Croatian, Slovenian
    "RDTFC",  # French
    "RDTAC",  # Spanish, Italian, Catalan
    "RDTBC",  # Portuguese
    "RDTNC",  # Romanian
    "KDTLP",  # Dutch
    "KHWGS",  # Polish
    "KDVSJ",  # Czech, Slovak
    "KVBFH",  # Hungarian
    "KDTLR",  # Finnish
    "KDHBR",  # Icelandic
    "KLVOR",  # Estonian
    "ŞVKFA",  # Turkish
    "КФЛСК",  # Russian; the king has two letters, see below
    "КФТСК",  # Ukrainian
    "ЦДТОК",  # Bulgarian
    "КДТЛС",  # Serbian
    "ΡΒΠΑΙ",  # Greek
)
"""The letters of king, queen, rook, bishop and knight in each language."""
_TWO_LETTERS = {"Кр": "K", "КР": "K"}
_ENGLISH = frozenset("KQRBN")
_LETTERS = "A-NP-ZŞА-ЯΑ-Ω"
_MARKS = r"[+#†‡!?]*"

_CASTLING = re.compile(r"[O0oОо]-?[O0oОо](-?[O0oОо])?")
_GENERAL = re.compile(
    rf"(?P<piece>Кр|КР|[{_LETTERS}])?(?P<file>[a-h])?(?P<rank>[1-8])?(?P<sign>[-xX:*])?(?P<to_file>[a-h])(?P<to_rank>[1-8])?"
    rf"(?:[-=/:]?\(?=?(?P<promoted>[{_LETTERS}qrbn])\)?)?"
)
_FOREIGN = re.compile(
    r"(?:^|[\s.])(Кр|[AC-JLMPS-ZŞА-ЯΑ-Ω])(?=[a-h1-8xX:-])|(?<=[18])[-=/:]?\(?=?([AC-JLMPS-ZА-ЯΑ-Ω])\)?$"
)
_CAPTURE = re.compile(r"[x:×](?=[a-h])", re.IGNORECASE)
"""Matches the capture sign of a move."""
_PASSING = re.compile(r"[ ]?\(?e\.?p\.?\)?$")
_CHECKED = re.compile(r"(?:mate|matt|mat|dblch|dbl|disch|dis|ch)\.?$")
_NOVELTY = re.compile(r"(?<=[a-h][2-7])(?:TN|N)$|(?<=[+#])(?:TN|N)$")
"""Matches the sign of a novelty directly after a move, as in "Nc6N". On the ranks 1 and 8, an N can be a promotion."""
_GAP = re.compile(r"(?<![ \t])[ \t]+(?=[-=(])|(?<=[-=])[ \t]+")
"""Matches a blank in castling or a promotion, as in "O - O" and "e8 (Q)"."""
_CORE = re.compile(r"(.*[0-9A-Za-zŞА-Яа-яΑ-Ω])(.*)", re.DOTALL)

SIGNS = {
    "!": 1, "?": 2, "!!": 3, "‼": 3, "??": 4, "⁇": 4, "!?": 5, "⁉": 5, "?!": 6, "⁈": 6, "□": 7, "[]": 7, "=": 10,
    "∞": 13, "~": 13, "⩲": 14, "+=": 14, "+/=": 14, "⩱": 15, "=+": 15, "=/+": 15, "±": 16, "+/-": 16, "+/−": 16,
    "∓": 17, "-/+": 17, "+-": 18, "+−": 18, "-+": 19, "−+": 19, "⨀": 22, "⊙": 22, "○": 26, "⟳": 32, "↑": 36, "→": 40,
    "⯹": 44, "=∞": 44, "⇆": 132, "⊕": 138, "N": 146, "TN": 146, "D": 220,
}  # fmt: skip
"""The number (NAG, numeric annotation glyph) of each annotation sign."""
_NO_SIGNS = ("++", "+", "#", "†", "‡", ",", ".", ";", ":")
_LONGEST_FIRST = sorted([*SIGNS, *_NO_SIGNS], key=len, reverse=True)
_NOISE = frozenset({
    "e.p.", "ep", "ep.", "e.p", "mate", "matt", "mat", "checkmate", "schach", "check", "ch", "ch.", "dis", "dis.",
    "disch", "dbl", "dbl.", "dblch", "RR",
})  # fmt: skip
_TIME = re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?")
"""Matches the time that a move took, as servers print it after the move: "e4 (0:05)"."""
TAILS = frozenset({"N", "D", "TN"})
"""The signs that are letters. After a move number, N and D are the letters of a piece."""


@dataclass(frozen=True)
class Word:
    """A word of movetext, divided into a move and annotations.

    core: the move without annotations; "" if the word contains no move. nags: the numbers of the annotation signs
    (NAGs), such as 1 for "!".
    """

    core: str
    nags: tuple[int, ...] = ()


def read_word(text: str) -> Word:
    """Divide a word of movetext, such as "Nf3!?", into a move and the annotation signs after it.

    If the word is not a move, but only annotation signs or a remark such as "e.p.", the move in the result is "".
    """
    if text in NULLS:
        return Word(text)
    if text in TAILS:
        return Word("", (SIGNS[text],))
    if text.strip("()") in _NOISE or _TIME.fullmatch(text):
        return Word("")
    plain = _GAP.sub("", text.translate(_FIGURINES).replace("\0", ""))
    match = _CORE.fullmatch(plain)
    if match is None:
        return Word("", tuple(_signs(plain)))
    core = _PASSING.sub("", match[1] + match[2][:1] if match[2][:2] in (".", ". ") else match[1])
    if core.endswith("e.p") or core.endswith("(ep"):
        core = core.removesuffix("e.p").removesuffix("(ep").rstrip()
    core = _CHECKED.sub("", core) or core
    tail = match[2]
    if novelty := _NOVELTY.search(core):
        core, tail = core[: novelty.start()], novelty[0] + tail
    while core and not core[-1].isalnum():
        core, tail = core[:-1], core[-1] + tail
    if tail.startswith(")") and "(" in core:
        core, tail = core + ")", tail[1:]
    return Word(core, tuple(_signs(tail)))


def _signs(text: str) -> list[int]:
    """Return the numbers of the annotations in a text. Other characters are ignored."""
    found = []
    while text:
        sign = next((sign for sign in _LONGEST_FIRST if text.startswith(sign)), text[0])
        if sign in SIGNS:
            found.append(SIGNS[sign])
        text = text[len(sign) :]
    return found


def looks_like_move(core: str) -> bool:
    """Return whether a word has the spelling of a move, in any language. core: the word without annotation signs."""
    return core in NULLS or bool(_CASTLING.fullmatch(core) or _GENERAL.fullmatch(core))


def claims_capture(core: str) -> bool:
    """Return whether a move is written as a capture, such as "Nxe5" or "e4:d5". core: the word without annotation
    signs.
    """
    return bool(_CAPTURE.search(core))


class Ambiguous(ValueError):
    """Raised for a move in short notation that several pieces can make."""


def find_move(board: chess.Board, core: str, letters: dict[str, str] | None = None) -> chess.Move | None:
    """Return the legal move that a word means on a board; None if no legal move fits.

    core: the word without annotation signs. letters: a dict from the piece letters of the game's language to the
    English letters; None for English. The result for a null move, such as "--", is chess.Move.null(), or None if the
    side to move is in check. Raises Ambiguous if several moves fit.
    """
    if core in NULLS:
        return None if board.is_check() else chess.Move.null()
    if not letters:
        try:
            return board.parse_san(core)
        except chess.AmbiguousMoveError:
            raise Ambiguous(core) from None
        except ValueError:
            pass
    if castling := _CASTLING.fullmatch(core):
        return _castle(board, long=castling[1] is not None)
    move = _find_general(board, core, letters or {})
    if move is None and not letters and core.isascii() and not _lacks_piece(board, core):
        for other in _respelled_case(core):
            move = move or _find_general(board, other, {})
    return move


def _lacks_piece(board: chess.Board, core: str) -> bool:
    """Return whether a word is a promotion without its piece, such as "bxc8" with a pawn on b7. Then the letter b is
    the pawn's file, and not a bishop.
    """
    match = _GENERAL.fullmatch(core)
    return bool(match and not match["promoted"] and any(
        move.promotion and _fits(board, move, match, None, move.promotion) for move in board.legal_moves
    ))  # fmt: skip


def _respelled_case(core: str) -> Iterable[str]:
    """Yield other spellings: a capital piece letter for words like "nf3", and lower-case squares for "NF3" or "E4"."""
    if core[:1] in "nbrqk" and len(core) > 2:
        yield core[0].upper() + core[1:]
    if core.isupper():
        yield core.lower()
        if core[0] in "KQRBN":
            yield core[0] + core[1:].lower()


def _castle(board: chess.Board, long: bool) -> chess.Move | None:
    for move in board.generate_castling_moves():
        if board.is_queenside_castling(move) == long:
            return move
    return None


def _find_general(board: chess.Board, core: str, letters: dict[str, str]) -> chess.Move | None:
    match = _GENERAL.fullmatch(core)
    if match is None:
        return None
    piece = _piece(match["piece"], letters)
    promoted = _piece(match["promoted"], letters)
    if (match["piece"] and piece is None) or (match["promoted"] and promoted is None):
        return None
    found = [move for move in board.legal_moves if _fits(board, move, match, piece, promoted)]
    if len(found) > 1:
        raise Ambiguous(core)
    return found[0] if found else _king_takes_rook(board, match, piece)


def _king_takes_rook(board: chess.Board, match: re.Match[str], piece: int | None) -> chess.Move | None:
    """Return castling that is written as the king's move to the rook's square, as Chess960 programs do; None for other
    moves.
    """
    if piece not in (None, chess.KING) or not (match["file"] and match["rank"] and match["to_rank"]):
        return None
    origin = chess.parse_square(match["file"] + match["rank"])
    target = chess.parse_square(match["to_file"] + match["to_rank"])
    if origin != board.king(board.turn) or board.piece_at(target) != chess.Piece(chess.ROOK, board.turn):
        return None
    return _castle(board, long=target < origin)


def _piece(letter: str | None, letters: dict[str, str]) -> int | None:
    """Return the piece type for a letter; None if the language has no such piece."""
    if not letter:
        return None
    if letter in _TWO_LETTERS:
        return chess.KING if letters else None
    english = letters.get(letter, "P" if letter == "P" else "") if letters else letter
    symbol = english.lower()
    return chess.PIECE_SYMBOLS.index(symbol) if symbol and symbol in "pnbrqk" else None


def _fits(board: chess.Board, move: chess.Move, match: re.Match[str], piece: int | None, promoted: int | None) -> bool:
    """Return whether the parsed word can mean this legal move."""
    if chess.FILE_NAMES[chess.square_file(move.to_square)] != match["to_file"]:
        return False
    if move.promotion != promoted:
        return False
    kind, origin = board.piece_type_at(move.from_square), chess.square_name(move.from_square)
    if match["to_rank"]:
        if chess.square_name(move.to_square)[1] != match["to_rank"]:
            return False
    elif not (kind == chess.PAWN and match["file"] and not match["rank"] and origin[0] != match["to_file"]):
        return False  # in "exd" and "ed", pawns capture; only captures by pawns may omit the rank
    if match["file"] and origin[0] != match["file"]:
        return False
    if match["rank"] and origin[1] != match["rank"]:
        return False
    if piece is None:  # a pawn, or in UCI notation any piece
        return kind == chess.PAWN or bool(match["file"] and match["rank"])
    return kind == piece


def english_of(cores: Sequence[str]) -> list[dict[str, str]]:
    """Return one dict for each language in which the given moves may be written. The dict converts the language's piece
    letters to the English ones. The result is [] if the moves have only English letters.

    cores: the moves, without annotation signs. A language is possible if it has all piece letters of the moves. The
    letter P may be the Dutch knight or an English pawn. Therefore, P is accepted in every language.
    """
    used = {letter for core in cores for pair in _FOREIGN.findall(core) for letter in pair if letter}
    used = {"Кр" if letter in _TWO_LETTERS else letter for letter in used}
    if not used:
        return []
    found = []
    for language in _LANGUAGES:
        pieces = dict(zip(language, "KQRBN", strict=True))
        known = set(language) | {"Кр"} if "К" in language or "Ц" in language else set(language)
        if used <= known | {"P"}:
            found.append(pieces)
    return found
