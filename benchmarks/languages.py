"""What another backbone gives the default: documents in several languages, and in Chinese.

    python -m benchmarks.languages partners [--backbones multilingual ...]
    python -m benchmarks.languages chinese DATA/legal-zh [--queries 4] [--backbones multilingual FOLDER ...]

`partners`: `examples/crosslingual` has 12 subjects, each in two languages. For each of its 24 texts the other 23 are
ranked; counted is how often the text on the same subject comes first.

`chinese`: nDCG@10 on legal-zh over the candidates of each query, for the test queries with the shortest candidates:
whole judgments take long to encode. All models see the same documents: the queries and all of their candidates.
"""

import argparse
import json
import lzma
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.documents.read import read
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.matching.matcher import Encoder
from longmatch.models.loading import load

TEXTS = Path(__file__).parents[1] / "examples" / "crosslingual"
DEPTH = 10
Grades = Mapping[str, Mapping[str, int]]  # of the judged documents of each query


def partners(backbones: Sequence[str]) -> Table:
    documents = [read(str(path)) for path in sorted(TEXTS.glob("*.??.md"))]
    subjects = np.array([document.id.partition(".")[0] for document in documents])
    table = Table("backbone", "first", "of", "MRR")
    for name in [DEFAULT_NAME, *backbones]:
        matcher = HybridMatcher(Backbone.load(name))
        encodings = matcher.encode(documents)
        collection = matcher.collect(encodings)
        ranks = []
        for number, encoding in enumerate(encodings):
            scores = collection.scores(encoding, matcher.statistics)
            scores[number] = -np.inf
            same = (subjects == subjects[number]) & (np.arange(len(documents)) != number)
            ranks.append(1 + int((scores > scores[same].max()).sum()))
        first = sum(rank == 1 for rank in ranks)
        reciprocal = np.mean([1 / rank for rank in ranks])
        table.add_row(name, str(first), str(len(ranks)), f"{reciprocal:.3f}")
    return table


def chinese(folder: Path, count: int, backbones: Sequence[str]) -> Table:
    with lzma.open(folder / "documents.jsonl.xz", "rt", encoding="utf-8") as file:
        lines = {str(json.loads(line)["id"]): line for line in file}
    lengths = {id: len(line) for id, line in lines.items()}
    pools: dict[str, list[str]] = defaultdict(list)
    for query, candidate in _rows(folder / "pools.tsv"):
        pools[query].append(candidate)
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for split, query, candidate, grade in _rows(folder / "qrels.tsv"):
        if split == "test":
            grades[query][candidate] = int(grade)
    queries = sorted(grades, key=lambda query: (sum(lengths[id] for id in pools[query]), query))[:count]
    wanted = {id for query in queries for id in (query, *pools[query])}
    with tempfile.TemporaryDirectory() as temporary:  # so that no other documents are read
        chosen = Path(temporary) / "chosen.jsonl"
        chosen.write_text("".join(lines[id] for id in sorted(wanted)), encoding="utf-8")
        documents = list(iterate_jsonl(chosen))
    words = sum(document.words for document in documents)
    table = Table("model", "nDCG@10", title=f"{len(queries)} queries, {len(documents)} documents, {words:,} characters")
    table.add_row("bm25", f"{100 * _ndcg('bm25', documents, queries, pools, grades):.1f}")
    for name in [DEFAULT_NAME, *backbones]:
        model = "default" if name == DEFAULT_NAME else f"default@{name}"
        table.add_row(model, f"{100 * _ndcg(model, documents, queries, pools, grades):.1f}")
    return table


def _ndcg(
    model: str,
    documents: Sequence[Document],
    queries: Iterable[str],
    pools: Mapping[str, Sequence[str]],
    grades: Grades,
) -> float:
    matcher = load(model)
    assert isinstance(matcher, Encoder)
    encodings = matcher.encode(documents)
    collection = matcher.collect(encodings)
    numbers = {document.id: number for number, document in enumerate(documents)}
    values = []
    for query in queries:
        scores = matcher.score(encodings[numbers[query]], collection)
        ranked = sorted(pools[query], key=lambda id: (-scores[numbers[id]], id))
        gains = [grades[query].get(id, 0) for id in ranked]
        values.append(_discounted(gains) / _discounted(sorted(gains, reverse=True)))
    return float(np.mean(values))


def _discounted(gains: Sequence[int]) -> float:
    return float(sum(gain / np.log2(place + 2) for place, gain in enumerate(gains[:DEPTH]))) or 1.0


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("partners")
    of_chinese = verbs.add_parser("chinese")
    of_chinese.add_argument("data", type=Path)
    of_chinese.add_argument("--queries", type=int, default=4)
    for verb in verbs.choices.values():
        verb.add_argument("--backbones", nargs="*", default=["multilingual"])
    options = parser.parse_args()
    if options.verb == "partners":
        found = partners(options.backbones)
    else:
        found = chinese(options.data, options.queries, options.backbones)
    Console().print(found)


if __name__ == "__main__":
    main()
