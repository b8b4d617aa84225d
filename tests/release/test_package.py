"""The package as strangers get it: one version, its metadata, its licenses, and the contents of its archives."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import kibitz
from release.tools import ROOT, needs, tool

MANIFEST = ROOT / "pyproject.toml"


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    found = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["project"]
    assert isinstance(found, dict)
    return found


def test_the_version_is_in_one_place(project: dict[str, object]) -> None:
    """hatchling reads it from the package; the files that are read without kibitz repeat it."""
    metadata = pytest.importorskip("hatchling.metadata.core")
    plugins = pytest.importorskip("hatchling.plugin.manager")
    assert "version" not in project
    built = metadata.ProjectMetadata(str(ROOT), plugins.PluginManager())
    assert built.version == kibitz.__version__
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == kibitz.__version__


def test_the_classifiers_name_pythons_and_languages(project: dict[str, object]) -> None:
    known = pytest.importorskip("trove_classifiers").classifiers
    classifiers = project["classifiers"]
    assert isinstance(classifiers, list)
    assert set(classifiers) <= known
    assert classifiers == sorted(classifiers)
    pythons = [line.split(" :: ")[-1] for line in classifiers if re.search(r":: 3\.\d+$", line)]
    assert f">={pythons[0]}" == project["requires-python"]
    assert [f"3.{int(pythons[0][2:]) + number}" for number in range(len(pythons))] == pythons
    languages = {"en": "English", "de": "German", "fr": "French"}
    texts = {path.stem for path in (ROOT / "frontend" / "src" / "texts").glob("??.ts")}
    spoken = {line.split(" :: ")[1] for line in classifiers if line.startswith("Natural Language")}
    assert {languages[name] for name in texts} == spoken


def test_the_addresses_are_those_of_one_repository(project: dict[str, object]) -> None:
    urls, owner = project["urls"], tool("addresses").owner()
    assert isinstance(urls, dict)
    assert {"Homepage", "Documentation", "Repository", "Issues", "Changelog"} <= urls.keys()
    assert all(owner in address for address in urls.values())


@pytest.fixture
def licenses() -> ModuleType:
    return tool("licenses")


def test_the_list_of_licenses_is_up_to_date(licenses: ModuleType) -> None:
    assert licenses.LIST.read_text(encoding="utf-8") == licenses.listed()
    assert licenses.SBOM.read_text(encoding="utf-8") == licenses.sbom()
    assert not licenses.fonts()


def test_the_list_of_licenses_follows_the_page(
    licenses: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version, another import and a font are found."""
    source = tmp_path / "frontend" / "src"
    source.mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (source / "main.ts").write_text('import { a } from "one";\nimport "./own";\nimport "two/style.css";\n')
    entry = {"version": "1.0", "license": "MIT"}
    names = {"one": {**entry, "dependencies": {"three": "1"}}, "two": entry, "three": entry, "four": entry}
    lock = {"packages": {f"node_modules/{name}": value for name, value in {**names, "vite": entry}.items()}}
    (tmp_path / "frontend" / "package-lock.json").write_text(json.dumps(lock))
    monkeypatch.setattr(licenses, "ROOT", tmp_path)
    assert [package.name for package in licenses.page_packages()] == ["one", "three", "two", "vite"]
    assert licenses.fonts() == []
    (source / "text.woff2").touch()
    assert licenses.fonts() == ["text.woff2"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The sdist and the wheel, built here."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return sorted(folder.iterdir())


def test_the_wheel_has_what_is_listed(archives: list[Path], tmp_path: Path) -> None:
    if not (ROOT / "src/kibitz/web/page/index.html").is_file():
        pytest.skip("the page is not built")
    contents = tool("wheel_contents")
    (wheel,) = (path for path in archives if path.suffix == ".whl")
    assert contents.faults(wheel) == []
    other = shutil.copy(wheel, tmp_path / wheel.name)
    import zipfile

    with zipfile.ZipFile(other, "a") as archive:
        archive.writestr("kibitz/secret.txt", "")
        archive.writestr("kibitz/more.py", "")
    assert [line.split(":")[0] for line in contents.faults(other)] == ["not listed", "not of src/ or missing"]


def test_twine_finds_nothing(archives: list[Path]) -> None:
    done = subprocess.run(
        [needs("twine"), "check", "--strict", *map(str, archives)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == 2
