"""Convert the fields of dataclasses to command-line options, and replace old spellings of options by the current ones.
The old spellings work for one more release.

The options of a command are the fields of a few frozen dataclasses. A field is declared like a parameter for typer:
`limit: Annotated[int | None, typer.Option(help=...)] = None`. A system is a kind of network, and its hyperparameters
are called settings. A setting is declared with `kibitz.systems.base.setting`.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from itertools import pairwise
from typing import Annotated, Any, get_type_hints

import typer

from kibitz.commands.help_texts import SETTINGS_OF
from kibitz.errors import UsageError
from kibitz.systems import spelling
from kibitz.text import shown

RENAMED_COMMANDS = {"search": "tune"}
"""The current name of each renamed command, by the old name. The old names work for one more release, and the help does
not show them.
"""

_OF_SETTINGS = {spelling.option_of(old): spelling.option_of(new) for old, new in spelling.RENAMED_SETTINGS.items()}
_OF_TRAINING = {spelling.option_of(old): spelling.option_of(new) for old, new in spelling.RENAMED_TRAINING.items()}
RENAMED_OPTIONS: dict[str, dict[str, str]] = {
    "train": {**_OF_SETTINGS, **_OF_TRAINING},
    "tune": {**_OF_SETTINGS, "--l2s": "--weight-decays"},
}
"""For each command, the current spelling of each renamed option, by the old spelling. A switch needs a second entry for
its --no- form.
"""

_OF_RUNS = ("--start-from", "--run", "--reuse", "--out", "--recipe")
"""Options whose value is a name that the user chose, or the name of a bundled network."""
_OF_VALUES = {spelling.option_of(name): values for name, values in spelling.RENAMED_VALUES.items()}
RENAMED_VALUES: dict[str, dict[str, dict[str, str]]] = {"train": _OF_VALUES, "tune": _OF_VALUES}
"""For each command and option, the current spelling of each renamed value, by the old spelling. The options have their
current spelling.
"""


def respelled(arguments: Sequence[str]) -> list[str]:
    """Return a command line in which old spellings of the command, options and values are replaced by the current
    spellings.

    arguments: the command line without the program's name, as a list of words.
    """
    words = list(arguments)
    if not words:
        return words
    command = words[0] = RENAMED_COMMANDS.get(words[0], words[0])
    options, values = _spellings(command, words)
    spelled, before = words[:1], ""
    for i, word in enumerate(words[1:], 1):
        if word == "--":  # after "--", no word is an option
            return spelled + words[i:]
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            name = options.get(name, name)
            word = name + equals + values.get(name, {}).get(value, value)
        else:
            word = values.get(before, {}).get(word, word)
        spelled.append(word)
        before = word
    return spelled


def _spellings(command: str, words: Sequence[str]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the rows of RENAMED_OPTIONS and RENAMED_VALUES that apply to a command line.

    A row does not apply if the system (kind of network) has a setting with the old name, or a choice with the old
    value. A system of another package may use a name that kibitz used before. The system is loaded only if the line has
    an old spelling.
    """
    options, values = RENAMED_OPTIONS.get(command, {}), RENAMED_VALUES.get(command, {})
    parts = {part for word in words[1:] for part in word.split("=", 1)}
    old = options.keys() | {value for renamed in values.values() for value in renamed}
    if not parts & old or (system := _system_in(words)) is None:
        return options, values
    from kibitz.errors import KibitzError
    from kibitz.systems import load

    with contextlib.suppress(KibitzError):  # the command itself reports what is wrong
        own = {spelling.option_of(f.name): f.metadata.get("choices", ()) for f in fields(load(system).settings_type)}
        options = {name: new for name, new in options.items() if name not in own}
        values = {
            option: {value: new for value, new in renamed.items() if value not in own.get(option, ())}
            for option, renamed in values.items()
        }
    return options, values


def _system_in(words: Sequence[str]) -> str | None:
    """Return the system in a command line; None if there is none. The value of an option may be the name of a system
    (kind of network).
    """
    from kibitz.systems import SYSTEMS

    named = [word for before, word in pairwise(words) if word in SYSTEMS and before not in _OF_RUNS]
    return named[0] if named else None


def parameters_of(
    group: type, panel: str | None = None, defaults: Mapping[str, Any] | None = None, without: Sequence[str] = ()
) -> list[inspect.Parameter]:
    """Convert the fields of a dataclass to parameters for typer. The parameters are in the order of the fields.

    group: the dataclass.
    panel: the heading in the help for fields that were made with `kibitz.systems.base.setting`; None for no heading.
    defaults: a dict from names of fields to default values. These values replace the default values in the dataclass.
        None for no replacements.
    without: the names of fields that are omitted.
    """
    hints: dict[str, Any] | None = None
    parameters = []
    for field in fields(group):
        if field.name in without:
            continue
        if "help" in field.metadata:
            annotation = _setting_option(group, field, panel)
        else:
            hints = hints or get_type_hints(group, include_extras=True)
            annotation = hints[field.name]
        default = (defaults or {}).get(field.name, field.default)
        parameters.append(_keyword(field.name, annotation, inspect.Parameter.empty if default is MISSING else default))
    return parameters


