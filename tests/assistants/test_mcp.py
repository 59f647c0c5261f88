"""`longmatch mcp`, asked by the protocol's own client: a real process over standard input and output."""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.stdio import stdio_client

from longmatch.assistants.tools import ANSWER, PAGE, Tools
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read_text_string
from longmatch.encoders.reader import Reader
from longmatch.library.library import Library
from tests.conftest import EXAMPLES
from tests.library.tiny import KeenReader

IDS = ("removing-mercury-from-waste-water.txt", "gold-without-quicksilver-brief.md", "step-rate-and-tibial-damage.pdf")
LONG, COPY, NUMBERED = "long.md", "long-again.md", "numbered.md"
SECRET = "a-secret.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, matcher: HybridMatcher) -> Path:
    """Three documents of the example collection, a long one twice, one of numbered sections; a file beside it."""
    place = tmp_path_factory.mktemp("assistants")
    (place / SECRET).write_text("Nobody but me may read that the launch is at noon.")
    row = f"# A long one\n\n{'The pump ran all day and the tank was full. ' * 900}\n\n## The end\n\nIt stopped.\n"
    (place / LONG).write_text(row)
    (place / COPY).write_text(row)
    (place / NUMBERED).write_text(
        "# The plant\n\nIt was built by the canal.\n\n## 1 Aim\n\nThe aim was clear.\n\n## 2. Means\n\nMoney came.\n\n"
        "### 2.1 Pumps\n\nTwo pumps ran.\n\n## 1 Appendix\n\nThe valves were greased.\n\n## End\n\n"
        "Volcanic ash in the sky can stop the engines of an aircraft.\n"
    )
    library = Library(place / "library", matcher)
    library.add([*(EXAMPLES / "collection" / id for id in IDS), *(place / name for name in (LONG, COPY, NUMBERED))])
    return place


Conversation = Callable[[Callable[[ClientSession], Any]], Any]


@asynccontextmanager
async def session(folder: Path) -> AsyncIterator[ClientSession]:
    """A session with a server that starts in the folder of the secret file."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "longmatch", "mcp", "library"], cwd=str(folder), env=dict(os.environ)
    )
    async with stdio_client(command) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


@pytest.fixture(scope="module")
def conversation(folder: Path) -> Iterator[Conversation]:
    """What is said in a session, one for all tests."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(session(folder)) as client:
        yield lambda talk: portal.call(talk, client)


