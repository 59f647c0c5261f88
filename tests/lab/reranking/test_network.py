"""A network beside the default's score: it starts as the default, and learns what texts tell."""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from longmatch.encoders.backbone import Backbone
from longmatch.lab.baselines.cross.batch import CrossBatch
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import SentenceVectorLayer
from longmatch.lab.reranking import network
from longmatch.lab.reranking.candidates import CandidateLists
from longmatch.lab.reranking.network import NetworkSettings, NetworkTraining, SetLists
from longmatch.lab.reranking.texts import CandidateTexts
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenLayer
from tests.lab.baselines.cross.tiny_cross import save_learner
from tests.lab.reranking.made_lists import made_lists
from tests.lab.training.synthetic.classes import common_words

DOCUMENTS, QUERIES, LISTED = 24, 8, 12
SETTINGS = NetworkSettings(
    steps=40,
    queries=4,
    answers=2,
    documents=6,
    depth=LISTED,
    learning_rate=1e-3,
    head_learning_rate=1e-2,
    validations=2,
    with_evidence=False,
)


@pytest.fixture(scope="module")
def learner(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_learner(tiny_bert, tmp_path_factory.mktemp("learner"))


@pytest.fixture
def texts(make_data: Callable[..., Path], tiny_bert: Path, tmp_path: Path) -> CandidateTexts:
    """Short texts of random words, of which every fourth names the word that all answers have."""
    marker, *words = common_words(tiny_bert / "vocab.txt")
    rng = random.Random(0)
    marked = {n: [marker] * 2 * (n % 4 == 0) for n in range(DOCUMENTS)}
    made = {f"d{n:02}": " ".join(rng.sample(words, 6) + own).capitalize() + "." for n, own in marked.items()}
    corpus, backbone = Corpus(DataFolder(make_data(made))), Backbone.load(str(tiny_bert), precision="float32")
    layers = [TokenLayer(backbone.tokenizer), SentenceVectorLayer(backbone)]
    return CandidateTexts(*LayerStore.of(tmp_path / "layers", corpus.source).build(layers))


def drawn(seed: int, answers_first: bool = False) -> CandidateLists:
    """Queries with some of the documents in random order; answers are those that have the word."""
    rng = random.Random(seed)
    queries = rng.sample(range(DOCUMENTS), QUERIES)
    listed = {query: rng.sample([n for n in range(DOCUMENTS) if n != query], LISTED) for query in queries}
    if answers_first:
        listed = {query: sorted(documents, key=lambda n: n % 4 > 0) for query, documents in listed.items()}
    return made_lists(listed, {query: {n: 1 for n in listed[query] if n % 4 == 0} for query in queries})


@pytest.fixture
def training(learner: Path, texts: CandidateTexts) -> Callable[..., NetworkTraining]:
    """Makes the training of a network from one set of lists or several."""

    def make(*lists: CandidateLists, **settings: object) -> NetworkTraining:
        torch.manual_seed(0)
        cross = CrossModel.from_backbone(str(learner), dropout=0.0, readout="fresh")
        train = {str(number): SetLists.of(each, texts) for number, each in enumerate(lists or [drawn(0)])}
        return NetworkTraining(cross, (2, 3), train, replace(SETTINGS, **settings))

    return make


def with_random_weights(training: NetworkTraining) -> NetworkTraining:
    """As if it had learnt something."""
    with torch.no_grad():
        training.model.added.weight.normal_()
    return training


def test_at_first_it_adds_nothing_so_the_order_is_the_defaults(training, texts: CandidateTexts) -> None:
    lists = SetLists.of(drawn(1), texts)
    made = training(with_evidence=True)
    assert not made.added(lists).any()
    assert made.validate({"test": lists}) == pytest.approx(lists.best.ndcg(lists.best.scores).mean())


def test_it_learns_to_put_first_the_documents_whose_text_tells(training, texts: CandidateTexts) -> None:
    made, held_out = training(), {"test": SetLists.of(drawn(1), texts)}
    reached = made.run(held_out)
    assert max(reached) > reached[0] + 0.15  # beside the default's order, which is random here
    assert made.validate(held_out) == pytest.approx(max(reached))
    best = held_out["test"].best
    depth = made.settings.depth
    alone = best.scores[:, :depth] + torch.from_numpy(made.added(held_out["test"], depth)).float()
    assert best.ndcg(best.scores).mean() < 0.7
    assert best.ndcg(alone).mean() > 0.9


def test_training_that_only_harms_leaves_the_default(training, texts: CandidateTexts) -> None:
    upside_down = drawn(0)
    wrong = replace(upside_down, grades=1 - upside_down.grades)
    held_out = SetLists.of(drawn(1, answers_first=True), texts)
    made = training(wrong)
    reached = made.run({"test": held_out})
    assert reached[0] == pytest.approx(1.0)
    assert max(reached[1:]) < 0.9
    assert not made.added(held_out).any()


def test_at_a_learning_rate_of_nothing_nothing_changes(training, texts: CandidateTexts) -> None:
    made = training(steps=2, learning_rate=0.0, head_learning_rate=0.0)
    before = {name: weight.clone() for name, weight in made.model.state_dict().items()}
    reached = made.run({"test": SetLists.of(drawn(1), texts)})
    assert len(set(reached)) == 1
    assert all(torch.equal(weight, before[name]) for name, weight in made.model.state_dict().items())


def test_what_it_adds_is_what_it_makes_of_each_pair_by_itself(training, texts: CandidateTexts, monkeypatch) -> None:
    monkeypatch.setattr(network, "ROWS", 5)
    evidence = np.random.default_rng(0).normal(size=drawn(0).evidence.shape).astype(np.float32)
    lists = replace(drawn(0), evidence=evidence)
    made, of = with_random_weights(training(lists, with_evidence=True)), SetLists.of(lists, texts)
    found = made.added(of, depth=3, queries=2)
    assert found.shape == (QUERIES, 3)
    assert not found[2:].any()
    made.model.eval()
    for query in range(2):
        for place in range(3):
            batch = CrossBatch.of(texts.rows(lists, [LISTED * query + place]), (2, 3)).to(made.device)
            with torch.no_grad():
                alone = made.model(batch, of.best.evidence[query, place][None].to(made.device))
            assert found[query, place] == pytest.approx(alone.item(), abs=1e-4)
    assert len(np.unique(found[:2])) == 6


def test_evidence_counts_only_if_it_is_asked_for(training, texts: CandidateTexts) -> None:
    lists = drawn(0)
    other = replace(lists, evidence=np.random.default_rng(0).normal(size=lists.evidence.shape).astype(np.float32))
    for asked in (True, False):
        made = with_random_weights(training(other, with_evidence=asked))
        plain, changed = (made.added(SetLists.of(each, texts), depth=4) for each in (lists, other))
        assert np.allclose(plain, changed, atol=1e-5) == (not asked)


def test_a_steps_loss_is_the_mean_over_the_lists_drawn_pair_by_pair(training) -> None:
    made = with_random_weights(training(drawn(0), drawn(2)))
    made.model.eval()
    names, losses = ["0", "1", "0"], []
    with torch.no_grad():
        found = made._loss(names, np.random.default_rng(5)).item()
        rng = np.random.default_rng(5)
        for name in names:
            of = made.train[name]
            query = int(rng.choice(made._usable[name]))
            right, wrong = [], []
            for place in made._draw(of.best.grades[query], of.best.listed[query].numpy(), rng).tolist():
                candidate = int(of.candidates[query, place])
                added = made._added(of.texts.rows(of.lists, [candidate]), of.best.evidence[query, place][None])
                (right if of.lists.grades[candidate] else wrong).append(float(of.lists.scores[candidate] + added))
            others = sum(map(math.exp, wrong))
            losses.append(np.mean([math.log((math.exp(score) + others) / math.exp(score)) for score in right]))
    assert found == pytest.approx(np.mean(losses), abs=1e-4)


def test_a_list_of_a_step_has_answers_and_other_documents_from_the_first_ones_alone(training) -> None:
    made = training(answers=2, documents=5, depth=6)  # the answer in place 7 would be told by its low score
    grades, listed = np.array([0, 1, 0, 0, 0, 1, 0, 1, 0, 0]), np.arange(10) < 9
    drawn_places = [made._draw(grades, listed, np.random.default_rng(seed)) for seed in range(20)]
    for places in drawn_places:
        assert grades[places].tolist() == [1, 1, 0, 0, 0]
        assert len(set(places.tolist())) == 5
    assert {int(place) for places in drawn_places for place in places} == {0, 1, 2, 3, 4, 5}


def test_without_the_defaults_score_a_networks_own_order_is_that_of_the_texts(training, texts: CandidateTexts) -> None:
    lists = drawn(0)
    steep = replace(lists, scores=np.tile(-100.0 * np.arange(LISTED, dtype=np.float32), QUERIES))  # hard to overturn
    losses = {}
    for beside in (True, False):
        made = with_random_weights(training(steep, with_default=beside, depth=LISTED))
        made.model.eval()
        with torch.no_grad():
            losses[beside] = made._loss(["0"] * 8, np.random.default_rng(1)).item()
    assert losses[False] < 10 < losses[True]
    made, of = training(steep, with_default=False), SetLists.of(steep, texts)
    assert made.validate({"test": of}) == pytest.approx(of.best.ndcg(of.best.scores).mean())  # all are equal at first


def test_every_set_counts_alike_in_validation(training, texts: CandidateTexts) -> None:
    made = training(validation_queries=3)
    sets = {name: SetLists.of(drawn(seed), texts) for name, seed in (("one", 1), ("two", 2))}
    expected = [of.best.ndcg(of.best.scores)[:3].mean() for of in sets.values()]
    assert made.validate(sets) == pytest.approx(np.mean(expected))


def test_a_query_without_answers_among_the_first_ones_is_never_drawn(training) -> None:
    lists = drawn(0)
    grades = lists.grades.copy()
    grades[: 3 * LISTED] = 0
    grades[3 * LISTED - 1] = 1  # the last of the third list
    made = training(replace(lists, grades=grades), depth=LISTED - 1)
    assert made._usable["0"].tolist() == list(range(3, QUERIES))
