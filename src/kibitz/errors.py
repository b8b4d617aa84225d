"""Errors that the program reports to the user in one line."""

from __future__ import annotations

import importlib.util

TRAINING = ("torch", "lightning_fabric", "onnx", "optuna", "sklearn", "matplotlib", "jinja2")
"""Import names of the packages that `pip install 'kibitz[train]'` installs. Only training needs them."""


MAX_FOREIGN = 200
"""The largest number of characters that a message quotes from another library's error."""


class KibitzError(Exception):
    """Raised if a task can't be done. Its text has one line: what is wrong and what to do. The exit code of the command
    is then 1.
    """

    exit_code = 1


class UsageError(KibitzError):
    """Raised for a wrong call, such as a wrong option, a wrong name, or options that exclude each other. The exit code
    of the command is then 2.
    """

    exit_code = 2


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line.

    For an OSError with a message of the operating system, the result is this message in lower case, without the file's
    name. For any other error, the result is the error's text, with each run of white space replaced by a space. If the
    text is empty, the result is the name of the error's class. The text of another library's error is cut after
    MAX_FOREIGN (200) characters.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    line = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, KibitzError) or len(line) <= MAX_FOREIGN:
        return line
    return line[:MAX_FOREIGN].rstrip() + " …"


def need_training(what: str) -> None:
    """Raise KibitzError if a package of `pip install 'kibitz[train]'`, such as PyTorch, is not installed.

    what: the subject of the error message, such as "training".
    """
    missing = [name for name in TRAINING if importlib.util.find_spec(name) is None]
    if missing:
        parts = "PyTorch and related packages" if "torch" in missing else " and ".join(missing)
        raise KibitzError(f"{what} needs {parts}. Install them: pip install 'kibitz[train]'")
