"""Ranking: best first, the query left out, ties by id."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.documents import read, read_all, read_text_string
from longmatch.errors import LongmatchError
from longmatch.lexical.matcher import tfidf_matcher
from longmatch.matching.matcher import is_same, percentile
from longmatch.models.loading import load
from longmatch.render.json import to_dict
from longmatch.render.notebook import notebook_html

BANK, QUEUE, SNOW = "The bank failed today.", "Depositors of the failed bank queued.", "Snow fell on the hills."


def documents(**texts: str):
    return [read_text_string(text, id) for id, text in texts.items()]


@pytest.fixture
def folder(tmp_path) -> Path:
    for name, text in (("bank.txt", BANK), ("queue.txt", QUEUE), ("snow.txt", SNOW), ("copy of bank.txt", BANK)):
        (tmp_path / name).write_text(text)
    return tmp_path


def all_of(place: Path):
    return list(read_all([place], lambda error: pytest.fail(str(error))))


def test_the_best_comes_first_and_k_is_how_many():
    query, *others = documents(query=BANK, snow=SNOW, queue=QUEUE)
    assert [hit.id for hit in tfidf_matcher().rank(query, others)] == ["queue", "snow"]
    assert [hit.id for hit in tfidf_matcher().rank(query, others, k=1)] == ["queue"]


def test_the_query_is_left_out_and_a_copy_of_another_name_is_kept(folder):
    hits = tfidf_matcher().rank(read(folder / "bank.txt"), all_of(folder))
    assert [hit.id for hit in hits] == ["copy of bank.txt", "queue.txt", "snow.txt"]
    assert hits[0].score == pytest.approx(1)


def test_a_hit_that_is_a_copy_of_the_query_says_so(folder):
    (folder / "other format.md").write_text(BANK.replace(" ", "\n"))
    (folder / "version.txt").write_text(BANK.replace("today", "on Monday"))
    hits = tfidf_matcher().rank(read(folder / "bank.txt"), all_of(folder))
    assert {hit.id for hit in hits if hit.relation == "copy"} == {"copy of bank.txt", "other format.md"}
    assert to_dict(hits[0])["relation"] == hits[0].to_row()["relation"] == "copy"
    assert "copy of the query" in notebook_html(hits[:1]) and "copy of the query" not in notebook_html(hits[2:])


def test_the_query_is_known_by_any_path_to_it(folder, monkeypatch):
    (folder / "sub").mkdir()
    (folder / "link.txt").symlink_to(folder / "bank.txt")
    monkeypatch.chdir(folder)
    here = read("bank.txt")
    for path in (folder / "bank.txt", Path("sub/../bank.txt"), folder / "link.txt"):
        assert is_same(here, read(path))
    assert not is_same(here, read("copy of bank.txt"))


def test_of_one_file_of_many_documents_only_the_query_itself_is_left_out(tmp_path):
    file = tmp_path / "all.jsonl"
    rows = [{"id": "a", "text": BANK}, {"id": "copy", "text": BANK}, {"id": "b", "text": SNOW}]
    file.write_text("\n".join(map(json.dumps, rows)))
    assert [hit.id for hit in tfidf_matcher().rank(read(f"{file}#a"), all_of(file))] == ["copy", "b"]


def test_documents_of_no_file_are_one_if_text_and_id_are():
    a, copy, other = *documents(a=BANK, copy=BANK), read_text_string(SNOW, "a")
    assert is_same(a, replace(a)) and not is_same(a, copy) and not is_same(a, other)


def test_ties_break_by_id_whatever_the_order_given():
    query, *others = documents(query=BANK, c=QUEUE, a=QUEUE, b=QUEUE)
    for given_order in (others, others[::-1]):
        assert [hit.id for hit in tfidf_matcher().rank(query, given_order)] == ["a", "b", "c"]


def test_a_hit_says_why_and_how_much_of_the_collection_scores_lower():
    query, *others = documents(query=BANK, queue=QUEUE, snow=SNOW, rain="Rain fell all week.", sun="A sunny week.")
    best = to_dict(tfidf_matcher().rank(query, others)[0])
    assert (best["id"], best["title"], best["percentile"]) == ("queue", QUEUE, 75.0)
    assert best["passages"][0]["a"]["text"] == BANK and best["passages"][0]["b"]["text"] == QUEUE


def test_a_hit_says_how_likely_it_belongs_where_the_model_can_tell():
    query, other = documents(query=BANK, queue=QUEUE)
    (hit,) = tfidf_matcher().rank(query, [other])
    assert (hit.probability, hit.verdict) == (None, None)
    assert {"probability": None, "verdict": None}.items() <= to_dict(hit).items()
    likely = replace(hit, probability=0.12345678)
    assert {"probability": 0.123457, "verdict": "probably not"}.items() <= to_dict(likely).items()


def test_nothing_else_than_the_query_ranks_nothing():
    query = read_text_string(BANK, "a")
    assert tfidf_matcher().rank(query, [query]) == []


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_a_percentile_counts_the_lower_scores(values):
    scores = np.array(values, dtype=np.float64)
    for i, value in enumerate(values):
        assert percentile(scores, i) == pytest.approx(100 * sum(v < value for v in values) / len(values))


def test_a_matcher_is_loaded_by_name():
    for name in ("tfidf", "phrases", "bm25"):
        assert load(name).name == name


def test_an_unknown_name_is_said_in_one_sentence_with_the_known_ones():
    with pytest.raises(LongmatchError, match=r"tfdif.*default.*tfidf") as error:
        load("tfdif")
    assert "\n" not in str(error.value)
