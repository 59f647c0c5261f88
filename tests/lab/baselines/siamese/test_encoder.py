"""Documents laid out flat: sentences, paragraphs and documents as runs."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.lab.baselines.siamese.encoder import SentenceLayout
from longmatch.lab.encoders.checkpoint import open_tokenizer
from tests.lab.baselines.siamese.tiny_baselines import tokens_of
from tests.lab.store.essays import token_collection


@pytest.fixture(scope="module")
def documents(three, tiny_bert):
    return tokens_of(three, tiny_bert)


def test_all_tokens_are_there_in_the_document_s_own_sentences_and_paragraphs(documents):
    texts = SentenceLayout().lay_out(documents)
    assert texts.ids.tolist() == [i for tokens in documents for i in tokens.ids.tolist()]
    assert texts.sentences.tolist() == [n for t in documents for n in np.diff(t.sentence_offsets).tolist()]
    assert texts.lengths.tolist() == [len(tokens) for tokens in documents]
    counts = [np.unique(t.sentence_paragraph, return_counts=True)[1].tolist() for t in documents]
    assert texts.paragraphs.tolist() == [n for own in counts for n in own]
    assert texts.documents.tolist() == [
        [len(t.sentence_paragraph), len(own)] for t, own in zip(documents, counts, strict=True)
    ]


@settings(deadline=None)  # the machine may be busy
@given(limit=st.integers(4, 40))
def test_a_sentence_over_the_limit_goes_on_as_another_one_of_its_paragraph(documents, limit):
    texts, whole = (
        SentenceLayout(sentence_tokens=limit).lay_out(documents),
        SentenceLayout(sentence_tokens=10**6).lay_out(documents),
    )
    assert texts.sentences.max() <= limit and (texts.sentences > 0).all()
    ends, wanted = (set(t.sentences.cumsum(0).tolist()) for t in (texts, whole))
    assert wanted <= ends
    assert torch.equal(texts.documents[:, 1], whole.documents[:, 1])
    assert torch.equal(texts.ids, whole.ids) and texts.paragraphs.sum() == len(texts.sentences)


def test_a_limit_leaves_the_first_tokens(documents):
    texts = SentenceLayout(max_tokens=50).lay_out(documents)
    assert texts.lengths.tolist() == [50, 50, 50]
    assert texts.ids[50:100].tolist() == documents[1].ids[:50].tolist()


def test_groups_are_whole_documents_in_order(documents):
    texts = SentenceLayout().lay_out(documents)
    groups = list(texts.groups(int(texts.lengths[:2].sum())))
    assert [len(group) for group in groups] == [2, 1]
    for group, own in zip(groups, (documents[:2], documents[2:]), strict=True):
        wanted = SentenceLayout().lay_out(own)
        for name in ("ids", "word_starts", "sentences", "paragraphs", "documents"):
            assert torch.equal(getattr(group, name), getattr(wanted, name))


def test_stored_tokens_are_laid_out_as_fresh_ones(documents, three, tiny_bert, tmp_path):
    tokens = token_collection(tmp_path / "store", three, open_tokenizer(str(tiny_bert)).backend_tokenizer)
    for plan in (SentenceLayout(), SentenceLayout(max_tokens=100, sentence_tokens=9)):
        kept, fresh = plan.lay_out(list(tokens)), plan.lay_out(documents)
        for name in ("ids", "word_starts", "sentences", "paragraphs", "documents"):
            assert torch.equal(getattr(kept, name), getattr(fresh, name))
