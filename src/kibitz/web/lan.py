"""Access to the page of `kibitz board` from other devices in the network: the address, a secret key, and a QR code with
both.
"""

from __future__ import annotations

import io
import secrets
import socket
from dataclasses import dataclass

from kibitz.errors import KibitzError

_ANYWHERE = ("192.0.2.1", 9)
"""An address for documentation (RFC 5737). If a UDP socket is connected to it, the system chooses a network, but sends
nothing.
"""


@dataclass(frozen=True)
class Access:
    """The secret key that other computers need to open the browser page of `kibitz board`. everywhere: whether a
    browser on the server's computer needs the key too.
    """

    key: str
    everywhere: bool = False


def make_key() -> str:
    """Return a new random key of 128 bits, as text that can be part of an address."""
    return secrets.token_urlsafe(16)


def own_host() -> str:
    """Return this computer's IPv4 address in the local network. Raises KibitzError if there is no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ANYWHERE)
            host = str(probe.getsockname()[0])
        except OSError:
            host = ""
    if not host or host.startswith(("127.", "0.")):
        raise KibitzError("--lan: this computer is not connected to a network. Connect it, or leave --lan out.")
    return host


def with_key(address: str, key: str) -> str:
    """Return the address that opens the browser page of `kibitz board` on another device: `address` with the key.
    address: for example http://192.168.1.20:8642.
    """
    return f"{address}/?key={key}"


def qr_code(text: str) -> str:
    """Return a QR code of a text, drawn with half-block characters for a terminal with light text on a dark
    background.
    """
    import segno

    out = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(out=out, border=2, compact=True)
    return out.getvalue().rstrip("\n")
