"""The sides of queries' best documents and of pairs, against comparisons of one pair at a time."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import Rarity, known_of
from longmatch.default.sides import NAMES
from longmatch.lab.datasets import DataFolder
from longmatch.lab.default.features import (
    DEPTH,
    PASSAGE_SIDES,
    PairSides,
    QueryLists,
    SideScorer,
    open_scorer,
    pair_sides,
    query_lists,
)
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.store import store
from tests.library.tiny import tiny_matcher


@pytest.fixture(scope="module")
def scorer(
    matcher: HybridMatcher, example_corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SideScorer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "CHARACTERS", 40_000)
        yield open_scorer(matcher, example_corpus, tmp_path_factory.mktemp("layers"))


@pytest.fixture(scope="module")
def encodings(matcher: HybridMatcher, example_corpus: Corpus) -> list[Encoding]:
    return matcher.encode(list(example_corpus.folder.documents()))


def test_words_phrases_and_meaning_are_the_models_own(
    scorer: SideScorer, matcher: HybridMatcher, encodings: list[Encoding]
) -> None:
    collection = matcher.collect(encodings)
    for number, sides in scorer.each([0, 5]):
        expected = collection.similarities(encodings[number], NAMES)
        assert np.allclose(sides["words"], expected["words"], atol=1e-9)
        assert np.allclose(sides["phrases"], expected["phrases"], atol=1e-9)
        assert np.allclose(sides["meaning"], expected["meaning"], atol=2e-3)  # stored vectors are halves
        assert sides["lengths"].tolist() == [e.words for e in encodings]


def test_a_title_found_in_the_query_scores_and_one_of_other_words_does_not(
    scorer: SideScorer, example_corpus: Corpus
) -> None:
    titles = [record.title for record in example_corpus.folder.records()]
    assert len(set(titles)) > 1
    ((_, sides),) = scorer.each([2])
    assert sides["title"][2] > 0
    assert sides["query_title"][2] == pytest.approx(sides["title"][2])
    assert (sides["title"] >= 0).all()
    assert (sides["title"] <= 1 + 1e-9).all()


def test_shared_names_are_those_of_the_whole_corpus(
    scorer: SideScorer, matcher: HybridMatcher, encodings: list[Encoding], example_corpus: Corpus
) -> None:
    collection = matcher.collect(encodings)
    for number, sides in scorer.each(range(len(encodings))):
        expected = collection.similarities(encodings[number], ["named"])["named"]
        assert sides["named"].tolist() == pytest.approx(expected.tolist(), abs=1e-12)
        assert expected[number] > 0


def test_the_sides_of_labelled_pairs_are_the_collections_and_no_labelled_pair_is_drawn_as_unrelated(
    make_data: Callable[..., Path], tiny_bert: Path, tmp_path: Path
) -> None:
    labels = [("train", "boats", "ships", 1), ("train", "boats", "bread", 0), ("train", "bread", "cakes", 1)]
    corpus = Corpus(DataFolder(make_data(pairs=[*labels, ("validation", "stars", "cakes", 0)])))
    matcher = tiny_matcher(tiny_bert)
    scorer = open_scorer(matcher, corpus, tmp_path / "layers")
    found = pair_sides(corpus, scorer, "train", known=matcher)
    assert sorted(found.labels.tolist()) == [False, True, True]
    assert len(found.unrelated["words"]) == 2 + 3  # boats: cakes, stars; bread: boats, ships, stars
    encodings = matcher.encode(list(corpus.folder.documents()))
    every = matcher.collect(encodings).similarities(encodings[corpus.number["boats"]], NAMES)
    ships = corpus.number["ships"]
    for side in NAMES:
        assert np.isclose(found.labelled[side], every[side][ships], atol=2e-3).any(), side
    assert found.trust == matcher.collect(encodings).rarity.trust
    assert len(pair_sides(corpus, scorer, "train", matcher, sources=1).labels) in (1, 2)


def test_the_pairs_of_a_set_of_queries_are_these_and_their_answers(
    make_data: Callable[..., Path], tiny_bert: Path, tmp_path: Path
) -> None:
    qrels = [("train", "boats", "ships", 2), ("train", "boats", "cakes", 0), ("test", "bread", "cakes", 1)]
    corpus, matcher = Corpus(DataFolder(make_data(qrels=qrels))), tiny_matcher(tiny_bert)
    found = pair_sides(corpus, open_scorer(matcher, corpus, tmp_path / "layers"), "train", matcher)
    assert found.labels.tolist() == [True, False]
    assert len(found.unrelated["words"]) == 2  # bread and stars, which no label names


def test_pairs_by_themselves_have_the_sides_of_two_documents_alone_by_either_background_and_come_back_from_disk(
    make_data: Callable[..., Path], tiny_bert: Path, tmp_path: Path
) -> None:
    corpus = Corpus(DataFolder(make_data(pairs=[("train", "boats", "ships", 1), ("train", "boats", "bread", 0)])))
    unknown, known = (tiny_matcher(tiny_bert, seed) for seed in (0, 1))
    found = pair_sides(corpus, open_scorer(unknown, corpus, tmp_path / "layers"), "train", known)
    assert set(found.lone) == {f"{x} {y}" for x in ("known", "unknown") for y in ("related", "random")}
    documents = {document.id: document for document in corpus.folder.documents()}
    for name, matcher in (("known", known), ("unknown", unknown)):
        a, b = matcher.encode([documents["boats"], documents["ships"]])
        rarity = Rarity.of([a, b], matcher.statistics)
        expected = Collection([b], rarity).similarities(a, PASSAGE_SIDES)
        sides = found.lone[f"{name} related"]
        assert {side: sides[side].tolist() for side in PASSAGE_SIDES} == {
            side: pytest.approx(values.tolist(), abs=2e-3) for side, values in expected.items()
        }
        assert (sides["query"][0], sides["lengths"][0]) == (a.words, b.words)
        known_alone = known_of([a, b], matcher.statistics)
        assert (sides["knowledge"][0], sides["kind_known"][0]) == (known_alone.wording, known_alone.kind)
        assert len(found.lone[f"{name} random"]["words"]) == 2  # cakes and stars
    assert found.lone["known related"]["meaning"] != found.lone["unknown related"]["meaning"]
    found.write(tmp_path / "pairs.npz")
    again = PairSides.read(tmp_path / "pairs.npz")
    assert again.trust == found.trust and again.labels.tolist() == found.labels.tolist()
    for table, other in (
        (found.labelled, again.labelled),
        (found.unrelated, again.unrelated),
        *((found.lone[name], again.lone[name]) for name in found.lone),
    ):
        assert {side: values.tolist() for side, values in other.items()} == {
            side: pytest.approx(values.tolist(), rel=1e-6) for side, values in table.items()
        }


def test_lists_hold_the_best_of_every_finding_side_and_come_back_from_disk(
    matcher: HybridMatcher, example_corpus: Corpus, tmp_path: Path
) -> None:
    scorer = open_scorer(matcher, example_corpus, tmp_path)
    lists = query_lists(example_corpus, scorer, "test", limit=3)
    assert len(lists) == 3
    assert lists.offsets[-1] == len(lists.sides) == len(lists.grades)
    answers = example_corpus.folder.qrels("test")
    assert {int(w.sum()) for w in lists.wanted} <= {sum(sorted(g.values())[-DEPTH:]) for g in answers.values()}
    lists.write(tmp_path / "lists.npz")
    again = QueryLists.read(tmp_path / "lists.npz")
    assert all(np.array_equal(value, getattr(again, name)) for name, value in vars(lists).items())
