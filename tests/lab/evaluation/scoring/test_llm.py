"""A language model as a row of an evaluation, asked through a real server on this machine."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longmatch.documents.document import Document
from longmatch.lab.evaluation.evaluate import evaluate
from longmatch.lab.evaluation.scoring.pairs import scorer_of
from longmatch.lexical.matcher import tfidf_matcher
from longmatch.matching.matcher import scores_with
from longmatch.models.llm.matcher import LlmMatcher
from tests.lab.evaluation.conftest import TEXTS
from tests.models.llm.chat_server import Answer, ChatServer, serve

Make = Callable[..., Path]
QRELS = [("test", "boats", "stars", 1), ("test", "bread", "cakes", 1)]
PAIRS = [
    ("validation", "boats", "ships", 1),
    ("validation", "stars", "bread", 0),
    ("test", "boats", "stars", 1),
    ("test", "bread", "cakes", 1),
    ("test", "bread", "ships", 0),
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    with serve() as chat:
        monkeypatch.setenv("LONGMATCH_LLM_URL", chat.url)
        monkeypatch.setenv("LONGMATCH_LLM_MODEL", "tiny")
        monkeypatch.delenv("LONGMATCH_LLM_KEY", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        yield chat


def judge(prompt: str) -> Answer:
    """Boats belong with stars and ships; nothing is said of bread and cakes."""
    first, second = (
        next(id for id, text in TEXTS.items() if text[:20] in part) for part in prompt.split("<document_")[1:]
    )
    if (first, second) == ("bread", "cakes"):
        return Answer("I cannot compare these.")
    scores = {("boats", "stars"): 95, ("boats", "ships"): 90}
    return Answer(json.dumps({"score": scores.get((first, second), 10)}))


def rows(out: Path) -> dict[str, dict]:
    return {row["model"]: row for row in json.loads((out / "results.json").read_text(encoding="utf-8"))}


def test_a_judge_is_a_row_and_what_it_refuses_stays_where_bm25_had_it(
    server: ChatServer, make_data: Make, tmp_path: Path
) -> None:
    server.reply = judge
    folder, out, lines = make_data(qrels=QRELS, pairs=PAIRS), tmp_path / "out", []
    evaluate([folder], ["llm"], out=out, protocol="both", on_model_report=lines.append)
    measured = rows(out)["llm"]["measures"]
    assert measured["MRR"] == 1.0  # stars by its score; cakes, which bm25 has first, by its place
    assert (measured["precision"], measured["recall"]) == (1.0, 0.5)  # as a pair, what is refused is no match
    assert len(lines) == 1 and lines[0].startswith("tiny: ") and " 2 refused;" in lines[0]
    (run,) = (out / "runs").glob("tiny.test.llm.json")
    assert json.loads(run.read_text(encoding="utf-8"))["made"]["asked"] == lines[0]


def test_a_row_is_made_again_for_another_model_only(
    server: ChatServer, make_data: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = make_data(pairs=PAIRS), tmp_path / "out"
    evaluate([folder], ["llm"], out=out)
    asked = len(server.requests)
    evaluate([folder], ["llm"], out=out)
    assert asked == len(PAIRS) == len(server.requests)
    evaluate([folder], ["llm", "llm@org/other"], out=out)
    assert len(server.requests) == 2 * asked and {"llm", "llm@org/other"} < set(rows(out))
    monkeypatch.setenv("LONGMATCH_LLM_MODEL", "third")
    evaluate([folder], ["llm"], out=out)
    assert len(server.requests) == 3 * asked


def test_a_row_depends_on_model_and_budget_and_not_on_the_key(server: ChatServer) -> None:
    settings = [{}, {"key": "a-key"}, {"model": "other"}, {"budget": 99}]
    facts = [LlmMatcher(server.url, **{"model": "tiny", **each}).settings for each in settings]
    assert facts[0] == facts[1] and facts[0] != facts[2] and facts[0] != facts[3]
    assert "a-key" not in str(facts)


def test_the_judges_code_is_among_what_a_row_depends_on(server: ChatServer) -> None:
    assert {"models/llm", "lexical", "matching"} <= set(scorer_of(LlmMatcher(server.url, "tiny")).code)


def test_fifty_near_pairs_of_long_documents(
    server: ChatServer, examples: dict[str, Document], answer_key: dict[str, dict], make_data: Make, tmp_path: Path
) -> None:
    texts = {id: document.readable for id, document in examples.items()}
    pairs, belong = near_pairs(examples, {id: row["group"] for id, row in answer_key.items()})

    def judge_by_key(prompt: str) -> Answer:
        titles = re.findall(r"^Title: (.+)$", prompt, flags=re.MULTILINE)  # the ids
        return Answer(json.dumps({"score": 90 if tuple(titles) in belong else 15}))

    server.reply = judge_by_key
    out, lines = tmp_path / "out", []
    evaluate([make_data(texts, pairs=pairs)], ["llm"], out=out, protocol="pairs", on_model_report=lines.append)
    assert rows(out)["llm"]["measures"]["F1"] == 1.0
    assert len(server.requests) == len(pairs) == 50 and lines[0].startswith("tiny: 50 asked, 0 from the cache, 0 ref")


def near_pairs(examples: dict[str, Document], group: dict[str, str]) -> tuple[list[tuple], set[tuple[str, str]]]:
    """25 matches, and for each the document most like its source that is none; the first ten pairs for validation."""
    ids = [id for id in examples if id in group]
    matches = [(a, b) for a in ids for b in ids if a < b and group[a] == group[b]][:25]
    rows: list[tuple] = []
    for place, (a, b) in enumerate(matches):
        likeness = dict(zip(ids, scores_with(tfidf_matcher(), examples[a], [examples[id] for id in ids]), strict=True))
        used = {(row[1], row[2]) for row in rows}
        near = max((id for id in ids if group[id] != group[a] and (a, id) not in used), key=likeness.__getitem__)
        split = "validation" if place < 5 else "test"
        rows += [(split, a, b, 1), (split, a, near, 0)]
    return rows, set(matches)
