"""Documents laid out as blocks, read in batches by length, and partly hidden."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.lab.papers.smith.batch import BlockLayout
from longmatch.lab.papers.smith.pretraining_model import BlockMasking, SmithForPretraining
from longmatch.lab.training.masked_words import IGNORED
from longmatch.lab.training.samplers import step_rng
from longmatch.units import block_ranges, tokenize
from tests.lab.papers.smith.tiny_smith import tiny_matcher, tiny_smith
from tests.lab.store.essays import token_collection

FIRST, LAST = 901, 902  # special tokens that no text has
NAMES = ("coming-back-slowly.md", "parish-council-minutes-march.txt", "the-stream-that-turned.md")


@pytest.fixture(scope="module")
def documents(tiny_bert, examples):
    tokenizer = tiny_matcher(tiny_bert).tokenizer.backend_tokenizer
    return [tokenize(examples[name], tokenizer) for name in NAMES]


@pytest.fixture(scope="module")
def batch(documents):
    return BlockLayout(30, 10_000, (FIRST, LAST)).lay_out(documents)


def test_a_batch_holds_every_token_once_in_order_between_special_tokens(documents, batch):
    found = batch.text.ids.split(batch.text.lengths.tolist())
    assert all(block[0] == FIRST and block[-1] == LAST and len(block) <= 32 for block in found)
    assert torch.cat([block[1:-1] for block in found]).tolist() == [n for tokens in documents for n in tokens.ids]


def test_blocks_are_numbered_within_their_document(documents, batch):
    counts = [len(block_ranges(tokens, 30)[0]) for tokens in documents]
    assert batch.counts.tolist() == counts
    assert batch.position.tolist() == [n for count in counts for n in range(count)]


def test_no_more_blocks_are_read_than_there_are_places(documents, batch):
    few = BlockLayout(30, 5, (FIRST, LAST)).lay_out(documents)
    assert few.counts.tolist() == [5, 5, 5]
    assert torch.equal(few.between(1, 2).text.ids, batch.between(1, 2).text.between(0, 5).ids)


def test_blocks_from_anywhere_are_neighbours_and_every_place_is_drawn(documents):
    tokens = documents[0]
    first, last = block_ranges(tokens, 30)
    plan, random = BlockLayout(30, len(first) - 2, (FIRST, LAST)), step_rng(0, 0)
    starts = set()
    for _ in range(60):
        a, b = plan.random_ranges(tokens, random)
        start = first.tolist().index(a[0])
        starts.add(start)
        assert a.tolist() == first[start : start + plan.max_blocks].tolist() and len(a) == len(b) == plan.max_blocks
        assert b.tolist() == last[start : start + plan.max_blocks].tolist()
    assert starts == {0, 1, 2}
    whole = BlockLayout(30, 10_000, (FIRST, LAST)).random_ranges(tokens, random)
    assert whole[0].tolist() == first.tolist()


@given(budget=st.integers(1, 6_000))
@settings(deadline=None)
def test_groups_hold_whole_documents_within_the_budget(batch, budget):
    groups = list(batch.groups(budget))
    assert torch.equal(torch.cat([group.text.ids for group in groups]), batch.text.ids)
    assert torch.cat([group.counts for group in groups]).tolist() == batch.counts.tolist()
    assert all(group.tokens <= budget or len(group) == 1 for group in groups)


def test_stored_tokens_are_laid_out_as_the_documents_themselves(tiny_bert, documents, batch, tmp_path):
    tokenizer = tiny_matcher(tiny_bert).tokenizer.backend_tokenizer
    tokens = token_collection(tmp_path / "store", [tokens.document for tokens in documents], tokenizer)
    kept = BlockLayout(30, 10_000, (FIRST, LAST)).lay_out(list(tokens))
    assert torch.equal(kept.text.ids, batch.text.ids) and torch.equal(kept.counts, batch.counts)


def test_a_document_without_tokens_is_one_empty_block(documents):
    empty = documents[0].__class__(
        documents[0].document, *(getattr(documents[0], name)[:0] for name in ("ids", "starts", "word_starts")),
        np.zeros(1, np.int64), *(documents[0].sentence_ends[:0],) * 3,
    )  # fmt: skip
    found = BlockLayout(30, 5, (FIRST, LAST)).lay_out([empty, documents[0]])
    assert found.counts.tolist() == [1, 5] and found.text.ids[:2].tolist() == [FIRST, LAST]


def test_blocks_read_by_length_have_the_vectors_of_blocks_read_one_by_one(documents):
    model = tiny_smith()
    batch = model.layout((2, 3)).lay_out(documents)
    with torch.no_grad():
        fast = model.encode_batch_blocks(batch)
        slow = [
            model.block_vectors(model.encode_tokens(block[None], ones), ones)
            for block in batch.text.ids.split(batch.text.lengths.tolist())
            for ones in [torch.ones(1, len(block), dtype=torch.long)]
        ]
    assert torch.allclose(fast, torch.cat(slow), atol=1e-5)


def test_blocks_read_without_padding_have_the_vectors_of_padded_ones(documents, monkeypatch):
    model = tiny_smith()
    batch = model.layout((2, 3)).lay_out(documents)
    with torch.no_grad():
        padded = model.encode_batch_blocks(batch)
        monkeypatch.setenv("LONGMATCH_PACKED", "1")
        assert torch.allclose(model.encode_batch_blocks(batch), padded, atol=1e-5)


def test_documents_read_without_padding_have_the_vectors_and_gradients_of_padded_ones(documents, monkeypatch):
    model = tiny_smith()
    batch, found = model.layout((2, 3)).lay_out(documents), []
    for packed in ("0", "1"):
        monkeypatch.setenv("LONGMATCH_PACKED", packed)
        model.zero_grad()
        vectors = model.encode_batch(batch).documents
        (vectors**3).sum().backward()
        weight = model.document_level.encoder.layer[0].attention.self.key.weight
        found.append((vectors.detach(), weight.grad.clone()))
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5) and theirs.abs().max() > 0


def test_hidden_words_and_blocks_are_the_same_without_padding(documents, monkeypatch):
    torch.manual_seed(0)
    model = SmithForPretraining(tiny_smith()).eval()
    batch = mask(model.smith.layout((2, 3)).lay_out(documents))
    with torch.no_grad():
        padded = model.predict(batch)
        monkeypatch.setenv("LONGMATCH_PACKED", "1")
        ours = model.predict(batch)
    assert len(padded.words) == batch.masked_words
    for name in ("words", "original", "predicted"):
        assert torch.allclose(getattr(ours, name), getattr(padded, name), atol=1e-4)


@pytest.mark.parametrize("combine", ["normal", "sum-concat", "mean-concat", "attention"])
def test_documents_read_together_have_the_vectors_of_documents_read_alone(documents, combine):
    model = tiny_smith(combine=combine)
    batch = model.layout((2, 3)).lay_out(documents)
    with torch.no_grad():
        together = model.encode_batch(batch)
        alone = [model.encode_batch(batch.between(n, n + 1)) for n in range(3)]
    assert torch.allclose(together.documents, torch.cat([one.documents for one in alone]), atol=1e-5)
    assert torch.allclose(together.context, torch.cat([one.context for one in alone]), atol=1e-4)
    apart = (together.documents[:, None] - together.documents).abs().amax(2) + torch.eye(3)
    assert apart.min() > 1e-3  # and they differ


def mask(batch, step=0, **settings):
    return BlockMasking(4, 800, **settings).mask(batch, step_rng(1, step))


def test_two_blocks_of_each_document_are_hidden_and_always_one_is_left(batch):
    found = mask(batch)
    assert [int(part.sum()) for part in found.is_masked.split(batch.counts.tolist())] == [2, 2, 2]
    many = mask(batch, blocks=10_000)
    assert [int((~part).sum()) for part in many.is_masked.split(batch.counts.tolist())] == [1, 1, 1]


def test_a_document_of_one_block_has_none_hidden(documents):
    single = BlockLayout(30, 1, (FIRST, LAST)).lay_out(documents)
    assert not mask(single).is_masked.any()


def test_words_are_hidden_but_no_special_token(batch):
    found = mask(batch)
    assert 0.1 < found.masked_words / batch.tokens < 0.2
    special = (batch.text.ids == FIRST) | (batch.text.ids == LAST)
    assert (found.labels[special] == IGNORED).all()
    assert torch.equal(found.blocks.text.ids[special], batch.text.ids[special])
    hidden = found.labels != IGNORED
    assert torch.equal(found.labels[hidden], batch.text.ids[hidden])


def test_masks_are_drawn_anew_each_step_and_the_same_for_the_same_step(batch):
    first, again, other = mask(batch), mask(batch), mask(batch, step=1)
    assert torch.equal(first.labels, again.labels) and torch.equal(first.is_masked, again.is_masked)
    assert not torch.equal(first.labels, other.labels) and not torch.equal(first.is_masked, other.is_masked)


@given(budget=st.integers(1, 6_000))
@settings(deadline=None)
def test_groups_of_a_masked_batch_keep_what_is_hidden(batch, budget):
    whole = mask(batch)
    groups = list(whole.groups(budget))
    assert torch.equal(torch.cat([group.labels for group in groups]), whole.labels)
    assert torch.equal(torch.cat([group.is_masked for group in groups]), whole.is_masked)
    assert torch.equal(torch.cat([group.blocks.text.ids for group in groups]), whole.blocks.text.ids)
