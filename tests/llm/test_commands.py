"""`longmatch rank --rerank llm` and `longmatch compare --model llm`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longmatch.llm.address import KEY, MODEL, URL
from tests.cli.conftest import TEXTS, Ran, folder, longmatch  # noqa: F401
from tests.llm.chat_server import Answer, ChatServer

Run = Callable[..., Ran]


@pytest.fixture
def address(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ((URL, server.url), (MODEL, "tiny"), (KEY, "the-key")):
        monkeypatch.setenv(name, value)


def snow_first(prompt: str) -> Answer:
    """Scores of a judge that likes snow, and does not speak about pears."""
    asked = prompt.partition("<document_2>")[2]
    return Answer("I cannot say." if "pear" in asked else '{"score": 99}' if "Snow" in asked else '{"score": 20}')


def test_without_an_address_nothing_is_sent_and_nothing_read(longmatch: Run, folder: Path) -> None:  # noqa: F811
    complaint = longmatch("rank", folder / "bank.md", folder, "--rerank", "llm").complaint
    assert "no address is given, so nothing was sent" in complaint and URL in complaint


@pytest.mark.usefixtures("address")
def test_a_ranking_is_reranked_and_one_line_says_what_it_took(
    longmatch: Run,  # noqa: F811
    folder: Path,  # noqa: F811
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


@pytest.mark.usefixtures("address")
def test_two_documents_are_compared(longmatch: Run, folder: Path) -> None:  # noqa: F811
    ran = longmatch("compare", folder / "bank.md", folder / "queue.txt", "--json", "-m", "llm")
    assert ran.json["score"] == 0.8 and ran.json["verdict"].startswith("The two belong together")
    assert ran.err.startswith("longmatch: tiny: 1 asked")


@pytest.mark.usefixtures("address")
def test_a_server_that_is_down_is_one_sentence_without_text(
    longmatch: Run,  # noqa: F811
    folder: Path,  # noqa: F811
    server: ChatServer,
) -> None:
    server.answers(Answer(status=401, body=TEXTS["bank.md"].encode()))
    complaint = longmatch("rank", folder / "bank.md", folder, "-m", "tfidf", "--rerank", "llm").complaint
    assert complaint.endswith(f"cannot be asked (status 401, Unauthorized). Check {KEY}.")
