"""A disk cache of kernels, the functions that numba compiles. The key of a kernel depends on what it computes, not on
the location of its source file.

numba keys its cache by the path and the content of the one file that defines a function. So each clone and each
installation compiles everything again, and a change of a function in another file isn't detected. In this cache, the
key is a hash of the kernel's bytecode, and of all functions and constants that it uses directly or indirectly. The hash
includes the argument types, the versions of Python, numba, LLVM and NumPy, and the processor. All clones, wheels and CI
jobs with the same kernels share one folder.

A file has one compiled version of one kernel. It is written under a temporary name and then renamed, so that two
processes can write at the same time. It begins with a hash of its content. Damaged files are ignored, and so are files
that another user could have written, because loading a kernel executes its code.

A wheel can contain kernels that were compiled when the wheel was built. It has an archive for each version of Python,
operating system and processor architecture. `tools/compile_kernels.py` makes the archives for the processors in the
table LEVELS. A file in an archive has the hash in its name. If no file has the hash for the versions and the processor
of the user's machine, the kernel is compiled there.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import os
import pickle
import platform
import stat
import sys
import time
import types
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import caching, compiler, config, serialize
from numba.core.types import Type

from kibitz.errors import KibitzError
from kibitz.lock import exclusive_lock

_rebuild: Any = compiler.CompileResult._rebuild
_dumps: Any = serialize.dumps
SUFFIX = ".kernel"
LOCK = ".lock"
MOST_WAIT_SECONDS = 30.0
"""How long a process waits for another one that compiles the same kernel."""
MOST_BYTES = 256_000_000
"""The largest total size of the cache folder. If the folder is larger, the least recently used files are removed."""
MOST_DAYS = 90
"""The number of days after which an unused file is removed from the cache folder."""
_DAY_SECONDS = 86_400
LIBRARIES = ("builtins", "math", "numba", "numpy", "operator")
"""Modules whose functions are hashed by their names only, because the cache key already contains the versions of
Python, numba and NumPy.
"""
_HASH_BYTES = hashlib.sha256().digest_size
LEVELS = {
    "x86_64": (
        "x86-64-v3",
        ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "ssse3", "xsave"),
    )
}
"""The processors for which wheels contain compiled kernels: architecture -> (LLVM's name of the processor level, its
features).

