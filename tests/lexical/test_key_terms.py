"""Which shared words and phrases are told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.default.statistics import shipped_statistics
from longmatch.documents import read_text_string
from longmatch.lexical import key_terms as module
from longmatch.lexical.key_terms import is_everyday, key_terms, written
from longmatch.lexical.links import Shared
from longmatch.lexical.matcher import phrase_matcher
from longmatch.lexical.terms import hash_word, terms_of
from longmatch.lexical.weights import Frequencies, TermBackground
from longmatch.matching.sentences import Sentences

NOTHING = Frequencies.of([])
EVERYDAY = np.sort(np.array([hash_word(word) for word in ("the", "of")], dtype=np.uint64))
BACKGROUND = TermBackground(NOTHING, NOTHING, everyday=EVERYDAY, foreign=NOTHING.ids)
WORDS = ("the", "of", "stone", "bridge", "river")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=5)


def told(text: str, background: TermBackground = BACKGROUND) -> dict[str, float]:
    """What is told of a document whose terms all carry the same."""
    document = read_text_string(text, "text")
    terms = terms_of(document)
    shared = [Shared(s.counts.ids, np.ones(len(s.counts.ids))) for s in (terms.words, terms.phrases)]
    found = key_terms(shared, terms.words, Sentences.of_document(document), background)
    return {term.text: term.share for term in found}


def cores(sentences: list[list[str]]) -> dict[str, float]:
    """The same worked out on strings: every core, with the number of distinct terms that come down to it."""
    runs = {tuple(s[i : i + n]) for s in sentences for n in (1, 2, 3) for i in range(len(s) - n + 1)}
    counts: dict[str, float] = {}
    for run in runs:
        telling = [i for i, word in enumerate(run) if word not in ("the", "of")]
        core = " ".join(run[telling[0] : telling[-1] + 1] if telling else run)
        counts[core] = counts.get(core, 0.0) + 1
    return {core: count / len(runs) for core, count in counts.items()}


@given(TEXTS)
def test_a_core_carries_what_all_phrases_carry_that_come_down_to_it(sentences):
    text = " ".join(" ".join(words).capitalize() + "." for words in sentences)
    expected = cores(sentences)
    assert sum(expected.values()) == pytest.approx(1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "TOP_TERMS", 1000)
        found = told(text)
    assert found == pytest.approx({core: expected[core] for core in found})
    for core in expected.keys() - found.keys():  # part of one that is told
        assert any(f" {core} " in f" {other} " for other in found)


def test_a_phrase_is_told_without_the_everyday_words_at_its_ends_but_with_those_within():
    found = told("The bridge of stone.")  # nine terms; "of" is left out, as a part of what is told before it
    assert found == pytest.approx({"bridge": 4 / 9, "stone": 2 / 9, "bridge of stone": 1 / 9, "the": 1 / 9})


def test_what_consists_of_everyday_words_is_told_last():
    assert list(told("Of the bridge. Of the river. Of the of the."))[:2] == ["bridge", "river"]
    assert set(told("Of the.")) == {"of", "the", "of the"}


def test_letters_and_small_numbers_are_everyday_and_other_numbers_are_not():
    words = np.array([hash_word(word) for word in ("t", "α", "7", "1000", "1848", "x86")], dtype=np.uint64)
    assert is_everyday(words, BACKGROUND).tolist() == [True, True, True, True, False, False]


def test_the_function_words_of_a_text_s_own_language_are_everyday():
    war, bridge = (np.array([hash_word(word)], dtype=np.uint64) for word in ("war", "brücke"))
    assert is_everyday(war, BACKGROUND, "de").all() and not is_everyday(war, BACKGROUND, "en").any()
    assert not is_everyday(bridge, BACKGROUND, "de").any()


def test_a_part_of_a_heavier_term_is_left_out_and_a_longer_term_is_not():
    document = read_text_string("Stone bridge. Stone.", "text")
    terms = terms_of(document)
    words, sentences = terms.words.counts.ids, Sentences.of_document(document)
    for mass, expected in ((1.0, ["stone", "bridge", "stone bridge"]), (0.1, ["stone bridge"])):
        shared = [Shared(words, np.full(2, mass)), Shared(terms.phrases.counts.ids, np.full(1, 0.5))]
        found = [t.text for t in key_terms(shared, terms.words, sentences, BACKGROUND)]
        assert sorted(found) == sorted(expected)


def test_words_of_much_text_and_of_speech_are_everyday_and_those_of_a_subject_are_not():
    def everyday(words: str) -> list[bool]:
        ids = np.array([hash_word(word) for word in words.split()], dtype=np.uint64)
        return is_everyday(ids, shipped_statistics().terms).tolist()

    assert all(everyday("the had been not as held would which we your"))
    assert not any(everyday("bank central court translation law irrigation 银 的"))


def test_the_phrases_told_of_real_documents_neither_begin_nor_end_with_an_everyday_word(examples):
    pair = examples["pear-block-season-trial.md"], examples["when-to-water-fruit-trees.html"]
    terms = phrase_matcher().compare(*pair).terms[:20]
    edges = [word for term in terms for word in (term.text.split()[0], term.text.split()[-1])]
    ids = np.array([hash_word(word) for word in edges], dtype=np.uint64)
    assert len(terms) == 20 and not is_everyday(ids, shipped_statistics().terms).any()


def between(first: str, last: str, sentence: str) -> str:
    return written(hash_word(first), hash_word(last), sentence)


def test_letters_whose_lower_case_is_longer_do_not_shift_what_follows():
    assert between("alan", "turing", "İzmir ve İstanbul: Alan Turing geldi.") == "Alan Turing"


def test_a_sigma_is_found_at_the_end_of_a_word_and_within():
    assert between("οδος", "σοφια", "Η ΟΔΟΣ ΣΟΦΙΑ είναι εδώ.") == "ΟΔΟΣ ΣΟΦΙΑ"
