"""The scoring thread."""

import threading

from longmatch.web.worker import Worker


def test_whoever_gets_an_answer_finds_it_free() -> None:
    worker, listening, found = Worker(waiting=1), threading.Event(), list[bool]()
    job = worker.begin(listening.wait)
    job.add_done_callback(lambda _: found.append(worker.busy))
    listening.set()
    job.result()
    worker.close()
    assert found == [False]
