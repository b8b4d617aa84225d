"""Write networks/manifest.json: versions, hashes and sample evaluations of the bundled networks.

    python tools/network_manifest.py --brings NAME "SENTENCE"    update the entries of changed networks
    python tools/network_manifest.py --check                     fail if a network changed since

A network whose files changed gets the next version: 1.0, 1.1, 1.2. Change the first number by hand if inputs or outputs
have another meaning. Each new version needs a sentence about what it brings to users, such as "Trained on twice as
many games; predicts 46.2% of the moves instead of 44.0%." Repeat --brings for several networks.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from kibitz import manifest
from kibitz.doctor.networks import POSITIONS, evaluate
from kibitz.runs import INFO, packaged


def entry(name: str, folder: Path, before: dict[str, Any] | None, brings: str | None) -> dict[str, Any]:
    """The entry of a network; before: its entry until now; brings: the sentence of its new version."""
    files = {file: manifest.sha256(folder / file) for file in manifest.CHECKED}
    if before is not None and before["files"] == files:
        return before
    first, second = (int(part) for part in before["version"].split(".")) if before else (1, -1)
    version = f"{first}.{second + 1}"
    if brings is None:
        sys.exit(f'error: {name}-{version} is new. Say what it brings: --brings {name} "SENTENCE"')
    manifest.entries.cache_clear()
    game = json.loads((folder / INFO).read_text(encoding="utf-8"))["game"]
    found = evaluate(name, POSITIONS[game])
    outputs = {key: [int(values.argmax()), round(float(values.max()), 6)] for key, values in found.items()}
    return {
        "version": version,
        "changes": {version: brings, **(before or {}).get("changes", {})},
        "files": files,
        "sample": {"position": POSITIONS[game], "outputs": outputs},
    }


def main() -> None:
    path = manifest.NETWORKS / manifest.MANIFEST
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--brings", nargs=2, action="append", default=[], metavar=("NAME", "SENTENCE"))
    options = parser.parse_args()
    brings = dict(options.brings)
    if unknown := brings.keys() - packaged():
        sys.exit(f"error: {', '.join(sorted(unknown))} is no bundled network.")
    if options.check:
        changed = [
            name
            for name, folder in packaged().items()
            if any(manifest.problem(folder / file) for file in manifest.CHECKED) or name not in before
        ]
        if changed or before.keys() - packaged():
            sys.exit(f"changed: {', '.join(changed) or 'a network is gone'}. Run: python tools/network_manifest.py")
        return
    path.unlink(missing_ok=True)  # so that changed weights can be loaded
    manifest.entries.cache_clear()
    try:
        after = {name: entry(name, folder, before.get(name), brings.get(name)) for name, folder in packaged().items()}
    except BaseException:
        path.write_text(json.dumps(before, indent=1) + "\n", encoding="utf-8")
        raise
    path.write_text(json.dumps(after, indent=1) + "\n", encoding="utf-8")
    for name, found in after.items():
        print(f"{name}-{found['version']}{'' if found == before.get(name) else ' (new)'}")


if __name__ == "__main__":
    main()
