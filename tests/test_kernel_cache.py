"""Compiled kernels are found again by what they compute, wherever their files lie."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from kibitz import environment, kernel_cache
from kibitz.kernel_cache import SUFFIX, Fingerprint, NotKeyedError
from kibitz.lock import exclusive_lock

ADD = """
import numpy as np
from kibitz.kernels import kernel
TABLE = np.arange(4) * {times}
@kernel
def add(x):
    return x + {more} + TABLE[1]
"""
USE = """
import addition_for_tests
from addition_for_tests import add
from kibitz.kernels import kernel
@kernel
def use(x):
    return add(x) * 2
@kernel
def use_by_module(x):
    return addition_for_tests.add(x) * 2
"""
NAMES = ("addition_for_tests", "user_for_tests")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for compiled kernels, and none of the user's."""
    monkeypatch.setenv(environment.CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "cache"


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModuleType]]:
    """A function that imports the two modules from a folder of its own, as another clone has it."""
    clones = iter(range(100))

    def make(more: int = 3, times: int = 10, comment: str = "") -> ModuleType:
        folder = tmp_path / f"clone{next(clones)}"
        folder.mkdir()
        for name, text in zip(NAMES, (ADD.format(more=more, times=times), USE), strict=True):
            (folder / f"{name}.py").write_text(comment + text)
            sys.modules.pop(name, None)
        monkeypatch.syspath_prepend(folder)
        return importlib.import_module(NAMES[1])

    yield make
    for name in NAMES:
        sys.modules.pop(name, None)


def compiled(kernel: Any, value: object = 1) -> tuple[Any, int]:
    """A kernel's result, and how often it was compiled for it."""
    return kernel(value), sum(kernel.stats.cache_misses.values())


def test_another_clone_compiles_nothing(load: Callable[..., ModuleType], cache: Path) -> None:
    assert compiled(load().use) == ((1 + 3 + 10) * 2, 1)
    assert {path.suffix for path in cache.iterdir()} == {SUFFIX}
    assert compiled(load(comment="# Other lines, other times.\n").use) == (28, 0)


def test_a_kernel_that_another_process_compiles_is_not_compiled_too(
    load: Callable[..., ModuleType], cache: Path
) -> None:
    assert compiled(load().use) == (28, 1)
    (path,) = cache.glob("*.use-*")
    content = path.read_bytes()
    path.unlink()
    found: list[tuple[Any, int]] = []
    lock = path.with_name(f"{path.name}{kernel_cache.LOCK}")
    with exclusive_lock(lock, lock):
        waiting = threading.Thread(target=lambda: found.append(compiled(load().use)))
        waiting.start()
        waiting.join(0.5)
        assert not found
        kernel_cache.write(path, content[32:])
    waiting.join()
    assert found == [(28, 0)]
    assert {path.suffix for path in cache.iterdir()} == {SUFFIX}


def test_a_failed_compilation_keeps_nobody_waiting(load: Callable[..., ModuleType], cache: Path) -> None:
    use = load().use
    with pytest.raises(TypingError):
        use("text")
    assert not list(cache.glob("*")), "the lock of the kernel is left"
    assert compiled(use) == (28, 2)


@pytest.mark.parametrize("name", ["use", "use_by_module"])
@pytest.mark.parametrize(("change", "result"), [({"more": 4}, 30), ({"times": 11}, 30)])
def test_a_changed_callee_in_another_module_is_compiled_again(
    load: Callable[..., ModuleType], name: str, change: dict[str, int], result: int
) -> None:
    """numba's own cache would answer 28."""
    assert compiled(getattr(load(), name)) == (28, 1)
    assert compiled(getattr(load(**change), name)) == (result, 1)
    assert compiled(getattr(load(), name)) == (28, 0)