def with_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Convert a function to a command for typer. If a parameter of the function is a dataclass, each field of the
    dataclass becomes an option of the command.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        annotation = hints[parameter.name]
        if isinstance(annotation, type) and is_dataclass(annotation):
            groups[parameter.name] = annotation
            parameters += parameters_of(annotation)
        else:
            parameters.append(_keyword(parameter.name, annotation, parameter.default))

    def command(**values: Any) -> None:
        grouped = {name: group(**{f.name: values.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        function(**grouped, **values)

    command.__doc__ = _unwrapped(function.__doc__ or "")
    return _with_parameters(command, parameters)


def _unwrapped(text: str) -> str:
    """Put each paragraph of a docstring into one line. The help wraps it again to the width of the terminal."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def with_settings(
    command: Callable[..., None], arguments: Sequence[str], without: Sequence[str] = ()
) -> Callable[..., None]:
    """Add the hyperparameters of a system (kind of network) to a command, as further options. Return the new command.
    If the command line contains no system's name, the command is returned unchanged.

    command: a command that `with_groups` made from a function with the parameter `**settings`. The values of the
        hyperparameters are passed as `**settings`.
    arguments: the words of the command line after the program's name.
    without: the names of hyperparameters that do not become options.
    """
    from kibitz.systems import load

    if (system := _system_in(arguments)) is None:
        return command
    parameters = inspect.signature(command).parameters
    defaults = _system_defaults(arguments, system, "recipe" in parameters)
    settings = parameters_of(load(system).settings_type, f"{SETTINGS_OF}{system}", defaults, without)
    return _with_parameters(command, [*parameters.values(), *settings])


def _system_defaults(arguments: Sequence[str], system: str, recipes: bool) -> dict[str, Any]:
    """Return defaults of the system's options that replace those of its Settings.

    They are the settings of the run in --start-from, if it is a run of this system, and those of the recipe in
    --recipe. Without these options, they are those of the recipe "default", if the command has recipes.
    """
    from kibitz.errors import KibitzError
    from kibitz.runs import Run
    from kibitz.systems import DEFAULT, find_recipe

    settings: dict[str, Any] = {}
    source = _last_value("--start-from", arguments)
    recipe = _last_value("--recipe", arguments) if recipes else None
    with contextlib.suppress(KibitzError):  # the command itself reports what is wrong
        if source is not None and (run := Run(source)).info["system"] == system:
            settings |= asdict(run.settings)
        if recipes and (recipe or source is None):
            settings |= find_recipe(system, recipe or DEFAULT).settings
    return settings


def _last_value(option: str, arguments: Sequence[str]) -> str | None:
    """Return the value of an option in a command line, or None. If the option is given several times, the last value
    counts, as in the command line parser.
    """
    words = [part for word in arguments for part in word.split("=", 1)]
    return next((value for name, value in reversed(list(pairwise(words))) if name == option), None)


def _setting_option(group: type, field: Field[Any], panel: str | None) -> Any:
    """Return the type annotation for a system's setting. The help of a number ends with its range.

    A switch has a --no- form, because --start-from may have turned it on. The batch size may be a number or "auto".
    """
    from kibitz.systems.base import range_of

    kind, name = type(field.default), spelling.option_of(field.name)
    allowed = range_of(group, field.name)
    ending = f" [{allowed}]" if allowed else ""
    names = f"{name}/--no-{name.removeprefix('--')}" if kind is bool else name
    if field.name == "batch":
        words = field.metadata["help"].rstrip(".")
        help = f"{words}; {spelling.AUTO} uses as many as fit in the memory of the GPU.{ending}"
        return Annotated[kind, typer.Option(names, help=help, rich_help_panel=panel, parser=_number_or_auto)]
    return Annotated[kind, typer.Option(names, help=field.metadata["help"] + ending, rich_help_panel=panel)]


def _number_or_auto(text: str) -> Any:
    if text == spelling.AUTO:
        return text
    try:
        return int(text)
    except ValueError:
        wrong = f"--batch must be a whole number or {spelling.AUTO} (got {shown(text) or 'nothing'})"
        raise UsageError(wrong) from None


def _with_parameters(command: Callable[..., None], parameters: Sequence[inspect.Parameter]) -> Callable[..., None]:
    """Return the same function with a signature that lists these parameters."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """Return a parameter of a command.

    If a file can't be read, this is not a wrong call, so typer does not check it. The command tries to open the file,
    and reports the problem with exit code 1.
    """
    for part in getattr(annotation, "__metadata__", ()):
        if hasattr(part, "readable"):
            part.readable = False
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
