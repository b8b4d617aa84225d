"""Functions whose complete removal no test notices: an audit of all modules.

    python -m soak.mutate --functions [--minutes 60] [--only games,store] [--sample 60 --seed 1] [--report]
                                      [--folder .soak]

Each function of src/kibitz is replaced in turn by `return None`, by `return` and its first argument, or by `raise`.
Then the tests that execute it run, the quickest first, until one fails. A function that no test notices is a survivor;
so is one that no test executes. The audit works on a copy of the checkout in FOLDER/functions/tree and never changes
the checkout itself.

1. A map, made once for each test file: which of its tests executes which function (also in programs that it starts),
   and how long each test takes. FOLDER/functions/map/
2. The tests of a file run in forks of one process (`soak.forks`), each without one function.
3. What survives there is tried once more in a new process, where also what a session or module shares is made without
   the function. Only what passes there survives.

`--sample 60 --seed 1` tries 60 functions drawn at random from the packages of --only, with the tests of these packages.

Every step is written down as soon as it is known, and the next call goes on. FOLDER/functions.jsonl has a line for each
function and way. A function whose text changes is tried again; a test file that changes is mapped again.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import hashlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SITE = Path(__file__).parent / "site"
sys.path.insert(0, str(SITE))

from removal import NONE, RAISE, Function, functions  # noqa: E402

COMPILED_CALLERS = 6
"""Steps from a compiled function, whose execution Python does not see, to a caller that it sees."""
TESTS_PER_FILE, SECONDS_PER_FILE, FILES = 6, 15.0, 8
"""Of a test file at most so many tests run for a function, for so long; so many files at most."""
NEW_PROCESS = "a new process"
"""Stands among the files that were tried for a try in a new process before all files were mapped."""
FRESH_TESTS = 12
"""Tests of the last try, in a new process."""
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Tree:
    """The copy of the checkout."""

    def __init__(self, folder: Path):
        self.root = folder / "tree"
        self.sources = self.root / "src" / "kibitz"

    def refresh(self) -> None:
        """Copy what is new in the checkout, with its times, by which numba knows what it has compiled."""
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        page = [str(path.relative_to(ROOT)) for path in (ROOT / "src/kibitz/web/page").rglob("*") if path.is_file()]
        wanted = {*listed.stdout.splitlines(), *page}
        if self.root.exists():
            for path in [path for path in self.root.rglob("*.py") if str(path.relative_to(self.root)) not in wanted]:
                path.unlink()
        for name in wanted:
            old, new = ROOT / name, self.root / name
            if not old.is_file() or (new.exists() and new.stat().st_mtime == old.stat().st_mtime):
                continue
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(old, new)
        with contextlib.suppress(OSError):
            (self.root / ".venv").symlink_to(ROOT / ".venv")

    def functions(self) -> list[Function]:
        return [function for path in sorted(self.sources.rglob("*.py"))
                for function in functions(str(path.relative_to(self.sources)), path.read_text("utf-8"))]  # fmt: skip

    def test_files(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in (self.root / "tests").rglob("test_*.py"))

    def environment(self, **more: str) -> dict[str, str]:
        paths = [SITE, self.root / "src", self.root / "tests"]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "AUDIT_SOURCES": str(self.sources),
                "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", **more}  # fmt: skip


@dataclass
class Mapped:
    """What is known of a test file: seconds of each test that passes, the tests that execute each function themselves,
    and those for which it is executed when something that tests share is set up."""

    seconds: dict[str, float] = field(default_factory=dict)
    executed: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    set_up: dict[tuple[str, str], list[str]] = field(default_factory=dict)


class Map:
    """Which test executes which function."""

    def __init__(self, tree: Tree, folder: Path):
        self.tree, self.folder = tree, folder / "map"
        self.folder.mkdir(parents=True, exist_ok=True)

    def place(self, file: str) -> Path:
        return self.folder / (file.removeprefix("tests/").replace("/", "+") + ".json")

    def load(self, file: str) -> Mapped | None:
        with contextlib.suppress(FileNotFoundError):
            known = json.loads(self.place(file).read_text("utf-8"))
            if known["source"] == digest((self.tree.root / file).read_text("utf-8")):
                executed, set_up = (
                    {(module, name): tests for module, name, tests in known.get(part, [])}
                    for part in ("executed", "set_up")
                )
                return Mapped(known["seconds"], executed, set_up)
        return None

    def make(self, file: str, seconds: float, markers: str) -> Mapped:
        """Run a test file and note what it executes."""
        notes, times = self.folder / "executed", self.folder / "times"
        for path in (notes, times):
            path.unlink(missing_ok=True)
        call = [sys.executable, "-m", "pytest", file, "-p", "soak.times", "-m", markers, *OPTIONS]
        run(call, self.tree, seconds, AUDIT_EXECUTED=str(notes), AUDIT_TIMES=str(times))
        found = Mapped()
        if times.exists():
            for test, taken in map(json.loads, times.read_text("utf-8").splitlines()):
                found.seconds[test] = round(taken, 3)
        noted: dict[tuple[str, str, str], set[str]] = collections.defaultdict(set)
        if notes.exists():
            for line in notes.read_text("utf-8", errors="replace").splitlines():
                test, phase, module, name = (line.split("\t") + [""] * 4)[:4]
                noted[phase, module, name].add(test)
            notes.unlink()
        for (phase, module, name), tests in noted.items():
            passed = sorted((test for test in tests if test in found.seconds), key=lambda test: found.seconds[test])
            part = found.executed if phase == "call" else found.set_up
            part.setdefault((module, name), []).extend(passed[: 4 * FRESH_TESTS])
        self.place(file).write_text(
            json.dumps({
                "source": digest((self.tree.root / file).read_text("utf-8")), "seconds": found.seconds,
                "executed": [[*key, tests] for key, tests in found.executed.items()],
                "set_up": [[*key, tests] for key, tests in found.set_up.items()],
            }),
            encoding="utf-8",
        )  # fmt: skip
        return found


def run(call: list[str], tree: Tree, seconds: float, **more: str) -> int | None:
    """The exit code of a program that runs in the copy, None if it takes too long. What it started ends with it."""
    null = subprocess.DEVNULL
    with subprocess.Popen(call, cwd=tree.root, env=tree.environment(**more), stdin=null, stdout=null, stderr=null,
                          start_new_session=True) as process:  # fmt: skip
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


class Forks:
    """A process of `soak.forks` for one test file."""

    def __init__(self, tree: Tree, file: str, interpreted: bool, errors: Path):
        more = {"NUMBA_DISABLE_JIT": "1"} if interpreted else {}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "soak.forks", file, *OPTIONS], cwd=tree.root, env=tree.environment(**more),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors.open("w"), start_new_session=True,
        )  # fmt: skip

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()
        self.process.wait()

    def hear(self, seconds: float) -> dict[str, Any]:
        """The next reply. Raises EOFError if none comes in time."""
        assert self.process.stdout
        if not select.select([self.process.stdout], [], [], seconds)[0] or not (line := self.process.stdout.readline()):
            raise EOFError
        reply: dict[str, Any] = json.loads(line)
        return reply

    def request(self, patience: float, **request: Any) -> dict[str, Any]:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise EOFError from None
        return self.hear(patience)


class Audit:
    """All functions, what is known of each, and the journal."""

    def __init__(self, folder: Path, only: list[str], sample: int = 0, seed: int = 1):
        self.folder = folder / "functions"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tree = Tree(self.folder)
        self.tree.refresh()
        self.map = Map(self.tree, self.folder)
        every = self.tree.functions()
        self.only = only
        self.functions = [one for one in every if one.module.startswith(tuple(only))] if only else every
        if 0 < sample < len(self.functions):
            self.functions = random.Random(seed).sample(self.functions, sample)
        self.callers = compiled_callers(self.tree, every)
        self.journal = folder / "functions.jsonl"
        self.known: dict[tuple[str, str, str, str], str] = {}
        self.files_tried: dict[tuple[str, str, str, str], set[str]] = collections.defaultdict(set)
        for line in self.journal.read_text("utf-8").splitlines() if self.journal.exists() else []:
            self.take(json.loads(line))
        self.mapped: dict[str, Mapped] = {}

    def key(self, function: Function, way: str) -> tuple[str, str, str, str]:
        return function.module, function.name, digest(function.source), way

    def take(self, line: dict[str, Any]) -> None:
        key = line["module"], line["name"], line["source"], line["way"]
        self.files_tried[key].update(line["files"])
        if line["noticed"] != "no" or line["last"]:
            self.known[key] = line["noticed"]

    def write(
        self, function: Function, way: str, noticed: str, files: list[str], test: str = "", last: bool = False
    ) -> None:
        module, name, source, _ = self.key(function, way)
        line = {"module": module, "name": name, "line": function.line, "source": source, "way": way,
                "noticed": noticed, "files": files, "last": last}  # fmt: skip
        with self.journal.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
        self.take(line)

    def todo(self, function: Function) -> list[str]:
        """The ways that are still to be tried. `raise` is tried only if `return None` was not noticed."""
        return [way for way in function.ways if self.key(function, way) not in self.known
                and (way != RAISE or self.known.get(self.key(function, NONE)) == "no")]  # fmt: skip

    def tests(self, function: Function, mapped: Mapped, set_up: bool = False) -> list[str]:
        """The tests of a file that execute a function, quickest first. set_up: also by what they share."""
        names = self.callers.get((function.module, function.name), {(function.module, function.name)})
        parts = [mapped.executed, mapped.set_up] if set_up else [mapped.executed]
        found = {test for name in names for part in parts for test in part.get(name, []) if test in mapped.seconds}
        return sorted(found, key=lambda test: mapped.seconds[test])

    def map_files(self, files: list[str], end: float, slowest: float, markers: str) -> None:
        for file in files:
            if (mapped := self.map.load(file)) is None:
                if time.monotonic() > end:
                    return
                mapped = self.map.make(file, slowest, markers)
                print(f"{file}: {len(mapped.seconds)} tests execute {len(mapped.executed)} functions", flush=True)
            self.mapped[file] = mapped

    def in_forks(self, end: float) -> None:
        """Try functions in forks, one test file after the other, those that are quick first."""

        def price(file: str) -> float:
            return sum(self.mapped[file].seconds.values())

        for file in sorted(self.mapped, key=price):
            for compiled in (False, True):
                todo = [one for one in self.functions if one.compiled == compiled and self.eligible(one, file)]
                if todo and time.monotonic() < end:
                    with contextlib.suppress(EOFError):
                        self.one_file(file, todo, compiled, end)

    def eligible(self, function: Function, file: str) -> bool:
        return bool(self.tests(function, self.mapped[file])) and any(
            file not in self.files_tried[self.key(function, way)]
            and len(self.files_tried[self.key(function, way)]) < FILES
            for way in self.todo(function)
        )

    def one_file(self, file: str, todo: list[Function], interpreted: bool, end: float) -> None:
        mapped = self.mapped[file]
        chosen = {one: cheap(self.tests(one, mapped), mapped.seconds) for one in todo}
        needed = sorted({test for tests in chosen.values() for test in tests}, key=list(mapped.seconds).index)
        with Forks(self.tree, file, interpreted, self.folder / "errors") as forks:
            forks.hear(300)
            passing = forks.request(600, warm=needed)["passed"]
            base = {test: reply["seconds"] for test in passing
                    if (reply := forks.request(120, tests=[test], seconds=60))["outcome"] == "passed"}  # fmt: skip
            noticed = total = 0
            for function in todo:
                tests = [test for test in chosen[function] if test in base]
                for way in function.ways:
                    if way not in self.todo(function) or file in self.files_tried[self.key(function, way)]:
                        continue
                    if time.monotonic() > end:
                        break
                    if not tests:
                        self.write(function, way, "no", [file])  # its tests do not run in a fork: a new process later
                        continue
                    limit = 20 + 10 * sum(base[test] for test in tests)
                    path = str(self.tree.sources / function.module)
                    reply = forks.request(limit + 30, tests=tests, seconds=limit,
                                          removed=[path, function.name, function.line, way])  # fmt: skip
                    answer = {"passed": "no", "failed": "yes", "too long": "too long"}[reply["outcome"]]
                    self.write(function, way, answer, [file])
                    total, noticed = total + 1, noticed + (answer != "no")
        print(f"{file}: {noticed} of {total} removals noticed", flush=True)

    def in_new_processes(self, end: float, complete: bool) -> None:
        """The last try of what FILES test files did not notice in forks, or all files if all are mapped.

        A function that no test executes survives if all files are mapped.
        """
        for function in self.functions:
            for way in function.ways:
                if time.monotonic() > end or way not in self.todo(function):
                    continue
                tried = self.files_tried[self.key(function, way)]
                if not complete and (len(tried) < FILES or NEW_PROCESS in tried):
                    continue
                found = [(mapped.seconds[test], test) for mapped in self.mapped.values()
                         for test in self.tests(function, mapped, set_up=True)]  # fmt: skip
                if found:
                    self.fresh(function, way, [test for _, test in sorted(found)[:FRESH_TESTS]], complete)
                elif complete:
                    self.write(function, way, "no", [], last=True)

    def fresh(self, function: Function, way: str, tests: list[str], complete: bool) -> None:
        """Run tests in a new process. That none fails is the last word only if all test files are mapped."""
        more = {"NUMBA_DISABLE_JIT": "1"} if function.compiled else {}
        call = [sys.executable, "-m", "pytest", "-x", *OPTIONS, *tests]
        seconds = 120 + 10 * sum(mapped.seconds.get(test, 0) for mapped in self.mapped.values() for test in tests)
        removed = json.dumps([str(self.tree.sources / function.module), function.name, function.line, way])
        code = run(call, self.tree, seconds, AUDIT_REMOVED=removed, **more)
        if code and function.compiled and run(call, self.tree, seconds, **more):
            self.write(function, way, "not tried", [], last=True)  # its tests need compiled kernels
            return
        answer = "too long" if code is None else "yes" if code else "no"
        self.write(function, way, answer, [NEW_PROCESS], last=complete)

    def report(self, complete: bool) -> None:
        """Counts by package, and the survivors."""
        rows: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        survivors, undecided = [], []
        for function in self.functions:
            package = function.module.split("/")[0]
            answers = {way: self.known.get(self.key(function, way)) for way in function.ways}
            tested = any(self.tests(function, mapped, set_up=True) for mapped in self.mapped.values())
            lost = [way for way, answer in answers.items() if answer == "no"]
            row = rows[package]
            row["functions"] += 1
            row["tried"] += answers[NONE] is not None
            row["survive"] += bool(lost)
            row["not executed"] += not tested
            if not lost and None in (answers[way] for way in function.ways if way != RAISE):
                undecided.append(f"{function.module}:{function.line} {function.name}")
            if lost:
                survivors.append(f"{function.module}:{function.line} {function.name}: "
                                 + (", ".join(lost) if tested else "no test executes it"))  # fmt: skip
        for package, row in sorted(rows.items()):
            print(f"{package}: {row['functions']} functions, {row['tried']} tried, {row['survive']} survive; "
                  f"{row['not executed']} not executed by the {len(self.mapped)} files that are mapped")  # fmt: skip
        total: collections.Counter[str] = sum(rows.values(), collections.Counter())
        print(f"all: {total['functions']} functions, {total['tried']} tried, {total['survive']} survive"
              + ("" if complete else "; not all test files are mapped yet"))  # fmt: skip
        if undecided:
            (self.folder / "undecided.txt").write_text("\n".join(undecided) + "\n", encoding="utf-8")
            print(f"{len(undecided)} not decided: {self.folder / 'undecided.txt'}")
        (self.folder / "survivors.txt").write_text("\n".join(survivors) + "\n", encoding="utf-8")
        print(f"survivors: {self.folder / 'survivors.txt'}")


def cheap(tests: list[str], seconds: dict[str, float]) -> list[str]:
    """The first tests, as many as fit."""
    chosen: list[str] = []
    for test in tests[:TESTS_PER_FILE]:
        if chosen and sum(seconds[one] for one in [*chosen, test]) > SECONDS_PER_FILE:
            break
        chosen.append(test)
    return chosen


def compiled_callers(tree: Tree, every: list[Function]) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """For each compiled function the functions in Python that use its name, directly or through compiled ones."""
    users: dict[str, set[Function]] = collections.defaultdict(set)
    for function in every:
        words = {node.id for node in ast.walk(ast.parse(function.source)) if isinstance(node, ast.Name)}
        words |= {node.attr for node in ast.walk(ast.parse(function.source)) if isinstance(node, ast.Attribute)}
        for word in words:
            users[word].add(function)
    found = {}
    for function in every:
        if not function.compiled:
            continue
        reached, news = {function}, {function}
        for _ in range(COMPILED_CALLERS):
            news = {user for one in news if one.compiled for user in users[one.name.rpartition(".")[2]]} - reached
            reached |= news
        found[function.module, function.name] = {(one.module, one.name) for one in reached}
    return found


def order(files: list[str], first: list[str]) -> list[str]:
    """Test files, those of some packages first and those of the browser and the installation last."""

    def rank(file: str) -> tuple[int, str]:
        package = file.split("/")[1].removesuffix(".py").removeprefix("test_")
        late = package in ("browser", "install", "recorded", "light", "readme")
        return (first.index(package) if package in first else len(first)) + 100 * late, file

    return sorted(files, key=rank)


def parts(files: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(files), size):
        yield files[start : start + size]


def main(
    minutes: float, only: str, folder: Path, slowest: float, report: bool, markers: str, sample: int = 0, seed: int = 1
) -> None:
    os.nice(max(0, 10 - os.nice(0)))
    first = [name for name in only.split(",") if name]
    audit = Audit(folder.resolve(), first, sample, seed)
    files = order(audit.tree.test_files(), first)
    if sample and first:
        files = [file for file in files if file.split("/")[1].removesuffix(".py").removeprefix("test_") in first]
    files = [file for file in files if not file.startswith(("tests/browser/", "tests/install/"))]
    end = time.monotonic() + 60 * minutes
    for some in parts(files, 12):
        audit.map_files(some, -1.0 if report else end, slowest, markers)
        if not report:
            audit.in_forks(end)
            audit.in_new_processes(end, complete=False)
    complete = len(audit.mapped) == len(files)
    if not report:
        audit.in_new_processes(end, complete)
    audit.report(complete)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    asked = parser.parse_args()
    main(asked.minutes, "", Path(".soak"), 600.0, False, "not slow")
