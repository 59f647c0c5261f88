"""Training steps of CoLDE and SMITH."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.papers.gpu.models import forward_work, minilm
from benchmarks.papers.gpu.padded import PaddedBlocks, PaddedChunks
from benchmarks.papers.gpu.workload import (
    DEVICE,
    ON_GPU,
    SPECIALS,
    VOCABULARY,
    Sizes,
    Workload,
    autocast,
    switched,
)
from longmatch.lab.encoders.packed import tokens_that_fit
from longmatch.lab.losses import supervised_contrastive_loss
from longmatch.lab.papers.colde.augmentation import ChunkBatch
from longmatch.lab.papers.colde.config import ColdeConfig
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.smith.batch import BlockBatch
from longmatch.lab.papers.smith.config import SIZES, SmithConfig, sentence_level
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.training.gradient_cache import cached_backward
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units import Tokens


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
        sections: Tensor = (
            piece.vectors(model) if isinstance(piece, PaddedChunks) else model.encode_batch(piece).sections
        )
        return sections

    padded = PaddedChunks.of(batch)
    workload = training(
        model, model.backbone, batch, padded, lambda vectors: supervised_contrastive_loss(vectors, labels, 0.5), read
    )
    workload.work = 3 * forward_work(model.backbone.encoder, model.backbone.config, batch.text.lengths)
    workload.facts |= {"model": kind, "documents": len(chosen), "filled": batch.tokens / padded.ids.numel()}
    return workload


def smith(documents: list[Tokens], sizes: Sizes) -> Workload:
    """SMITH at the paper's size: up to 64 blocks of 32 tokens per document, binary classification of pairs."""
    layers, document_layers, width, heads = SIZES["base"]
    torch.manual_seed(0)
    inner = sentence_level(VOCABULARY, sizes.layers or layers, width, heads, 32)
    model = SmithModel(SmithConfig(sentence_level=inner, document_layers=sizes.layers or document_layers))
    chosen = (documents * -(-sizes.smith // len(documents)))[: sizes.smith]
    batch = model.layout(SPECIALS).lay_out(chosen)
    source = torch.arange(0, len(chosen) - 1, 2, device=DEVICE)
    label = (source // 2 % 2).float()

    def loss(vectors: Tensor) -> Tensor:
        cosines = (vectors[source] * vectors[source + 1]).sum(1)
        return nn.functional.binary_cross_entropy_with_logits(model.logits(cosines), label)

    def read(model: SmithModel, piece: BlockBatch | PaddedBlocks) -> Tensor:
        documents: Tensor = (
            piece.vectors(model) if isinstance(piece, PaddedBlocks) else model.encode_batch(piece).documents
        )
        return documents

    padded = PaddedBlocks.of(batch)
    workload = training(model, model.sentence_level, batch, padded, loss, read)
    levels = ((model.sentence_level, batch.text.lengths), (model.document_level, batch.counts))
    workload.work = 3 * sum(forward_work(level.encoder, level.config, lengths) for level, lengths in levels)
    workload.facts |= {"documents": len(chosen), "blocks": len(batch.text), "filled": batch.tokens / padded.ids.numel()}
    return workload
