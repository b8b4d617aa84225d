"""Stand-ins of lichess and OGS on this computer: enough of their bot interfaces for whole games.

Each server keeps the clocks, checks every move with other code than kibitz's (python-chess and sgfmill), and counts
what the bot does wrong. The opponents are played by the server: at random, or by Stockfish or GNU Go.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.server
import json
import queue
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import chess
import chess.engine
from sgfmill import boards, common

BOT = "kibitz-bot"
OPPONENT = "opponent"


@dataclass
class Ending:
    """How a game ended. winner: "bot", "opponent" or "none". why: a word of the server."""

    name: str
    winner: str
    why: str
    moves: int
    seconds: float
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers in HTTP/1.1 with streams of JSON lines."""

    protocol_version = "HTTP/1.1"
    serving: Any

    def log_message(self, *_: Any) -> None:
        """Stay silent."""

    def answer(self, value: Any, status: int = 200) -> None:
        body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, lines: queue.Queue[Any]) -> None:
        """Send values until None comes; an empty line every few seconds, as lichess does."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            try:
                value = lines.get(timeout=3)
                if value is None:
                    break
                text = json.dumps(value).encode() + b"\n"
            except queue.Empty:
                text = b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def body(self) -> str:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        try:
            parts = urlsplit(self.path)
            parameters = {key: values[0] for key, values in parse_qs(parts.query).items()}
            self.serving(self, method, parts.path, parameters)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def handle(self) -> None:
        """A client that goes away is no fault."""
        with contextlib.suppress(ConnectionResetError):
            super().handle()


def listen(serving: Callable[[Handler, str, str, dict[str, str]], None], port: int = 0) -> tuple[Any, str]:
    """A server in a thread, and its address. port: 0 takes a free one."""
    handler = type("OurHandler", (Handler,), {"serving": staticmethod(serving)})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, "http://127.0.0.1" + (f":{port or server.server_port}" if port != 80 else "")


# ------------------------------------------------------------------------------------------------------ chess


@dataclass
class ChessGame:
    """A game to be played. opponent: "random" or "stockfish". offers: the opponent offers a draw with every move.
    takes: it takes draws. resigns_after: plies. kill_at: the ply at which the engine of the bot is killed."""

    name: str
    bot: chess.Color = chess.WHITE
    seconds: int = 60
    increment: int = 0
    fen: str = chess.STARTING_FEN
    opponent: str = "random"
    offers: bool = False
    takes: bool = False
    resigns_after: int = 0
    kill_at: int = 0
    most: int = 200


class Lichess:
    """The server. play() runs a game with the bot that is connected and returns how it ended."""

    def __init__(self, engine: str | None = None, kill: Callable[[], None] = lambda: None) -> None:
        self.events: queue.Queue[Any] = queue.Queue()
        self.connected = threading.Event()
        self.chats: list[str] = []
        self.engine, self.kill = engine, kill
        self.lock = threading.Condition()
        self.state: _ChessState | None = None
        self.server, self.url = listen(self.serve)

    def close(self) -> None:
        self.events.put(None)
        self.server.shutdown()

    def serve(self, handler: Handler, method: str, path: str, parameters: dict[str, str]) -> None:
        body = handler.body()
        match path.strip("/").split("/")[1:]:
            case ["token", "test"]:
                handler.answer({body: {"scopes": "bot:play", "userId": BOT, "expires": None}})
            case ["account"]:
                handler.answer({"id": BOT, "username": BOT, "title": "BOT"})
            case ["account", "playing"]:
                now = self.state
                handler.answer({"nowPlaying": [now.listed()] if now and not now.ended else []})
            case ["stream", "event"]:
                self.connected.set()
                handler.stream(self.events)
            case ["users", "status"]:
                handler.answer([{"id": BOT, "online": True}])
            case ["challenge", key, "accept"]:
                handler.answer({"ok": True})
                self.events.put({"type": "gameStart", "game": {"id": key, "gameId": key, "fullId": key,
                    "opponent": {"id": OPPONENT, "username": OPPONENT, "rating": 1500}}})  # fmt: skip
            case ["challenge", key, "decline"]:
                handler.answer({"ok": True})
                with self.lock:
                    if self.state:
                        self.state.finish("none", f"declined: {body}")
                    self.lock.notify_all()
            case ["bot", "game", "stream", _] if self.state:
                with self.lock:
                    lines = self.state.follow()
                    self.lock.notify_all()
                handler.stream(lines)
            case ["bot", "game", _, "move", move] if self.state:
                with self.lock:
                    good = self.state.bot_plays(move, parameters.get("offeringDraw") == "true")
                    self.lock.notify_all()
                handler.answer(
                    {"ok": True} if good else {"error": "Not your turn, or game already over"}, 200 if good else 400
                )
            case ["bot", "game", _, ("resign" | "abort") as what] if self.state:
                with self.lock:
                    self.state.finish("opponent", what)
                    self.lock.notify_all()
                handler.answer({"ok": True})
            case ["bot", "game", _, "chat"]:
                self.chats.append(body)
                handler.answer({"ok": True})
            case ["export", _]:
                handler.answer("")
            case _:
                handler.answer({"error": f"no such address: {method} {path}"}, 404)

    def play(self, key: str, game: ChessGame) -> Ending:
        with self.lock:
            self.state = state = _ChessState(key, game)
        standard = game.fen == chess.STARTING_FEN
        self.events.put({"type": "challenge", "challenge": {
            "id": key, "status": "created", "rated": False, "speed": "blitz" if game.seconds > 29 else "bullet",
            "variant": {"key": "standard" if standard else "fromPosition", "name": "Standard"},
            **({} if standard else {"initialFen": game.fen}),
            "challenger": {"id": OPPONENT, "name": OPPONENT, "title": None, "rating": 1500},
            "destUser": {"id": BOT, "name": BOT, "title": "BOT", "rating": 1500}, "perf": {"name": "Blitz"},
            "timeControl": {"type": "clock", "limit": game.seconds, "increment": game.increment, "show": "x"},
            "color": "white" if game.bot else "black", "finalColor": "white" if game.bot else "black",
        }})  # fmt: skip
        begun = time.monotonic()
        chance = random.Random(key)
        thinker = (
            chess.engine.SimpleEngine.popen_uci(self.engine) if game.opponent == "stockfish" and self.engine else None
        )
        try:
            with self.lock:
                if not self.lock.wait_for(lambda: state.followed or state.ended, 90):
                    state.finish("none", "bot never came")
            while not state.ended:
                if state.board.turn == game.bot:
                    if game.kill_at and len(state.board.move_stack) >= game.kill_at:
                        game.kill_at = 0
                        self.kill()
                    with self.lock:
                        if not self.lock.wait_for(
                            lambda: state.ended or state.board.turn != game.bot, state.left() + 0.05
                        ):
                            state.finish("opponent", "outoftime")
                elif game.resigns_after and len(state.board.move_stack) >= game.resigns_after:
                    state.finish("bot", "resign")
                else:
                    if thinker:
                        move = thinker.play(state.board, chess.engine.Limit(nodes=20_000)).move
                        assert move
                    else:
                        move = chance.choice(sorted(state.board.legal_moves, key=str))
                    with self.lock:
                        state.opponent_plays(move)
            return Ending(
                game.name, state.winner, state.why, len(state.board.move_stack), time.monotonic() - begun,
                state.slowest, state.faults,
            )  # fmt: skip
        finally:
            if thinker:
                thinker.quit()


class _ChessState:
    """A game that runs: the board, the clocks, who follows it."""

    def __init__(self, key: str, game: ChessGame) -> None:
        self.key, self.game = key, game
        self.board = chess.Board(game.fen)
        self.clocks = {True: float(game.seconds), False: float(game.seconds)}
        self.since = time.monotonic()
        self.followers: list[queue.Queue[Any]] = []
        self.followed = self.bot_offers = False
        self.winner, self.why = "", ""
        self.slowest = 0.0
        self.faults: list[str] = []

    @property
    def ended(self) -> bool:
        return bool(self.why)

    def listed(self) -> dict[str, Any]:
        return {"gameId": self.key, "fullId": self.key, "speed": "blitz",
                "opponent": {"id": OPPONENT, "username": OPPONENT},
                "isMyTurn": self.board.turn == self.game.bot, "secondsLeft": 60}  # fmt: skip

    def left(self) -> float:
        """Seconds until the bot loses on time; the first two plies are free, as on lichess."""
        if len(self.board.move_stack) < 2:
            return 30.0
        return self.clocks[self.game.bot] - (time.monotonic() - self.since)

    def told(self) -> dict[str, Any]:
        offers = {"bdraw" if self.game.bot else "wdraw": True} if self.game.offers else {}
        over = {"status": {"win": "mate"}.get(self.why, self.why)} if self.ended else {"status": "started"}
        if self.winner in ("bot", "opponent"):
            over["winner"] = "white" if (self.winner == "bot") == self.game.bot else "black"
        return {
            "type": "gameState", "moves": " ".join(move.uci() for move in self.board.move_stack),
            "wtime": int(self.clocks[True] * 1000), "btime": int(self.clocks[False] * 1000),
            "winc": self.game.increment * 1000, "binc": self.game.increment * 1000, **offers, **over,
        }  # fmt: skip

    def follow(self) -> queue.Queue[Any]:
        lines: queue.Queue[Any] = queue.Queue()
        players = [{"id": BOT, "name": BOT, "title": "BOT", "rating": 1500},
                   {"id": OPPONENT, "name": OPPONENT, "rating": 1500}]  # fmt: skip
        standard = self.game.fen == chess.STARTING_FEN
        lines.put({
            "type": "gameFull", "id": self.key, "rated": False, "speed": "blitz", "perf": {"name": "Blitz"},
            "variant": {"key": "standard", "name": "Standard" if standard else "From Position"},
            "clock": {"initial": self.game.seconds * 1000, "increment": self.game.increment * 1000},
            "createdAt": int(time.time() * 1000), "initialFen": "startpos" if standard else self.game.fen,
            "white": players[not self.game.bot], "black": players[self.game.bot], "state": self.told(),
        })  # fmt: skip
        self.followers.append(lines)
        if not self.followed:
            self.followed, self.since = True, time.monotonic()
        return lines

    def bot_plays(self, text: str, offers: bool) -> bool:
        if self.ended or self.board.turn != self.game.bot:
            return False
        try:
            move = self.board.parse_uci(text)
        except ValueError:
            self.faults.append(f"illegal {text}")
            return False
        if self.board.fullmove_number > 2 or len(self.board.move_stack) >= 2:
            self.slowest = max(self.slowest, time.monotonic() - self.since)
        self._push(move)
        self.bot_offers = offers
        if not self.ended and offers and (self.game.offers or self.game.takes):
            self.finish("none", "draw")
        return True

    def opponent_plays(self, move: chess.Move) -> None:
        if not self.ended:
            self._push(move)

    def _push(self, move: chess.Move) -> None:
        now = time.monotonic()
        side = self.board.turn
        if len(self.board.move_stack) >= 2:
            self.clocks[side] += self.game.increment - (now - self.since)
        self.since = now
        self.board.push(move)
        if self.clocks[side] < 0:
            return self.finish("opponent" if side == self.game.bot else "bot", "outoftime")
        outcome = self.board.outcome(claim_draw=True)
        if outcome:
            bot = "none" if outcome.winner is None else "bot" if outcome.winner == self.game.bot else "opponent"
            return self.finish(bot, "draw" if outcome.winner is None else "mate")
        if len(self.board.move_stack) >= self.game.most:
            return self.finish("none", "draw")
        for lines in self.followers:
            lines.put(self.told())

    def finish(self, winner: str, why: str) -> None:
        if not self.ended:
            self.winner, self.why = winner, why
            for lines in self.followers:
                lines.put(self.told())
                lines.put(None)


# --------------------------------------------------------------------------------------------------------- Go


@dataclass
class GoGame:
    """A game to be played. clock: of OGS. opponent: "random" or "gnugo". kill_at: ply at which the engine is killed."""

    name: str
    clock: dict[str, Any]
    size: int = 9
    bot: str = "black"
    handicap: int = 0
    komi: float = 7.5
    opponent: str = "random"
    resigns_after: int = 0
    kill_at: int = 0
    most: int = 36


_REST = {"speed": "blitz", "pause_on_weekends": False}
BYOYOMI = {"system": "byoyomi", "main_time": 30, "period_time": 10, "periods": 5} | _REST
FISCHER = {"system": "fischer", "initial_time": 60, "max_time": 120, "time_increment": 3} | _REST
SIMPLE = {"system": "simple", "per_move": 12} | _REST


class WebSocket:
    """The server's end of a WebSocket with text frames (RFC 6455)."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.lock = threading.Lock()

    def send(self, *values: Any) -> None:
        data = json.dumps(values).encode()
        size = struct.pack("!BB", 0x81, len(data)) if len(data) < 126 else struct.pack("!BBH", 0x81, 126, len(data))
        if len(data) > 65535:
            size = struct.pack("!BBQ", 0x81, 127, len(data))
        with self.lock:
            self.connection.sendall(size + data)

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.connection.recv(count - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data

    def received(self) -> Iterator[Any]:
        """Messages until the client closes."""
        while True:
            first, second = self._read(2)
            length = second & 127
            if length > 125:
                length = struct.unpack("!H" if length == 126 else "!Q", self._read(2 if length == 126 else 8))[0]
            mask = self._read(4)
            data = bytes(byte ^ mask[place % 4] for place, byte in enumerate(self._read(length)))
            if first & 15 == 8:
                return
            if first & 15 == 1:
                yield json.loads(data)


class Ogs:
    """The server. play() runs a game with the bot that is connected and returns how it ended.

    It needs port 80, and so the rights for that: gtp2ogs takes a port in the address for a part of the host's name.
    """

    def __init__(self, opponent: Callable[[], Any] | None = None, kill: Callable[[], None] = lambda: None) -> None:
        self.connected = threading.Event()
        self.chats: list[Any] = []
        self.opponent, self.kill = opponent, kill
        self.lock = threading.Condition()
        self.state: _GoState | None = None
        self.web: WebSocket | None = None
        self.server, self.url = listen(self.serve, 80)

    def close(self) -> None:
        self.server.shutdown()

    def serve(self, handler: Handler, method: str, path: str, parameters: dict[str, str]) -> None:
        if handler.headers.get("Upgrade", "").lower() == "websocket":
            return self._talk(handler)
        body = handler.body()
        if path.endswith("/accept") and self.state:
            handler.answer({"success": "Challenge accepted"})
            assert self.web
            self.web.send("active_game", {"id": self.state.key, "phase": "play"})
        elif "/challenges/" in path and self.state:
            handler.answer({})
            with self.lock:
                self.state.finish("none", f"declined: {body}")
                self.lock.notify_all()
        else:
            handler.answer({"error": f"no such address: {method} {path}"}, 404)

    def _talk(self, handler: Handler) -> None:
        key = handler.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        handler.send_response(101)
        handler.send_header("Upgrade", "websocket")
        handler.send_header("Connection", "Upgrade")
        handler.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        handler.end_headers()
        handler.close_connection = True
        self.web = web = WebSocket(handler.connection)
        try:
            for message in web.received():
                self._hear(
                    web, message[0], message[1] if len(message) > 1 else {}, message[2] if len(message) > 2 else None
                )
        except (ConnectionError, OSError):
            pass

    def _hear(self, web: WebSocket, command: str, data: Any, number: int | None) -> None:
        match command:
            case "authenticate" if number is not None:
                web.send(number, {"id": 1, "username": BOT})
            case "bot/config":
                self.connected.set()
            case "net/ping":
                web.send("net/pong", {"client": data["client"], "server": int(time.time() * 1000)})
            case "game/chat":
                self.chats.append(data)
            case "game/connect" if self.state and data["game_id"] == self.state.key:
                with self.lock:
                    self.state.follow()
                    web.send(f"game/{self.state.key}/gamedata", self.state.told())
                    self.lock.notify_all()
            case "game/move" if self.state and data["game_id"] == self.state.key:
                with self.lock:
                    if self.state.turn == self.state.game.bot:
                        self.state.play(data["move"], web)
                    self.lock.notify_all()
            case "game/resign" if self.state and data["game_id"] == self.state.key:
                with self.lock:
                    self.state.finish("opponent", "Resignation")
                    self.lock.notify_all()

    def play(self, key: int, game: GoGame) -> Ending:
        assert self.web
        with self.lock:
            self.state = state = _GoState(key, game)
        self.web.send("notification", {
            "id": f"n{key}", "type": "challenge", "challenge_id": key, "game_id": key,
            "user": {"id": 2, "username": OPPONENT},
            "time_control": game.clock, "width": game.size, "height": game.size, "ranked": False,
            "handicap": game.handicap, "komi": game.komi, "min_ranking": 10,
        })  # fmt: skip
        begun = time.monotonic()
        chance = random.Random(key)
        program = self.opponent() if game.opponent == "gnugo" and self.opponent else None
        known = 0
        try:
            with self.lock:
                if not self.lock.wait_for(lambda: state.followed or state.ended, 90):
                    state.finish("none", "bot never came")
            if program:
                program.request(f"boardsize {game.size}", 60)
                program.request(f"komi {game.komi}", 60)
            while not state.ended:
                if state.turn == game.bot:
                    if game.kill_at and len(state.moves) >= game.kill_at:
                        game.kill_at = 0
                        self.kill()
                    count = len(state.moves)
                    with self.lock:
                        if not self.lock.wait_for(lambda: state.ended or len(state.moves) > count, state.left() + 0.05):  # noqa: B023
                            state.finish("opponent", "Timeout")
                    continue
                if game.resigns_after and len(state.moves) >= game.resigns_after:
                    state.finish("bot", "Resignation")
                    break
                colour = state.turn
                if program:
                    for number, (side, text) in enumerate(state.spoken[known:], known):
                        program.request(f"play {side} {text}", 60)
                        known = number + 1
                    said = program.request(f"genmove {colour}", 60).strip()
                    if said.lower() == "resign":
                        state.finish("bot", "Resignation")
                        break
                    place = None if said.lower() == "pass" else common.move_from_vertex(said, game.size)
                    known += 1
                else:
                    legal = [
                        place
                        for place in state.position.legal(colour[0])
                        if not state.position.is_eye(place, colour[0])
                    ]
                    place = chance.choice(legal) if legal else None
                with self.lock:
                    state.play(state.encoded(place), self.web)
            self.web.send(f"game/{key}/gamedata", state.told())
            self.web.send("active_game", {"id": key, "phase": "finished"})
            time.sleep(1.5)  # the client leaves a finished game after a second
            return Ending(
                game.name,
                state.winner,
                state.why,
                len(state.moves),
                time.monotonic() - begun,
                state.slowest,
                state.faults,
            )
        finally:
            if program:
                program.close()


class Position:
    """A board with positional superko and without suicide, by sgfmill."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.board = boards.Board(size)
        self.before = {str(self.board.list_occupied_points())}

    def after(self, place: tuple[int, int], colour: str) -> boards.Board | None:
        if self.board.get(*place) is not None:
            return None
        copy = self.board.copy()
        copy.play(*place, colour)
        return None if copy.get(*place) is None or str(copy.list_occupied_points()) in self.before else copy

    def legal(self, colour: str) -> list[tuple[int, int]]:
        every = [(row, column) for row in range(self.size) for column in range(self.size)]
        return [place for place in every if self.after(place, colour) is not None]

    def is_eye(self, place: tuple[int, int], colour: str) -> bool:
        row, column = place
        near = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
        return all(
            self.board.get(*one) == colour for one in near if 0 <= one[0] < self.size and 0 <= one[1] < self.size
        )

    def put(self, place: tuple[int, int], colour: str) -> bool:
        board = self.after(place, colour)
        if board is None:
            return False
        self.board = board
        self.before.add(str(board.list_occupied_points()))
        return True


class _GoState:
    """A game that runs: the board, the clocks, and what the client is told."""

    def __init__(self, key: int, game: GoGame) -> None:
        self.key, self.game = key, game
        self.position = Position(game.size)
        self.moves: list[list[int]] = []
        self.spoken: list[tuple[str, str]] = []
        self.passes = 0
        self.turn = "black"
        self.since = time.time()
        start = game.clock.get("main_time", game.clock.get("initial_time", 0))
        self.thinking = {"black": float(start), "white": float(start)}
        self.periods = {"black": game.clock.get("periods", 0), "white": game.clock.get("periods", 0)}
        self.followed = False
        self.winner, self.why = "", ""
        self.slowest = 0.0
        self.faults: list[str] = []

    @property
    def ended(self) -> bool:
        return bool(self.why)

    def follow(self) -> None:
        if not self.followed:
            self.followed, self.since = True, time.time()

    def left(self) -> float:
        """Seconds until the side to move loses on time."""
        clock, used = self.game.clock, time.time() - self.since
        if clock["system"] == "simple":
            return float(clock["per_move"]) - used
        whole = self.thinking[self.turn] + self.periods[self.turn] * clock.get("period_time", 0)
        return float(whole) - used

    def encoded(self, place: tuple[int, int] | None) -> str:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return ".." if place is None else letters[place[1]] + letters[self.game.size - 1 - place[0]]

    def play(self, text: str, web: WebSocket) -> None:
        """A move of the side to move, as OGS writes it: column and row from the top, or `..`."""
        if self.ended:
            return
        colour, size = self.turn, self.game.size
        spent = time.time() - self.since
        if colour == self.game.bot:
            self.slowest = max(self.slowest, spent)
        if self.left() < 0:
            return self.finish("opponent" if colour == self.game.bot else "bot", "Timeout")
        place = None if text == ".." else (size - 1 - (ord(text[1]) - 97), ord(text[0]) - 97)
        if place is not None and not self.position.put(place, colour[0]):
            self.faults.append(f"illegal {text}")
            return self.finish("opponent", "illegal move")
        self._clock(colour, spent)
        self.moves.append(
            [-1, -1, int(spent * 1000)] if place is None else [place[1], size - 1 - place[0], int(spent * 1000)]
        )
        self.spoken.append((colour, "pass" if place is None else common.format_vertex(place)))
        self.passes = self.passes + 1 if place is None else 0
        if len(self.moves) >= max(self.game.handicap, 1):
            self.turn = "white" if colour == "black" else "black"
        self.since = time.time()
        web.send(f"game/{self.key}/move", {"game_id": self.key, "move_number": len(self.moves), "move": self.moves[-1]})
        web.send(f"game/{self.key}/clock", self.clock())
        if self.passes >= 2 or (len(self.moves) >= self.game.most and colour == self.game.bot):
            score = self.position.board.area_score() - self.game.komi - self.game.handicap
            black = "bot" if self.game.bot == "black" else "opponent"
            white = "opponent" if black == "bot" else "bot"
            self.finish(black if score > 0 else white, f"{abs(score)} points")

    def _clock(self, colour: str, spent: float) -> None:
        clock = self.game.clock
        if clock["system"] == "fischer":
            self.thinking[colour] = min(self.thinking[colour] - spent + clock["time_increment"], clock["max_time"])
        elif clock["system"] == "byoyomi":
            over = spent - self.thinking[colour]
            self.thinking[colour] = max(0.0, self.thinking[colour] - spent)
            while over > clock["period_time"]:
                over -= clock["period_time"]
                self.periods[colour] -= 1

    def clock(self) -> dict[str, Any]:
        def side(colour: str) -> Any:
            if self.game.clock["system"] == "simple":
                return int(self.since * 1000)
            told = {"thinking_time": self.thinking[colour], "skip_bonus": False}
            if self.game.clock["system"] == "byoyomi":
                told |= {"periods": self.periods[colour], "period_time": self.game.clock["period_time"]}
            return told

        ids = {self.game.bot: 1, "white" if self.game.bot == "black" else "black": 2}
        return {
            "game_id": self.key, "current_player": ids[self.turn], "black_player_id": ids["black"],
            "white_player_id": ids["white"], "title": self.game.name, "last_move": int(self.since * 1000),
            "black_time": side("black"), "white_time": side("white"),
        }  # fmt: skip

    def told(self) -> dict[str, Any]:
        players = {
            "bot": {"id": 1, "username": BOT, "rank": 20},
            "opponent": {"id": 2, "username": OPPONENT, "rank": 20},
        }
        black = "bot" if self.game.bot == "black" else "opponent"
        told: dict[str, Any] = {
            "game_id": self.key, "game_name": self.game.name, "phase": "finished" if self.ended else "play",
            "width": self.game.size, "height": self.game.size, "komi": self.game.komi, "handicap": self.game.handicap,
            "rules": "chinese", "free_handicap_placement": self.game.handicap > 1, "initial_player": "black",
            "initial_state": {"black": "", "white": ""}, "moves": [list(move) for move in self.moves],
            "players": {"black": players[black], "white": players["opponent" if black == "bot" else "bot"]},
            "black_player_id": players[black]["id"], "white_player_id": 3 - players[black]["id"],
            "time_control": self.game.clock, "clock": self.clock(), "ranked": False,
        }  # fmt: skip
        if self.ended:
            told |= {"outcome": self.why, "winner": 1 if self.winner == "bot" else 2}
        return told

    def finish(self, winner: str, why: str) -> None:
        if not self.ended:
            self.winner, self.why = winner, why
