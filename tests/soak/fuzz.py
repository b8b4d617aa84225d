"""Fuzzing, guided by coverage where atheris is installed, else by chance.

    python -m soak.fuzz --minutes 10 [--only pgn-import,fen] [--folder .soak] [--inputs 1000000]

Each target has a process of its own for its share of the time, and a corpus that the next call goes on with. What fails
is written to FOLDER/found, once for each place; the inputs that were run are counted in FOLDER/counts.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import random
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from soak import known, save

SOURCES = Path(__file__).parents[2] / "src" / "kibitz"
LONGEST = 4096
COMPILING = 1200
"""Seconds that a target may take beyond its share, of which the first turn of some needs minutes."""
INSTRUMENTED = ["chess", "sgfmill", "kibitz"]
"""What atheris watches, but for `compiled`."""


def compiled() -> list[str]:
    """The modules with functions that numba compiles: it would not know what atheris puts in."""
    found = []
    for file in SOURCES.rglob("*.py"):
        if "from kibitz.kernels import" in file.read_text(encoding="utf-8") or file.name.startswith("kernel"):
            found.append(".".join(file.relative_to(SOURCES.parent).with_suffix("").parts).removesuffix(".__init__"))
    return found


class Found:
    """Failures, one for each place in the program."""

    def __init__(self, folder: Path, name: str):
        self.folder, self.name, self.inputs, self.begun = folder, name, 0, time.monotonic()
        (folder / "found").mkdir(parents=True, exist_ok=True)
        (folder / "counts").mkdir(exist_ok=True)
        self.saved = self.begun
        self.file = folder / "counts" / f"{name}.json"
        self.before = known(self.file) or {"inputs": 0, "seconds": 0.0}

    def count(self) -> None:
        self.inputs += 1
        if time.monotonic() - self.saved > 1:  # atheris does not come back
            self.save()

    def save(self) -> None:
        self.saved = time.monotonic()
        seconds = time.monotonic() - self.begun
        total = {"inputs": self.before["inputs"] + self.inputs, "seconds": round(self.before["seconds"] + seconds, 1)}
        save(self.file, total)

    def note(self, data: bytes, error: BaseException) -> None:
        frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        place = hashlib.sha256("\n".join([type(error).__name__, *frames[-3:]]).encode()).hexdigest()[:10]
        file = self.folder / "found" / f"{self.name}-{place}"
        if not file.exists():
            file.write_bytes(data)
            file.with_name(f"{file.name}.txt").write_text("".join(traceback.format_exception(error)))


def child(name: str, folder: Path, seconds: float, guided: bool) -> None:
    """Fuzz one target in this process."""
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if guided:
        import atheris

        with atheris.instrument_imports(include=INSTRUMENTED, exclude=compiled()):
            from soak.targets import TARGETS
    else:
        from soak.targets import TARGETS
    target = TARGETS[name]()
    found = Found(folder, name)
    corpus = folder / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds:
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)

    def one(data: bytes) -> None:
        try:
            target.run(data)
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            found.note(data, error)
        found.count()

    for seed in target.seeds:  # what they need is compiled, with bounds checked, before the time of this turn begins
        one(seed)
    if guided:
        limits = [f"-max_total_time={int(seconds)}", f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=6000"]
        atheris.Setup([sys.argv[0], str(corpus), *limits, f"-artifact_prefix={folder}/found/{name}-"], one)
        atheris.Fuzz()
    else:
        by_chance(one, target.seeds, time.monotonic() + seconds)
    found.save()


def by_chance(one: Any, seeds: list[bytes], end: float) -> None:
    draw = random.Random()
    while time.monotonic() < end:
        data = bytearray(draw.choice(seeds))
        for _ in range(draw.choice((1, 2, 4, 16))):
            at = draw.randrange(len(data) + 1)
            kind = draw.randrange(4)
            if kind == 0:
                data[at : at + 1] = bytes([draw.randrange(256)])
            elif kind == 1:
                del data[at : at + draw.randrange(1, 20)]
            elif kind == 2:
                other = draw.choice(seeds)
                start = draw.randrange(len(other) + 1)
                data[at:at] = other[start : start + draw.randrange(1, 60)]
            else:
                data[at : at + 1] = draw.choice((b"\0", b"\xff", b"[", b"]", b"(", b'"', b"-1", b"1e999", b"9" * 30))
        one(bytes(data[:LONGEST]))


def counted(folder: Path) -> dict[str, dict[str, Any]]:
    return {file.stem: known(file) for file in sorted((folder / "counts").glob("*.json"))}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--inputs", type=int, default=10**6, help="stop when so many were run in all calls together")
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", type=Path, default=Path(".soak"))
    parser.add_argument("--plain", action="store_true", help="by chance, though atheris is here")
    parser.add_argument("--slice", type=float, default=60.0, help="seconds of a target before the next one's turn")
    parser.add_argument("--child", default="")
    asked = parser.parse_args()
    guided = importlib.util.find_spec("atheris") is not None and not asked.plain
    if asked.child:
        child(asked.child, asked.folder, asked.slice, guided)
        return
    sys.path[:0] = [str(Path(__file__).parents[1])]
    from soak.targets import TARGETS

    names = [name for name in TARGETS if not asked.only or name in asked.only.split(",")]
    end = time.monotonic() + asked.minutes * 60
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(asked.folder.resolve() / "numba")}
    while True:
        for name in sorted(names, key=lambda name: counted(asked.folder).get(name, {}).get("seconds", 0)):
            total = sum(each["inputs"] for each in counted(asked.folder).values())
            if time.monotonic() >= end or total >= asked.inputs:
                report(asked.folder, guided)
                return
            share = max(5.0, min(asked.slice, end - time.monotonic()))
            call = [sys.executable, "-m", "soak.fuzz", "--child", name, "--folder", str(asked.folder)]
            call += ["--slice", str(share), *(["--plain"] if asked.plain else [])]
            try:
                done = subprocess.run(call, env=environment, timeout=share + COMPILING, capture_output=True)
                if done.returncode != 0:
                    print(f"{name}: ended with {done.returncode}", flush=True)
            except subprocess.TimeoutExpired:
                print(f"{name}: hung; see {asked.folder}/corpus/{name}", flush=True)
            print(name, counted(asked.folder).get(name), flush=True)


def report(folder: Path, guided: bool) -> None:
    rows = counted(folder)
    for name, row in rows.items():
        print(f"{name:12} {row['inputs']:>10,} inputs {row['seconds']:>8,.0f} s")
    found = sorted(path.name for path in (folder / "found").glob("*") if path.suffix != ".txt")
    print(
        f"{sum(row['inputs'] for row in rows.values()):,} inputs, {'guided' if guided else 'by chance'}; found: {found}"
    )


if __name__ == "__main__":
    main()
