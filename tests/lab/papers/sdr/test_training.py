"""SDR learns: sentences of one paragraph come nearer than those of different documents, hidden words are found."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer, BertForMaskedLM, RobertaForMaskedLM

import longmatch
from longmatch.documents import Document
from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.flat import FlatTokens
from longmatch.lab.papers.sdr.training import PAPER, SdrModel, SdrRecipe, SdrSettings, margin_contrastive_loss
from longmatch.lab.training.masked_words import masked_word_loss
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from longmatch.models.sdr.matcher import SdrMatcher
from tests.lab.training.synthetic.documents import make_collection


@pytest.fixture(scope="module")
def made(tiny_bert: Path, tmp_path_factory) -> Path:
    return make_collection(tmp_path_factory.mktemp("made") / "made", tiny_bert)


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def recipe(made, cache, tiny_bert):
    """Makes a recipe over the made collection, by the paper's settings and without dropout or warm-up."""

    def make(shared: TrainingSettings | None = None, **own) -> SdrRecipe:
        torch.manual_seed(0)
        paper = {key: value for key, value in PAPER.items() if key not in ("learning_rate", "pairs")}
        fixed = {"backbone": str(tiny_bert), "validation_pairs": 200, "unit": "paragraph", "head_warmup": 0}
        settings = SdrSettings(**(paper | fixed | own))
        found = SdrRecipe.make([made], cache, shared or TrainingSettings(), settings)
        found.model.eval()
        return found

    return make


def learn(recipe: SdrRecipe, steps: int) -> tuple[dict[str, float], dict[str, float]]:
    """The measures before and after some steps."""
    with torch.no_grad():
        before = recipe.validate(recipe.model)
    optimizer = torch.optim.AdamW(recipe.model.parameters(), lr=3e-3)
    for step in range(steps):
        optimizer.zero_grad()
        recipe.backward(recipe.model, recipe.draw(step))
        optimizer.step()
    with torch.no_grad():
        return before, recipe.validate(recipe.model)


def gap(measures: dict[str, float]) -> float:
    return measures["cosine_alike"] - measures["cosine_apart"]


def gradients(recipe: SdrRecipe) -> torch.Tensor:
    return torch.cat([w.grad.flatten() for w in recipe.model.parameters() if w.grad is not None])


def test_sentences_of_one_paragraph_come_nearer_and_hidden_words_are_found_on_documents_never_seen(recipe):
    before, after = learn(recipe(), 50)
    assert gap(before) < 0.05 and gap(after) > 4 * gap(before)
    assert after["contrastive_loss"] < before["contrastive_loss"]
    assert after["masked_word_loss"] < before["masked_word_loss"] - 0.4  # better than by frequency alone
    assert after["loss"] < before["loss"]
    assert before["halves_mrr"] <= after["halves_mrr"] <= 1


@pytest.mark.parametrize(("select_by", "measure"), [("loss", "loss"), ("halves", "halves_mrr")])
def test_the_first_measure_is_the_one_the_weights_are_chosen_by(select_by, measure, recipe):
    made = recipe(select_by=select_by)
    with torch.no_grad():
        assert next(iter(made.validate(made.model))) == measure


def test_without_the_contrastive_term_words_are_learnt_alone(recipe):
    before, after = learn(recipe(contrastive=False), 30)
    assert after["loss"] == after["masked_word_loss"] < before["masked_word_loss"] - 0.2


def test_without_masked_words_nothing_is_hidden(recipe):
    made = recipe(word_weight=0.0)
    assert made.draw(0).masked_count == 0 < recipe().draw(0).masked_count
    losses = made.backward(made.model, made.draw(0))
    assert losses["loss"].item() == losses["contrastive_loss"].item() and "masked_word_loss" not in losses


