"""The site of the documentation: versions, a dark theme and search."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from release.tools import ROOT, needs, tool

PUBLISH = tool("publish_docs")


def settings() -> dict[str, Any]:
    """The settings of the site."""
    return dict(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8")))


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def published(folder: Path) -> set[str]:
    """The files of the branch from which the site is published."""
    return set(git(folder, "ls-tree", "-r", "--name-only", PUBLISH.BRANCH).split())


def versions(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Version -> (title, other names), as the list of versions on each page reads them."""
    listed = json.loads(git(folder, "show", f"{PUBLISH.BRANCH}:versions.json"))
    return {each["version"]: (each["title"], each["aliases"]) for each in listed}


def first_page(folder: Path) -> str:
    """The folder that the first page of the site leads to."""
    found = re.search(r'url=(\S+?)/?"', git(folder, "show", f"{PUBLISH.BRANCH}:index.html"))
    assert found is not None
    return found[1].partition("/")[0]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a page, and the settings of the real site but for its pages, hooks and modules."""
    if not shutil.which("mike", path=str(Path(sys.executable).parent)):
        if os.environ.get("CI") == "true":
            pytest.fail("mike is not installed")
        pytest.skip("mike is not installed: pip install 'kibitz[docs]'")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.org")
    kept = {key: value for key, value in settings().items() if key not in ("nav", "hooks", "plugins", "not_in_nav")}
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# A page\n\nWith words.\n")
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump({**kept, "plugins": ["search"]}))
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "A page")
    return tmp_path


@pytest.mark.process
def test_versions_are_added_and_latest_is_the_newest_release(site: Path) -> None:
    needs("git")
    config = site / "mkdocs.yml"
    PUBLISH.publish(None, config)
    assert versions(site) == {"dev": ("dev", [])}
    assert first_page(site) == "dev"
    PUBLISH.publish("v1.2.0", config)
    assert versions(site) == {"dev": ("dev", []), "1.2": ("1.2.0", ["latest"])}
    assert first_page(site) == "latest"
    (site / "docs" / "new.md").write_text("# A new page\n")
    PUBLISH.publish("v1.3.0rc1", config)
    assert versions(site)["1.3"] == ("1.3.0rc1", [])
    assert versions(site)["1.2"] == ("1.2.0", ["latest"])
    PUBLISH.publish("v1.3.0", config)
    assert versions(site)["1.3"] == ("1.3.0", ["latest"])
    assert versions(site)["1.2"] == ("1.2.0", [])
    PUBLISH.publish(None, config)
    PUBLISH.publish(None, config)  # and once more, with nothing new
    assert first_page(site) == "latest"
    files = published(site)
    assert {"dev/new.html", "1.3/new.html", "latest/new.html", "1.2/index.html"} <= files
    assert "1.2/new.html" not in files
    assert "1.3/search/search_index.json" in files
    page = git(site, "show", f"{PUBLISH.BRANCH}:1.3/index.html")
    assert '"provider": "mike"' in page
    assert git(site, "status", "--porcelain", "docs").split() == ["??", "docs/new.md"]


@pytest.mark.parametrize(
    ("tag", "found"), [("v1.2.0", ("1.2", True)), ("v1.2.10", ("1.2", True)), ("v2.0.0rc1", ("2.0", False))]
)
def test_a_tag_names_its_version(tag: str, found: tuple[str, bool]) -> None:
    assert PUBLISH.version_of(tag) == found


@pytest.mark.parametrize("tag", ["1.2.0", "v1.2", "main", "v1.2.0-x"])
def test_another_tag_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"got {tag}")):
        PUBLISH.version_of(tag)


def test_the_site_has_search_two_themes_and_versions() -> None:
    found = settings()
    named = [name for each in found["plugins"] for name in ([each] if isinstance(each, str) else each)]
    assert {"search", "offline"} <= set(named)
    schemes = [each.get("scheme") for each in found["theme"]["palette"]]
    assert schemes == [None, "default", "slate"]
    assert all(each["toggle"]["name"] for each in found["theme"]["palette"])
    assert found["extra"]["version"]["provider"] == "mike"


def test_the_workflow_publishes_each_change_and_each_release() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "docs.yml").read_text(encoding="utf-8"))
    starts = workflow[True]["push"]  # YAML reads the key `on` as true
    assert starts == {"branches": ["main"], "tags": ["v*"]}
    run = "\n".join(step.get("run", "") for step in workflow["jobs"]["publish"]["steps"])
    assert "tools/publish_docs.py" in run
    assert f"HEAD:{PUBLISH.BRANCH}" not in run
    assert f"{PUBLISH.BRANCH}:{PUBLISH.BRANCH}" in run
    assert workflow["jobs"]["publish"]["needs"] == "build"
