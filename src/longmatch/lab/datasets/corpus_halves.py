"""The control of news: does a model recognise which half of ECB+ a text comes from?

    python -m longmatch.lab.datasets.corpus_halves DATA/news
    longmatch evaluate --data DATA/news/pairs-halves.tsv --models default,FOLDER

ECB+ added a second event to each topic of ECB, so two articles of one topic report the same event as they come from the
same half of the corpus, and a model may learn to tell the halves apart in place of the events. Here both articles of a
pair are of different topics and a match is a pair from the same half: a model that compares what the articles say has
an area under the curve of about one half.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random

from longmatch.errors import ReadError
from longmatch.lab.datasets.collection import PAIR_COLUMNS, DataFolder
from longmatch.lab.datasets.records import Pair, Split
from longmatch.lab.datasets.writer import write_table

FILE = "pairs-halves.tsv"
ADDED = "ecbplus"  # how the ids of the second half end
PARTNERS = 5  # of each article in either half


def write_corpus_halves(folder: DataFolder, seed: int = 0) -> Path:
    """Write the control pairs of news beside its pairs.tsv: of each article as many with either half."""
    if not any(pair.source.endswith(ADDED) for pair in folder.pairs()):
        raise ReadError(folder.path, "has no articles of ECB+", "The control is for that corpus alone.")
    pairs: list[Pair] = []  # of each article that is not trained on, with articles of other topics of its split
    splits: tuple[Split, ...] = ("validation", "test")
    for split in splits:
        ids = sorted({id for pair in folder.pairs(split) for id in (pair.source, pair.target)})
        for id in ids:
            others = [other for other in ids if other.partition("_")[0] != id.partition("_")[0]]
            Random(f"{seed}:{id}").shuffle(others)
            for same in (True, False):
                partners = [other for other in others if (other.endswith(ADDED) == id.endswith(ADDED)) == same]
                pairs += [Pair(split, id, partner, int(same)) for partner in partners[:PARTNERS]]
    path = folder.path / FILE
    write_table(path, PAIR_COLUMNS, sorted(pairs))
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the control pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the data folder of news")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    labels = DataFolder(write_corpus_halves(DataFolder(options.folder), options.seed))
    counts = (f"{split} {len(labels.pairs(split)):,}" for split in labels.splits)
    print(f"{labels.place}: {', '.join(counts)} pairs", flush=True)


if __name__ == "__main__":
    main()
