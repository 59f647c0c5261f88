"""CoLDE's parts: they cover the document, fall at headings where there are enough, and are cut into chunks."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longmatch.documents import Document, Draft
from longmatch.lab.papers.colde.parts import part_bounds, part_ranges, parts
from longmatch.units import tokenize
from tests.effort import tried
from tests.units.random_documents import DOCUMENTS


def essay(sections):
    draft = Draft()
    for heading, paragraphs in sections:
        if heading:
            draft.heading(heading)
        for paragraph in paragraphs:
            draft.paragraph(paragraph)
    return draft.document("essay")


@given(document=DOCUMENTS, count=st.integers(1, 5), limit=st.integers(1, 40))
@settings(max_examples=tried(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_parts_lose_no_token_and_number_their_chunks(wordpiece, document, count, limit):
    tokens = tokenize(document, wordpiece)
    found = parts(tokens, count, limit)
    ids = [found.chunks.ids(i) for i in range(len(found.chunks))]
    assert np.array_equal(np.concatenate([*ids, tokens.ids[:0]]), tokens.ids)
    assert all(len(chunk) <= limit for chunk in ids)
    assert len(set(found.part.tolist())) == min(count, len(tokens))
    for number in set(found.part.tolist()):
        assert found.place[found.part == number].tolist() == list(range((found.part == number).sum()))


def test_cuts_fall_at_the_heading_nearest_to_the_middle(wordpiece):
    short, long = "One two three.", "One two three four five six seven eight nine ten."
    document = essay([("A", [short]), ("B", [long]), ("C", [long]), ("D", [short])])
    tokens = tokenize(document, wordpiece)
    start, middle, end = part_bounds(tokens, 2)
    assert (start, end) == (0, len(tokens))
    first = tokens.sentence_section[np.searchsorted(tokens.sentence_offsets, middle, side="right") - 1]
    assert document.sections[first].heading == "C"


def test_without_headings_the_cuts_fall_between_paragraphs(wordpiece):
    document = essay([("", ["One two three. Four five six.", "Seven eight. Nine ten.", "Eleven twelve. More words."])])
    tokens = tokenize(document, wordpiece)
    middle = part_bounds(tokens, 3)[1]
    sentence = int(np.searchsorted(tokens.sentence_offsets, middle, side="right") - 1)
    assert tokens.sentence_paragraph[sentence] == 1 and tokens.sentence_offsets[sentence] == middle


@given(document=DOCUMENTS, count=st.integers(1, 5), limit=st.integers(1, 40))
@settings(max_examples=tried(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ranges_are_the_chunks_of_the_parts_and_need_no_text(wordpiece, document, count, limit):
    tokens = tokenize(document, wordpiece)
    found = parts(tokens, count, limit)
    ranges = part_ranges(replace(tokens, document=Document("bare", "", "", ())), count, limit)
    assert len(ranges) == len(found.chunks)
    assert np.array_equal(ranges.first, found.chunks.first) and np.array_equal(ranges.last, found.chunks.last)
    assert np.array_equal(ranges.part, found.part) and np.array_equal(ranges.place, found.place)
