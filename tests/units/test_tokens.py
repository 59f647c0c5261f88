"""Tokens know their characters."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longmatch.documents import Draft
from longmatch.documents.markdown import draft_markdown
from longmatch.units import tokenize
from tests.effort import tried
from tests.units.random_documents import DOCUMENTS


@given(document=DOCUMENTS)
@settings(max_examples=tried(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tokens_are_those_of_each_sentence_alone_and_lie_in_it_in_order(tokenizer, document):
    tokens = tokenize(document, tokenizer)
    assert len(tokens.sentence_offsets) == len(list(document.sentences)) + 1
    for number, sentence in enumerate(document.sentences):
        first, last = tokens.sentence_offsets[number : number + 2]
        ids = tokenizer.encode(sentence.of(document.readable), add_special_tokens=False).ids
        assert tokens.ids[first:last].tolist() == ids or not ids
        starts = tokens.starts[first:last].tolist()
        assert starts == sorted(starts) and sentence.start <= starts[0] and starts[-1] < sentence.end


def test_a_sentence_the_tokenizer_knows_nothing_of_becomes_one_unknown(wordpiece):
    draft = Draft()
    draft.paragraph("\x01\x02")
    tokens = tokenize(draft.document("a"), wordpiece)
    assert tokens.ids.tolist() == [wordpiece.token_to_id("[UNK]")]


def test_marks_are_not_read_and_spans_count_in_the_file(wordpiece):
    document = draft_markdown("The **old** [bridge](http://x.y) fell.").document("a")
    tokens = tokenize(document, wordpiece)
    words = [wordpiece.id_to_token(int(i)) for i in tokens.ids]
    assert words == ["the", "old", "bridge", "fell", "."]
    assert [document.text[i] for i in tokens.starts] == ["T", "o", "b", "f", "."]


def test_words_begin_after_a_gap(wordpiece):
    draft = Draft()
    draft.paragraph("Embeddings are fine.")
    tokens = tokenize(draft.document("a"), wordpiece)
    words = [wordpiece.id_to_token(int(i)) for i in tokens.ids]
    assert [w for w, begins in zip(words, tokens.word_starts, strict=True) if begins] == ["em", "are", "fine"]


@given(document=DOCUMENTS, count=st.integers(1, 60))
@settings(max_examples=tried(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_truncated_tokens_are_the_first_ones_in_their_sentences(wordpiece, document, count):
    tokens = tokenize(document, wordpiece)
    found, kept = tokens.truncated(count), min(count, len(tokens))
    assert found.ids.tolist() == tokens.ids[:count].tolist() and len(found.starts) == len(found.word_starts) == kept
    assert found.sentence_offsets[-1] == kept and (np.diff(found.sentence_offsets) > 0).all()
    assert len(found.sentence_offsets) == len(found.sentence_section) + 1 == len(found.sentence_paragraph) + 1
    assert found.sentence_offsets[:-1].tolist() == [o for o in tokens.sentence_offsets.tolist() if o < kept]


def test_without_a_limit_nothing_is_truncated(wordpiece):
    tokens = tokenize(draft_markdown("The old bridge fell.").document("a"), wordpiece)
    assert tokens.truncated(None) is tokens.truncated(len(tokens)) is tokens