This code runs on each processor that has these features. Its results are the same as those of code for the exact
processor, because kernels with `fastmath` are not compiled in advance.
"""


class NotKeyedError(TypeError):
    """Raised if a kernel (a function that numba compiles) uses a value that can't be hashed. Such a kernel can't be
    cached.
    """


class Fingerprint:
    """A hash of a kernel (a function that numba compiles), of numba's options for it, and of all functions and
    constants that it uses.

    digest: the hash, as a hexadecimal string.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._hash = hashlib.sha256()
        self._seen: dict[int, int] = {}
        self._add("versions", _versions())
        self._value(options)
        self._function(function)
        self.digest = self._hash.hexdigest()

    def _add(self, *parts: object) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            self._hash.update(len(data).to_bytes(8, "little") + data)

    def _function(self, function: Callable[..., Any]) -> None:
        if (number := self._seen.get(id(function))) is not None:
            return self._add("seen", number)
        self._seen[id(function)] = len(self._seen)
        code = function.__code__
        self._add("function", function.__module__, function.__qualname__, code.co_argcount, code.co_varnames)
        self._code(code, function.__doc__)
        names = sorted(_names(code))
        for name in names:
            if name in function.__globals__:
                self._add("global", name)
                self._named(function.__globals__[name], names)
        for cell in function.__closure__ or ():
            self._value(cell.cell_contents)
        self._value(function.__defaults__)
        return None

    def _code(self, code: types.CodeType, doc: str | None) -> None:
        self._add("code", code.co_code, code.co_names, code.co_freevars, code.co_cellvars)
        self._add(getattr(code, "co_exceptiontable", b""))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, None)
            elif doc is None or constant != doc:  # a kernel's docstring has no effect on its result
                self._value(constant)

    def _named(self, value: Any, names: Iterable[str]) -> None:
        """Add a global to the hash. If it is a module, add everything in it whose name the function uses."""
        if not isinstance(value, types.ModuleType):
            return self._value(value)
        self._add("module", value.__name__)
        if value.__name__.partition(".")[0] not in LIBRARIES:
            for name in names:
                if hasattr(value, name):
                    self._add("attribute", name)
                    self._value(getattr(value, name))
        return None

    def _value(self, value: Any) -> None:
        self._add(type(value).__name__)
        if hasattr(value, "py_func"):  # another kernel
            self._value(value.targetoptions)
            self._function(value.py_func)
        elif value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str, bytes)):
            self._add(repr(value))
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._add(value.dtype.descr, value.shape, value.flags["C_CONTIGUOUS"], value.tobytes())
        elif isinstance(value, np.generic) and not value.dtype.hasobject:
            self._add(value.dtype.descr, value.tobytes())
        elif isinstance(value, np.dtype):
            self._add(value.descr, value.isalignedstruct, value.itemsize, value.fields)
        elif isinstance(value, (tuple, list)):
            self._add(len(value))
            for item in value:
                self._value(item)
        elif isinstance(value, slice):  # since Python 3.14 also a constant of a function's code
            self._value((value.start, value.stop, value.step))
        elif isinstance(value, (set, frozenset)):
            self._add(sorted(map(repr, value)))
        elif isinstance(value, dict):
            self._value(sorted(value.items(), key=repr))
        elif isinstance(value, (Type, np.ufunc)):
            self._add(repr(value))
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, types.FunctionType) and _is_own(value):
            self._function(value)
        elif callable(value) and not _is_own(value):  # from a library, whose version is part of the key
            self._add(getattr(value, "__module__", ""), getattr(value, "__qualname__", repr(type(value))))
        else:
            raise NotKeyedError(f"a kernel uses a {type(value).__name__}, whose content cannot be hashed")

    def _class(self, value: type) -> None:
        self._add("class", value.__module__, value.__qualname__)
        if issubclass(value, enum.Enum):
            self._value([(item.name, item.value) for item in value])
        elif _is_own(value):
            self._value(getattr(value, "_fields", None))  # the fields of a named tuple


def _is_own(value: Any) -> bool:
    """Return whether a function or a class is defined outside LIBRARIES."""
    return str(getattr(value, "__module__", "") or "builtins").partition(".")[0] not in LIBRARIES


