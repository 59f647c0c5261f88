"""A benchmarked workload, its size, and the implementations that are compared."""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from longmatch.encoders.engine import Batch
from longmatch.encoders.pretrained import Pooling
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone, TorchNetwork
from longmatch.lab.encoders.flat import DocumentPieces, FlatTokens, mean_pool
from longmatch.lab.encoders.packed.bert import PackedEngine, tokens_that_fit
from longmatch.lab.losses import supervised_contrastive_loss
from longmatch.lab.papers.colde.encoder import SPECIALS as ADDED
from longmatch.lab.papers.colde.encoder import ChunkBatch, ColdeConfig, ColdeModel
from longmatch.lab.papers.smith.encoder import SIZES, SmithConfig, SmithModel, bert_config
from longmatch.lab.training.bi_encoder_recipe import cached_backward
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units import Tokens

SPECIALS, VOCABULARY = (101, 102), 30_522
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"

WAYS = ("padded", "packed", "kernels")
SWITCHES = {  # LONGMATCH_PACKED, LONGMATCH_KERNELS
    "padded": ("0", "0"),
    "sorted": ("0", "0"),
    "packed": ("1", "0"),
    "kernels": ("1", "1"),
}
CHUNK = 512


@dataclass(frozen=True)
class Sizes:
    """The size of the workloads; tiny on a CPU, where only the code is exercised."""

    encoded: int = 3_000_000 if ON_GPU else 3_000  # tokens
    colde: int = 92 if ON_GPU else 2  # documents per step: as many as fit at once, padded ones included
    smith: int = 480 if ON_GPU else 4
    product: int = 8_192 if ON_GPU else 256
    rounds: int = 12 if ON_GPU else 1
    layers: int | None = None if ON_GPU else 1
    max_tokens: int = 6_144 if ON_GPU else 600  # of a document, for CoLDE


@dataclass
class Workload:
    """One part of the benchmark: how to run it each way, its real tokens, and the operations they need."""

    run: Callable[[str], object]
    vectors: Callable[[str], Tensor]  # without dropout, to compare the ways
    tokens: int
    work: float
    facts: dict[str, Any] = field(default_factory=dict)
    gradient: Callable[[str], Tensor] | None = None  # without dropout
    repeats: Callable[[str], bool] | None = None  # whether passes with and without gradients drop the same units
    in_a_row: int = 1  # runs without a wait between them, like the steps of training


def switched(way: str) -> AbstractContextManager[object]:
    """The environment variables that select an implementation."""
    packed, kernels = SWITCHES[way]
    return patch.dict(os.environ, {"LONGMATCH_PACKED": packed, "LONGMATCH_KERNELS": kernels})


def autocast() -> torch.autocast:
    """bfloat16 on a GPU, nothing on a CPU."""
    return torch.autocast(DEVICE.type, torch.bfloat16, enabled=ON_GPU, cache_enabled=False)


def minilm(sizes: Sizes) -> tuple[Any, str]:
    """The packaged model or, where it is not installed, random weights of its size; and what it is."""
    from transformers import BertConfig, BertModel

    try:
        model: Any = TorchBackbone.load(device="cpu", precision="float32").model
        kind = "all-MiniLM-L6-v2"
    except LongmatchError:
        torch.manual_seed(0)
        model, kind = BertModel(BertConfig(VOCABULARY, 384, 6, 12, 1536)), "random weights of MiniLM's sizes"
    if sizes.layers:
        model.encoder.layer = model.encoder.layer[: sizes.layers]
        model.config.num_hidden_layers = sizes.layers
    return model, kind


def forward_work(encoder: Any, config: Any, lengths: Tensor) -> float:
    """Floating point operations of a forward pass over sequences of these lengths."""
    weights = sum(parameter.numel() for parameter in encoder.parameters() if parameter.dim() == 2)
    tokens = lengths.double()
    pairs = 4 * config.num_hidden_layers * config.hidden_size * (tokens**2).sum()
    return float(2 * weights * tokens.sum() + pairs)


def padded_texts(text: FlatTokens, counts: list[int], width: int) -> tuple[Tensor, Tensor]:
    """The token ids of documents of so many texts each, and which of them are real: (documents, texts, width)."""
    shape = len(counts), max(counts), width
    ids, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    texts = iter(text.ids.split(text.lengths.tolist()))
    for row, count in enumerate(counts):
        for column in range(count):
            piece = next(texts)
            ids[row, column, : len(piece)], mask[row, column, : len(piece)] = piece, 1
    return ids, mask


