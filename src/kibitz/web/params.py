"""Parse requests from the browser page of `kibitz board`. A request is JSON from an untrusted client, so each field is
validated. Every function raises BadRequest for invalid data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kibitz.errors import KibitzError
from kibitz.text import shown

if TYPE_CHECKING:
    from kibitz.web.networks import NetworkInfo

Fields = Mapping[str, Any]


class BadRequest(KibitzError):
    """Raised for an invalid request. The page shows the message. status: the HTTP status."""

    def __init__(self, line: str, status: int = 400):
        super().__init__(" ".join(line.split()))
        self.status = status


def read_body(body: bytes) -> Fields:
    """Parse the body of a request, which must be a JSON object. Raises BadRequest for any other body."""
    try:
        value = json.loads(body)
    # ValueError is raised for invalid JSON or UTF-8, and for a number with too many digits
    except (ValueError, RecursionError):
        raise BadRequest("the request is not JSON") from None
    return an_object(value, "the request")


def an_object(value: object, name: str) -> Fields:
    """Return the value after checking that it is a JSON object. name: the name of the value, for the message. Raises
    BadRequest for any other value.
    """
    if not isinstance(value, dict):
        raise BadRequest(f"{name} must be a JSON object")
    return value


def optional_object(fields: Fields, name: str) -> Fields:
    """Return a field of a request: a JSON object; {} if the field is missing. Raises BadRequest for any other value.
    fields: the JSON of the request. name: the name of the field.
    """
    value = fields.get(name)
    return {} if value is None else an_object(value, name)


def objects(value: object, name: str, most: int) -> list[Fields]:
    """Return the value after checking that it is a list of at most `most` JSON objects. name: the name of the value,
    for the message. Raises BadRequest for any other value.
    """
    if not isinstance(value, list):
        raise BadRequest(f"{name} must be a list")
    if len(value) > most:
        raise BadRequest(f"{name} has too many entries: {len(value):,}. The maximum is {most:,}")
    return [an_object(item, f"an entry of {name}") for item in value]


def words(fields: Fields, name: str, most: int) -> list[str]:
    """Return a field of a request: a list of at most `most` strings; [] if the field is missing. Raises BadRequest for
    any other value. fields: the JSON of the request. name: the name of the field.
    """
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadRequest(f"{name} must be a list of strings")
    if len(value) > most:
        raise BadRequest(f"{name} has too many entries: {len(value):,}. The maximum is {most:,}")
    return value


def text(fields: Fields, name: str, default: str | None = None) -> str:
    """Return a field of a request: a string; `default` if the field is missing. fields: the JSON of the request. name:
    the name of the field.

    Raises BadRequest if the field is missing and `default` is None, or if the value is not a string of valid Unicode.
    """
    value = fields.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON may contain only one of the two numbers that represent a character in UTF-16
        raise BadRequest(f"{name} contains an incomplete character, which is invalid Unicode") from None
    return value


def choice(fields: Fields, name: str, among: Sequence[str], default: str) -> str:
    """Return a field of a request: one of the strings in `among`; `default` if the field is missing. Raises BadRequest
    for any other value. fields: the JSON of the request. name: the name of the field.
    """
    value = text(fields, name, default)
    if value not in among:
        raise BadRequest(f"{name} must be one of {', '.join(among)} (got {shown(value)})")
    return value


def whole(fields: Fields, name: str, default: int, low: int, high: int) -> int:
    """Return a field of a request: an integer from `low` to `high`; `default` if the field is missing. A number such as
    3.0 is also accepted. Raises BadRequest for any other value. fields: the JSON of the request. name: the name of the
    field.
    """
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadRequest(f"{name} must be a whole number from {low:,} to {high:,}")
    return value


def number(fields: Fields, name: str, default: float | None, low: float, high: float) -> float | None:
    """Return a field of a request: a number from `low` to `high`; `default` if the field is missing. Raises BadRequest
    for any other value. fields: the JSON of the request. name: the name of the field.
    """
    value = fields.get(name)
    if value is None:
        return default
    # this form of the test also rejects NaN
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadRequest(f"{name} must be a number from {low:g} to {high:g}")
    return float(value)


def numbers(fields: Fields, name: str, most: int, low: float, high: float) -> list[float | None]:
    """Return a field of a request: a list of at most `most` numbers from `low` to `high`. In the list, null becomes
    None. Raises BadRequest for any other value, or if the field is missing. fields: the JSON of the request. name: the
    name of the field.
    """
    value = fields.get(name)
    if not isinstance(value, list):
        raise BadRequest(f"{name} must be a list")
    if len(value) > most:
        raise BadRequest(f"{name} has too many entries: {len(value):,}. The maximum is {most:,}")
    return [number({name: item}, name, None, low, high) for item in value]


def check_game(network: NetworkInfo, game: str) -> None:
    """Raise BadRequest if the network is not for this game. game: "chess" or "go"."""
    if network.game != game:
        raise BadRequest(f"{network.name} is a network for {'Go' if network.game == 'go' else network.game}")


def dumps(value: object) -> bytes:
    """Format a value as JSON in one line of ASCII. NaN and infinity become null, because browsers can't read them."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":")).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
