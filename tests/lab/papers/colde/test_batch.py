"""Documents laid out as chunks, and read in batches by length."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence

from longmatch.lab.papers.colde.batch import Layout
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.colde.reading import layout, read, read_chunks
from longmatch.units import tokenize
from tests.lab.papers.colde.tiny_colde import tiny_colde, tiny_matcher
from tests.lab.store.essays import token_collection

FIRST, LAST = 901, 902  # special tokens that no text has


@pytest.fixture(scope="module")
def documents(tiny_bert, examples):
    tokenizer = tiny_matcher(tiny_bert).tokenizer.backend_tokenizer
    names = ("coming-back-slowly.md", "parish-council-minutes-march.txt", "the-stream-that-turned.md")
    return [tokenize(examples[name], tokenizer) for name in names]


@pytest.fixture(scope="module")
def batch(documents):
    return Layout(2, 46, (FIRST, LAST)).lay_out(documents)


def chunks_of(batch):
    return batch.text.ids.split(batch.text.lengths.tolist())


def test_a_batch_holds_every_token_once_in_order_between_special_tokens(documents, batch):
    found = chunks_of(batch)
    assert all(chunk[0] == FIRST and chunk[-1] == LAST for chunk in found)
    text = np.concatenate([tokens.ids for tokens in documents])
    assert torch.cat([chunk[1:-1] for chunk in found]).tolist() == text.tolist()
    assert batch.tokens == len(text) + 2 * len(batch)


def test_no_chunk_is_longer_than_its_limit_with_the_special_tokens(batch):
    assert batch.text.lengths.max() <= 48


def test_chunks_are_numbered_by_document_section_and_place(documents, batch):
    for number in range(len(documents)):
        mine = batch.document == number
        section, place = batch.section[mine].tolist(), batch.place[mine].tolist()
        counts = [section.count(0), section.count(1)]
        assert section == [0] * counts[0] + [1] * counts[1]
        assert place == [*range(counts[0]), *range(counts[1])]


@given(budget=st.integers(1, 6_000))
def test_groups_hold_whole_documents_within_the_budget(batch, budget):
    groups = list(batch.groups(budget))
    assert torch.equal(torch.cat([group.text.ids for group in groups]), batch.text.ids)
    assert torch.equal(torch.cat([group.place for group in groups]), batch.place)
    assert sorted(n for group in groups for n in group.document.unique().tolist()) == [0, 1, 2]
    for group in groups:
        assert group.tokens <= budget or len(group.document.unique()) == 1


def test_as_many_documents_go_into_a_group_as_fit(batch):
    sizes = [int(batch.text.lengths[batch.document == n].sum()) for n in range(3)]
    assert [group.tokens for group in batch.groups(sizes[0] + sizes[1])] == [sizes[0] + sizes[1], sizes[2]]


def test_chunks_read_by_length_have_the_vectors_of_chunks_read_one_by_one(tiny_bert, documents):
    model = tiny_colde(tiny_bert)
    batch = layout(model, (2, 3)).lay_out(documents)
    with torch.no_grad():
        fast = read_chunks(model, batch)
        slow = [
            model.encode_chunks(
                chunk[None], torch.ones(1, len(chunk)), batch.section[i : i + 1], batch.place[i : i + 1]
            )
            for i, chunk in enumerate(chunks_of(batch))
        ]
    assert torch.allclose(fast, torch.cat(slow), atol=1e-5)


def test_reading_gives_what_the_model_gives_for_one_padded_block(tiny_bert, documents):
    model = tiny_colde(tiny_bert)
    batch = layout(model, (2, 3)).lay_out(documents)
    ids = pad_sequence(chunks_of(batch), batch_first=True)
    mask = pad_sequence([torch.ones_like(chunk) for chunk in chunks_of(batch)], batch_first=True)
    with torch.no_grad():
        fast = read(model, batch)
        plain = model(ids, mask, batch.section, batch.place, batch.document)
    for level in ("documents", "sections", "chunks", "attended", "attention"):
        assert torch.allclose(fast[level], plain[level], atol=1e-5)


def test_a_shelf_of_tokens_is_laid_out_as_the_documents_themselves(tiny_bert, documents, batch, tmp_path):
    tokenizer = tiny_matcher(tiny_bert).tokenizer.backend_tokenizer
    shelf = token_collection(tmp_path / "shelf", [tokens.document for tokens in documents], tokenizer)
    for limit in (None, 100):
        plan = Layout(2, 46, (FIRST, LAST), limit)
        kept, fresh = plan.lay_out(list(shelf)), plan.lay_out(documents)
        assert torch.equal(kept.text.ids, fresh.text.ids) and torch.equal(kept.text.lengths, fresh.text.lengths)
        for name in ("section", "place", "document"):
            assert torch.equal(getattr(kept, name), getattr(fresh, name))


def test_a_limit_on_a_document_is_split_over_its_sections(documents):
    cut = Layout(2, 46, (FIRST, LAST), max_tokens=200).lay_out(documents)
    for number in range(3):
        mine = cut.document == number
        assert int((cut.text.lengths[mine] - 2).sum()) == 200
        assert set(cut.section[mine].tolist()) == {0, 1}


def test_a_chunk_is_no_longer_than_the_backbone_reads(tiny_bert, tiny_roberta):
    for folder in (tiny_bert, tiny_roberta):  # both read 64 tokens; RoBERTa's positions begin at 2
        model = ColdeModel.from_backbone(str(folder), recurrent_width=16, projection_width=8).eval()
        assert model.chunk_limit == 62
        longest = torch.full((1, 64), 7)
        with torch.no_grad():
            model.encode_chunks(longest, torch.ones_like(longest), torch.tensor([0]), torch.tensor([0]))


def test_without_augmentation_or_contrast_a_document_is_one_section(tiny_bert, documents):
    for settings in ({"augmented": False}, {"contrastive": False}):
        model = tiny_colde(tiny_bert, **settings)
        assert not hasattr(model, "section_embedding")
        assert not layout(model, (2, 3)).lay_out(documents).section.any()


def test_chunks_read_without_padding_have_the_vectors_and_gradients_of_padded_ones(tiny_bert, documents, monkeypatch):
    model = tiny_colde(tiny_bert)
    batch = layout(model, (2, 3)).lay_out(documents)
    weights = [model.chunk_embedding.weight, model.backbone.encoder.layer[0].output.dense.weight]
    found = []
    for packed in ("0", "1"):
        monkeypatch.setenv("LONGMATCH_PACKED", packed)
        sections = read(model, batch).sections
        found.append((sections.detach(), *torch.autograd.grad(sections.sum(), weights)))
    for padded, ours in zip(*found, strict=True):
        assert (ours - padded).abs().max() < 1e-5 * max(1, float(padded.abs().max()))
