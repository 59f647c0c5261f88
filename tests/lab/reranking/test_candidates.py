"""The default's best documents of each query, against the default itself."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.calibration import log_above_floor
from longmatch.default.matcher import HybridMatcher
from longmatch.default.sides import NAMES
from longmatch.lab.datasets import DataFolder
from longmatch.lab.default.features import FLOORS
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.protocols import EvaluationTask, score_task
from longmatch.lab.evaluation.scoring.default import DefaultScorer
from longmatch.lab.reranking.candidates import (
    EVIDENCE,
    CandidateLists,
    CandidateScorer,
)
from longmatch.lab.reranking.passages import KINDS, SectionedSentences, passage_evidence
from longmatch.lab.store.store import LayerStore
from tests.lab.reranking.made_lists import made_lists
from tests.library.tiny import made_up_text, tiny_matcher

Make = Callable[..., Path]
TEXTS = {f"d{n:02}": made_up_text(n, sentences=4 + n % 3) for n in range(12)}
QRELS = [("test", "d00", "d05", 2), ("test", "d00", "d10", 1), ("test", "d00", "d03", 0), ("test", "d07", "d02", 1)]


@pytest.fixture
def matcher(tiny_bert: Path) -> HybridMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture
def opened(matcher: HybridMatcher, tmp_path: Path) -> Callable[[Path], tuple[Corpus, CandidateScorer]]:
    """Opens a data folder for the lists."""

    def open_folder(folder: Path) -> tuple[Corpus, CandidateScorer]:
        corpus, scorer = Corpus(DataFolder(folder)), CandidateScorer(matcher)
        scorer.open(LayerStore.of(tmp_path / "layers", corpus.source).build(scorer.layers), corpus)
        return corpus, scorer

    return open_folder


def find(corpus: Corpus, scorer: CandidateScorer, **options: object) -> CandidateLists:
    return scorer.find(EvaluationTask.of(corpus, "test", pairs=False), corpus, **options)


def listed(lists: CandidateLists, query: int) -> list[int]:
    return lists.documents[lists.offsets[query] : lists.offsets[query + 1]].tolist()


def test_the_lists_are_the_documents_in_the_order_of_the_defaults_score_with_their_grades(
    make_data: Make, opened, matcher: HybridMatcher
) -> None:
    corpus, scorer = opened(make_data(TEXTS, qrels=QRELS))
    lists = find(corpus, scorer)
    encodings = matcher.encode(list(corpus.folder.documents()))
    collection = matcher.collect(encodings)
    assert lists.queries.tolist() == [0, 7]
    for query, number in enumerate(lists.queries.tolist()):
        scores = matcher.score(encodings[number], collection)
        others = [other for other in range(len(corpus)) if other != number]
        assert listed(lists, query) == sorted(others, key=lambda other: -scores[other])
    assert {pair: grade for pair, grade in zip(lists.pairs, lists.grades.tolist(), strict=True) if grade} == {
        (0, 5): 2,
        (0, 10): 1,
        (7, 2): 1,
    }
    assert lists.wanted[:, :3].tolist() == [[2, 1, 0], [1, 0, 0]]


def test_an_answers_place_is_its_rank_in_the_evaluation_where_scores_tie_too(
    make_data: Make, opened, matcher: HybridMatcher, tmp_path: Path
) -> None:
    copies = ("d06", "d08", "d11")
    texts = TEXTS | dict.fromkeys(copies, TEXTS["d05"])
    corpus, scorer = opened(make_data(texts, qrels=[("test", "d00", copy, 1) for copy in copies]))
    task, judge = EvaluationTask.of(corpus, "test"), DefaultScorer(matcher)
    judge.open(LayerStore.of(tmp_path / "layers", corpus.source).build(judge.layers), corpus)
    lists = scorer.find(task, corpus)
    expected = score_task(task, corpus, judge).answers["d00"].ranks
    assert (lists.places[lists.grades > 0] + 1).tolist() == expected.tolist()
    tied = [number for number in listed(lists, 0) if corpus.ids[number] in copies]
    assert [corpus.ids[number] for number in tied] == ["d11", "d08", "d06"]


def test_the_evidence_is_what_the_default_sees_and_passages_and_lengths(
    make_data: Make, opened, matcher: HybridMatcher
) -> None:
    corpus, scorer = opened(make_data(TEXTS, qrels=QRELS[:3]))
    lists = find(corpus, scorer)
    encodings = matcher.encode(list(corpus.folder.documents()))
    collection = matcher.collect(encodings)
    calibration = collection.rarity.calibration(matcher.statistics)
    sides = collection.similarities(encodings[0], (*NAMES, *calibration.sides))
    total = calibration.evidence({name: sides[name] for name in calibration.sides})
    assert np.allclose(lists.scores, total[lists.documents], atol=5e-3)  # stored vectors are halves
    for name, trust in zip(NAMES, scorer.trust, strict=True):
        expected = trust * log_above_floor(sides[name], FLOORS[name])[lists.documents]
        assert np.allclose(lists.evidence[:, EVIDENCE.index(name)], expected, atol=2e-2), name
    query, documents = (
        SectionedSentences.of(scorer._vectors, scorer._chance, numbers) for numbers in ([0], listed(lists, 0))
    )
    passages = passage_evidence(query, documents)
    columns = [EVIDENCE.index(kind) for kind in KINDS]
    assert np.array_equal(lists.evidence[:, columns], passages.values.cpu().numpy())
    assert np.array_equal(lists.closest[:, 0], passages.query_sentences.cpu().numpy())
    assert np.array_equal(lists.closest[:, 1], passages.document_sentences.cpu().numpy())
    words = np.log([encoding.words for encoding in encodings])
    length, shorter = lists.evidence[:, [EVIDENCE.index("length"), EVIDENCE.index("shorter")]].T
    assert np.allclose(length, words[lists.documents])
    assert np.allclose(shorter, [min(words[document] - words[0], 0) for document in lists.documents], atol=1e-6)


def test_only_the_pool_is_listed_without_documents_that_have_no_text(make_data: Make, opened) -> None:
    pools = [("d00", id) for id in ("d00", "d02", "d05", "d08", "d09")]
    texts = TEXTS | {"d08": "", "d07": ""}
    corpus, scorer = opened(make_data(texts, qrels=QRELS, pools=pools))
    lists = find(corpus, scorer)
    assert lists.queries.tolist() == [0]  # d07 has no text
    assert sorted(listed(lists, 0)) == [2, 5, 9]
    assert lists.wanted[0, :3].tolist() == [2, 1, 0]  # d10 is wanted, though no list can have it


def test_no_more_are_listed_than_asked_for(make_data: Make, opened) -> None:
    corpus, scorer = opened(make_data(TEXTS, qrels=QRELS))
    every, few = find(corpus, scorer), find(corpus, scorer, most=3)
    assert [listed(few, query) for query in (0, 1)] == [listed(every, query)[:3] for query in (0, 1)]
    assert np.array_equal(few.scores, every.scores[every.places < 3])


def test_lists_found_query_by_query_and_joined_are_those_found_together(make_data: Make, opened) -> None:
    corpus, scorer = opened(make_data(TEXTS, qrels=QRELS, pools=[("d00", "d05"), ("d00", "d02")]))
    together = find(corpus, scorer)
    joined = CandidateLists.join([find(corpus, scorer, numbers=[number]) for number in (0, 7)])
    assert np.diff(joined.offsets).tolist() == [2, 11]
    for name, value in vars(together).items():
        assert np.array_equal(value, getattr(joined, name)), name


def test_lists_come_back_from_disk(make_data: Make, opened, tmp_path: Path) -> None:
    corpus, scorer = opened(make_data(TEXTS, qrels=QRELS))
    lists = find(corpus, scorer)
    lists.write(tmp_path / "new folder" / "tiny-test.npz")
    again = CandidateLists.read(tmp_path / "new folder" / "tiny-test.npz")
    assert len(again) == 2
    for name, value in vars(lists).items():
        assert np.array_equal(value, getattr(again, name)) and value.dtype == getattr(again, name).dtype


def test_pairs_places_and_rows_of_one_length_name_the_candidates_of_each_query() -> None:
    lists = made_lists({3: [5, 6, 7], 4: [], 9: [1]}, {3: {}, 4: {}, 9: {}})
    assert lists.pairs == [(3, 5), (3, 6), (3, 7), (9, 1)]
    assert lists.places.tolist() == [0, 1, 2, 0]
    assert lists.padded(2).tolist() == [[0, 1], [-1, -1], [3, -1]]
