"""What a small file unpacks to is bounded in all, however it is divided or nested."""

import gzip
import time
from email.message import EmailMessage
from pathlib import Path

import pytest

from longmatch.documents import archive
from longmatch.documents.read import read, read_all
from longmatch.errors import ReadError
from tests.documents.packed import zipped

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
HUGE = "unpacks to a huge size"
EIGHT = range(8)


def docx(content: str) -> bytes:
    return zipped({"word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{content}</w:body></w:document>'})


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


@pytest.fixture(scope="module")
def bombs() -> dict[str, bytes]:
    """Files of thirty kilobytes that unpack to thirty megabytes each, which one document may."""
    lines = b" " * 30_000_000 + b'\n{"id": "a", "text": "The ferries run late."}\n'
    return {
        "a.docx": docx(paragraph("The ferries run late.") + f"<!--{' ' * 30_000_000}-->"),
        "a.jsonl.gz": gzip.compress(lines),
    }


def outcome(path: Path) -> tuple[int, list[str]]:
    """How many documents were read, and what was said of the others."""
    problems: list[ReadError] = []
    return len(list(read_all([path], on_error=problems.append))), [error.problem for error in problems]


@pytest.mark.parametrize("name", ["a.docx", "a.jsonl.gz"])
def test_the_files_in_a_zip_file_share_what_they_may_unpack_to(name, bombs, tmp_path):
    (tmp_path / "all.zip").write_bytes(zipped({f"{number}/{name}": bombs[name] for number in EIGHT}))
    count, problems = outcome(tmp_path / "all.zip")
    assert 0 < count < 4 and problems == [HUGE] * (len(EIGHT) - count)


def test_the_attachments_of_an_email_share_it_too(bombs, tmp_path):
    letter = EmailMessage()
    letter["From"], letter["Subject"] = "a@b.c", "Ferries"
    letter.set_content("See the files.")
    for number in EIGHT:
        letter.add_attachment(bombs["a.docx"], "application", "x", filename=f"{number}.docx")
    (tmp_path / "a.eml").write_bytes(letter.as_bytes())
    count, problems = outcome(tmp_path / "a.eml")
    assert 1 < count < 8 and problems == [HUGE] * (1 + len(EIGHT) - count)


def test_one_such_file_alone_is_read_and_takes_nothing_from_the_next(bombs, tmp_path):
    for number in EIGHT[:3]:
        (tmp_path / f"{number}.docx").write_bytes(bombs["a.docx"])
    assert outcome(tmp_path) == (3, [])


def test_xml_has_no_more_elements_than_documents_have(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_ELEMENTS", 1_000)
    for count, name in ((300, "a.docx"), (400, "b.docx")):
        (tmp_path / name).write_bytes(docx(paragraph("The ferries run late.") * count))
    assert read(tmp_path / "a.docx").words == 1_200
    with pytest.raises(ReadError, match=HUGE):
        read(tmp_path / "b.docx")


@pytest.mark.parametrize("kind", ["text/plain", "multipart/mixed"])
def test_a_mail_header_with_half_a_million_parameters_is_refused_at_once(kind, tmp_path):
    head = f"From: a@b.c\nSubject: Ferries\nContent-Type: {kind}".encode()
    (tmp_path / "a.eml").write_bytes(
        head + b";a" * 250_000 + b"\n" + b"\t;a\n" * 250_000 + b"\nThe ferries run late.\n"
    )
    begun = time.thread_time()
    with pytest.raises(ReadError, match="is damaged or not an e-mail"):
        read(tmp_path / "a.eml")
    assert time.thread_time() - begun < 2


def test_a_sender_of_comments_in_comments_is_none(tmp_path):
    (tmp_path / "a.eml").write_bytes(b"From: " + b"(" * 9_000 + b"\nSubject: Ferries\n\nThe ferries run late.\n")
    assert "author" not in read(tmp_path / "a.eml").metadata


def test_a_slide_that_is_listed_a_thousand_times_is_read_once(tmp_path):
    relationships = '<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/slide1.xml"/></Relationships>'
    text = "<p:sp><p:txBody><a:p><a:r><a:t>The ferries run late.</a:t></a:r></a:p></p:txBody></p:sp>"
    parts = {
        "ppt/presentation.xml": '<p:presentation xmlns:p="urn:p" xmlns:r="urn:r"><p:sldIdLst>'
        + '<p:sldId id="1" r:id="r1"/>' * 1_000
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships,
        "ppt/slides/slide1.xml": f'<p:sld xmlns:p="urn:p" xmlns:a="urn:a"><p:cSld><p:spTree>{text}</p:spTree></p:cSld>'
        "</p:sld>",
    }
    (tmp_path / "a.pptx").write_bytes(zipped(parts))
    assert read(tmp_path / "a.pptx").words == 4
