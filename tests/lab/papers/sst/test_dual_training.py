"""SST's dual encoder learns to tell a query's answer from the other documents of a batch."""

import json

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import LongmatchError
from longmatch.lab.losses import info_nce_loss
from longmatch.lab.papers.sst.matcher import SstMatcher
from longmatch.lab.papers.sst.training import DualRecipe, DualSettings
from longmatch.lab.training.labelled_recipe import pair_measures
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.baselines.cross.tiny_cross import save_learner
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import write_two_wordings

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
THEMES = 3


@pytest.fixture(scope="module")
def backbone(tiny_bert, tmp_path_factory):
    return save_learner(tiny_bert, tmp_path_factory.mktemp("learner"))


@pytest.fixture(scope="module")
def made(tiny_bert, tmp_path_factory):
    words = common_words(tiny_bert / "vocab.txt")
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", words, THEMES)


@pytest.fixture(scope="module")
def recipe(made, backbone, tmp_path_factory):
    """Makes the recipe over the made collection."""
    cache = tmp_path_factory.mktemp("cache")

    def make(hard_negatives=0, **shared):
        torch.manual_seed(0)
        settings = TrainingSettings(**{"documents": 48, "tokens_at_once": 10**6, "device": "cpu", **shared})
        own = DualSettings(str(backbone), side_tokens=18, hard_negatives=hard_negatives)
        return DualRecipe.make([made], cache, settings, own)

    return make


def average_precision(found):
    found.model.eval()
    with torch.no_grad():
        return found.validate(found.model)["average_precision"]


def test_training_lifts_the_average_precision_of_validation_pairs(recipe):
    found = recipe()
    before = average_precision(found)
    optimizer = torch.optim.AdamW((w for w in found.model.parameters() if w.requires_grad), lr=2e-3)
    found.model.train()
    for step in range(30):
        optimizer.zero_grad()
        found.backward(found.model, found.draw(step))
        optimizer.step()
    assert before < 0.75 and average_precision(found) > 0.9


def test_only_pairs_that_belong_together_are_drawn_and_other_answers_are_known(recipe):
    found = recipe()
    batch, chosen = found.draw(1), found.batch_rows(1)
    assert found.pairs.label[chosen].all() and batch.label.shape == (len(chosen), len(chosen))
    theme = [found.data.tokens.ids[n].split("-")[0] for n in found.pairs.source[chosen].tolist()]
    wanted = [[one == other for other in theme] for one in theme]
    assert batch.label.tolist() == wanted


def test_the_loss_is_info_nce_over_the_batch_and_its_gradient_the_same_in_pieces(recipe):
    whole, pieces = recipe(), recipe(tokens_at_once=200)
    batch = whole.draw(0)
    assert len(list(batch.rows.groups(pieces.tokens_per_pass))) > 3
    with torch.no_grad():
        vectors = torch.cat([whole.model(*_padded(row)).vectors for row in batch.rows.groups(1)])
        wanted = info_nce_loss(*vectors.chunk(2, dim=1), 0.05, batch.label)
    one, other = (made.backward(made.model.eval(), batch)["loss"].item() for made in (whole, pieces))
    assert one == pytest.approx(wanted.item(), abs=1e-4) and other == pytest.approx(one, abs=1e-4)
    for (key, a), (_, b) in zip(whole.model.named_parameters(), pieces.model.named_parameters(), strict=True):
        if a.requires_grad:
            torch.testing.assert_close(a.grad, b.grad, atol=1e-4, rtol=1e-2, msg=key)


