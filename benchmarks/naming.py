"""How to turn the names that two documents share into a similarity: the rarity of a name, and the normalisation.

    python -m benchmarks.naming DATA [--sets acl wiki papers peps] [--queries 300] [--split train]

nDCG@10 of each set by words, phrases and names, with weights learnt from the training queries of the other sets. A
query's list holds its best documents by words, by phrases and by names. `--split validation` ranks the validation
queries, without names and with names as the default counts them: nothing is chosen there.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from rich.console import Console
from rich.table import Table

from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity
from longmatch.default.sides import NAMES as SIDES
from longmatch.default.statistics import shipped_statistics
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Split
from longmatch.lab.default.features import BEST, DEPTH, FLOORS, QueryLists
from longmatch.lab.default.weights import fit_weights, ndcg
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import ContentWordLayer, restore_stream
from longmatch.lab.evaluation.protocols import EvaluationTask
from longmatch.lab.evaluation.scoring.scorer import no_sentences
from longmatch.lab.store.store import LayerStore
from longmatch.lexical.frequencies import Floats
from longmatch.lexical.mentions import EXTRA_WORDS, WORDS_PER_MENTION, self_mentions, stack_titles
from longmatch.lexical.terms import Terms
from longmatch.lexical.weights import TermMatrix, tfidf
from longmatch.matching.levels import SentenceVectors

LAYERS = Path("out") / "layers"
SETS = ("acl", "wiki", "papers", "peps")
RARITIES = ("counted", "rarest term")
FLOOR = FLOORS["named"]


@dataclass(frozen=True)
class Columns:
    """Of the documents of many lists, end to end: sides, lengths, and by rarity the sums over names."""

    words: Floats
    phrases: Floats
    lengths: tuple[Floats, Floats]  # of the query, of the document
    shared: Mapping[str, Floats]  # Σ rarity² over what both name
    each: Mapping[str, tuple[Floats, Floats]]  # over what the query names, over what the document names
    usual: Mapping[str, float]  # the mean of rarity² over all names
    lists: QueryLists  # without sides


Similarity = Callable[[Columns], Floats]
Variant = tuple[tuple[str, str], Similarity | None, float]  # what it is called, and its floor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--queries", type=int, default=300, help="training queries of a set, at most")
    parser.add_argument("--split", choices=("train", "validation"), default="train")
    parser.add_argument("--layers", type=Path, default=LAYERS)
    options = parser.parse_args()
    sets: dict[tuple[str, str], Columns] = {}
    for name in options.sets:
        for split, columns in columns_of(
            options.data / name, options.layers, {"train", options.split}, options.queries
        ):
            sets[name, split] = columns
    table = Table("rarity", "divided by", "floor", *options.sets, "mean")
    for label, similarity, floor in variants() if options.split == "train" else (NONE, TAKEN):
        values = [100 * left_out(name, options.split, sets, similarity, floor) for name in options.sets]
        table.add_row(*label, f"{floor:g}", *(f"{value:.2f}" for value in [*values, np.mean(values)]))
    Console(width=120).print(table)


def variants() -> Iterator[Variant]:
    """All that is compared, beginning with no names at all."""
    yield NONE
    for rarity in RARITIES:
        for more in (5, 20, 80):
            for floor in (0.03, 0.1, 0.3):
                yield (rarity, f"names and {more} more"), _by_names(rarity, more), floor
    for more in (5, 20, 80):
        for floor in (0.03, 0.1, 0.3):
            yield (RARITIES[1], f"nothing ({more})"), _by_nothing(RARITIES[1], more), floor
    for rarity in RARITIES:
        for shortest, per in ((EXTRA_WORDS, WORDS_PER_MENTION), (100, 50), (1000, 200), (2000, 100), (2000, 400)):
            for floor in (0.01, 0.03, 0.1):
                yield (rarity, f"{shortest:g} words more, by {per:g}"), _by_words(rarity, shortest, per), floor


def _by_names(rarity: str, more: float) -> Similarity:
    """A cosine, as if every document had `more` further names of usual rarity."""

    def similarity(columns: Columns) -> Floats:
        lengths = [total + more * columns.usual[rarity] for total in columns.each[rarity]]
        return np.asarray(columns.shared[rarity] / np.sqrt(lengths[0] * lengths[1]))

    return similarity


def _by_nothing(rarity: str, more: float) -> Similarity:
    """The sum alone, squashed below 1."""
    return lambda columns: columns.shared[rarity] / (columns.shared[rarity] + more * columns.usual[rarity])


def _by_words(rarity: str, shortest: float, per: float) -> Similarity:
    """As `coupling` does."""

    def similarity(columns: Columns) -> Floats:
        a, b = columns.lengths
        return np.minimum(per * columns.shared[rarity] / np.sqrt((shortest + a) * (shortest + b)), 1)

    return similarity


NONE: Variant = (("no names", ""), None, FLOOR)
TAKEN: Variant = (("rarest term", "words"), _by_words("rarest term", EXTRA_WORDS, WORDS_PER_MENTION), FLOOR)


def left_out(
    name: str, split: str, sets: Mapping[tuple[str, str], Columns], similarity: Similarity | None, floor: float
) -> float:
    """nDCG@10 of one set, with weights learnt on the others."""
    floors = {**FLOORS, "named": floor}
    sides = ("words", "phrases") if similarity is None else ("words", "phrases", "named")
    others = [_lists(columns, similarity) for (other, s), columns in sets.items() if s == "train" and other != name]
    weights = fit_weights(others, sides, floors=floors)
    return float(np.mean(ndcg(_lists(sets[name, split], similarity), sides, weights, floors)))


def _lists(columns: Columns, similarity: Similarity | None) -> QueryLists:
    sides = np.zeros((len(columns.words), len(SIDES)), dtype=np.float32)
    sides[:, SIDES.index("words")], sides[:, SIDES.index("phrases")] = columns.words, columns.phrases
    if similarity is not None:
        sides[:, SIDES.index("named")] = similarity(columns)
    return replace(columns.lists, sides=sides)


def columns_of(path: Path, layers: Path, splits: set[Split], queries: int) -> Iterator[tuple[Split, Columns]]:
    """The lists of a set's queries."""
    corpus = Corpus(DataFolder(path))
    (stored,) = LayerStore.of(layers, corpus.source).build([ContentWordLayer()])
    titles = {record.id: record.title for record in corpus.folder.records()}
    nothing = SentenceVectors(torch.empty(0), torch.empty(0))
    streams = (restore_stream(arrays) for arrays in stored.documents("words", "bounds"))
    encodings = [
        Encoding(no_sentences(titles[id]), nothing, Terms(s)) for id, s in zip(corpus.ids, streams, strict=True)
    ]
    rarity = Rarity.of(encodings, shipped_statistics())
    words = TermMatrix.of([tfidf(e.terms.words.counts, rarity.words) for e in encodings])
    phrases = TermMatrix.of([tfidf(e.terms.phrases.counts, rarity.phrases) for e in encodings])
    own = stack_titles([e.title_terms for e in encodings])
    names = rarity.titles.mentioned(np.unique(own), stack_titles([]))
    pairs = (words.holders(names.ids), phrases.holders(names.ids), self_mentions(own))
    documents, terms = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    named = names.in_documents(documents, terms, len(encodings))
    rare = dict(zip(RARITIES, (_counted(named), rarity.of_mentions(names)), strict=True))
    lengths = np.array([float(e.words) for e in encodings])
    usual = len(named.title) / len(encodings)
    print(f"{corpus.name}: {len(encodings)} documents, {len(names)} titles, {usual:.1f} names a document", flush=True)
    for split in sorted(splits):
        yield split, _columns(corpus, split, queries, encodings, rarity, (words, phrases), named, rare, lengths)


