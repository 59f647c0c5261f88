"""Pipes, devices, sockets, links that lead nowhere and files of absurd size are named, and the rest is read."""

import gzip
import tracemalloc

import pytest

from longmatch.documents import read, read_all
from longmatch.documents.containers import member_content
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import ReadError
from tests.documents.odd_entries import PROBLEMS, within, write_odd_entries


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_odd_entry_is_refused_in_one_sentence(tmp_path, name):
    write_odd_entries(tmp_path)
    with within(20), pytest.raises(ReadError) as caught:
        read(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name} {PROBLEMS[name]}. ")


def test_the_rest_of_a_folder_is_read(tmp_path):
    write_odd_entries(tmp_path)
    (tmp_path / "good.txt").write_text("Some words.")
    (tmp_path / "linked.txt").symlink_to("good.txt")
    errors: list[ReadError] = []
    with within(20):
        assert [document.id for document in read_all(tmp_path, errors.append)] == ["good.txt", "linked.txt"]
    assert {error.path.rpartition("/")[2]: error.problem for error in errors} == PROBLEMS


def test_a_file_of_absurd_size_is_refused_before_it_is_in_memory(tmp_path):
    write_odd_entries(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(ReadError):
            read(tmp_path / "huge.txt")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_source_that_became_a_pipe_has_no_members(tmp_path):
    write_odd_entries(tmp_path)
    with within(20), pytest.raises(ReadError, match="is a named pipe"):
        member_content(tmp_path / "pipe.xml", "a.pdf")


def test_a_line_of_absurd_length_is_named_and_the_next_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("longmatch.documents.jsonl.LONGEST_LINE", 1_000)
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "' + "word " * 1_000 + '"}\n{"text": "Some words."}\n')
    errors: list[ReadError] = []
    assert [document.id for document in iterate_jsonl(path, errors.append)] == ["a-2"]
    assert [str(error).partition(" is ")[0] for error in errors] == [f"{path}, line 1,"]


def test_a_compressed_file_that_unpacks_to_a_huge_size_is_refused_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr("longmatch.documents.jsonl.LARGEST_UNPACKED", 100_000)
    path = tmp_path / "a.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(b'{"text": "Some words."}\n' + (b" " * 999 + b"\n") * 5_000)
    with pytest.raises(ReadError, match="unpacks to a huge size"):
        list(iterate_jsonl(path))
