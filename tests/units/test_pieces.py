"""Pieces cover the running text in order, without overlap, and none is longer than its limit."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longmatch.documents import Draft
from longmatch.units import Pieces, Tokens, block_ranges, chunks, sentences, tokenize
from longmatch.units.pieces import pieces_from
from tests.effort import tried
from tests.lab.store.essays import token_collection
from tests.units.random_documents import DOCUMENTS

LIMITS = st.integers(1, 8) | st.sampled_from([16, 32, 254])
random_documents = settings(
    max_examples=tried(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def blocks(tokens: Tokens, limit: int, *, cut_long: bool = False) -> Pieces:
    return pieces_from(tokens, *block_ranges(tokens, limit, cut_long=cut_long))


every_cut = pytest.mark.parametrize("cut", [chunks, blocks, sentences])


def covered(pieces: Pieces) -> set[int]:
    return {i for span in pieces for i in range(span.start, span.end)}


def running_characters(pieces: Pieces) -> set[int]:
    text = pieces.document.text
    return {i for s in pieces.document.sentences for i in range(s.start, s.end) if not text[i].isspace()}


@every_cut
@given(document=DOCUMENTS, limit=LIMITS)
@random_documents
def test_pieces_cover_the_running_text_in_order_without_overlap(tokenizer, cut, document, limit):
    pieces = cut(tokenize(document, tokenizer), limit)
    assert all(before.end <= after.start for before, after in pairwise(pieces))
    assert running_characters(pieces) <= covered(pieces)


@every_cut
@given(document=DOCUMENTS, limit=LIMITS)
@random_documents
def test_no_piece_is_longer_than_its_limit_and_no_token_is_lost(tokenizer, cut, document, limit):
    tokens = tokenize(document, tokenizer)
    pieces = cut(tokens, limit)
    ids = [pieces.ids(i) for i in range(len(pieces))]
    assert all(1 <= len(piece) <= limit for piece in ids)
    assert [len(piece) for piece in ids] == pieces.lengths.tolist()
    assert np.array_equal(np.concatenate([*ids, tokens.ids[:0]]), tokens.ids)


@every_cut
@given(document=DOCUMENTS, limit=LIMITS)
@random_documents
def test_spans_give_back_the_text_without_white_space_around_it(tokenizer, cut, document, limit):
    pieces = cut(tokenize(document, tokenizer), limit)
    for text in texts(pieces):
        assert text == text.strip()


@given(document=DOCUMENTS, limit=LIMITS)
@random_documents
def test_chunks_never_cross_sections(tokenizer, document, limit):
    pieces = chunks(tokenize(document, tokenizer), limit)
    for span, section in zip(pieces, pieces.section.tolist(), strict=True):
        assert document.sections[section].start <= span.start <= span.end <= document.sections[section].end


@given(document=DOCUMENTS, limit=LIMITS)
@random_documents
def test_every_sentence_piece_lies_in_the_sentence_paragraph_and_section_it_names(tokenizer, document, limit):
    pieces = sentences(tokenize(document, tokenizer), limit)
    placed = list(document.indexed_sentences())
    for i, span in enumerate(pieces):
        sentence, paragraph, section = placed[pieces.sentence[i]]
        assert sentence.start <= span.start <= span.end <= sentence.end
        assert (pieces.paragraph[i], pieces.section[i]) == (paragraph, section)


@given(document=DOCUMENTS)
@random_documents
def test_where_nothing_is_too_long_sentence_pieces_are_the_sentences(tokenizer, document):
    pieces = sentences(tokenize(document, tokenizer), 1_000_000)
    assert [(p.start, p.end) for p in pieces] == [(s.start, s.end) for s in document.sentences]


@given(document=DOCUMENTS, limit=st.integers(4, 32))
@random_documents
def test_cut_long_drops_the_tails_of_long_sentences_and_nothing_else(tokenizer, document, limit):
    tokens = tokenize(document, tokenizer)
    pieces = blocks(tokens, limit, cut_long=True)
    kept = np.concatenate([np.arange(a, b) for a, b in zip(pieces.first, pieces.last, strict=True)] or [[]])
    for start, end in pairwise(tokens.sentence_offsets.tolist()):
        mine = kept[(kept >= start) & (kept < end)]
        whole = end - start <= limit
        assert np.array_equal(mine, np.arange(start, end if whole else start + len(mine)))
        assert whole or limit - limit // 4 <= len(mine) <= limit


@given(document=DOCUMENTS, limit=LIMITS)
@random_documents
def test_a_sentence_that_fits_into_a_block_stands_whole_in_one(tokenizer, document, limit):
    tokens = tokenize(document, tokenizer)
    inside = set(block_ranges(tokens, limit)[0].tolist()) - set(tokens.sentence_offsets.tolist())  # cuts in sentences
    for start, end in pairwise(tokens.sentence_offsets.tolist()):
        assert end - start > limit or not inside & set(range(start, end))


@given(document=DOCUMENTS, limit=LIMITS, cut_long=st.booleans())
@random_documents
def test_a_block_ends_only_where_the_next_sentence_does_not_fit(tokenizer, document, limit, cut_long):
    tokens = tokenize(document, tokenizer)
    first, last = block_ranges(tokens, limit, cut_long=cut_long)
    ends = dict(pairwise(tokens.sentence_offsets.tolist()))
    for start, stop in zip(first.tolist(), last.tolist(), strict=True):
        if stop in ends:
            assert ends[stop] - start > limit


@given(document=DOCUMENTS, limit=LIMITS, most=st.integers(1, 6), cut_long=st.booleans())
@random_documents
def test_the_first_blocks_are_those_of_the_whole_document(tokenizer, document, limit, most, cut_long):
    tokens = tokenize(document, tokenizer)
    whole = block_ranges(tokens, limit, cut_long=cut_long)
    for few, all_of_them in zip(block_ranges(tokens, limit, cut_long=cut_long, max_blocks=most), whole, strict=True):
        assert few.tolist() == all_of_them[:most].tolist()


def test_a_shelf_s_tokens_are_filled_into_the_same_blocks(wordpiece, examples, tmp_path):
    documents = list(examples.values())[:4]
    tokens = token_collection(tmp_path / "store", documents, wordpiece)
    for document, kept in zip(documents, tokens, strict=True):
        pieces = blocks(tokenize(document, wordpiece), 30)
        first, last = block_ranges(kept, 30)
        assert first.tolist() == pieces.first.tolist() and last.tolist() == pieces.last.tolist()


def document_of(*sections: str):
    draft = Draft()
    for number, text in enumerate(sections):
        draft.heading(f"Section {number}")
        draft.paragraph(text)
    return draft.document("made")


def texts(pieces: Pieces) -> list[str]:
    return [piece.of(pieces.document.text) for piece in pieces]


def test_greedy_filling_worked_by_hand(wordpiece):
    # tokens, full stops counted: 3, 4, 5, 2
    tokens = tokenize(document_of("Cats sleep. Dogs run fast. Birds sing all day. Yes."), wordpiece)
    assert np.diff(tokens.sentence_offsets).tolist() == [3, 4, 5, 2]
    assert texts(blocks(tokens, 7)) == ["Cats sleep. Dogs run fast.", "Birds sing all day. Yes."]
    assert texts(blocks(tokens, 8)) == ["Cats sleep. Dogs run fast.", "Birds sing all day. Yes."]
    assert texts(blocks(tokens, 6)) == ["Cats sleep.", "Dogs run fast.", "Birds sing all day.", "Yes."]
    assert texts(blocks(tokens, 12)) == ["Cats sleep. Dogs run fast. Birds sing all day.", "Yes."]


def test_a_long_sentence_opens_a_block_and_goes_on_in_the_next(wordpiece):
    tokens = tokenize(document_of("Cats sleep. One two three four five six seven eight nine. Dogs run."), wordpiece)
    assert texts(blocks(tokens, 4)) == [
        "Cats sleep.",
        "One two three four",
        "five six seven eight",
        "nine.",
        "Dogs run.",
    ]


def test_what_a_long_sentence_leaves_of_its_last_block_is_filled(wordpiece):
    tokens = tokenize(document_of("One two three four five six. Dogs run."), wordpiece)
    assert texts(blocks(tokens, 6)) == ["One two three four five", "six. Dogs run."]


def test_cut_long_keeps_the_first_block_of_a_long_sentence(wordpiece):
    tokens = tokenize(document_of("Cats sleep. One two three four five six seven eight nine. Dogs run."), wordpiece)
    assert texts(blocks(tokens, 4, cut_long=True)) == ["Cats sleep.", "One two three four", "Dogs run."]


def test_chunks_fill_up_across_sentences_and_stop_at_a_section(wordpiece):
    tokens = tokenize(document_of("Cats sleep. Dogs run fast. Birds sing.", "Yes."), wordpiece)
    assert texts(chunks(tokens, 5)) == ["Cats sleep. Dogs run", "fast. Birds sing.", "Yes."]


@pytest.mark.parametrize("limit", range(1, 9))
def test_a_word_is_cut_only_where_it_is_longer_than_a_quarter_of_the_limit_reaches_back(wordpiece, limit):
    tokens = tokenize(document_of("antidisestablishmentarianism " * 5), wordpiece)
    pieces = sentences(tokens, limit)
    back = limit // 4
    for stop in pieces.last[:-1].tolist():
        assert tokens.word_starts[stop] or not tokens.word_starts[stop - back : stop + 1].any()


@pytest.mark.parametrize("cut", [chunks, blocks, sentences, partial(blocks, cut_long=True)])
def test_a_document_without_text_has_no_pieces(wordpiece, cut):
    pieces = cut(tokenize(Draft().document("empty"), wordpiece), 8)
    assert len(pieces) == 0 and list(pieces) == []
