"""The fixed splits, and that the published folders follow them."""

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.datasets import DataFolder
from longmatch.lab.datasets.splits import DEFAULT, LEGAL, LEGAL_ZH, NEWS, SplitRule, residue

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
