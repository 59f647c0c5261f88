"""Documents laid out as blocks, read in batches by length, and partly hidden."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import normalize

from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.encoder import SIZES, BlockLayout, SmithConfig, SmithModel, bert_config
from longmatch.lab.papers.smith.pretraining import BlockMasking, SmithForPretraining
from longmatch.lab.training.masked_words import IGNORED
from longmatch.lab.training.recipe import step_rng
from longmatch.units import block_ranges, tokenize
from tests.lab.papers.smith.tiny_smith import tiny_matcher, tiny_smith
from tests.lab.store.essays import token_collection

FIRST, LAST = 901, 902  # special tokens that no text has
NAMES = ("coming-back-slowly.md", "parish-council-minutes-march.txt", "the-stream-that-turned.md")
COUNTS = torch.tensor([4, 1, 3])
POSITION = torch.tensor([0, 1, 2, 3, 0, 0, 1, 2])


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
        a, b = plan.ranges(tokens, random)
        start = first.tolist().index(a[0])
        starts.add(start)
        assert a.tolist() == first[start : start + plan.max_blocks].tolist() and len(a) == len(b) == plan.max_blocks
        assert b.tolist() == last[start : start + plan.max_blocks].tolist()
    assert starts == {0, 1, 2}
    whole = BlockLayout(30, 10_000, (FIRST, LAST)).ranges(tokens, random)
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
    assert len(padded.words) == len(batch.word_labels)
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
    assert 0.1 < len(found.word_labels) / batch.tokens < 0.2
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


@pytest.fixture
def blocks():
    return normalize(torch.randn(8, 16, generator=torch.Generator().manual_seed(1)), dim=1)


def test_the_paper_s_sizes_are_the_default():
    assert SIZES["base"] == (6, 3, 256, 4)
    config = SmithConfig()
    assert (config.block_tokens, config.max_blocks, config.document_layers, config.dropout) == (32, 64, 3, 0.1)
    assert config.combine == "normal" and not config.cut_long


def test_a_block_s_vector_is_the_start_token_s_through_a_dense_layer_of_length_one():
    model, hidden = tiny_smith(), torch.randn(3, 5, 16)
    found = model.block_vectors(hidden, torch.ones(3, 5))
    assert torch.allclose(found, normalize(model.block(hidden[:, 0]), dim=1))
    assert (found < 0).any()  # no ReLU: a cosine may be negative


def test_both_levels_use_fused_attention():
    model = tiny_smith()
    assert {model.sentence_level.config._attn_implementation, model.document_level.config._attn_implementation} == {
        "sdpa"
    }


@torch.no_grad()
def test_the_first_block_speaks_for_the_document_in_the_light_of_the_others(blocks):
    model = tiny_smith()
    found = model.aggregate(blocks, POSITION, COUNTS)
    states = model.document_level(inputs_embeds=blocks[None, :4]).last_hidden_state[0]
    assert torch.allclose(found.context[:4], states, atol=1e-5)
    assert torch.allclose(found.documents[0], normalize(model.combined.dense(states[0]), dim=0), atol=1e-5)
    changed = blocks.clone()
    changed[3] = -changed[3]
    again = model.aggregate(changed, POSITION, COUNTS).documents
    assert not torch.allclose(again[0], found.documents[0], atol=1e-3)
    assert torch.allclose(again[1:], found.documents[1:], atol=1e-6)


@torch.no_grad()
def test_a_block_s_place_counts_padded_or_not(blocks, monkeypatch):
    model = tiny_smith()
    there, elsewhere = (model.aggregate(blocks, position, COUNTS).documents for position in (POSITION, POSITION + 1))
    assert not torch.allclose(there, elsewhere, atol=1e-3)
    monkeypatch.setenv("LONGMATCH_PACKED", "1")
    assert torch.allclose(model.aggregate(blocks, POSITION + 1, COUNTS).documents, elsewhere, atol=1e-5)


@torch.no_grad()
def test_the_four_ways_to_combine_by_hand(blocks):
    def document(way, number, mine):
        model = tiny_smith(combine=way)
        found = model.aggregate(blocks, POSITION, COUNTS)
        first = found.context[[0, 4, 5][number]]
        if way == "attention":
            scores = mine @ model.combined.projection.weight.T @ model.combined.question.weight[0]
            summary = (torch.softmax(scores, 0)[:, None] * mine).sum(0)
        else:
            summary = mine.sum(0) if way == "sum-concat" else mine.mean(0)
        expected = normalize(model.combined.dense(torch.cat([summary, first])), dim=0)
        assert torch.allclose(found.documents[number], expected, atol=1e-5)

    for way in ("sum-concat", "mean-concat", "attention"):
        for number, mine in enumerate(blocks.split(COUNTS.tolist())):
            document(way, number, mine)


def test_a_way_to_combine_that_does_not_exist_is_an_error():
    with pytest.raises(LongmatchError, match="combine is 'product'"):
        tiny_smith(combine="product")


def test_heads_that_do_not_divide_the_width_are_an_error():
    with pytest.raises(LongmatchError, match="5 heads"):
        tiny_smith(document_heads=5)


def test_a_saved_model_opens_as_it_was(blocks, tmp_path):
    model = tiny_smith(combine="attention")
    with torch.no_grad():
        model.scale.fill_(3.5)
    model.save_pretrained(tmp_path)
    opened = SmithModel.from_pretrained(tmp_path).eval()
    assert torch.equal(
        opened.aggregate(blocks, POSITION, COUNTS).documents, model.aggregate(blocks, POSITION, COUNTS).documents
    )
    assert opened.scale.item() == 3.5 and opened.config.combine == "attention"


@torch.no_grad()
def test_a_changed_model_keeps_all_weights_that_fit(blocks):
    model = tiny_smith()
    shorter = model.with_settings(max_blocks=6).eval()
    assert torch.equal(
        shorter.aggregate(blocks, POSITION, COUNTS).documents, model.aggregate(blocks, POSITION, COUNTS).documents
    )
    assert shorter.config.max_blocks == 6
    longer = model.with_settings(max_blocks=300).eval()
    assert torch.equal(
        longer.aggregate(blocks, POSITION, COUNTS).documents, model.aggregate(blocks, POSITION, COUNTS).documents
    )
    other = model.with_settings(combine="mean-concat").eval()
    assert torch.equal(
        other.aggregate(blocks, POSITION, COUNTS).context, model.aggregate(blocks, POSITION, COUNTS).context
    )


def test_with_a_backbone_the_sentence_level_is_the_checkpoint(tiny_bert, tiny_roberta):
    from transformers import AutoModel

    for folder in (tiny_bert, tiny_roberta):
        model = SmithModel.from_backbone(str(folder), document_heads=2, block_tokens=128, max_blocks=4).eval()
        plain = AutoModel.from_pretrained(folder).eval()
        ids = torch.randint(5, 600, (2, 9))
        with torch.no_grad():
            found = model.encode_tokens(ids, torch.ones_like(ids))
            assert torch.allclose(found, plain(ids, torch.ones_like(ids)).last_hidden_state, atol=1e-6)
        assert model.layout((1, 2)).limit == 62  # it reads 64 tokens, not 128; RoBERTa's positions begin at 2
        longest = torch.full((1, 64), 7)
        model.encode_tokens(longest, torch.ones_like(longest))


def test_the_chance_rises_with_the_cosine_and_covers_both_sides():
    low, high = tiny_smith().logits(torch.tensor([0.0, 1.0])).sigmoid().tolist()
    assert low < 0.01 and high > 0.99


@torch.no_grad()
def test_hidden_blocks_are_not_seen_by_the_document_level(blocks):
    model = SmithForPretraining(tiny_smith()).eval()
    masked = torch.tensor([1, 3, 5])
    found = model.predict_blocks(blocks, masked, POSITION, COUNTS)
    assert found.shape == (3, 16)
    elsewhere = blocks.clone()
    elsewhere[masked] = -elsewhere[masked]
    assert torch.equal(model.predict_blocks(elsewhere, masked, POSITION, COUNTS), found)
    shown = blocks.clone()
    shown[masked] = model.hidden_block
    assert torch.allclose(found, model.smith.contextualise(shown, POSITION, COUNTS)[masked], atol=1e-6)


def test_very_many_hidden_words_cost_the_same_some_at_a_time(monkeypatch):
    model = SmithForPretraining(tiny_smith())
    hidden, words = torch.randn(50, 16, requires_grad=True), torch.randint(800, (50,))
    whole = model.word_loss(hidden, words)
    whole.backward()
    expected, hidden.grad = hidden.grad, None
    monkeypatch.setattr("longmatch.lab.papers.smith.pretraining.MAX_WORDS", 7)
    parts = model.word_loss(hidden, words)
    parts.backward()
    assert parts.item() == pytest.approx(whole.item(), abs=1e-5)
    assert torch.allclose(hidden.grad, expected, atol=1e-6)


def test_the_layout_is_the_config_s():
    model = tiny_smith(cut_long=True, max_blocks=7)
    assert model.layout((2, 3)) == BlockLayout(14, 7, (2, 3), True)
    assert bert_config(800, 2, 16, 2, 16).max_position_embeddings == 16
