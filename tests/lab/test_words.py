"""What words are, from text and from tokens."""

from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from longmatch.documents import Draft
from longmatch.documents.read import read_text_string
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.words import (
    TokenWords,
    WordMatrix,
    WordMatrixCache,
    document_words,
    singular,
    stream_of,
    textrank_similarity,
    to_unit,
    written_words,
)
from longmatch.lexical.terms import Stream, hash_word
from longmatch.units import tokenize

SENTENCES = st.lists(st.lists(st.integers(0, 12), max_size=9), max_size=12)
DOCUMENT = st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=7)


def made(*paragraphs, id="made"):
    draft = Draft()
    for paragraph in paragraphs:
        draft.paragraph(paragraph)
    return draft.document(id)


def listed(stream):
    return [stream.ids[start:end].tolist() for start, end in pairwise(stream.offsets)]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("cities", "city"), ("rates", "rate"), ("rivers", "river"), ("grass", "grass"), ("virus", "virus")],
)
def test_only_plural_endings_are_taken_off(word, expected):
    assert singular(word) == expected


def test_function_words_are_left_out_of_english_alone_and_kept_on_request():
    assert [w for w, _ in written_words("The river is in the valley.")] == ["river", "valley"]
    assert [w for w, _ in written_words("The river is in it.", common=True)] == ["the", "river", "is", "in", "it"]
    assert [w for w, _ in written_words("Der Fluss is here.", "de")] == ["der", "fluss", "is", "here"]


def test_a_word_keeps_how_it_is_written():
    assert list(written_words("Analysis of rivers")) == [("analysi", "analysis"), ("river", "rivers")]


def test_an_english_possessive_is_the_word_itself():
    assert [w for w, _ in written_words("It's the river's and the king’s.")] == ["river", "king"]


def test_two_neighbouring_chinese_characters_are_a_word_and_one_alone_is_too():
    assert [w for w, _ in written_words("本院认为A案", "zh")] == ["本院", "院认", "认为", "a", "案"]


def test_a_document_s_words_come_sentence_by_sentence_and_only_of_the_first_where_asked():
    document = made("Rivers rise. Kilns burn clay.")
    rivers, kilns = [hash_word(w) for w in ("river", "rise")], [hash_word(w) for w in ("kiln", "burn", "clay")]
    assert listed(document_words(document)) == [rivers, kilns]
    assert listed(document_words(document, 1)) == [rivers]


