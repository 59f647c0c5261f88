"""How much of a GPU is used: encoding, CoLDE's and SMITH's training, against padded batches.

    python benchmarks/gpu.py --make TEXT.npz DATA_FOLDER
    python benchmarks/gpu.py TEXT.npz --out gpu.json [--seconds 170] [--only rates,encode,colde,smith,profile]
                             [--compare padded,sorted,eager,compiled] [--max-tokens 6144]

The same documents, the same weights, bfloat16, in one process, turn by turn, each way of reading once a turn:

- padded: the Hugging Face model over batches as a plain collator makes them. To encode: sentences in their order,
  padded to the longest of their batch. To train: each document padded to the most chunks (or blocks) of its batch, each
  of those to the longest; as many documents at a time as the GPU holds, as in all the others;
- sorted: the same model over pieces of about one length (LONGMATCH_PACKED=0);
- eager: without padding, not compiled (LONGMATCH_COMPILE=0);
- compiled: without padding, compiled (LONGMATCH_COMPILE=1): what a long run gets.

Tokens a second are real tokens. The share is the work that these need, two operations for each weight of the layers
and each token and four for each pair of tokens in attention and each number of the width, three times that to train,
against the rate of the best large product of bfloat16 matrices, measured first. A step of training is forth, back and
the optimizer's. Where the packaged MiniLM is not installed random weights of its sizes stand in for it.

Each way of each part is tried alone: one that fails is noted, and the next goes on; where the GPU itself is left
unusable, in a new process. The file is written after each of them.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from training import DEVICE, Padded, autocast, timed

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.engine import Batch
from longmatch.encoders.flat import mean_of_tokens
from longmatch.encoders.packed import PackedEngine, tokens_that_fit
from longmatch.encoders.pretrained import Pooling
from longmatch.errors import LongmatchError
from longmatch.losses import supervised_contrastive_loss
from longmatch.models.colde import batch as colde_batch
from longmatch.models.colde import reading as colde_reading
from longmatch.models.colde.config import ColdeConfig
from longmatch.models.colde.model import ColdeModel
from longmatch.models.smith import batch as smith_batch
from longmatch.models.smith import reading as smith_reading
from longmatch.models.smith.config import SIZES, SmithConfig, sentence_level
from longmatch.models.smith.model import SmithModel
from longmatch.training.caching import cached_backward
from longmatch.training.settings import TrainingSettings
from longmatch.units import Tokens, tokenize

PARTS = ("rates", "encode", "colde", "smith", "profile")
WAYS = ("padded", "sorted", "eager", "compiled")
SWITCHES = {  # LONGMATCH_PACKED, LONGMATCH_COMPILE
    "padded": ("0", "0"),
    "sorted": ("0", "0"),
    "eager": ("1", "0"),
    "compiled": ("1", "1"),
}
SPECIALS, VOCABULARY = (101, 102), 30_522
MINILM: dict[str, Any] = {
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
}
ON_GPU = DEVICE.type == "cuda"


@dataclass(frozen=True)
class Sizes:
    """How large the work is; small on a processor, where only the code is tried."""

    encoded: int = 3_000_000 if ON_GPU else 3_000  # tokens
    colde: int = 92 if ON_GPU else 2  # documents a step: what is read at once, padded too
    smith: int = 480 if ON_GPU else 4
    product: int = 8_192 if ON_GPU else 256
    rounds: int = 12 if ON_GPU else 1
    layers: int | None = None if ON_GPU else 1
    most: int = 6_144 if ON_GPU else 600  # tokens that CoLDE reads of a document


@dataclass
class Job:
    """One part: what each way does, on how many tokens, and the work that these need."""

    run: Callable[[str], object]
    vectors: Callable[[str], Tensor]  # by each way, without dropout, to be compared
    tokens: int
    work: float
    facts: dict[str, Any] = field(default_factory=dict)
    gradient: Callable[[str], Tensor] | None = None  # without dropout
    repeats: Callable[[str], bool] | None = None  # whether a pass without gradients drops what one with them drops


@dataclass
class Clock:
    """How many seconds are left of those that were given."""

    seconds: float
    start: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Less than 0 when they are over."""
        return self.seconds - (time.perf_counter() - self.start)


@contextmanager
def switched(way: str) -> Iterator[None]:
    """The environment that makes this way of reading."""
    before = dict(os.environ)
    os.environ["LONGMATCH_PACKED"], os.environ["LONGMATCH_COMPILE"] = SWITCHES[way]
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


# What is read