@pytest.mark.parametrize("masked_pairs", [False, True])
def test_the_loss_is_the_sum_of_both_terms_the_words_over_masked_sentences(recipe, masked_pairs):
    made = recipe(margin=2.0, word_weight=0.5, masked_pairs=masked_pairs)
    batch = made.draw(3)

    def states(text: FlatTokens) -> list[torch.Tensor]:
        pieces = text.ids.split(text.lengths.tolist())
        return [made.model(piece[None], torch.ones_like(piece)[None])[0] for piece in pieces]

    with torch.no_grad():
        masked = states(batch.masked)
        compared = masked if masked_pairs else states(made_clean(recipe).draw(3).compared)
        vectors = torch.stack([one.mean(0) for one in compared])
        contrastive = margin_contrastive_loss(vectors[0::2], vectors[1::2], batch.intra, 2.0)
        words = masked_word_loss(made.model.word_logits(torch.cat(masked)), batch.labels)
    found = made.backward(made.model, batch)
    assert found["contrastive_loss"].item() == pytest.approx(contrastive.item(), abs=1e-5)
    assert found["masked_word_loss"].item() == pytest.approx(words.item(), abs=1e-4)
    assert found["loss"].item() == pytest.approx(contrastive.item() + 0.5 * words.item(), abs=1e-4)


def made_clean(recipe) -> SdrRecipe:
    return recipe(word_weight=0.0)


def test_a_batch_in_groups_has_the_gradient_of_the_whole(recipe):
    whole, groups = recipe(), recipe(TrainingSettings(tokens_at_once=100))
    batch = whole.draw(0)
    assert len(list(batch.masked_groups(100))) > 5
    one, other = (made.backward(made.model, batch) for made in (whole, groups))
    assert one["loss"].item() == pytest.approx(other["loss"].item(), abs=1e-4)
    torch.testing.assert_close(gradients(whole), gradients(groups), atol=1e-5, rtol=1e-3)


def test_a_batch_depends_on_the_seed_and_the_step_alone(recipe):
    made, same, other = recipe(), recipe(), recipe(TrainingSettings(seed=1))
    made.draw(5)
    assert torch.equal(made.draw(2).masked.ids, same.draw(2).masked.ids)
    assert made.draw(2).masked.ids.tolist() != other.draw(2).masked.ids.tolist()
    assert made.draw(2).masked.ids.tolist() != made.draw(3).masked.ids.tolist()


def test_an_epoch_asks_every_sentence_of_the_training_documents_once(recipe):
    made = recipe(pairs=50)
    rows = np.concatenate([made.epochs.rows(step) for step in range(made.steps_per_epoch)])
    assert sorted(made.pool.anchors[rows]) == made.pool.anchors.tolist()
    held = set(made.data.documents("validation").tolist())
    assert not held & set(made.pool.document.tolist()) and set(made.validation_pool.document.tolist()) == held


def test_validation_is_the_same_each_time_and_whatever_the_seed(recipe):
    one, other = recipe(), recipe(TrainingSettings(seed=7))
    with torch.no_grad():
        assert one.validate(one.model) == one.validate(one.model) == pytest.approx(other.validate(other.model))


def test_one_held_out_document_is_held_against_the_training_documents(made, tiny_bert, tmp_path):
    lines = (made / "documents.jsonl").read_text().splitlines()[:5]
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(lines) + "\n")
    recipe = SdrRecipe.make([few], tmp_path / "cache", TrainingSettings(), SdrSettings(backbone=str(tiny_bert)))
    held = recipe.data.documents("validation").tolist()
    assert len(held) == 1 and set(recipe.validation_pool.document[recipe.validation_anchors]) == set(held)
    with torch.no_grad():
        assert np.isfinite(list(recipe.validate(recipe.model).values())).all()


