"""A chat server for each test, a cache of its own, and no address in the environment."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longmatch.models.llm.chat import KEY, MODEL, URL
from longmatch.models.llm.matcher import LlmMatcher
from tests.models.llm.chat_server import ChatServer, serve


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (URL, MODEL, KEY):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serve() as chat:
        yield chat


@pytest.fixture
def make(server: ChatServer) -> Callable[..., LlmMatcher]:
    """A matcher that asks the server and loses no time."""
    defaults = {"model": "tiny", "timeout": 5.0, "retries": 2, "backoff": 0.01}
    return lambda **settings: LlmMatcher(**{"url": server.url, **defaults, **settings})