def make_text(path: Path, data: Path, tokens: int = 4_500_000) -> None:
    """Token ids of documents, spread over a data folder: a file of at most about 10 MB."""
    from longmatch.datasets.collection import DataFolder

    backbone = Backbone.load(device="cpu", precision="float32")
    ids, lengths, counts, total = [], [], [], 0
    folder = DataFolder(data)
    every = max(1, len(folder.ids) // (tokens // 5_000))
    for number, document in enumerate(folder.documents()):
        if number % every == 0 and total < tokens:
            found = tokenize(document, backbone.tokenizer)
            if not len(found):
                continue
            ids.append(found.ids)
            lengths.append(np.diff(found.sentence_offsets))
            counts.append(len(lengths[-1]))
            total += len(found)
    offsets = np.concatenate([[0], np.concatenate(lengths).cumsum()]).astype(np.int32)
    documents = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    np.savez_compressed(path, tokens=np.concatenate(ids).astype(np.uint16), offsets=offsets, documents=documents)
    print(f"{path}: {len(counts)} documents, {len(offsets) - 1} sentences, {total} tokens")


def open_text(path: Path) -> list[Tokens]:
    """The documents, of which only the tokens are left; a file without `documents` is cut every 200 sentences."""
    with np.load(path) as found:
        ids, offsets = found["tokens"].astype(np.int64), found["offsets"].astype(np.int64)
        ends = found["documents"] if "documents" in found else [*range(0, len(offsets) - 1, 200), len(offsets) - 1]
    empty, made = Document("", "", "", ()), []
    for first, last in pairwise(ends):
        own = offsets[first : last + 1]
        text, none = ids[own[0] : own[-1]], np.zeros(last - first, np.int64)
        words = np.ones(len(text), bool)
        made.append(Tokens(empty, text, np.zeros_like(text), words, own - own[0], none, none, none))
    return made


def minilm(sizes: Sizes) -> tuple[Any, str]:
    """The packaged model, or random weights of its sizes."""
    from transformers import BertConfig, BertModel

    try:
        model: Any = Backbone.load(device="cpu", precision="float32").model
        kind = "all-MiniLM-L6-v2"
    except LongmatchError:
        torch.manual_seed(0)
        model, kind = BertModel(BertConfig(vocab_size=VOCABULARY, **MINILM)), "random weights of MiniLM's sizes"
    if sizes.layers:
        model.encoder.layer = model.encoder.layer[: sizes.layers]
        model.config.num_hidden_layers = sizes.layers
    return model, kind


def forward_work(encoder: Any, config: Any, lengths: Tensor) -> float:
    """Operations that sequences of these lengths need, forth."""
    weights = sum(parameter.numel() for parameter in encoder.parameters() if parameter.dim() == 2)
    tokens = lengths.double()
    pairs = 4 * config.num_hidden_layers * config.hidden_size * (tokens**2).sum()
    return float(2 * weights * tokens.sum() + pairs)


# Encoding


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
    for way in WAYS:
        with switched(way):
            backbones[way] = Backbone(model, None, Pooling("mean", 256), SPECIALS, way)  # type: ignore[arg-type]
            _ = backbones[way].engine
    assert isinstance(backbones["eager"].engine, PackedEngine)
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


# Training


def training(model: Any, encoder: Any, batch: Any, plain: Any, loss: Callable[[Tensor], Tensor], read: Any) -> Job:
    """Steps over one batch: `read` gives what the loss compares, of our batch or of the padded one."""
    model.to(DEVICE).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, fused=ON_GPU)  # the same weights at every step
    with switched("compiled"):
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
    return Job(run, vectors, batch.tokens, 0.0, facts, gradient, repeats)


def colde(documents: list[Tokens], sizes: Sizes) -> Job:
    """CoLDE around MiniLM: chunks of up to 512 tokens of whole documents, a contrastive loss over their sections."""
    backbone, kind = minilm(sizes)
    torch.manual_seed(0)
    model = ColdeModel(ColdeConfig(backbone=backbone.config.to_dict()))
    model.backbone.load_state_dict(backbone.state_dict(), strict=False)
    chosen = documents[: sizes.colde]
    batch = colde_reading.layout(model, SPECIALS, sizes.most).lay_out(chosen)
    labels = torch.arange(len(chosen), device=DEVICE).div(2, rounding_mode="floor").repeat_interleave(2)

    def read(model: ColdeModel, piece: colde_batch.ChunkBatch | Padded) -> Tensor:
        found: Tensor = piece.vectors(model) if isinstance(piece, Padded) else colde_reading.read(model, piece).sections
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
    def of(batch: smith_batch.BlockBatch) -> "PaddedBlocks":
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

    def read(model: SmithModel, piece: smith_batch.BlockBatch | PaddedBlocks) -> Tensor:
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


