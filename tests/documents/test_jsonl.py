"""JSON Lines: one document a line, read one at a time."""

import gzip
import json
import lzma

import pytest

from longmatch.documents import read
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import ReadError
from tests.documents.shapes import kinds, outline

A = {
    "id": "a",
    "title": "A",
    "year": 2001,
    "sections": [{"heading": "", "text": "One.\n\nTwo."}, {"heading": "H", "text": "Three."}],
}
B = {"id": "b", "text": "Only text here."}


def lines(*records: object) -> bytes:
    return b"\n".join(json.dumps(record).encode() for record in records) + b"\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(lines(A, B))
    return path


def test_sections_and_paragraphs_are_kept_and_other_keys_are_metadata(file):
    document = next(iterate_jsonl(file))
    assert (document.id, document.title, document.metadata, document.source) == ("a", "A", {"year": 2001}, str(file))
    assert outline(document) == [(1, "", ["One.", "Two."]), (1, "H", ["Three."])]


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".jsonl", bytes), (".jsonl.gz", gzip.compress), (".jsonl.xz", lzma.compress)]
)
def test_compressed_files_are_read(tmp_path, suffix, pack):
    path = tmp_path / f"docs{suffix}"
    path.write_bytes(pack(lines(A, B)))
    assert [d.id for d in iterate_jsonl(path)] == ["a", "b"]


def test_a_document_without_an_id_is_named_by_file_and_line(tmp_path):
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" + lines({"text": "One here."}, {"text": "Two here."})))
    assert [d.id for d in iterate_jsonl(path)] == ["docs-2", "docs-3"]


def test_one_document_is_named_after_a_hash(file):
    assert kinds(read(f"{file}#b")) == [("text", "Only text here.")]


def test_a_file_of_several_documents_says_how_to_name_one(file):
    with pytest.raises(ReadError, match=r"docs\.jsonl holds several documents\. Name one .*docs\.jsonl#a"):
        read(file)


def test_a_file_of_one_document_opens_directly_and_may_be_renamed(tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines(B))
    assert (read(path).id, read(path, id="x").id) == ("b", "x")


def test_an_unknown_id_is_refused(file):
    with pytest.raises(ReadError, match="holds no document with the id zzz"):
        read(f"{file}#zzz")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{not json", "is not JSON"),
        (b"\xff\xfe\xfa", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1, 2]", "is not a document"),
        (b'{"id": "x"}', "is not a document"),
        (b'{"sections": ["words"]}', "has a section that is not"),
        (b'{"sections": 5}', "has a section that is not"),
        (b'{"text": 5}', "has a section that is not"),
        (b'{"text": "12 34"}', "holds no sentences"),
    ],
)
def test_a_bad_line_is_named_by_file_and_number(tmp_path, line, said):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(lines(A) + line + b"\n")
    with pytest.raises(ReadError, match=rf"docs\.jsonl, line 2, {said}"):
        list(iterate_jsonl(path))


def test_bad_lines_can_be_left_out(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(lines(A) + b"{bad\n" + lines(B))
    errors: list[ReadError] = []
    assert [d.id for d in iterate_jsonl(path, errors.append)] == ["a", "b"] and len(errors) == 1


@pytest.mark.parametrize("content", [gzip.compress(lines(A) * 1_000)[:-400], b"no gzip at all"])
def test_a_damaged_archive_is_refused(tmp_path, content):
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(ReadError, match="is damaged"):
        list(iterate_jsonl(path))


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file_is_refused(tmp_path, content):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=r"docs\.jsonl is empty"):
        list(iterate_jsonl(path))


def test_halves_of_characters_are_replaced_wherever_they_stand(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(r'{"id": "a\ud83d", "title": "T\ud83d", "text": "Rain\ud83d falls.", "tags": ["t\ud83d"]}' + "\n")
    (document,) = iterate_jsonl(path)
    found = (document.id, document.title, document.text, document.metadata["tags"])
    assert found == ("a\ufffd", "T\ufffd", "Rain\ufffd falls.", ["t\ufffd"])


def test_a_document_of_a_file_in_a_turkish_folder_has_an_address(tmp_path):
    path = tmp_path / "İzmir" / "Docs.JSONL"
    path.parent.mkdir()
    path.write_bytes(lines(A, B))
    assert read(f"{path}#b").id == "b"
