"""E-mail and mailboxes."""

import base64
from pathlib import Path

import pytest

from longmatch.documents import read, read_all
from longmatch.errors import LongmatchWarning, ReadError
from tests.documents.packed import MAIL, zipped
from tests.documents.shapes import kinds


def test_a_message_is_its_plain_text_under_its_subject(opened):
    document = opened("a.eml", MAIL)
    assert document.title == "Ferries run late"
    assert kinds(document) == [
        ("text", "The tide decides when the ferry to Før sails."),
        ("text", "Nobody can help it."),
    ]
    assert document.metadata == {"author": "Jane Döe", "year": 2019, "date": "2019-03-12T10:00:00+01:00"}


def message(content: str, body: str) -> str:
    return f"From: a@example.org\nSubject: Tides\nContent-Type: {content}\n\n{body}"


def test_html_is_read_where_there_is_no_plain_text(opened):
    document = opened("a.eml", message("text/html", "<h2>Why</h2><p>It falls.</p><script>x</script>"))
    assert [s.heading for s in document.sections] == ["Why"] and kinds(document) == [("text", "It falls.")]


def test_a_forwarded_message_is_part_of_the_text(opened):
    inner = "From: b@example.org\nSubject: Inner\n\nForwarded words."
    body = f"--x\nContent-Type: text/plain\n\nSee below.\n--x\nContent-Type: message/rfc822\n\n{inner}\n--x--\n"
    document = opened("a.eml", message('multipart/mixed; boundary="x"', body))
    assert kinds(document) == [("text", "See below."), ("text", "Forwarded words.")]
    assert [s.heading for s in document.sections] == ["", "Inner"]


def test_an_encrypted_message_and_what_is_no_message_are_refused(opened):
    with pytest.raises(ReadError, match="is encrypted"):
        opened("a.eml", message("multipart/encrypted; boundary=x", "--x--"))
    with pytest.raises(ReadError, match="is not an e-mail"):
        opened("a.eml", "just words")
    nested = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(1000))
    with pytest.raises(ReadError, match="is nested too deep"):
        opened("a.eml", f"From: a@b.org\n{nested}")


def test_unknown_encodings_and_odd_headers_do_no_harm(opened):
    headers = "From: =?nope?q?x?= <\nSubject: =?utf-8?b?!!!?=\nDate: 99 Foo 0\nContent-Type: text/plain; charset=nope"
    document = opened("a.eml", f"{headers}\n\nIt falls.")
    assert kinds(document) == [("text", "It falls.")] and "year" not in document.metadata


MAILBOX = (
    "From a@example.org Tue Mar 12 10:00:00 2019\nFrom: a@example.org\nSubject: One\n\nFirst text.\n\n"
    ">From here on.\n\n"
    "From b@example.org Tue Mar 12 10:00:00 2019\nFrom: b@example.org\nSubject: Two\n\nSecond text.\nFrom here too.\n"
)


