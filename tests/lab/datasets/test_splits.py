"""The fixed splits, and that the published folders follow them."""

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.datasets import CollectionWriter, DataFolder, Part, RawDocument
from longmatch.lab.datasets.splits import (
    DEFAULT,
    LEGAL,
    LEGAL_ZH,
    NEWS,
    SplitRule,
    label_citations,
    label_similar,
    residue,
)

RULES = {"wiki": DEFAULT, "acl": DEFAULT, "papers": DEFAULT, "peps": DEFAULT, "legal": LEGAL, "legal-zh": LEGAL_ZH}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_residue_is_the_hash_modulo_100(id):
    assert residue(id) == int(sha256(b"longmatch:" + id.encode()).hexdigest(), 16) % 100


@given(st.text(), st.text())
def test_a_pair_is_never_easier_to_reach_than_its_documents(one, other):
    rule, order = SplitRule(), ("train", "validation", "test")
    assert rule.of_pair(one, other) == max(rule.of(one), rule.of(other), key=order.index)


def test_the_shares_are_as_stated():
    drawn = [SplitRule(test=25, validation=10).of(str(n)) for n in range(20_000)]
    assert drawn.count("test") / len(drawn) == pytest.approx(0.25, abs=0.01)
    assert drawn.count("validation") / len(drawn) == pytest.approx(0.10, abs=0.01)


def _published(name: str) -> DataFolder:
    root = os.environ.get("LONGMATCH_DATA", "")
    if not root or not (Path(root) / name).is_dir():
        pytest.skip("LONGMATCH_DATA names no such folder")
    return DataFolder(Path(root) / name)


@pytest.mark.parametrize("name", RULES)
def test_published_folders_follow_the_rule(name):
    data, rule = _published(name), RULES[name]
    assert all(row.split == rule.of(row.query) for row in data.judgements())
    assert all(pair.split == rule.of_pair(pair.source, pair.target) for pair in data.pairs())
    assert len(data.splits) == 3


def test_the_published_news_is_split_by_topic():
    data = _published("news")
    assert data.pairs()
    assert all(pair.split == NEWS.of("t" + pair.source.split("_")[0]) for pair in data.pairs())


@pytest.fixture
def label(tmp_path):
    def run(names, labeller, *args, **options):
        with CollectionWriter(tmp_path / "out") as writer:
            for name in names:
                writer.add(RawDocument(name, name, (Part("", "Words."),)))
            labeller(writer, *args, DEFAULT, **options)
            writer.finish()
        return DataFolder(tmp_path / "out")

    return run


def test_a_citation_is_a_match_and_a_stranger_stands_beside_it(label):
    names = [f"d{n}" for n in range(50)]
    cited = {"d1": {"d2", "d3", "d1", "unknown"}, "d4": {"d1"}, "unknown": {"d1"}}
    data = label(names, label_citations, cited)
    assert {(p.source, p.target) for p in data.pairs() if p.label} == {("d1", "d2"), ("d1", "d3"), ("d4", "d1")}
    negatives = [(p.source, p.target) for p in data.pairs() if not p.label]
    assert sorted(source for source, _ in negatives) == ["d1", "d1", "d4"]
    assert len(set(negatives)) == 3
    assert not {("d1", "d2"), ("d1", "d3"), ("d1", "d4"), ("d1", "d1")} & set(negatives)
    assert data.qrels() == {"d1": {"d2": 1, "d3": 1}, "d4": {"d1": 1}}


def test_every_label_has_the_split_of_the_rule(label):
    names = [f"d{n}" for n in range(200)]
    data = label(names, label_citations, {f"d{n}": [f"d{n + 1}"] for n in range(150)})
    assert set(data.splits) == {"train", "validation", "test"}
    assert all(p.split == DEFAULT.of_pair(p.source, p.target) for p in data.pairs())
    assert all(row.split == DEFAULT.of(row.query) for row in data.judgements())


def test_where_everyone_is_cited_there_is_no_stranger(label):
    assert [p.label for p in label(["a", "b"], label_citations, {"a": ["b"]}).pairs()] == [1]


def test_a_similar_pair_starts_at_the_smaller_address_and_ranks_both_ways(label):
    data = label("abcdef", label_similar, [("b", "a"), ("a", "c")], {"a": ["b", "d"], "b": ["e"]})
    assert [
        (p.source, p.target, p.label) for p in sorted(data.pairs(), key=lambda p: (p.source, -p.label, p.target))
    ] == [
        ("a", "b", 1),
        ("a", "c", 1),
        ("a", "d", 0),  # b is linked too, but similar; d serves twice
        ("a", "d", 0),
    ]
    assert data.qrels() == {"a": {"b": 1, "c": 1}, "b": {"a": 1}, "c": {"a": 1}}
