"""Sentences into vectors."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from training import DEVICE

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.engine import Batch
from longmatch.encoders.flat import mean_of_tokens
from longmatch.encoders.packed import PackedEngine
from longmatch.encoders.pretrained import Pooling
from longmatch.units import Tokens
from on_gpu.job import ON_GPU, SPECIALS, Job, Sizes
from on_gpu.models import forward_work, minilm
from on_gpu.ways import SWITCHES, switched


def encoding(documents: list[Tokens], sizes: Sizes) -> Job:
    """All sentences of the documents, of at most 254 tokens, into one vector each."""
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
            backbones[way] = Backbone(model, None, Pooling("mean", 256), SPECIALS, way)  # type: ignore[arg-type]
            _ = backbones[way].engine
    assert isinstance(backbones["packed"].engine, PackedEngine)
    some = pieces[:: max(1, len(pieces) // 2_000)]

    def run(way: str, texts: list[Any] = pieces) -> Tensor:
        with switched(way):
            if way == "padded":
                return encode_padded(model, texts)
            return torch.from_numpy(backbones[way].encode(texts))

    lengths = torch.tensor([len(piece) + 2 for piece in pieces])
    facts = {"model": kind, "sentences": len(pieces), "tokens": int(lengths.sum())}
    work = forward_work(model.encoder, model.config, lengths)
    return Job(run, lambda way: run(way, some), int(lengths.sum()), work, facts)


@torch.inference_mode()
def encode_padded(model: Any, texts: list[Any], budget: int = 65_536) -> Tensor:
    """Sentences in their order, in batches of as many as the budget holds, each padded to the longest."""
    found = []
    for first, last in in_order([len(text) + 2 for text in texts], budget):
        batch = Batch.of(np.arange(first, last), texts[first:last], SPECIALS, 256).to(DEVICE)
        hidden = model(input_ids=batch.ids, attention_mask=batch.mask.long()).last_hidden_state
        found.append(nn.functional.normalize(mean_of_tokens(hidden, batch.mask), dim=1).cpu())
    return torch.cat(found)


def in_order(lengths: Sequence[int], budget: int) -> Iterator[tuple[int, int]]:
    """Runs of texts that, padded to the longest of them, have at most so many tokens."""
    first = longest = 0
    for number, length in enumerate(lengths):
        longest = max(longest, length)
        if number > first and longest * (number + 1 - first) > budget:
            yield first, number
            first, longest = number, length
    yield first, len(lengths)
