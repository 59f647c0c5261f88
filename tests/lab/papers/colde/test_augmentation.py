"""Sections and chunks: they cover the document, begin at headings, and are encoded alike however they are batched."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence

from longmatch.documents import Document, Draft
from longmatch.lab.papers.colde.encoder import ChunkLayout, ColdeModel, chunk_ranges, section_bounds
from longmatch.units import tokenize
from tests.effort import tried
from tests.lab.papers.colde.tiny_colde import tiny_colde, tiny_matcher
from tests.lab.store.essays import token_collection
from tests.units.random_documents import DOCUMENTS

FIRST, LAST = 901, 902  # special tokens that no text has


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
def test_chunks_lose_no_token_and_are_numbered_within_their_section(wordpiece, document, count, limit):
    tokens = tokenize(document, wordpiece)
    found = chunk_ranges(tokens, count, limit)
    assert np.array_equal(np.append(found.first, len(tokens)), np.insert(found.last, 0, 0))  # no gap, no overlap
    assert all(last - first <= limit for first, last in zip(found.first, found.last, strict=True))
    assert len(set(found.section.tolist())) == min(count, len(tokens))
    for number in set(found.section.tolist()):
        chosen = found.section == number
        assert found.position[chosen].tolist() == list(range(chosen.sum()))


def test_cuts_fall_at_the_heading_nearest_to_the_middle(wordpiece):
    short, long = "One two three.", "One two three four five six seven eight nine ten."
    document = essay([("A", [short]), ("B", [long]), ("C", [long]), ("D", [short])])
    tokens = tokenize(document, wordpiece)
    start, middle, end = section_bounds(tokens, 2)
    assert (start, end) == (0, len(tokens))
    first = tokens.sentence_section[np.searchsorted(tokens.sentence_offsets, middle, side="right") - 1]
    assert document.sections[first].heading == "C"


def test_without_headings_the_cuts_fall_between_paragraphs(wordpiece):
    document = essay([("", ["One two three. Four five six.", "Seven eight. Nine ten.", "Eleven twelve. More words."])])
    tokens = tokenize(document, wordpiece)
    middle = section_bounds(tokens, 3)[1]
    sentence = int(np.searchsorted(tokens.sentence_offsets, middle, side="right") - 1)
    assert tokens.sentence_paragraph[sentence] == 1 and tokens.sentence_offsets[sentence] == middle


@given(document=DOCUMENTS, count=st.integers(1, 5), limit=st.integers(1, 40))
@settings(max_examples=tried(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chunks_need_no_text(wordpiece, document, count, limit):
    tokens = tokenize(document, wordpiece)
    found = chunk_ranges(tokens, count, limit)
    bare = chunk_ranges(replace(tokens, document=Document("bare", "", "", ())), count, limit)
    assert len(bare) == len(found)
    for name in ("first", "last", "section", "position"):
        assert np.array_equal(getattr(bare, name), getattr(found, name))


@pytest.fixture(scope="module")
def documents(tiny_bert, examples):
    tokenizer = tiny_matcher(tiny_bert).tokenizer.backend_tokenizer
    names = ("coming-back-slowly.md", "parish-council-minutes-march.txt", "the-stream-that-turned.md")
    return [tokenize(examples[name], tokenizer) for name in names]


@pytest.fixture(scope="module")
def batch(documents):
    return ChunkLayout(2, 46, (FIRST, LAST)).lay_out(documents)


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
        section, place = batch.section[mine].tolist(), batch.position[mine].tolist()
        counts = [section.count(0), section.count(1)]
        assert section == [0] * counts[0] + [1] * counts[1]
        assert place == [*range(counts[0]), *range(counts[1])]


@given(budget=st.integers(1, 6_000))
def test_groups_hold_whole_documents_within_the_budget(batch, budget):
    groups = list(batch.groups(budget))
    assert torch.equal(torch.cat([group.text.ids for group in groups]), batch.text.ids)
    assert torch.equal(torch.cat([group.position for group in groups]), batch.position)
    assert sorted(n for group in groups for n in group.document.unique().tolist()) == [0, 1, 2]
    for group in groups:
        assert group.tokens <= budget or len(group.document.unique()) == 1


def test_as_many_documents_go_into_a_group_as_fit(batch):
    sizes = [int(batch.text.lengths[batch.document == n].sum()) for n in range(3)]
    assert [group.tokens for group in batch.groups(sizes[0] + sizes[1])] == [sizes[0] + sizes[1], sizes[2]]


def test_chunks_read_by_length_have_the_vectors_of_chunks_read_one_by_one(tiny_bert, documents):
    model = tiny_colde(tiny_bert)
    batch = model.layout((2, 3)).lay_out(documents)
    with torch.no_grad():
        fast = model.encode_batch_chunks(batch)
        slow = [
            model.encode_chunks(
                chunk[None], torch.ones(1, len(chunk)), batch.section[i : i + 1], batch.position[i : i + 1]
            )
            for i, chunk in enumerate(chunks_of(batch))
        ]
    assert torch.allclose(fast, torch.cat(slow), atol=1e-5)


def test_reading_gives_what_the_model_gives_for_one_padded_block(tiny_bert, documents):
    model = tiny_colde(tiny_bert)
    batch = model.layout((2, 3)).lay_out(documents)
    ids = pad_sequence(chunks_of(batch), batch_first=True)
    mask = pad_sequence([torch.ones_like(chunk) for chunk in chunks_of(batch)], batch_first=True)
    with torch.no_grad():
        fast = model.encode_batch(batch)
        plain = model(ids, mask, batch.section, batch.position, batch.document)
    for level in ("documents", "sections", "chunks", "attended", "attention"):
        assert torch.allclose(fast[level], plain[level], atol=1e-5)


def test_stored_tokens_are_laid_out_as_the_documents_themselves(tiny_bert, documents, batch, tmp_path):
    tokenizer = tiny_matcher(tiny_bert).tokenizer.backend_tokenizer
    tokens = token_collection(tmp_path / "store", [tokens.document for tokens in documents], tokenizer)
    for limit in (None, 100):
        plan = ChunkLayout(2, 46, (FIRST, LAST), limit)
        kept, fresh = plan.lay_out(list(tokens)), plan.lay_out(documents)
        assert torch.equal(kept.text.ids, fresh.text.ids) and torch.equal(kept.text.lengths, fresh.text.lengths)
        for name in ("section", "position", "document"):
            assert torch.equal(getattr(kept, name), getattr(fresh, name))


def test_a_limit_on_a_document_is_split_over_its_sections(documents):
    cut = ChunkLayout(2, 46, (FIRST, LAST), max_tokens=200).lay_out(documents)
    for number in range(3):
        mine = cut.document == number
        assert int((cut.text.lengths[mine] - 2).sum()) == 200
        assert set(cut.section[mine].tolist()) == {0, 1}


def test_a_chunk_is_no_longer_than_the_backbone_reads(tiny_bert, tiny_roberta):
    for folder in (tiny_bert, tiny_roberta):  # both read 64 tokens; RoBERTa's positions begin at 2
        model = ColdeModel.from_backbone(str(folder), recurrent_width=16, projection_width=8).eval()
        assert model.layout((1, 2)).limit == 62
        longest = torch.full((1, 64), 7)
        with torch.no_grad():
            model.encode_chunks(longest, torch.ones_like(longest), torch.tensor([0]), torch.tensor([0]))


def test_without_augmentation_or_contrast_a_document_is_one_section(tiny_bert, documents):
    for ablation in ({"augmented": False}, {"contrastive": False}):
        model = tiny_colde(tiny_bert, **ablation)
        assert not hasattr(model, "section_embedding")
        assert not model.layout((2, 3)).lay_out(documents).section.any()


def test_chunks_read_without_padding_have_the_vectors_and_gradients_of_padded_ones(tiny_bert, documents, monkeypatch):
    model = tiny_colde(tiny_bert)
    batch = model.layout((2, 3)).lay_out(documents)
    weights = [model.chunk_embedding.weight, model.backbone.encoder.layer[0].output.dense.weight]
    found = []
    for packed in ("0", "1"):
        monkeypatch.setenv("LONGMATCH_PACKED", packed)
        sections = model.encode_batch(batch).sections
        found.append((sections.detach(), *torch.autograd.grad(sections.sum(), weights)))
    for padded, ours in zip(*found, strict=True):
        assert (ours - padded).abs().max() < 1e-5 * max(1, float(padded.abs().max()))
