"""Halves of documents as what is learnt from."""

import numpy as np

from longmatch.lab.adapting.learning.passages import Reading, halves, material_of_halves
from longmatch.lexical.terms import Stream, Terms


def reading(first: int, sentences: int) -> Reading:
    """Sentence s has the tokens first + s, twice, and the word of that number."""
    tokens = [np.array([first + s, first + s]) for s in range(sentences)]
    words = Stream(np.arange(first, first + sentences, dtype=np.uint64), np.arange(sentences + 1))
    return Reading(tokens, np.arange(sentences) // 2, Terms(words))


def test_halves_share_no_sentence_and_leave_none_out() -> None:
    for paragraphs in ([0] * 20, [0] * 9 + [1] * 2, [0, 1, 2, 3, 3, 3, 4], list(range(5, 17))):
        a, b = halves(np.array(paragraphs))
        assert sorted([*a.tolist(), *b.tolist()]) == list(range(len(paragraphs)))
        assert len(a) and len(b)


def test_a_long_paragraph_alone_is_cut_into_runs() -> None:
    a, b = halves(np.zeros(16, dtype=np.int64))
    assert a.tolist() == [0, 1, 4, 5, 8, 9, 12, 13]
    assert len(b) == 8


def test_a_part_has_the_tokens_and_words_of_its_sentences() -> None:
    part = reading(10, 6).part(np.array([1, 4]))
    assert [tokens.tolist() for tokens in part.tokens] == [[11, 11], [14, 14]]
    assert part.terms.words.ids.tolist() == [11, 14]
    assert part.terms.words.offsets.tolist() == [0, 1, 2]
    assert part.paragraph.tolist() == [0, 2]


def test_the_two_halves_of_a_document_answer_each_other() -> None:
    material = material_of_halves([reading(0, 8), reading(20, 12)])
    assert len(material) == 4
    assert material.answers == {0: {1}, 1: {0}, 2: {3}, 3: {2}}
    held = [set(material.tokens[slice(*material.sentences[material.documents[d : d + 2]])].tolist()) for d in range(4)]
    assert held[0] == {0, 1, 4, 5} and held[1] == {2, 3, 6, 7}
    assert held[2] | held[3] == set(range(20, 32))
