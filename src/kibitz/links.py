"""Recognize addresses of web pages on chess and Go servers. kibitz can't read these pages, so a message explains what
to download.
"""

from __future__ import annotations

import re

_SERVER = re.compile(
    r"(?:view-source:)?(?:https?://)?(?:www\.|m\.)?"
    r"(lichess\.org|chess\.com|chess24\.com|chessgames\.com|chesstempo\.com|chessbase\.com|365chess\.com|2700chess\.com"
    r"|online-go\.com)(?:/(\S*))?",
    re.IGNORECASE,
)
_LICHESS_GAME = re.compile(
    r"(?:embed/(?:game/)?|game/export/)?([A-Za-z0-9]{8})(?:[A-Za-z0-9]{4})?(?:/(?:white|black))?/?"
)
_NO_GAMES = frozenset({"analysis", "training", "practice", "features", "learning", "streamer", "timeline"})
"""Pages of lichess whose addresses have eight letters, like those of games."""
_LICHESS_STUDY = re.compile(r"study/(?:embed/)?([A-Za-z0-9]{8})(?:/([A-Za-z0-9]{8}))?/?")
_LICHESS_PLAYER = re.compile(r"@/([\w-]+).*")


def what_to_do(text: str) -> str | None:
    """Return one line that explains how to download games, if the text is the address of a web page on a game server: a
    page with a game, a study or a player. Return None for any other text.

    The result is also None for the address of a file. Such an address ends in .pgn, .sgf or an extension of a
    compressed file, or belongs to the server's interface for programs (API).
    """
    match = _SERVER.fullmatch(text.strip())
    if match is None:
        return None
    server, path = match[1].lower(), (match[2] or "").split("#")[0].split("?")[0]
    if re.search(r"\.(pgn|sgf|zst|gz|bz2|zip)$", path, re.IGNORECASE) or path.startswith("api/"):
        return None
    where = text.strip()[:80]
    if server != "lichess.org":
        form = "SGF" if server == "online-go.com" else "PGN"
        return (
            f"the address {where} leads to a web page, which kibitz does not open. Download the game there as {form},"
            " and open the file or paste its text."
        )
    return (
        f"the address {where} leads to a web page, which kibitz does not open. Download {_download(path)}, and open"
        " the file or paste its text."
    )


def _download(path: str) -> str:
    """Return the address of the file with the contents of a lichess page."""
    if study := _LICHESS_STUDY.fullmatch(path):
        return f"https://lichess.org/study/{'/'.join(filter(None, study.groups()))}.pgn"
    if player := _LICHESS_PLAYER.fullmatch(path):
        return f"https://lichess.org/api/games/user/{player[1]}"
    game = _LICHESS_GAME.fullmatch(path)
    if game and path.lower() not in _NO_GAMES:
        return f"https://lichess.org/game/export/{game[1]}"
    return "the PGN there (under a game: Share & export)"