@pytest.fixture
def mailbox(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_text(MAILBOX)
    return path


def test_a_mailbox_is_a_document_per_message(mailbox):
    documents = list(read_all(mailbox, pytest.fail))
    assert [(d.id, d.title) for d in documents] == [("in.mbox#1", "One"), ("in.mbox#2", "Two")]
    assert kinds(documents[0]) == [("text", "First text."), ("text", "From here on.")]
    assert {d.source for d in documents} == {str(mailbox)}


def test_one_message_has_an_address(mailbox):
    assert read(f"{mailbox}#2").title == "Two"
    with pytest.raises(ReadError, match="holds no document with the id 3"):
        read(f"{mailbox}#3")
    with pytest.raises(ReadError, match=r"holds several documents. Name one of them, for example .*in\.mbox#1"):
        read(mailbox)


def test_an_unreadable_message_is_named_and_the_others_are_read(mailbox):
    mailbox.write_text(MAILBOX + "\nFrom c@example.org x\nSubject: Three\n\n12 34\n")
    errors: list[ReadError] = []
    assert len(list(read_all(mailbox, errors.append))) == 2
    assert [str(error) for error in errors] == [
        f"{mailbox}, message 3, holds no sentences. Leave it out, or check that it is the file you meant."
    ]


def test_what_is_no_mailbox_is_refused(opened):
    with pytest.raises(ReadError, match="is not a mailbox"):
        opened("a.mbox", "just words")


def part(name: str, content: bytes, kind: str = "application/octet-stream") -> bytes:
    head = f'--x\nContent-Type: {kind}\nContent-Disposition: attachment; filename="{name}"\n'
    return f"{head}Content-Transfer-Encoding: base64\n\n".encode() + base64.encodebytes(content) + b"\n"


def with_files(*parts: bytes, text: str = "See the files.") -> bytes:
    head = message('multipart/mixed; boundary="x"', f"--x\nContent-Type: text/plain\n\n{text}\n")
    return head.encode() + b"".join(parts) + b"--x--\n"


PDF = Path(__file__).parent / "pdf" / "fixtures" / "report.pdf"
FILES = with_files(
    part("../report.pdf", PDF.read_bytes(), "application/pdf"),
    part("note.md", b"# Note\n\nThe ferry is late."),
    part("note.md", b"# Another\n\nThe tide is late."),
    part("prices.xlsx", b"PK"),
    part("more.zip", zipped({"a.txt": "Words."})),
    part("torn.docx", b"PK\x03\x04torn"),
)
ATTACHED = ["a.eml", "a.eml#report.pdf", "a.eml#note.md", "a.eml#note (2).md"]
REFUSED = ["more.zip is a file of many documents in an e-mail", "torn.docx is damaged"]


def test_attached_files_are_documents_and_the_others_are_named(tmp_path):
    path = tmp_path / "a.eml"
    path.write_bytes(FILES)
    errors: list[ReadError] = []
    with pytest.warns(LongmatchWarning, match=r"a\.eml has 1 attachment of a format .* not read: prices\.xlsx\."):
        documents = list(read_all(path, errors.append))
    assert [d.id for d in documents] == ATTACHED and {d.source for d in documents} == {str(path)}
    assert documents[1].paragraphs[-1].page and documents[3].title == "Another"
    assert all(f"{path}#{said}" in str(error) for said, error in zip(REFUSED, errors, strict=True))
    assert read(path).title == "Tides"
    with pytest.warns(LongmatchWarning):
        assert read(f"{path}#note.md").title == "Note"
    with pytest.raises(ReadError, match=r"#torn\.docx is damaged"):
        read(f"{path}#torn.docx")


def test_attachments_in_a_mailbox_and_in_a_zip_file_have_addresses(tmp_path):
    note = with_files(part("note.md", b"# Note\n\nThe ferry is late."), text="")
    (tmp_path / "in.mbox").write_bytes(MAILBOX.encode() + b"\nFrom c@example.org x\n" + note)
    (tmp_path / "all.zip").write_bytes(zipped({"mail/a.eml": note}))
    documents = list(read_all([tmp_path / "in.mbox", tmp_path / "all.zip"], pytest.fail))
    ids = ["in.mbox#1", "in.mbox#2", "in.mbox#3#note.md", "all.zip#mail/a.eml#note.md"]
    assert [document.id for document in documents] == ids  # a message without text is no document
    for id in ids:
        assert read(tmp_path / id).id == id


def test_what_is_attached_to_an_attached_message_is_left_out(tmp_path):
    inner = with_files(part("note.md", b"The ferry is late."), text="Inner words.")
    (tmp_path / "a.eml").write_bytes(with_files(part("b.eml", inner)))
    assert [d.id for d in read_all(tmp_path / "a.eml", pytest.fail)] == ["a.eml", "a.eml#b.eml"]


def test_a_thousand_attachments_are_the_most(tmp_path):
    (tmp_path / "a.eml").write_bytes(with_files(*[part("a.md", b"Words.")] * 1001))
    errors: list[ReadError] = []
    assert [d.id for d in read_all(tmp_path / "a.eml", errors.append)] == ["a.eml"]
    assert "has more than 1,000 attachments" in str(errors[0])
