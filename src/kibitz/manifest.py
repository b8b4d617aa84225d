"""The manifest of the bundled networks: their versions, the hashes of their files, and a sample evaluation of each.

The file networks/manifest.json is a dict from the name of each network to an entry with these keys:

version    such as "1.0". The second number grows with each training, the first one with a change of inputs or outputs
changes    version -> its changes in one sentence; the newest version first
files      file name -> SHA-256 of the file
sample     position: FEN or SGF; outputs: name of the output -> [index of the largest value, the value]

`tools/network_manifest.py` writes the file.
"""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from kibitz.errors import KibitzError

NETWORKS = Path(__file__).parent / "networks"
MANIFEST = "manifest.json"
CHECKED = ("best.safetensors", "model.onnx", "seen.npy")
"""The names of the files whose hashes are in the manifest."""


@functools.cache
def entries() -> dict[str, dict[str, Any]]:
    """Return a dict from the name of each bundled network to its entry in the manifest; {} if there is no manifest.

    Each entry is a dict with the keys "version", "changes", "files" and "sample". The module's docstring describes the
    values.
    """
    path = NETWORKS / MANIFEST
    if not path.is_file():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def version_of(name: str) -> str | None:
    """Return the version of a bundled network with its name, such as "human-1.0"; None if the network is not in the
    manifest.
    """
    entry = entries().get(name)
    return f"{name}-{entry['version']}" if entry else None


def changes_of(name: str) -> dict[str, str]:
    """Return what changed in each version of a bundled network. The result is a dict from the version, such as
    "human-1.0", to one sentence. The newest version is first. The result is {} if the network is not in the manifest.
    """
    changes: dict[str, str] = entries().get(name, {}).get("changes", {})
    return {f"{name}-{version}": text for version, text in changes.items()}


def sha256(path: Path) -> str:
    """Return the SHA-256 hash of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def problem(path: Path) -> str | None:
    """Return what is wrong with a file of a bundled network: "missing" or "damaged". Return None if the file is intact,
    or if it does not belong to a bundled network.
    """
    expected = entries().get(path.parent.name, {}).get("files", {}).get(path.name)
    if expected is None or path.parent.parent != NETWORKS:
        return None
    if not path.is_file():
        return "missing"
    return None if sha256(path) == expected else "damaged"


@functools.cache
def check(path: Path) -> None:
    """Check a file of a bundled network before it is loaded. Raises KibitzError if the file is missing, or if its hash
    is not the one in the manifest.

    Files of other networks, such as a user's runs, are not checked, because the manifest does not have their hashes.
    Each file is checked only once per process.
    """
    if (what := problem(path)) is not None:
        raise KibitzError(f"{path} is {what}: it is not the file of {version_of(path.parent.name)}. Reinstall kibitz.")
