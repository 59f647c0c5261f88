"""What a network reads of two documents: their openings and closest sentences, within a limit."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import SentenceVectorLayer
from longmatch.lab.reranking.texts import OPENING, CandidateTexts, read_side
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenLayer
from longmatch.units import tokenize
from tests.lab.reranking.made_lists import made_lists
from tests.library.tiny import made_up_text, tiny_matcher


@st.composite
def sides(draw):
    """Lengths of sentences, some of them the closest, tokens of the opening, and the limit."""
    lengths = draw(st.lists(st.integers(1, 9), max_size=12))
    order = draw(st.permutations(range(len(lengths))))
    named = order[: draw(st.integers(0, min(8, len(order))))]
    opening = draw(st.integers(0, 20))
    return lengths, named, opening, opening + draw(st.integers(0, 30))


@given(sides())
def test_a_side_is_the_opening_and_then_in_order_the_best_sentences_that_fit(drawn) -> None:
    lengths, named, opening, limit = drawn
    ends = np.cumsum(lengths, dtype=np.int64)
    ids = np.arange(sum(lengths))
    side = read_side(ids, ends, np.array(named + [-1] * (8 - len(named))), opening, limit).tolist()
    assert len(side) <= limit
    assert side == sorted(set(side))  # in the document's order, and nothing twice
    assert side[:opening] == ids[:opening].tolist()
    sentences = {n: list(range(ends[n] - lengths[n], ends[n])) for n in named if ends[n] - lengths[n] >= opening}
    read = {n for n, tokens in sentences.items() if set(tokens) <= set(side)}
    assert side[opening:] == [token for n in sorted(read) for token in sentences[n]]
    room = limit - min(opening, len(ids))
    for number, tokens in sentences.items():  # the best first
        assert (len(tokens) <= room) == (number in read)
        room -= len(tokens) if number in read else 0


def test_a_row_is_the_opening_of_either_document_and_the_sentences_that_the_default_numbers(
    make_data: Callable[..., Path], tiny_bert: Path, tmp_path: Path
) -> None:
    corpus = Corpus(DataFolder(make_data({f"d{n}": made_up_text(n, sentences=20) for n in range(3)})))
    backbone = tiny_matcher(tiny_bert).backbone
    layers = [TokenLayer(backbone.tokenizer), SentenceVectorLayer(backbone)]
    tokens, sentences = LayerStore.of(tmp_path / "layers", corpus.source).build(layers)
    lists = made_lists({0: [2, 1], 1: [0]}, {0: {}, 1: {}})
    closest = lists.closest.copy()
    closest[1, 0, :3], closest[1, 1, :1], closest[2, 0, :1] = (17, 0, 12), 13, 15  # 0 is in the opening
    rows = CandidateTexts(tokens, sentences).rows(replace(lists, closest=closest), [2, 1])
    documents = list(corpus.folder.documents())
    for row, expected in zip(rows, [((1, [15]), (0, [])), ((0, [12, 17]), (1, [13]))], strict=True):
        for ids, (number, numbers) in zip(row, expected, strict=True):
            every = tokenize(documents[number], backbone.tokenizer)
            spans = [list(documents[number].sentences)[n] for n in numbers]
            parts = [every.ids[(every.starts >= span.start) & (every.starts < span.end)] for span in spans]
            assert ids.tolist() == np.concatenate([every.ids[:OPENING], *parts]).tolist()