def _counted(named: sp.csr_array) -> Floats:
    """Rarity from the number of documents that name a title, from 0 to 1."""
    documents, titles = named.shape
    rarity = np.log((documents + 1) / (np.bincount(named.indices, minlength=titles) + 0.5))
    return np.asarray(rarity.clip(0) / np.log(2 * documents + 2))


def _columns(
    corpus: Corpus,
    split: Split,
    queries: int,
    encodings: Sequence[Encoding],
    rarity: Rarity,
    matrices: tuple[TermMatrix, TermMatrix],
    named: sp.csr_array,
    rare: Mapping[str, Floats],
    lengths: Floats,
) -> Columns:
    task = EvaluationTask.of(corpus, split, pairs=False, limit=queries if split == "train" else None)
    each = {key: named @ value**2 for key, value in rare.items()}
    usual = {key: float(np.mean(value**2)) for key, value in rare.items()}
    parts = []
    for number in task.numbers(corpus):
        id, query = corpus.ids[number], encodings[number]
        right = {corpus.number[answer]: grade for answer, grade in task.qrels[id].items()}
        pool = np.array([corpus.number[other] for other in corpus.folder.pool(id)], dtype=np.int64)
        by_words = matrices[0].scores(tfidf(query.terms.words.counts, rarity.words))
        by_phrases = matrices[1].scores(tfidf(query.terms.phrases.counts, rarity.phrases))
        mine = named[[number]].toarray()[0]
        shared = {key: named @ (mine * value**2) for key, value in rare.items()}
        finders = (by_words, by_phrases, shared[RARITIES[1]] / np.sqrt(EXTRA_WORDS + lengths))
        best = [pool[np.argsort(-side[pool], kind="stable")[:BEST]] for side in finders]
        rows = np.unique(np.concatenate(best))
        grades = np.array([right.get(row, 0) for row in rows.tolist()], dtype=np.int64)
        wanted = np.array((sorted(right.values(), reverse=True) + [0] * DEPTH)[:DEPTH], dtype=np.int64)
        sums = [shared[key][rows] for key in RARITIES] + [each[key][rows] for key in RARITIES]
        own = [np.full(len(rows), value) for value in (lengths[number], *(each[key][number] for key in RARITIES))]
        parts.append((np.stack([by_words[rows], by_phrases[rows], lengths[rows], *sums, *own]), grades, wanted))
    table = np.concatenate([part[0] for part in parts], axis=1)
    offsets = np.concatenate([[0], np.cumsum([len(part[1]) for part in parts])]).astype(np.int64)
    grades, wanted = np.concatenate([part[1] for part in parts]), np.stack([part[2] for part in parts])
    empty = np.zeros((table.shape[1], 0), dtype=np.float32)
    return Columns(
        table[0],
        table[1],
        (table[7], table[2]),
        dict(zip(RARITIES, table[3:5], strict=True)),
        {key: (table[8 + i], table[5 + i]) for i, key in enumerate(RARITIES)},
        usual,
        QueryLists(empty, grades, offsets, wanted, empty, np.ones(len(SIDES), dtype=np.float32)),
    )


if __name__ == "__main__":
    main()
