"""Learn token vectors from a transformer: the sums of a sentence's tokens shall be near where it finds sentences near.

The teacher's vectors of sentences of training documents are kept in the folder, as they take longest. A table is
learnt that gives the same cosines in a batch of sentences, the same nearest ones, and the teacher's vectors through a
linear map, which is thrown away.
"""

import random
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import track
from scipy.sparse import csr_array
from tokenizers import Tokenizer
from torch import Tensor, nn

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.default.background import training_documents
from longmatch.lexical.form import words_of_each
from longmatch.matching.sentence_vectors import title_vectors
from longmatch.ragged import Array, offsets_of, unit_rows

SENTENCES = {
    "pretrain": 50_000,
    "acl": 14_000,
    "papers": 14_000,
    "legal": 16_000,
    "peps": 10_000,
    "elife": 14_000,
    "news": 4_000,
}
TITLES = 1_500  # of each collection
AT_ONCE = 4_096  # sentences that the teacher reads
SENTENCE_WORDS = (3, 90)
WIDTH = 256  # at most: a teacher of fewer dimensions has as few
BATCH = 1024  # sentences
EPOCHS = 6
LEARNING_RATE = 2e-3
COSINES, NEAREST, VECTORS = 20.0, 1.0, 1.0  # what each of the three losses weighs
TEMPERATURE = 0.05  # of the nearest sentences
PRIOR = 0.5  # sentences of no direction that each token is thought to be in as well
FIRST_LENGTH = 0.1  # of a token's vector before learning, times its rarity
TEACHER = "teacher.npz"
"""In the folder: the teacher's vectors of the sentences."""


def draw_sentences(data: Path, seed: int = 0) -> list[str]:
    """Sentences and titles of training documents of each collection there is, as many of each document."""
    rng = random.Random(seed)
    chosen: list[str] = []
    least, most = SENTENCE_WORDS
    for name, count in SENTENCES.items():
        if not (data / name).is_dir():
            continue
        documents = list(training_documents(DataFolder(data / name)))
        rng.shuffle(documents)
        each = max(1, -(-count // len(documents)))
        drawn: list[str] = []
        for document in documents:
            spans = (sentence.of(document.readable) for sentence in document.sentences)
            usable = [sentence for sentence in spans if least <= len(sentence.split()) <= most]
            drawn += rng.sample(usable, min(each, len(usable)))
            if len(drawn) >= count:
                break
        chosen += [*drawn, *(document.title for document in documents[:TITLES] if document.title)]
    if not chosen:
        raise LongmatchError(f"{data} has none of the collections {', '.join(SENTENCES)}. Name their folder: --data.")
    rng.shuffle(chosen)
    return chosen


def write_token_vectors(data: Path, folder: Path, teacher: str | None = None) -> None:
    """Learn token vectors from a transformer, by default the packaged one, and write them to the folder."""
    backbone, sentences = Backbone.load(teacher), draw_sentences(data)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / TEACHER
    if not path.is_file():
        parts = [sentences[start : start + AT_ONCE] for start in range(0, len(sentences), AT_ONCE)]
        found = [title_vectors(part, backbone, None) for part in track(parts, f"{len(sentences):,} sentences")]
        np.savez(path, vectors=np.concatenate(found).astype(np.float16), made_by=backbone.identity)
    with np.load(path) as stored:
        vectors, made_by = stored["vectors"], str(stored["made_by"])
    if len(vectors) != len(sentences) or made_by != backbone.identity:
        raise LongmatchError(f"{path} was made of other sentences, or by another teacher. Remove it.")
    tokenizer = Tokenizer.from_str(backbone.tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    learn(sentences, vectors, tokenizer).save(folder)


def learn(sentences: Sequence[str], vectors: Array, tokenizer: Tokenizer, epochs: int = EPOCHS) -> TokenVectors:
    """A table whose sums are as near to each other as the teacher's `vectors` of the same sentences."""
    words = words_of_each(sentences)
    split = TokenVectors.of(np.zeros((tokenizer.get_vocab_size(), 1), dtype=np.float32), tokenizer).split
    tokens = split(list(chain.from_iterable(words)))
    offsets = tokens.offsets[offsets_of(np.array([len(each) for each in words], dtype=np.int64))]
    counts = csr_array((np.ones(len(tokens.ids), dtype=np.float32), tokens.ids.astype(np.int32), offsets))
    counts.resize(len(sentences), tokenizer.get_vocab_size())
    counts.sum_duplicates()
    used = np.flatnonzero(np.diff(offsets))
    counts, teacher = counts[used], unit_rows(vectors[used].astype(np.float32))

    torch.manual_seed(0)
    first = torch.from_numpy(first_table(counts, teacher))
    table = nn.EmbeddingBag(len(first), first.shape[1], mode="sum", _weight=first)
    unfold = nn.Linear(first.shape[1], teacher.shape[1], bias=False)
    optimizer = torch.optim.Adam([*table.parameters(), *unfold.parameters()], LEARNING_RATE)
    batch = min(BATCH, len(used))
    steps = len(used) // batch
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, epochs * steps + 1, pct_start=0.1)
    rng = np.random.default_rng(0)
    for epoch in range(epochs):
        batches = np.split(rng.permutation(len(used))[: steps * batch], steps)
        for rows in track(batches, f"epoch {epoch + 1} of {epochs}"):
            bags = counts[rows]
            places = (torch.from_numpy(each.astype(np.int64)) for each in (bags.indices, bags.indptr[:-1]))
            summed = table(*places, per_sample_weights=torch.from_numpy(bags.data))
            loss = distance(nn.functional.normalize(summed, dim=1), torch.from_numpy(teacher[rows]), unfold)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return TokenVectors.of(table.weight.detach().numpy(), tokenizer)


def first_table(counts: Any, teacher: Array) -> Array:
    """Each token as the mean of the sentences that have it, rare ones longer, in the directions that vary most.

    `counts` says how often each sentence has each token: (sentences, tokens).
    """
    shares = counts.multiply(1 / counts.sum(axis=1)[:, None]).tocsr()
    means = (shares.T @ (teacher - teacher.mean(0))) / (shares.sum(axis=0)[:, None] + PRIOR)
    directions = np.linalg.svd(means.T @ means)[0][:, :WIDTH]
    sentences = (counts > 0).sum(axis=0)
    rarity = np.log((len(teacher) + 1) / (sentences + 1))
    return np.asarray(FIRST_LENGTH * rarity[:, None] * unit_rows(means @ directions), dtype=np.float32)


def distance(summed: Tensor, teacher: Tensor, unfold: nn.Linear) -> Tensor:
    """How far sums are from a teacher's vectors of the same sentences, all of length 1: three losses."""
    cosines, wanted = summed @ summed.T, teacher @ teacher.T
    others = ~torch.eye(len(summed), dtype=torch.bool)
    of_vectors = 1 - (nn.functional.normalize(unfold(summed), dim=1) * teacher).sum(1).mean()
    of_cosines = (cosines - wanted)[others].square().mean()
    shares, wanted_shares = (
        (each / TEMPERATURE).masked_fill(~others, -1e9).log_softmax(1) for each in (cosines, wanted)
    )
    of_nearest = nn.functional.kl_div(shares, wanted_shares, reduction="batchmean", log_target=True)
    return VECTORS * of_vectors + COSINES * of_cosines + NEAREST * of_nearest
