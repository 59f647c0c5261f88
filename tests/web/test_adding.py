"""Documents added to the library over the interface, and removed again."""

import gzip
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from filelock import FileLock

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from longmatch.web.adding import NAME_BYTES, safe_name
from longmatch.web.app import create_app
from longmatch.web.limits import Limits
from tests import forked
from tests.documents.packed import zipped
from tests.documents.test_mail import part, with_files
from tests.library.tiny import made_up_text, tiny_matcher, write_texts
from tests.web.conftest import API, calling, waited


@pytest.fixture
def own(tmp_path: Path, tiny_web: HybridMatcher) -> Library:
    """A library of four documents that a test may change."""
    library = Library(tmp_path / "library", tiny_web)
    library.add(write_texts(tmp_path / "texts", range(4)))
    return library


@pytest.fixture
def client(own: Library) -> Iterator[object]:
    with calling(own, writable=True) as client:
        yield client


def send(client, content, name="new.txt", base=API):
    return client.post(f"{base}/documents", files={"file": (name, content)})


def added(client, content, name="new.txt"):
    """Add a file; its standing once the job has ended."""
    answer = send(client, content, name)
    assert answer.status_code == 202, answer.text
    return waited(client, answer.json()["job"])


def test_an_added_file_is_kept_listed_ranked_and_mapped_without_a_restart(client, own):
    before = client.get(f"{API}/map").json()
    standing = added(client, made_up_text(7), "brought.txt")
    assert standing["state"] == "done" and standing["result"]["id"] == "brought.txt"
    assert (Path(own.address) / "uploads" / "brought.txt").read_text() == made_up_text(7)
    assert client.get(f"{API}/documents", params={"search": "brought"}).json()["total"] == 1
    hits = client.get(f"{API}/rank", params={"document": "d002.txt"}).json()["hits"]
    assert "brought.txt" in [hit["id"] for hit in hits]
    assert client.get(f"{API}/map").json()["total"] == before["total"] + 1 == 5


def test_a_text_that_the_library_holds_already_is_added_and_named(client, own):
    standing = added(client, f"<p>{made_up_text(2)}</p>", "letter.html")
    assert standing["result"]["remarks"] == ["letter.html holds the same text as d002.txt."] and len(own) == 5


def test_later_indexing_leaves_added_documents_alone(client, own, tmp_path):
    added(client, made_up_text(7), "brought.txt")
    done = own.add(tmp_path / "texts", prune=True)
    assert (done.removed, done.vanished, done.unchanged) == ([], [], 4)
    again = own.add(Path(own.address) / "uploads", prune=True)
    assert (again.added, again.replaced, again.unchanged) == ([], [], 1) and len(own) == 5


def test_files_added_to_a_folder_of_documents_lie_in_the_folder_and_outlive_its_library(tmp_path, tiny_web):
    texts = write_texts(tmp_path / "texts", range(3))
    library = Library(texts / ".longmatch", tiny_web)
    library.add(texts, prune=True)
    with calling(library, writable=True) as client:
        added(client, made_up_text(7), "brought.txt")
    assert (texts / "longmatch-uploads" / "brought.txt").exists()
    done = library.add(texts, prune=True)
    assert (done.unchanged, done.added, done.removed) == (4, [], [])


def test_a_server_that_was_not_told_to_adds_and_removes_nothing(own):
    with calling(own) as client:
        assert client.get(f"{API}/library").json()["writable"] is False
        refused = [send(client, "Text."), client.delete(f"{API}/documents", params={"id": "d001.txt"})]
        assert [answer.status_code for answer in refused] == [403, 403]
        assert refused[0].json()["detail"].endswith("longmatch serve LIBRARY --writable.")
    assert len(own) == 4 and not (Path(own.address) / "uploads").exists()


@pytest.mark.parametrize(
    ("content", "name", "status", "sentence"),
    [
        (b"", "empty.txt", 422, "empty.txt is empty"),
        (b"%PDF-1.4 broken", "broken.pdf", 422, "broken.pdf"),
        (b"x", "sheet.xlsx", 415, "sheet.xlsx is of a kind that longmatch does not read"),
        (b"PK", "many.zip", 422, "many.zip is damaged or not a zip file"),
        (zipped({"a.xlsx": "x"}), "none.zip", 422, "none.zip is a zip file without a file that longmatch reads"),
        (zipped({f"{n}.txt": "Words." for n in range(4)}), "big.zip", 413, "big.zip holds more than can be added"),
        (made_up_text(2).encode(), "again.txt", 409, "again.txt is in the library already: d002.txt."),
        (b"word " * 3000, "long.txt", 413, "The document has 3,000 words"),
    ],
)
def test_a_refused_file_says_why_and_leaves_nothing(own, content, name, status, sentence):
    with calling(own, writable=True, limits=Limits(upload_words=2000, added_documents=3)) as client:
        answer = send(client, content, name)
        assert (answer.status_code, sentence in answer.json()["detail"]) == (status, True), answer.text
    folder = Path(own.address) / "uploads"
    assert len(own) == 4 and not (folder.exists() and list(folder.iterdir()))


