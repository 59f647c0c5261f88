"""SDR's score over a library: normalised over a fixed sample of paragraphs in place of all of them."""

from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from longmatch.library.search.hierarchical import SENTENCES, normalised_scores, paragraphs_of, sample_paragraphs
from longmatch.library.settings import LibrarySettings
from longmatch.models.sdr.matcher import SdrMatcher
from longmatch.models.sdr.score import Paragraphs
from tests.library.tiny import made_up_text


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, tiny: HybridMatcher) -> Library:
    """Eighty documents of six paragraphs."""
    place = tmp_path_factory.mktemp("many")
    (place / "texts").mkdir()
    for number in range(80):
        paragraphs = (made_up_text(number + 100 * part, sentences=4) for part in range(6))
        (place / "texts" / f"d{number:03}.txt").write_text("\n\n".join(paragraphs))
    made = Library(place / "library", tiny, settings=LibrarySettings(candidates=10))
    made.add(place / "texts")
    return made


def test_a_small_library_ranks_as_sdr_does_in_memory(many: Library, tiny: HybridMatcher) -> None:
    whole = Library(many.address, tiny, settings=LibrarySettings(candidates=100))
    documents = list(whole.documents)
    query = next(document for document in documents if document.id == "d004.txt")
    exact = SdrMatcher(tiny.backbone).rank(query, documents, k=79)
    found = whole.rank("d004.txt", k=79, by="sdr")
    scores = {hit.id: hit.score for hit in exact}
    assert len(found) == len(scores) == 79
    # vectors are kept in half precision, and those of the tiny model hardly differ: two that nearly tie may swap
    assert [hit.score for hit in found] == pytest.approx([scores[hit.id] for hit in found], abs=0.05)
    assert [hit.percentile for hit in found[:5]] == pytest.approx([hit.percentile for hit in exact[:5]])


def test_a_sample_of_a_sixth_of_the_paragraphs_moves_scores_by_less_than_a_tenth_of_their_spread(many: Library) -> None:
    searcher = many.searcher()
    rows = searcher.store.fetch(list(many), SENTENCES)
    together = Paragraphs.join([paragraphs_of(row) for row in rows])
    sample = sample_paragraphs(searcher.store, list(many), documents=27, each=3)
    assert len(sample.paragraphs) - 1 == 81
    for row in rows[:5]:
        exact = normalised_scores(paragraphs_of(row), together, None)
        estimated = normalised_scores(paragraphs_of(row), together, sample)
        assert np.corrcoef(exact, estimated)[0, 1] > 0.99
        slope, _ = np.polyfit(exact, estimated, 1)
        assert abs(slope - 1) < 0.25
        assert set(np.argsort(-exact)[:3]) & set(np.argsort(-estimated)[:3])


def test_the_sample_does_not_depend_on_the_order_of_documents(many: Library) -> None:
    searcher = many.searcher()
    ids = list(many)
    forward, backward = (
        sample_paragraphs(searcher.store, ids, 10, 2),
        sample_paragraphs(searcher.store, ids[::-1], 10, 2),
    )
    assert np.array_equal(forward.vectors, backward.vectors)


def test_candidates_alone_are_scored_in_a_larger_library(many: Library, tmp_path: Path) -> None:
    hits = many.rank("d004.txt", k=3, by="sdr")
    assert len(hits) == 3
    assert hits[0].score >= hits[1].score >= hits[2].score
    assert hits[0].percentile == pytest.approx(100 * 78 / 79)
    assert all(len(hit.why) == 3 for hit in hits)