async def answer(client: ClientSession, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    assert not result.is_error, text
    assert len(text) <= 1.5 * ANSWER
    return json.loads(text)


async def complaint(client: ClientSession, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error and "Traceback" not in result.content[0].text
    return result.content[0].text


def test_an_assistant_finds_reads_and_compares(conversation: Conversation) -> None:
    async def talk(client: ClientSession) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {"search", "rank", "compare", "read", "find", "documents", "pairs"}
        assert all(tool.annotations.read_only_hint and tool.description for tool in tools)

        found = await answer(client, "search", question="How is mercury taken out of waste water?")
        best = found["sections"][0]
        assert found["stands_out"] and best["id"] == IDS[0] and best["section"] and best["passage"]
        assert not (await answer(client, "search", question="Who painted the Mona Lisa?"))["stands_out"]

        piece = await answer(client, "read", document=best["id"], section=best["number"])
        assert best["passage"].split()[0] in piece["text"] and piece["section"] == best["section"]
        outline = await answer(client, "read", document=IDS[2])
        assert outline["sections"][0]["number"] == "#1" and outline["sections"][-1]["page"] > 1
        assert (await answer(client, "read", document=IDS[2], page=2))["page"] == 2

        ranked = await answer(client, "rank", document=IDS[0], k=1)
        assert ranked["documents"][0]["id"] == IDS[1] and ranked["documents"][0]["passages"]
        again = (await answer(client, "rank", document=LONG, k=2))["documents"]
        assert [(hit["id"] == COPY, hit["relation"]) for hit in again] == [(True, "copy"), (False, None)]
        by_text = await answer(client, "rank", text="A runner's tibia and its step rate.", k=1)
        assert by_text["documents"][0]["id"] == IDS[2]

        match = await answer(client, "compare", document=IDS[0], other=IDS[1])
        assert "score" not in match and match["sections"] and match["passages"][0]["a"]["section"]
        assert (await answer(client, "compare", document=IDS[2], text="Step rate and tibia."))["b"]["id"] == "text"

        assert [row["id"] for row in (await answer(client, "find", words='"step rate"'))["documents"]] == [IDS[2]]
        listed = await answer(client, "documents", k=2)
        assert listed["total"] == 6 and len(listed["documents"]) == 2
        assert [row["id"] for row in (await answer(client, "documents", where="id LIKE '%.pdf'"))["documents"]] == [
            IDS[2]
        ]
        assert (await answer(client, "pairs", minimum=0.0, k=1))["total"] >= 1

    conversation(talk)


def test_sections_are_read_by_the_numbers_that_are_listed(conversation: Conversation) -> None:
    """Also where the heading of the fourth section says that it is the second."""

    async def talk(client: ClientSession) -> None:
        listed = (await answer(client, "read", document=NUMBERED))["sections"]
        numbers = [(section["number"], section["heading"]) for section in listed]
        assert numbers[1:] == [
            ("1", "1 Aim"),
            ("2", "2. Means"),
            ("2.1", "2.1 Pumps"),
            ("#5", "1 Appendix"),
            ("#6", "End"),
        ]
        for number, heading in numbers:
            assert (await answer(client, "read", document=NUMBERED, section=number))["section"] == heading
        assert (await answer(client, "read", document=NUMBERED, section=2))["section"] == "2. Means"
        hit = (await answer(client, "search", question="Which valves were greased?", k=1))["sections"][0]
        assert (hit["id"], hit["number"]) == (NUMBERED, "#5")

    conversation(talk)


def test_a_long_document_comes_in_pieces_that_make_up_the_whole(folder: Path, conversation: Conversation) -> None:
    async def talk(client: ClientSession) -> str:
        text, start = "", 0
        while start is not None:
            piece = await answer(client, "read", document=LONG, start=start)
            assert len(piece["text"]) <= PAGE and piece["start"] == start
            text, start = text + piece["text"], piece["next"]
        return text

    assert conversation(talk) == (folder / LONG).read_text()


def test_no_file_can_be_named_and_mistakes_are_sentences(folder: Path, conversation: Conversation) -> None:
    async def talk(client: ClientSession) -> None:
        for path in (SECRET, str(folder / SECRET), "/etc/passwd"):
            for tool, name in (("rank", "document"), ("read", "document"), ("compare", "document")):
                said = await complaint(client, tool, **{name: path}, **({"other": LONG} if tool == "compare" else {}))
                assert "has no document" in said and "launch" not in said
        assert "either" in await complaint(client, "rank")
        assert "either" in await complaint(client, "rank", document=LONG, text="both")
        assert "at character 7" in await complaint(client, "documents", where="repeat(title, 9) = ''")
        assert "not understood" in await complaint(client, "documents", where="year >>> 3")
        assert "no section 99" in await complaint(client, "read", document=LONG, section=99)
        assert "no page" in await complaint(client, "read", document=LONG, page=1)
        assert "no sentences" in await complaint(client, "search", question="?")

    conversation(talk)


def test_the_missing_library_is_named_with_its_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from longmatch.assistants.server import create_server
    from longmatch.errors import LongmatchError

    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(LongmatchError, match=r"pip install 'longmatch\[mcp\]'"):
        create_server(Library(folder / "library", create=False))


def test_a_question_is_read_deeply_if_asked_for(folder: Path, matcher: HybridMatcher, monkeypatch: Any) -> None:
    monkeypatch.setattr(Reader, "load", lambda: KeenReader("greased"))
    tools = Tools(Library(folder / "library", matcher))
    found = tools.search("Which part of the plant was oiled?", deep=True)
    assert found["reader"] == "keen-reader" and found["sections"][0]["section"] == "1 Appendix"
    assert tools.search("Which part of the plant was oiled?")["reader"] is None


def test_what_does_not_fit_is_counted() -> None:
    from longmatch.assistants.tools import cut, fitted, shortened

    kept, left_out = fitted([{"text": "x" * 1000} for _ in range(100)])
    assert len(json.dumps(kept)) < ANSWER * 1.1 and len(kept) + left_out == 100
    assert len(shortened("y" * 5000)) <= 200 and cut("z" * (PAGE + 5)) == PAGE
    assert read_text_string("A b.", "t").text[: cut("A b.")] == "A b."


def test_a_passage_in_other_words_is_marked_for_an_assistant(conversation: Conversation) -> None:
    async def talk(client: ClientSession) -> None:
        text = "The marsh lies low. Planes may lose power when they fly through dust from an eruption."
        match = await answer(client, "compare", document=NUMBERED, text=text)
        assert [pair["a"]["text"] for pair in match["passages"] if pair.get("other_words")] == [
            "Volcanic ash in the sky can stop the engines of an aircraft."
        ]

    conversation(talk)
