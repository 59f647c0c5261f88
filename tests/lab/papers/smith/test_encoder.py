"""SMITH's two levels, against the paper's formulas written out."""

import pytest
import torch
from torch.nn.functional import normalize

from longmatch.errors import LongmatchError
from longmatch.lab.papers.smith.batch import BlockLayout
from longmatch.lab.papers.smith.config import SIZES, SmithConfig, sentence_level
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.papers.smith.pretraining_model import SmithForPretraining
from tests.lab.papers.smith.tiny_smith import tiny_smith

COUNTS = torch.tensor([4, 1, 3])
POSITION = torch.tensor([0, 1, 2, 3, 0, 0, 1, 2])


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
        assert model.block_limit == 62  # it reads 64 tokens, not 128; RoBERTa's positions begin at 2
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
    monkeypatch.setattr("longmatch.lab.papers.smith.pretraining_model.MAX_WORDS", 7)
    parts = model.word_loss(hidden, words)
    parts.backward()
    assert parts.item() == pytest.approx(whole.item(), abs=1e-5)
    assert torch.allclose(hidden.grad, expected, atol=1e-6)


def test_the_layout_is_the_config_s():
    model = tiny_smith(cut_long=True, max_blocks=7)
    assert model.layout((2, 3)) == BlockLayout(14, 7, (2, 3), True)
    assert sentence_level(800, 2, 16, 2, 16)["max_position_embeddings"] == 16