def test_another_site_may_not_add(client):
    answer = client.post(
        f"{API}/documents", files={"file": ("a.txt", "Text.")}, headers={"origin": "http://evil.example"}
    )
    assert answer.status_code == 403


def test_a_full_folder_of_added_files_is_said(own):
    with calling(own, writable=True, limits=Limits(added_bytes=100)) as client:
        assert send(client, made_up_text(9)).status_code == 413


def test_two_people_who_add_at_once_both_find_their_documents(own):
    with calling(own, writable=True) as client, ThreadPoolExecutor(4) as people:
        texts = [made_up_text(20 + n, 30) for n in range(4)]
        standings = list(people.map(lambda text: added(client, text, "same name.txt"), texts))
        ids = [standing["result"]["id"] for standing in standings]
        assert len(set(ids)) == 4
        for id, text in zip(ids, texts, strict=True):
            found = client.get(f"{API}/document", params={"id": id}).json()
            assert found["sections"][0]["paragraphs"][0]["text"] in text and found["removable"]


def test_an_added_document_is_removed_with_its_file_and_no_other(client, own):
    id = added(client, made_up_text(7), "brought.txt")["result"]["id"]
    assert client.delete(f"{API}/documents", params={"id": "d001.txt"}).status_code == 403
    assert client.delete(f"{API}/documents", params={"id": id}).status_code == 204
    assert id not in own and "d001.txt" in own
    assert list((Path(own.address) / "uploads").iterdir()) == []
    assert client.delete(f"{API}/documents", params={"id": id}).status_code == 404


def test_no_document_of_another_file_is_replaced_even_if_that_file_is_gone(client, own, tmp_path):
    (tmp_path / "texts" / "d001.txt").unlink()
    assert added(client, made_up_text(8), "d001.txt")["result"]["id"] == "d001.txt (2)"
    assert own.show("d001.txt").text == made_up_text(1)


def test_questions_are_answered_while_adding_waits_for_another_process(client, own):
    lock = FileLock(Path(own.address) / "writer.lock", thread_local=False)
    with lock:
        job = send(client, made_up_text(7)).json()["job"]
        end = time.monotonic() + 30
        while "waiting" not in client.get(f"{API}/jobs/{job}").json()["step"] or time.monotonic() > end:
            time.sleep(0.02)
        assert client.get(f"{API}/rank", params={"document": "d001.txt"}).status_code == 200
        assert client.delete(f"{API}/documents", params={"id": "d001.txt"}).status_code == 403
    assert waited(client, job)["state"] == "done"


def test_a_cancelled_addition_leaves_nothing_whether_it_had_begun_or_not(client, own):
    lock = FileLock(Path(own.address) / "writer.lock", thread_local=False)
    with lock:
        for job in [send(client, made_up_text(7 + number)).json()["job"] for number in range(2)]:
            client.delete(f"{API}/jobs/{job}")
            assert waited(client, job)["state"] == "cancelled"
        while list((Path(own.address) / "uploads").iterdir()):
            time.sleep(0.02)
    assert len(own) == 4


def serve(address: str, backbone: Path, port: int) -> None:
    """A server in a process of its own."""
    from longmatch.web.app import server_of

    library = Library(address, tiny_matcher(backbone), create=False)
    server_of(create_app(library, writable=True)).run([socket.create_server(("127.0.0.1", port))])