class Padded:
    """Documents padded to the same shape."""

    ids: Tensor

    def pieces(self, budget: int) -> list[Self]:
        """Groups of as many documents as fit the token budget."""
        size = max(1, budget // self.ids[0].numel())
        parts = (values.to(DEVICE).split(size) for values in vars(self).values())
        return [type(self)(*group) for group in zip(*parts, strict=True)]


@dataclass(frozen=True)
class PaddedChunks(Padded):
    """CoLDE's chunks: (documents, chunks, 512)."""

    ids: Tensor
    mask: Tensor
    section: Tensor
    position: Tensor

    @staticmethod
    def of(batch: ChunkBatch) -> "PaddedChunks":
        """The same chunks, padded."""
        counts = torch.unique_consecutive(batch.document, return_counts=True)[1].tolist()
        numbers = [pad_sequence(each.split(counts), batch_first=True) for each in (batch.section, batch.position)]
        return PaddedChunks(*padded_texts(batch.text, counts, CHUNK), *numbers)

    def vectors(self, model: ColdeModel) -> Tensor:
        """Section vectors; padding goes through the backbone like everything else and is dropped after it."""
        mask = self.mask.flatten(0, 1)
        seen = _attended(mask)
        chunks = model.encode_chunks(self.ids.flatten(0, 1), seen, self.section.flatten(), self.position.flatten())
        real = mask.any(1)
        document = torch.arange(len(self.ids), device=DEVICE).repeat_interleave(self.ids.shape[1])
        section, lengths = self.section.flatten()[real], mask.sum(1)[real] - ADDED
        sections: Tensor = model.aggregate(chunks[real], section, document[real], lengths).sections
        return sections


@dataclass(frozen=True)
class PaddedBlocks(Padded):
    """SMITH's blocks: (documents, blocks, tokens)."""

    ids: Tensor
    mask: Tensor

    @staticmethod
    def of(batch: DocumentPieces) -> "PaddedBlocks":
        """The same blocks, padded."""
        return PaddedBlocks(*padded_texts(batch.text, batch.counts.tolist(), int(batch.text.lengths.max())))

    def vectors(self, model: SmithModel) -> Tensor:
        """Document vectors; padding goes through the sentence level like everything else and is dropped after it."""
        mask = self.mask.flatten(0, 1)
        blocks = model.block_vectors(model.encode_tokens(self.ids.flatten(0, 1), _attended(mask)), _attended(mask))
        real = self.mask.any(2)
        position = torch.arange(real.shape[1], device=DEVICE).expand_as(real)[real]
        documents: Tensor = model.aggregate(blocks[real.flatten()], position, real.sum(1).cpu()).documents
        return documents


def _attended(mask: Tensor) -> Tensor:
    """The mask with at least one token per piece: attention over nothing gives NaN."""
    return mask.index_fill(1, torch.tensor([0], device=DEVICE), 1)


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
    lengths = [len(text) + 2 for text in texts]
    ends = [0]
    for number in range(1, len(texts)):
        if max(lengths[ends[-1] : number + 1]) * (number + 1 - ends[-1]) > budget:
            ends.append(number)
    for first, last in pairwise([*ends, len(texts)]):
        batch = Batch.of(np.arange(first, last), texts[first:last], SPECIALS, 256)
        ids, mask = (torch.from_numpy(array).to(DEVICE) for array in (batch.ids, batch.mask))
        hidden = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        vectors.append(nn.functional.normalize(mean_pool(hidden, mask), dim=1).cpu())
    return torch.cat(vectors)


def training(
    model: Any, encoder: Any, batch: Any, padded: Any, loss: Callable[[Tensor], Tensor], read: Any
) -> Workload:
    """Steps over one batch: `read` gives the vectors the loss compares, from our batch or the padded one."""
    model.to(DEVICE).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, fused=ON_GPU)  # the same weights at every step
    with switched("kernels"):
        budget = tokens_that_fit(encoder, DEVICE) or TrainingSettings().token_budget(ON_GPU)

    def pieces(way: str, limit: int | None = None) -> list[Any]:
        if way == "padded":
            return list(padded.pieces(limit or budget))
        return list(batch.to(DEVICE).groups(limit or budget))

    def run(way: str) -> None:
        with switched(way), autocast():
            cached_backward(lambda piece: read(model, piece), pieces(way), loss)
        optimizer.step()
        optimizer.zero_grad()

    @torch.no_grad()
    def vectors(way: str) -> Tensor:
        model.eval()
        try:
            with switched(way), autocast():
                return torch.cat([read(model, piece).float().cpu() for piece in pieces(way)])
        finally:
            model.train()

    def gradient(way: str) -> Tensor:
        model.eval()
        for module in model.modules():
            module.train(isinstance(module, nn.RNNBase))  # cuDNN's RNNs go backward in training mode only
        try:
            with switched(way), autocast():
                cached_backward(lambda piece: read(model, piece), pieces(way), loss)
            return torch.cat(
                [weight.grad.flatten().double().cpu() for weight in encoder.parameters() if weight.grad is not None]
            )
        finally:
            model.train()
            model.zero_grad()

    def repeats(way: str) -> bool:
        passes = []
        with switched(way), autocast():
            for with_gradient in (True, False):
                torch.manual_seed(1)
                with torch.set_grad_enabled(with_gradient):
                    passes.append(read(model, pieces(way, 8_192)[0]).detach())
        return torch.equal(*passes)

    facts = {"tokens": batch.tokens, "tokens_at_once": budget}
    return Workload(run, vectors, batch.tokens, 0.0, facts, gradient, repeats, in_a_row=4 if ON_GPU else 1)


