"""Batches of one collection each: documents with an answer and a hard negative beside them, some sentences of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.training.default.material import Ints, Material


@dataclass(frozen=True)
class Shape:
    """How large a batch is."""

    anchors: int = 64  # documents asked for
    negatives: int = 1  # hard ones for each
    sentences: int = 24  # of each document
    tokens: int = 64  # of each sentence


@dataclass(frozen=True)
class Drawn:
    """A batch: `ids` and `mask` (documents * sentences, tokens), the first documents are the anchors."""

    ids: npt.NDArray[np.int32]
    mask: npt.NDArray[np.bool_]
    present: npt.NDArray[np.bool_]  # (documents, sentences): short documents have fewer
    lexical: npt.NDArray[np.float32]  # (2, anchors, documents)
    answers: npt.NDArray[np.bool_]  # (anchors, documents)
    listed: npt.NDArray[np.bool_]  # all but the anchor itself


def batches(
    collections: Sequence[Material], shape: Shape, specials: tuple[int, int], seed: int, power: float = 0.5
) -> Iterator[Drawn]:
    """Batches without end. A collection is drawn as often as its number of anchors to the power says."""
    rng = np.random.default_rng(seed)
    chances = np.array([len(material.answers) ** power for material in collections])
    while True:
        which = int(rng.choice(len(collections), p=chances / chances.sum()))
        yield draw(collections[which], shape, specials, rng)


def draw(
    material: Material,
    shape: Shape,
    specials: tuple[int, int],
    rng: np.random.Generator,
) -> Drawn:
    """One batch."""
    able = np.array(sorted(material.answers), dtype=np.int64)
    anchors = rng.choice(able, min(shape.anchors, len(able)), replace=False)
    beside = [int(rng.choice(sorted(material.answers[int(a)]))) for a in anchors]
    for anchor in anchors.tolist():
        near = material.negatives[anchor]
        beside += rng.choice(near, min(shape.negatives, len(near)), replace=False).tolist()
    others = np.setdiff1d(np.array(beside, dtype=np.int64), anchors)
    chosen = np.concatenate([anchors, others])
    ids, mask, present = sentences_of(material, chosen, shape, specials, rng)
    listed = np.ones((len(anchors), len(chosen)), dtype=bool)
    np.fill_diagonal(listed, False)
    return Drawn(
        ids, mask, present, material.lexical(anchors, chosen), material.answered(anchors, chosen) & listed, listed
    )


def sentences_of(
    material: Material, chosen: Ints, shape: Shape, specials: tuple[int, int], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Some sentences of each document in their order, cut to the batch's width, between the special tokens."""
    ids = np.zeros((len(chosen), shape.sentences, shape.tokens), dtype=np.int32)
    lengths = np.zeros((len(chosen), shape.sentences), dtype=np.int64)
    for place, number in enumerate(chosen.tolist()):
        first, last = material.documents[number : number + 2]
        count = min(shape.sentences, int(last - first))
        for k, s in enumerate(np.sort(rng.choice(last - first, count, replace=False)) + first):
            start, end = material.sentences[s : s + 2]
            piece = material.tokens[start : min(end, start + shape.tokens - 2)]
            lengths[place, k] = len(piece) + 2
            ids[place, k, 0], ids[place, k, len(piece) + 1] = specials
            ids[place, k, 1 : len(piece) + 1] = piece
    flat = lengths.reshape(-1)
    mask = np.arange(shape.tokens) < np.maximum(flat, 1)[:, None]  # an empty row attends to itself
    width = max(1, int(flat.max(initial=1)))
    return ids.reshape(len(flat), -1)[:, :width], mask[:, :width], lengths > 0
