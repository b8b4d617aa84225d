"""The layout of `kibitz --help`: plain text that fits a terminal of 80 columns.

`-h` after a command shows one screen: the usage, a summary, three examples, the arguments and the common options.
`--help` shows all options under headings. The texts are in `kibitz.commands.help_texts`.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from kibitz.commands.help_texts import (
    ARGUMENTS,
    COMMANDS,
    EXAMPLES,
    METAVARS,
    OPTIONS,
    PANELS,
    SETTINGS_OF,
    SUMMARY,
    VALUES,
    CommandHelp,
)

SHORT, LONG = "-h", "--help"
MAX_WIDTH = 100
"""The largest width of the help, in columns. Longer lines are hard to read."""
TEXT_COLUMN = 26
"""The column in which the text of an option begins."""


def requested(arguments: Sequence[str]) -> str | None:
    """Return the word by which a command line requests help, "-h" or "--help"; None if it does not request help."""
    words = list(arguments)
    if "--" in words:
        words = words[: words.index("--")]
    return next((word for word in words if word in (SHORT, LONG)), None)


def width() -> int:
    """Return the width of the help in columns: the width of the terminal, limited to the range from 40 to 100. Without
    a terminal, the width is 80.
    """
    return min(MAX_WIDTH, max(40, shutil.get_terminal_size((80, 24)).columns))


def overview(columns: int) -> str:
    """Return the text of `kibitz --help`: the commands by purpose, and three commands to begin with. columns: the width
    of the text.
    """
    lines = ["Usage: kibitz COMMAND [OPTIONS]", "", *_wrapped(SUMMARY, columns), ""]
    for heading, names in PANELS.items():
        lines.append(f"{heading}:")
        for name in names:
            lines += _row(f"  {name}", COMMANDS[name].summary, columns, 14)
    lines += ["", "Examples:", *(f"  {example}" for example in EXAMPLES), ""]
    lines += _wrapped("Options of a command: kibitz COMMAND -h (common ones), kibitz COMMAND --help (all).", columns)
    return "\n".join(lines)


def of_command(name: str, parameters: Sequence[Any], columns: int, everything: bool, about: str = "") -> str:
    """Return the help text of a command.

    name: the command's name, such as "train".
    parameters: the parameters of typer's command.
    columns: the width of the text.
    everything: True to list all options, as for `--help`; False for only the common options, as for `-h`.
    about: the command's docstring, which is shown if `help_texts` has no text for the command.
    """
    words = COMMANDS.get(name) or CommandHelp(" ".join(about.split()), (), ())
    shown = [parameter for parameter in parameters if not getattr(parameter, "hidden", False)]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    options = [each for each in shown if each.param_type_name == "option" and LONG not in each.opts]
    lines = [*_wrapped(_usage(name, arguments, options), columns, "    "), "", *_wrapped(words.summary + ".", columns)]
    if everything:
        for paragraph in words.about:
            lines += ["", *_wrapped(paragraph, columns)]
    if words.examples:
        lines += ["", "Examples:", *(f"  {example}" for example in words.examples)]
    groups = [("Arguments", arguments)] if arguments else []
    for heading, row in [*groups, *_grouped(words, options, everything)]:
        lines += ["", f"{heading}:"]
        for each in row:
            text = _text(name, each)
            head = _metavar(each) if each.param_type_name == "argument" else _written(each)
            lines += _row(f"  {head}", text if everything else _first_sentence(text), columns, TEXT_COLUMN)
    more = f"All options: kibitz {name} --help. " if not everything and len(options) > len(words.common) else ""
    return "\n".join([*lines, "", f"{more}Docs: docs/{words.page}"])


def _grouped(words: CommandHelp, options: Sequence[Any], everything: bool) -> Iterator[tuple[str, list[Any]]]:
    """Return the options to show, by heading. An option that is in no panel is under its own heading, or under
    "Other".
    """
    by_name = {option: each for each in options for option in each.opts}
    if not everything:
        if common := [by_name[option] for option in words.common if option in by_name]:
            yield ("Options" if len(common) == len(options) else "Common options"), common
        return
    panels = {heading: [by_name[each] for each in names if each in by_name] for heading, names in words.panels.items()}
    listed = {id(option) for row in panels.values() for option in row}
    for option in options:
        if id(option) not in listed:
            heading = getattr(option, "rich_help_panel", None) or ("Other" if words.panels else "Options")
            panels.setdefault(heading, []).append(option)
    yield from ((heading, row) for heading, row in panels.items() if row)


def _usage(name: str, arguments: Sequence[Any], options: Sequence[Any]) -> str:
    written = [_metavar(each) if each.required else f"[{_metavar(each)}]" for each in arguments]
    needed = [_written(each) for each in options if each.required]
    return " ".join(["Usage: kibitz", name, *written, *needed, "[OPTIONS]"])


def _written(option: Any) -> str:
    """Format an option with its value as it is typed: "--limit N"."""
    names = "/".join([max(option.opts, key=len), *option.secondary_opts])
    value = "" if option.is_flag else f" {_metavar(option)}"
    return names + value


def _metavar(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return METAVARS.get(parameter.name, parameter.name.upper())
    given = VALUES.get(max(parameter.opts, key=len)) or parameter.metavar
    if given and len(given) <= 24:
        return str(given)
    return "VALUE" if given else _kind(parameter)


def _kind(parameter: Any) -> str:
    """Return a name for the value of an option, by its Python type."""
    descriptor = getattr(parameter, "type_descriptor", None)
    kind = str(getattr(descriptor, "annotation", "") or getattr(getattr(parameter, "type", None), "name", ""))
    if "int" in kind or "float" in kind:
        return "N"
    return "PATH" if "Path" in kind or "path" in kind else "TEXT"


def _first_sentence(text: str) -> str:
    """Return the first sentence of a text, without the default."""
    return re.split(r"(?<=[.;])\s|\s\[", text)[0].rstrip(";").rstrip(".") + "."


def _text(name: str, parameter: Any) -> str:
    """Return the text of an option or argument, with its choices, range and default."""
    if parameter.param_type_name == "argument":
        words = ARGUMENTS.get(f"{name} {_metavar(parameter)}") or " ".join((parameter.help or "").split())
        return words
    longest = max(parameter.opts, key=len)
    keys = [key for option in (longest, *parameter.opts) for key in (f"{name} {option}", option)]
    own = " ".join((parameter.help or "").split())
    # A setting may have the same name as an option of other commands, such as --games. It has its own text.
    words = own if _is_setting(parameter) else next((OPTIONS[key] for key in keys if key in OPTIONS), own)
    return words + _choices(parameter, words) + _range(parameter, words) + _default(parameter, words)


def _is_setting(parameter: Any) -> bool:
    return (getattr(parameter, "rich_help_panel", None) or "").startswith(SETTINGS_OF)


def _choices(parameter: Any, words: str) -> str:
    """Return the choices of an option, unless its first column shows them."""
    given = parameter.metavar or ""
    hidden = "|" in given and _metavar(parameter) != given
    return f" One of: {given.replace('|', ', ')}." if hidden and given.split("|")[0] not in words else ""


def _range(parameter: Any, words: str) -> str:
    type_ = getattr(parameter, "type", None)
    low = getattr(parameter, "min", None)
    low = getattr(type_, "min", None) if low is None else low
    high = getattr(parameter, "max", None)
    high = getattr(type_, "max", None) if high is None else high
    if high is None or high >= 1_000_000 or " to " in words.split("[default")[0]:
        return ""
    return f" [from {low:g} to {high:g}]"


def _default(parameter: Any, words: str) -> str:
    """Return the default in brackets; "" if the text already mentions it.

    Switches that are off and numbers that are 0 are shown only for settings, because a recipe or a run may have changed
    them.
    """
    if "[default" in words or "Default:" in words:
        return ""
    if isinstance(parameter.show_default, str):
        return f" [default: {parameter.show_default}]"
    value = parameter.default
    if _is_setting(parameter) and isinstance(value, (bool, int, float)) and not value:
        return " [default: off]" if value is False else " [default: 0]"
    if value in (None, False, "", ()) or callable(value) or not parameter.show_default:
        return ""
    shown = "on" if value is True else f"{value:g}" if isinstance(value, float) else value
    return f" [default: {shown}]"


def _wrapped(text: str, columns: int, further: str = "") -> list[str]:
    return textwrap.wrap(text, columns, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)


def _row(head: str, text: str, columns: int, column: int) -> list[str]:
    """Format two columns. The text begins below its head if the head is too long."""
    indent = " " * column
    body = textwrap.wrap(text, max(20, columns - column), break_long_words=False, break_on_hyphens=False) or [""]
    if len(head) < column - 1:
        return [head.ljust(column) + body[0], *(indent + line for line in body[1:])]
    return [head, *(indent + line for line in body)]
