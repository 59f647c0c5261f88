"""CoLDE learns, with a tiny random backbone on made documents."""

import json
import random
import shutil

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.lab.losses import supervised_contrastive_loss
from longmatch.lab.papers.colde.matcher import subset_vectors
from longmatch.lab.papers.colde.training import ColdeRecipe, ColdeSettings, connected
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.training.synthetic.classes import common_words, mixed_document, write_classes, write_pairs
from tests.lab.training.synthetic.wordings import write_two_wordings

TINY = {"chunk_tokens": 32, "recurrent_width": 32, "projection_width": 16}


@pytest.fixture(scope="module")
def classes(tiny_bert, tmp_path_factory):
    return write_classes(tmp_path_factory.mktemp("made") / "classes", common_words(tiny_bert / "vocab.txt"))


@pytest.fixture(scope="module")
def pairs(tiny_bert, tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("made") / "pairs", common_words(tiny_bert / "vocab.txt"))


@pytest.fixture(scope="module")
def make(tiny_bert, tmp_path_factory):
    """A recipe on some data, with settings of both kinds."""
    cache = tmp_path_factory.mktemp("cache")

    def recipe(data, shared=None, **own):
        torch.manual_seed(0)
        settings = TrainingSettings(**{"documents": 12, **(shared or {})})
        return ColdeRecipe.make([data], cache, settings, ColdeSettings(str(tiny_bert), **{**TINY, **own}))

    return recipe


@pytest.fixture(scope="module")
def trained(tiny_bert, classes, tmp_path_factory):
    """A model trained as a user would, on documents with classes."""
    out = tmp_path_factory.mktemp("trained") / "colde"
    rates = {"learning_rate": 2e-3, "head_learning_rate": 2e-3}  # the tiny backbone is as new as the rest
    settings = {"documents": 24, "steps": 25, "validate_every": 25, "seed": 1, **rates}
    return train("colde", classes, out, backbone=str(tiny_bert), **settings, **TINY)


def mean_loss(recipe, model):
    recipe.model = model.eval()
    return np.mean([recipe.backward(model, recipe.draw(step))["loss"].item() for step in range(4)])


def gradient(recipe, step=0):
    recipe.model.train().zero_grad()
    for module in recipe.model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    loss = recipe.backward(recipe.model, recipe.draw(step))["loss"]
    found = [p.grad.flatten() for p in recipe.model.parameters() if p.grad is not None]
    return float(loss), torch.cat(found)


@pytest.mark.slow
def test_validation_rises_far_above_the_untrained_model(tiny_bert, make, tmp_path):
    wordings = write_two_wordings(tmp_path / "wordings", common_words(tiny_bert / "vocab.txt"))
    recipe = make(wordings)
    settings = {"documents": 24, "learning_rate": 2e-3, "steps": 25, "validate_every": 25}
    out = train("colde", wordings, tmp_path / "out", backbone=str(tiny_bert), **settings, **TINY)
    record = json.loads((out / "longmatch.json").read_text())
    assert recipe.validate(recipe.model.eval())["average_precision"] < 0.75
    assert record["scores"]["average_precision"] > 0.9
    assert longmatch.load(str(out)).threshold == pytest.approx(record["threshold"])


def test_the_loss_falls(trained, classes, make):
    before, after = (make(classes, {"documents": 24}) for _ in range(2))
    assert mean_loss(after, longmatch.load(str(trained)).model) < mean_loss(before, before.model) - 0.5


def test_without_the_passages_it_names_first_a_trained_model_s_score_falls_further(trained, tiny_bert):
    """Half of the one document is of the other's class; a quarter of its chunks goes, by contribution or at random."""
    matcher, words = longmatch.load(str(trained)), common_words(tiny_bert / "vocab.txt")
    named, drawn = [], []
    for number in range(12):
        rng = random.Random(number)
        parts = rng.sample([number % 6] * 4 + [(number + 1) % 6] * 4, 8)
        texts = mixed_document(f"a{number}", words, parts), mixed_document(f"b{number}", words, [number % 6] * 6)
        a, b = matcher.encode(texts)
        carried = dict.fromkeys(a.chunks.starts.tolist(), 0.0)
        for alignment in matcher.explain(a, b).alignments:
            carried[alignment.a.start] += alignment.contribution
        order = np.argsort([-carried[start] for start in a.chunks.starts.tolist()], kind="stable")
        quarter = len(order) // 4
        choices = [order[quarter:], *(np.array(rng.sample(range(len(order)), len(order) - quarter)) for _ in range(5))]
        falls = a.vector @ b.vector - subset_vectors(matcher.model, a, [np.sort(c) for c in choices]) @ b.vector
        named.append(float(falls[0]))
        drawn.append(float(falls[1:].mean()))
    assert np.mean(named) > 5 * abs(np.mean(drawn)) + 0.05


