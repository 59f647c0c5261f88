"""A batch of sentence pairs: as they are and masked, no special token masked, groups within a budget."""

from pathlib import Path

import numpy as np
import pytest
import torch

from longmatch.documents import read_text_string
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.flat import FlatTokens
from longmatch.lab.papers.sdr.pairs import PairLayout, SentenceBatch, SentencePool
from longmatch.lab.papers.sdr.training import SdrModel
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


def batch_of(pool: SentencePool, backbone: TorchBackbone, share: float, seed: int = 0, **others) -> SentenceBatch:
    specials = backbone.first_token, backbone.last_token
    layout = PairLayout(4, backbone.tokenizer.get_vocab_size(), specials, share, **others)
    random = np.random.default_rng(seed)
    return layout.lay_out(pool, pool.draw(pool.anchors, random), random)


def test_sentences_stand_two_by_two_with_their_start_and_end_tokens(pool, backbone):
    batch = batch_of(pool, backbone, 0.0)
    drawn = pool.draw(pool.anchors, np.random.default_rng(0))
    pieces = batch.compared.ids.split(batch.compared.lengths.tolist())
    wanted = [pool.ids(i).tolist() for pair in zip(drawn.p, drawn.q, strict=True) for i in pair]
    assert [piece.tolist() for piece in pieces] == [[backbone.first_token, *ids, backbone.last_token] for ids in wanted]
    assert batch.intra.tolist() == drawn.intra.astype(int).tolist()
    assert batch.document.tolist() == pool.document[drawn.p].tolist()
    assert batch.masked_count == len(batch.masked) == 0


def test_about_the_share_asked_for_is_hidden_and_never_a_special_token(pool, backbone):
    plain = batch_of(pool, backbone, 0.0)
    hidden = tokens = 0
    for seed in range(60):
        batch = batch_of(pool, backbone, 0.15, seed)
        ends = batch.masked.lengths.cumsum(0)
        assert (batch.labels[ends - 1] == IGNORED).all() and (
            batch.labels[ends - batch.masked.lengths] == IGNORED
        ).all()
        same = batch.labels == IGNORED
        hidden, tokens = hidden + batch.masked_count, tokens + batch.masked.tokens - 2 * len(batch.masked)
        if seed == 0:
            assert torch.equal(batch.masked.ids[same], plain.compared.ids[same])
            assert torch.equal(batch.labels[~same], plain.compared.ids[~same])
    assert hidden / tokens == pytest.approx(0.15, abs=0.02)


def test_the_same_random_numbers_give_the_same_batch(pool, backbone):
    one, same, other = (batch_of(pool, backbone, 0.15, seed) for seed in (3, 3, 4))
    assert torch.equal(one.masked.ids, same.masked.ids) and torch.equal(one.labels, same.labels)
    assert one.masked.ids.tolist() != other.masked.ids.tolist()


def test_words_are_masked_in_a_copy_and_the_sentences_compared_stay_whole(pool, backbone):
    clean, batch = batch_of(pool, backbone, 0.0), batch_of(pool, backbone, 0.15)
    assert torch.equal(batch.compared.ids, clean.compared.ids) and batch.masked_count > 0
    assert not torch.equal(batch.masked.ids, clean.compared.ids)
    assert batch.tokens == 2 * clean.tokens


def test_the_masked_sentences_are_compared_where_the_settings_say_so(pool, backbone):
    batch = batch_of(pool, backbone, 0.15, masked_pairs=True)
    assert torch.equal(batch.compared.ids, batch.masked.ids)


@pytest.mark.parametrize("packed", ["0", "1"])
def test_sentence_vectors_are_the_mean_of_the_last_layer_and_masked_words_its_vectors(
    pool, backbone, packed, monkeypatch
):
    monkeypatch.setenv("LONGMATCH_PACKED", packed)
    model = SdrModel(backbone.model).eval()
    batch = batch_of(pool, backbone, 0.3)

    def alone(text: FlatTokens) -> list[torch.Tensor]:
        pieces = text.ids.split(text.lengths.tolist())
        return [backbone.model(input_ids=piece[None]).last_hidden_state[0] for piece in pieces]

    with torch.no_grad():
        vectors = model.encode_sentences(batch.compared)
        masked, labels = model.encode_masked(batch.masked, batch.labels)
        means = torch.stack([states.mean(0) for states in alone(batch.compared)])
        wanted = torch.cat(alone(batch.masked))[batch.labels != IGNORED]
    torch.testing.assert_close(vectors, means, atol=1e-5, rtol=1e-5)
    assert sorted(labels.tolist()) == sorted(batch.labels[batch.labels != IGNORED].tolist())
    assert masked.sum(0).tolist() == pytest.approx(wanted.sum(0).tolist(), abs=1e-3)


def test_groups_are_whole_sentences_within_the_budget(pool, backbone):
    batch = batch_of(pool, backbone, 0.15)
    groups = list(batch.masked_groups(40))
    assert len(groups) > 1 and all(len(text) == 1 or text.tokens <= 40 for text, _ in groups)
    assert torch.equal(torch.cat([text.ids for text, _ in groups]), batch.masked.ids)
    assert torch.equal(torch.cat([labels for _, labels in groups]), batch.labels)
