"""The verbs of the command line over a library, with the packaged model on three small documents."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from longmatch.cli.app import app
from longmatch.errors import LongmatchError, ReadError
from tests.library.tiny import made_up_text, write_texts

run = CliRunner()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of texts and a library of them."""
    place = tmp_path_factory.mktemp("verbs")
    write_texts(place / "texts", range(3))
    (place / "texts" / "empty.md").write_text("")
    found = json.loads(run.invoke(app, ["index", str(place / "library"), str(place / "texts"), "--json"]).stdout)
    assert found["added"] == ["d000.txt", "d001.txt", "d002.txt"]
    assert [Path(row["file"]).name for row in found["unreadable"]] == ["empty.md"]
    return place


def test_indexing_again_says_what_is_unchanged(place: Path) -> None:
    result = run.invoke(app, ["index", str(place / "library"), str(place / "texts")])
    assert "3 unchanged, 1 unreadable" in result.stdout


@pytest.mark.parametrize("query", ["d000.txt", "FILE", "-"])
def test_an_id_a_file_and_standard_input_can_be_asked(place: Path, query: str) -> None:
    named = str(place / "texts" / "d000.txt") if query == "FILE" else query
    text = made_up_text(0)
    result = run.invoke(app, ["rank", named, str(place / "library"), "--json"], input=text)
    found = json.loads(result.stdout)
    assert {hit["id"] for hit in found["hits"]} == {"d001.txt", "d002.txt"}
    assert [same["id"] for same in found["same"]] == (["d000.txt"] if query == "-" else [])


def test_a_folder_of_files_gets_a_library_beside_them(place: Path) -> None:
    asked = ["rank", str(place / "texts" / "d000.txt"), str(place / "texts"), "--json"]
    first, second = (json.loads(run.invoke(app, asked).stdout) for _ in range(2))
    assert (place / "texts" / ".longmatch" / "documents.lance").is_dir()
    assert first == second
    assert [hit["id"] for hit in first["hits"]] != []
    listed = json.loads(run.invoke(app, ["show", str(place / "texts"), "--json"]).stdout)
    assert listed["facts"]["documents"] == 3


def test_show_lists_documents_and_finds_words(place: Path) -> None:
    library = str(place / "library")
    listed = json.loads(run.invoke(app, ["show", library, "--json"]).stdout)
    assert [row["id"] for row in listed["documents"]] == ["d000.txt", "d001.txt", "d002.txt"]
    assert listed["facts"]["documents"] == 3
    word = made_up_text(1).split()[1]
    found = json.loads(run.invoke(app, ["show", library, "--find", word, "--json"]).stdout)
    assert "d001.txt" in [row["id"] for row in found["documents"]]
    assert json.loads(run.invoke(app, ["show", library, "d001.txt", "--json"]).stdout)["words"] > 50


def test_pairs_prints_pairs_of_the_least_score(place: Path) -> None:
    found = json.loads(run.invoke(app, ["pairs", str(place / "library"), "--min", "0", "--json"]).stdout)
    assert len(found["pairs"]) == 3


def test_remove_takes_documents_out(place: Path, tmp_path: Path) -> None:
    write_texts(tmp_path / "texts", range(2))
    run.invoke(app, ["index", str(tmp_path / "library"), str(tmp_path / "texts")])
    assert "1 removed" in run.invoke(app, ["remove", str(tmp_path / "library"), "d000.txt"]).stdout
    again = run.invoke(app, ["remove", str(tmp_path / "library"), "d000.txt"])
    assert isinstance(again.exception, LongmatchError)


def test_a_model_that_cannot_ask_a_library_is_refused(place: Path) -> None:
    result = run.invoke(app, ["rank", str(place / "texts" / "d000.txt"), str(place / "library"), "--model", "bm25"])
    assert isinstance(result.exception, LongmatchError)
    assert "bm25" in str(result.exception)


def test_a_name_mistyped_makes_no_library(tmp_path: Path) -> None:
    found = run.invoke(app, ["index", str(tmp_path / "library"), str(tmp_path / "nofile.txt")])
    assert isinstance(found.exception, ReadError) and "does not exist" in str(found.exception)
    assert not (tmp_path / "library").exists()
