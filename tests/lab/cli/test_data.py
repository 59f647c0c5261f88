"""`longmatch data`."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.cli.data import data_app
from longmatch.lab.datasets import DataFolder

runner = CliRunner()


@pytest.fixture
def raw(tmp_path):
    folder = tmp_path / "raw" / "peps"
    folder.mkdir(parents=True)
    for number, text in ((1, "See PEP 2. "), (2, "Nothing. "), (3, "Other. ")):
        body = text + "Words that fill the page. " * 80
        (folder / f"pep-{number:04}.rst").write_text(f"PEP: {number}\nTitle: No {number}\n\nWhy\n===\n\n{body}\n")
    return tmp_path / "raw"


def run(*arguments: object) -> str:
    result = runner.invoke(data_app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list_names_every_set():
    output = run("list")
    assert all(name in output for name in ("aan", "wiki-dump", "coliee", "peps"))


def test_list_as_json_is_json():
    rows = json.loads(run("list", "--json"))
    assert {"name", "what", "source", "licence", "size", "files", "sha256", "steps", "layout"} <= rows[0].keys()


def test_show_tells_source_layout_and_steps():
    output = run("show", "coliee")
    assert "sign the agreement" in " ".join(output.split())
    assert "task1_train_labels_<year>.json" in output


def test_build_makes_a_folder_that_show_describes(raw, tmp_path):
    counts = json.loads(run("build", "peps", raw, tmp_path / "out", "--json"))
    assert counts == {
        "name": "peps",
        "path": str(tmp_path / "out"),
        "documents": 3,
        "pairs": 2,
        "judgements": 1,
        "queries": 1,
        "upstream files left out": 0,
        "labels left out": 0,
    }
    assert DataFolder(tmp_path / "out").qrels() == {"PEP1": {"PEP2": 1}}
    facts = json.loads(run("show", tmp_path / "out", "--json"))
    assert (facts["documents"], facts["pairs"], facts["queries"]) == (3, 2, 1)
    assert "documents" in run("show", tmp_path / "out")


def test_build_prints_a_table(raw, tmp_path):
    output = run("build", "peps", raw, tmp_path / "out")
    assert "documents" in output
    assert "labels left out" in output


def test_mistakes_are_sentences(raw, tmp_path):
    with pytest.raises(LongmatchError, match="no data set 'pep'"):
        run("build", "pep", raw, tmp_path / "out")
    with pytest.raises(LongmatchError, match="has no option --without"):
        run("build", "peps", raw, tmp_path / "out", "--without", tmp_path)
    with pytest.raises(ReadError, match="does not exist"):
        run("build", "peps", tmp_path / "nowhere", tmp_path / "out")


def test_listing_loads_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from longmatch.lab.cli.data import data_app;"
        "CliRunner().invoke(data_app, ['list']);"
        "print({'torch', 'transformers', 'sklearn', 'numpy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