@pytest.mark.parametrize("text", ["One sentence stands here alone.", "No. It. No."])
def test_documents_without_pairs_of_sentences_are_refused_in_one_sentence(tiny_bert, tmp_path, text):
    file = tmp_path / "few.jsonl"
    file.write_text("".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n in range(8)))
    with pytest.raises(LongmatchError, match="SDR needs several documents, with sections of two sentences") as error:
        SdrRecipe.make([file], tmp_path / "cache", TrainingSettings(), SdrSettings(backbone=str(tiny_bert)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"contrastive": False, "word_weight": 0.0}, "nothing is left to learn"),
        ({"pairs": 0}, "pairs is 0; it must be 1 or more"),
        ({"pairs": 1}, "pairs is 1; it must be 2 or more"),
        ({"masked_pairs": True}, "set word_weight above 0"),
        ({"masked_share": 1.5}, "masked_share is 1.5; it must lie between 0 and 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(LongmatchError, match=said):
        SdrSettings(**settings)


@pytest.fixture(scope="module")
def trained(made, tiny_bert, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out") / "sdr"
    settings = {"backbone": str(tiny_bert), "steps": 12, "pairs": 16, "validation_pairs": 50, "device": "cpu"}
    return train("sdr", made, out, **settings, word_weight=0.05, head_warmup=4, select_by="loss", score_by="section")


def test_the_trained_folder_opens_as_sdr_and_by_every_rule(trained, examples: dict[str, Document]):
    pair = list(examples.values())[:2]
    matcher = longmatch.load(trained)
    assert isinstance(matcher, SdrMatcher) and matcher.normalise and matcher.unit == "section"
    assert matcher.compare(*pair).score == longmatch.load(f"sdr-section@{trained}").compare(*pair).score
    for rule in ("sdr", "sdr-plain", "sdr-paragraph", "mean"):
        assert 0 <= longmatch.load(f"{rule}@{trained}").compare(*pair).score <= 1


def test_sentence_transformers_opens_the_trained_folder_too(trained):
    sentences = ["The bank failed.", "Depositors left together, and the queue grew until noon."]
    ours = Backbone.load(str(trained), precision="float32").encode_texts(sentences)
    assert np.abs(ours - SentenceTransformer(str(trained), device="cpu").encode(sentences)).max() < 1e-5


def test_the_record_says_what_was_trained_and_the_weights_have_moved(trained, tiny_bert):
    record = json.loads((trained / "longmatch.json").read_text())
    assert record["model"] == "sdr" and record["settings"]["margin"] == 1.0
    assert record["rule"] == "sdr-section"
    assert {"halves_mrr", "loss", "masked_word_loss", "cosine_alike"} <= set(record["scores"])
    assert record["facts"]["masked-word head"] == "new"
    before, after = (load_file(folder / "model.safetensors") for folder in (tiny_bert, trained))
    assert set(before) == set(after)
    assert any(not torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("rank", [None, 4])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(rank, made, tiny_bert, tmp_path):
    settings = {
        "backbone": str(tiny_bert),
        "pairs": 8,
        "validation_pairs": 20,
        "steps": 6,
        "validate_every": 3,
        "keep": 9,
    }
    settings |= {"rank": rank, "word_weight": 0.5}
    whole = train("sdr", made, tmp_path / "whole", device="cpu", **settings)
    shutil.copytree(whole / "training", tmp_path / "again" / "training")
    shutil.rmtree(tmp_path / "again" / "training" / "checkpoints" / "checkpoint-6")
    again = train("sdr", made, tmp_path / "again", device="cpu", **settings)
    one, other = (load_file(folder / "model.safetensors") for folder in (whole, again))
    assert all(torch.allclose(one[name], other[name], atol=1e-6) for name in one)


def test_a_new_head_learns_alone_at_first(recipe):
    made = recipe(contrastive=False, head_warmup=2)
    assert {n.partition(".")[0] for n, _ in made.model.named_parameters() if made.is_new(n)} == {"words"}
    losses = made.backward(made.model, made.draw(1))
    assert losses["masked_word_loss"] > 0 and made.model.words.dense.weight.grad.abs().sum() > 0
    assert all(weight.grad is None for weight in made.model.backbone.parameters())
    made.backward(made.model, made.draw(2))
    assert made.model.backbone.get_input_embeddings().weight.grad.abs().sum() > 0


def test_a_pretrained_head_is_kept_and_needs_no_warm_up(made, cache, tiny_bert, tmp_path):
    torch.manual_seed(1)
    whole = BertForMaskedLM.from_pretrained(tiny_bert)
    whole.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(tmp_path)
    recipe = SdrRecipe.make([made], cache, TrainingSettings(), SdrSettings(backbone=str(tmp_path), word_weight=1.0))
    assert torch.equal(recipe.model.words.dense.weight, whole.cls.predictions.transform.dense.weight)
    assert not recipe.new_head and not recipe.draw(0).head_only
    assert not any(recipe.is_new(name) for name, _ in recipe.model.named_parameters())


def test_info_nce_contrasts_each_pair_with_those_of_other_documents(recipe):
    made = recipe(loss="info_nce", word_weight=0.0, temperature=0.1)
    batch = made.draw(0)
    assert batch.intra.all()
    with torch.no_grad():
        vectors = torch.nn.functional.normalize(made.model.encode_sentences(batch.compared), dim=1)
    p, q, home = vectors[0::2], vectors[1::2], batch.document.tolist()
    wanted = []
    for i in range(len(batch)):
        others = [j for j in range(len(batch)) if j == i or home[j] != home[i]]
        logits = torch.stack([p[i] @ q[j] / 0.1 for j in others])
        wanted.append(logits.logsumexp(0) - p[i] @ q[i] / 0.1)
    assert len(set(home)) < len(home)
    assert made.backward(made.model, batch)["loss"].item() == pytest.approx(torch.stack(wanted).mean().item(), abs=1e-4)


@pytest.mark.parametrize("loss", ["info_nce", "margin"])
def test_the_pair_loss_is_computed_in_float32_under_autocast_too(recipe, loss):
    made = recipe(loss=loss, word_weight=0.0)
    batch = made.draw(0)
    with torch.no_grad():
        vectors = made.model.encode_sentences(batch.compared)
    with torch.autocast("cpu", torch.bfloat16):
        inside = made.pair_loss(vectors, batch)
    assert inside.dtype == torch.float32 and inside.item() == made.pair_loss(vectors, batch).item()


def test_pairs_of_different_units_alone_have_no_info_nce_loss(recipe):
    found = recipe(loss="info_nce")
    batch = found.draw(0)
    apart = replace(batch, intra=torch.zeros_like(batch.intra))
    assert found.pair_loss(found.model.encode_sentences(batch.compared), apart).item() == 0.0


def test_a_low_rank_change_learns_while_the_backbone_stays_and_is_saved_as_part_of_it(recipe, tiny_bert, tmp_path):
    made = recipe(loss="info_nce", word_weight=0.0, rank=4)
    before, after = learn(made, 30)
    assert after["loss"] < before["loss"] and gap(after) > gap(before)
    plain = load_file(tiny_bert / "model.safetensors")
    frozen = made.model.backbone.get_input_embeddings().weight
    assert torch.equal(frozen, plain["embeddings.word_embeddings.weight"])
    made.save(tmp_path / "saved")
    saved = Backbone.load(str(tmp_path / "saved"), precision="float32")
    batch = made.draw(0)
    with torch.no_grad():
        ours = torch.nn.functional.normalize(made.model.encode_sentences(batch.compared), dim=1).numpy()
    pieces = [ids[1:-1].numpy() for ids in batch.compared.ids.split(batch.compared.lengths.tolist())]
    assert np.abs(saved.encode(pieces) - ours).max() < 5e-3


@pytest.mark.parametrize("rank", [None, 4])
def test_packed_training_has_the_gradient_of_padded_training(recipe, rank, monkeypatch):
    found = []
    for packed in ("0", "1"):
        monkeypatch.setenv("LONGMATCH_PACKED", packed)
        made = recipe(rank=rank)
        loss = made.backward(made.model, made.draw(0))["loss"].item()
        found.append((loss, {name: w.grad for name, w in made.model.named_parameters() if w.grad is not None}))
    (one, padded), (other, packed_gradients) = found
    assert one == pytest.approx(other, abs=1e-4)
    for name in padded.keys() & packed_gradients.keys():
        torch.testing.assert_close(padded[name], packed_gradients[name], atol=1e-4, rtol=1e-3)


def test_the_old_name_of_the_words_weight_is_refused_with_the_new_one(made, tmp_path):
    with pytest.raises(LongmatchError, match="masked_words is now called word_weight"):
        train("sdr", made, tmp_path / "out", masked_words=1.0)


@pytest.mark.parametrize(("family", "kind"), [("tiny_bert", BertForMaskedLM), ("tiny_roberta", RobertaForMaskedLM)])
def test_a_checkpoints_own_head_is_taken_over_and_says_what_it_said(request, tmp_path, family, kind):
    torch.manual_seed(1)
    whole = kind.from_pretrained(request.getfixturevalue(family)).eval()
    for weight in whole.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    whole.save_pretrained(tmp_path)
    model = SdrModel(AutoModel.from_pretrained(tmp_path)).eval()
    assert model.words.load_pretrained(str(tmp_path))
    ids = torch.arange(10, 40).view(2, 15)
    mask = torch.ones_like(ids)
    with torch.no_grad():
        ours = model.word_logits(model(ids, mask))
        theirs = whole(input_ids=ids, attention_mask=mask).logits
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("family", ["tiny_bert", "tiny_roberta"])
def test_a_checkpoint_without_a_head_gets_a_new_one(request, family):
    folder: Path = request.getfixturevalue(family)
    model = SdrModel(AutoModel.from_pretrained(folder))
    before = model.words.dense.weight.clone()
    assert not model.words.load_pretrained(str(folder))
    assert torch.equal(model.words.dense.weight, before)


def test_the_packaged_model_has_no_head(backbone):
    assert not SdrModel(TorchBackbone.load(device="cpu", precision="float32").model).words.load_pretrained(
        backbone.name
    )


def test_the_head_is_tied_to_the_input_embeddings(tiny_bert):
    model = SdrModel(AutoModel.from_pretrained(tiny_bert))
    vocabulary = len(AutoTokenizer.from_pretrained(tiny_bert))
    assert sum(weight.numel() for weight in model.words.parameters()) == 32 * 32 + 32 + 2 * 32 + vocabulary
    model.word_logits(torch.randn(3, 32)).sum().backward()
    assert model.backbone.get_input_embeddings().weight.grad.abs().sum() > 0


def test_a_new_head_begins_with_how_often_each_word_occurs(tiny_bert):
    model = SdrModel(AutoModel.from_pretrained(tiny_bert))
    counts = torch.zeros(len(model.words.bias))
    counts[7], counts[9] = 30, 10
    model.words.init_frequencies(counts)
    chances = model.words.bias.exp()
    assert chances.sum().item() == pytest.approx(1, abs=1e-5)
    assert (chances[7] / chances[9]).item() == pytest.approx(31 / 11)
    assert (chances[9] / chances[0]).item() == pytest.approx(11)


def test_the_model_is_saved_without_shared_tensors_and_loads_again(tiny_bert, tmp_path):
    from safetensors.torch import load_file

    model = SdrModel(AutoModel.from_pretrained(tiny_bert))
    model.save_pretrained(tmp_path)
    other = SdrModel(AutoModel.from_pretrained(tiny_bert))
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))


def test_margin_loss_by_hand():
    """cos = 0.6: a positive costs 0.4, a negative 0.6 with m = 1 and 1.6 with m = 2."""
    p, q = torch.tensor([[1.0, 0.0]]), torch.tensor([[3.0, 4.0]])
    assert margin_contrastive_loss(p, q, torch.tensor([1])).item() == pytest.approx(0.4)
    assert margin_contrastive_loss(p, q, torch.tensor([0])).item() == pytest.approx(0.6)
    assert margin_contrastive_loss(p, q, torch.tensor([0]), margin=2).item() == pytest.approx(1.6)


def test_with_margin_one_opposite_negatives_cost_nothing_and_push_nothing():
    p = torch.tensor([[1.0, 0.2]], requires_grad=True)
    loss = margin_contrastive_loss(p, torch.tensor([[-1.0, 0.0]]), torch.tensor([0]))
    loss.backward()
    assert loss.item() == 0
    assert p.grad is not None and not p.grad.any()
