"""The files that strangers and their programs expect: they have the right form, and name what there is."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import kibitz
from release.tools import ROOT, needs

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PINNED = re.compile(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40}$")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def workflow(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in workflow(path)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("dependabot", [GITHUB / "dependabot.yml"]),
        ("github-issue-forms", [GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml" for name in ("bug", "idea", "network")]),
        ("github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
        ("compose-spec", [ROOT / "compose.yaml"]),
    ],
)
def test_files_have_the_form_of_their_schema(schema: str, files: list[Path]) -> None:
    command = [needs("check-jsonschema"), "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_zizmor_finds_nothing(tmp_path: Path) -> None:
    """And it finds an action without a hash."""
    command = [needs("zizmor"), "--offline", "--no-progress"]
    done = subprocess.run([*command, str(GITHUB)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    worse = re.sub(r"@[0-9a-f]{40}", "@main", WORKFLOWS[0].read_text(encoding="utf-8"))
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / ".github" / "workflows" / "ci.yml").write_text(worse)
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode != 0


def test_hadolint_finds_nothing(tmp_path: Path) -> None:
    """And it finds an image without a tag."""
    command = needs("hadolint")
    done = subprocess.run([command, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
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


def test_the_conda_recipe_repeats_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "packaging" / "conda-recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == kibitz.__version__
    assert recipe["about"]["license"] == project["license"]
    wanted = {
        each.replace("chess>", "python-chess>", 1) if each.startswith("chess>") else each
        for each in project["dependencies"]
    }
    run = {each.replace(" ", "") for each in recipe["requirements"]["run"]} - {f"python{project['requires-python']}"}
    assert run == wanted
    assert recipe["build"]["python"]["entry_points"] == [f"kibitz = {project['scripts']['kibitz']}"]


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
