"""Error messages for a wrong command line. A message has one line with the wrong option or argument and its correct
form, in place of the message of typer, the command line parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kibitz.commands import help_texts
from kibitz.messages import did_you_mean
from kibitz.text import shown, whole_number

PROGRAM = "kibitz"
_EXPECTED = {"int": "a whole number", "float": "a number", "bool": "true or false"}
"""The beginning of a type's name in the parser's error -> a description of the value."""
_EXAMPLES = {"rating": 2000, "elo": 1500, "plies": 10, "": 20}
"""A part of an option's name -> an example of its value."""


def unknown_command(name: str, known: Sequence[str]) -> str:
    """Return the error message for a word that is neither a command nor an option of the program kibitz.

    name: the word that the user gave. known: the names of the existing commands. If `name` is similar to the name of a
    command, the message suggests this command.
    """
    kind = "option" if name.startswith("-") else "command"
    near = did_you_mean(name, known) if kind == "command" else ""
    return f"unknown {kind} {shown(name)}.{near} To list all commands: {PROGRAM} --help"


def message(error: Any, arguments: Sequence[str]) -> str:
    """Return the error message for an error that the command line parser raised.

    error: the parser's exception, of any class. arguments: the words of the command line after the program's name.
    """
    command = arguments[0] if arguments and arguments[0] in help_texts.COMMANDS else None
    see = f"See: {PROGRAM} {f'{command} ' if command else ''}--help"
    kind = type(error).__name__
    if kind == "NoSuchOption":
        return f"unknown option {shown(error.option_name)}.{did_you_mean(error.option_name, _options(error))} {see}"
    if kind == "MissingParameter":
        return f"{_name(error.param)} is missing. {_example(command) or see}"
    if kind == "BadOptionUsage":
        option = error.option_name
        if "require" in error.message:
            return f"{option} needs a value. {see}"
        return f"{option} takes no value (got {shown(_given(option, arguments))}). {see}"
    if kind == "BadParameter" and getattr(error, "param", None) is not None:
        return _bad_value(error, arguments)
    if extra := re.search(r"extra argument\S* \((.*)\)", getattr(error, "message", "")):
        return f"too many arguments (got {shown(extra[1])}). {_example(command) or see}"
    return f"this call is not possible. {see}"


def _options(error: Any) -> list[str]:
    context = getattr(error, "ctx", None)
    parameters = context.command.params if context is not None else []
    return [name for each in parameters if each.param_type_name == "option" for name in each.opts if name[:2] == "--"]


def _name(parameter: Any) -> str:
    """Format an option as it is typed, or an argument as in the help."""
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return f"the argument {help_texts.METAVARS.get(parameter.name, parameter.name.upper())}"


def _example(command: str | None) -> str:
    words = help_texts.COMMANDS.get(command) if command else None
    return f"Example: {words.examples[0]}" if words and words.examples else ""


def _given(option: str, arguments: Sequence[str]) -> str:
    """Return the value of an option in a command line; the last value if there are several."""
    for i in range(len(arguments) - 1, -1, -1):
        name, equals, value = arguments[i].partition("=")
        if name == option:
            return value if equals or i + 1 == len(arguments) else arguments[i + 1]
    return ""


def _bad_value(error: Any, arguments: Sequence[str]) -> str:
    """Return the message for a value of the wrong kind or outside its range."""
    parameter = error.param
    typed = {word.partition("=")[0] for word in arguments}
    name = next((option for option in parameter.opts if option in typed), _name(parameter))
    faults = error.__cause__.errors() if hasattr(error.__cause__, "errors") else []
    fault = faults[0] if faults else {}
    got = fault.get("input")
    if not isinstance(got, str | int | float):
        got = _given(name, arguments)
    got = shown(str(got)) or "nothing"
    kind = str(fault.get("type", ""))
    what = next((words for part, words in _EXPECTED.items() if kind.startswith(part)), "")
    example = next(value for part, value in _EXAMPLES.items() if part in name)
    end = f". Example: {name} {example}" if what == _EXPECTED["int"] and kind.endswith("parsing") else ""
    if limits := _limits(parameter, got):
        return f"{name} must be {what or 'a number'} {limits} (got {got})".replace("number of at", "number, at") + end
    if what:
        return f"{name} must be {what} (got {got}){end}"
    if re.search(r"does not exist", error.message):
        return f"{_path(error.message, got)}: no such file or folder. Check the path."
    if re.search(r"is a directory", error.message):
        return f"{_path(error.message, got)} is a folder. Give the path of a file."
    if re.search(r"is a file", error.message):
        return f"{_path(error.message, got)} is a file. Give a folder."
    return f"{name} has a value that is not possible (got {got}). See: {PROGRAM} {arguments[0]} --help"


def _path(message: str, got: str) -> str:
    quoted = re.search(r"'(.*)'|\"(.*)\"", message)
    return shown(quoted[1] or quoted[2]) if quoted else got


def _limits(parameter: Any, got: str) -> str:
    """Describe the range of an option: "from 1 to 10", "of at least 1"; "" without a range.

    got: the value. A very large upper limit is described only if the value exceeds it.
    """
    kind = getattr(parameter, "type", None)
    low, high = (
        next((value for of in (parameter, kind) if (value := getattr(of, end, None)) is not None), None)
        for end in ("min", "max")
    )
    if low is not None and high is not None and high < 1_000_000:
        return f"from {low:g} to {high:g}"
    if high is not None and (number := whole_number(got)) is not None and number > high:
        return f"of at most {high:,}"
    if low is not None:
        return f"of at least {low:g}"
    return f"of at most {high:g}" if high is not None else ""
