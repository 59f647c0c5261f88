"""From the best candidates to the hits a user sees."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from longmatch.documents import Document
from longmatch.documents.read import read_text_string
from longmatch.lexical.matcher import tfidf_matcher
from longmatch.library.library import Library
from longmatch.library.search.explain import Ranking
from longmatch.matching.hits import Reasons
from tests.library.tiny import made_up_text, write_texts

PROBABILITIES = [0.9, 0.5, 0.25, 0.125]
KNOWN = "the-stream-that-turned.md"


@pytest.fixture
def ranking(library: Library, tmp_path: Path) -> Ranking:
    """Four candidates, with probabilities by hand."""
    library.add(write_texts(tmp_path / "texts", range(14)))
    searcher = library.searcher()
    found = searcher.rank(searcher.query(*searcher.encodings(["d000.txt"]), "d000.txt"), k=4)
    assert len(found.candidates) == 4
    likely = {candidate.document.id: p for candidate, p in zip(found.candidates, PROBABILITIES, strict=True)}
    return replace(found, explain=lambda some: [Reasons((), likely[candidate.document.id]) for candidate in some])


def test_hits_carry_their_probabilities(ranking: Ranking) -> None:
    hits = ranking.hits(lambda document: document)
    assert [hit.probability for hit in hits] == PROBABILITIES
    assert [hit.id for hit in hits] == [candidate.document.id for candidate in ranking.candidates]


def test_reranked_documents_keep_their_probabilities(ranking: Ranking) -> None:
    likely = {hit.id: hit.probability for hit in ranking.hits(lambda document: document)}
    backwards = replace(ranking, candidates=ranking.candidates[::-1])  # whichever tfidf prefers, it changes one of both
    for given, combine in product((ranking, backwards), (True, False)):
        hits = given.reranked(tfidf_matcher(), k=3, combine=combine).hits(lambda document: document)
        assert len(hits) == 3 and [hit.probability for hit in hits] == [likely[hit.id] for hit in hits]


def plain(document: Document) -> str:
    """The text of a document without markup, each paragraph in one line: another format and other white space."""
    parts = [part for s in document.sections for part in (s.heading, *(p.of(document.readable) for p in s.paragraphs))]
    return "\n\n".join(" ".join(part.split()) for part in parts if part)


@pytest.mark.parametrize("by", ["default", "sdr"])
def test_a_copy_in_another_format_is_named_and_its_neighbours_are_the_hits(
    example_library: Library, examples: dict[str, Document], by: str
) -> None:
    copy = read_text_string(plain(examples[KNOWN]), "brought.txt")
    hits = example_library.rank(copy, 5, by=by)
    assert [(one.id, one.relation) for one in hits.same] == [(KNOWN, "copy")]
    assert hits.remarks[0] == f"This document is in the library: {KNOWN}. Its neighbours are shown."
    own = example_library.rank(KNOWN, 5, by=by)
    assert KNOWN not in [hit.id for hit in hits] and len(hits) == 5
    assert {hit.id for hit in hits[:3]} == {hit.id for hit in own[:3]}
    assert hits[0].percentile == pytest.approx(own[0].percentile)


def test_a_revised_text_is_another_version(example_library: Library, examples: dict[str, Document]) -> None:
    paragraphs = plain(examples[KNOWN]).split("\n\n")
    kept = paragraphs[: len(paragraphs) * 2 // 3] + [made_up_text(n) for n in range(3)]
    hits = example_library.rank(read_text_string("\n\n".join(kept), "draft.txt"), 3)
    assert [(one.id, one.relation) for one in hits.same] == [(KNOWN, "version")]
    assert hits.remarks[0].startswith(f"Another version of this document is in the library: {KNOWN}.")
    assert KNOWN not in [hit.id for hit in hits]


def test_a_clause_added_within_one_format_makes_another_version(library: Library, texts) -> None:
    library.add(texts)
    text = library.show("d003.txt").text
    assert library.rank(read_text_string(text, "brought.txt")).same[0].relation == "copy"
    draft = texts.parent / "draft.txt"
    draft.write_text(f"{text}\n\nThe lighthouse is sold.\n")
    assert [(one.id, one.relation) for one in library.rank(draft).same] == [("d003.txt", "version")]


def test_a_text_that_is_only_related_stays_a_hit(example_library: Library, examples: dict[str, Document]) -> None:
    hits = example_library.rank(read_text_string(made_up_text(1, 60), "other.txt"))
    assert hits.same == () and not any("in the library" in sentence for sentence in hits.remarks)


def test_a_document_of_the_library_keeps_its_copies_among_the_hits_and_they_are_labelled(
    library: Library, tmp_path, texts
) -> None:
    (texts / "again.txt").write_text((texts / "d003.txt").read_text(), encoding="utf-8")
    library.add(texts)
    hits = library.rank("d003.txt")
    assert hits[0].id == "again.txt" and hits.same == ()
    assert [hit.relation for hit in hits[:3]] == ["copy", None, None]


def test_reranking_reads_no_copy_of_the_query(library: Library, texts, tiny) -> None:
    library.add(texts)
    copy = replace(library.show("d003.txt"), id="brought", source="")
    hits = library.rank(copy, 3, rerank=tiny, depth=4)
    assert [one.id for one in hits.same] == ["d003.txt"]
    assert len(hits) == 3 and "d003.txt" not in [hit.id for hit in hits]
