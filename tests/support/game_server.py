"""A server on this computer that behaves as lichess, chess.com and OGS are documented, or badly."""

from __future__ import annotations

import datetime
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

MINUTE = 60_000
FIRST = int(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC).timestamp() * 1000)
OPENINGS = ("1. e4 e5 2. Nf3 Nc6", "1. d4 d5 2. c4 e6", "1. c4 c5 2. g3 g6", "1. Nf3 d5 2. d4 Nf6")
REPLIES = ("3. h3 h6", "3. a3 a6", "3. h4 h5", "3. a4 a5", "3. Na3 a6", "3. Nc3 h5")
CONTROLS = {"blitz": "300+0", "bullet": "60+0", "rapid": "900+10", "correspondence": "-"}
SGF = "(;GM[1]FF[4]SZ[9]KM[6.5]PB[{0}]PW[{1}]DT[{2}]RE[B+R]RU[japanese];B[{3}];W[gc];B[gg];W[cg];B[ee])"


@dataclass
class Game:
    """A game of an account: its number from 0 (the oldest), speed, whether it is rated, and when it ended."""

    number: int
    speed: str = "blitz"
    rated: bool = True
    moment: int = 0
    hidden: bool = False

    def __post_init__(self) -> None:
        self.moment = self.moment or FIRST + self.number * 600 * MINUTE

    @property
    def day(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self.moment / 1000, datetime.UTC)

    def pgn(self, name: str) -> str:
        """The text, with other moves for each number."""
        n = self.number
        players = (name, f"Other{n}") if n % 2 else (f"Other{n}", name)
        tags = {
            "Event": f"{'rated' if self.rated else 'casual'} {self.speed} game", "Date": f"{self.day:%Y.%m.%d}",
            "White": players[0], "Black": players[1], "Result": "1-0", "UTCDate": f"{self.day:%Y.%m.%d}",
            "UTCTime": f"{self.day:%H:%M:%S}", "WhiteElo": "1500", "BlackElo": "1510",
            "TimeControl": CONTROLS[self.speed],
        }  # fmt: skip
        head = "".join(f'[{key} "{value}"]\n' for key, value in tags.items())
        return f"{head}\n{OPENINGS[n % 4]} {REPLIES[n // 4 % 6]}{' 4. b3' if n >= 24 else ''} 1-0\n\n\n"

    def sgf(self, name: str) -> str:
        return SGF.format(name, f"other{self.number}", f"{self.day:%Y-%m-%d}", f"{'abcdefgh'[self.number % 8]}h")


@dataclass
class Request:
    """A request: its path, its parameters and its headers."""

    path: str
    parameters: dict[str, str]
    headers: dict[str, str]


@dataclass
class Answer:
    """An answer: status, headers, and the pieces of its body. cut: the connection ends after them without an end."""

    status: int = 200
    kind: str = "application/json"
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


Fault = Callable[[Request, Answer], Answer]
"""Makes another answer of the right one."""


