"""Steps of training: CoLDE's and SMITH's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from training import DEVICE, Padded, autocast

from longmatch.encoders.packed import tokens_that_fit
from longmatch.lab.losses import supervised_contrastive_loss
from longmatch.lab.papers.colde.augmentation import ChunkBatch
from longmatch.lab.papers.colde.config import ColdeConfig
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.smith import reading as smith_reading
from longmatch.lab.papers.smith.batch import BlockBatch
from longmatch.lab.papers.smith.config import SIZES, SmithConfig, sentence_level
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.training.caching import cached_backward
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units import Tokens
from on_gpu.job import ON_GPU, SPECIALS, VOCABULARY, Job, Sizes
from on_gpu.models import forward_work, minilm
from on_gpu.ways import switched


def training(model: Any, encoder: Any, batch: Any, plain: Any, loss: Callable[[Tensor], Tensor], read: Any) -> Job:
    """Steps over one batch: `read` gives what the loss compares, of our batch or of the padded one."""
    model.to(DEVICE).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, fused=ON_GPU)  # the same weights at every step
    with switched("kernels"):
        budget = tokens_that_fit(encoder, DEVICE) or TrainingSettings().token_budget(ON_GPU)

    def pieces(way: str, most: int | None = None) -> list[Any]:
        if way == "padded":
            return list(plain.pieces(most or budget))
        return list(batch.to(DEVICE).groups(most or budget))

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
            module.train(isinstance(module, nn.RNNBase))  # cuDNN goes back through these in training alone
        try:
            with switched(way), autocast():
                cached_backward(lambda piece: read(model, piece), pieces(way), loss)
            found = [weight.grad.flatten().double().cpu() for weight in encoder.parameters() if weight.grad is not None]
            return torch.cat(found)
        finally:
            model.train()
            model.zero_grad()

    def repeats(way: str) -> bool:
        found = []
        with switched(way), autocast():
            for learning in (True, False):
                torch.manual_seed(1)
                with torch.set_grad_enabled(learning):
                    found.append(read(model, pieces(way, 8_192)[0]).detach())
        return torch.equal(*found)

    facts = {"tokens": batch.tokens, "tokens_at_once": budget}
    return Job(run, vectors, batch.tokens, 0.0, facts, gradient, repeats, in_a_row=4 if ON_GPU else 1)


def colde(documents: list[Tokens], sizes: Sizes) -> Job:
    """CoLDE around MiniLM: chunks of up to 512 tokens of whole documents, a contrastive loss over their sections."""
    backbone, kind = minilm(sizes)
    torch.manual_seed(0)
    model = ColdeModel(ColdeConfig(backbone=backbone.config.to_dict()))
    model.backbone.load_state_dict(backbone.state_dict(), strict=False)
    chosen = documents[: sizes.colde]
    batch = model.layout(SPECIALS, sizes.most).lay_out(chosen)
    labels = torch.arange(len(chosen), device=DEVICE).div(2, rounding_mode="floor").repeat_interleave(2)

    def read(model: ColdeModel, piece: ChunkBatch | Padded) -> Tensor:
        found: Tensor = piece.vectors(model) if isinstance(piece, Padded) else model.encode_batch(piece).sections
        return found

    plain = Padded.of(batch)
    job = training(
        model, model.backbone, batch, plain, lambda vectors: supervised_contrastive_loss(vectors, labels, 0.5), read
    )
    job.work = 3 * forward_work(model.backbone.encoder, model.backbone.config, batch.text.lengths)
    job.facts |= {"model": kind, "documents": len(chosen), "filled": batch.tokens / plain.ids.numel()}
    return job


@dataclass(frozen=True)
class PaddedBlocks:
    """Blocks as a plain collator makes them: (documents, blocks, tokens)."""

    ids: Tensor
    mask: Tensor

    @staticmethod
    def of(batch: BlockBatch) -> "PaddedBlocks":
        """The same blocks, padded."""
        shape = len(batch), int(batch.counts.max()), int(batch.text.lengths.max())
        ids, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
        texts = iter(batch.text.ids.split(batch.text.lengths.tolist()))
        for row, count in enumerate(batch.counts.tolist()):
            for column in range(count):
                text = next(texts)
                ids[row, column, : len(text)], mask[row, column, : len(text)] = text, 1
        return PaddedBlocks(ids, mask)

    def pieces(self, budget: int) -> list["PaddedBlocks"]:
        """As many documents at a time as the budget of tokens holds."""
        size = max(1, budget // self.ids[0].numel())
        parts = zip(self.ids.to(DEVICE).split(size), self.mask.to(DEVICE).split(size), strict=True)
        return [PaddedBlocks(*found) for found in parts]

    def vectors(self, model: SmithModel) -> Tensor:
        """Document vectors; padding goes through the sentence level as everything else, and is left out after it."""
        mask = self.mask.flatten(0, 1)
        seen = mask.index_fill(1, torch.tensor([0], device=DEVICE), 1)  # attention over nothing is not a number
        blocks = model.block_vectors(model.read_tokens(self.ids.flatten(0, 1), seen))
        real = self.mask.any(2)
        place = torch.arange(real.shape[1], device=DEVICE).expand_as(real)[real]
        found: Tensor = model.aggregate(blocks[real.flatten()], place, real.sum(1).cpu()).documents
        return found


def smith(documents: list[Tokens], sizes: Sizes) -> Job:
    """SMITH of the paper's size: up to 64 blocks of 32 tokens a document, the chance that pairs belong together."""
    layers, document_layers, width, heads = SIZES["base"]
    torch.manual_seed(0)
    inner = sentence_level(VOCABULARY, sizes.layers or layers, width, heads, 32)
    model = SmithModel(SmithConfig(sentence_level=inner, document_layers=sizes.layers or document_layers))
    chosen = (documents * -(-sizes.smith // len(documents)))[: sizes.smith]
    batch = smith_reading.layout(model, SPECIALS).lay_out(chosen)
    source = torch.arange(0, len(chosen) - 1, 2, device=DEVICE)
    label = (source // 2 % 2).float()

    def loss(vectors: Tensor) -> Tensor:
        cosines = (vectors[source] * vectors[source + 1]).sum(1)
        return nn.functional.binary_cross_entropy_with_logits(model.logits(cosines), label)

    def read(model: SmithModel, piece: BlockBatch | PaddedBlocks) -> Tensor:
        found: Tensor = (
            piece.vectors(model) if isinstance(piece, PaddedBlocks) else smith_reading.read(model, piece).documents
        )
        return found

    plain = PaddedBlocks.of(batch)
    job = training(model, model.sentence_level, batch, plain, loss, read)
    levels = ((model.sentence_level, batch.text.lengths), (model.document_level, batch.counts))
    job.work = 3 * sum(forward_work(level.encoder, level.config, lengths) for level, lengths in levels)
    job.facts |= {"documents": len(chosen), "blocks": len(batch.text), "filled": batch.tokens / plain.ids.numel()}
    return job
