"""The command table, and how errors reach the shell."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from kibitz import __version__, cli
from kibitz.errors import KibitzError, UsageError
from support.causes import Ended, assert_refused, mentions

HEAVY = (
    "torch", "numba", "pyarrow", "matplotlib", "onnxruntime", "rust_pgn_reader_python_binding", "starlette", "uvicorn",
)  # fmt: skip


def test_nothing_heavy_is_loaded_for_a_word() -> None:
    """Of none of these calls, which one process makes one after the other."""
    calls = [["--help"], ["--version"], [], ["import", "--help"], ["systems", "--json"], ["nonsense"]]
    script = (
        "import sys\nfrom kibitz.cli import run\n"
        f"for call in {calls!r}:\n"
        "    run(call)\n"
        f"    loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "    assert not loaded, (call, loaded)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "board" in done.stdout


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    out = capsys.readouterr().out
    for name in cli.COMMANDS:
        assert name in out
        assert cli.run([name, "--help"]) == 0
        assert "Usage: kibitz " + name in " ".join(capsys.readouterr().out.split())


def test_help_shows_the_default_of_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", "winner", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for words in ("[default: runs/SYSTEM-1", "[default: 5% of all", "[default: the store's]", "[default port: 29400]"):
        assert words in shown
    assert cli.run(["import", "--help"]) == 0
    assert "pip install 'kibitz[ray]'" in " ".join(capsys.readouterr().out.split())


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 0
    assert "import" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"kibitz {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nonsense"], "nonsense & --help"),
        (["import"], "FILES & kibitz import"),
        (["import", "x.pgn"], "--into & kibitz import"),
        (["info", "a", "b"], "arguments & got b"),
        (["import", "x", "--into", "y", "--limit", "x"], "--limit & got x & whole number"),
    ],
)
def test_wrong_calls(capsys: pytest.CaptureFixture[str], arguments: list[str], line: str) -> None:
    assert cli.run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert mentions(err, line)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KibitzError("a.pgn: what\nwas wrong"), 1, "a.pgn: what was wrong"),
        (UsageError("--x: no"), 2, "--x: no"),
        (
            OSError(errno.ENOSPC, "x", "a"),
            1,
            "a: & disk & space",
        ),
        (
            OSError(errno.EACCES, "x", "a"),
            1,
            "a: & permission",
        ),
        (OSError(errno.ENOENT, "x", "a"), 1, "a: & file"),
        (OSError(errno.EIO, "I/O error", "a"), 1, "a: & i/o error"),
    ],
)
def test_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, line: str
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("kibitz.commands.systems.systems", fail)
    assert cli.run(["systems"]) == code
    assert_refused(Ended(code, *capsys.readouterr()), code=code, names=line)


@pytest.mark.parametrize(
    ("raised", "line"), [((), "interrupted"), (("interrupted; all kept",), "interrupted; all kept")]
)
def test_an_interruption_is_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], raised: tuple[str, ...], line: str
) -> None:
    def fail() -> None:
        raise KeyboardInterrupt(*raised)

    monkeypatch.setattr("kibitz.commands.systems.systems", fail)
    assert cli.run(["systems"]) == 130
    assert capsys.readouterr() == ("", line + "\n")


def test_a_bug_shows_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("kibitz.commands.systems.systems", fail)
    with pytest.raises(ZeroDivisionError):
        cli.run(["systems"])


@pytest.mark.parametrize(
    "prints", ["print('a' * 100_000)", "from rich.console import Console; Console().print('a ' * 5_000)"]
)
def test_a_reader_that_goes_away_is_no_error(prints: str) -> None:
    """As in: kibitz systems | head -0. Rich ends a program in a way of its own."""
    reading, writing = os.pipe()
    os.close(reading)
    program = f"from kibitz import cli\nfrom kibitz.commands import systems\ndef show():\n    {prints}\n"
    command = [sys.executable, "-c", f"{program}systems.systems = show\ncli.main()", "systems"]
    with_reader = subprocess.run(command, capture_output=True, check=False)
    assert (with_reader.returncode, with_reader.stderr) == (0, b""), "without the cause it succeeds"
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 141


def test_the_installed_program() -> None:
    program = os.path.join(os.path.dirname(sys.executable), "kibitz")
    if not os.path.exists(program):
        pytest.skip("not installed beside this Python")
    done = subprocess.run([program, "nonsense"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_ctrl_c_while_a_system_is_loaded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kibitz.commands.options.with_settings", interrupted)
    assert cli.run(["train", "winner", "a.store"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory"), RuntimeError("out of memory")]
)
def test_memory_that_is_not_there(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused() -> None:
        raise error

    monkeypatch.setattr("kibitz.commands.systems.systems", refused)
    assert cli.run(["systems"]) == 1
    assert capsys.readouterr().err.startswith("error: not enough memory")
    error.args = ("a bug",)
    if isinstance(error, RuntimeError):
        with pytest.raises(RuntimeError, match="a bug"):
            cli.run(["systems"])


def test_a_terminal_that_lacks_letters_gets_question_marks() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from kibitz import cli; from kibitz.commands import systems;"
         "systems.systems = lambda: print('Zoë – Q'); sys.argv = ['kibitz', 'systems']; cli.main()"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "Zo? ? Q\n"), done.stderr


def test_python_m_kibitz() -> None:
    done = subprocess.run([sys.executable, "-m", "kibitz", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"kibitz {__version__}\n"), done.stderr
