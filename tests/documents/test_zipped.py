"""Zip files of documents, and what a file is by its content."""

import random
import zipfile

import pytest

from longmatch.documents import archive, read, read_all
from longmatch.documents.formats import suffix_by_content
from longmatch.errors import LongmatchWarning, ReadError
from tests.documents.packed import JATS, MAIL, epub, odt, pptx, shape, zipped
from tests.documents.shapes import kinds

BOOK = epub({"a.xhtml": "<h1>Why</h1><p>It falls.</p>"})
ODT = odt("<text:p>Open text.</text:p>")


@pytest.fixture
def collection(tmp_path):
    path = tmp_path / "all.zip"
    lines = '{"id": "x", "text": "A line of text."}\n'
    path.write_bytes(
        zipped(
            {
                "sub/note.txt": "Plain words here.",
                "book.epub": BOOK,
                "lines.jsonl": lines,
                "in.mbox": b"From a\n" + MAIL + b"\nFrom b\n" + MAIL,
                "photo.jpg": b"\xff\xd8",
                "__MACOSX/._note.txt": "junk",
                ".hidden.txt": "junk",
                "../outside.txt": "Harmless words.",
            }
        )
    )
    return path


def test_every_member_is_a_document_with_its_name_as_address(collection, tmp_path):
    with pytest.warns(LongmatchWarning, match=r"has 1 file of a format that longmatch does not read: photo\.jpg\."):
        documents = list(read_all(collection, pytest.fail))
    assert [d.id for d in documents] == [
        *("all.zip#sub/note.txt", "all.zip#book.epub", "x", "all.zip#in.mbox#1", "all.zip#in.mbox#1#log.txt"),
        *("all.zip#in.mbox#2", "all.zip#in.mbox#2#log.txt", "all.zip#../outside.txt"),
    ]
    assert {d.source for d in documents} == {str(collection)}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all.zip"], "nothing is unpacked beside it"
    for id in ("sub/note.txt", "lines.jsonl#x", "in.mbox#2", "../outside.txt"):
        assert (
            read(f"{collection}#{id}").text == next(d for d in documents if d.id.endswith(id.rpartition("#")[2])).text
        )


def test_bad_members_are_named_and_the_others_are_read(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.txt": "Good words.", "b.txt": "", "c.odt": "no", "inner.zip": zipped({"a.txt": "x"})}))
    errors: list[ReadError] = []
    assert [d.id for d in read_all(path, errors.append)] == ["a.zip#a.txt"]
    assert [str(e).partition(". ")[0] for e in errors] == [
        f"{path}#inner.zip is a zip file in a zip file",
        f"{path}#b.txt is empty",
        f"{path}#c.odt is damaged or not an ODT file",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped({"a.jpg": "x"}), "is a zip file without a file that longmatch reads"),
        (b"just words", "is damaged or not a zip file"),
        (zipped({"a.txt": "Words."})[:-30], "is damaged or not a zip file"),
        (zipped({"a.txt": "Words."}, zipfile.ZIP_BZIP2), "compressed in a way that longmatch does not read"),
    ],
    ids=["no document", "no zip file", "cut off", "unknown compression"],  # the contents differ by time
)
def test_what_is_no_zip_file_of_documents_is_refused(opened, content, said):
    with pytest.raises(ReadError, match=said):
        opened("a.zip", content)


def test_an_encrypted_member_needs_a_password(opened):
    content = bytearray(zipped({"a.txt": "Words."}))
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(header) + flags] |= 1
    with pytest.raises(ReadError, match=r"a\.zip#a\.txt needs a password"):
        opened("a.zip", bytes(content))


def test_bombs_are_refused(opened, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_MEMBER", 1_000_000)
    with pytest.raises(ReadError, match="unpacks to a huge size"):
        opened("a.zip", zipped({"a.txt": b" " * 1_000_001}))
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    with pytest.raises(ReadError, match="holds more than 3 files"):
        opened("a.zip", zipped({f"{n}.txt": "x" for n in range(4)}))


def test_a_book_of_many_chapters_is_bounded_as_a_whole(opened, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_TOTAL", 1_000_000)
    pages = {f"{n}.xhtml": "<p>" + " " * 90_000 + "</p>" for n in range(12)}
    with pytest.raises(ReadError, match="unpacks to a huge size"):
        opened("a.epub", epub(pages))


FORMATS = {
    ".odt": ODT,
    ".epub": BOOK,
    ".pptx": pptx(shape("On rain", "title") + shape("It falls.")),
    ".rtf": rb"{\rtf1\ansi It {\b falls}.\par Often.}",
    ".xml": JATS.encode(),
    ".eml": MAIL,
}


@pytest.mark.parametrize("suffix", [".odt", ".epub", ".pptx", ".rtf"])
@pytest.mark.parametrize("name", ["a.docx", "a.txt", "a.zip", "a.pdf", "a.download"])
def test_content_decides_where_the_name_says_something_else(opened, name, suffix):
    assert kinds(opened(name, FORMATS[suffix])) == kinds(opened(f"b{suffix}", FORMATS[suffix]))


def test_text_formats_go_by_their_names(tmp_path):
    for number, content in enumerate([JATS.encode(), MAIL, b"words", b"%PDF-1.7 words", b"PK\x03\x04 words"]):
        path = tmp_path / str(number)
        path.write_bytes(content)
        assert suffix_by_content(path) == ""


@pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
@pytest.mark.parametrize("suffix", FORMATS)
def test_damaged_files_are_read_or_refused_with_a_sentence(opened, suffix):
    """Bytes changed, removed and repeated at random: a document or a ReadError, nothing else."""
    chance = random.Random(7)
    whole = FORMATS[suffix]
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            at, length = chance.randrange(len(whole)), chance.randint(1, 40)
            step = chance.random()
            if step < 0.5:
                content[at : at + 1] = chance.randbytes(1)
            elif step < 0.75:
                del content[at : at + min(length, len(content) // 4)]
            else:
                content[at:at] = content[at : at + length]
        if chance.random() < 0.3:
            del content[chance.randrange(len(whole)) :]
        try:
            opened(f"a{suffix}", bytes(content))
        except ReadError as error:
            assert str(error).count("\n") == 0


def nested(opening: str, closing: str, times: int) -> str:
    return opening * times + "word " * 1_000 + closing * times


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.odt", odt(nested("<text:p>a<text:note><text:note-body>", "</text:note-body></text:note></text:p>", 60))),
        (
            "a.odt",
            odt(
                nested(
                    "<table:table><table:table-row><table:table-cell>",
                    "</table:table-cell></table:table-row></table:table>",
                    60,
                )
            ),
        ),
        (
            "a.pptx",
            pptx(
                nested(
                    "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc>",
                    "</a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
                    35,
                )
            ),
        ),
        ("a.pptx", pptx(nested("<p:sp><p:txBody><a:p>", "</a:p></p:txBody></p:sp>", 60))),
        ("a.xml", f"<article><body>{nested('<table><tr><td>', '</td></tr></table>', 60)}</body></article>".encode()),
        ("a.rtf", b"{\\rtf1 " + b"{\\footnote a" * 500 + b"}" * 500 + b"}"),
    ],
)
def test_parts_inside_each_other_are_not_read_again_and_again(opened, name, content):
    try:
        assert len(opened(name, content).text) < 50_000
    except ReadError as error:
        assert "nested too deep" in str(error) or "no sentences" in str(error)
