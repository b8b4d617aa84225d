"""The archives that are given away, and what `pip install kibitz` makes of them in an environment of its own.

Needs PyPI and npm's registry. Where they cannot be reached this is skipped, in CI (CI=true) it fails.
KIBITZ_PYTHONS names further Pythons, with spaces between them, that must install it and analyse a game.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from kibitz.errors import TRAINING
from support.light import FORBIDDEN, STEPS, Program, analyses_chess, write_games
from support.warm import Warm

ROOT = Path(__file__).parents[2]
PYTHONS = os.environ.get("KIBITZ_PYTHONS", "").split()
NAMES = {"pytorch-lightning": "lightning_fabric", "scikit-learn": "sklearn", "lightning-fabric": "lightning_fabric"}
"""What is imported of a distribution, where its name says otherwise."""

KERNELS = Path(".cache", "kibitz", "numba")
"""Where compiled kernels are, in a home."""
JUDGED = Path(".cache", "kibitz", "judged.sqlite")
"""Where the board of an earlier test has put what it judged."""

pytestmark = pytest.mark.slow


def environment(home: Path, **more: str) -> dict[str, str]:
    """That of a fresh machine: an empty home, no caches, nothing of this environment's Python."""
    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "ORT_DISABLE_TELEMETRY")
    kept = {key: value for key, value in os.environ.items() if key not in left_out and not key.startswith("XDG_")}
    pins = str(ROOT / "constraints.txt")
    return {
        **kept, "HOME": str(home), "PIP_NO_CACHE_DIR": "1", "PIP_CONSTRAINT": pins, "PIP_BUILD_CONSTRAINT": pins,
        "npm_config_cache": str(home / "npm"), **more,
    }  # fmt: skip


def call(*words: str | Path, home: Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environment(home), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=900, check=False,
    )  # fmt: skip


def good(*words: str | Path, home: Path, cwd: Path | None = None) -> None:
    done = call(*words, home=home, cwd=cwd)
    assert done.returncode == 0, done.stdout[-3000:]


