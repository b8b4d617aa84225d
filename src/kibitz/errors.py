"""Errors that are told to the user in one line."""

from __future__ import annotations

import importlib.util

TRAINING = ("torch", "lightning_fabric", "onnx", "optuna", "sklearn", "matplotlib", "jinja2")
"""What the extra `train` installs, by the names that are imported; nothing else in kibitz may need them."""


class KibitzError(Exception):
    """The work could not be done: what was wrong and what to do, in one line. Exit code 1."""

    exit_code = 1


class UsageError(KibitzError):
    """The call itself was wrong: an option, a name, a combination. Exit code 2."""

    exit_code = 2


def one_line(error: BaseException) -> str:
    """What an error says, in one line: what the system says, in lower case, of an OSError with a number; the first
    line of any other, or its type's name where it says nothing."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return (str(error).splitlines() or [type(error).__name__])[0]


def need_training(what: str) -> None:
    """Raises KibitzError where a part of the extra `train` is not installed. what: that needs it, as a user says it."""
    missing = [name for name in TRAINING if importlib.util.find_spec(name) is None]
    if missing:
        parts = "PyTorch and what goes with it" if "torch" in missing else " and ".join(missing)
        raise KibitzError(f"{what} needs {parts}: pip install 'kibitz[train]'")
