"""Write the page of analyzed games: one self-contained HTML file with a board to step through.

The page needs no other file and no network connection. Its data are JSON. The script `templates/game.js` shows them as
plain text, because names and comments come from game records and are untrusted. The page's content security policy
allows only this script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from markupsafe import Markup

from kibitz.report.boards import go
from kibitz.report.boards.chess import piece_defs

LANGUAGES = ("en", "de", "fr")
"""The languages of the page."""


def render_game_page(games: Sequence[dict[str, Any]], language: str = "en") -> str:
    """Return the page of analyzed games as HTML.

    games: the descriptions of the games, see `kibitz.analysis.shown`. language: a code from LANGUAGES.
    """
    script, style, texts = _file("game.js"), _file("style.css") + _file("game.css"), json.loads(_file("game.json"))
    sizes = {game["size"] for game in games if game["game"] == "go"}
    boards = [piece_defs(turned=True)] if any(game["game"] == "chess" for game in games) else []
    players = games[0]["players"] if games else ["kibitz"]
    title = " – ".join(players) + (f" (+{len(games) - 1})" if len(games) > 1 else "")
    page = Markup(_PAGE).format(
        language=language,
        title=title.encode("utf-8", "replace").decode("utf-8"),
        style=Markup(style),
        script=Markup(script),
        hash=base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        boards=Markup("").join([*boards, go.board_defs(sizes)]),
        noscript=texts[language]["noscript"],
        data=_data({"games": games, "texts": texts[language]}),
    )
    return str(page)


def _file(name: str) -> str:
    return resources.files("kibitz.report").joinpath("templates", name).read_text(encoding="utf-8")


def _data(value: Any) -> Markup:
    """Return a value as JSON that is safe inside a script element: the text can't end the element."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'sha256-{hash}'; img-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
{boards}
<noscript>{noscript}</noscript>
<div id="page"></div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
