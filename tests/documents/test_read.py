"""Opening any file, and folders of them."""

import subprocess
import sys

import pytest

from longmatch.documents import find_files, read, read_all, read_text_string
from longmatch.errors import ReadError


def refuse(error: ReadError) -> None:
    raise error


@pytest.fixture
def folder(tmp_path):
    for name in (
        "b.txt",
        "a.md",
        "sub/c.HTML",
        "sub/deep/d.txt",
        ".hidden/e.txt",
        ".f.txt",
        "~$g.docx",
        "h.exe",
        "i.tex",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Some words of {path.stem}.")
    return tmp_path


def test_files_of_known_kinds_are_found_sorted_and_hidden_ones_left_out(folder):
    assert [p.relative_to(folder).as_posix() for p in find_files(folder)] == [
        "a.md",
        "b.txt",
        "i.tex",
        "sub/c.HTML",
        "sub/deep/d.txt",
    ]


def test_ids_are_paths_in_the_folder_and_names_for_files(folder):
    documents = list(read_all([folder / "sub", folder / "b.txt"], refuse))
    assert [d.id for d in documents] == ["c.HTML", "deep/d.txt", "b.txt"]
    assert documents[2].source == str(folder / "b.txt")


def test_ids_are_unique(folder):
    assert [d.id for d in read_all([folder / "b.txt", folder / "b.txt"], refuse)] == ["b.txt", "b.txt (2)"]


def test_all_documents_of_a_json_lines_file_are_read(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": "one", "text": "Some words."}\n{"id": "two", "text": "More words."}\n')
    assert [d.id for d in read_all(tmp_path, refuse)] == ["one", "two"]


def test_unreadable_files_are_reported_and_the_others_still_read(folder):
    (folder / "bad.txt").write_bytes(b"\x00\x01\x02binary\x00")
    (folder / "bad.docx").write_bytes(b"no zip")
    (folder / "empty.md").write_bytes(b"")
    (folder / "bad.jsonl").write_text('{"id": "x", "text": "Some words."}\n{"broken\n')
    errors: list[ReadError] = []
    assert [d.id for d in read_all([folder, folder / "none.txt"], errors.append)] == [
        "a.md", "b.txt", "x", "i.tex", "sub/c.HTML", "sub/deep/d.txt",
    ]  # fmt: skip
    assert [error.path.rpartition("/")[2].partition(",")[0] for error in errors] == [
        "bad.docx", "bad.jsonl", "bad.txt", "empty.md", "none.txt",
    ]  # fmt: skip


def test_a_folder_with_nothing_readable_is_refused(tmp_path):
    (tmp_path / "a.exe").write_text("words")
    errors: list[ReadError] = []
    with pytest.raises(ReadError, match=r"holds no document that can be read\. Supported formats: \.txt"):
        list(read_all(tmp_path, errors.append))
    assert "holds no file that longmatch reads" in str(errors[0])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", None, "does not exist. Check the name."),
        ("a.jsonl#x", None, "a.jsonl does not exist. Check the name."),
        ("a.txt", b"", "is empty. Leave it out, or put text in it."),
        ("a.md", b" \r\n\t ", "is empty. Leave it out, or put text in it."),
        ("a.html", b"\xef\xbb\xbf \n", "is empty. Leave it out, or put text in it."),
        ("a.txt", b"\x7fELF\x02\x00\x00", "is not text."),
        ("a.txt", b"%PDF-1.7 words", "is not text."),
        ("a.md", b"PK\x03\x04 words", "is not text."),
        ("a.txt", b"12 34 ... 56\n\n---", "holds no sentences."),
        ("a.md", b"# Only a heading\n", "holds no sentences."),
        ("a.md", b"---\ntitle: x\n---", "holds no sentences."),
        ("a.html", b"<script>words</script>", "holds no sentences."),
        ("a.xyz", b"words", "has an unsupported format (.xyz). Supported formats: .txt"),
        ("noname", b"words", "has an unsupported format (no suffix)."),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence_that_names_the_file(tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ReadError) as caught:
        read(path)
    assert str(caught.value).startswith(str(tmp_path / name.partition("#")[0])) and said in str(caught.value)


def test_a_folder_given_as_a_file_is_refused(tmp_path):
    with pytest.raises(ReadError, match=r"is a folder, not a file\. Name one of the files in it\."):
        read(str(tmp_path))


def test_the_document_knows_its_file_and_takes_the_id_given(folder):
    document = read(str(folder / "b.txt"), id="x")
    assert (document.id, document.source) == ("x", str(folder / "b.txt"))


def test_pasted_text_is_a_document():
    document = read_text_string("Some words here.\n\nAnd more.", "pasted", "A title")
    assert (document.id, document.title, len(document.paragraphs)) == ("pasted", "A title", 2)


def test_pasted_nothing_is_refused():
    with pytest.raises(ReadError, match="pasted text is empty"):
        read_text_string("  \n")


def test_importing_the_package_loads_no_reader():
    heavy = "['markdown_it', 'charset_normalizer', 'pypdfium2', 'sentencex', 'torch']"
    code = f"import sys, longmatch.documents; print([name for name in {heavy} if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