def colde(documents: list[Tokens], sizes: Sizes) -> Workload:
    """CoLDE on MiniLM: chunks of up to 512 tokens of whole documents, a contrastive loss over their sections."""
    backbone, kind = minilm(sizes)
    torch.manual_seed(0)
    model = ColdeModel(ColdeConfig(backbone=backbone.config.to_dict()))
    model.backbone.load_state_dict(backbone.state_dict(), strict=False)
    chosen = documents[: sizes.colde]
    batch = model.layout(SPECIALS, sizes.max_tokens).lay_out(chosen)
    labels = torch.arange(len(chosen), device=DEVICE).div(2, rounding_mode="floor").repeat_interleave(2)

    def read(model: ColdeModel, piece: ChunkBatch | PaddedChunks) -> Tensor:
        if isinstance(piece, PaddedChunks):
            return piece.vectors(model)
        sections: Tensor = model.encode_batch(piece).sections
        return sections

    def loss(vectors: Tensor) -> Tensor:
        return supervised_contrastive_loss(vectors, labels, 0.5)

    padded = PaddedChunks.of(batch)
    workload = training(model, model.backbone, batch, padded, loss, read)
    workload.work = 3 * forward_work(model.backbone.encoder, model.backbone.config, batch.text.lengths)
    workload.facts |= {"model": kind, "documents": len(chosen), "filled": batch.tokens / padded.ids.numel()}
    return workload


def smith(documents: list[Tokens], sizes: Sizes) -> Workload:
    """SMITH at the paper's size: up to 64 blocks of 32 tokens per document, binary classification of pairs."""
    layers, document_layers, width, heads = SIZES["base"]
    torch.manual_seed(0)
    inner = bert_config(VOCABULARY, sizes.layers or layers, width, heads, 32).to_dict()
    model = SmithModel(SmithConfig(sentence_level=inner, document_layers=sizes.layers or document_layers))
    chosen = (documents * -(-sizes.smith // len(documents)))[: sizes.smith]
    batch = model.layout(SPECIALS).lay_out(chosen)
    source = torch.arange(0, len(chosen) - 1, 2, device=DEVICE)
    label = (source // 2 % 2).float()

    def loss(vectors: Tensor) -> Tensor:
        cosines = (vectors[source] * vectors[source + 1]).sum(1)
        return nn.functional.binary_cross_entropy_with_logits(model.logits(cosines), label)

    def read(model: SmithModel, piece: DocumentPieces | PaddedBlocks) -> Tensor:
        if isinstance(piece, PaddedBlocks):
            return piece.vectors(model)
        documents: Tensor = model.encode_batch(piece).documents
        return documents

    padded = PaddedBlocks.of(batch)
    workload = training(model, model.sentence_level, batch, padded, loss, read)
    levels = ((model.sentence_level, batch.text.lengths), (model.document_level, batch.counts))
    workload.work = 3 * sum(forward_work(level.encoder, level.config, lengths) for level, lengths in levels)
    workload.facts |= {"documents": len(chosen), "blocks": len(batch.text), "filled": batch.tokens / padded.ids.numel()}
    return workload


def timed(run: Callable[[], object], times: int) -> list[float]:
    """Seconds of each of `times` runs, after one uncounted."""
    return [timed_once(run) for _ in range(times + 1)][1:]


def timed_once(run: Callable[[], object], in_a_row: int = 1) -> float:
    """Seconds per run, over `in_a_row` runs without a wait between them."""
    wait()
    start = time.perf_counter()
    for _ in range(in_a_row):
        run()
    wait()
    return (time.perf_counter() - start) / in_a_row


def wait() -> None:
    """Until the GPU has finished all its work."""
    if ON_GPU:
        torch.cuda.synchronize()