class GameServer:
    """The three sites with one account, NAME.

    games: of the account. requests: all so far. faults: for the next requests whose path contains a text, one after
    the other. extra: a fault for every such request, until it is removed.
    """

    def __init__(self, name: str, games: list[Game]):
        self.name, self.games = name, games
        self.requests: list[Request] = []
        self.faults: list[tuple[str, Fault]] = []
        self.extra: tuple[str, Fault] | None = None
        self.end = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # otherwise each answer waits about 40 ms for the client's acknowledgment

            def log_message(self, *_: Any) -> None: ...

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                values = {key: value[0] for key, value in parse_qs(parts.query).items()}
                outer._answer(Request(parts.path, values, dict(self.headers)), self)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None: ...  # a client that has enough closes the connection

        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.end.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def asked(self, text: str) -> list[Request]:
        """The requests whose path contains a text."""
        return [request for request in self.requests if text in request.path]

    def _answer(self, request: Request, handler: Any) -> None:
        self.requests.append(request)
        answer = self._right(request)
        if self.extra and self.extra[0] in request.path:
            answer = self.extra[1](request, answer)
        elif self.faults and self.faults[0][0] in request.path:
            answer = self.faults.pop(0)[1](request, answer)
        handler.send_response(answer.status)
        for key, value in {"Content-Type": answer.kind, **answer.headers}.items():
            handler.send_header(key, value)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        body = [answer.body] if isinstance(answer.body, bytes) else answer.body
        for piece in body:
            if piece:
                handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        if answer.cut:
            handler.close_connection = True
        else:
            handler.wfile.write(b"0\r\n\r\n")

    # the sites

    def _right(self, request: Request) -> Answer:
        parts = request.path.strip("/").split("/")
        known = self.name.lower() in [part.lower() for part in parts] or "players" in parts or parts[-1] == "sgf"
        if not known:
            return Answer(404, body=b'{"error": "Not found"}')
        match parts:
            case ["api", "user", _]:
                counts = {"all": len(self.games), "rated": sum(game.rated for game in self.games)}
                return Answer(body=json.dumps({"id": self.name.lower(), "count": counts}).encode())
            case ["api", "games", "user", _]:
                return Answer(kind="application/x-ndjson", body=self._lichess(request.parameters))
            case ["pub", "player", _, "games", "archives"]:
                months = sorted({f"{game.day:%Y/%m}" for game in self.games})
                base = f"https://api.chess.com/pub/player/{self.name.lower()}/games/"
                return Answer(body=json.dumps({"archives": [base + month for month in months]}).encode())
            case ["pub", "player", _, "games", year, month]:
                return Answer(body=json.dumps({"games": list(self._chesscom(f"{year}/{month}"))}).encode())
            case ["api", "v1", "players"]:
                found = [{"id": 7, "username": self.name}] if request.parameters["username"] == self.name else []
                return Answer(body=json.dumps({"count": len(found), "results": found}).encode())
            case ["api", "v1", "players", "7", "games"]:
                return self._ogs(request.parameters)
            case ["api", "v1", "games", number, "sgf"]:
                game = self.games[int(number) - 1000]
                if game.hidden:
                    return Answer(403, body=b'{"detail": "private"}')
                return Answer(kind="application/x-go-sgf", body=game.sgf(self.name).encode())
        return Answer(404)

    def newest(self) -> list[Game]:
        return sorted(self.games, key=lambda game: -game.moment)

    def _lichess(self, wanted: dict[str, str]) -> Iterator[bytes]:
        since, until = int(wanted.get("since", 0)), int(wanted.get("until", 1 << 60))
        speeds = wanted["perfType"].split(",") if "perfType" in wanted else list(CONTROLS)
        chosen = [game for game in self.newest() if since <= game.moment < until and game.speed in speeds]
        chosen = [game for game in chosen if game.rated or wanted.get("rated") != "true"]
        for game in chosen[: int(wanted.get("max", len(chosen)))]:
            yield self.line(game)

    def line(self, game: Game) -> bytes:
        """A game as a line of lichess."""
        data = {
            "id": f"g{game.number:07}", "rated": game.rated, "variant": "standard", "speed": game.speed,
            "createdAt": game.moment, "lastMoveAt": game.moment + MINUTE, "pgn": game.pgn(self.name),
        }  # fmt: skip
        return json.dumps(data).encode() + b"\n"

    def _chesscom(self, month: str) -> Iterator[dict[str, Any]]:
        for game in sorted(self.games, key=lambda game: game.moment):
            if f"{game.day:%Y/%m}" == month:
                control = {"correspondence": "1/86400", "blitz": "300"}.get(game.speed, CONTROLS[game.speed])
                yield {
                    "url": f"https://www.chess.com/game/live/{game.number}", "pgn": game.pgn(self.name),
                    "time_control": control, "end_time": game.moment // 1000, "rated": game.rated,
                    "uuid": f"u{game.number}", "rules": "chess",
                }  # fmt: skip

    def _ogs(self, wanted: dict[str, str]) -> Answer:
        assert wanted["ordering"] == "-ended"
        size, page = int(wanted["page_size"]), int(wanted["page"])
        chosen = self.newest()[(page - 1) * size : page * size]
        if not chosen and page > 1:
            return Answer(404, body=b'{"detail": "Invalid page."}')
        rows = [
            {
                "id": 1000 + game.number, "ended": f"{game.day.isoformat()}", "ranked": game.rated,
                "time_control_parameters": json.dumps({"speed": {"blitz": "blitz"}.get(game.speed, "live")}),
            }
            for game in chosen
        ]  # fmt: skip
        more = page * size < len(self.games)
        data = {"count": len(self.games), "next": f"{self.address}/next" if more else None, "results": rows}
        return Answer(body=json.dumps(data).encode())
