"""From the best candidates to the hits a user sees."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from longmatch.lexical.matcher import tfidf_matcher
from longmatch.library.library import Library
from longmatch.library.search.explain import Ranking
from tests.library.tiny import write_texts

PROBABILITIES = [0.9, 0.5, 0.25, 0.125]


@pytest.fixture
def ranking(library: Library, tmp_path: Path) -> Ranking:
    """Four candidates, with probabilities by hand."""
    library.add(write_texts(tmp_path / "texts", range(14)))
    searcher = library.searcher()
    found = searcher.rank(searcher.query(*searcher.encodings(["d000.txt"]), "d000.txt"), k=4)
    assert len(found.candidates) == 4
    return replace(found, probabilities=np.array(PROBABILITIES))


def test_hits_carry_their_probabilities(ranking: Ranking) -> None:
    hits = ranking.hits(lambda document: document)
    assert [hit.probability for hit in hits] == PROBABILITIES
    assert [hit.id for hit in hits] == [candidate.document.id for candidate in ranking.candidates]


def test_a_score_without_probabilities_gives_hits_without(ranking: Ranking) -> None:
    hits = replace(ranking, probabilities=None).hits(lambda document: document)
    assert [hit.probability for hit in hits] == [None] * 4


def test_reranked_documents_keep_their_probabilities(ranking: Ranking) -> None:
    likely = {hit.id: hit.probability for hit in ranking.hits(lambda document: document)}
    backwards = replace(
        ranking, candidates=ranking.candidates[::-1], probabilities=np.array(PROBABILITIES[::-1])
    )  # whichever order tfidf prefers, it changes one of the two
    for given, combine in product((ranking, backwards), (True, False)):
        hits = given.reranked(tfidf_matcher(), k=3, combine=combine).hits(lambda document: document)
        assert len(hits) == 3 and [hit.probability for hit in hits] == [likely[hit.id] for hit in hits]
    bare = replace(ranking, probabilities=None).reranked(tfidf_matcher(), k=3, combine=False)
    assert bare.probabilities is None


def test_no_documents_are_no_hits(ranking: Ranking) -> None:
    assert Ranking.empty(ranking.query).hits(lambda document: document) == []