def unreached(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For pip, npm and the build; the installed program has another."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Path:
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("the source tree is not here")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    got = call(sys.executable, "-m", "pip", "download", "--no-deps", "-d", folder / "try", "uvicorn", home=home)
    if got.returncode:
        unreached(f"PyPI cannot be reached: {got.stdout[-300:]}")
    good(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, home=home, cwd=ROOT)
    (archive,) = folder.glob("kibitz-*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, home: Path) -> Path:
    """Built from the sdist, with its page. `make install` shows that what pyproject.toml requires is enough."""
    good(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", sdist.parent, sdist, home=home
    )
    (built,) = sdist.parent.glob("kibitz-*.whl")
    if not any(name.endswith("web/page/index.html") for name in zipfile.ZipFile(built).namelist()):
        unreached("npm's registry cannot be reached: the wheel has no page")
    return built


def test_a_second_build_gives_the_same_wheel(wheel: Path, home: Path, tmp_path: Path) -> None:
    """Of the source tree, with the page that was built there: in another folder, at another time."""
    good(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, home=home, cwd=ROOT)
    (again,) = tmp_path.glob("kibitz-*.whl")
    differing = [
        name for name in sorted({*zipfile.ZipFile(again).namelist(), *zipfile.ZipFile(wheel).namelist()})
        if zipfile.ZipFile(again).read(name) != zipfile.ZipFile(wheel).read(name)
    ]  # fmt: skip
    assert differing == []
    assert again.read_bytes() == wheel.read_bytes()


def install(python: str, wheel: Path, folder: Path, home: Path) -> Path:
    """A fresh environment with the wheel in it, and nothing else asked for."""
    good(python, "-m", "venv", "--without-pip", folder, home=home)  # to install pip takes seconds
    # Python compiles the few modules that are used; pip would compile all of them, in seconds.
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python")
    good(*pip, "install", "--no-compile", wheel, home=home)
    return folder


@pytest.fixture(scope="module")
def light(wheel: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(sys.executable, wheel, tmp_path_factory.mktemp("light") / "venv", home)


def installed(venv: Path, tmp_path: Path) -> Program:
    """kibitz of an environment, in an empty folder and with an empty home."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    return Program([str(venv / "bin" / "kibitz")], tmp_path / "work", environment(tmp_path / "home", COLUMNS="200"))


@pytest.fixture(scope="module")
def kibitz(light: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """With the kernels that are compiled here, which have the same content: `test_another_python` compiles its own.

    Commands that end by themselves share a process; `test_the_steps_of_the_workflows` starts the program for each.
    """
    program = installed(light, tmp_path_factory.mktemp("user"))
    here = Path(os.environ["NUMBA_CACHE_DIR"])
    if here.is_dir():
        shutil.copytree(here, Path(program.environment["HOME"]) / KERNELS)
    write_games(program.folder)
    with Warm(program.environment, program.folder, light / "bin" / "python") as program.warm:
        yield program


def package(venv: Path) -> Path:
    (found,) = venv.glob("lib/python*/site-packages/kibitz")
    return found


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file but those that Python itself compiles."""
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_the_archive_of_sources_has_what_a_build_needs_and_no_more(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [name.split("/", 1)[1] for name in archive.getnames()]
    for needed in ("pyproject.toml", "hatch_build.py", "constraints.txt", "frontend/package-lock.json", "LICENSE"):
        assert needed in names
    assert not [name for name in names if "node_modules" in name or "__pycache__" in name or name.startswith("runs/")]


def test_the_wheel_carries_page_networks_and_games(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "web/page/index.html", "networks/winner/model.onnx", "data/games.pgn.zst", "data/games.sgfl.zst", "py.typed",
        "api/networks.py",
    ):  # fmt: skip
        assert f"kibitz/{needed}" in names
    assert not [name for name in names if not name.startswith(("kibitz/", "kibitz-"))]


def test_the_extra_is_what_kibitz_takes_it_for(wheel: Path) -> None:
    """errors.TRAINING says what may be missing; the wheel says what is installed."""
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    lines = archive.read(metadata).decode().splitlines()
    extra = [line.split()[1].split(">")[0] for line in lines if line.endswith("extra == 'train'")]
    assert {NAMES.get(name, name) for name in extra} == set(TRAINING)


def test_nothing_of_the_extra_is_installed(light: Path) -> None:
    script = f"import importlib.util as i; print([n for n in {FORBIDDEN!r} if i.find_spec(n)])"
    done = subprocess.run([light / "bin" / "python", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_what_is_installed(light: Path, kibitz: Program, step: Callable[[Program], None]) -> None:
    """And no step writes into the folder of the package."""
    before = listing(package(light))
    step(kibitz)
    assert listing(package(light)) == before


def test_the_steps_of_the_workflows(light: Path, kibitz: Program, tmp_path: Path) -> None:
    """tools/ci_light.py does them on every system; here in the environment that is there."""
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import ci_light; from pathlib import Path; "
    script += f"ci_light.check(Path({str(light)!r}), Path({str(tmp_path)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script], env=dict(kibitz.environment), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("== kibitz ") == 5


def test_nothing_but_compiled_functions_is_left_in_the_home(kibitz: Program) -> None:
    home = Path(kibitz.environment["HOME"])
    kibitz.good("analyze", "winner", "games.pgn", "--depth", "2")
    left = {Path(*path.relative_to(home).parts[:3]) for path in home.rglob("*") if path.is_file()}
    assert left - {JUDGED} == {KERNELS}


@pytest.mark.parametrize("python", PYTHONS)
def test_another_python(python: str, wheel: Path, home: Path, tmp_path: Path) -> None:
    program = installed(install(python, wheel, tmp_path / "venv", home), tmp_path)
    write_games(program.folder)
    analyses_chess(program)
    assert any((Path(program.environment["HOME"]) / KERNELS).rglob("*.kernel"))
