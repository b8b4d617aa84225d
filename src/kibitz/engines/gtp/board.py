"""GTP commands about the board and the game: set up a board, play and undo moves, load and save a game."""

from __future__ import annotations

from pathlib import Path

from kibitz.engines.gtp.parse import Command, GtpError, argument, colour, number, vertex, whole
from kibitz.engines.gtp.session import GtpSession, Handler
from kibitz.games.go.points import BLACK, COLUMNS, GRID, NONE, WHITE, to_gtp
from kibitz.games.go.rulesets import MAX_KOMI
from kibitz.text import shown, whole_number

STARS = {9: (2, 4, 6), 13: (3, 6, 9), 19: (3, 9, 15)}


def _boardsize(session: GtpSession, command: Command) -> str:
    size = whole(argument(command.words), 0, 1000)
    if any(whole_number(height) != size for height in command.words[1:2]):  # KataGo's command for rectangular boards
        raise GtpError("unacceptable size")
    session.game.clear(size)
    session.new_game()
    return ""


def _clear_board(session: GtpSession, command: Command) -> str:
    session.game.clear()
    session.new_game()
    return ""


def _query_boardsize(session: GtpSession, command: Command) -> str:
    return str(session.game.size)


def _komi(session: GtpSession, command: Command) -> str:
    session.game.komi = number(argument(command.words), -MAX_KOMI, MAX_KOMI)
    return ""


def _get_komi(session: GtpSession, command: Command) -> str:
    return f"{session.game.komi:g}"


def _fixed_handicap(session: GtpSession, command: Command) -> str:
    from kibitz.engines.gtp.game import MAX_FIXED_HANDICAP, fixed_handicap

    count = whole(argument(command.words), 0, 10**6)
    if not 2 <= count <= MAX_FIXED_HANDICAP:
        raise GtpError("invalid number of stones")
    return _place(session, fixed_handicap(count, session.game.size))


def _place_free_handicap(session: GtpSession, command: Command) -> str:
    from kibitz.engines.gtp.game import MAX_FIXED_HANDICAP, fixed_handicap

    count = whole(argument(command.words), 0, 10**6)
    if not 2 <= count < session.game.size**2:
        raise GtpError("invalid number of stones")
    return _place(session, fixed_handicap(min(count, MAX_FIXED_HANDICAP), session.game.size))


def _set_free_handicap(session: GtpSession, command: Command) -> str:
    try:
        points = [vertex(word, session.game.size) for word in command.words]
    except GtpError:
        raise GtpError("bad vertex list") from None
    _place(session, points)
    return ""


def _place(session: GtpSession, points: list[int]) -> str:
    session.game.place_handicap(points)
    return " ".join(to_gtp(point, session.game.size) for point in points)


def _play(session: GtpSession, command: Command) -> str:
    session.game.play(colour(argument(command.words)), vertex(argument(command.words, 1), session.game.size))
    return ""


def _play_sequence(session: GtpSession, command: Command) -> str:
    words = command.words
    pairs = [(colour(words[i]), vertex(argument(words, i + 1), session.game.size)) for i in range(0, len(words), 2)]
    session.game.play_all(pairs)
    return ""


def _undo(session: GtpSession, command: Command) -> str:
    session.game.undo(whole(command.words[0], 1, 10**6) if command.words else 1)
    session.hopeless.clear()
    return ""


def _loadsgf(session: GtpSession, command: Command) -> str:
    file, before = file_argument(command)
    session.game.load(file, before)
    session.hopeless.clear()
    return ""


