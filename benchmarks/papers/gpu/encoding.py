"""Encoding sentences into vectors."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.papers.gpu.models import forward_work, minilm
from benchmarks.papers.gpu.workload import DEVICE, ON_GPU, SPECIALS, SWITCHES, Sizes, Workload, switched
from longmatch.encoders.engine import Batch
from longmatch.encoders.pretrained import Pooling
from longmatch.lab.encoders.backbone import TorchBackbone, TorchNetwork
from longmatch.lab.encoders.flat import mean_pool
from longmatch.lab.encoders.packed import PackedEngine
from longmatch.units import Tokens


def encoding(documents: list[Tokens], sizes: Sizes) -> Workload:
    """One vector for each sentence of the documents, of at most 254 tokens."""
    model, kind = minilm(sizes)
    model = model.to(DEVICE, torch.bfloat16 if ON_GPU else torch.float32).eval()
    pieces: list[Any] = []
    total = 0
    for tokens in documents:
        for first, last in pairwise(tokens.sentence_offsets.tolist()):
            if total < sizes.encoded:
                pieces.append(tokens.ids[first : min(last, first + 254)])
                total += len(pieces[-1])
    backbones = {}
    for way in SWITCHES:
        with switched(way):
            backbones[way] = TorchBackbone(TorchNetwork(model), None, SPECIALS, Pooling("mean", 256), way)  # type: ignore[arg-type]
            _ = backbones[way].engine
    assert isinstance(backbones["packed"].engine, PackedEngine)
    sample = pieces[:: max(1, len(pieces) // 2_000)]

    def run(way: str, texts: list[Any] = pieces) -> Tensor:
        with switched(way):
            if way == "padded":
                return encode_padded(model, texts)
            return torch.from_numpy(backbones[way].encode(texts))

    lengths = torch.tensor([len(piece) + 2 for piece in pieces])
    facts = {"model": kind, "sentences": len(pieces), "tokens": int(lengths.sum())}
    work = forward_work(model.encoder, model.config, lengths)
    return Workload(run, lambda way: run(way, sample), int(lengths.sum()), work, facts)


@torch.inference_mode()
def encode_padded(model: Any, texts: list[Any], budget: int = 65_536) -> Tensor:
    """Sentences in document order, in batches that fit the token budget, each padded to its longest."""
    vectors = []
    for first, last in batches_in_order([len(text) + 2 for text in texts], budget):
        batch = Batch.of(np.arange(first, last), texts[first:last], SPECIALS, 256)
        ids, mask = (torch.from_numpy(array).to(DEVICE) for array in (batch.ids, batch.mask))
        hidden = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        vectors.append(nn.functional.normalize(mean_pool(hidden, mask), dim=1).cpu())
    return torch.cat(vectors)


def batches_in_order(lengths: Sequence[int], budget: int) -> Iterator[tuple[int, int]]:
    """Runs of consecutive texts with at most `budget` tokens once padded to their longest."""
    first = longest = 0
    for number, length in enumerate(lengths):
        longest = max(longest, length)
        if number > first and longest * (number + 1 - first) > budget:
            yield first, number
            first, longest = number, length
    yield first, len(lengths)
