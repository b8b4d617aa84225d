"""Find installed programs of other authors, such as Stockfish. They are on the PATH, or in the folder in which Debian
installs games.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kibitz.errors import UsageError
from kibitz.messages import did_you_mean

GAMES = "/usr/games"
WELL_KNOWN = ("stockfish", "lc0", "gnuchess --uci", "gnugo --mode gtp", "katago gtp", "pachi")
"""The command lines of engines that kibitz knows."""
_OF_GO = {"gnugo", "katago", "pachi"}
"""Programs that use GTP. Other programs are considered GTP programs if a word of their command contains "gtp"."""


@dataclass(frozen=True)
class Program:
    """An installed program that plays chess or Go.

    name: the name that kibitz shows.
    command: the program's path and its arguments.
    game: "chess" for a UCI engine, "go" for a GTP engine.
    """

    name: str
    command: tuple[str, ...]
    game: str

    @property
    def is_well_known(self) -> bool:
        """Whether the program is in kibitz's list of well-known programs, such as Stockfish and GNU Go. For these
        programs, kibitz knows whether they play chess or Go.
        """
        return self.name.lower() in _ARGUMENTS


_ARGUMENTS = {words.split()[0]: tuple(words.split()[1:]) for words in WELL_KNOWN}


def find_program(word: str) -> str | None:
    """Return the path of a program; None if the program is not installed. word: the name or the path of the program."""
    return shutil.which(word) or (shutil.which(f"{GAMES}/{word}") if os.sep not in word else None)


def find_stockfish(path: str | None = None) -> str | None:
    """Return the path of Stockfish; None if it is not installed. path: the path that the user gave; None to look for
    the installed program.
    """
    return shutil.which(path) if path else find_program("stockfish")


def find_gnugo(path: str | None = None) -> str | None:
    """Return the absolute path of GNU Go; None if it is not installed. path: the path that the user gave; None to look
    for the installed program.
    """
    program = shutil.which(path) if path else find_program("gnugo")
    return os.path.abspath(program) if program else None


def find_named(option: str, path: str | None, find: Callable[[str | None], str | None]) -> str | None:
    """Return the path of a program; None if it is not installed. Raises UsageError if the user gave a path that is not
    a program.

    option: the command-line option with the path, for the error message.
    path: the path that the user gave; None to look for the installed program.
    find: the function that finds the program, such as `find_gnugo`.
    """
    program = find(path)
    if path is not None and program is None:
        raise UsageError(f"{option} must be a program (got {path}). Install it or give its path.")
    return program


def read_command(words: str, option: str = "--engine") -> Program:
    """Return the installed program that a command line starts. Raises UsageError if the program is not installed.

    words: the command line, such as "stockfish" or "gnugo --mode gtp". option: the command-line option that contains
    it, for error messages.
    """
    try:
        command = split_command(words)
    except ValueError:
        raise UsageError(
            f"{option} has a quotation mark that is not closed (got {words}). Add the closing mark."
        ) from None
    path = find_program(command[0]) if command else None
    if path is None:
        near = did_you_mean(words, _ARGUMENTS)
        raise UsageError(
            f"{option} must be a program (got {words or 'nothing'}).{near} Give the name or path of the program, and"
            " then its arguments."
        )
    return _program(str(Path(path).absolute()), command[1:])


def split_command(words: str) -> list[str]:
    """Return the words of a command line. If the whole text is the name or path of an installed program, it is one
    word, even if it has spaces.

    On Windows, a backslash separates folders; elsewhere, it quotes the next character. Raises ValueError if a quotation
    mark is not closed.
    """
    if find_program(words):
        return [words]
    if sys.platform != "win32":
        return shlex.split(words)
    found = shlex.split(words, posix=False)
    return [word[1:-1] if len(word) > 1 and word[0] == word[-1] in "\"'" else word for word in found]


def _program(path: str, arguments: Sequence[str]) -> Program:
    name = Path(path).stem
    arguments = tuple(arguments) or _ARGUMENTS.get(name.lower(), ())
    go = name.lower() in _OF_GO or any("gtp" in word.lower() for word in (name, *arguments))
    return Program(name, (path, *arguments), "go" if go else "chess")


def known_programs(given: Sequence[Program]) -> list[Program]:
    """Return the given programs, followed by the well-known programs that are installed. Each program's name occurs
    only once.
    """
    found = list(given)
    for word, arguments in _ARGUMENTS.items():
        path = find_program(word)
        if path and all(Path(path).resolve() != Path(each.command[0]).resolve() for each in given):
            found.append(_program(str(Path(path).absolute()), arguments))
    named: dict[str, Program] = {}
    for each in found:
        name, number = each.name, 1
        while name in named:
            number += 1
            name = f"{each.name} {number}"
        named[name] = Program(name, each.command, each.game)
    return list(named.values())


def read_option(text: str, example: str = "Hash=64") -> tuple[str, str]:
    """Return the name and the value of an engine option in the form NAME=VALUE. Raises UsageError for any other text.

    example: an example of a valid text, which the error message contains.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"an option must be written NAME=VALUE, for example {example} (got {text})")
    return name.strip(), value.strip()
