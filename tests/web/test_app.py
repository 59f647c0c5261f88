"""A real server on loopback, asked by many at once."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx
import pytest

from longmatch.web.limits import Limits
from tests.web.conftest import LONG, upload, waited


def test_thirty_two_clients_at_once_get_the_answers_that_one_gets(serving):
    with serving() as client:
        ids = [f"report-{n}.md" for n in range(7)]
        alone = {id: client.get("/rank", params={"document": id}).json() for id in ids}

        def ask(number: int) -> bool:
            with httpx.Client(base_url=client.base_url, timeout=60) as mine:
                id = ids[number % 7]
                return mine.get("/rank", params={"document": id}).json() == alone[id]

        with ThreadPoolExecutor(32) as pool:
            assert all(pool.map(ask, range(32)))


def test_health_answers_while_the_model_is_busy(serving):
    busy, free = threading.Event(), threading.Event()
    with serving() as client:
        client.state.worker.begin(lambda: (busy.set(), free.wait(20)))
        assert busy.wait(20)
        try:
            assert client.get("/health").json()["status"] == "ok"
            assert client.get("/documents").status_code == 200
            assert not free.is_set()  # the model is busy still
        finally:
            free.set()


def test_a_question_is_answered_while_a_job_goes_on(serving):
    """A job lets questions pass between its steps."""
    with serving() as client:
        id = upload(client, LONG, base="").json()["upload"]
        job = client.post("/rank", json={"document": id}).json()["job"]
        assert client.get("/compare", params={"a": "report-1.md", "b": "report-2.md"}).status_code == 200
        assert waited(client, job, base="")["state"] == "done"


def test_too_many_waiting_questions_are_refused_with_a_sentence(serving):
    busy, free = threading.Event(), threading.Event()
    with serving(limits=Limits(waiting=2)) as client:
        client.state.worker.begin(lambda: (busy.set(), free.wait(20)))
        assert busy.wait(20)

        def ask(_: int) -> int:
            return httpx.get(f"{client.base_url}rank", params={"document": "report-1.md"}, timeout=30).status_code

        with ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(ask, n) for n in range(6)]
            while sum(future.done() for future in asked) < 4:
                time.sleep(0.01)
            free.set()
            statuses = sorted(future.result() for future in asked)
        assert statuses == [200, 200, 429, 429, 429, 429]


def test_the_server_names_neither_itself_nor_its_version_in_mistakes(serving):
    with serving() as client:
        answer = client.get("/nowhere")
        assert answer.status_code == 404 and "Traceback" not in answer.text


HEAD = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
UPLOAD = b"POST /api/v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
UPLOAD += b"Content-Type: application/json\r\n\r\n"


def opened(client, sent: bytes) -> socket.socket:
    """A connection on which something was sent."""
    connection = socket.create_connection((client.base_url.host, client.base_url.port))
    connection.settimeout(10)
    connection.sendall(sent)
    return connection


@pytest.mark.parametrize("sent", [b"GET /api/v1/he", HEAD, UPLOAD + b'{"text'])
def test_a_hundred_unfinished_requests_keep_nobody_from_an_answer(serving, sent):
    with serving(limits=Limits(connections=50)) as client, ExitStack() as all_of_them:
        for _ in range(100):
            all_of_them.enter_context(opened(client, sent))
        began = time.monotonic()
        for _ in range(5):
            with httpx.Client(base_url=client.base_url) as other:
                assert other.get("/health").status_code == 200
        assert time.monotonic() - began < 5  # seconds; their time is not up yet


@pytest.mark.parametrize("sent", [b"", b"GET /api/v1/he", HEAD])
def test_a_connection_without_a_whole_head_is_closed(serving, sent):
    with serving(limits=Limits(head_seconds=1)) as client:
        for first, answers in ((b"", 0), (HEAD + b"\r\n", 1)):
            with opened(client, first + sent) as connection:
                assert until_closed(connection).count(b"HTTP/1.1 200") == answers


def until_closed(connection: socket.socket) -> bytes:
    """All that comes before the connection is closed."""
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def test_a_body_that_does_not_come_is_refused_and_one_that_comes_slowly_is_read(serving):
    limits = Limits(body_seconds=1, body_speed=40)
    with serving(limits=limits) as client:
        with opened(client, UPLOAD + b'{"text"') as connection:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 408")
        body = b'{"text": "%s"}' % (b"The river rose. " * 6)[:87]
        with opened(client, UPLOAD) as connection:
            for at in range(0, len(body), 20):
                time.sleep(0.4)
                connection.sendall(body[at : at + 20])
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 201")


def test_a_client_that_leaves_in_the_middle_of_an_upload_is_no_mistake_of_the_server(serving, caplog):
    with serving() as client:
        opened(client, UPLOAD + b'{"text').close()
        opened(client, UPLOAD.replace(b"application/json", b"multipart/form-data; boundary=x") + b"--x\r\n").close()
        assert client.get("/health").status_code == 200
        time.sleep(0.3)
    assert not caplog.records
