"""Send requests to a server of games. Requests are sent one at a time, with pauses, and are repeated after a failure. A
request is never sent to another host.
"""

from __future__ import annotations

import contextlib
import email.utils
import importlib.util
import json
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar
from urllib.parse import urljoin, urlsplit

from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.messages import warning
from kibitz.online.accounts import Account
from kibitz.text import shown

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

TOKEN = "KIBITZ_LICHESS_TOKEN"
CONTACT = "KIBITZ_CONTACT"
"""The environment variable with the contact address that requests send to the operators of a server. Without the
variable, requests send the account's name.
"""
MOST_FAILURES = 5
"""The number of failures in a row after which a request is given up."""
SILENCE = 60.0
"""The number of seconds without a byte after which a connection counts as broken."""
SLOWEST = 180.0
"""The number of seconds without a complete line after which a connection counts as broken."""
LONGEST_WAIT = 300.0
"""The longest time, in seconds, that kibitz waits when a server asks clients to wait."""
MOST_REDIRECTS = 5
LONGEST_LINE = 8 << 20
"""The largest number of bytes in one line of a reply, which contains one game with its data."""
LARGEST_STREAM = 16 << 30
LARGEST_FILE = 1 << 30
"""The largest size of a reply in bytes: LARGEST_STREAM for a reply that is read line by line, and LARGEST_FILE for a
reply that is first stored in a file.
"""
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_SERVER_FAILS = {500, 502, 503, 504, 520, 521, 522, 523, 524}


class NotFoundError(KibitzError):
    """Raised if the server does not have the requested data (status 404 or 410)."""


class RefusedError(KibitzError):
    """Raised if the server forbids the request (status 403)."""


class CutOffError(Exception):
    """Raised if a reply ends too early or takes too long. The client then repeats the request."""


def need_httpx(what: str) -> None:
    """Raise KibitzError if the package httpx is not installed. The extra `online` of kibitz installs this package.

    what: the feature that needs the package, such as "lichess:NAME". The error message begins with this text.
    """
    if importlib.util.find_spec("httpx") is None:
        raise KibitzError(f"{what} needs httpx. Install it: pip install 'kibitz[online]'")


def pause(seconds: float) -> None:
    """Wait for this number of seconds. Tests replace this function by one that does not wait."""
    time.sleep(seconds)


