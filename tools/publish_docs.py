"""Add a version of the documentation to the branch gh-pages, from which the site is published.

    python tools/publish_docs.py            # the version `dev`: the newest state
    python tools/publish_docs.py v1.2.0     # a release: version 1.2, which is also `latest`

mike builds the site and commits it, so that pages of other versions stay. A release replaces the one with the same
first two numbers. A release candidate such as v1.2.0rc1 gets its version, but `latest` stays. The first page of the
site leads to `latest`. Before the first release, it leads to the version that was added last. Nothing is pushed.
`.github/workflows/docs.yml` does this.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BRANCH = "gh-pages"
LATEST, DEV = "latest", "dev"
_MIKE = "from mike.driver import main; main()"
_TAG = re.compile(r"v(\d+\.\d+)\.\d+((?:a|b|rc)\d+)?")


def version_of(tag: str) -> tuple[str, bool]:
    """The version of a tag, and whether it is a final release: ("1.2", True) for "v1.2.0"."""
    found = _TAG.fullmatch(tag)
    if found is None:
        raise ValueError(f"a tag must look like v1.2.0 or v1.2.0rc1 (got {tag})")
    return found[1], found[2] is None


def mike(*words: str, config: Path) -> str:
    """Run mike without its push. Returns what it prints; raises CalledProcessError if it fails."""
    command = [sys.executable, "-c", _MIKE, words[0], "--config-file", str(config), "--branch", BRANCH]
    # mike starts `mkdocs` by its name, so the programs of this environment have to be found first.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return subprocess.run(
        [*command, *words[1:]],
        cwd=config.parent,
        env={**os.environ, "PATH": path},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def publish(tag: str | None, config: Path) -> None:
    """Build the site with a configuration of mkdocs and commit it. tag: None for the version `dev`."""
    version, final = version_of(tag) if tag else (DEV, False)
    names = [version, LATEST] if final else [version]
    title = tag.removeprefix("v") if tag else DEV
    mike("deploy", "--title", title, "--update-aliases", "--alias-type", "copy", *names, config=config)
    listed = json.loads(mike("list", "--json", config=config))
    has_latest = any(LATEST in each["aliases"] for each in listed)
    mike("set-default", "--allow-empty", LATEST if has_latest else version, config=config)


def main() -> None:
    parser = argparse.ArgumentParser(description="Add a version of the documentation to the branch gh-pages.")
    parser.add_argument("tag", nargs="?", help="tag of a release, such as v1.2.0 [default: the version dev]")
    given = parser.parse_args()
    try:
        publish(given.tag or None, ROOT / "mkdocs.yml")
    except ValueError as error:
        parser.error(str(error))
    print(f"committed to {BRANCH}")


if __name__ == "__main__":
    main()
