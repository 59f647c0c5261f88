"""CoLDE's encoder, with a tiny random backbone."""

import json

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from longmatch.lab.encoders.ragged import offsets_of
from longmatch.lab.papers.colde.encoder import ColdeConfig, ColdeModel, PackedOrder

TINY = {"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 32, "vocab_size": 50, "max_position_embeddings": 12}  # fmt: skip
SECTION = torch.tensor([0, 0, 1, 1, 1, 0, 1])
POSITION = torch.tensor([0, 1, 0, 1, 2, 0, 0])
DOCUMENT = torch.tensor([0, 0, 0, 0, 0, 1, 1])


def make(**settings):
    torch.manual_seed(0)
    sizes = {"recurrent_width": 12, "projection_width": 6, "attention_heads": 4}
    config = ColdeConfig(backbone=TINY, **{**sizes, **settings})
    return ColdeModel(config).eval()


def batch(tokens=8):
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 50, (7, tokens), generator=generator)
    return {"ids": ids, "mask": torch.ones(7, tokens, dtype=torch.long), "section": SECTION, "position": POSITION,
            "document": DOCUMENT}  # fmt: skip


@pytest.mark.parametrize("settings", [{}, {"augmented": False}, {"recurrent": False}])
def test_every_variant_gives_vectors_of_length_one_at_three_levels(settings):
    with torch.no_grad():
        found = make(**settings)(**batch())
    assert found.documents.shape == (2, 6) and found.sections.shape == (4, 6) and found.chunks.shape == (7, 16)
    for vectors in (found.documents, found.sections, found.chunks):
        assert torch.allclose(vectors.norm(dim=1), torch.ones(len(vectors)), atol=1e-5)


def test_a_chunk_attends_to_the_next_section_of_its_own_document_alone():
    with torch.no_grad():
        weights = make()(**batch()).attention
    expected = torch.tensor([1.0, 1, 0, 0, 0, 1, 0])  # the last section of a document attends to nothing
    assert torch.allclose(weights.sum(1), expected, atol=1e-6)
    assert weights[:2, 2:5].sum().item() == pytest.approx(2, abs=1e-6)
    assert weights[5, 6].item() == pytest.approx(1, abs=1e-6)


def test_padding_changes_no_vector():
    model, plain = make(), batch()
    padded = {**plain, "ids": torch.cat([plain["ids"], torch.zeros(7, 3, dtype=torch.long)], 1),
              "mask": torch.cat([plain["mask"], torch.zeros(7, 3, dtype=torch.long)], 1)}  # fmt: skip
    with torch.no_grad():
        a, b = model(**plain), model(**padded)
    assert torch.allclose(a.sections, b.sections, atol=1e-5) and torch.allclose(a.documents, b.documents, atol=1e-5)


def test_a_document_is_encoded_alike_alone_and_in_a_batch():
    model, both = make(), batch()
    with torch.no_grad():
        together = model(**both)
        alone = model(**{name: value[5:] for name, value in both.items()})
    assert torch.allclose(together.documents[1:], alone.documents, atol=1e-5)
    assert torch.allclose(together.sections[2:], alone.sections, atol=1e-5)


def test_a_document_in_one_section_has_the_section_s_vector():
    one = {**batch(), "section": torch.zeros(7, dtype=torch.long)}
    with torch.no_grad():
        found = make()(**one)
    assert torch.allclose(found.sections, found.documents, atol=1e-6)


def test_section_and_chunk_numbers_count_only_with_augmentation():
    moved = {**batch(), "position": POSITION + 1}
    with torch.no_grad():
        for augmented in (True, False):
            model = make(augmented=augmented)
            same = torch.allclose(model(**batch()).chunks, model(**moved).chunks, atol=1e-5)
            assert same is not augmented


def test_the_order_of_chunks_counts_with_the_lstm_and_not_without():
    turned = {name: value[torch.tensor([1, 0, 2, 3, 4, 5, 6])] for name, value in batch().items()}
    with torch.no_grad():
        for recurrent in (True, False):
            model = make(augmented=False, recurrent=recurrent)
            same = torch.allclose(model(**batch()).documents, model(**turned).documents, atol=1e-5)
            assert same is not recurrent


def test_attention_is_trained_by_the_loss():
    from longmatch.lab.losses import supervised_contrastive_loss

    model = make().train()
    found = model(**batch())
    supervised_contrastive_loss(found.sections, torch.tensor([0, 0, 1, 1])).backward()
    for layer in (model.attention.query, model.attention.key, model.attention.value, model.section_embedding):
        assert layer.weight.grad is not None and layer.weight.grad.abs().sum() > 0


