"""Check the numbers that callers of the Python API pass. Change error messages so that they name Python arguments
instead of command-line options.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from kibitz.errors import KibitzError, UsageError

P = ParamSpec("P")
R = TypeVar("R")
_OPTION = re.compile(
    r"(?<![\w-])--([a-z][a-z-]*[a-z])(?: (unseen|test|validation|training|all|default|body|square|both)\b)?"
)
"""Matches an option of the command line in a message, and a value of it that is a word."""


def name_arguments(
    more: Callable[..., Iterable[str]] = lambda *args, **kwargs: (), **renamed: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that replaces command-line options in a function's error messages by arguments of the
    function. For example, `--engine-options` becomes `engine_options`.

    more: a function that takes the same arguments as the decorated function. It returns argument names that are not in
        the signature, such as the keywords of `**settings`.
    renamed: the arguments whose option has another name. For example, number="game" replaces `--game` by `number`.

    An option that matches no argument stays in the message. Such an option is part of a command that the message
    recommends.
    """
    options = {option.replace("_", "-"): argument for argument, option in renamed.items()}

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own = {name.replace("_", "-"): name for name in inspect.signature(function).parameters}

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except KibitzError as error:
                if "--" not in str(error):
                    raise
                known = {name.replace("_", "-"): name for name in more(*args, **kwargs)} | own | options
                error.args = (_with_arguments(str(error), known),)
                raise

        return call

    return decorate


def _with_arguments(message: str, known: dict[str, str]) -> str:
    """Return a message with arguments for the options that are known. known: arguments by option, without dashes."""

    def argument(found: re.Match[str]) -> str:
        option, value = found[1], found[2]
        if option not in known:
            return found[0]
        return f'{known[option]}="{value}"' if value else known[option]

    return _OPTION.sub(argument, message)


def plain(value: Any) -> Any:
    """Return a value with Python numbers instead of NumPy scalars. The function also replaces the scalars in a tuple or
    a list. Any other value is returned unchanged.

    `json` can't write NumPy scalars, so the scalars of a caller must not reach files or results.
    """
    if type(value) in (tuple, list):
        return type(value)(map(plain, value))
    return value.item() if isinstance(value, np.generic) else value


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise UsageError unless the value is an integer of Python or NumPy from `least` to `most`. If `most` is None,
    there is no upper limit. name: the name of the argument, which the error message contains.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise UsageError(f"{name} must be a whole number (got {value!r})")
    if value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name} must be {limits} (got {value})")


def check_number(name: str, value: Any, above: float | None = None, least: float | None = None) -> None:
    """Raise UsageError unless the value is a finite number, greater than `above` and at least `least`. If a limit is
    None, it does not apply. name: the name of the argument, which the error message contains.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise UsageError(f"{name} must be a number (got {value!r})")
    if not math.isfinite(value):
        raise UsageError(f"{name} must be a finite number (got {value})")
    if above is not None and not value > above:
        raise UsageError(f"{name} must be greater than {above:g} (got {value:g})")
    if least is not None and value < least:
        raise UsageError(f"{name} must be at least {least:g} (got {value:g})")
