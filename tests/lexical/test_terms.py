"""Words and phrases as hashes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.documents import Draft, read_text_string
from longmatch.documents.markdown import draft_markdown
from longmatch.lexical.key_terms import spell
from longmatch.lexical.terms import Counts, Stream, TermTable, hash_word, phrases_of, terms_of

SENTENCES = st.lists(st.lists(st.integers(0, 9), max_size=7), min_size=1, max_size=8)
BITS = (1 << 64) - 1


def stream_of(sentences: list[list[int]]) -> Stream:
    ids = np.array([word for sentence in sentences for word in sentence], dtype=np.uint64)
    return Stream(ids, np.cumsum([0, *map(len, sentences)]))


def plain_phrase(words: list[int]) -> int:
    """The same mixing, word by word, with Python's whole numbers."""
    mixed = len(words)
    for word in words:
        mixed = (mixed ^ word) * 0x9E3779B97F4A7C15 & BITS
        mixed ^= mixed >> 29
    return (mixed >> 32) * (1 + (1 << 32))  # half of the bits, twice


def test_words_hash_to_known_numbers():  # as `printf bridge | b2sum -l 64` prints them, the first byte the lowest
    assert hash_word("bridge") == 2793564478624239598
    assert hash_word("本") == 1843846355533513506


def test_phrases_hash_to_known_numbers():
    words = [hash_word(word) for word in ("old", "stone", "bridge")]
    assert phrases_of(stream_of([words])).ids.tolist() == [
        half * (1 + (1 << 32)) for half in (3963225838, 3074829491, 1524672489)
    ]


@given(SENTENCES)
def test_phrases_are_the_runs_of_two_and_three_words_of_each_sentence(sentences):
    found = phrases_of(stream_of(sentences))
    expected = [
        [plain_phrase(words[i : i + length]) for length in (2, 3) for i in range(len(words) - length + 1)]
        for words in sentences
    ]
    assert [found.ids[a:b].tolist() for a, b in pairwise(found.offsets.tolist())] == expected


def test_phrases_do_not_cross_sentences():
    apart = terms_of(read_text_string("Old stone. Bridge fell."))
    together = terms_of(read_text_string("Old stone bridge fell."))
    assert apart.words.ids.tolist() == together.words.ids.tolist()
    assert len(apart.phrases.ids) == 2 and len(together.phrases.ids) == 5


def test_terms_come_sentence_by_sentence_from_the_running_text_alone():
    draft = Draft()
    draft.heading("Heading")
    draft.paragraph("It rains. We stay in.")
    draft.paragraph("A | table", "table")
    words = terms_of(draft.document("a")).words
    assert words.offsets.tolist() == [0, 2, 5]
    assert words.ids.tolist() == [hash_word(w) for w in ("it", "rains", "we", "stay", "in")]
    assert words.sentence.tolist() == [0, 0, 1, 1, 1]


def test_marks_are_no_words():
    document = draft_markdown("The [old](http://example.org) **bridge** fell.").document("a")
    assert terms_of(document).words.ids.tolist() == [hash_word(w) for w in ("the", "old", "bridge", "fell")]


def test_chinese_counts_characters_and_their_runs():
    terms = terms_of(read_text_string("银行倒闭了。"))
    assert terms.words.ids.tolist() == [hash_word(c) for c in "银行倒闭了"]
    assert len(terms.phrases.ids) == 4 + 3


@given(st.lists(st.integers(0, 5), max_size=30))
def test_counts_are_those_of_a_plain_loop(terms):
    counts = Counts.of(np.array(terms, dtype=np.uint64))
    assert dict(zip(counts.ids.tolist(), counts.counts.tolist(), strict=True)) == {
        t: terms.count(t) for t in set(terms)
    }
    assert counts.ids.tolist() == sorted(set(terms))


def test_spelling_gives_words_and_phrases_back():
    terms = terms_of(read_text_string("The Old stone bridge fell."))
    wanted = np.concatenate([terms.words.ids, terms.phrases.ids])
    spelled = spell(wanted, ["Nothing here.", "The Old stone bridge fell."])
    assert [spelled[int(i)] for i in terms.words.ids] == ["the", "old", "stone", "bridge", "fell"]
    assert [spelled[int(i)] for i in terms.phrases.ids][-1] == "stone bridge fell"
    assert spell(wanted, ["Nothing here."]) == {}


def test_chinese_phrases_are_spelled_without_spaces():
    terms = terms_of(read_text_string("银行倒闭。"))
    assert sorted(spell(terms.phrases.ids, ["银行倒闭。"]).values()) == sorted(
        ["银行", "行倒", "倒闭", "银行倒", "行倒闭"]
    )


def by_dictionary(ids, terms):
    positions = {id: position for position, id in enumerate(ids.tolist())}
    return [(place, positions[term]) for place, term in enumerate(terms.tolist()) if term in positions]


@pytest.mark.parametrize(("count", "shift"), [(0, 0), (1, 0), (300, 0), (40_000, 0), (300, 40)])
def test_all_terms_of_the_table_are_found_and_no_others(count: int, shift: int) -> None:
    """Shifted hashes end in zeros, so that all want the same slot."""
    random = np.random.default_rng(count)
    numbers = random.choice(1 << 20, 2 * count + 10, replace=False).astype(np.uint64) << np.uint64(shift)
    ids, terms = np.unique(numbers[:count]), random.choice(numbers, 5_000)
    where, position = TermTable.of(ids).find(terms)
    assert sorted(zip(where.tolist(), position.tolist(), strict=True)) == by_dictionary(ids, terms)


def test_no_terms_are_found_among_none() -> None:
    where, position = TermTable.of(np.array([3, 8], np.uint64)).find(np.empty(0, np.uint64))
    assert len(where) == len(position) == 0