# Measuring


def rates(sizes: Sizes) -> dict[str, float]:
    """Operations a second of large products, and of those of MiniLM's own shapes; bytes a second of a copy."""
    dtype, found = torch.bfloat16 if ON_GPU else torch.float32, {}
    many = 65_536 if ON_GPU else 512
    shapes = {"square": (sizes.product,) * 3, "larger": (2 * sizes.product,) * 3}
    shapes |= {"first products": (many, 384, 1152), "up": (many, 384, 1536), "down": (many, 1536, 384)}
    for name, (rows, inner, columns) in shapes.items():
        a = torch.randn(rows, inner, device=DEVICE, dtype=dtype)
        b = torch.randn(inner, columns, device=DEVICE, dtype=dtype)
        found[name] = 2 * rows * inner * columns / min(timed(partial(torch.matmul, a, b), 10))
    source = torch.empty(sizes.product**2 * 4, device=DEVICE, dtype=dtype)
    target = torch.empty_like(source)
    seconds = min(timed(lambda: target.copy_(source), 5))
    found["copied bytes"] = 2 * source.numel() * source.element_size() / seconds
    found["best"] = max(found["square"], found["larger"])
    return found


def measure(job: Job, ways: Sequence[str], rate: float, clock: Clock, rounds: int, note: Callable[[Any], None]) -> None:
    """Each way once to begin with, then turn by turn until the time or the rounds are over."""
    rows: dict[str, Any] = {way: {"seconds": []} for way in ways}
    told = {**job.facts, "ways": rows}
    reference: Tensor | None = None
    for way in ways:
        row = rows[way]
        try:
            if ON_GPU:
                torch.cuda.reset_peak_memory_stats()
            start = time.perf_counter()
            job.run(way)
            _wait()
            row["first_seconds"] = time.perf_counter() - start
            if ON_GPU:
                row["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
            found = job.vectors(way)
            reference = found if reference is None else reference
            row["least_cosine"] = float(torch.cosine_similarity(found.double(), reference.double()).min())
        except Exception as error:
            _failed(row, error)
        note(told)
    for _ in range(rounds):
        for way in ways:
            if "error" in rows[way] or (clock.left < 0 and rows[way]["seconds"]):
                continue
            try:
                rows[way]["seconds"] += timed_once(partial(job.run, way))
            except Exception as error:
                _failed(rows[way], error)
        for row in rows.values():
            if row["seconds"]:
                typical = median(row["seconds"])
                row |= {"tokens_a_second": job.tokens / typical, "share": job.work / typical / rate}
        base = rows.get("padded", {}).get("tokens_a_second")
        for row in rows.values():
            if base and "tokens_a_second" in row:
                row["times"] = row["tokens_a_second"] / base
        note(told)
        if clock.left < 0:
            break
    compare_gradients(job, rows, clock)
    note(told)


def compare_gradients(job: Job, rows: dict[str, Any], clock: Clock) -> None:
    """The cosine of each way's gradient, without dropout, with that of the first; whether dropout repeats itself."""
    first: Tensor | None = None
    for way, row in rows.items():
        if job.gradient is None or job.repeats is None or "error" in row:
            continue
        try:
            row["dropout_repeats"] = job.repeats(way)
            if way == "compiled" and clock.left < 0:
                continue  # without dropout it would have to be compiled anew
            found = job.gradient(way)
            first = found if first is None else first
            row["gradient_cosine"] = float(torch.cosine_similarity(found, first, dim=0))
        except Exception as error:
            row["gradient_error"] = "".join(traceback.format_exception(error))[-1_000:]


def profile(job: Job, way: str) -> list[dict[str, Any]]:
    """The kernels of one run that take longest: milliseconds and calls."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as watch

    with watch(activities=[ProfilerActivity.CUDA] if ON_GPU else [ProfilerActivity.CPU]) as seen:
        job.run(way)
        _wait()
    events = seen.key_averages()
    spent: Callable[[Any], float] = lambda e: e.self_device_time_total if ON_GPU else e.self_cpu_time_total  # noqa: E731
    chosen = sorted(events, key=spent, reverse=True)[:25]
    return [{"kernel": e.key[:120], "ms": round(spent(e) / 1e3, 3), "calls": e.count} for e in chosen]


def timed_once(run: Callable[[], object]) -> list[float]:
    _wait()
    start = time.perf_counter()
    run()
    _wait()
    return [time.perf_counter() - start]


def _wait() -> None:
    if ON_GPU:
        torch.cuda.synchronize()


def _failed(row: dict[str, Any], error: Exception) -> None:
    row["error"] = "".join(traceback.format_exception(error))[-2_000:]


def is_usable() -> bool:
    """Whether the GPU still computes: after some errors it does not, in this process."""
    try:
        _wait()
        return True
    except RuntimeError:
        return False


JOBS: dict[str, Callable[[list[Tokens], Sizes], Job]] = {"encode": encoding, "colde": colde, "smith": smith}


def measure_all(options: argparse.Namespace, sizes: Sizes) -> None:
    """Part after part, the file written after each step."""
    clock, out = Clock(options.seconds), Path(options.out)
    told: dict[str, Any] = json.loads(out.read_text()) if options.goes_on and out.exists() else {}
    told |= {"device": torch.cuda.get_device_name() if ON_GPU else "CPU", "torch": torch.__version__}
    wanted, documents = list(options.only), open_text(options.text)
    with_profile = "profile" in wanted
    said: list[str] = told.setdefault("warnings", [])
    warnings.showwarning = lambda message, *_: said.append(str(message)[:500])

    def note(name: str, found: Any) -> None:
        told[name] = found
        out.write_text(json.dumps(told, indent=1) + "\n")

    while wanted:
        part = wanted.pop(0)
        try:
            if part == "rates" or (part != "profile" and "rates" not in told):
                note("rates", rates(sizes))
            if part in JOBS:
                rest = 1 + sum(other in JOBS for other in wanted)
                job = JOBS[part](documents, sizes)
                own, best = Clock(0.7 * clock.left / rest), told["rates"]["best"]
                measure(job, options.compare, best, own, sizes.rounds, partial(note, part))
                if with_profile and is_usable():
                    note(f"{part} kernels", profile(job, options.compare[-1]))
        except Exception as error:
            row: dict[str, Any] = {}
            _failed(row, error)
            note(f"{part} failed", row)
        job = None  # type: ignore[assignment]
        gc.collect()
        if not is_usable() and wanted:
            again = [sys.executable, __file__, str(options.text), "--out", str(out), "--seconds", f"{clock.left:.0f}"]
            again += [
                "--max-tokens",
                str(options.max_tokens),
                "--only",
                ",".join(wanted),
                "--compare",
                ",".join(options.compare),
                "--goes-on",
            ]
            subprocess.run(again, check=False)
            return
        if ON_GPU:
            torch.cuda.empty_cache()
    show(told)


def show(told: dict[str, Any]) -> None:
    """What was measured, as a table."""
    console = Console(width=120)
    if "rates" in told:
        best, copied = told["rates"]["best"] / 1e12, told["rates"]["copied bytes"] / 1e12
        console.print(f"{told['device']}, torch {told['torch']}: {best:.1f} TFLOP/s, {copied:.2f} TB/s")
    table = Table("work", "way", "tokens a second", "times", "share of the matrix rate", "peak GB", "least cosine")
    for part in JOBS:
        for way, row in told.get(part, {}).get("ways", {}).items():
            if "tokens_a_second" in row:
                times, peak, cosine = row.get("times"), row.get("peak_gb"), row.get("least_cosine")
                numbers = [f"{row['tokens_a_second']:,.0f}", f"{times:.2f}" if times else ""]
                numbers += [f"{100 * row['share']:.1f} %", f"{peak:.1f}" if peak else ""]
                table.add_row(part, way, *numbers, f"{cosine:.5f}" if cosine is not None else "")
            else:
                table.add_row(part, way, row.get("error", "not measured").strip().splitlines()[-1])
    console.print(table)


def main(words: Sequence[str]) -> None:
    if words[:1] == ["--make"]:
        make_text(Path(words[1]), Path(words[2]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = {"type": lambda said: tuple(said.split(","))}
    parser.add_argument("text", type=Path)
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--only", default=PARTS, **listed)  # type: ignore[arg-type]
    parser.add_argument("--compare", default=WAYS, **listed)  # type: ignore[arg-type]
    parser.add_argument("--max-tokens", type=int, default=Sizes.most, help="that CoLDE reads of a document")
    parser.add_argument("--goes-on", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    measure_all(options, Sizes(most=options.max_tokens))


if __name__ == "__main__":
    main(sys.argv[1:])