def test_a_batch_s_gradient_is_the_same_whether_or_not_it_fits_the_device(classes, make):
    whole_loss, whole = gradient(make(classes, {"tokens_at_once": 10**6}))
    loss, pieces = gradient(make(classes, {"tokens_at_once": 200}))
    assert loss == pytest.approx(whole_loss, abs=1e-5)
    assert torch.allclose(pieces, whole, atol=1e-5)


def test_a_step_is_drawn_alike_each_time_and_otherwise_with_another_seed(classes, make):
    recipe = make(classes)
    first, again = recipe.draw(3), make(classes).draw(3)
    assert torch.equal(first.documents.text.ids, again.documents.text.ids) and torch.equal(first.targets, again.targets)
    assert not torch.equal(first.documents.text.ids, recipe.draw(4).documents.text.ids)
    assert not torch.equal(first.documents.text.ids, make(classes, {"seed": 9}).draw(3).documents.text.ids)


def test_an_epoch_draws_every_pair_that_belongs_together_and_no_batch_is_too_large(pairs, make):
    recipe = make(pairs)
    seen = set()
    for step in range(recipe.steps_per_epoch):
        batch = recipe.draw(step)
        documents = int(batch.documents.document.max()) + 1
        assert documents <= 12
        rows = recipe.batch_rows(step)
        seen |= set(zip(recipe.pairs.source[rows].tolist(), recipe.pairs.target[rows].tolist(), strict=True))
    table = recipe.pairs
    assert seen == {(s, t) for s, t, label in zip(table.source, table.target, table.label, strict=True) if label}


def test_sections_of_one_class_are_positives_whichever_pair_brought_them(classes, make):
    recipe = make(classes)
    source, target = (getattr(recipe.pairs, side)[recipe.batch_rows(0)] for side in ("source", "target"))
    numbers = np.unique(np.concatenate([source, target]))
    labels = dict(line.split("\t") for line in (classes / "classes.tsv").read_text().splitlines())
    own = np.repeat([labels[recipe.data.tokens.ids[n]] for n in numbers], 3)  # two sections each, and the document
    assert recipe.draw(0).targets.tolist() == (own[:, None] == own).tolist()


def test_a_chain_of_links_makes_positives_only_when_asked_to(pairs, make):
    linked, chained = make(pairs), make(pairs, positives="connected")
    found = [(linked.draw(step).targets, chained.draw(step).targets) for step in range(4)]
    assert all(bool((chains | ~links).all()) for links, chains in found)
    assert any(not torch.equal(chains, links) for links, chains in found)


def test_chains_join_what_they_reach():
    related = np.eye(5, dtype=bool)
    for a, b in ((0, 1), (1, 2), (3, 4)):
        related[a, b] = related[b, a] = True
    label = np.array([0, 0, 0, 1, 1])
    assert (connected(related) == (label[:, None] == label)).all()


def test_the_paper_contrasts_sections_alone(classes, make):
    with_documents, sections = make(classes).draw(0).targets, make(classes, views="sections").draw(0).targets
    kept = np.arange(len(with_documents)) % 3 != 2  # two sections and the document itself
    assert torch.equal(sections, with_documents[kept][:, kept])


def test_documents_and_sections_are_contrasted_apart(classes, make):
    recipes = {views: make(classes, views=views) for views in ("apart", "together")}
    batch, model = recipes["apart"].draw(0), recipes["apart"].model.eval()
    losses = {views: recipe.backward(recipe.model.eval(), batch)["loss"] for views, recipe in recipes.items()}
    with torch.no_grad():
        output = model.encode_batch(batch.documents)
        both = output.sections.view(-1, 2, model.width), output.documents[:, None]
        z = torch.cat(both, dim=1).flatten(0, 1)  # each document's sections, then itself
        whole = torch.arange(len(z)) % 3 == 2
        parts = [supervised_contrastive_loss(z[kind], batch.targets[kind][:, kind], 0.05) for kind in (whole, ~whole)]
        pooled = supervised_contrastive_loss(z, batch.targets, 0.05)
    assert losses["apart"].item() == pytest.approx(float(sum(parts) / 2), rel=1e-5)
    assert losses["together"].item() == pytest.approx(float(pooled), rel=1e-5)


def test_the_loss_takes_z_as_it_is_when_asked_to(classes, make):
    recipe = make(classes, normalised=False, views="sections", loss_temperature=0.5)
    batch = recipe.draw(0)
    recipe.model.eval()
    loss = recipe.backward(recipe.model, batch)["loss"].item()
    with torch.no_grad():
        z = recipe.model.encode_batch(batch.documents, unit=False).sections
    itself = torch.eye(len(z), dtype=torch.bool)
    scores = (z @ z.T / 0.5).masked_fill(itself, -torch.inf).log_softmax(1)
    positive = batch.targets & ~itself
    expected = [-scores[i][positive[i]].mean() for i in range(len(z)) if positive[i].any()]
    assert not torch.allclose(z.norm(dim=1), torch.ones(len(z))) and loss == pytest.approx(
        float(sum(expected) / len(expected))
    )


