"""Write which code of other people kibitz ships and installs, under which licenses.

    python tools/licenses.py            write THIRD_PARTY_LICENSES.md and packaging/sbom.cdx.json
    python tools/licenses.py --check    fail if they differ from what would be written

The page of `kibitz board` contains code from npm. Its packages are what frontend/src imports, with what they depend on,
and vite, which adds a small loader. The license texts come from npm at the first use and are then kept in the file.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # hatch_build.py, which finds npm, is imported when npm is needed
LIST, SBOM = ROOT / "THIRD_PARTY_LICENSES.md", ROOT / "packaging" / "sbom.cdx.json"
IMPORT = re.compile(r"""(?:\bfrom|^import) ["']((?:@[\w.-]+/)?\w[\w.-]*)[^"'{]*["'];""", re.MULTILINE)
ADDED_BY_THE_BUILD = ("vite",)
"""Packages whose code gets into the page without an import: the loader of the page's parts."""
LICENSE_FILE = re.compile(r"[^/]+/licen[sc]e(\.(md|txt))?$", re.IGNORECASE)
FONTS = (".woff", ".woff2", ".ttf", ".otf", ".eot")
OWN = "GPL-3.0-or-later"
WHOLE_TEXT = re.compile(r"^### (\S+) (\S+)\n\n```text\n(.*?)```\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """A package of other people. license: an SPDX expression, or the words of its metadata."""

    name: str
    version: str
    license: str


def page_packages() -> list[Package]:
    """The npm packages whose code or pictures are in the page."""
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    names, found = [*imported(), *ADDED_BY_THE_BUILD], {}
    while names:
        entry = lock[f"node_modules/{(name := names.pop())}"]
        found[name] = Package(name, entry["version"], entry["license"])
        if name not in ADDED_BY_THE_BUILD:  # the page has its loader only
            needed = [other for other in entry.get("dependencies", {}) if not other.startswith("@types/")]
            names += [other for other in needed if other not in found]
    return [found[name] for name in sorted(found)]


def imported() -> set[str]:
    """The names of the packages that frontend/src imports."""
    files = (ROOT / "frontend" / "src").rglob("*.ts")
    return {name for path in files for name in IMPORT.findall(path.read_text(encoding="utf-8"))}


def fonts() -> list[str]:
    """The font files of the page and of its sources."""
    folders = (ROOT / "frontend" / "src", ROOT / "src")
    return sorted(path.name for folder in folders for path in folder.rglob("*") if path.suffix in FONTS)


def python_packages() -> list[Package]:
    """What `pip install kibitz` installs, with all dependencies, as it is here."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    open_, found = [Requirement(line) for line in project["dependencies"]], {}
    while open_:
        name = open_.pop().name
        metadata = importlib.metadata.metadata(name)
        key = metadata["Name"].lower().replace("_", "-")
        if key not in found:
            found[key] = Package(key, metadata["Version"], license_of(metadata))
            needed = map(Requirement, importlib.metadata.requires(name) or ())
            open_ += [each for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
    return [found[name] for name in sorted(found)]


def license_of(metadata: importlib.metadata.PackageMetadata) -> str:
    """The license of a Python package: its expression, else its classifier, else the first line of its text."""
    if expression := metadata["License-Expression"]:
        return str(expression)
    classifiers = [line for line in metadata.get_all("Classifier") or () if line.startswith("License :: OSI")]
    if classifiers:
        return " and ".join(sorted(line.split(" :: ")[-1] for line in classifiers))
    return str(metadata["License"] or "not stated").splitlines()[0].strip()


def license_texts(packages: list[Package]) -> dict[str, str]:
    """The license text of each package that is not under kibitz's license: from the file, or from npm."""
    kept = {}
    if LIST.is_file():
        kept = {f"{name} {version}": text for name, version, text in WHOLE_TEXT.findall(LIST.read_text("utf-8"))}
    return {
        package.name: kept.get(f"{package.name} {package.version}") or fetched(package)
        for package in packages
        if package.license != OWN
    }


def fetched(package: Package) -> str:
    """The license text of a package of npm, without the licenses of what the page does not have."""
    import hatch_build

    with tempfile.TemporaryDirectory() as folder:
        command = [*hatch_build.npm_command(), "pack", "--silent", f"{package.name}@{package.version}"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as files:
            names = sorted(files.getnames(), key=len)
            licenses = [name for name in names if LICENSE_FILE.match(name)]
            about = next(name for name in names if name.count("/") == 1 and name.endswith("/package.json"))
            member = files.extractfile(licenses[0] if licenses else about)
            assert member is not None
            text = member.read().decode("utf-8")
    if not licenses:
        author = json.loads(text).get("author") or "not stated"
        author = author["name"] if isinstance(author, dict) else author
        text = f"The package has no file with its license. License: {package.license}. Author: {author}."
    return text.split("# Licenses of bundled dependencies")[0].strip() + "\n"


def table(packages: list[Package]) -> str:
    lines = [f"| {package.name} | {package.version} | {package.license} |" for package in packages]
    return "\n".join(["| package | version | license |", "|---|---|---|", *lines])


def listed() -> str:
    """The text of THIRD_PARTY_LICENSES.md."""
    page = page_packages()
    whole = license_texts(page)
    versions = {package.name: package.version for package in page}
    texts = "\n".join(f"### {name} {versions[name]}\n\n```text\n{text}```\n" for name, text in whole.items())
    shipped_fonts = ", ".join(fonts())
    return f"""# Licenses of other people's work

kibitz has the license {OWN}, see the file `LICENSE`. `python tools/licenses.py` writes this list.

## In the package

The page of `kibitz board` contains code from these npm packages. The chess pieces come from chessground.

{table(page)}

Fonts: {shipped_fonts or "none. The page uses the fonts of the system"}.

The bundled networks, games and openings have the license of kibitz.

## Installed with the package

`pip install kibitz` also installs these Python packages, in the versions of the tests or in others.

{table(python_packages())}

## License texts

{texts}"""


def sbom() -> str:
    """The same packages as a bill of materials (CycloneDX 1.6, JSON)."""
    parts: list[dict[str, Any]] = []
    for kind, packages in (("npm", page_packages()), ("pypi", python_packages())):
        for package in packages:
            name = package.name.replace("@", "%40")
            parts.append(
                {
                    "type": "library",
                    "name": package.name,
                    "version": package.version,
                    "scope": "required",
                    "purl": f"pkg:{kind}/{name}@{package.version}",
                    "licenses": [{"license": {"name": package.license}}],
                }
            )
    about = {"component": {"type": "application", "name": "kibitz", "licenses": [{"license": {"id": OWN}}]}}
    whole = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": about, "components": parts}
    return json.dumps(whole, indent=1) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    check = parser.parse_args().check
    for path, text in ((LIST, listed()), (SBOM, sbom())):
        if check:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                sys.exit(f"{path.name} is not up to date. Run: python tools/licenses.py")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
