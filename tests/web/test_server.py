"""A real server on loopback, asked by many at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

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
