"""Every side in a lone pair, in memory, in a library and in an evaluation, against a plain loop over documents."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from longmatch.default.calibration import Scale
from longmatch.default.collection import Collection
from longmatch.default.comparison import Candidates, Comparison, Query, WeighedDocument
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import Rarity
from longmatch.default.sides import BY_NAME, NAMES, Side, similarities
from longmatch.default.space import Space
from longmatch.lab.datasets import DataFolder
from longmatch.lab.default.features import SideScorer
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.scoring.default import CorpusScorer
from longmatch.lab.store import store
from longmatch.lab.store.store import LayerStore
from longmatch.lexical.terms import Counts
from longmatch.lexical.weights import Idf
from longmatch.library.library import Library
from longmatch.library.search.score import StoredCandidates
from longmatch.ragged import unit_rows
from tests.default.test_evidence import slow as named
from tests.library.tiny import made_up_text, tiny_matcher

S = TypeVar("S", bound=CorpusScorer)
SIZE = 12
QUERY = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of documents with titles of some other text's words, or of a name that others mention."""
    place = tmp_path_factory.mktemp("data") / "made"
    place.mkdir()
    rows = []
    for n in range(SIZE):
        title = " ".join(made_up_text(n + 5).split()[:5]) if n % 3 else f"Fenholt {n}"
        text = f"{made_up_text(n, 5 + n % 4)} As Fenholt {3 * (n % 4)} says."
        rows.append(json.dumps({"id": f"d{n:02}", "title": title, "sections": [{"heading": "", "text": text}]}))
    (place / "documents.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return place


@dataclass(frozen=True)
class Filled:
    """Candidates filled in four ways, with the query and the rarity that all are compared by."""

    encodings: list[Encoding]
    rarity: Rarity
    ways: Mapping[str, Callable[[Query], Candidates]]


@pytest.fixture(scope="module")
def filled(folder: Path, tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    matcher, place = tiny_matcher(tiny_bert), tmp_path_factory.mktemp("filled")
    corpus = Corpus(DataFolder(folder))
    encodings = matcher.encode(list(corpus.folder.documents()))
    library = Library(place / "library", matcher)
    library.add(folder / "documents.jsonl")
    searcher = library.searcher()
    ids = [encoding.document.id for encoding in encodings]
    scorer = opened(SideScorer(matcher), corpus, place)
    rarity = matcher.collect(encodings).rarity
    ways = {
        "memory": lambda query: Collection(encodings, rarity),
        "library": lambda query: StoredCandidates(ids, searcher.index),
        "evaluation": lambda query: scorer.candidates,
    }
    return Filled(encodings, rarity, ways)


def opened(scorer: S, corpus: Corpus, place: Path) -> S:
    """A scorer whose documents lie in several shards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "CHARACTERS", 1_000)
        scorer.open(LayerStore.of(place / "layers", corpus.source).build(scorer.layers), corpus)
    return scorer


def weights(counts: Counts, idf: Idf) -> dict[int, float]:
    """TF-IDF, term by term."""
    values = {
        int(term): (1 + np.log(count)) * float(idf.idf(np.array([term], dtype=np.uint64))[0])
        for term, count in zip(counts.ids, counts.counts, strict=True)
    }
    length = np.sqrt(sum(value**2 for value in values.values()))
    return {term: value / length for term, value in values.items()}


def cosine(a: Counts, b: Counts, idf: Idf) -> float:
    mine, theirs = weights(a, idf), weights(b, idf)
    return sum(value * theirs.get(term, 0.0) for term, value in mine.items())


def plain(a: Encoding, b: Encoding, filled: Filled) -> dict[str, float]:
    """Every side of two documents, written as its definition says."""
    rarity = filled.rarity
    means = [encoding.sentence_vectors.vectors.mean(0) for encoding in (a, b)]
    space = Space.of(np.stack([each.vector for each in filled.encodings]), rarity.statistics.space)
    mine, theirs = ((unit_rows(mean) - space.centre) / space.spread for mean in means)
    return {
        "words": cosine(a.terms.words.counts, b.terms.words.counts, rarity.words),
        "phrases": cosine(a.terms.phrases.counts, b.terms.phrases.counts, rarity.phrases),
        "meaning": float(mine @ theirs) / float(np.linalg.norm(mine) * np.linalg.norm(theirs)),
        "title": cosine(a.terms.words.counts, b.title_words, rarity.words),
        "query_title": cosine(a.title_words, b.terms.words.counts, rarity.words),
        "named": named(a, b, filled.encodings, rarity),
        "cites_title": max(0.0, (max(float(v @ b.title_vector) for v in a.sentence_vectors.vectors) - 0.4) / 0.6),
    }


@pytest.mark.parametrize("way", ["pair", "memory", "library", "evaluation"])
def test_every_side_is_what_a_plain_loop_over_documents_gives(filled: Filled, way: str) -> None:
    asked = filled.encodings[QUERY]
    query = Query.of(WeighedDocument(asked, filled.rarity))
    if way == "pair":
        alone = [Collection([other], filled.rarity).similarities(asked, NAMES) for other in filled.encodings]
        found = {name: np.concatenate([values[name] for values in alone]) for name in NAMES}
    else:
        found = similarities(Comparison(query, filled.ways[way](query)), NAMES)
    expected = [plain(asked, other, filled) for other in filled.encodings]
    for name in NAMES:
        halves = way in ("library", "evaluation") and name in ("meaning", "cites_title")  # stored vectors
        wanted = [values[name] for values in expected]
        assert found[name].tolist() == pytest.approx(wanted, abs=2e-3 if halves else 1e-6), name
    assert max(values["named"] for values in expected) > 0


def test_a_side_that_a_test_defines_counts_in_all_four(
    folder: Path, tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_a_size(comparison: Comparison) -> np.ndarray:
        both = comparison.query.words, comparison.candidates.lengths
        return np.minimum(*both) / np.maximum(*both)

    monkeypatch.setitem(BY_NAME, "size", Side("size", "size", floor=0.1, similarity=of_a_size))
    tiny = tiny_matcher(tiny_bert)
    calibration = tiny.statistics.calibration
    scales = {**calibration.scales, "size": Scale(2.0, 0.1, 0.0)}
    weighed = HybridMatcher(tiny.backbone, replace(tiny.statistics, calibration=replace(calibration, scales=scales)))
    corpus = Corpus(DataFolder(folder))
    encodings = tiny.encode(list(corpus.folder.documents()))

    def in_memory(matcher: HybridMatcher) -> np.ndarray:
        return matcher.score(encodings[QUERY], matcher.collect(encodings))

    def in_a_library(matcher: HybridMatcher) -> dict[str, float]:
        library = Library(tmp_path / f"library{id(matcher)}", matcher)
        library.add(folder / "documents.jsonl")
        return {hit.id: hit.score for hit in library.rank(corpus.ids[QUERY], k=SIZE)}

    def evaluated(matcher: HybridMatcher) -> np.ndarray:
        scorer = opened(CorpusScorer(matcher), corpus, tmp_path)
        return next(scores for _, scores in scorer.scores([QUERY]) if scores is not None)

    match = weighed.explain(*encodings[:2])
    assert match.parts["size"] > 0 and match.labels["size"] == "size"
    assert match.score != pytest.approx(tiny.explain(*encodings[:2]).score, abs=1e-3)
    expected = {matcher: in_memory(matcher) for matcher in (tiny, weighed)}
    assert np.abs(expected[tiny] - expected[weighed]).max() > 1e-2
    for matcher, scores in expected.items():
        by_id = dict(zip(corpus.ids, scores.tolist(), strict=True))
        del by_id[corpus.ids[QUERY]]
        assert in_a_library(matcher) == pytest.approx(by_id, abs=2e-3)
        assert evaluated(matcher) == pytest.approx(scores, abs=2e-3)
