"""Errors that are told to the user in one line."""

from __future__ import annotations


class KibitzError(Exception):
    """The work could not be done: what was wrong and what to do, in one line. Exit code 1."""

    exit_code = 1


class UsageError(KibitzError):
    """The call itself was wrong: an option, a name, a combination. Exit code 2."""

    exit_code = 2