@pytest.fixture(scope="module")
def tokenizer():
    pieces = ["[UNK]", "[CLS]", "the", "of", "river", "##s", "rise", "kiln", "burn", "##ing", ",", ".", *"本院认为"]
    made = Tokenizer(WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    made.add_special_tokens(["[UNK]", "[CLS]"])
    return made


def shared(tokenizer, left, right):
    """How many distinct words two sentences share, and each one's length."""
    cut = TokenWords.of(tokenizer)
    a, b = (cut.words(tokenize(made(text), tokenizer)).ids for text in (left, right))
    return len(np.intersect1d(a, b)), len(a), len(b)


def test_pieces_without_a_gap_are_one_word(tokenizer):
    assert shared(tokenizer, "rivers rise", "river rise") == (1, 2, 2)
    assert shared(tokenizer, "burning rivers", "rivers burning") == (2, 2, 2)


def test_of_tokens_too_function_words_and_punctuation_are_no_words(tokenizer):
    assert shared(tokenizer, "the river, rise.", "the kiln, burn.") == (0, 2, 2)


def test_a_tokenizer_that_pads_gives_the_same_words(tokenizer):
    padding = Tokenizer.from_str(tokenizer.to_str())
    padding.enable_padding(length=20)
    assert (TokenWords.of(padding).left_out == TokenWords.of(tokenizer).left_out).all()


def test_of_tokens_too_two_neighbouring_characters_are_a_word(tokenizer):
    assert shared(tokenizer, "本院认为", "认为, 本院") == (2, 3, 2)
    assert shared(tokenizer, "本", "本, 院") == (1, 1, 2)


def test_token_words_are_those_of_a_plain_loop(tokenizer):
    document = made("The river, burning kilns. 本院认为 rise.", "Rivers of 本, and 院认.")
    tokens = tokenize(document, tokenizer)
    cut = TokenWords.of(tokenizer)
    expected = []
    for start, end in pairwise(tokens.sentence_offsets):
        runs: list[tuple[int, list[int]]] = []
        for at in range(start, end):
            kind, token = int(cut.kinds[tokens.ids[at]]), int(tokens.ids[at])
            if at > start and not tokens.word_starts[at] and kind == runs[-1][0]:
                runs[-1][1].append(token)
            else:
                runs.append((kind, [token]))
        left_out = {(tokenizer.token_to_id("the"),), (tokenizer.token_to_id("of"),)}
        words = [tuple(run) for kind, run in runs if kind == 1 and tuple(run) not in left_out]
        for kind, run in runs:
            if kind == 2:
                words += [tuple(run)] if len(run) == 1 else list(pairwise(run))
        expected.append(sorted(words))
    found = listed(cut.words(tokens))
    assert [len(words) for words in found] == [len(words) for words in expected]
    flat = [word for words in expected for word in words]
    assert len(set(np.concatenate(found).tolist())) == len(set(flat))


def plainly(sentences):
    """Equation 1 as it is written, a sentence of one word counting as one of two."""
    found = np.zeros((len(sentences), len(sentences)))
    for i, one in enumerate(sentences):
        for j, other in enumerate(sentences):
            found[i, j] = len(set(one) & set(other)) / (log(max(len(one), 2)) + log(max(len(other), 2)))
    return found


@given(SENTENCES)
def test_the_product_gives_what_the_loop_over_pairs_gives(sentences):
    np.testing.assert_allclose(textrank_similarity(stream_of(sentences)), plainly(sentences), rtol=1e-12)


def test_two_sentences_worked_by_hand():
    river = [1, 2, 3, 1]  # "the river rises the": four words, three of them distinct
    kiln = [1, 4]
    found = textrank_similarity(stream_of([river, kiln]))
    np.testing.assert_allclose(found[0, 1], 1 / (log(4) + log(2)))
    np.testing.assert_allclose(found[0, 0], 3 / (2 * log(4)))


def test_sentences_of_one_word_have_a_finite_similarity():
    found = textrank_similarity(stream_of([[1], [1], [2], []]))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], [1 / log(4), 1 / log(4), 0, 0])


@given(SENTENCES)
def test_for_a_picture_everything_lies_between_0_and_1(sentences):
    unit = to_unit(textrank_similarity(stream_of(sentences)))
    assert (unit >= 0).all() and (unit <= 1 + 1e-12).all()
    assert (np.diag(unit) == 1).all()


@given(DOCUMENT, DOCUMENT)
def test_sentences_are_as_alike_as_in_the_whole_matrix_of_both_documents(first, second):
    a, b = stream_of(first), stream_of(second)
    whole, size = textrank_similarity(Stream.cat([a, b])), len(first)
    one, other = WordMatrix.of(a), WordMatrix.of(b)
    np.testing.assert_allclose(one.shared(other).toarray(), whole[:size, size:], atol=1e-6)
    np.fill_diagonal(whole, 0.0)
    np.testing.assert_allclose(one.within.toarray(), whole[:size, :size], atol=1e-6)
    np.testing.assert_allclose(other.within.toarray(), whole[size:, size:], atol=1e-6)


def test_words_are_counted_as_often_as_they_stand_in_a_sentence():
    found = WordMatrix.of(stream_of([[7, 3, 7], [], [3]]))
    assert found.words.tolist() == [3, 7]
    assert found.counts.toarray().tolist() == [[1, 2], [0, 0], [1, 0]]
    assert found.distinct.tolist() == [2, 0, 1] and found.lengths.tolist() == [3, 0, 1]


def test_a_document_is_read_once_as_long_as_it_is_among_the_last(tiny_bert):
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    documents = [tokenize(read_text_string(text), tokenizer) for text in ("A river.", "A bank.", "A bird.")]
    read = []
    words = TokenWords.of(tokenizer).words
    matrices = WordMatrixCache(lambda tokens: read.append(tokens) or words(tokens), size=2)
    first = matrices(documents[0])
    assert matrices(documents[1]) is matrices(documents[1]) and matrices(documents[0]) is first
    assert len(read) == 2
    matrices(documents[2])
    matrices(documents[1])  # was forgotten
    assert len(read) == 4
