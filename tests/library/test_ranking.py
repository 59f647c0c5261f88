"""Two stages find what scoring everything finds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.calibration import Calibration, Scale
from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents import Document
from longmatch.documents.read import read_text_string
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from longmatch.library.search.candidates import find_candidates
from longmatch.library.search.score import StoredCandidates, score_candidates
from longmatch.library.settings import LibrarySettings
from tests.conftest import EXAMPLES
from tests.library.tiny import made_up_text, write_texts

SIDES = ("words", "phrases", "meaning", "title", "query_title")
QUERIES = ("the-stream-that-turned.md", "tower-repair-report.pdf", "cranes-over-the-plain.html")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, tiny: HybridMatcher) -> Library:
    """Sixty documents, of which only the best four of each side are scored."""
    place = tmp_path_factory.mktemp("many")
    made = Library(place / "library", tiny, settings=LibrarySettings(candidates=4))
    made.add(write_texts(place / "texts", range(60)))
    return made


@pytest.mark.parametrize("query", QUERIES)
def test_the_ranking_is_that_of_the_matcher_in_memory(
    example_library: Library,
    examples: dict[str, Document],
    encodings: dict[str, Encoding],
    matcher: HybridMatcher,
    query: str,
) -> None:
    scores = matcher.score(encodings[query], matcher.collect(list(encodings.values())))
    exact = sorted((-score, id) for score, id in zip(scores.tolist(), encodings, strict=True) if id != query)[:10]
    hits = example_library.rank(examples[query])
    assert [hit.id for hit in hits] == [id for _, id in exact]
    assert [hit.score for hit in hits] == pytest.approx([-value for value, _ in exact], abs=1e-3)
    assert hits[0].percentile == pytest.approx(100 * 30 / 31)


def test_hits_carry_passages_that_stand_in_both_documents(
    example_library: Library, examples: dict[str, Document]
) -> None:
    query = examples[QUERIES[0]]
    for hit in example_library.rank(query, k=3):
        assert len(hit.why) == 3
        for pair in hit.why:
            assert query.text[pair.a.start : pair.a.end] == pair.a.text
            assert hit.document.text[pair.b.start : pair.b.end] == pair.b.text
            assert pair.b.section in {section.heading for section in hit.document.sections}


def test_a_file_its_id_and_its_document_are_the_same_question(
    example_library: Library, examples: dict[str, Document]
) -> None:
    id = QUERIES[1]
    asked = (id, EXAMPLES / "collection" / id, examples[id])
    answers = [[(hit.id, hit.score) for hit in example_library.rank(query, k=5)] for query in asked]
    assert answers[0] == answers[1] == answers[2]
    assert id not in [hit_id for hit_id, _ in answers[0]]


def test_two_stages_give_the_scores_and_probabilities_of_the_whole_collection(
    many: Library, tiny: HybridMatcher
) -> None:
    query = tiny.encode([read_text_string(made_up_text(500), "asked")])[0]
    searcher = many.searcher()
    everything = searcher.encodings(list(many))
    exact = tiny.collect(everything).judge(query)
    best = searcher.score(searcher.query(query), list(many))
    for values, expected in zip((best.scores, best.probabilities), exact, strict=True):
        by_id = dict(zip(best.ids, values.tolist(), strict=True))
        assert [by_id[e.document.id] for e in everything] == pytest.approx(expected.tolist(), abs=1e-6)


def test_two_stages_know_titles_where_they_have_weight(many: Library, tiny: HybridMatcher) -> None:
    scales = {name: Scale(0.5, 0.02, 0.05) for name in SIDES}
    heavy = replace(tiny.statistics, calibration=Calibration(scales, slope=0.5, bias=-1.0))
    query = tiny.encode([replace(read_text_string(made_up_text(500), "asked"), title="flood of the river bank")])[0]
    searcher = many.searcher()
    everything = searcher.encodings(list(many))
    assert any(e.document.title for e in everything)
    exact = Collection.of(everything, heavy).scores(query)
    candidates = StoredCandidates(list(many), searcher.index)
    best = score_candidates(searcher.query(query), candidates, replace(searcher.index.rarity, statistics=heavy))
    by_id = dict(zip(best.ids, best.scores.tolist(), strict=True))
    assert [by_id[e.document.id] for e in everything] == pytest.approx(exact.tolist(), abs=1e-4)


def test_few_candidates_hold_nearly_all_of_the_best(many: Library) -> None:
    searcher = many.searcher()
    kept = []
    for query in list(many)[:10]:
        weighed = searcher.query(searcher.encodings([query])[0], query)
        scope = searcher.scope(without=query)
        few = find_candidates(weighed, searcher.index, scope, 4)
        assert len(few) <= 12
        best = searcher.score(weighed, scope.ids)
        kept.append(len(set(best.ids[:3]) & set(few)) / 3)
    assert np.mean(kept) > 0.8


def test_percentiles_count_the_documents_that_were_not_scored(many: Library) -> None:
    hits = many.rank("d000.txt", k=3)
    assert [hit.percentile for hit in hits] == pytest.approx([100 * (59 - n) / 59 for n in (1, 2, 3)])


@pytest.mark.parametrize("k", [0, -1])
def test_fewer_results_than_one_are_refused(many: Library, k: int) -> None:
    for rank in (many.rank, many.rank_sections):
        with pytest.raises(LibraryError, match=r"^k is invalid: Input should be greater than or equal to 1\.$"):
            rank("d000.txt", k)


def test_only_documents_that_fulfil_the_condition_are_ranked(many: Library) -> None:
    hits = many.rank("d000.txt", where="id LIKE 'd00%' AND words > 10")
    assert 0 < len(hits) < 10
    assert all(hit.id.startswith("d00") for hit in hits)


def test_conditions_reach_into_metadata(library: Library, tmp_path: Path) -> None:
    import json

    rows = ({"id": f"r{n}", "text": made_up_text(n), "year": 2000 + n, "by": f"author {n % 2}"} for n in range(6))
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, rows)))
    library.add(tmp_path / "all.jsonl")
    assert {hit.id for hit in library.rank("r0", where="year >= 2003 AND by = 'author 1'")} == {"r3", "r5"}


def test_the_approximate_index_finds_nearly_what_the_exact_product_finds(tmp_path: Path, tiny: HybridMatcher) -> None:
    folder = write_texts(tmp_path / "texts", range(300))
    exact = Library(tmp_path / "library", tiny)
    exact.add(folder)
    approximate = Library(tmp_path / "library", tiny, settings=LibrarySettings(exact_below=100))
    approximate.add(folder)
    assert approximate.store.has_vector_index()
    vectors = exact.searcher().index.live_column("means")
    asked = vectors[7]
    best = set(np.argsort(-(vectors @ asked))[:10])
    ids = [id for segment in exact.searcher().index.segments for id in segment.ids]
    near = approximate.store.nearest(asked, 10, None)
    assert len(set(near) & {ids[i] for i in best}) >= 8
    assert [h.id for h in approximate.rank("d007.txt", k=3)] == [h.id for h in exact.rank("d007.txt", k=3)]


def test_a_condition_that_all_documents_fulfil_changes_nothing(library: Library, texts: Path) -> None:
    library.add(texts)
    for query in library:
        every, kept = (library.rank(query, k=99, where=where) for where in (None, "words > 0"))
        assert [(hit.id, hit.score, hit.percentile) for hit in kept] == [
            (hit.id, hit.score, hit.percentile) for hit in every
        ]