def test_new_layers_are_all_but_the_backbone_and_its_input(classes, make):
    recipe = make(classes)
    new = {name.split(".")[0] for name, _ in recipe.model.named_parameters() if recipe.is_new(name)}
    assert new == {"attention", "recurrence", "change", "projection"}


def test_without_augmentation_documents_are_contrasted(classes, make):
    batch = make(classes, augmented=False).draw(0)
    documents = int(batch.documents.document.max()) + 1
    assert batch.targets.shape == (documents, documents)


def test_without_contrast_labelled_pairs_are_learnt_of_both_kinds(pairs, make):
    recipe = make(pairs, contrastive=False)
    batch = recipe.draw(0)
    source, target, label = batch.targets
    assert set(label.tolist()) == {0, 1} and len(label) == 6
    recipe.model.eval()
    found = recipe.model.encode_batch(batch.documents).documents
    cosines = (found[source] * found[target]).sum(1)
    expected = ((cosines - label) ** 2).mean()
    assert recipe.backward(recipe.model, batch)["loss"].item() == pytest.approx(expected.item(), abs=1e-5)


@pytest.mark.parametrize(
    "own", [{}, {"augmented": False}, {"recurrent": False}, {"contrastive": False}, {"sections": 3}]
)
def test_every_variant_has_a_gradient_and_measures(pairs, make, own):
    recipe = make(pairs, {"tokens_at_once": 400}, **own)
    loss, found = gradient(recipe)
    assert np.isfinite(loss) and torch.isfinite(found).all() and found.abs().sum() > 0
    measures = recipe.validate(recipe.model.eval())
    assert next(iter(measures)) == "average_precision" and set(measures) > {"f1", "accuracy", "threshold"}


def test_a_limit_on_documents_holds_in_training(pairs, make):
    batch = make(pairs, {"max_tokens": 40}).draw(0)
    counts = [int((batch.documents.text.lengths[batch.documents.document == n] - 2).sum()) for n in range(4)]
    assert counts == [40] * 4


def test_documents_cut_off_give_no_threshold_for_whole_ones(pairs, make):
    recipe = make(pairs, {"max_tokens": 40})
    assert "threshold" not in recipe.validate(recipe.model.eval())


def test_validation_scores_are_the_cosines_a_user_gets(trained, classes, make):
    recipe = make(classes, {"tokens_at_once": 300})
    matcher = longmatch.load(str(trained))
    recipe.model = matcher.model
    numbers = np.array([3, 11, 50])
    documents = {d.id: d for d in iterate_jsonl(classes / "documents.jsonl")}
    matcher.precision = "float32"
    encodings = matcher.encode([documents[recipe.data.tokens.ids[n]] for n in numbers])
    assert torch.allclose(recipe.document_vectors(numbers), matcher.collect(encodings), atol=1e-5)


def test_a_sample_of_validation_pairs_is_the_same_each_time(pairs, make):
    few = make(pairs, validation_pairs=20)
    assert few.validate(few.model.eval()) == few.validate(few.model)
    assert few.validate(few.model) != make(pairs).validate(few.model)


def test_data_in_which_nothing_belongs_together_is_an_error(pairs, make, tmp_path):
    apart = shutil.copytree(pairs, tmp_path / "apart")
    header, *rows = (apart / "pairs.tsv").read_text().splitlines()
    (apart / "pairs.tsv").write_text("\n".join([header, *(f"{row[:-1]}0" for row in rows), ""]))
    with pytest.raises(LongmatchError, match="only non-matches"):
        make(apart)


def test_a_backbone_that_is_not_there_is_an_error_of_one_sentence(pairs, tmp_path):
    with pytest.raises(LongmatchError, match="cannot be opened"):
        ColdeRecipe.make([pairs], tmp_path, TrainingSettings(), ColdeSettings(backbone=str(tmp_path / "none")))


@pytest.mark.parametrize(
    "wrong",
    [{"sections": 0}, {"chunk_tokens": 2}, {"recurrent_width": 7}, {"loss_temperature": 0.0}],
)
def test_a_setting_no_model_can_have_is_an_error_that_names_it(wrong):
    with pytest.raises(LongmatchError, match=next(iter(wrong))):
        ColdeSettings(**wrong)


def test_heads_that_do_not_divide_the_backbone_s_width_are_an_error(pairs, make):
    with pytest.raises(LongmatchError, match="attention_heads is 5"):
        make(pairs, attention_heads=5)
