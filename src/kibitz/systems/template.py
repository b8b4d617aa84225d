"""A template for a new system (a kind of network) in a separate Python package: a folder with a small package that can
be installed unchanged.
"""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec
from pathlib import Path

import kibitz
from kibitz.errors import KibitzError, UsageError
from kibitz.systems import SYSTEMS

NAME = "toy"
"""The name of the system in the template. `copy_template` replaces it."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def template() -> Path:
    """Return the folder of the template for a new system (kind of network). Raises KibitzError if it is missing."""
    package = Path(kibitz.__file__).parent
    for folder in (package / "data" / "template-system", package.parents[1] / "tests" / "support" / "template-system"):
        if (folder / "pyproject.toml").is_file():
            return folder
    raise KibitzError("the template of a system is missing. Install kibitz again.")


def copy_template(name: str, folder: Path) -> list[Path]:
    """Copy the template into a new folder, as the package of a new system (kind of network) named `name`. Returns the
    paths of the written files.

    Raises UsageError if `name` is not a valid package name, or is already the name of a system (kind of network) or of
    an installed Python package. Raises KibitzError if the folder exists.
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"--new must contain only lower-case letters, digits and underscores, and begin with a letter (got {name})."
        )
    if name in SYSTEMS:
        raise UsageError(f"--new must not be the name of a system (got {name}). Choose another name.")
    if find_spec(name) is not None:
        raise UsageError(f"--new must not be the name of a Python package (got {name}). Choose another name.")
    if folder.exists():
        raise KibitzError(f"{folder} exists already. Choose another name, or another folder.")
    source = template()
    files = sorted(path for path in source.rglob("*") if path.is_file() and path.suffix in (".py", ".toml", ".md"))
    written = []
    for file in files:
        parts = [name if part == NAME else part for part in file.relative_to(source).parts]
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_renamed(file.read_text(encoding="utf-8"), name), encoding="utf-8")
        written.append(target)
    return written


def _renamed(text: str, name: str) -> str:
    """Return the text of a template file, with the system's name replaced by `name`."""
    text = re.sub(rf"(?<![a-z]){NAME}(?![a-z])", name, text)
    return text.replace("ToySystem", name.title().replace("_", "").removesuffix("System") + "System")
