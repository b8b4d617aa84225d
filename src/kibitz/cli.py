"""The command line: the table of the commands, and the handling of their errors.

Nothing large may be imported here or at the top of a command's module, so that `kibitz --help` is fast.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, cast

import typer

from kibitz import interrupts, memory, messages, preparation
from kibitz.commands import help, options, wrong_call
from kibitz.commands.workers import with_ray_local
from kibitz.errors import KibitzError, need_training, one_line

COMMANDS = {
    # games
    "import": "import_.command.import_games",
    "merge": "merge.merge",
    "info": "info.info",
    "explore": "explore.explore",
    # networks
    "systems": "systems.systems",
    "train": "train.train",
    "personal": "personal.personal",
    "tune": "tune.tune",
    "test": "test.run_test",
    "analyze": "analyze.command.analyze",
    "annotate": "annotate.annotate",
    "rate": "rate.rate",
    "export": "export.export",
    "export-positions": "export_positions.export_positions",
    # engines
    "uci": "engines.uci",
    "gtp": "engines.gtp",
    "setup": "setup.setup",
    "match": "match.command.match",
    "bench": "bench.bench",
    "prepare": "prepare.prepare",
    "doctor": "doctor.doctor",
    # the browser
    "board": "board.board",
}
"""The commands, in the order of the help: name -> "module.function", where the module is in kibitz.commands."""

OF_A_SYSTEM = ("train", "tune")
"""Names of the commands whose options include the settings of a system (a kind of network, such as `winner`)."""

OF_THE_EXTRA = ("train", "personal", "tune", "test")
"""Names of the commands that need PyTorch and the other packages of `pip install 'kibitz[train]'`."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 plus the signal's number, as is usual in shells."""

_OF_THE_PROGRAM = ("-h", "--help", "--version")
"""Options that are valid without a command."""

_REMEDIES = {
    errno.ENOSPC: "the disk is full. Free some space and run the same command again.",
    errno.EDQUOT: "your disk quota is used up. Free some space and run the same command again.",
    errno.EACCES: "permission denied. Change the permissions or choose another path.",
    errno.EPERM: "permission denied. Change the permissions or choose another path.",
    errno.EROFS: "the file system is read-only. Choose another path.",
    errno.ENOENT: "no such file or folder. Check the path.",
    errno.EEXIST: "the file or folder exists already. Choose another name.",
    errno.ENOTDIR: "part of this path is a file, not a folder. Choose another path.",
    errno.EISDIR: "the path is a folder. Give the path of a file.",
    errno.ENAMETOOLONG: "the name is too long. Choose a shorter one.",
    errno.EMFILE: "too many open files. Raise the limit with ulimit -n.",
}
_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[2])
"""Click's exception for a wrong call. Versions of typer have click at different places."""


def _version(requested: bool) -> None:
    if requested:
        from kibitz import __version__

        print(f"kibitz {__version__}")
        raise typer.Exit


def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Train neural networks on chess and Go games; analyze, play and measure with them."""


def _function(name: str, arguments: Sequence[str]) -> Callable[..., None]:
    """Return the function of a command in the form for typer."""
    if name in OF_THE_EXTRA and arguments[:1] == [name] and not {"-h", "--help"} & set(arguments):
        need_training(name)
    module_name, function_name = COMMANDS[name].rsplit(".", 1)
    module = importlib.import_module(f"kibitz.commands.{module_name}")
    command = options.with_groups(getattr(module, function_name))
    if name in OF_A_SYSTEM and name in arguments:
        command = options.with_settings(command, arguments, getattr(module, "NOT_OPTIONS", ()))
    return command


def _app(arguments: Sequence[str]) -> typer.Typer:
    """Return the program. Only the requested command is registered, so that it starts fast."""
    app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
    app.callback(invoke_without_command=True)(_start)
    for name in arguments[:1] if set(arguments[:1]) <= COMMANDS.keys() and arguments else COMMANDS:
        app.command(name)(_function(name, arguments))
    return app


def _help(arguments: Sequence[str], command: Any) -> str | None:
    """Return the help text that a command line requests; None if it requests none."""
    form = help.requested(arguments)
    if form is None or arguments[0] not in COMMANDS:
        return None
    called = command.commands[arguments[0]] if hasattr(command, "commands") else command
    return help.of_command(arguments[0], called.params, help.width(), form == help.LONG, called.help or "")


def run(arguments: Sequence[str]) -> int:
    """Run one command, print its errors, and return the exit code. arguments: the command line without the name of the
    program.

    The exit codes are 0 for success, 1 for failure, 2 for a usage error (invalid arguments) and 130 after Ctrl-C. If
    the program that reads standard output has closed the pipe, the code is 141.
    """
    if arguments and arguments[0] not in {*COMMANDS, *options.RENAMED_COMMANDS, *_OF_THE_PROGRAM}:
        messages.error(wrong_call.unknown_command(arguments[0], list(COMMANDS)))
        return 2
    try:
        arguments = with_ray_local(options.respelled(arguments))
        # These options don't need the commands, whose import takes time.
        if not arguments or arguments[0] in (help.SHORT, help.LONG):
            print(help.overview(help.width()))
            return 0
        command = typer.main.get_command(_app(arguments))  # may load a system, which takes a moment
        if shown := _help(arguments, command):
            print(shown)
            return 0
        with command.make_context("kibitz", arguments) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as done:
        return done.exit_code
    except KibitzError as error:
        messages.error(str(error))
        return error.exit_code
    except KeyboardInterrupt as error:
        messages.stopped(str(error) or "interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output, for example `head`, has closed it
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # Rich found the output closed, and ends with exit code 1
            return 128 + 13
        raise
    except OSError as error:
        line = describe(error) or (memory.full() if memory.is_short() else None)
        if line is None:
            raise
        messages.error(line)
        return 1
    except _UsageError as error:
        messages.error(wrong_call.message(error, arguments))
        return 2
    except (MemoryError, RuntimeError, ImportError) as error:
        if not _memory_is_full(error) and not memory.is_short():
            raise
        messages.error(memory.full())
        return 1
    return 0


def describe(error: OSError) -> str | None:
    """Return one line about an error of the operating system: the file, the reason and the remedy. Return None if the
    error has no error number, which means a bug in kibitz.
    """
    if error.errno is None:
        return None
    remedy = _REMEDIES.get(error.errno, f"{one_line(error)}. Check the file and try again.")
    return f"{error.filename}: {remedy}" if error.filename else remedy


def _memory_is_full(error: Exception) -> bool:
    """Return whether memory is full: a MemoryError, or a RuntimeError of torch with such a message."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or "can't allocate memory" in text or "out of memory" in text


def main() -> None:
    """Run the command line of this process, and exit."""
    # Players' names may have characters that some terminals and pipes can't show.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    interrupts.unwind()
    memory.end_with_a_line(messages.error)
    # Chess and Go programs may show what kibitz uci and kibitz gtp write to standard error. So these commands print the
    # line about preparation only on a terminal.
    if not {"uci", "gtp"} & set(sys.argv[1:2]) or sys.stderr.isatty():
        preparation.listeners.append(preparation.PreparationLine())
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
