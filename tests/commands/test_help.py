"""The help: it fits a terminal, has examples, and describes every option once."""

from __future__ import annotations

import dataclasses
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from kibitz import cli
from kibitz.commands import help, help_texts
from kibitz.systems import SYSTEMS, load

PAGES = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def parameters() -> dict[str, list[Any]]:
    """The parameters of each command, without --help and hidden ones."""
    group: Any = typer.main.get_command(cli._app([]))
    return {
        name: [p for p in group.commands[name].params if not getattr(p, "hidden", False) and "--help" not in p.opts]
        for name in cli.COMMANDS
    }


def options_of(parameters: list[Any]) -> set[str]:
    return {option for each in parameters if each.param_type_name == "option" for option in each.opts}


def test_every_command_has_words_and_a_panel() -> None:
    assert help_texts.COMMANDS.keys() == cli.COMMANDS.keys()
    assert sorted(name for names in help_texts.PANELS.values() for name in names) == sorted(cli.COMMANDS)


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_the_short_help_fits_a_screen(name: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.run([name, "-h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(f"  kibitz {name} ") or line == f"  kibitz {name}" for line in lines) == 3
    assert lines[0].startswith(f"Usage: kibitz {name}")
    assert "Docs: docs/" in lines[-1]


def test_help_of_all_widths(parameters: dict[str, list[Any]]) -> None:
    for columns in (60, 80, 100):
        for name, each in parameters.items():
            text = help.of_command(name, each, columns, everything=True)
            prose = [line for line in text.splitlines() if not re.match(r"  (kibitz|-|[A-Z])|Usage", line)]
            assert max(map(len, prose)) <= columns, (name, columns)


def test_the_value_of_an_option_is_named_as_its_text_says(parameters: dict[str, list[Any]]) -> None:
    """The option --to creates a folder in one command, and a file in another."""
    for name, each in parameters.items():
        for parameter in each:
            words = help._text(name, parameter)
            if parameter.param_type_name == "option" and (kind := re.match(r"(File|Folder)\b", words)):
                value = help._metavar(parameter)
                assert kind[1].upper() in value or not {"FILE", "FOLDER"} & set(value.split("|")), (name, words)


def test_every_option_and_argument_has_a_text(parameters: dict[str, list[Any]]) -> None:
    used: set[str] = set()
    for name, each in parameters.items():
        for parameter in each:
            if parameter.param_type_name == "argument":
                assert f"{name} {help._metavar(parameter)}" in help_texts.ARGUMENTS
                continue
            keys = {
                key for option in parameter.opts for key in (option, f"{name} {option}")
            } & help_texts.OPTIONS.keys()
            assert keys, (name, parameter.opts)
            used |= keys
    assert help_texts.OPTIONS.keys() == used, "texts that no command shows"


def test_panels_and_common_options_name_options(parameters: dict[str, list[Any]]) -> None:
    for name, words in help_texts.COMMANDS.items():
        known = options_of(parameters[name])
        listed = [option for row in words.panels.values() for option in row]
        assert set(listed) | set(words.common) <= known, name
        assert len(listed) == len(set(listed)), name
        if words.panels:
            every = [max(each.opts, key=len) for each in parameters[name] if each.param_type_name == "option"]
            missing = [option for option in every if option not in listed and option != "--min-moves"]
            assert not missing, (name, missing)


def test_examples_name_commands_and_options_that_exist(parameters: dict[str, list[Any]]) -> None:
    for name, words in help_texts.COMMANDS.items():
        for example in words.examples:
            program, command, *rest = shlex.split(example)
            assert (program, command) == ("kibitz", name)
            assert {word for word in rest if word.startswith("--")} <= options_of(parameters[name]), example


def test_summaries_are_short_and_pages_exist() -> None:
    for name, words in help_texts.COMMANDS.items():
        assert len(words.summary) <= 70
        assert not words.summary.endswith(".")
        assert words.page == "reference/commands.md" or (PAGES / words.page).is_file(), name


def test_options_that_need_an_account_say_so() -> None:
    """The headings name the accounts that the command accepts: `kibitz rate` is for chess only."""
    found = {}
    for name, words in help_texts.COMMANDS.items():
        for heading, options in words.panels.items():
            if heading.startswith("Account "):
                found[name] = "ogs" in heading
                for option in options:
                    text = help_texts.OPTIONS.get(f"{name} {option}", help_texts.OPTIONS[option])
                    assert "account" in text, (name, option)
    assert found == {"analyze": True, "rate": False, "personal": True}


def test_texts_are_short_sentences() -> None:
    for text in [*help_texts.OPTIONS.values(), *help_texts.ARGUMENTS.values()]:
        assert text.rstrip("]").endswith((".", ")")) or "[default" in text, text
        for sentence in re.split(r"(?<=[.;:])\s|\s\[", text):
            assert len(sentence.split()) <= 30, sentence


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_the_settings_of_a_system_are_single_sentences(system: str) -> None:
    for field in dataclasses.fields(load(system).settings_type):
        text = field.metadata["help"]
        assert re.fullmatch(r"[A-Z][^\n]*\.", text), (field.name, text)
        assert len(re.split(r"(?<=[.!?])\s", text)) == 1, (field.name, text)
        assert len(text.split()) <= 30, (field.name, text)
        assert not re.search(r"\b(ours|pass|passes|told|answers?)\b", text), (field.name, text)


def test_a_setting_with_the_name_of_another_option_has_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    """`match --games` counts the games of a match, `train convchess --games` the games to train on."""
    assert cli.run(["train", "convchess", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    games = next(field for field in dataclasses.fields(load("convchess").settings_type) if field.name == "games")
    assert games.metadata["help"] in words
    assert help_texts.OPTIONS["--games"] not in words
    assert cli.run(["match", "--help"]) == 0
    assert help_texts.OPTIONS["--games"] in " ".join(capsys.readouterr().out.split())


def test_the_help_of_settings_shows_ranges_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", "winner", "--recipe", "paper", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    for range_and_default in ("[at least 0 and less than 1] [default: 0.2]", "[at least 0] [default: 0]"):
        assert range_and_default in words  # of --dropout and --most-epochs


def test_help_anywhere_in_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", "winner", "--help"]) == 0
    assert "Settings of winner:" in capsys.readouterr().out
    assert cli.run(["systems", "--json", "-h"]) == 0
    assert capsys.readouterr().out.startswith("Usage: kibitz systems")


def test_light_calls_import_little() -> None:
    """Start-up by modules, which does not depend on the machine: seconds do."""
    limits = {"--help": (200, ("numpy", "numba", "onnxruntime", "pyarrow", "chess", "starlette")),
              "info human": (460, ("numba", "onnxruntime", "starlette", "torch"))}  # fmt: skip
    for call, (most, heavy) in limits.items():
        script = f"import sys; from kibitz.cli import run; run({call.split()!r}); print(*sys.modules, file=sys.stderr)"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        names = done.stderr.split()
        assert not {name.partition(".")[0] for name in names} & set(heavy), call
        assert len(names) <= most, (call, len(names))
