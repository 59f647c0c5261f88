"""Near pairs: the matches of a set against BM25's best documents that do not match.

    python -m longmatch.lab.datasets.near_pairs DATA/acl DATA/papers [--depth 40] [--seed 0]

The non-matches of pairs.tsv are drawn from all documents, so the subject alone gives most away. Here each match,
in training, validation and test, stands beside one of BM25's best 40 documents for its source, drawn at random from
those that no label relates to it and that keep the pair in the same split; where none is left, beside the next best.
They are written to pairs-near.tsv in the same folder, which training and evaluation take in place of the folder
(`--data DATA/acl/pairs-near.tsv`). BM25 itself cannot be compared there: its best guesses are the non-matches. With
`--depth 1` they are its very best, which on average resemble the source more than the matches do.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np

from longmatch.errors import ReadError
from longmatch.lab.datasets.collection import PAIR_COLUMNS, DataFolder
from longmatch.lab.datasets.records import Pair
from longmatch.lab.datasets.splits import DEFAULT, SplitRule
from longmatch.lab.datasets.writer import write_table
from longmatch.lexical.terms import terms_of
from longmatch.lexical.weights import Frequencies, TermMatrix, bm25, bm25_query

NEAR = "-near"  # suffix of the name of a set with near pairs
FILE = f"pairs{NEAR}.tsv"
BEST = 40  # documents of BM25, as many as a reranker is given


def write_near_pairs(folder: DataFolder, rule: SplitRule = DEFAULT, depth: int = BEST, seed: int = 0) -> Path:
    """Write the near pairs of a set beside its pairs.tsv; `rule` is the one by which its splits were made."""
    folder.validate()
    if not folder.pairs():
        raise ReadError(folder.path, "has no pairs.tsv", "Near pairs take their matches from it.")
    if any(pair.split != rule.of_pair(pair.source, pair.target) for pair in folder.pairs()):
        raise ReadError(folder.path / "pairs.tsv", f"has other splits than {rule} gives", "Name the set's own rule.")
    path = folder.path / FILE
    write_table(path, PAIR_COLUMNS, sorted(near_pairs(folder, rule, depth, seed)))
    return path


def near_pairs(folder: DataFolder, rule: SplitRule, depth: int = BEST, seed: int = 0) -> Iterator[Pair]:
    """The matches of a set, each followed by a non-match of the same source and split, as far as there are any.

    What is drawn depends only on the seed and the source.
    """
    matches: dict[str, list[Pair]] = {}
    for pair in folder.pairs():
        if pair.label:
            matches.setdefault(pair.source, []).append(pair)
    related: dict[str, set[str]] = {}  # the documents that any label relates to a document, in either direction
    labelled = [(p.source, p.target) for p in folder.pairs() if p.label]
    for a, b in [*labelled, *((j.query, j.document) for j in folder.judgements() if j.grade)]:
        related.setdefault(a, set()).add(b)
        related.setdefault(b, set()).add(a)
    counts = {document.id: terms_of(document, with_form=True).words.counts for document in folder.documents()}
    ids = np.array(sorted(counts))
    of_ids = [counts[id] for id in ids.tolist()]
    frequencies, mean_length = Frequencies.of(of_ids), float(np.mean([each.counts.sum() for each in of_ids]))
    matrix = TermMatrix.of([bm25(document, frequencies, mean_length) for document in of_ids])
    for source in sorted(matches):
        order = np.argsort(-matrix.scores(bm25_query(counts[source])), kind="stable")  # ties break by id
        best = [id for id in ids[order].tolist() if id != source]
        near = best[:depth]
        Random(f"{seed}:{source}").shuffle(near)
        strangers = [id for id in [*near, *best[depth:]] if id not in related.get(source, set())]
        splits = {id: rule.of_pair(source, id) for id in strangers}
        for match in sorted(matches[source]):
            yield match
            nearest = next((id for id in strangers if splits[id] == match.split), None)
            if nearest is not None:
                strangers.remove(nearest)
                yield Pair(match.split, source, nearest, 0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the near pairs of some sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="data folders with documents and pairs.tsv")
    parser.add_argument("--depth", type=int, default=BEST, help="of BM25's results that non-matches are drawn from")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for path in options.folders:
        labels = DataFolder(write_near_pairs(DataFolder(path), depth=options.depth, seed=options.seed))
        counts = (f"{split} {len(labels.pairs(split)):,}" for split in labels.splits)
        print(f"{labels.place}: {', '.join(counts)} pairs", flush=True)


if __name__ == "__main__":
    main()