class Client:
    """Sends the requests for one account, only to the server of the account.

    account: the account. saved_games: a function that returns the number of games saved so far, for error messages.
    """

    def __init__(self, account: Account, saved_games: Callable[[], int]):
        need_httpx(str(account))
        import httpx

        self.account, self.site, self._saved_games = account, account.site, saved_games
        self.base = account.site.base()
        parts = urlsplit(self.base)
        self._local = (parts.hostname or "") in _LOOPBACK
        self._failures, self._next, self._reached = 0, 0.0, False
        headers = {"User-Agent": _agent(account)}
        self._token = os.environ.get(TOKEN, "").strip() if account.site.name == "lichess" else ""
        if not re.fullmatch(r"[!-~]*", self._token):
            raise UsageError(
                f"{TOKEN} must be a token without spaces and special characters. Copy it again, or unset it."
            )
        if self._token and (parts.scheme == "https" or self._local):
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            self._http = httpx.Client(
                headers=headers, timeout=httpx.Timeout(SILENCE, connect=20.0), follow_redirects=False,
                trust_env=not self._local,
            )  # fmt: skip
        except (ImportError, ValueError, httpx.InvalidURL):
            raise KibitzError(_bad_proxy()) from None

    def close(self) -> None:
        """Close the connection to the server."""
        self._http.close()

    def works(self) -> None:
        """Reset the number of successive failures to 0. Call this method when the server has sent useful data."""
        self._failures, self._reached = 0, True

    def lines(self, path: str, parameters: Callable[[], Mapping[str, str]], take: Callable[[Iterator[bytes]], T]) -> T:
        """Send a request whose reply consists of lines of JSON, and return the result of `take`.

        path: the path of the request on the server.
        parameters: a function that returns the request's query parameters. It is called before each attempt.
        take: a function that is called with an iterator over the lines, while they arrive. If an attempt fails, the
            request is repeated, and `take` is called again.

        Raises KibitzError if the server rejects the request, or if too many attempts fail.
        """

        def consume(response: httpx.Response) -> T:
            self._must_not_be_html(response)
            return take(self._split(response))

        return self._fetch(path, parameters, "application/x-ndjson", consume)

    @contextlib.contextmanager
    def file(self, path: str, parameters: Mapping[str, str] | None = None, accept: str = "*/*") -> Iterator[IO[bytes]]:
        """A context manager that sends a request, and yields a temporary file with the reply. The file is open for
        reading at its first byte, and is removed at the end of the context.

        path: the path of the request on the server.
        parameters: the request's query parameters.
        accept: the accepted types of content.
        """
        with tempfile.TemporaryFile(prefix="kibitz-") as file:

            def consume(response: httpx.Response) -> None:
                file.seek(0)
                file.truncate()
                for piece in response.iter_bytes(1 << 16):
                    file.write(piece)
                    if file.tell() > LARGEST_FILE:
                        raise self._error(
                            f"sends more than {LARGEST_FILE >> 20:,} MB for one request. Try again later."
                        )

            self._fetch(path, lambda: parameters or {}, accept, consume)
            file.seek(0)
            yield file

    def json(self, path: str, parameters: Mapping[str, str] | None = None) -> Any:
        """Send a request, and return the JSON value in the reply.

        Raises NotFoundError for the status 404 or 410. Raises KibitzError if the server rejects the request for another
        reason, if too many attempts fail, or if the reply is not JSON.
        """
        with self.file(path, parameters, "application/json") as file:
            try:
                return json.load(file)
            except (ValueError, RecursionError):
                file.seek(0)
                self.not_json(file.read(200))

    def not_json(self, begin: bytes) -> NoReturn:
        """Raise KibitzError for a reply that is not JSON. begin: the first bytes of the reply."""
        kind = "a web page" if begin.lstrip().startswith(b"<") else "something that is no JSON" if begin else "nothing"
        raise self._error(f"sent {kind} instead of games. Try again later.")

    def fail(self, what: str) -> NoReturn:
        """Raise KibitzError with a message that begins with the site's name. what: the rest of the message, such as
        "does not reply. Try again later".
        """
        raise self._error(what)

    def url(self, path: str) -> str:
        """Return the full address of a request. path: a path on the server, or a full address from one of its replies.
        In a full address, the host is replaced by the host of the server.
        """
        parts = urlsplit(path)
        if parts.netloc:
            path = parts.path + (f"?{parts.query}" if parts.query else "")
        return self.base + path

    def _fetch(
        self,
        path: str,
        parameters: Callable[[], Mapping[str, str]],
        accept: str,
        consume: Callable[[httpx.Response], T],
    ) -> T:
        """Make a request, and return the result of `consume` for the reply.

        Raises NotFoundError and RefusedError, and KibitzError if the server cannot be reached, sends the request to
        another host, refuses the token, or still fails after MOST_FAILURES attempts.
        """
        import httpx

        while True:
            self._be_polite()
            try:
                with self._answer(self.url(path), parameters(), accept) as response:
                    wait = self._wait_for(response)
                    if wait is None:
                        done = consume(response)
                        self.works()
                        return done
                    why = f"failed (HTTP {response.status_code})"
            except httpx.DecodingError:
                raise self._error("sent a damaged reply. Try again later.") from None
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.ProxyError) as error:
                if not self._reached:
                    raise self._error(
                        f"cannot be reached at {self.base} ({_reason(error)}). Check the connection."
                    ) from None
                wait, why = None, "can no longer be reached"
            except (httpx.TransportError, CutOffError) as error:
                slow = isinstance(error, httpx.TimeoutException) or "slow" in str(error)
                wait, why = None, "does not answer" if slow else "broke off the connection"
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise self._error(f"{why} {MOST_FAILURES} times. Try again later.")
            self._wait(wait or 2 ** (self._failures - 1) * random.uniform(1, 1.25), why)

    @contextlib.contextmanager
    def _answer(self, url: str, parameters: Mapping[str, str], accept: str) -> Iterator[httpx.Response]:
        """Send a request. A redirect is followed only to the same host, and never from https to http."""
        for _ in range(MOST_REDIRECTS):
            with self._http.stream("GET", url, params=dict(parameters) or None, headers={"Accept": accept}) as response:
                target = response.headers.get("location")
                if response.status_code not in (301, 302, 303, 307, 308) or not target:
                    yield response
                    return
                try:
                    before, after = urlsplit(url), urlsplit(urljoin(url, target))
                except ValueError:
                    raise self._error("redirects the request to an invalid address. Try again later.") from None
                same = (before.scheme, before.netloc) == (after.scheme, after.netloc)
                safer = (before.scheme, after.scheme) == ("http", "https") and before.hostname == after.hostname
                if not same and not safer:
                    where = f"another server, {shown(after.netloc)}" if after.netloc else "an address without a server"
                    raise self._error(
                        f"redirects the request to {where}, which kibitz does not contact. Try again later."
                    )
                url, parameters = urljoin(url, target), {}
        raise self._error(f"redirects the request more than {MOST_REDIRECTS} times. Try again later.")

    def _wait_for(self, response: httpx.Response) -> float | None:
        """Return the seconds to wait before the request is repeated; None if the reply can be used."""
        status = response.status_code
        if status == 200:
            return None
        if status in (404, 410):
            raise NotFoundError(f"{self.site.title} does not have this page (HTTP {status})")
        if status == 401:
            raise self._error(
                f"refuses the token in {TOKEN}. Replace or unset it."
                if self._token
                else "requires a login, which kibitz does not support."
            )
        if status == 403:
            raise RefusedError(
                f"{self.site.title} does not show the games of {self.account.name} (HTTP 403). Check that they are"
                f" public. If the site refuses programs without a contact, set {CONTACT} to your email address."
            )
        if status != 429 and status not in _SERVER_FAILS:
            raise self._error(f"replied with HTTP {status}, which kibitz does not expect. Try again later.")
        pause = _retry_after(response.headers.get("retry-after", ""))
        if pause is not None and pause > LONGEST_WAIT:
            raise self._error(
                f"requests a pause of {pause / 60:,.0f} minutes. Run the same command again after this pause."
            )
        if status == 429:
            return self.site.busy if pause is None else pause
        return pause or 2**self._failures * random.uniform(1, 1.25)

    def _split(self, response: httpx.Response) -> Iterator[bytes]:
        """Yield the lines of a reply. A line that is too long is replaced by b"{", which is invalid JSON."""
        held, total, last = bytearray(), 0, time.monotonic()
        too_long = False
        for piece in response.iter_bytes():
            total += len(piece)
            if total > LARGEST_STREAM:
                raise self._error("sends too many games. Add --limit.")
            held += piece
            *lines, rest = bytes(held).split(b"\n") if b"\n" in piece else [bytes(held)]
            for line in lines:
                if too_long or line.strip():
                    last = time.monotonic()
                    yield b"{" if too_long else line
                    too_long = False
            held = bytearray(rest)
            if len(held) > LONGEST_LINE:
                held, too_long = bytearray(), True
            if time.monotonic() - last > SLOWEST:
                raise CutOffError("the reply is too slow")
        if held.strip():
            if not held.rstrip().endswith(b"}"):
                raise CutOffError("the reply is incomplete")
            yield bytes(held)

    def _must_not_be_html(self, response: httpx.Response) -> None:
        if "html" in response.headers.get("content-type", "").lower():
            self.not_json(b"<")

    def _be_polite(self) -> None:
        """Wait until the site's pause between two requests has passed. There is no pause for a server on this
        computer.
        """
        left = self._next - time.monotonic()
        if left > 0 and not self._local:
            pause(left)
        self._next = time.monotonic() + self.site.gap

    def _wait(self, seconds: float, why: str) -> None:
        if seconds > 2:
            warning(f"{self.site.title} {why}. kibitz tries again in {seconds:,.0f} s.")
        pause(seconds)

    def _error(self, what: str) -> KibitzError:
        """Return an error about the server, with the number of saved games."""
        saved_games = self._saved_games()
        games = f" {saved_games:,} {'game is' if saved_games == 1 else 'games are'} kept." if saved_games else ""
        return KibitzError(f"{self.site.title} {what}{games}")


def _agent(account: Account) -> str:
    from importlib.metadata import version

    contact = "".join(one for one in os.environ.get(CONTACT, "") if one.isascii() and one.isprintable()).strip()
    name = account.name if account.name.isascii() else "unknown"
    return f"kibitz/{version('kibitz')} ({f'contact: {contact}' if contact else f'username: {name}'})"


_PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")


def _bad_proxy() -> str:
    """Return the message for proxy settings that httpx does not accept. The values may contain passwords, so the
    message has only the names of the variables.
    """
    names = [name for each in _PROXIES for name in (each, each.lower()) if os.environ.get(name)]
    given = ", ".join(names) or "the settings of the system"
    return (
        f"the proxy settings cannot be used (got {given}). A proxy is an address such as http://127.0.0.1:8080, and"
        " NO_PROXY is a list of hosts. Correct or unset them. For a SOCKS proxy: pip install 'httpx[socks]'"
    )


def _reason(error: Exception) -> str:
    """Describe in a few words why the connection failed."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return one_line(error).lower()


def _retry_after(text: str) -> float | None:
    """Parse a Retry-After header, which is a number or a date, and return the seconds; None for other text."""
    if text.strip().isascii() and text.strip().isdigit():
        return float(text[:12])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
