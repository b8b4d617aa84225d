"""Serve the files of the browser page of `kibitz board`, which were built into the folder kibitz/web/page."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

PAGE = Path(__file__).with_name("page")

_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
"""Content types by file extension. The table of the operating system may be wrong, and a browser doesn't run a script
that has a wrong type.
"""

MISSING = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>kibitz board</title>
<h1>The page is not built</h1>
<p>The server runs, but the files for your browser are missing. Build them, then reload this page:</p>
<pre>make page</pre>
<p>If you install kibitz as a wheel, they are included.</p>
</html>
"""


def problem() -> str | None:
    """Return, in one line, why the browser page of `kibitz board` can't be shown: its files were not built. Returns
    None if they were built.
    """
    if (PAGE / "index.html").is_file():
        return None
    return (
        "the page is not built, so a browser cannot show the board. To build the page, run make page, or install "
        "kibitz again on a computer with npm"
    )


def file(request: Request) -> Response:
    """Return the response with a file of the browser page of `kibitz board`. The file for the path / is index.html."""
    name = request.path_params.get("path", "") or "index.html"
    path = PAGE / name
    try:
        inside = path.resolve().is_relative_to(PAGE.resolve())
        body = path.read_bytes() if inside and path.is_file() else None
    except (OSError, ValueError):  # the name has a null byte, or is too long
        body = None
    if body is None:
        if name == "index.html":
            return HTMLResponse(MISSING, 200, {"cache-control": "no-store"})
        if name == "favicon.ico":  # browsers request this file automatically, and would report an error
            return Response(status_code=204)
        return Response("there is no such file\n", 404, {"cache-control": "no-store"}, "text/plain")
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    # The names of assets have a hash of their content, so browsers may cache them forever
    lasting = "public, max-age=31536000, immutable" if name.startswith("assets/") else "no-cache"
    return Response(body, 200, {"cache-control": lasting}, kind)