def test_other_types_are_compiled_for(load: Callable[..., ModuleType]) -> None:
    assert compiled(load().use) == (28, 1)
    assert compiled(load().use, 0.5) == (27.0, 1)
    assert compiled(load().use, 0.5) == (27.0, 0)


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-9], lambda data: data[:50] + b"!" + data[51:]]
)
def test_a_damaged_file_is_compiled_again(
    load: Callable[..., ModuleType], cache: Path, damage: Callable[[bytes], bytes]
) -> None:
    load().use(1)
    for path in cache.iterdir():
        path.write_bytes(damage(path.read_bytes()))
    assert compiled(load().use) == (28, 1)
    assert compiled(load().use) == (28, 0)


def by_everybody(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o666)


def by_the_group(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o664)


def by_another_user(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        os.chown(path, 12_345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12_345)


@pytest.mark.skipif(os.name == "nt", reason="Windows gives no owner")
@pytest.mark.parametrize("written", [by_everybody, by_the_group, by_another_user])
def test_a_file_that_another_user_could_write_is_not_loaded(
    load: Callable[..., ModuleType], cache: Path, written: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading a kernel executes what the file contains."""
    previous = os.umask(0o002)  # with this setting, new files can be written by the group
    try:
        assert compiled(load().use) == (28, 1)
    finally:
        os.umask(previous)
    assert compiled(load().use) == (28, 0)
    for path in cache.iterdir():
        written(path, monkeypatch)
    assert compiled(load().use) == (28, 1)


def test_a_folder_that_cannot_be_written_is_read(
    load: Callable[..., ModuleType], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load().use(1)

    def refuse(path: Path, payload: bytes) -> None:
        raise PermissionError

    monkeypatch.setattr(kernel_cache, "write", refuse)
    assert compiled(load().use) == (28, 0)
    assert compiled(load(more=5).use) == (32, 1)
    assert compiled(load(more=5).use) == (32, 1)


def test_what_the_user_has_is_read_beside_a_named_folder(
    load: Callable[..., ModuleType], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load().use(1)
    environment.user_cache().mkdir(parents=True)
    cache.rename(environment.user_folder())
    assert compiled(load().use) == (28, 0)
    assert not cache.exists()


FEATURES = ",".join(f"+{feature}" for feature in kernel_cache.LEVELS["x86_64"][1])
SYSTEM = "x86_64-unknown-linux-gnu"


def test_a_processor_with_all_features_takes_kernels_compiled_ahead() -> None:
    assert kernel_cache.ahead((SYSTEM, "znver5", f"{FEATURES},+avx512f")) == (SYSTEM, "x86-64-v3", "")
    assert kernel_cache.ahead((SYSTEM, "nehalem", FEATURES.replace("+avx2", "-avx2"))) is None
    assert kernel_cache.ahead((SYSTEM, "generic", "")) is None
    assert kernel_cache.ahead(("aarch64-unknown-linux-gnu", "generic", FEATURES)) is None


@pytest.fixture
def archived(load: Callable[..., ModuleType], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive with the kernel `use`, and an empty cache."""
    from numba.core.registry import cpu_target

    path = tmp_path / "archive.zip"
    monkeypatch.setattr(kernel_cache, "archive", lambda: path)
    monkeypatch.setattr(kernel_cache, "ahead", lambda target: (target[0], "a level", ""))
    kernel = load().use
    kernel(1)
    (signature,) = kernel.signatures
    target = cpu_target.target_context.codegen().magic_tuple()
    name, other = (kernel._cache._name(signature, each) for each in (target, kernel_cache.ahead(target)))
    with zipfile.ZipFile(path, "w") as files:
        files.writestr(other, (cache / name).read_bytes())
    for file in cache.iterdir():
        file.unlink()
    return path


def test_a_kernel_that_was_compiled_ahead_is_not_compiled(
    load: Callable[..., ModuleType], cache: Path, archived: Path
) -> None:
    assert compiled(load().use) == (28, 0)
    assert list(cache.iterdir()) == []
    assert compiled(load(more=5).use) == (32, 1)
    assert compiled(load().use, 0.5) == (27.0, 1)


@pytest.mark.parametrize("damage", ["the archive", "the kernel", "nothing is there"])
def test_a_damaged_archive_counts_as_absent(load: Callable[..., ModuleType], archived: Path, damage: str) -> None:
    if damage == "the archive":
        archived.write_bytes(archived.read_bytes()[:-50])
    elif damage == "the kernel":
        with zipfile.ZipFile(archived) as files:
            (name,) = files.namelist()
            data = files.read(name)
        with zipfile.ZipFile(archived, "w") as files:
            files.writestr(name, data[:50] + bytes([data[50] ^ 1]) + data[51:])
    else:
        archived.unlink()
    assert compiled(load().use) == (28, 1)


def test_an_archive_that_a_group_can_write_is_read(load: Callable[..., ModuleType], archived: Path) -> None:
    """pip installs so on many systems, and who can write the archive can write the package's code."""
    archived.chmod(0o664)
    assert compiled(load().use) == (28, 0)


def test_a_kernel_with_fast_mathematics_is_compiled_for_this_processor(
    load: Callable[..., ModuleType], archived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = load().use
    monkeypatch.setitem(kernel._cache._options, "fastmath", True)
    assert compiled(kernel) == (28, 1)


COUNTED = """
import pathlib, sys
from kibitz import cli, kernel_cache
kernel_cache.archive = lambda: pathlib.Path(ARCHIVE)
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    code = cli.run(sys.argv[1:])
print(len(compiled.buffer), "events of compiling", file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.process
@pytest.mark.slow
def test_the_kernels_of_a_release_answer_as_others_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool compiles for a level of processors; the first analysis then compiles nothing, and says the same."""
    from numba.core.registry import cpu_target

    from release.tools import tool

    target = kernel_cache.ahead(cpu_target.target_context.codegen().magic_tuple())
    if target is None:
        pytest.skip("this processor has no level")
    maker, path = tool("compile_kernels"), tmp_path / "archive.zip"
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9]KM[6.5];B[ee];W[gc];B[cc];W[gg])")
    call = ("analyze", "gocnn", str(tmp_path / "game.sgf"))  # the fewest kernels
    monkeypatch.setattr(maker, "WORK", [call])
    assert maker.compile_ahead(path, target[1]) > 3
    sources = Path(kernel_cache.__file__).parent
    shutil.copytree(
        sources, tmp_path / "copy" / "kibitz", ignore=shutil.ignore_patterns("page", "compiled", "__pycache__")
    )
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("PYTHONPATH", str(tmp_path / "copy"))
        maker.compile_ahead(again := tmp_path / "elsewhere" / "again.zip", target[1])
    assert again.read_bytes() == path.read_bytes(), "two builds differ"
    said = []
    for name in ("archive.zip", "absent.zip"):
        surroundings = {**os.environ, environment.CACHE: str(tmp_path / name.partition(".")[0])}
        program = [sys.executable, "-c", COUNTED.replace("ARCHIVE", repr(str(tmp_path / name))), *call]
        said.append(subprocess.run(program, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=True))
    assert said[0].stderr.splitlines()[-1] == "0 events of compiling"
    assert said[1].stderr.splitlines()[-1] != "0 events of compiling"
    assert said[0].stdout == said[1].stdout


def test_kernels_have_one_key_in_every_process() -> None:
    """The order of sets and the places in memory differ from process to process."""
    script = (
        "from kibitz.kernel_cache import Fingerprint; from kibitz.play.comparison import embedding\n"
        "from kibitz.play.chess import quiescence; from kibitz.games.go import replay\n"
        "for module in (embedding, quiescence, replay):\n"
        "    for name, value in vars(module).items():\n"
        "        if hasattr(value, 'py_func'): print(name, Fingerprint(value.py_func, value.targetoptions).digest)\n"
    )
    said = {
        subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True,
                       text=True, check=True).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(said) == 1
    assert len(next(iter(said)).splitlines()) > 20


def test_a_slice_is_a_part_of_the_key() -> None:
    """Since Python 3.14, the slices in a function are constants of its code."""

    def using(part: slice) -> str:
        def use(row: str) -> str:
            return row[part]

        return Fingerprint(use, {}).digest

    assert using(slice(1, 3)) == using(slice(1, 3))
    assert len({using(slice(1, 3)), using(slice(1, 4)), using(slice(None, 3)), using(slice(1, 3, 2))}) == 4


def test_what_cannot_be_hashed_is_not_cached(cache: Path) -> None:
    made = np.array([object()])

    def use() -> object:
        return made

    with pytest.raises(NotKeyedError):
        Fingerprint(use, {})
    made = np.array([1])
    assert Fingerprint(use, {}).digest


def test_many_writers_leave_one_whole_file(tmp_path: Path) -> None:
    path, payloads = tmp_path / f"a{SUFFIX}", [bytes([number]) * 100_000 for number in range(8)]
    stop, seen = threading.Event(), set()

    def write(payload: bytes) -> None:
        for _ in range(20):
            kernel_cache.write(path, payload)

    def read() -> None:
        while not stop.is_set():
            if path.exists():
                seen.add(kernel_cache.read(path))

    writers = [threading.Thread(target=write, args=(payload,)) for payload in payloads]
    reader = threading.Thread(target=read)
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    reader.join()
    assert seen <= set(payloads)
    assert kernel_cache.read(path) in payloads
    assert list(tmp_path.iterdir()) == [path]


def test_old_and_too_many_files_are_removed(tmp_path: Path) -> None:
    now = time.time()
    for name, days in (("old", 100), ("third", 30), ("second", 20), ("first", 10)):
        path = tmp_path / f"{name}{SUFFIX}"
        path.write_bytes(bytes(1000))
        os.utime(path, (now - days * 86_400,) * 2)
    for name, days in (("prepared-go-0", 100), ("prepared-go-1", 10)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now - days * 86_400,) * 2)
    (tmp_path / "of-another-program").write_bytes(bytes(9000))
    assert kernel_cache.tidy(tmp_path, most_bytes=10_000) == 1
    assert kernel_cache.tidy(tmp_path, most_bytes=2_500) == 1
    assert kernel_cache.tidy(tmp_path, most_bytes=2_500) == 0
    assert {path.stem for path in tmp_path.iterdir()} == {"second", "first", "of-another-program", "prepared-go-1"}


