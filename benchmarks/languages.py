"""What another backbone gives the default on documents in several languages.

    python -m benchmarks.languages [--backbones multilingual ...]

`examples/crosslingual` has 12 subjects, each in two languages. For each of its 24 texts the other 23 are
ranked; counted is how often the text on the same subject comes first.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.common import EXAMPLES
from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import load_backbone
from longmatch.documents.read import read
from longmatch.encoders.pretrained import TOKEN_VECTORS


def partners(backbones: Sequence[str]) -> Table:
    documents = [read(str(path)) for path in sorted((EXAMPLES / "crosslingual").glob("*.??.md"))]
    subjects = np.array([document.id.partition(".")[0] for document in documents])
    table = Table("backbone", "first", "of", "MRR")
    for name in [TOKEN_VECTORS, *backbones]:
        matcher = HybridMatcher(load_backbone(name))
        encodings = matcher.encode(documents)
        collection = matcher.collect(encodings)
        ranks = []
        for number, encoding in enumerate(encodings):
            scores = collection.scores(encoding)
            scores[number] = -np.inf
            same = (subjects == subjects[number]) & (np.arange(len(documents)) != number)
            ranks.append(1 + int((scores > scores[same].max()).sum()))
        first = sum(rank == 1 for rank in ranks)
        reciprocal = np.mean([1 / rank for rank in ranks])
        table.add_row(name, str(first), str(len(ranks)), f"{reciprocal:.3f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbones", nargs="*", default=["multilingual"])
    Console().print(partners(parser.parse_args().backbones))


if __name__ == "__main__":
    main()
