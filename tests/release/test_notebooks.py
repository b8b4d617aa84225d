"""The notebooks: their form, their badges, and that every cell runs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from release.tools import ROOT, tool
from support.patience import PATIENCE

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SHORT = {"KIBITZ_NOTEBOOK_GAMES": "10", "KIBITZ_NOTEBOOK_MINUTES": "0.02", "KIBITZ_NOTEBOOK_POSITIONS": "400"}
"""What shortens the notebooks here. Without these variables they take minutes."""

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path) -> list[tuple[str, str]]:
    """The kind and the text of each cell."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in found]


def test_there_is_one_for_each_walk_and_three_others() -> None:
    walks = {f"course-{page.stem}" for page in (ROOT / "docs" / "course").glob("*.md") if page.name != "index.md"}
    assert len(walks) == 5
    others = {"human-moves-as-features", "reproduce-a-figure", "train-your-own-network"}
    assert {path.stem for path in NOTEBOOKS} == walks | others


def test_the_notebooks_of_the_course_have_the_commands_of_its_pages() -> None:
    """`python tools/course_notebooks.py` writes them again."""
    made = tool("course_notebooks").notebooks()
    assert {path.name for path in made} == {path.name for path in NOTEBOOKS if path.stem.startswith("course-")}
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, path.name
        code = "\n".join(source for kind, source in cells(path) if kind == "code").replace('"\n    "', "")
        page = (ROOT / "docs" / "course" / f"{path.stem.removeprefix('course-')}.md").read_text(encoding="utf-8")
        lines = re.findall(r"^kibitz (?:train|test) .*$", page, re.MULTILINE)
        assert len(lines) == 2
        assert [line for line in lines if line not in code] == []
        assert "Exercises" in "".join(source for _, source in cells(path))


@every_notebook
def test_a_notebook_is_saved_without_outputs(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    assert path.stat().st_size < 20_000


@every_notebook
def test_a_notebook_begins_with_badges_and_the_install(path: Path) -> None:
    (kind, text), (second_kind, second), *others = cells(path)
    assert (kind, second_kind) == ("markdown", "code")
    assert text.startswith("# ")
    assert "## Install" in text
    repository = f"{tool('addresses').owner()}/kibitz"
    assert f"https://colab.research.google.com/github/{repository}/blob/main/notebooks/{path.name})" in text
    assert f"https://mybinder.org/v2/gh/{repository}/main?labpath=notebooks%2F{path.name})" in text
    assert f"git+https://github.com/{repository}" in second
    # A command after "!" may fail without an error.
    code = [text for kind, text in others if kind == "code"]
    assert code
    assert [line for text in code for line in text.splitlines() if line.startswith("!")] == []


@every_notebook
def test_a_notebook_is_linked_and_its_variables_are_set(path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "notebooks.md").read_text(encoding="utf-8")
    assert f"/blob/main/notebooks/{path.name})" in page
    variables = set(re.findall(r"KIBITZ_NOTEBOOK_\w+(?=\")", path.read_text(encoding="utf-8").replace("\\", "")))
    assert variables
    assert variables <= SHORT.keys()


@pytest.mark.process
def test_the_script_of_the_address_knows_them() -> None:
    addresses = tool("addresses")
    found = {path.relative_to(ROOT) for path in addresses.files_with(addresses.owner())}
    assert {path.relative_to(ROOT) for path in NOTEBOOKS} <= found


def test_binder_installs_this_repository() -> None:
    lines = (ROOT / ".binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert ".[train]" in lines


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One kernel for all notebooks: it keeps the modules, but no name of one notebook is left for the next."""
    pytest.importorskip("nbclient")
    manager = pytest.importorskip("jupyter_client").KernelManager(kernel_name="python3", transport="ipc")  # no port
    folder = str(tmp_path_factory.mktemp("notebooks"))  # for the folders of the notebooks
    variables = {**SHORT, "MPLBACKEND": "module://matplotlib_inline.backend_inline", "TMPDIR": folder}
    paths = os.pathsep.join([str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])])
    manager.start_kernel(env={**os.environ, **variables, "PYTHONPATH": paths})
    try:
        run_cells(manager, ["import support.in_kernel"])
        yield manager
    finally:
        manager.shutdown_kernel(now=True)


def execute(kernel: Any, notebook: Any) -> None:
    """Run the cells of a notebook in the kernel, and put their outputs into the notebook."""
    import nbclient

    client = nbclient.NotebookClient(notebook, km=kernel, timeout=PATIENCE)
    try:
        client.execute()
    finally:
        client.kc.stop_channels()


def run_cells(kernel: Any, sources: list[str]) -> None:
    import nbformat

    execute(kernel, nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]))


@pytest.mark.slow
@every_notebook
def test_every_cell_runs(path: Path, kernel: Any) -> None:
    import nbformat

    run_cells(kernel, ["%reset -f"])
    notebook: Any = nbformat.read(path, as_version=4)
    execute(kernel, notebook)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = {name for output in outputs for name in output.get("data", ())}
    assert "image/png" in shown
    assert ("image/svg+xml" in shown) == ("kibitz.show" in path.read_text(encoding="utf-8"))
    for cell in notebook.cells:
        if cell.cell_type == "code" and re.search(r"^print\(|    print\(", cell.source) and "def " not in cell.source:
            assert cell.outputs, cell.source
