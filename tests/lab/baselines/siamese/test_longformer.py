"""Attention by blocks is attention under a banded mask."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention
from transformers import AutoModel

from longmatch.documents import read_text_string
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.siamese.encoder import SentenceLayout
from longmatch.lab.baselines.siamese.longformer import LongModel, add_special_tokens, local_attention
from longmatch.lab.encoders.checkpoint import open_tokenizer
from tests.lab.baselines.siamese.tiny_baselines import tiny_model, tokens_of

SHORT = "The dog ran home in the rain. Nobody knew why it was there."


def dense(query, key, value, real, window):
    """The slow, obvious way: the whole square, of which most is masked."""
    places = torch.arange(query.shape[2])
    near = (places[:, None] - places).abs() <= window
    near[0] = True
    near[:, 0] = True
    return scaled_dot_product_attention(query, key, value, attn_mask=near & real[:, None, None])


@settings(deadline=None)  # the machine may be busy
@given(lengths=st.lists(st.integers(1, 40), min_size=1, max_size=3), window=st.integers(1, 12))
def test_a_token_attends_to_its_window_and_the_first_and_the_first_to_all(lengths, window):
    torch.manual_seed(0)
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    states = torch.randn(3, len(lengths), 2, max(lengths), 4)
    found = local_attention(*states, real, window)
    assert torch.allclose(
        found[real[:, None].expand(found.shape[:3])],
        dense(*states, real, window)[real[:, None].expand(found.shape[:3])],
        atol=1e-5,
    )
    assert torch.isfinite(found).all()


def test_what_lies_further_away_than_the_window_has_no_part_in_it():
    states = torch.randn(3, 1, 1, 30, 4, requires_grad=True)
    found = local_attention(*states, torch.ones(1, 30, dtype=torch.bool), window=3)
    (reached,) = torch.autograd.grad(found[0, 0, 15].sum(), states)
    used = reached[1:].abs().sum((0, 1, 2, 4)).nonzero().flatten().tolist()
    assert used == [0, *range(12, 19)]


@pytest.mark.parametrize("tokens", [64, 128])
def test_the_work_grows_with_the_blocks_and_not_with_their_square(tokens):
    from torch.utils.flop_counter import FlopCounterMode

    def count(n):
        with (
            FlopCounterMode(display=False) as counter,
            torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
        ):
            local_attention(*torch.randn(3, 1, 1, n, 4), torch.ones(1, n, dtype=torch.bool), window=8)
        return counter.get_total_flops()

    assert count(2 * tokens) == 2 * count(tokens)


@pytest.mark.parametrize("backbone", ["tiny_bert", "tiny_roberta"])
def test_a_text_within_one_window_is_read_as_the_backbone_reads_it(backbone, request):
    folder = request.getfixturevalue(backbone)
    texts = SentenceLayout().lay_out(tokens_of([read_text_string(SHORT, "a")], folder))
    assert texts.tokens + 2 <= 61
    flat, _ = add_special_tokens(texts, *tiny_model("s-long", folder).config.specials)
    with torch.no_grad():
        found = tiny_model("s-long", folder, window=60)(texts).vectors
        states = AutoModel.from_pretrained(folder)(input_ids=flat.ids[None]).last_hidden_state
    assert torch.allclose(found, states[:, 1:-1].mean(1), atol=1e-5)


@pytest.mark.parametrize("backbone", ["tiny_bert", "tiny_roberta"])
def test_positions_begin_again_after_the_backbone_s_last(backbone, request):
    folder = request.getfixturevalue(backbone)
    model = tiny_model("s-long", folder, max_tokens=198)
    own = AutoModel.from_pretrained(folder).embeddings.position_embeddings.weight
    table, first = model.backbone.embeddings.position_embeddings.weight, model.config.first_position
    assert len(table) == first + 200 and len(own) == first + 64
    assert torch.equal(table[: first + 64], own) and torch.equal(table[first + 64 : first + 128], own[first:])


def test_every_document_stands_between_its_start_and_end_tokens(three, tiny_bert):
    texts = SentenceLayout(max_tokens=3).lay_out(tokens_of(three, tiny_bert))
    flat, text = add_special_tokens(texts, 7, 8)
    rows = flat.ids.split(flat.lengths.tolist())
    assert [row.tolist() for row in rows] == [[7, *own.tolist(), 8] for own in texts.ids.split(3)]
    assert torch.equal(flat.ids[text], texts.ids)


def test_the_far_end_of_a_long_document_is_read(tiny_bert):
    same = "The dog ran home in the rain. " * 40
    one, other = (read_text_string(same + end, "a") for end in ("The bank failed.", "Snow fell on hills."))
    model = tiny_model("s-long", tiny_bert)
    texts = SentenceLayout().lay_out(tokens_of([one, other], tiny_bert))
    with torch.no_grad():
        a, b = model(texts).vectors
    assert texts.tokens > 4 * 64 and not torch.allclose(a, b, atol=1e-5)


def test_a_backbone_without_a_table_of_positions_is_refused(tiny_bert, tmp_path):
    from transformers import ModernBertConfig, ModernBertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    ModernBertModel(ModernBertConfig(vocab_size=800, **sizes, **tokens)).save_pretrained(tmp_path)
    with pytest.raises(LongmatchError, match="no position embeddings"):
        LongModel.new(str(tmp_path), open_tokenizer(str(tiny_bert)))
