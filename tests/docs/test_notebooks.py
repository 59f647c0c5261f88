"""Both notebooks run from beginning to end, and show what they promise."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.docs.pages import ROOT, assert_names_exist

NOTEBOOKS = ROOT / "examples" / "notebooks"
PATIENCE = 600  # seconds for a cell: other tests may run beside it


@pytest.fixture
def run(monkeypatch, tmp_path):
    """A notebook with its outputs, run in its own folder by a kernel that finds this checkout."""

    def execute(name: str) -> nbformat.NotebookNode:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
        monkeypatch.setenv("MPLBACKEND", "agg")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
        NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
        return notebook

    return execute


def shown(notebook: nbformat.NotebookNode) -> list[dict]:
    """What the code cells returned, in all its forms."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output["data"] for output in outputs if "data" in output]


def printed(notebook: nbformat.NotebookNode) -> str:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "".join(output["text"] for output in outputs if output.output_type == "stream" and output.name == "stdout")


@pytest.mark.slow
def test_a_folder_is_explored(run):
    notebook = run("explore-a-folder.ipynb")
    data = shown(notebook)
    assert data[0]["text/plain"] == "32"
    assert sum("text/html" in each for each in data) == 2  # the hits and the match show themselves
    assert "why depositors leave together" in printed(notebook).lower()
    assert data[-2]["text/plain"] == "1.0"  # all shares


@pytest.mark.slow
def test_colde_is_trained_small_and_explained(run):
    notebook = run("train-and-explain.ipynb")
    scores = [float(line.split()[0]) for line in printed(notebook).splitlines() if line[:2] == "0."][:2]
    assert scores[0] > scores[1]
    assert "document 0." in printed(notebook)
    assert "text/html" in shown(notebook)[-1]


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_their_code_is_valid_and_names_what_exists(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert_names_exist(cell.source)


def test_notebooks_are_kept_without_outputs():
    for path in Path(NOTEBOOKS).glob("*.ipynb"):
        assert not [cell for cell in nbformat.read(path, as_version=4).cells if cell.get("outputs")], path.name
