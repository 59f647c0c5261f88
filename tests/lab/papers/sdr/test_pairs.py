"""Which sentences training sees together: of one paragraph half of the time, else of different documents."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from longmatch.documents import read_text_string
from longmatch.documents.markdown import draft_markdown
from longmatch.encoders.backbone import Backbone
from longmatch.lab.papers.sdr.pairs import MIN_TOKENS, SentencePool
from longmatch.lab.store.tokens import TokenCollection
from longmatch.units import sentences, tokenize
from tests.lab.store.essays import token_collection

TEXTS = (
    "The bank failed at noon. The queue grew all day.\n\nRain fell on the quiet town. No.\n\n"
    "A ledger was found in a drawer. It named the clerk. He had left the town.",
    "Pear trees need water in spring. The soil was dry for a week.\n\nBuds opened late in the year.",
    "No. No. It.",
)


@pytest.fixture(scope="module")
def tokenizer(tiny_bert: Path) -> Tokenizer:
    return Backbone.load(str(tiny_bert)).tokenizer


@pytest.fixture(scope="module")
def tokens(tokenizer, tmp_path_factory) -> TokenCollection:
    documents = [read_text_string(text, str(i)) for i, text in enumerate(TEXTS)]
    return token_collection(tmp_path_factory.mktemp("stores"), documents, tokenizer)


@pytest.fixture(scope="module")
def pool(tokens) -> SentencePool:
    return SentencePool.of(tokens, np.arange(3), limit=60)


def paragraph(pool: SentencePool, sentence: int) -> int:
    return int(np.searchsorted(pool.unit_offsets, sentence, side="right"))


def test_a_pool_holds_the_sentences_of_its_documents_but_the_shortest(pool, tokenizer):
    wanted = []
    for number in (0, 1):
        pieces = sentences(tokenize(read_text_string(TEXTS[number], "x"), tokenizer), 60)
        wanted += [pieces.ids(i).tolist() for i in range(len(pieces)) if pieces.lengths[i] >= MIN_TOKENS]
    assert [pool.ids(i).tolist() for i in range(len(pool))] == wanted
    assert pool.document.tolist() == [0] * 6 + [1] * 3  # "No." and all of the third document are too short
    assert np.diff(pool.unit_offsets).tolist() == [2, 1, 3, 2, 1]
    assert np.diff(pool.document_offsets).tolist() == [6, 3]


def test_anchors_are_the_sentences_with_company_in_their_paragraph(pool):
    assert pool.anchors.tolist() == [0, 1, 3, 4, 5, 6, 7]


@given(st.integers(0, 2**32))
def test_a_pair_is_of_one_paragraph_or_of_different_documents_and_never_a_sentence_with_itself(pool, seed):
    drawn = pool.draw(pool.anchors, np.random.default_rng(seed))
    for p, q, alike in zip(drawn.p.tolist(), drawn.q.tolist(), drawn.intra.tolist(), strict=True):
        assert p != q
        assert (paragraph(pool, p) == paragraph(pool, q)) == alike
        assert (pool.document[p] == pool.document[q]) == alike


def test_half_of_the_pairs_are_of_one_paragraph_and_every_partner_is_as_likely(pool):
    drawn = pool.draw(np.full(20_000, 3), np.random.default_rng(0))
    assert drawn.intra.mean() == pytest.approx(0.5, abs=0.02)
    for alike, partners in ((True, {4, 5}), (False, {6, 7, 8})):
        values, counts = np.unique(drawn.q[drawn.intra == alike], return_counts=True)
        assert set(values.tolist()) == partners
        assert counts / counts.sum() == pytest.approx(1 / len(partners), abs=0.02)


def test_a_sentence_longer_than_the_model_reads_is_cut_as_for_scoring(tokens, tokenizer):
    pool = SentencePool.of(tokens, np.arange(1), limit=5)
    pieces = sentences(tokenize(read_text_string(TEXTS[0], "x"), tokenizer), 5)
    assert [pool.ids(i).tolist() for i in range(len(pool))] == [
        pieces.ids(i).tolist() for i in range(len(pieces)) if pieces.lengths[i] >= MIN_TOKENS
    ]


def test_of_a_document_only_so_many_tokens_are_drawn_from_if_asked(tokens):
    whole, part = (SentencePool.of(tokens, np.arange(2), 60, limit) for limit in (None, 20))
    assert 0 < len(part) < len(whole)
    assert part.last.max() <= 20


@pytest.mark.parametrize(
    ("documents", "teaches"), [([], False), ([0], False), ([2], False), ([0, 2], False), ([0, 1], True)]
)
def test_pairs_need_two_documents_and_a_paragraph_of_two_sentences(tokens, documents, teaches):
    assert SentencePool.of(tokens, np.array(documents, dtype=np.int64), 60).has_pairs == teaches


def test_a_section_is_a_unit_of_all_its_paragraphs(tokenizer, tmp_path):
    text = "# First\n\nThe bank failed at noon.\n\nThe queue grew all day.\n\n# Second\n\nRain fell on the quiet town."
    documents = [draft_markdown(text).document(name, "") for name in "ab"]
    tokens = token_collection(tmp_path, documents, tokenizer)
    pools = [SentencePool.of(tokens, np.arange(2), limit=60, unit=unit) for unit in ("paragraph", "section")]
    assert [np.diff(pool.unit_offsets).tolist() for pool in pools] == [[1, 1, 1] * 2, [2, 1] * 2]
    assert pools[1].anchors.tolist() == [0, 1, 3, 4]


def test_all_pairs_may_come_from_one_unit(pool):
    drawn = pool.draw(pool.anchors, np.random.default_rng(0), intra_share=1.0)
    assert drawn.intra.all()
    assert [paragraph(pool, p) for p in drawn.p] == [paragraph(pool, q) for q in drawn.q]
