"""Pages of PDFs as pictures: of uploads, of files of the library that are still what was indexed, and of no others."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import pytest
from fastapi.testclient import TestClient

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from longmatch.web.limits import Limits
from tests.documents.packed import zipped
from tests.documents.test_mail import part, with_files
from tests.web.conftest import API, calling, upload

PDFS = Path(__file__).parents[1] / "documents" / "pdf" / "fixtures"


@pytest.fixture
def papers(tmp_path: Path, tiny_web: HybridMatcher) -> Library:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("report.pdf", "patent.pdf"):
        copy(PDFS / name, folder / name)
    (folder / "note.md").write_text("# Note\n\nThe river rose in the night. The bank held.", "utf-8")
    library = Library(tmp_path / "library", tiny_web)
    library.add(folder)
    return library


@pytest.fixture
def client(papers: Library) -> Iterator[TestClient]:
    with calling(papers) as client:
        yield client


def page(client: TestClient, id: str, page: int = 1, **more: int):
    return client.get(f"{API}/document/page", params={"id": id, "page": page, **more})


def test_a_page_is_a_picture_and_says_how_many_there_are(client):
    answer = page(client, "report.pdf")
    assert answer.headers["content-type"] == "image/png" and answer.content.startswith(b"\x89PNG")
    assert int(answer.headers["longmatch-pages"]) >= 1
    assert page(client, "report.pdf").content == answer.content


def test_a_passage_is_highlighted(client, papers):
    sentence = next(s for s in papers.show("report.pdf").sentences if s.end - s.start > 60)
    number = papers.show("report.pdf").page_at(sentence.start)
    marked = page(client, "report.pdf", number, start=sentence.start, end=sentence.end)
    assert marked.status_code == 200 and marked.content != page(client, "report.pdf", number).content


def test_only_pdf_files_have_pages(client):
    assert page(client, "note.md").status_code == 415
    assert page(client, "../library/secret.pdf").status_code == 404
    assert page(client, str(PDFS / "report.pdf")).status_code == 404


def test_an_uploaded_pdf_shows_its_pages_while_its_file_is_held(papers):
    content = (PDFS / "report.pdf").read_bytes()
    with calling(papers, limits=Limits(upload_files=len(content))) as client:
        first = upload(client, content, "mine.pdf").json()
        assert first["shows_pages"]
        sentence = next(papers.show("report.pdf").sentences)
        marked = page(client, first["upload"], 1, start=sentence.start, end=sentence.end)
        assert marked.content == page(client, "report.pdf", 1, start=sentence.start, end=sentence.end).content
        assert not upload(client, "The river rose.", "note.txt").json()["shows_pages"]
        upload(client, content, "newer.pdf")
        answer = page(client, first["upload"], 2)
        assert answer.status_code == 404 and "no longer held" in answer.json()["detail"]
        assert client.get(f"{API}/document", params={"id": first["upload"]}).status_code == 200


def test_a_page_that_is_not_there_is_refused_in_a_sentence(client):
    answer = page(client, "report.pdf", 5000)
    assert answer.status_code == 422 and "report.pdf has no page 5000" in answer.json()["detail"]


def test_a_file_that_is_gone_or_changed_is_not_shown(client, papers, tmp_path):
    path = tmp_path / "papers" / "report.pdf"
    path.write_bytes((PDFS / "patent.pdf").read_bytes())
    answer = page(client, "report.pdf")
    assert answer.status_code == 422 and "has changed since it was indexed" in answer.json()["detail"]
    path.unlink()
    answer = page(client, "report.pdf")
    assert answer.status_code == 422 and "is no longer where it was indexed" in answer.json()["detail"]
    assert str(tmp_path) not in answer.text


def test_passages_and_paragraphs_name_their_page(client, papers):
    found = client.get(f"{API}/document", params={"id": "report.pdf"}).json()
    assert found["shows_pages"] and all(p["page"] for s in found["sections"] for p in s["paragraphs"])
    compared = client.get(f"{API}/compare", params={"a": "report.pdf", "b": "note.md"}).json()
    document = papers.show("report.pdf")
    assert compared["passages"]
    for pair in compared["passages"]:
        assert pair["a"]["page"] == document.page_at(pair["a"]["start"]) and pair["b"]["page"] is None


def test_a_rendered_comparison_marks_pages_that_can_be_shown(client):
    html = client.get(f"{API}/compare/view", params={"a": "report.pdf", "b": "note.md"}).text
    assert 'class="page" data-document="report.pdf" data-page="1"' in html
    assert 'data-document="note.md"' not in html


def test_a_pdf_in_a_zip_file_or_an_e_mail_shows_its_pages(tmp_path, tiny_web):
    folder = tmp_path / "packed"
    folder.mkdir()
    report = (PDFS / "report.pdf").read_bytes()
    mail = with_files(part("report.pdf", report))
    (folder / "all.zip").write_bytes(zipped({"2019/report.pdf": report, "a.eml": mail, "note.md": "The river rose."}))
    (folder / "in.mbox").write_bytes(b"From a@example.org x\n" + mail)
    library = Library(tmp_path / "library", tiny_web)
    library.add(folder)
    copy(PDFS / "report.pdf", folder / "report.pdf")
    library.add(folder)
    with calling(library) as client:
        alone = page(client, "report.pdf").content
        inside = ("all.zip#2019/report.pdf", "all.zip#a.eml#report.pdf", "in.mbox#1#report.pdf")
        assert all(page(client, id).content == alone for id in inside)
        assert page(client, "all.zip#note.md").status_code == 415
        shown = {row["id"]: row["shows_pages"] for row in client.get(f"{API}/documents").json()["documents"]}
        assert all(shown[id] for id in inside) and not shown["all.zip#note.md"]
        assert page(client, inside[0], 999).json()["detail"].startswith("all.zip#2019/report.pdf has no page 999")
