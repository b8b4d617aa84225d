"""Write the SHA-256 hashes of the files behind every version in constraints.txt, so that pip can refuse other files.

    python tools/hash_constraints.py            ask the index and write packaging/hashes.txt
    python tools/hash_constraints.py --check    fail if it does not fit constraints.txt (no network)

Install exactly these files, in a new environment:

    python -m pip install --require-hashes --no-deps -r packaging/hashes.txt

The index is the one that pip uses. For each version the list has the source archive and the wheels for the Pythons of
kibitz, so one list serves Linux, macOS and Windows. For torch on Linux it has only CPU builds, in the folders of
`pip config get global.find-links`: the index has builds for CUDA, which need 2 GB of further packages.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

ROOT = Path(__file__).resolve().parents[1]
PINS, HASHES = ROOT / "constraints.txt", ROOT / "packaging" / "hashes.txt"
PYTHONS = ("cp311", "cp312", "cp313", "cp314")
SYSTEMS = re.compile(r"any|manylinux\w*_(x86_64|aarch64)|macosx\w*_(x86_64|arm64|universal2)|win_amd64")
TRIES = 5
HEAD = """\
# SHA-256 hashes of the files behind every version in constraints.txt. Written by: python tools/hash_constraints.py
# Install exactly these files: python -m pip install --require-hashes --no-deps -r packaging/hashes.txt
"""


def pins(text: str) -> dict[str, str]:
    """Versions by normalized name, as constraints.txt pins them: {'numpy': '2.4.6', …}."""
    found = dict(line.split("==") for line in text.splitlines() if "==" in line and not line.startswith("#"))
    return {str(canonicalize_name(name)): version.strip() for name, version in found.items()}


def listed(text: str) -> dict[str, tuple[str, list[str]]]:
    """Versions and hashes by normalized name, as the list has them: {'numpy': ('2.4.6', ['1a2b…', …]), …}."""
    result = {}
    for entry in re.findall(r"^(\S+)==(\S+)((?: \\\n {4}--hash=sha256:[0-9a-f]{64})*)$", text, re.MULTILINE):
        result[str(canonicalize_name(entry[0]))] = (entry[1], re.findall(r"sha256:([0-9a-f]{64})", entry[2]))
    return result


def serves(filename: str, version: str) -> bool:
    """Whether pip may install this file for this version, on one of PYTHONS and SYSTEMS."""
    try:
        _, wheel_version, _, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        try:
            return str(parse_sdist_filename(filename)[1]) == version
        except InvalidSdistFilename:
            return False
    if str(wheel_version) not in (version, f"{version}+cpu"):
        return False
    return any(
        (tag.interpreter in PYTHONS or tag.abi == "abi3" or tag.interpreter.startswith("py3"))
        and not re.fullmatch(r"cp3\d+t", tag.abi)
        and SYSTEMS.fullmatch(tag.platform)
        for tag in tags
    )


def pip_setting(name: str) -> str:
    """What pip's configuration says, '' without such a setting."""
    ran = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", name], capture_output=True, text=True, check=False
    )  # fmt: skip
    return ran.stdout.strip()


def index_address() -> str:
    """The address of the simple index that pip uses, without a slash at its end."""
    from pip._internal.models.index import PyPI

    return (pip_setting("global.index-url") or PyPI.simple_url).rstrip("/")


def hashes_on_index(address: str, name: str, version: str) -> list[str]:
    """The hashes of all files of a version that serve. Raises OSError or ValueError without an answer."""
    request = urllib.request.Request(
        f"{address}/{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}
    )  # fmt: skip
    for tries_left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                files = json.load(answer)["files"]
            break
        except (OSError, ValueError):  # no answer in time, or one that was cut
            if not tries_left:
                raise
    print(f"{name}=={version}", file=sys.stderr, flush=True)
    return sorted(
        each["hashes"]["sha256"]
        for each in files
        if serves(each["filename"], version) and not (name == "torch" and "manylinux" in each["filename"])
    )


def hashes_in_folders(name: str, version: str) -> list[str]:
    """The hashes of the wheels of a version in pip's own folders."""
    found = set()
    for folder in pip_setting("global.find-links").split():
        for wheel in sorted(Path(folder).glob("*.whl")):
            if canonicalize_name(wheel.name.split("-")[0]) == name and serves(wheel.name, version):
                found.add(hashlib.sha256(wheel.read_bytes()).hexdigest())
    return sorted(found)


def written() -> str:
    """The text of packaging/hashes.txt for the present pins."""
    address = index_address()
    wanted = sorted(pins(PINS.read_text(encoding="utf-8")).items())
    with ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda pin: hashes_on_index(address, *pin), wanted)
        entries = []
        for (name, version), hashes in zip(wanted, answers, strict=True):
            lines = sorted({*hashes, *hashes_in_folders(name, version)})
            entries.append(" \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{each}" for each in lines)]))
    return HEAD + "\n".join(entries) + "\n"


def faults(pinned: str, hashed: str) -> list[str]:
    """What is wrong with a list of hashes, one line each: versions that differ from the pins, or have no hash."""
    wanted, have = pins(pinned), listed(hashed)
    lines = [f"{name}=={version}: no hash" for name, version in wanted.items() if not have.get(name, ("", []))[1]]
    lines += [f"{name}=={have[name][0]}: constraints.txt has {wanted.get(name, 'no version')}" for name in have
              if wanted.get(name) != have[name][0]]  # fmt: skip
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the list does not fit the pins")
    if not parser.parse_args().check:
        HASHES.write_text(written(), encoding="utf-8")
    if lines := faults(PINS.read_text(encoding="utf-8"), HASHES.read_text(encoding="utf-8")):
        sys.exit("\n".join(lines))
    entries = listed(HASHES.read_text(encoding="utf-8"))
    files = sum(len(hashes) for _, hashes in entries.values())
    print(f"{HASHES.relative_to(ROOT)}: {files} files of {len(entries)} packages")


if __name__ == "__main__":
    main()
