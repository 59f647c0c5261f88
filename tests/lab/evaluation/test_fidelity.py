"""Deleting what an explanation names first costs more than deleting at random; documents are rebuilt rightly."""

import pytest

from longmatch.documents import Document
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.fidelity import (
    Fidelity,
    fidelity,
    measure_fidelity,
    rebuild,
    related_pairs,
    summary,
    top_sentences,
)
from longmatch.models.loading import load

PAIR = ("coming-back-slowly.md", "step-rate-and-tibial-damage.pdf")


@pytest.fixture(scope="module")
def pair(examples: dict[str, Document]) -> tuple[Document, Document]:
    return examples[PAIR[0]], examples[PAIR[1]]


def sentences(document: Document) -> list[str]:
    return [s.of(document.readable) for s in document.sentences]


def test_a_rebuilt_document_has_all_sentences_but_the_chosen_ones(pair: tuple[Document, Document]) -> None:
    for document in pair:
        chosen = {0, 3, 4, 11}
        before = sentences(document)
        without, alone = rebuild(document, chosen, keep=False), rebuild(document, chosen, keep=True)
        assert sentences(without) == [s for i, s in enumerate(before) if i not in chosen]
        assert sentences(alone) == [s for i, s in enumerate(before) if i in chosen]
        assert all(before[i] not in without.text for i in chosen)


def test_a_document_rebuilt_without_loss_scores_one_with_itself(pair: tuple[Document, Document]) -> None:
    rebuilt = rebuild(pair[0], set(), keep=False)
    assert load("tfidf").compare(pair[0], rebuilt).score == pytest.approx(1.0)
    assert [s.heading for s in rebuilt.sections] == [s.heading for s in pair[0].sections]


def test_a_tenth_of_the_sentences_is_named_the_heaviest_first(pair: tuple[Document, Document]) -> None:
    match = load("tfidf").compare(*pair)
    named = top_sentences(match, "a")
    spans = list(pair[0].sentences)
    assert len(named) == round(len(spans) / 10)
    weights = [sum(x.contribution for x in match.alignments if (x.a.start, x.a.end) == (s.start, s.end)) for s in spans]
    assert min(weights[i] for i in named) >= max(w for i, w in enumerate(weights) if i not in named)


@pytest.mark.parametrize("name", ["tfidf", "phrases", "bm25"])
def test_lexical_explanations_fall_further_than_chance(name: str, example_corpus: Corpus) -> None:
    documents = example_corpus.documents(example_corpus.ids)
    pairs = related_pairs(example_corpus, "test", 4, seed=0)
    found = summary([fidelity(load(name), documents[a], documents[b]) for a, b in pairs])
    assert found["deletion"]["named"] > 1.5 * max(found["deletion"]["random"], 0.0)
    assert found["insertion"]["named"] > 1.5 * found["insertion"]["random"]


def test_the_ratio_is_of_the_mean_falls() -> None:
    found = summary([Fidelity(0.8, 0.5, 0.7, 0.4, 0.1), Fidelity(0.6, 0.3, 0.5, 0.2, 0.1)])
    assert found["deletion"]["ratio"] == pytest.approx(3.0)
    assert found["insertion"] == pytest.approx({"named": 0.3, "random": 0.1})


def test_what_was_measured_is_not_measured_again(example_corpus: Corpus, tmp_path) -> None:
    steps: list[int] = []
    options = (tmp_path / "found.json", example_corpus, load("tfidf"), "test", 2, 0, {"command": "this"}, steps.append)
    first = measure_fidelity(*options)
    assert first["made"] == {"command": "this"}
    assert measure_fidelity(*options) == first
    assert steps == [1, 1]