def _names(code: types.CodeType) -> set[str]:
    """Return every name that is used in a function's code and in the code inside it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _versions() -> str:
    switches = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ERROR_MODEL")
    return repr(
        [
            1,  # the version of this file format
            platform.python_implementation(), sys.version_info[:2], sys.version_info[3], getattr(sys, "abiflags", ""),
            numba.__version__, llvmlite.__version__, np.__version__.split(".")[:2],  # numba uses only these two numbers
            [str(getattr(config, name, None)) for name in switches],
        ]
    )  # fmt: skip


def archive() -> Path:
    """Return the path of the zip file with compiled kernels for this version of Python, operating system and processor.
    The file may be missing, because only some wheels contain it.
    """
    name = f"{sys.implementation.cache_tag}-{sys.platform}-{platform.machine().lower()}.zip"
    return Path(__file__).parent / "compiled" / name


def ahead(target: tuple[str, str, str]) -> tuple[str, str, str] | None:
    """Return the target for which the wheel's kernels were compiled, if these kernels can run on this machine; None if
    they can't.

    target: this machine, as numba describes it: LLVM's names of the system and of the processor, and the processor's
    features, such as "+avx2,-avx512f". The result has the same form.
    """
    system, _, features = target
    level = LEVELS.get(system.partition("-")[0])
    if level and {f"+{feature}" for feature in level[1]} <= set(features.split(",")):
        return system, level[0], ""
    return None


class KernelCache(caching._Cache):
    """Loads and saves the compiled versions of one kernel, one file for each combination of argument types.

    The class replaces numba's own cache: numba calls load_overload before it compiles a kernel, and save_overload after
    it.

    function, options: the Python function, and numba's options for compiling it.
    folders: a function that returns the folders in which to search. New files are written to the first folder.
    on_loaded: a function that is called each time a version was read from a file.
    archive: the zip file with the kernels that were compiled in advance; it may not exist.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        folders: Callable[[], list[Path]],
        on_loaded: Callable[[], None] = lambda: None,
        archive: Path | None = None,
    ) -> None:
        self._function, self._options, self._folders, self._on_loaded = function, options, folders, on_loaded
        self._archive = archive
        self._digest: str | None = None
        self._enabled = True
        self._claims: dict[str, contextlib.ExitStack] = {}

    @property
    def cache_path(self) -> str:
        """The folder to which new files are written."""
        return str(self._folders()[0])

    def enable(self) -> None:
        """Turn the cache on: compiled versions of the kernel are loaded and saved."""
        self._enabled = True

    def disable(self) -> None:
        """Turn the cache off: compiled versions of the kernel are neither loaded nor saved."""
        self._enabled = False

    def flush(self) -> None:
        """Remove the files of this kernel for all argument types. numba calls this method before it compiles the kernel
        again.
        """
        for path in self._folders()[0].glob(f"{self._stem()}-*{SUFFIX}"):
            with contextlib.suppress(OSError):
                path.unlink()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled version of the kernel for the argument types `sig`; None if no file has it. numba calls
        this method. target_context: numba's object for the processor.
        """
        target_context.refresh()
        if not self._enabled:
            return None
        target = target_context.codegen().magic_tuple()
        if (payload := self._payload(sig, target)) is None:
            self._claim(sig, target)
            # Another process may have compiled it while this one waited
            if (payload := self._payload(sig, target)) is None:
                return None
            self._release(sig, target)
        loaded = _rebuild(target_context, *pickle.loads(payload))
        self._on_loaded()
        return loaded

    def _payload(self, sig: Any, target: tuple[str, str, str]) -> bytes | None:
        if not (name := self._name(sig, target)):
            return None
        for folder in self._folders():
            with contextlib.suppress(OSError):
                if (payload := read(folder / name)) is not None:
                    return payload
        if self._archive and not self._options.get("fastmath") and (other := ahead(target)):
            return read_archived(self._archive, str(self._name(sig, other)))
        return None

    def _claim(self, sig: Any, target: tuple[str, str, str]) -> None:
        """Lock the file of a version until `save_overload`, so that only one process compiles it. A process waits for
        at most MOST_WAIT_SECONDS, and then compiles the version too.
        """
        if not (name := self._name(sig, target)) or name in self._claims:
            return
        claim = contextlib.ExitStack()
        with contextlib.suppress(OSError, KibitzError):
            path = self._folders()[0] / f"{name}{LOCK}"
            path.parent.mkdir(parents=True, exist_ok=True)
            claim.enter_context(exclusive_lock(path, path, "compilation", MOST_WAIT_SECONDS))
            self._claims[name] = claim

    def _release(self, sig: Any, target: tuple[str, str, str]) -> None:
        if claim := self._claims.pop(self._name(sig, target) or "", None):
            claim.close()

    def abandon(self) -> None:
        """Release all locks of this kernel, because compiling it has failed or was interrupted. Otherwise, other
        processes would wait for a file that is never written.
        """
        while self._claims:
            self._claims.popitem()[1].close()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the compiled version of the kernel for the argument types `sig`. If the folder can't be written, nothing
        is saved. numba calls this method. data: numba's result of compiling.
        """
        try:
            self._save(sig, data)
        finally:
            self._release(sig, data.codegen.magic_tuple())

    def _save(self, sig: Any, data: Any) -> None:
        if not self._enabled or any(not part.can_cache for part in data.lifted) or data.library.has_dynamic_globals:
            return
        if name := self._name(sig, data.codegen.magic_tuple()):
            with contextlib.suppress(OSError):
                # without the text of the types, which is not needed and contains addresses in memory
                write(self._folders()[0] / name, _dumps(data._replace(type_annotation="")._reduce()))

    def _stem(self) -> str:
        module = self._function.__module__.rpartition(".")[2]
        return f"{module}.{self._function.__qualname__}".replace("<", "").replace(">", "")

    def _name(self, sig: Any, target: tuple[str, str, str]) -> str | None:
        """Return the file for a version; None if something in it can't be hashed."""
        text = repr((str(sig), target))
        if " at 0x" in text:  # a type whose text contains a memory address
            return None
        # The hash is computed at the first call, because a kernel may use objects that its module defines after the
        # kernel.
        if self._digest is None:
            try:
                self._digest = Fingerprint(self._function, self._options).digest
            except NotKeyedError:
                self._digest = ""
        if not self._digest:
            return None
        return f"{self._stem()}-{hashlib.sha256((self._digest + text).encode()).hexdigest()[:32]}{SUFFIX}"


