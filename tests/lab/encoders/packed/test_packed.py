"""Reading without padding gives what the Hugging Face model gives for padded sequences, forth and back."""

import numpy as np
import pytest
import torch
from transformers import AutoModel

from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.engine import TorchEngine
from longmatch.lab.encoders.flat import FlatTokens, mean_pool
from longmatch.lab.encoders.packed.bert import (
    PackedEngine,
    _padded,
    forward_packed,
    forward_rows,
    pool_packed,
    uses_packing,
)

LENGTHS = (1, 62, 5, 17, 1, 33, 2, 62)  # of at most 62, with a start and an end token


@pytest.fixture(params=["tiny_bert", "tiny_roberta"])
def model(request):
    return AutoModel.from_pretrained(request.getfixturevalue(request.param)).eval()


def flat_of(lengths=LENGTHS, seed=0) -> FlatTokens:
    draw = np.random.default_rng(seed)
    return FlatTokens.of([draw.integers(5, 500, size=length) for length in lengths], (2, 3))


def padded(flat: FlatTokens, padding: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    rows = flat.ids.split(flat.lengths.tolist())
    ids = torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=padding)
    return ids, torch.arange(ids.shape[1]) < flat.lengths[:, None]


def judge(model, flat: FlatTokens) -> torch.Tensor:
    """The Hugging Face model over padded sequences, the padding left out."""
    ids, mask = padded(flat)
    return model(input_ids=ids, attention_mask=mask.long()).last_hidden_state[mask]


def test_the_token_vectors_are_those_of_padded_sequences(model):
    flat = flat_of()
    with torch.no_grad():
        assert (forward_packed(model, flat) - judge(model, flat)).abs().max() < 1e-5


def test_the_gradients_are_those_of_padded_sequences(model):
    flat = flat_of()
    share = torch.randn(flat.tokens, model.config.hidden_size, generator=torch.Generator().manual_seed(1))
    found = []
    for read in (forward_packed, judge):
        model.zero_grad()
        (read(model, flat) * share).sum().backward()
        weights = ((name, weight.grad) for name, weight in model.named_parameters())
        found.append({name: gradient.clone() for name, gradient in weights if gradient is not None})
    ours, theirs = found
    assert ours.keys() == theirs.keys() and len(ours) > 30
    for name, gradient in theirs.items():
        assert (ours[name] - gradient).abs().max() <= 1e-5 * max(1, float(gradient.abs().max())), name


def test_order_and_what_is_read_together_change_nothing(model):
    flat, order = flat_of(), [3, 0, 7, 5, 1, 6, 2, 4]
    texts = flat.ids.split(flat.lengths.tolist())
    mixed = FlatTokens(torch.cat([texts[i] for i in order]), flat.lengths[order])
    with torch.no_grad():
        together = forward_packed(model, flat).split(flat.lengths.tolist())
        other = forward_packed(model, mixed).split(mixed.lengths.tolist())
        for place, number in enumerate(order):
            alone = forward_packed(model, FlatTokens(texts[number], flat.lengths[number : number + 1]))
            assert (other[place] - together[number]).abs().max() < 1e-5
            assert (alone - together[number]).abs().max() < 1e-5


def test_filling_up_with_padding_changes_no_vector(model):
    flat = flat_of()
    filled = _padded(flat)
    assert filled.tokens % 512 == 0 and filled.lengths.max() == flat.lengths.max()
    assert filled.lengths.sum() == filled.tokens
    with torch.no_grad():
        assert (forward_packed(model, filled)[: flat.tokens] - forward_packed(model, flat)).abs().max() < 1e-5