@pytest.fixture
def serving_apart(own, tiny_bert):
    """A server in a process of its own, and a client of it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = forked.start(serve, own.address, tiny_bert, port)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}{API}", timeout=30) as client:
            end = time.monotonic() + 60
            while True:
                try:
                    client.get("/health")
                    break
                except httpx.HTTPError:
                    assert time.monotonic() < end
                    time.sleep(0.1)
            yield server, client
    finally:
        server.kill()
        server.join()


def adopted(own, tiny_web):
    """The ids of the library once another server has taken over; all files that were kept are among them."""
    folder = Path(own.address) / "uploads"
    fresh = Library(own.address, tiny_web, create=False)
    kept = {path.name for path in folder.iterdir() if not path.name.startswith(".") and path.stat().st_size}
    with calling(fresh, writable=True) as client:
        end = time.monotonic() + 30
        while not kept <= set(fresh) and time.monotonic() < end:
            time.sleep(0.05)
        assert kept <= set(fresh) and {path.name for path in folder.iterdir()} == kept
        assert client.get(f"{API}/health").json()["documents"] == len(fresh) == 4 + len(kept)
    return set(fresh)


def test_a_killed_server_loses_nothing_that_it_said_was_added(own, serving_apart, tiny_web):
    server, client = serving_apart
    told: list[str] = []

    def keep_adding() -> None:
        for number in range(50):
            try:
                job = client.post("/documents", files={"file": (f"n{number}.txt", made_up_text(30 + number))})
                standing = waited(client, job.json()["job"], "")
            except httpx.HTTPError:
                return
            told.append(standing["result"]["id"])

    adding = threading.Thread(target=keep_adding, daemon=True)
    adding.start()
    end = time.monotonic() + 60
    while len(told) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.05)
    server.kill()
    server.join()
    adding.join(30)
    fresh = Library(own.address, tiny_web, create=False)
    assert len(told) >= 2 and set(told) <= set(fresh)
    assert all((Path(own.address) / "uploads" / id).exists() for id in told)
    adopted(own, tiny_web)


def test_a_server_told_to_end_keeps_what_it_accepted_and_had_not_added(own, serving_apart, tiny_web):
    server, client = serving_apart
    names = [f"n{number}.txt" for number in range(3)]
    with FileLock(Path(own.address) / "writer.lock", thread_local=False):  # one waits for it, the others for their turn
        for number, name in enumerate(names):
            assert send(client, made_up_text(40 + number), name, "").status_code == 202
        server.terminate()
        server.join(30)
    assert server.exitcode == -signal.SIGTERM and len(own) == 4
    assert set(names) <= adopted(own, tiny_web)


def test_a_half_sent_upload_is_no_fault_of_a_server_that_ends(serving_apart):
    server, client = serving_apart
    head = f"POST {API}/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
    head += "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\nContent-Disp"
    with socket.create_connection((client.base_url.host, client.base_url.port)) as half:
        half.sendall(head.encode())
        time.sleep(0.3)
        server.terminate()
        half.settimeout(30)
        answer = b"".join(iter(lambda: half.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 408 ") and b"did not come whole" in answer


def test_a_zip_file_adds_its_members_and_names_what_it_could_not(client, own):
    members = {"a/one.txt": made_up_text(7), "two.md": made_up_text(8), "torn.docx": b"PK", "sheet.xlsx": "x"}
    result = added(client, zipped({**members, "inner.zip": zipped({"x.txt": "Words."})}), "all.zip")["result"]
    assert (result["id"], result["documents"], len(own)) == ("all.zip#a/one.txt", 2, 6)
    for said in ("all.zip#torn.docx is damaged", "all.zip#inner.zip is a zip file in a zip file", "sheet.xlsx."):
        assert any(said in remark for remark in result["remarks"]), result["remarks"]
    assert not any("upload" in remark for remark in result["remarks"])
    again = own.add(Path(own.address) / "uploads", prune=True)
    assert (again.added, again.replaced, again.unchanged) == ([], [], 2)


def test_a_mailbox_and_a_message_add_what_is_attached(client, own):
    mail = with_files(part("note.md", f"# Note\n\n{made_up_text(7)}".encode()))
    assert added(client, mail, "a.eml")["result"]["documents"] == 2
    added(client, b"From a@example.org x\n" + with_files(part("other.md", made_up_text(8).encode())), "in.mbox")
    assert set(own) >= {"a.eml", "a.eml#note.md", "in.mbox#1", "in.mbox#1#other.md"}


def test_removing_a_document_of_a_zip_file_removes_all_of_it(client, own):
    added(client, zipped({"one.txt": made_up_text(7), "two.txt": made_up_text(8)}), "all.zip")
    assert client.get(f"{API}/document", params={"id": "all.zip#one.txt"}).json()["removed_together"] == 2
    assert client.delete(f"{API}/documents", params={"id": "all.zip#one.txt"}).status_code == 204
    assert len(own) == 4 and not list((Path(own.address) / "uploads").iterdir())


def test_a_second_zip_file_of_the_same_name_is_kept_beside_the_first(client, own):
    added(client, zipped({"one.txt": made_up_text(7)}), "all.zip")
    assert added(client, zipped({"one.txt": made_up_text(8)}), "all.zip")["result"]["id"] == "all (2).zip#one.txt"
    assert own.add(Path(own.address) / "uploads").unchanged == 2


def test_a_second_packed_file_of_the_same_name_can_be_read(client, own):
    for n in (7, 8):
        record = json.dumps({"id": f"d{n}", "text": made_up_text(n)})
        added(client, gzip.compress(record.encode()), "all.jsonl.gz")
    uploads = Path(own.address) / "uploads"
    assert sorted(file.name for file in uploads.iterdir()) == ["all (2).jsonl.gz", "all.jsonl.gz"]
    assert own.add(uploads).unchanged == 2


def test_a_long_name_keeps_both_parts_of_its_suffix():
    name = safe_name("ä" * 300 + ".JSONL.gz")
    assert name.endswith("ä.JSONL.gz") and len(name.encode()) <= NAME_BYTES


def test_a_long_name_keeps_a_suffix_that_longmatch_does_not_read():
    assert safe_name("a" * 300 + ".xyz").endswith("a.xyz")
