"""Pairs by split, from every kind of table; non-matches are drawn where none are given; nothing leaks."""

import pickle

import numpy as np
import pytest

from longmatch.lab.datasets.splits import DEFAULT
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.data.training_data import TrainingData
from tests.lab.training.data.conftest import ids_of, table

PAIRS = "split source target label"
QRELS = "split query document grade"


def named(data: TrainingData, pairs: PairTable) -> list[tuple[str, str, int]]:
    ids = data.tokens.ids
    rows = zip(pairs.source.tolist(), pairs.target.tolist(), pairs.label.tolist(), strict=True)
    return [(ids[a], ids[b], label) for a, b, label in rows]


def linked(data: TrainingData) -> set[tuple[str, str]]:
    return {(data.tokens.ids[a], data.tokens.ids[b]) for a, b in data.positives.tolist()}


def test_labelled_pairs_are_given_by_split_as_numbers(make, opened):
    rows = [("train", "b", "a", 1), ("train", "b", "c", 0), ("validation", "c", "d", 1), ("validation", "c", "e", 0)]
    data = opened(make("abcdef", pairs=table(PAIRS, [*rows, ("test", "e", "f", 1)])))
    assert named(data, data.pairs("train")) == [("b", "a", 1), ("b", "c", 0)]
    assert data.pairs("train").source.tolist() == [1, 1]
    assert named(data, data.pairs("validation")) == [("c", "d", 1), ("c", "e", 0)]
    assert named(data, data.pairs("test")) == [("e", "f", 1)]
    assert data.positives.tolist() == [[0, 1]]


def test_training_sees_no_pair_that_a_later_split_labels_either_way_round(make, opened):
    rows = [("train", "a", "b", 1), ("train", "a", "c", 0), ("train", "c", "d", 1), ("train", "e", "f", 1)]
    later = [
        ("test", "b", "a", 1),
        ("validation", "d", "c", 1),
        ("validation", "a", "b", 1),
        ("validation", "a", "e", 0),
    ]
    data = opened(make("abcdef", pairs=table(PAIRS, rows + later)))
    assert named(data, data.pairs("train")) == [("a", "c", 0), ("e", "f", 1)]
    assert linked(data) == {("e", "f")}
    assert named(data, data.pairs("validation")) == [("d", "c", 1), ("a", "e", 0)]


def test_judgements_above_grade_0_are_matches_and_held_out_queries_are_not_seen(make, opened):
    rows = [("train", "a", "b", 2), ("train", "a", "c", 0), ("train", "a", "q", 1), ("train", "r", "b", 1)]
    later = [("test", "q", "d", 1), ("validation", "r", "e", 1), ("validation", "r", "d", 0)]
    data = opened(make("abcdeqr", qrels=table(QRELS, rows + later)))
    assert named(data, data.pairs("train")) == [("a", "b", 1), ("a", "c", 0)]
    assert linked(data) == {("a", "b")}


def test_with_pairs_and_judgements_the_pairs_are_learned_and_both_tell_what_belongs_together(make, opened):
    pairs = table(PAIRS, [("train", "a", "b", 1), ("train", "a", "c", 0), ("test", "a", "d", 1)])
    qrels = table(QRELS, [("train", "a", "b", 1), ("train", "a", "e", 1), ("train", "a", "d", 1)])
    data = opened(make("abcde", pairs=pairs, qrels=qrels))
    assert named(data, data.pairs("train")) == [("a", "b", 1), ("a", "c", 0)]
    assert linked(data) == {("a", "b"), ("a", "e")}


@pytest.fixture
def graph(make):
    """A ring of links through documents of all splits."""
    ids = sorted([*ids_of("train", 40), *ids_of("validation", 12), *ids_of("test", 12)], key=lambda id: id[::-1])
    rows = [(a, b) for at, a in enumerate(ids) for b in (ids[at - 1], ids[at - 2])]
    return make(ids, links=table("source target", rows)), rows


def test_links_are_split_by_the_ids_and_a_pair_is_test_if_either_document_is(graph, opened):
    folder, rows = graph
    data = opened(folder)
    for split in ("train", "validation", "test"):
        matches = {(a, b) for a, b, label in named(data, data.pairs(split)) if label}
        assert matches == {(a, b) for a, b in rows if DEFAULT.of_pair(a, b) == split} != set()