def read(path: Path) -> bytes | None:
    """Return the content of a file in the cache, without the hash at its beginning. Return None if the file is damaged
    or if another user could have written it. Raises OSError if the file does not exist.
    """
    with path.open("rb") as file:
        payload = _checked(file.read()) if _is_trusted(os.fstat(file.fileno())) else None
    with contextlib.suppress(OSError):
        if payload is not None and time.time() - path.stat().st_mtime > _DAY_SECONDS:
            os.utime(path)  # records that the file was used
    return payload


def read_archived(path: Path, name: str) -> bytes | None:
    """Return the content of one file in a zip archive of compiled kernels. Return None if the archive is missing or
    damaged, or does not contain the file.

    path: the path of the archive. name: the name of the file in it. The owner of the archive is not checked, because a
    user who can write the archive can also write the code of the package.
    """
    try:
        with zipfile.ZipFile(path) as files:
            return _checked(files.read(name))
    except (OSError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None


def _checked(data: bytes) -> bytes | None:
    """Return the data after the hash; None if the hash at the beginning does not fit the data."""
    return data[_HASH_BYTES:] if hashlib.sha256(data[_HASH_BYTES:]).digest() == data[:_HASH_BYTES] else None


def _is_trusted(status: os.stat_result) -> bool:
    """Return whether only this user or the administrator can write a file. This matters because reading a compiled
    kernel executes code.
    """
    if os.name == "nt":  # os.stat has no owner on Windows, where the default folder belongs to the user
        return True
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


_tidied: set[Path] = set()
"""Folders in which this process has removed old files."""


def write(path: Path, payload: bytes) -> None:
    """Write a file of the cache atomically: the hash of the payload, then the payload. Raises OSError if the file can't
    be written. The first call for a folder also removes old files, see `tidy`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
        # Because with some umasks the group could write the file, so that _is_trusted would reject it.
        temporary.chmod(0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    if path.parent not in _tidied:
        _tidied.add(path.parent)
        tidy(path.parent)


def tidy(folder: Path, most_bytes: int = MOST_BYTES, most_days: float = MOST_DAYS) -> int:
    """Remove old files from the cache folder, and return the number of removed kernels.

    The function removes kernels that were not used for `most_days` days, and old temporary files. If the remaining
    kernels have more than `most_bytes` bytes in total, the least recently used ones are removed too.
    """
    files, removed, now = [], 0, time.time()
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            found = path.stat()
            age_days = (now - found.st_mtime) / _DAY_SECONDS
            passing = path.suffix in (".tmp", LOCK)  # from a process that was killed, if it is old
            lasts_days = 1 if passing else most_days
            if (passing or path.name.startswith("prepared-")) and age_days > lasts_days:
                path.unlink()
            elif path.suffix == SUFFIX:
                files.append((age_days, found.st_size, path))
    total_bytes = 0
    for age_days, size, path in sorted(files):
        total_bytes += size
        if age_days > most_days or total_bytes > most_bytes:
            with contextlib.suppress(OSError):
                path.unlink()
                removed += 1
    return removed