def test_what_is_added_to_a_sequence_is_added_to_each_of_its_words(model):
    flat = flat_of()
    ids, mask = padded(flat)
    added = torch.randn(len(flat), model.config.hidden_size, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        words = model.get_input_embeddings()(ids) + added[:, None]
        first = 0 if model.config.model_type == "bert" else 2
        places = torch.arange(first, first + ids.shape[1])[None]
        hidden = model(inputs_embeds=words, attention_mask=mask.long(), position_ids=places).last_hidden_state
        assert (forward_packed(model, flat, added) - hidden[mask]).abs().max() < 1e-5


def test_padded_rows_with_token_types_have_the_states_of_the_padded_model(model):
    ids, mask = padded(flat_of())
    kinds = model.config.type_vocab_size
    types = torch.randint(kinds, ids.shape, generator=torch.Generator().manual_seed(1)) * mask
    share = torch.randn(*ids.shape, model.config.hidden_size, generator=torch.Generator().manual_seed(2))
    judged = model(input_ids=ids, attention_mask=mask.long(), token_type_ids=types).last_hidden_state
    table = model.embeddings.token_type_embeddings.weight
    (wanted,) = torch.autograd.grad((judged * share)[mask].sum(), table)
    found = forward_rows(model, ids, mask, types)
    (gradient,) = torch.autograd.grad((found * share).sum(), table)
    assert (found - judged)[mask].abs().max() < 1e-5 and not found[~mask].any()
    assert (gradient - wanted).abs().max() < 1e-4 * wanted.abs().max()


@pytest.mark.parametrize("mode", ["mean", "cls", "max"])
def test_pooling_is_that_of_padded_sequences(mode):
    flat = flat_of()
    states = torch.randn(flat.tokens, 8)
    hidden = torch.nn.utils.rnn.pad_sequence(list(states.split(flat.lengths.tolist())), batch_first=True)
    mask = padded(flat)[1]
    wanted = {
        "mean": mean_pool(hidden, mask),
        "cls": hidden[:, 0],
        "max": hidden.masked_fill(~mask[..., None], float("-inf")).amax(1),
    }
    assert (pool_packed(states, flat, mode) - wanted[mode]).abs().max() < 1e-6


@pytest.mark.parametrize("mode", ["mean", "cls", "max"])
@pytest.mark.parametrize("budget", [10, 200, 10_000])
def test_a_backbone_that_packs_gives_the_vectors_of_one_that_pads(tiny_bert, mode, budget):
    backbone = TorchBackbone.load(str(tiny_bert), device="cpu").with_pooling(mode)
    assert isinstance(backbone.engine, TorchEngine) and not isinstance(backbone.engine, PackedEngine)
    packing = backbone.with_pooling(mode)
    packing.engine = PackedEngine(backbone.model, mode)
    packing.engine.token_budget = budget
    draw, seen = np.random.default_rng(0), []
    pieces = [draw.integers(5, 700, size=length) for length in (*LENGTHS, *range(1, 40))]
    assert np.abs(packing.encode(pieces, seen.append) - backbone.encode(pieces)).max() < 1e-5
    assert sum(seen) == sum(len(piece) for piece in pieces)
    assert packing.runtime == "float32, torch on cpu"


def test_dropout_is_the_same_with_and_without_gradients(model):
    model.train()
    flat = flat_of()
    torch.manual_seed(5)
    learning = forward_packed(model, flat)
    torch.manual_seed(5)
    with torch.no_grad():
        looking = forward_packed(model, flat)
    assert learning.requires_grad and not looking.requires_grad
    assert torch.equal(learning, looking)
    assert (learning - judge(model.eval(), flat)).abs().max() > 0.1


def test_autocast_reads_in_bfloat16(model):
    flat = flat_of()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        states = forward_packed(model, flat)
    assert states.dtype == torch.bfloat16
    assert torch.cosine_similarity(states.float(), judge(model, flat)).min() > 0.999


def test_on_a_processor_a_bert_is_packed_where_that_is_asked_for(model, monkeypatch):
    assert not uses_packing(model)
    with torch.autocast("cpu", torch.bfloat16):
        assert not uses_packing(model)
    monkeypatch.setenv("LONGMATCH_PACKED", "0")
    assert not uses_packing(model)
    monkeypatch.setenv("LONGMATCH_PACKED", "1")
    assert uses_packing(model) and not uses_packing(torch.nn.Linear(2, 2))
    model.config.hidden_act = "relu"
    assert not uses_packing(model)


class OnGpu:
    """Of a BERT on a GPU all that `packs` looks at."""

    embeddings = encoder = None
    device = torch.device("cuda")

    def __init__(self, config, dtype) -> None:
        self.config, self.dtype = config, dtype

    def parameters(self):
        return iter([torch.zeros(1, dtype=self.dtype)])


def test_on_a_gpu_a_bert_is_packed_in_16_bits_unless_told_otherwise(model, monkeypatch):
    half, full = OnGpu(model.config, torch.bfloat16), OnGpu(model.config, torch.float32)
    assert uses_packing(half) and not uses_packing(full)
    monkeypatch.setenv("LONGMATCH_PACKED", "0")
    assert not uses_packing(half)


def test_vectors_may_stand_in_the_place_of_words_each_with_its_position(model):
    flat = flat_of()
    ids, mask = padded(flat)
    draw = torch.Generator().manual_seed(1)
    words = torch.randn(flat.tokens, model.config.hidden_size, generator=draw)
    shown, places = torch.zeros(*ids.shape, model.config.hidden_size), torch.randint(60, ids.shape, generator=draw)
    shown[mask] = words
    first = 0 if model.config.model_type == "bert" else 2
    with torch.no_grad():
        hidden = model(inputs_embeds=shown, attention_mask=mask.long(), position_ids=places + first).last_hidden_state
        ours = forward_packed(model, FlatTokens(places[mask], flat.lengths), words=words)
        assert (ours - hidden[mask]).abs().max() < 1e-5
