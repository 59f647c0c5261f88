"""Batches of one collection each: documents with an answer and a hard negative beside them, some sentences of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.lab.adapting.learning.material import Ints, Material, Tokens
from longmatch.lab.adapting.learning.telling import telling_sentences


@dataclass(frozen=True)
class Shape:
    """How large a batch is."""

    anchors: int = 64  # documents asked for
    negatives: int = 1  # hard ones for each
    sentences: int = 24  # of each document
    tokens: int = 64  # of each sentence
    telling: int = 16  # further sentences of each document asked for, that say what titles say


@dataclass(frozen=True)
class Drawn:
    """A batch: `ids` and `mask` (rows, tokens), the first documents are the anchors.

    The rows are documents * sentences, then anchors * telling sentences, then a title for each document that has one.
    """

    ids: Tokens
    mask: npt.NDArray[np.bool_]
    present: npt.NDArray[np.bool_]  # (documents, sentences): short documents have fewer
    telling: npt.NDArray[np.bool_]  # (anchors, telling sentences): which are there
    titled: npt.NDArray[np.bool_]  # (documents,)
    trust: float  # in titles
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
    some = some_sentences(material, chosen, shape.sentences, rng)
    telling, titled = telling_and_titled(material, anchors, chosen, some, shape.telling)
    rows = pieces(material.tokens, material.sentences, some.ravel())
    rows += pieces(material.tokens, material.sentences, telling.ravel())
    rows += pieces(material.title_tokens, material.titles, chosen[titled])
    ids, mask = laid_out(rows, shape.tokens, specials)
    listed = np.ones((len(anchors), len(chosen)), dtype=bool)
    np.fill_diagonal(listed, False)
    lexical, answers = material.lexical(anchors, chosen), material.answered(anchors, chosen) & listed
    return Drawn(ids, mask, some >= 0, telling >= 0, titled, material.trust, lexical, answers, listed)


def some_sentences(material: Material, chosen: Ints, most: int, rng: np.random.Generator) -> Ints:
    """The numbers of some sentences of each document in their order, -1 where it has no more: (documents, most)."""
    found = np.full((len(chosen), most), -1, dtype=np.int64)
    for place, number in enumerate(chosen.tolist()):
        first, last = material.documents[number : number + 2]
        count = min(most, int(last - first))
        found[place, :count] = np.sort(rng.choice(last - first, count, replace=False)) + first
    return found


def telling_and_titled(
    material: Material, anchors: Ints, chosen: Ints, drawn: Ints, most: int
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Further sentences of the anchors, and which documents have a title; none where titles say nothing."""
    if not material.has_telling_titles:
        return np.empty((len(anchors), 0), dtype=np.int64), np.zeros(len(chosen), dtype=bool)
    titled = np.diff(material.titles)[chosen] > 0
    return telling_sentences(material, anchors, chosen, drawn[: len(anchors)], most), titled


def pieces(tokens: Tokens, runs: Ints, numbers: Ints) -> list[Tokens | None]:
    """The tokens of some runs; nothing for the number -1."""
    return [tokens[runs[number] : runs[number + 1]] if number >= 0 else None for number in numbers.tolist()]


def laid_out(
    rows: Sequence[Tokens | None], most: int, specials: tuple[int, int]
) -> tuple[Tokens, npt.NDArray[np.bool_]]:
    """Tokens between the special ones, cut to the batch's width: ids and mask. An empty row attends to itself."""
    ids = np.zeros((len(rows), most), dtype=np.int32)
    lengths = np.ones(len(rows), dtype=np.int64)
    for row, tokens in enumerate(rows):
        if tokens is not None:
            piece = tokens[: most - 2]
            lengths[row] = len(piece) + 2
            ids[row, 0], ids[row, len(piece) + 1] = specials
            ids[row, 1 : len(piece) + 1] = piece
    width = int(lengths.max(initial=1))
    return ids[:, :width], np.arange(width) < lengths[:, None]