def test_non_matches_are_as_many_as_matches_of_the_same_split_and_linked_in_none(graph, opened):
    folder, rows = graph
    data = opened(folder)
    known = {frozenset(row) for row in rows}
    for split in ("train", "validation", "test"):
        found = named(data, data.pairs(split))
        others = [(a, b) for a, b, label in found if not label]
        sources = [a for a, _, label in found if label]
        assert sorted(a for a, _ in others) == sorted(sources)
        assert all(DEFAULT.of_pair(a, b) == split and frozenset((a, b)) not in known and a != b for a, b in others)
        assert len(set(others)) == len(others)


def test_non_matches_follow_the_seed_in_training_alone(graph, opened):
    folder, _ = graph
    first, again, other = (opened(folder, seed=seed) for seed in (1, 1, 2))
    assert named(first, first.pairs("train")) == named(again, again.pairs("train"))
    assert named(first, first.pairs("train")) != named(other, other.pairs("train"))
    assert named(first, first.pairs("validation")) == named(other, other.pairs("validation"))


def test_links_are_left_alone_where_there_are_pairs(make, opened):
    pairs = table(PAIRS, [("train", "a", "b", 1), ("train", "a", "c", 0)])
    data = opened(make("abc", pairs=pairs, links=table("source target", [("a", "c")])))
    assert linked(data) == {("a", "b")}


def test_judgements_without_grade_0_take_candidates_that_no_later_split_alone_names(make, opened):
    rows = [("train", "a", "b", 1), ("test", "q", "t", 1), ("validation", "v", "b", 1)]
    data = opened(make("abcqtvxyz", qrels=table(QRELS, rows), candidates=table("document", ["b", "t", "y"])))
    assert named(data, data.pairs("train")) == [("a", "b", 1), ("a", "y", 0)]


def test_documents_of_several_folders_begin_with_the_folders_name(make, opened):
    folders = [
        make("abc", name, pairs=table(PAIRS, [("train", "a", "b", 1), ("train", "a", "c", 0)]))
        for name in ("one", "two")
    ]
    data = opened(*folders)
    assert data.tokens.ids == ("one/a", "one/b", "one/c", "two/a", "two/b", "two/c")
    assert data.pairs("train").source.tolist() == [0, 0, 3, 3]
    assert [source["documents"] for source in data.facts["sources"]] == [3, 3]


def test_links_of_several_folders_are_split_as_those_of_one_and_never_mixed(graph, make, opened):
    folder, _ = graph
    other = make(["x", "y"], "other")
    alone, together = opened(folder), opened(folder, other)
    expected = [(f"data/{a}", f"data/{b}", label) for a, b, label in named(alone, alone.pairs("train"))]
    assert named(together, together.pairs("train")) == expected


def test_what_training_knows_of_a_batch_is_the_links_of_training_both_ways(make, opened):
    rows = [("train", "b", "a", 1), ("train", "a", "c", 0), ("test", "c", "d", 1)]
    data = opened(make("abcd", pairs=table(PAIRS, rows)))
    batch = np.array([3, 0, 2, 1])  # d a c b
    expected = np.eye(4, dtype=bool)
    expected[1, 3] = expected[3, 1] = True
    assert data.related(batch).tolist() == expected.tolist()


def test_labels_of_documents_without_text_are_left_out(make, opened):
    folder = make("abc", pairs=table(PAIRS, [("train", "a", "b", 1), ("train", "a", "c", 0), ("train", "a", "e", 1)]))
    with (folder / "documents.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "e", "text": " "}\n')
    data = opened(folder)
    assert named(data, data.pairs("train")) == [("a", "b", 1), ("a", "c", 0)]
    assert data.facts["unreadable"] == 1 and "holds no sentences" in data.tokens.unreadable["e"].why


def test_training_data_survive_the_way_to_another_process(graph, opened):
    data = opened(graph[0])
    copy = pickle.loads(pickle.dumps(data))
    assert named(copy, copy.pairs("train")) == named(data, data.pairs("train"))
    assert copy.tokens[3].ids.tolist() == data.tokens[3].ids.tolist()
