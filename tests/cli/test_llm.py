"""`longmatch rank --rerank llm` and `longmatch compare --model llm`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longmatch.models.llm.chat import KEY, MODEL, URL
from tests.cli.conftest import TEXTS, Ran
from tests.models.llm.chat_server import Answer, ChatServer, serve

Run = Callable[..., Ran]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    """Named in the environment, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with serve() as chat:
        for name, value in ((URL, chat.url), (MODEL, "tiny"), (KEY, "the-key")):
            monkeypatch.setenv(name, value)
        yield chat


def snow_first(prompt: str) -> Answer:
    """Scores of a judge that likes snow, and does not speak about pears."""
    asked = prompt.partition("<document_2>")[2]
    return Answer("I cannot say." if "pear" in asked else '{"score": 99}' if "Snow" in asked else '{"score": 20}')


def test_without_an_address_nothing_is_sent_and_nothing_read(
    longmatch: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(URL, raising=False)
    complaint = longmatch("rank", folder / "bank.md", folder, "--rerank", "llm").complaint
    assert "no address is given, so nothing was sent" in complaint and URL in complaint


def test_a_ranking_is_reranked_and_one_line_says_what_it_took(
    longmatch: Run,
    folder: Path,
    server: ChatServer,
) -> None:
    server.reply = snow_first
    ask = ("rank", folder / "bank.md", folder, "--json", "-m", "tfidf")
    first = [hit["id"] for hit in longmatch(*ask).json["hits"]]
    ran = longmatch(*ask, "--rerank", "llm")
    found = [hit["id"] for hit in ran.json["hits"]]
    assert found[0] == "snow.txt" and found.index("pears.txt") == first.index("pears.txt")
    assert ran.err == "longmatch: tiny: 4 asked, 0 from the cache, 1 refused; 428 tokens (400 read, 28 written).\n"
    assert ran.json["rerank"] == "llm" and "the-key" not in ran.out + ran.err
    again = longmatch(*ask, "--rerank", "llm")
    assert again.out == ran.out and "1 asked, 3 from the cache" in again.err


@pytest.mark.usefixtures("server")
def test_two_documents_are_compared(longmatch: Run, folder: Path) -> None:
    ran = longmatch("compare", folder / "bank.md", folder / "queue.txt", "--json", "-m", "llm")
    assert ran.json["score"] == 0.8 and ran.json["verdict"] == "By this model's threshold the two belong together"
    assert ran.err.startswith("longmatch: tiny: 1 asked")


def test_a_server_that_is_down_is_one_sentence_without_text(
    longmatch: Run,
    folder: Path,
    server: ChatServer,
) -> None:
    server.answers(Answer(status=401, body=TEXTS["bank.md"].encode()))
    complaint = longmatch("rank", folder / "bank.md", folder, "-m", "tfidf", "--rerank", "llm").complaint
    assert complaint.endswith(f"cannot be asked (status 401, Unauthorized). Check {KEY}.")
