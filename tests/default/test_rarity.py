"""How far a collection's language and kind of text are known, and what that makes of rarity."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import RunningWords, known_of, running_rarity
from longmatch.default.statistics import Statistics
from longmatch.default.term_rarity import BACKGROUND_DOCUMENTS, blend
from longmatch.documents import read_text_string
from longmatch.lexical.terms import Counts, hash_word
from longmatch.lexical.weights import Frequencies, TermBackground
from tests.library.tiny import made_up_text, tiny_matcher

UNHEARD = np.array([hash_word("qwzxv")], dtype=np.uint64)


@pytest.fixture(scope="module")
def tiny(tiny_bert: Path) -> HybridMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def two(tiny: HybridMatcher) -> list[Encoding]:
    return tiny.encode([read_text_string(made_up_text(n), f"d{n}") for n in range(2)])


def background(known: list[str], foreign: list[str]) -> TermBackground:
    """Of documents that all have these words, some of which are foreign."""
    ids, others = (np.unique(np.array([hash_word(w) for w in ws], dtype=np.uint64)) for ws in (known, foreign))
    nothing = Frequencies.of([])
    return TermBackground(Frequencies(1.0, ids, np.ones(len(ids))), nothing, nothing.ids, others)


def with_terms(matcher: HybridMatcher, terms: TermBackground) -> Statistics:
    return replace(matcher.statistics, terms=terms)


def test_familiar_and_known_words_are_counted_as_they_run(tiny: HybridMatcher) -> None:
    texts = "River bank river stone.", "Stone wall river."
    encodings = tiny.encode([read_text_string(text, text[:5]) for text in texts])
    words = [encoding.terms.words.counts for encoding in encodings]
    found = RunningWords.of(words, background(["river", "stone"], foreign=["stone"]))
    assert found.shares == pytest.approx((3 / 7, 5 / 7))
    assert [column.tolist() for column in (found.lengths, found.familiar, found.known)] == [[4, 3], [2, 1], [3, 2]]
    assert RunningWords.of([], background([], [])).shares == (1.0, 1.0)


def test_the_vocabulary_is_known_from_two_fifths_of_the_words_to_four_fifths(tiny: HybridMatcher) -> None:
    text = "River bank river stone wall."
    encodings = tiny.encode([read_text_string(text, "text")])
    for words, expected in ((["bank"], 0.0), (["river", "bank"], 0.5), (["river", "bank", "stone"], 1.0)):
        assert known_of(encodings, with_terms(tiny, background(words, []))).vocabulary == pytest.approx(expected)


def test_running_rarity_is_0_for_terms_of_every_document_and_1_for_terms_of_none() -> None:
    common, unheard = 3, 5
    counts = Counts.of(np.array([common] * 3 + [unheard], dtype=np.uint64))
    table = Frequencies(10.0, np.array([common], dtype=np.uint64), np.array([10.0]))
    assert running_rarity(counts, table) == pytest.approx(1 / 4)
    half = replace(table, counts=np.array([5.0]))
    expected = (
        3 / 4 * np.log((1 + BACKGROUND_DOCUMENTS) / (1 + BACKGROUND_DOCUMENTS / 2)) / np.log(1 + BACKGROUND_DOCUMENTS)
    )
    assert running_rarity(counts, half) == pytest.approx(1 / 4 + expected)


def test_the_kind_of_documents_is_known_whose_phrases_are_common_in_the_background(
    tiny: HybridMatcher, two: list[Encoding]
) -> None:
    nothing = Frequencies.of([])
    ids = np.unique(np.concatenate([e.terms.phrases.counts.ids for e in two]))
    unknown = TermBackground(nothing, nothing, nothing.ids, nothing.ids)
    known = replace(unknown, phrases=Frequencies(1.0, ids, np.ones(len(ids))))
    assert [known_of(two, with_terms(tiny, terms)).wording for terms in (known, unknown)] == [1.0, 0.0]


@pytest.mark.parametrize("familiarity", [0.0, 1.0])
def test_the_rarity_of_a_word_ends_in_a_language_that_is_known_and_grows_with_the_collection_else(
    tiny: HybridMatcher, familiarity: float
) -> None:
    small, large = (
        blend("words", Frequencies(n, UNHEARD, np.ones(1)), tiny.statistics.terms, familiarity, 1.0).idf(UNHEARD)[0]
        for n in (1_000, 1_000_000)
    )
    most = np.log(1 + BACKGROUND_DOCUMENTS)
    assert small <= large and (large <= most) == (familiarity == 1.0)
    assert small == pytest.approx(large, rel=0.05) if familiarity else large > 1.5 * small