def test_a_file_in_use_stays_young(tmp_path: Path) -> None:
    path = tmp_path / f"a{SUFFIX}"
    kernel_cache.write(path, b"content")
    os.utime(path, (time.time() - 20 * 86_400,) * 2)
    assert kernel_cache.read(path) == b"content"
    assert time.time() - path.stat().st_mtime < 86_400


def test_other_versions_are_other_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that another numba compiled is never loaded."""

    def use(value: int) -> int:
        return value + 1

    before = Fingerprint(use, {}).digest
    assert Fingerprint(use, {}).digest == before
    with monkeypatch.context() as changed:
        changed.setattr("numba.__version__", "0.0.1")
        assert Fingerprint(use, {}).digest != before
    with monkeypatch.context() as changed:
        changed.setattr("llvmlite.__version__", "0.0.1")
        assert Fingerprint(use, {}).digest != before
    assert Fingerprint(use, {}).digest == before


def test_flush_removes_the_files_of_one_kernel(tmp_path: Path) -> None:
    def mine(value: int) -> int:
        return value

    def other(value: int) -> int:
        return value

    caches = [kernel_cache.KernelCache(each, {}, lambda: [tmp_path]) for each in (mine, other)]
    names = [cache._name("int64", ("x86_64", "", "")) for cache in caches]
    assert all(names)
    for name in names:
        (tmp_path / str(name)).write_bytes(b"")
    caches[0].flush()
    assert [path.name for path in tmp_path.iterdir()] == [names[1]]