def test_a_saved_model_opens_with_the_same_answers(tmp_path):
    model = make()
    model.save_pretrained(tmp_path)
    again = ColdeModel.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        assert torch.allclose(model(**batch()).documents, again(**batch()).documents, atol=1e-6)
    assert (tmp_path / "model.safetensors").is_file()


def test_a_model_saved_before_there_were_readouts_is_read_as_it_was(tmp_path):
    model = make()
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["readout"], config["forget_bias"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with torch.no_grad():
        found = ColdeModel.from_pretrained(tmp_path).eval()(**batch())
        chunks = model.encode_chunks(batch()["ids"], batch()["mask"], SECTION, POSITION)
        sequence = chunks + model.attention(chunks, SECTION, DOCUMENT)[0]
        (last, _) = model.recurrence(sequence[None, :5])[1]
        expected = torch.nn.functional.normalize(model.projection(last.flatten()), dim=0)
    assert torch.allclose(found.documents[0], expected, atol=1e-5)


def test_the_mean_readout_weighs_the_lstm_s_outputs_by_the_chunks_tokens():
    model, lengths = make(readout="mean"), torch.tensor([3, 1, 4, 1, 5, 9, 2])
    chunks = torch.randn(7, 16, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        found = model.aggregate(chunks, SECTION, DOCUMENT, lengths, unit=False)
        sequence = chunks + model.attention(chunks, SECTION, DOCUMENT)[0]
        outputs = model.recurrence(sequence[None, :5])[0][0]
        expected = model.projection((outputs * lengths[:5, None]).sum(0) / lengths[:5].sum())
    assert torch.allclose(found.documents[0], expected, atol=1e-5)


def test_forget_gates_start_from_their_bias():
    lstm = make(forget_bias=1.5).recurrence
    biases = [lstm.bias_ih_l0 + lstm.bias_hh_l0, lstm.bias_ih_l0_reverse + lstm.bias_hh_l0_reverse]
    assert all(torch.equal(bias[6:12], torch.full((6,), 1.5)) for bias in biases)


def test_a_new_model_sees_its_backbone_as_it_was_trained(tiny_bert):
    from transformers import AutoModel

    model = ColdeModel.from_backbone(str(tiny_bert)).eval()
    plain = AutoModel.from_pretrained(str(tiny_bert)).eval()
    ids, mask = torch.tensor([[2, 7, 8, 3]]), torch.ones(1, 4, dtype=torch.long)
    with torch.no_grad():
        chunk = model.encode_chunks(ids, mask, torch.tensor([1]), torch.tensor([3]))
        assert torch.allclose(chunk, plain(input_ids=ids, attention_mask=mask).last_hidden_state.mean(1), atol=1e-5)


@pytest.mark.parametrize("recurrent", [True, False])
def test_a_residual_model_starts_as_the_mean_of_its_chunks_and_learns_from_there(tiny_bert, recurrent):
    settings = {"residual": True, "readout": "mean", "recurrent": recurrent, "recurrent_width": 12}
    model = ColdeModel.from_backbone(str(tiny_bert), projection_width=None, **settings).eval()
    with torch.no_grad():
        output = model(**batch())
        chunks = model.encode_chunks(*(batch()[name] for name in ("ids", "mask", "section", "position")))
    means = torch.stack([chunks[number == DOCUMENT].mean(0) for number in (0, 1)])
    expected = torch.nn.functional.cosine_similarity(means[0], means[1], dim=0)
    assert output.documents[0] @ output.documents[1] == pytest.approx(float(expected), abs=1e-5)
    (model(**batch()).documents[0] @ torch.randn(model.width)).backward()
    if recurrent:
        assert model.change.weight.grad.abs().max() > 0 and model.attention.out.weight.grad.abs().max() > 0


@pytest.mark.parametrize("lengths", [[1], [2, 5, 1, 5, 3], [4, 4, 4], [1, 2, 3]])
def test_the_lstm_reads_runs_as_torch_packs_them(lengths):
    torch.manual_seed(0)
    lstm, rows = torch.nn.LSTM(4, 3, bidirectional=True), torch.randn(sum(lengths), 4)
    found = []
    for packed in (
        lambda: PackedOrder.of(offsets_of(torch.tensor(lengths))).pack(rows),
        lambda: pack_sequence(list(rows.split(lengths)), enforce_sorted=False),
    ):
        rows.requires_grad_().grad = None
        _, (last, _) = lstm(packed())
        (last**2).sum().backward()
        found.append((last.detach(), rows.grad.clone()))
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
