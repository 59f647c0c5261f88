"""Batches read on a core each."""

from threading import Thread

import numpy as np
import pytest
import torch
from transformers import AutoModel

from longmatch.lab.encoders import engine as torch_engine
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.engine import TorchEngine, max_positions, single_core_pool

SPECIALS = (1, 2)


@pytest.fixture
def pieces() -> list[np.ndarray]:
    draw = np.random.default_rng(0)
    return [draw.integers(5, 50, size=1 + n % 7) for n in range(12)]


@pytest.fixture
def engine(tiny_bert, monkeypatch) -> TorchEngine:
    """One piece a batch."""
    made = TorchEngine(TorchBackbone.load(str(tiny_bert), device="cpu").model, "mean")
    made.token_budget = 1
    return made


def test_several_at_once_give_what_one_after_another_gives(engine, pieces, monkeypatch):
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(torch_engine, "limit_torch_threads", lambda threads=threads: threads)
        found.append({int(rows[0]): vectors for rows, vectors in engine.encode(pieces, SPECIALS)})
    alone, together = found
    assert alone.keys() == together.keys() == set(range(12))
    for number, vectors in alone.items():
        assert np.allclose(vectors, together[number], atol=1e-6)


def test_what_goes_wrong_in_one_batch_is_raised_and_the_others_are_not_left_running(engine, pieces):
    pieces[5][0] = 10**6  # no such token
    with pytest.raises(IndexError):
        list(engine.encode(pieces, SPECIALS))


def test_torch_computes_on_one_core_in_each_thread_and_elsewhere_as_before():
    before, elsewhere = torch.get_num_threads(), []
    with single_core_pool(3) as pool:
        assert list(pool.map(lambda _: torch.get_num_threads(), range(6))) == [1] * 6
        assert torch.get_num_threads() == before
        thread = Thread(target=lambda: elsewhere.append(torch.get_num_threads()))
        thread.start()
        thread.join()
    assert elsewhere == [before] and torch.get_num_threads() == before


@pytest.mark.parametrize("kind", ["tiny_bert", "tiny_roberta"])
def test_places_are_counted_from_where_a_backbone_begins(kind, request):
    model = AutoModel.from_pretrained(str(request.getfixturevalue(kind)))
    assert max_positions(model) == 64


def test_positions_that_are_no_table_have_no_end():
    from transformers import ModernBertConfig, ModernBertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = ModernBertModel(ModernBertConfig(vocab_size=60, pad_token_id=0, **sizes))
    assert max_positions(model) is None
