"""A batch of sentence pairs: words masked but no special token, both losses from one pass, groups within a budget."""

from pathlib import Path

import numpy as np
import pytest
import torch

from longmatch.documents import read_text_string
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.papers.sdr.batch import PairLayout, SentenceBatch
from longmatch.lab.papers.sdr.encoder import SdrModel
from longmatch.lab.papers.sdr.pairs import SentencePool
from longmatch.lab.training.masked_words import IGNORED
from tests.lab.papers.sdr.test_pairs import TEXTS
from tests.lab.store.essays import token_collection


@pytest.fixture(scope="module")
def backbone(tiny_bert: Path) -> TorchBackbone:
    return TorchBackbone.load(str(tiny_bert), device="cpu")


@pytest.fixture(scope="module")
def pool(backbone, tmp_path_factory) -> SentencePool:
    documents = [read_text_string(text, str(i)) for i, text in enumerate(TEXTS)]
    tokens = token_collection(tmp_path_factory.mktemp("stores"), documents, backbone.tokenizer)
    return SentencePool.of(tokens, np.arange(3), limit=60)


def batch_of(pool: SentencePool, backbone: TorchBackbone, share: float, seed: int = 0) -> SentenceBatch:
    layout = PairLayout(4, backbone.tokenizer.get_vocab_size(), (backbone.first_token, backbone.last_token), share)
    random = np.random.default_rng(seed)
    return layout.lay_out(pool, pool.draw(pool.anchors, random), random)


def test_sentences_stand_two_by_two_with_their_start_and_end_tokens(pool, backbone):
    batch = batch_of(pool, backbone, 0.0)
    drawn = pool.draw(pool.anchors, np.random.default_rng(0))
    pieces = batch.sentences.ids.split(batch.sentences.lengths.tolist())
    wanted = [pool.ids(i).tolist() for pair in zip(drawn.p, drawn.q, strict=True) for i in pair]
    assert [piece.tolist() for piece in pieces] == [[backbone.first_token, *ids, backbone.last_token] for ids in wanted]
    assert batch.intra.tolist() == drawn.intra.astype(int).tolist() and batch.masked == 0


def test_about_the_share_asked_for_is_hidden_and_never_a_special_token(pool, backbone):
    plain = batch_of(pool, backbone, 0.0)
    hidden = tokens = 0
    for seed in range(60):
        batch = batch_of(pool, backbone, 0.15, seed)
        ends = batch.sentences.lengths.cumsum(0)
        assert (batch.labels[ends - 1] == IGNORED).all() and (
            batch.labels[ends - batch.sentences.lengths] == IGNORED
        ).all()
        same = batch.labels == IGNORED
        hidden, tokens = hidden + batch.masked, tokens + batch.tokens - 2 * len(batch.sentences)
        if seed == 0:
            assert torch.equal(batch.sentences.ids[same], plain.sentences.ids[same])
            assert torch.equal(batch.labels[~same], plain.sentences.ids[~same])
    assert hidden / tokens == pytest.approx(0.15, abs=0.02)


def test_the_same_random_numbers_give_the_same_batch(pool, backbone):
    one, same, other = (batch_of(pool, backbone, 0.15, seed) for seed in (3, 3, 4))
    assert torch.equal(one.sentences.ids, same.sentences.ids) and torch.equal(one.labels, same.labels)
    assert one.sentences.ids.tolist() != other.sentences.ids.tolist()


def test_what_is_read_is_the_mean_of_each_sentences_last_layer_and_the_vectors_of_its_hidden_words(pool, backbone):
    model = SdrModel(backbone.model).eval()
    batch = batch_of(pool, backbone, 0.3)
    with torch.no_grad():
        vectors, masked, labels = model.encode_batch(batch)
        pieces = batch.sentences.ids.split(batch.sentences.lengths.tolist())
        alone = [backbone.model(input_ids=piece[None]).last_hidden_state[0] for piece in pieces]
    torch.testing.assert_close(vectors, torch.stack([states.mean(0) for states in alone]), atol=1e-5, rtol=1e-5)
    chosen = batch.labels != IGNORED
    wanted = torch.cat(alone)[chosen]
    assert sorted(labels.tolist()) == sorted(batch.labels[chosen].tolist())
    assert masked.sum(0).tolist() == pytest.approx(wanted.sum(0).tolist(), abs=1e-3)


def test_groups_are_whole_pairs_within_the_budget(pool, backbone):
    batch = batch_of(pool, backbone, 0.15)
    groups = list(batch.groups(40))
    assert len(groups) > 1 and all(len(group) == 1 or group.tokens <= 40 for group in groups)
    assert torch.equal(torch.cat([group.sentences.ids for group in groups]), batch.sentences.ids)
    assert torch.equal(torch.cat([group.labels for group in groups]), batch.labels)
    assert torch.equal(torch.cat([group.intra for group in groups]), batch.intra)
    assert all(len(group.sentences) == 2 * len(group) for group in groups)