def file_argument(command: Command) -> tuple[str, int | None]:
    """Return the arguments of a GTP command that loads a file: the file's name, and the number after the name. This
    number is None if it is missing.

    A name with spaces should be in quotes, but is also accepted without quotes. Raises GtpError if the name is missing
    or the number is invalid.
    """
    text = command.text
    if text.startswith('"') and '"' in text[1:]:
        file, _, rest = text[1:].partition('"')
        return file, whole(rest.strip(), 1, 10**6) if rest.strip() else None
    if len(command.words) > 1 and command.words[-1].isascii() and command.words[-1].isdigit():
        return text[: -len(command.words[-1])].strip(), whole(command.words[-1], 1, 10**6)
    argument(command.words)
    return text, None


def _is_legal(session: GtpSession, command: Command) -> str:
    side, point = colour(argument(command.words)), vertex(argument(command.words, 1), session.game.size)
    return str(int(session.game.board.why_not(side, point) is None))


def _list_stones(session: GtpSession, command: Command) -> str:
    side = colour(argument(command.words))
    points = (session.game.board.colours() == side).nonzero()[0]
    return " ".join(to_gtp(point, session.game.size) for point in points.tolist())


def _captures(session: GtpSession, command: Command) -> str:
    """Return the number of stones that a side has captured."""
    return str(session.game.board.captured[3 - colour(argument(command.words))])


def _last_move(session: GtpSession, command: Command) -> str:
    if not session.game.moves:
        raise GtpError("there is no previous move")
    return _move_text(session, *session.game.moves[-1])


def _move_history(session: GtpSession, command: Command) -> str:
    """Return the moves of the game, the last move first."""
    return "\n".join(_move_text(session, *move) for move in reversed(session.game.moves))


def _move_text(session: GtpSession, side: int, point: int) -> str:
    return f"{'black' if side == BLACK else 'white'} {to_gtp(point, session.game.size)}"


def _printsgf(session: GtpSession, command: Command) -> str:
    """Return the game as SGF, or write it to the file that the command names."""
    from kibitz.games.go.io.sgf import write_sgf

    text = write_sgf(session.game.record())
    if not command.words or command.text.strip() == "-":
        return text.strip()
    # Unlike loadsgf, this command has no number after the file's name, so a number belongs to the name.
    file = file_argument(command)[0] if command.text.startswith('"') else command.text
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise GtpError(f"cannot write {shown(file)}: {error.strerror or 'it cannot be opened'}") from None
    return ""


def _showboard(session: GtpSession, command: Command) -> str:
    game = session.game
    size, board = game.size, game.board
    letters = "   " + " ".join(COLUMNS[:size])
    last = game.last_point()
    lines = [letters]
    for row in range(size):
        text = f"{size - row:2} "
        for column in range(size):
            point = row * GRID + column
            star = row in STARS[size] and column in STARS[size]
            stone = {NONE: "+" if star else ".", BLACK: "X", WHITE: "O"}[board[point]]
            mark = ")" if point == last else "(" if point + 1 == last and column + 1 < size else " "
            text += stone + mark
        lines.append(text.rstrip() + (" " if text.endswith("  ") else "") + f" {size - row}")
    lines += [
        letters,
        f"   {'White' if board.to_move == WHITE else 'Black'} to move, {len(game.moves)} played, komi {game.komi:g};"
        f" X has taken {board.captured[WHITE]}, O {board.captured[BLACK]}",
    ]
    return "\n" + "\n".join(lines)


COMMANDS: dict[str, Handler] = {
    "boardsize": _boardsize,
    "query_boardsize": _query_boardsize,
    "clear_board": _clear_board,
    "komi": _komi,
    "get_komi": _get_komi,
    "fixed_handicap": _fixed_handicap,
    "place_free_handicap": _place_free_handicap,
    "set_free_handicap": _set_free_handicap,
    "play": _play,
    "gogui-play_sequence": _play_sequence,
    "undo": _undo,
    "gg-undo": _undo,
    "loadsgf": _loadsgf,
    "last_move": _last_move,
    "move_history": _move_history,
    "printsgf": _printsgf,
    "is_legal": _is_legal,
    "list_stones": _list_stones,
    "captures": _captures,
    "showboard": _showboard,
}
