"""How many documents of a batch are connected by chains of links: why CoLDE's recipe counts links and not chains.

    python -m benchmarks.papers.link_chains DIR

DIR is a data folder with pairs or links. For batches of 50, 100 and 200 documents drawn as CoLDE draws them, prints the
mean number of distinct documents and the mean size of the largest connected group.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from longmatch.encoders.pretrained import locate
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.colde.training import connected
from longmatch.lab.training.data import TrainingData
from longmatch.lab.training.samplers import EpochSampler


def main() -> None:
    """Draw one epoch of each batch size."""
    with TemporaryDirectory() as cache:
        data = TrainingData.open(sys.argv[1], open_tokenizer(locate(None)).backend_tokenizer, Path(cache))
        pairs = data.pairs("train")
        matches = np.flatnonzero(pairs.label)
        for documents in (50, 100, 200):
            epoch = EpochSampler(len(matches), documents // 2, seed=0)
            sizes = []
            for step in range(epoch.steps_per_epoch):
                rows = matches[epoch.rows(step)]
                numbers = np.unique(np.stack([pairs.source[rows], pairs.target[rows]]))
                sizes.append((len(numbers), int(connected(data.related(numbers)).sum(1).max())))
            distinct, chained = np.mean(sizes, axis=0)
            print(f"{documents}: {distinct:.0f} distinct documents, {chained:.0f} of them in the largest chain")


if __name__ == "__main__":
    main()
