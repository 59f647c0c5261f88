"""A small library with a tiny model behind the interface: in this process, or as a real server on loopback."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from longmatch.matching.hits import Hits
from longmatch.web.app import create_app, server_of
from tests.library.tiny import made_up_text, tiny_matcher

API = "/api/v1"
HOSTILE = {
    "id": "hostile",
    "title": "<script>alert('title')</script>",
    "sections": [
        {
            "heading": "<img src=x onerror=alert(1)>",
            "text": "The harbour crane <script>alert('text')</script> lifted the ship. The river rose & the bank fell.",
        },
        {"heading": "Quiet </textarea><svg onload=alert(2)>", "text": "The ship was unloaded in the night."},
    ],
}
LONG = "\n\n".join(f"## Part {n}\n\n{made_up_text(n, 40)}" for n in range(12))


@pytest.fixture(scope="session")
def tiny_web(tiny_bert: Path) -> HybridMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory, tiny_web: HybridMatcher) -> Library:
    """Nine documents, one of them in a folder, one hostile; no test changes them."""
    place = tmp_path_factory.mktemp("web")
    texts = place / "secret-folder"
    (texts / "rivers" / "lower").mkdir(parents=True)
    for number in range(7):
        text = f"# Report {number}\n\n{made_up_text(number)}\n\n## More\n\n{made_up_text(number + 50)}\n"
        (texts / f"report-{number}.md").write_text(text, encoding="utf-8")
    (texts / "rivers" / "lower" / "a & b?.txt").write_text(made_up_text(3), encoding="utf-8")
    (texts / "hostile.jsonl").write_text(json.dumps(HOSTILE), encoding="utf-8")
    library = Library(place / "shelf", tiny_web)
    library.add(texts)
    return library


@pytest.fixture
def client(shelf: Library) -> Iterator[TestClient]:
    """The interface in this process."""
    with calling(shelf) as client:
        yield client


@contextmanager
def calling(library: Library, **options: Any) -> Iterator[TestClient]:
    """The interface with options of its own; what goes wrong inside is answered, as it would be to a user."""
    app = create_app(library, **options)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def serving(shelf: Library) -> Callable[..., Any]:
    """Starts a real server on loopback; gives a client of it."""
    return lambda **options: real_server(shelf, **options)


@contextmanager
def real_server(library: Library, **options: Any) -> Iterator[httpx.Client]:
    """A server on a free port, as `longmatch serve` runs it, until the block ends."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app(library, **options)
    server = server_of(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}{API}", timeout=60) as client:
            client.state = app.state.longmatch
            yield client
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


def waited(client: Any, job: str, base: str = API) -> dict[str, Any]:
    """A job's standing once it has ended."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        standing: dict[str, Any] = client.get(f"{base}/jobs/{job}").json()
        if standing["state"] not in ("waiting", "running"):
            return standing
        time.sleep(0.02)
    raise AssertionError(f"the job did not end: {standing}")


def upload(client: Any, content: str | bytes, name: str = "note.md", base: str = API) -> Any:
    """Send a file."""
    return client.post(f"{base}/uploads", files={"file": (name, content)})


def set_probabilities(monkeypatch: pytest.MonkeyPatch, library: Library, *probabilities: float | None) -> None:
    """Give the hits of a library's rankings probabilities by hand, best first; further hits have the last one."""
    rank = library.rank

    def ranked(*asked: Any, **more: Any) -> Hits:
        hits = rank(*asked, **more)
        padded = chain(probabilities, repeat(probabilities[-1]))
        return Hits(replace(hit, probability=p) for hit, p in zip(hits, padded, strict=False))

    monkeypatch.setattr(library, "rank", ranked)
