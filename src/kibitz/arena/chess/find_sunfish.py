"""Find the engine Sunfish for a match. The name of this module must not be sunfish.py, because sunfish_nodes.py would
then import this module instead of the engine.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from kibitz.errors import KibitzError

SUNFISH_FOLDER = ".sunfish"
"""The default folder in which tools/install_sunfish.sh installs Sunfish."""


def sunfish_command(folder: Path | None = None) -> tuple[str, ...]:
    """Return the command that starts Sunfish: a Python interpreter and the script `sunfish_nodes.py`.

    The interpreter belongs to the environment in which Sunfish is installed. The script runs Sunfish, and ends each
    search at the limit of `go nodes`.

    The function looks for the program `sunfish-uci` in `folder` (default: .sunfish in the current directory), then on
    the PATH. Raises KibitzError if Sunfish or its interpreter does not exist.
    """
    place = folder or Path(SUNFISH_FOLDER)
    inside = place / ("Scripts" if os.name == "nt" else "bin") / "sunfish-uci"
    script = shutil.which(str(inside)) or shutil.which("sunfish-uci")
    if script is None:
        raise KibitzError("Sunfish is not installed. In a clone of kibitz run: sh tools/install_sunfish.sh")
    return (_python_of(Path(script)), str(Path(__file__).with_name("sunfish_nodes.py")))


def _python_of(script: Path) -> str:
    """Return the path of the Python that runs an installed script: the one in the first line, or else one in its
    folder.
    """
    with script.open("rb") as file:
        first = file.readline().decode(errors="replace").strip()
    named = first.removeprefix("#!").strip()
    # If Python's path is long or has a space, pip writes a script whose first line names a shell, not Python.
    if first.startswith("#!") and "py" in Path(named).name and Path(named).exists():
        return named
    for neighbour in (script.with_name("python"), script.with_name("python.exe")):
        if neighbour.exists():
            return str(neighbour)
    raise KibitzError(
        f"{script} cannot start: its Python is missing. Install Sunfish again: sh tools/install_sunfish.sh"
    )
