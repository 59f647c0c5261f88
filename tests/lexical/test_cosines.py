"""What the sentences of two documents share."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lexical.cosines import shared_weight
from longmatch.lexical.terms import Stream
from longmatch.ragged import offsets_of

SENTENCES = st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=5)


def stream(sentences: list[list[int]]) -> Stream:
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    return Stream(np.array([term for sentence in sentences for term in sentence], dtype=np.uint64), offsets_of(lengths))


@given(SENTENCES, SENTENCES, st.sets(st.integers(0, 9)))
def test_the_weight_that_sentences_share_is_that_of_their_distinct_common_terms(mine, theirs, weighed):
    i, j = (grid.ravel() for grid in np.indices((len(mine), len(theirs))))
    terms = np.array(sorted(weighed), dtype=np.uint64)
    found = shared_weight(stream(mine), stream(theirs), i, j, terms, terms + 0.5)
    slow = [sum(term + 0.5 for term in {*mine[x]} & {*theirs[y]} & weighed) for x, y in zip(i, j, strict=True)]
    assert found.tolist() == slow
