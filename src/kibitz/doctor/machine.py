"""Checks of the computer: Python, libraries, CPU, memory, disk and caches."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kibitz import __version__, environment, memory, preparation
from kibitz.cores import cores
from kibitz.doctor.findings import Finding
from kibitz.text import number_of

LEAST_DISK, USUAL_DISK = 200 << 20, 2 << 30
"""Free bytes on a disk. With less than LEAST_DISK, nothing can be compiled or written. With less than USUAL_DISK,
training may end early.
"""
LEAST_MEMORY = 1 << 30
"""The available memory, in bytes, that an analysis and the page of `kibitz board` need together."""
NEEDED = {"x86_64": ("sse4.2", "popcnt"), "aarch64": ("neon",)}
"""CPU features that NumPy or ONNX Runtime need, by processor architecture. If a feature is missing, these libraries end
the program.
"""
FASTER = {"x86_64": ("avx2", "fma")}
"""CPU features, by processor architecture. If a feature is missing, networks are slow."""
OPTIONAL = {"rust-pgn-reader-python-binding": "missing, so kibitz reads PGN files much more slowly"}
"""Optional libraries of kibitz, by the name of the package, with the text of the note that appears if the library is
missing.
"""
_SAME = {"AMD64": "x86_64", "arm64": "aarch64"}
"""Other names of machines."""


def versions() -> Iterator[Finding]:
    """Yield three findings: the versions of kibitz, of Python and of the operating system."""
    try:
        installed = importlib.metadata.version("kibitz")
    except importlib.metadata.PackageNotFoundError:
        installed = __version__  # kibitz runs from a copy of the sources
    if installed == __version__:
        yield Finding("kibitz", "ok", __version__)
    else:
        yield Finding(
            "kibitz", "note", f"{__version__}, installed as {installed}", "Install it again: pip install --upgrade ."
        )
    yield Finding("python", "ok", f"{platform.python_version()} ({platform.python_implementation()})")
    yield Finding("system", "ok", f"{platform.system()} {platform.release()}, {platform.machine()}")


def libraries() -> Iterator[Finding]:
    """Yield a finding for each library of kibitz that is missing or has an unsuitable version. The last finding lists
    the libraries that are installed.
    """
    from packaging.requirements import Requirement

    present = []
    try:
        needed = importlib.metadata.requires("kibitz") or []
    except importlib.metadata.PackageNotFoundError:
        needed = []
    for requirement in map(Requirement, needed):
        is_base = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if not is_base and not requirement.marker.evaluate({"extra": "train"}):  # type: ignore[union-attr]
            continue
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            if is_base:
                install = f"Install it: pip install '{requirement.name}{requirement.specifier}'"
                text = OPTIONAL.get(requirement.name)
                yield Finding(f"library {requirement.name}", "note" if text else "problem", text or "missing", install)
            continue
        present.append(f"{requirement.name} {version}")
        if not requirement.specifier.contains(version, prereleases=True):
            text = f"version {version}, kibitz needs {requirement.specifier}"
            install = f"Install it: pip install '{requirement.name}{requirement.specifier}'"
            yield Finding(f"library {requirement.name}", "problem", text, install)
    yield Finding("libraries", "ok", ", ".join(present) or "unknown")


def cpu_features() -> tuple[str, frozenset[str]]:
    """Return the name of the CPU, and the names of its features, such as "avx2". Both have the spelling of LLVM."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return binding.get_host_cpu_name(), frozenset(name for name, has in features.items() if has)


def cpu() -> Iterator[Finding]:
    """Yield a finding about the CPU: its name, its number of cores, and its missing features.

    The finding is a problem if the libraries need a missing feature, such as "sse4.2" on x86-64. It is a note if a
    feature that makes networks faster is missing, such as "avx2".
    """
    name, features = cpu_features()
    machine = _SAME.get(platform.machine(), platform.machine())
    missing = [each for each in NEEDED.get(machine, ()) if each not in features]
    slow = [each for each in FASTER.get(machine, ()) if each not in features]
    text = f"{name}, {number_of(cores(), 'core')}"
    if missing:
        yield Finding("cpu", "problem", f"{text}, without {', '.join(missing)}", "Use a computer with a newer CPU.")
    elif slow:
        yield Finding("cpu", "note", f"{text}, without {', '.join(slow)}", "Networks are slow on this CPU.")
    else:
        yield Finding("cpu", "ok", text)


def available_memory() -> int | None:
    """Return the bytes of memory that programs can still use; None if the system does not report them."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return None


def free_memory() -> Iterator[Finding]:
    """Yield a finding about the available memory. It is a problem if less than 1 GiB is available, or if the shell
    allows less (ulimit -v).
    """
    found = [each for each in (available_memory(), memory.allowed()) if each is not None]
    if not found:
        yield Finding("memory", "ok", "unknown")
    elif (least := min(found)) < LEAST_MEMORY:
        yield Finding("memory", "problem", f"{least >> 20:,} MB available", "Close other programs, or raise ulimit -v.")
    else:
        yield Finding("memory", "ok", f"{least >> 20:,} MB available")


def _write_fault(folder: Path) -> str | None:
    """Create a file in a folder, which is created if necessary. Returns the reason if this fails, else None."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-"):
            return None
    except OSError as error:
        return (error.strerror or type(error).__name__).lower()


def caches() -> Iterator[Finding]:
    """Yield a finding for each cache folder and for the temporary folder: whether kibitz can write files there."""
    for key, folder, advice in (
        ("cache", environment.user_cache(), "Change its permissions, or set XDG_CACHE_HOME to another folder."),
        ("kernel cache", Path(os.environ[environment.CACHE]), "Change its permissions, or unset NUMBA_CACHE_DIR."),
        ("temporary folder", Path(tempfile.gettempdir()), "Change its permissions, or set TMPDIR to another folder."),
    ):
        if reason := _write_fault(folder):
            yield Finding(key, "problem", f"{folder} cannot be written ({reason})", advice)
        else:
            yield Finding(key, "ok", str(folder))


def disk() -> Iterator[Finding]:
    """Yield a finding about the free space on the disk of the current folder, and on the disk of the cache folder."""
    for key, folder in (("disk", Path.cwd()), ("cache disk", environment.user_cache())):
        # os.path.isdir, because Path.is_dir raises PermissionError inside a folder that this user may not enter.
        there = next(ancestor for ancestor in (folder, *folder.parents) if os.path.isdir(ancestor))
        free = shutil.disk_usage(there).free
        text = f"{free / 1e9:.1f} GB free at {there}"
        if free < LEAST_DISK:
            yield Finding(key, "problem", text, "Free some space.")
        elif free < USUAL_DISK:
            yield Finding(key, "note", text, "Free some space before you train a network.")
        else:
            yield Finding(key, "ok", text)


def kernels() -> Iterator[Finding]:
    """Yield a finding: whether numba has already compiled the functions of the search. If numba has compiled them, the
    first search starts at once. If Python runs with the option -O, yield a second finding about this option.
    """
    if preparation.are_prepared(("chess", "go")):
        yield Finding("kernels", "ok", "compiled")
    else:
        yield Finding("kernels", "note", "not compiled ahead", "To compile the search now, run: kibitz prepare")
    if sys.flags.optimize:
        yield Finding("python options", "note", "Python runs with -O", "Run Python without -O.")
