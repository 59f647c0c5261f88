"""The control of news: pairs of different topics, from the same half of ECB+ or from both."""

from itertools import combinations

import pytest

from longmatch.errors import ReadError
from longmatch.lab.datasets import CollectionWriter, DataFolder, Part, RawDocument
from longmatch.lab.datasets.collection import find_set
from longmatch.lab.datasets.corpus_halves import PARTNERS, main, write_corpus_halves

SPLITS = {1: "train", 2: "validation", 3: "validation", 4: "test", 5: "test", 6: "test"}


def write_articles(path, halves=("ecb", "ecbplus")):
    """Six topics of eight articles, four in either half; every two of a topic are a pair."""
    with CollectionWriter(path) as writer:
        for topic, split in SPLITS.items():
            ids = [f"{topic}_{n}{half}" for n in range(4) for half in halves]
            for id in ids:
                writer.add(RawDocument(id, "", (Part("", f"An article on topic {topic}, called {id}."),)))
            same = [(a, b, int(a.endswith("plus") == b.endswith("plus"))) for a, b in combinations(sorted(ids), 2)]
            for a, b, label in same:
                writer.pair(split, a, b, label)
        writer.finish()
    return DataFolder(path)


@pytest.fixture
def news(tmp_path):
    return write_articles(tmp_path / "news")


def test_pairs_are_of_different_topics_and_as_many_of_the_same_half_as_not(news):
    pairs = DataFolder(write_corpus_halves(news)).pairs()
    assert {pair.split for pair in pairs} == {"validation", "test"}
    for pair in pairs:
        topics = [int(id.partition("_")[0]) for id in (pair.source, pair.target)]
        assert topics[0] != topics[1] and {SPLITS[topic] for topic in topics} == {pair.split}
        assert pair.label == (pair.source.endswith("plus") == pair.target.endswith("plus"))
    assert sum(pair.label for pair in pairs) * 2 == len(pairs)
    assert sum(pair.split == "test" for pair in pairs) == 24 * 2 * PARTNERS


def test_the_same_command_writes_the_same_set(news, capsys):
    main([str(news.path)])
    first = (news.path / "pairs-halves.tsv").read_bytes()
    main([str(news.path)])
    assert (news.path / "pairs-halves.tsv").read_bytes() == first
    assert "news/pairs-halves.tsv: validation 128, test 240 pairs" in capsys.readouterr().out
    assert find_set(news.path.parent, "news-halves") == news.path / "pairs-halves.tsv"


def test_another_corpus_is_refused(tmp_path):
    with pytest.raises(ReadError, match="no articles of ECB"):
        write_corpus_halves(write_articles(tmp_path / "other", ("a", "b")))