def test_non_matches_of_the_queries_follow_the_matches(recipe):
    found, plain = recipe(hard_negatives=2), recipe()
    for step in (0, 3):
        chosen, matches = found.batch_rows(step), plain.batch_rows(step)
        others = chosen[len(matches) :]
        assert chosen[: len(matches)].tolist() == matches.tolist()
        assert len(set(others.tolist())) == len(others) == 2 * len(matches)
        assert not found.pairs.label[others].any()
        asked = [np.bincount(found.pairs.source[rows], minlength=99) for rows in (others, matches)]
        assert asked[0].tolist() == (2 * asked[1]).tolist()
    assert found.steps_per_epoch == plain.steps_per_epoch
    assert found.batch_rows(3).tolist() == recipe(hard_negatives=2).batch_rows(3).tolist()


def test_a_query_has_no_more_non_matches_than_there_are(recipe):
    found = recipe(hard_negatives=100)
    chosen = found.batch_rows(0)
    queries = np.unique(found.pairs.source[chosen])
    wanted = np.flatnonzero((found.pairs.label == 0) & np.isin(found.pairs.source, queries))
    assert sorted(chosen[found.pairs.label[chosen] == 0].tolist()) == wanted.tolist()


def test_an_answer_is_told_from_hard_negatives_too(recipe):
    """Equation by equation: each match against all documents of the batch but other answers of its query."""
    found = recipe(hard_negatives=1, documents=16)
    chosen, batch = found.batch_rows(0), found.draw(0)
    with torch.no_grad():
        rows = torch.cat([found.model.eval()(*_padded(row)).vectors for row in batch.rows.groups(1)])
    queries, documents = (torch.nn.functional.normalize(side, dim=1) for side in rows.chunk(2, dim=1))
    ids, pairs = found.data.tokens.ids, found.pairs
    themes = [(int(ids[number].split("-")[0][1:]) % THEMES) for number in pairs.target[chosen].tolist()]
    losses = []
    for i in np.flatnonzero(pairs.label[chosen]).tolist():
        told = [j for j in range(len(chosen)) if j == i or themes[j] != themes[i]]
        terms = {j: torch.exp(queries[i] @ documents[j] / 0.05).item() for j in told}
        losses.append(-np.log(terms[i] / sum(terms.values())))
    assert len(chosen) == 2 * len(losses)
    assert found.backward(found.model, batch)["loss"].item() == pytest.approx(np.mean(losses), abs=1e-4)


def _padded(row):
    ids = row.text.ids[None]
    mask = torch.ones_like(ids, dtype=torch.bool)
    return ids, mask, row.types(torch.tensor([0]), mask)


def test_the_trained_folder_opens_and_scores_as_training_measured(made, recipe, backbone, tmp_path):
    settings = {"steps": 6, "learning_rate": 2e-3, "documents": 32, "device": "cpu", "precision": "float32"}
    out = train("sst-dual", made, tmp_path / "out", backbone=str(backbone), side_tokens=18, **settings)
    record, matcher = json.loads((out / "longmatch.json").read_text()), longmatch.load(out)
    assert isinstance(matcher, SstMatcher) and record["model"] == "sst-dual"
    matcher.precision = "float32"
    found = recipe()
    documents = {d.id: d for d in iterate_jsonl(made / "documents.jsonl")}
    named = [documents[id] for id in found.data.tokens.ids]
    pairs = [(named[a], named[b]) for a, b in zip(found.held_out.source, found.held_out.target, strict=True)]
    scores = matcher.score_pairs(pairs)
    measured = pair_measures(np.asarray(scores), found.held_out.label)
    assert measured["average_precision"] == pytest.approx(record["scores"]["average_precision"], abs=1e-4)
    match = matcher.compare(*pairs[0])
    assert match.score == pytest.approx(scores[0], abs=1e-4) and match.probability is None and match.alignments


def test_a_temperature_of_nothing_is_refused():
    with pytest.raises(LongmatchError, match=r"loss_temperature is 0.0; it must be above 0"):
        DualSettings(loss_temperature=0.0)


def test_exchanging_documents_is_refused_because_it_would_make_an_answer_a_negative():
    with pytest.raises(LongmatchError, match="leave swap out"):
        DualSettings(swap=True)
