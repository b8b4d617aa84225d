"""Options: dataclasses as groups of options, and old spellings."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Annotated, Any

import pytest
import typer

from kibitz import cli
from kibitz.commands import options
from kibitz.commands.options import parameters_of, respelled, with_groups, with_settings
from kibitz.runs import Run, packaged
from kibitz.store.store import Store
from kibitz.systems import SYSTEMS, register
from kibitz.systems.base import setting
from kibitz.systems.declaration import Declaration
from support.causes import mentions

MOST_PARAMETERS = 11


@dataclass(frozen=True)
class Bounds:
    """A group of options as commands have them."""

    low: Annotated[int, typer.Option("--low", "--least", help="The least.", min=0)]
    names: Annotated[list[str] | None, typer.Option(help="Names.", metavar="NAME")] = None
    strict: Annotated[bool, typer.Option("--strict")] = False


@dataclass(frozen=True)
class Settings:
    """Settings as systems have them."""

    learning_rate: float = setting(0.1, "rate")
    mirror: bool = setting(True, "mirror the board")
    layers: str = setting("ip8", "layers")


def called(function: Callable[..., None], *words: str) -> None:
    app = typer.Typer()
    app.command()(function)
    typer.main.get_command(app).main(list(words), standalone_mode=False)


def test_fields_become_options_where_the_group_stands() -> None:
    seen: list[Any] = []

    def command(file: Annotated[str, typer.Argument()], *, bounds: Bounds, last: int = 3) -> None:
        """Its help."""
        seen.extend((file, bounds, last))

    built = with_groups(command)
    assert list(inspect.signature(built).parameters) == ["file", "low", "names", "strict", "last"]
    assert built.__doc__ == "Its help."
    called(built, "a.pgn", "--least", "2", "--names", "x", "--names", "y", "--strict")
    assert seen == ["a.pgn", Bounds(2, ["x", "y"], True), 3]


def test_a_field_without_default_is_required() -> None:
    def command(*, bounds: Bounds) -> None: ...

    with pytest.raises(Exception, match="low"):
        called(with_groups(command), "--strict")


def test_a_group_may_have_the_name_of_an_option() -> None:
    seen: list[Bounds] = []

    def command(*, low: Bounds) -> None:
        seen.append(low)

    called(with_groups(command), "--low", "1")
    assert seen == [Bounds(1)]


def test_settings_become_options_with_a_default_of_their_own() -> None:
    rate, mirror = parameters_of(Settings, "Settings of x", {"mirror": False}, without=["layers"])
    assert (rate.name, rate.default) == ("learning_rate", 0.1)
    assert (mirror.name, mirror.default) == ("mirror", False)
    (option,) = mirror.annotation.__metadata__
    assert (option.help, option.rich_help_panel) == ("mirror the board", "Settings of x")


def test_a_switch_of_the_settings_can_be_switched_off() -> None:
    seen: dict[str, Any] = {}

    def command(**settings: Any) -> None:
        seen.update(settings)

    built = options._with_parameters(with_groups(command), parameters_of(Settings))
    called(built, "--no-mirror", "--layers", "ip4")
    assert seen == {"learning_rate": 0.1, "mirror": False, "layers": "ip4"}


def test_settings_of_the_system_that_is_named_go_to_the_function() -> None:
    seen: dict[str, Any] = {}

    def command(system: Annotated[str, typer.Argument()], **settings: Any) -> None:
        seen.update(settings)

    plain = with_settings(with_groups(command), ["train", "--help"])
    assert list(inspect.signature(plain).parameters) == ["system"]
    called(with_settings(with_groups(command), ["train", "winner"], ["layers"]), "winner", "--learning-rate", "0.5")
    assert seen["learning_rate"] == 0.5
    assert "batch" in seen
    assert "layers" not in seen


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_no_command_has_dozens_of_parameters(name: str) -> None:
    module, function = cli.COMMANDS[name].rsplit(".", 1)
    command = getattr(__import__(f"kibitz.commands.{module}", fromlist=[function]), function)
    assert len(inspect.signature(command).parameters) <= MOST_PARAMETERS


# Old spellings


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(options.RENAMED_OPTIONS["train"], "--no-a", "--no-b")


@pytest.mark.parametrize(
    ("words", "now"),
    [
        ([], []),
        (["--version"], ["--version"]),
        (["search", "winner"], ["tune", "winner"]),
        (["search", "x", "--l2s", "0,1"], ["tune", "x", "--weight-decays", "0,1"]),
        (["tune", "x", "--l2s=0,1"], ["tune", "x", "--weight-decays=0,1"]),
        (["train", "x", "--l2", "0.1"], ["train", "x", "--weight-decay", "0.1"]),
        (["train", "x", "--l2=0.1", "--no-a"], ["train", "x", "--weight-decay=0.1", "--no-b"]),
        (["train", "x", "--optimiser", "adam"], ["train", "x", "--optimiser", "adamw"]),
        (["train", "x", "--optimiser=adam"], ["train", "x", "--optimiser=adamw"]),
        (["tune", "x", "--value-optimiser", "adam"], ["tune", "x", "--value-optimiser", "adamw"]),
        (["train", "adam", "--name", "adam"], ["train", "adam", "--name", "adam"]),
        (["train", "x", "--snapshot-every=9"], ["train", "x", "--checkpoint-every=9"]),
        (["train", "--", "--l2", "x"], ["train", "--", "--l2", "x"]),
        (["match", "--l2", "search"], ["match", "--l2", "search"]),
        (["info", "search"], ["info", "search"]),
    ],
)
def test_old_spellings_become_those_of_today(renamed: None, words: Sequence[str], now: list[str]) -> None:
    assert respelled(words) == now


@dataclass(frozen=True)
class OtherSettings:
    """Of a system of another package, which calls its settings as kibitz once did."""

    l2: float = setting(0.0, "its own")
    optimiser: str = setting("adam", "its own", choices=("adam", "lion"))


@pytest.mark.parametrize(
    ("words", "now"),
    [
        (["train", "other", "--l2", "0.1"], ["train", "other", "--l2", "0.1"]),
        (["train", "other", "--optimiser=adam"], ["train", "other", "--optimiser=adam"]),
        (["tune", "other", "--l2s", "0,1"], ["tune", "other", "--weight-decays", "0,1"]),
        (["train", "other", "--snapshot-every", "5"], ["train", "other", "--checkpoint-every", "5"]),
        (["train", "winner", "--l2", "0.1"], ["train", "winner", "--weight-decay", "0.1"]),
    ],
)
def test_settings_of_another_package_keep_their_names(
    monkeypatch: pytest.MonkeyPatch, words: Sequence[str], now: list[str]
) -> None:
    module = ModuleType("other")
    module.SYSTEM = SimpleNamespace(settings_type=OtherSettings)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "other", module)
    register(Declaration(name="other", game="chess", title="another", module="other", answers=(), evaluation=""))
    try:
        assert respelled(words) == now
    finally:
        SYSTEMS.remove("other")


def test_the_old_name_of_a_command_works_and_is_in_no_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "--help"]) == 0
    old = capsys.readouterr().out
    assert cli.run(["tune", "--help"]) == 0
    assert capsys.readouterr().out == old
    assert "--l2s" not in old
    assert cli.run(["--help"]) == 0
    assert "│ search" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["search", "tune"])
@pytest.mark.parametrize("option", ["--l2s", "--weight-decays"])
def test_an_old_spelling_has_the_same_effect(command: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([command, "winner", "no.store", option, "0,-1"]) == 2
    assert mentions(capsys.readouterr().err, "--weight-decays & 0 & -1 & number")


def test_old_spellings_of_settings_train_as_todays(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["train", "winner", str(small_store.path), "--layers", "16conv4x4.pool2x2.ip8", "--batch", "32"]
    call += ["--iterations", "2", "--precision", "float32", "--validate-positions", "50"]
    for name, words in {
        "old": ["--optimiser", "adam", "--l2=0.25"],
        "new": ["--optimiser", "adamw", "--weight-decay", "0.25"],
    }.items():
        assert cli.run([*call, *words, "--run", str(tmp_path / name)]) == 0, capsys.readouterr().err
    old, new = (Run(tmp_path / name).info["settings"] for name in ("old", "new"))
    assert old == new
    assert (new["weight_decay"], new["optimiser"]) == (0.25, "adamw")


@pytest.mark.parametrize("name", list(packaged()))
def test_the_settings_of_every_packaged_network_can_be_started_from(name: str) -> None:
    """They may have been trained by an earlier version, under other names."""
    run = Run(name)
    arguments = ["train", run.system.name, "a.store", "--start-from", name]
    defaults = options._system_defaults(arguments, run.system.name, True)
    assert run.settings == run.system.settings_type(**defaults)
    if defaults.get("networks") != "distilled":  # such a network learns no further, as a line of its own says
        run.system.check(run.settings)


@pytest.mark.parametrize(
    "words",
    [
        "train human a.store", "train --start-from chessnet human a.store", "train --run winner human a.store --seed 1",
        "train human a.store --start-from winner", "train --reuse deepchess human a.store",
    ],
)  # fmt: skip
def test_the_value_of_an_option_is_not_the_system(words: str) -> None:
    def command(system: Annotated[str, typer.Argument()], **settings: Any) -> None:
        raise AssertionError(f"{system} is not called with {settings}")

    assert "filters" in inspect.signature(with_settings(with_groups(command), words.split())).parameters
