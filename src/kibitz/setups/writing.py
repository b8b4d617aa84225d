"""Write the files that add kibitz to a chess or Go program. If a JSON or INI file exists, its other entries stay, and
the old file is saved as a backup.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kibitz.durable import write_whole
from kibitz.errors import KibitzError
from kibitz.setups.programs import FILL_IN, SetupFile


def write_files(files: Sequence[SetupFile], folder: Path) -> list[tuple[Path, Path | None]]:
    """Write files into a folder, which is created if necessary. Return a pair (path, backup) for each file.

    The backup is the path of a copy of the previous file. It is None if no file existed, or if its contents were the
    same.

    If a JSON or INI file already exists, the new settings are added to its contents, as in `merged` and
    `with_sections`. Raises KibitzError, before anything is written, if such an existing file is invalid. Raises OSError
    if the folder can't be written.
    """
    texts = [_with_old(file, folder / file.name) for file in files]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for file, text in zip(files, texts, strict=True):
        path = folder / file.name
        backup = None
        if path.exists() and path.read_bytes() != text.encode():
            backup = _free(path)
            shutil.copy2(path, backup)
        write_whole(path, text.encode())
        if file.is_script:
            path.chmod(0o755)
        written.append((path, backup))
    return written


def _with_old(file: SetupFile, path: Path) -> str:
    """Return the text of a file, together with the settings that the existing file has."""
    if file.is_script or not path.exists() or not file.text.startswith(("{", "[")):
        return file.text
    if path.suffix in (".conf", ".ini"):
        try:
            return with_sections(path.read_bytes().decode(), file.text)
        except UnicodeDecodeError:
            raise KibitzError(f"{path} is not UTF-8, so its settings cannot be kept. Choose another folder.") from None
    try:
        old = json.loads(path.read_bytes() or b"null")
    except ValueError:
        raise KibitzError(f"{path} is not JSON, so its settings cannot be kept. Choose another folder.") from None
    return json.dumps(merged(old, json.loads(file.text)), indent=2, ensure_ascii=False) + "\n"


def with_sections(old: str, new: str) -> str:
    """Return the text of the INI file `old` with the sections of `new` added. A new section replaces an old section
    with the same name, and all other old sections stay.
    """
    names = tuple(re.findall(r"^\[[^\]\n]*\]", new, re.MULTILINE))
    kept = "".join(part for part in re.split(r"^(?=\[)", old, flags=re.MULTILINE) if not part.startswith(names))
    return kept + ("" if not kept or kept.endswith("\n") else "\n") + new


def merged(old: Any, new: Any) -> Any:
    """Return the JSON data `old` with the settings of `new` added. A new value replaces an old value with the same key,
    and other old values stay.

    In a list of objects, a new object replaces the old object with the same "name". The placeholder FILL_IN, "FILL ME
    IN", never replaces an old value.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old[key], value) if key in old else value for key, value in new.items()}}
    if isinstance(old, list) and isinstance(new, list) and all(isinstance(one, dict) for one in new):
        names = {one.get("name") for one in new}
        return [one for one in old if not (isinstance(one, dict) and one.get("name") in names)] + new
    return old if new == FILL_IN and old else new


def _free(path: Path) -> Path:
    """Return a path for a backup at which no file exists yet."""
    number = 1
    while (backup := path.with_name(f"{path.name}.bak{number}")).exists():
        number += 1
    return backup
