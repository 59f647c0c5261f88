"""What people bring: read apart, held for a while, never kept on disk."""

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from benchmarks.written.formats import PdfWriter
from benchmarks.written.scanning import save_scan

from longmatch.web.limits import MB, Limits
from longmatch.web.problems import Problem
from longmatch.web.reading.process import KEPT, read_apart, run_confined
from longmatch.web.security import too_large
from tests.reuse.texts import random_words
from tests.web.conftest import API, LONG, calling, upload

NOTE = "# A note\n\nThe river rose over the bank. The harbour was shut.\n"
NO_FILE = b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nno file\r\n--x--\r\n'
PDF = Path(__file__).parents[1] / "documents" / "pdf" / "fixtures" / "report.pdf"


@pytest.fixture(autouse=True)
def nothing_stays_on_disk(tmp_path, monkeypatch):
    """Every test of this file checks it: the folder for temporary files is empty at the end."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield
    assert not list(place.iterdir())


def test_a_file_is_read_and_can_be_asked_about(client):
    found = upload(client, NOTE)
    assert found.status_code == 201
    facts = found.json()
    assert (facts["title"], facts["words"], facts["sections"]) == ("A note", 10, 1)
    assert facts["upload"] == facts["id"] and facts["upload"].startswith("u-")
    text = client.get(f"{API}/document", params={"id": facts["upload"]}).json()
    assert text["sections"][0]["paragraphs"][0]["text"].startswith("The river rose")
    hits = client.get(f"{API}/rank", params={"document": facts["upload"], "k": 3}).json()
    assert len(hits["hits"]) == 3 and hits["query"]["id"] == facts["upload"]


def test_a_pdf_is_read(client):
    found = upload(client, PDF.read_bytes(), "report.pdf").json()
    assert found["sections"] > 2 and found["words"] > 200


def test_a_text_can_be_pasted_with_a_title(client):
    found = client.post(f"{API}/uploads", json={"text": "The river rose. The bank fell.", "title": " My  note v1.5 "})
    assert found.status_code == 201 and found.json()["title"] == "My note v1.5"


def test_a_pasted_text_with_headings_has_sections(client):
    found = client.post(f"{API}/uploads", json={"text": LONG}).json()
    assert (found["title"], found["sections"]) == ("Part 0", 12)


def test_the_encoding_of_an_upload_is_made_once(client):
    id = upload(client, NOTE).json()["upload"]
    held = client.app.state.longmatch.uploads.get(id)
    client.get(f"{API}/rank", params={"document": id})
    made = held.encoding
    client.get(f"{API}/compare", params={"a": id, "b": "report-1.md"})
    assert made is not None and held.encoding is made


@pytest.mark.parametrize(
    ("name", "content", "status", "says"),
    [
        ("empty.md", b"", 422, "empty.md is empty."),
        ("tool.exe", b"MZ", 415, "tool.exe is of a kind that longmatch does not read."),
        ("noname", b"text", 415, "noname is of a kind"),
        ("damaged.pdf", b"%PDF-1.7 nothing more", 422, "damaged.pdf "),
        ("damaged.docx", b"PK\x03\x04 nothing more", 422, "damaged.docx "),
        ("bad.jsonl", b"{", 422, "bad.jsonl "),
        ("two.jsonl", b'{"text": "The one."}\n{"text": "The other."}', 422, "two.jsonl holds several documents."),
        (
            "two.mbox",
            b"From a\nSubject: a\n\nOne.\n\nFrom b\nSubject: b\n\nTwo.\n",
            422,
            "two.mbox holds several documents.",
        ),
        ("damaged.odt", b"PK\x03\x04 nothing more", 422, "damaged.odt "),
        ("many.zip", b"PK\x05\x06" + bytes(18), 415, "many.zip is of a kind"),
        ("signs.txt", b"--- *** ---", 422, "signs.txt holds no sentences."),
        ("../../etc/passwd.md", b"", 422, "passwd.md is empty."),
    ],
)
def test_what_cannot_be_read_is_named_in_a_sentence_as_the_user_named_it(client, name, content, status, says):
    answer = upload(client, content, name)
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"].startswith(says)
    assert "longmatch-upload" not in answer.text and "/tmp" not in answer.text


def test_a_file_that_unpacks_to_more_memory_than_allowed_ends_its_reader_alone(shelf):
    line = gzip.compress(b'{"text": "' + b"The river rose. " * (32 * MB // 16) + b'"}')
    with calling(shelf, limits=Limits(reading_memory=192 * MB)) as client:
        answer = upload(client, line, "bomb.jsonl.gz")
        assert answer.status_code == 422 and "memory" in answer.json()["detail"]
        assert client.get(f"{API}/health").status_code == 200


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "a.md is damaged: its reader crashed. Leave it out."),
        ("[][1]", "a.md is damaged: its reader crashed. Leave it out."),
        ("held = b'x' * (300 << 20); os.abort()", "a.md needs more memory to be read than the 400 MB it may have."),
        ("held = b'x' * (900 << 20)", "a.md needs more memory to be read than the 400 MB it may have."),
        ("os.kill(os.getpid(), signal.SIGKILL)", "a.md needs more memory"),  # as the system does when it has none
    ],
)
def test_a_reader_that_dies_is_said_to_lack_memory_or_to_have_crashed(tmp_path, monkeypatch, script, says):
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable}\nimport os, signal\nfrom longmatch.web.reading.supervised import supervise\n"
        f"def work():\n    {script}\nsupervise(work, 10, {400 * MB})\n"
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(Problem) as problem:
        read_apart(b"text", "a.md", Limits(reading_memory=400 * MB))
    assert str(problem.value).startswith(says)


@pytest.mark.slow
def test_a_scan_of_ten_pages_is_read_in_the_memory_that_a_reader_has(shelf, tmp_path):
    """Of random words, so that hardly two lines have the same width; on however busy a machine."""
    writer = PdfWriter()
    for number in range(60):
        writer.paragraph(" ".join(random_words(number, 110)), "Times-Roman", 12)
    writer.save(tmp_path / "text.pdf")
    save_scan(tmp_path / "text.pdf", tmp_path / "scan.pdf", pages=10)
    with calling(shelf, limits=Limits(scan_seconds=900)) as client:
        answer = upload(client, (tmp_path / "scan.pdf").read_bytes(), "scan.pdf")
    assert answer.status_code == 201, answer.text
    assert answer.json()["words"] > 4000


def test_a_document_of_office_that_unpacks_to_too_much_is_given_up(shelf):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" * (20 * MB))
    with calling(shelf, limits=Limits(reading_seconds=2)) as client:
        answer = upload(client, packed.getvalue(), "bomb.docx")
        assert answer.status_code == 422 and answer.json()["detail"].startswith("bomb.docx ")


def test_a_file_that_takes_too_long_is_given_up(shelf):
    with calling(shelf, limits=Limits(reading_seconds=0.05)) as client:
        answer = upload(client, NOTE)
        assert answer.status_code == 422 and "took longer than 0.05 seconds" in answer.json()["detail"]


def test_a_file_that_is_too_large_is_refused_before_it_is_read(shelf):
    with calling(shelf, limits=Limits(upload_bytes=MB)) as client:
        answer = upload(client, b"x" * (2 * MB), "large.txt")
        assert (answer.status_code, answer.json()["detail"]) == (
            413,
            "This is more than the 1 MB that may be uploaded.",
        )


def test_the_limits_that_are_documented_are_those_that_are_said():
    documented = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
    limits = Limits()
    assert too_large(limits) == "This is more than the 32 MB that may be uploaded."
    assert f"may have {limits.upload_bytes // MB} MB and {limits.upload_words:,} words" in documented
    assert f"may have {limits.added_bytes // (1000 * MB)} GB" in documented
    assert f"{limits.reading_memory // (1000 * MB)} GB of memory" in documented
    assert f"{limits.head_seconds} seconds for its head, and {limits.body_seconds:g} for its body" in documented
    assert f"{limits.body_speed // 1000} kB a second" in documented
    assert f"more than {limits.connections}\n" in documented


def test_a_body_of_unknown_length_is_cut_off_where_it_is_too_long(serving):
    sent = 0

    def endless():
        nonlocal sent
        for _ in range(1000):
            sent += 1
            yield b"x" * 65536

    with serving(limits=Limits(upload_bytes=MB)) as client:
        with suppress(httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):  # it may hang up at once
            answer = client.post("/uploads", content=endless(), headers={"content-type": "application/json"})
            assert answer.status_code == 413
        assert sent < 1000
        assert client.get("/health").status_code == 200


def test_a_document_with_too_many_words_is_refused_with_advice(shelf):
    with calling(shelf, limits=Limits(upload_words=100)) as client:
        answer = upload(client, LONG)
        assert answer.status_code == 413 and "Add it to the library instead" in answer.json()["detail"]


def test_words_are_counted_by_the_reader_and_not_by_the_server(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("many words " * 60)

    def read(most: int) -> object:
        given = {"file": str(path), "name": "long.txt", "most_words": most}
        said, problem = run_confined("read_one", given, "long.txt", Limits(), "")
        assert problem is None
        return json.loads(said)

    assert read(100) == {"words": 120}
    assert "document" in read(120)


def test_the_oldest_upload_is_dropped_and_the_user_told_to_send_it_again(shelf):
    with calling(shelf, limits=Limits(uploads=2)) as client:
        ids = [upload(client, NOTE).json()["upload"] for _ in range(3)]
        answer = client.get(f"{API}/rank", params={"document": ids[0]})
        assert answer.status_code == 404
        assert answer.json()["detail"] == "This upload is no longer held. Upload the document again."
        assert client.get(f"{API}/document", params={"id": ids[2]}).status_code == 200


def test_uploads_together_hold_no_more_than_so_many_characters(shelf):
    with calling(shelf, limits=Limits(uploads_characters=2 * len(NOTE))) as client:
        for _ in range(4):
            upload(client, NOTE)
        assert len(client.app.state.longmatch.uploads) == 2


def test_an_upload_can_be_forgotten(client):
    id = upload(client, NOTE).json()["upload"]
    assert client.delete(f"{API}/uploads", params={"id": id}).status_code == 204
    assert client.get(f"{API}/document", params={"id": id}).status_code == 404
    assert client.delete(f"{API}/uploads", params={"id": id}).status_code == 404


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 422),
        (b'{"text": ""}', "application/json", 422),
        (b'{"text": "\\ud800"}', "application/json", 422),
        (b'{"title": "no text"}', "application/json", 422),
        (b"hello", "text/plain", 415),
        (b"hello", "multipart/form-data", 400),
        (b"hello", "multipart/form-data; boundary=x", 422),
        (NO_FILE, "multipart/form-data; boundary=x", 422),
    ],
)
def test_a_body_that_is_not_understood_is_told_in_a_sentence(client, body, kind, status):
    answer = client.post(f"{API}/uploads", content=body, headers={"content-type": kind})
    assert answer.status_code in (status, 400), answer.text
    assert answer.json()["detail"].endswith(".")


def test_half_characters_do_not_break_an_answer(client):
    line = json.dumps({"title": "Half \ud800 title", "text": "The river \udfff rose. The bank fell."})
    found = upload(client, line, "half.jsonl")
    assert found.status_code == 201
    assert client.get(f"{API}/document", params={"id": found.json()["upload"]}).status_code == 200


def test_the_reader_may_write_no_file_and_sees_no_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("LONGMATCH_TOKEN", "secret")
    code = (
        "import os; from longmatch.web.reading.supervised import supervise\n"
        "def work():\n"
        "    assert 'LONGMATCH_TOKEN' not in os.environ\n"
        f"    try: open({str(tmp_path / 'x')!r}, 'w').write('x' * 10000)\n"
        "    except OSError: os._exit(7)\n"
        "supervise(work, 5, 1 << 30)\n"
    )
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == 7 or (tmp_path / "x").stat().st_size == 0  # or ended by the system's signal
