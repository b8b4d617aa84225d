"""Print errors, warnings and notes for the user on standard error, and suggest similar names.

An error reads `error: WHAT is wrong (got VALUE). What to do.` It is one line. There is no period after a message of one
sentence, or after a command or an example at the end of a message.
"""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Iterable

from kibitz.text import either, shown

CLOSE, CLOSE_IF_SHORT = 0.65, 0.7
"""The smallest similarity of a name that a message suggests: in general, and for a name of up to three letters. The
similarity is the ratio of difflib, 0 to 1, with 1 for equal names.
"""


def error(line: str) -> None:
    """Print an error message. line: why a task can't be done, and what the user can do."""
    _write(f"error: {line}")


def warning(line: str) -> None:
    """Print a warning. The program continues."""
    _write(f"warning: {line}")


def note(line: str) -> None:
    """Print a note: useful information that is not a warning."""
    _write(f"note: {line}")


def stopped(line: str) -> None:
    """Print a line after Ctrl-C: how far the work had come."""
    _write(line)


def _write(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # standard error may be closed
        print(" ".join(line.split()), file=sys.stderr)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the name in `known` that is most similar to `name`, ignoring case; None if no name is similar."""
    by_key = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), by_key, 1, CLOSE if len(name) > 3 else CLOSE_IF_SHORT)
    return by_key[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the most similar name in `known`, such as " Did you mean winner?". It begins with
    a space, to be appended to a message. Return "" if no name is similar.
    """
    near = nearest(name, known)
    return f" Did you mean {near}?" if near is not None else ""


def not_one_of(what: str, got: object, choices: Iterable[object]) -> str:
    """Return the error message for a value that is not one of the choices, such as "--split must be test or all (got
    tets). Did you mean test?".

    what: the name of the option or parameter, such as "--split". got: the wrong value.
    """
    names = [str(each) for each in choices]
    near = did_you_mean(str(got), names)
    return f"{what} must be {either(names)} (got {shown(str(got)) or 'nothing'}){'.' if near else ''}{near}"
