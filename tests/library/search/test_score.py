"""Candidates scored by what the index holds of them, against the same documents in memory."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longmatch.default.collection import Collection
from longmatch.default.comparison import Comparison
from longmatch.default.matcher import HybridMatcher
from longmatch.default.sides import BY_NAME, similarities
from longmatch.documents.read import read_text_string
from longmatch.library.library import Library
from longmatch.library.search.encode import indexed_query
from longmatch.library.search.score import StoredCandidates
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import made_up_text, write_texts


@pytest.fixture
def grown(tmp_path: Path, tiny: HybridMatcher) -> Library:
    """A library of several segments, with documents replaced and removed."""
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(candidates=4, stale=10.0))
    texts = write_texts(tmp_path / "texts", range(40))
    library.add(texts)
    for number in range(40, 44):
        (texts / f"d{number:03}.md").write_text(f"# River bank {number} of the flood\n\n{made_up_text(number)}\n")
    write_texts(texts, range(3, 5), salt=1)
    library.add(texts)
    library.remove(["d008.txt", "d041.md"])
    return library


def test_every_side_is_that_of_memory(grown: Library, tiny: HybridMatcher) -> None:
    searcher = grown.searcher()
    searcher.index.refresh_norms()
    assert len(searcher.index.segments) > 1
    ids = [*reversed(list(grown))]
    collection = Collection(searcher.encodings(ids), searcher.index.rarity)
    asked = replace(read_text_string(made_up_text(500), "asked"), title="flood of the river bank")
    for query in (*tiny.encode([asked]), *searcher.encodings(["d004.txt", "d042.md"])):
        candidates = StoredCandidates(ids, searcher.index)
        found = similarities(Comparison(searcher.query(query), candidates), BY_NAME)
        for name, expected in collection.similarities(query, list(BY_NAME)).items():
            within = 1e-3 if name == "cites_title" else 1e-6  # titles' vectors are halves
            assert found[name].tolist() == pytest.approx(expected.tolist(), abs=within), name


def test_a_document_of_the_index_asks_as_its_encoding_does(grown: Library) -> None:
    searcher = grown.searcher()
    for id in ("d003.txt", "d040.md"):
        held, encoded = indexed_query(id, searcher.index), searcher.query(searcher.encodings([id])[0])
        assert held.words == encoded.words and held.title_terms.tolist() == encoded.title_terms.tolist()
        assert held.title_words.ids.tolist() == encoded.title_words.ids.tolist()
        assert held.vector == pytest.approx(encoded.vector, abs=1e-3)
        for kind, terms in encoded.terms.items():
            assert held.terms[kind].ids.tolist() == terms.ids.tolist()
            assert held.terms[kind].weights.tolist() == terms.weights.tolist()


def test_a_document_that_is_kept_asks_as_its_encoding_does(grown: Library) -> None:
    searcher = grown.searcher()
    for id in ("d003.txt", "d040.md"):
        (encoding,) = searcher.encodings([id])
        kept, encoded = searcher.query(encoding, id), searcher.query(encoding)
        assert kept.document.counted is not None and encoded.document.counted is None and kept.stored_id == id
        for kind, terms in encoded.terms.items():
            assert kept.terms[kind].ids.tolist() == terms.ids.tolist()
            assert kept.terms[kind].idf == pytest.approx(terms.idf, abs=1e-9)
            assert kept.terms[kind].weights == pytest.approx(terms.weights, abs=1e-9)


def test_documents_that_another_process_removed_are_left_out(grown: Library, opened: Callable[[], Library]) -> None:
    searcher = grown.searcher()
    query = searcher.query(searcher.encodings(["d003.txt"])[0], "d003.txt")
    before = searcher.score(query, searcher.scope(without="d003.txt").ids).ids
    opened().remove(before[0])
    grown.refresh()
    assert [encoding.document.id for encoding in searcher.rank(query, 4).candidates] == before[1:4]
