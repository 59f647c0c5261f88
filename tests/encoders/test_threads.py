"""Batches read on a core each."""

from threading import Thread

import numpy as np
import pytest
import torch

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.engine import Batch, TorchEngine
from longmatch.encoders.threads import single_core_pool


@pytest.fixture
def batches() -> list[Batch]:
    draw = np.random.default_rng(0)
    return [Batch.of(np.array([n]), [draw.integers(5, 50, size=1 + n % 7)], (1, 2), longest=40) for n in range(12)]


def test_several_at_once_give_what_one_after_another_gives_in_the_same_order(tiny_bert, batches):
    engine = TorchEngine(Backbone.load(str(tiny_bert), device="cpu", precision="float32").model)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = list(engine.read(batches))
        torch.set_num_threads(3)
        together = list(engine.read(batches))
    finally:
        torch.set_num_threads(threads)
    assert [int(batch.rows[0]) for batch, _ in together] == list(range(12))
    for (_, one), (_, other) in zip(alone, together, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_what_goes_wrong_in_one_batch_is_raised_and_the_others_are_not_left_running(tiny_bert, batches):
    engine = TorchEngine(Backbone.load(str(tiny_bert), device="cpu", precision="float32").model)
    batches[5].ids[0, 0] = 10**6  # no such token
    with pytest.raises(IndexError):
        list(engine.read(batches))


def test_torch_computes_on_one_core_in_each_thread_and_elsewhere_as_before():
    before, elsewhere = torch.get_num_threads(), []
    with single_core_pool(3) as pool:
        assert list(pool.map(lambda _: torch.get_num_threads(), range(6))) == [1] * 6
        assert torch.get_num_threads() == before
        thread = Thread(target=lambda: elsewhere.append(torch.get_num_threads()))
        thread.start()
        thread.join()
    assert elsewhere == [before] and torch.get_num_threads() == before
