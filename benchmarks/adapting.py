"""What `longmatch adapt` gains on a collection whose labels it never sees.

    python benchmarks/adapting.py DATA/peps WORK [--documents 260] [--words 400 1700] [--steps 60] [--seed 2]

Indexes some documents of a set in WORK/plain, adapts a copy, WORK/adapted, and prints the proof that `adapt` relies on;
then nDCG@10 of both libraries on the set's training queries, as far as their answers are among the documents.
"""

import argparse
import json
import random
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np

from longmatch.documents.document import Document, Section
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.lab.adapting.adapt import adapt
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.evaluation.measures.query_result import rank_query
from longmatch.lab.evaluation.measures.ranking import nDCG
from longmatch.lab.evaluation.significance import compare_queries
from longmatch.library.library import Library


def main() -> None:
    """Index, adapt, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--documents", type=int, default=260)
    parser.add_argument("--words", type=int, nargs=2, default=(400, 1700), help="fewest and most words of a document")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=2)
    options = parser.parse_args()
    folder = DataFolder(options.data)
    plain, adapted = options.work / "plain", options.work / "adapted"
    if not plain.exists():
        write_files(folder, options.work / "files", options.documents, *options.words)
        Library(plain).add(options.work / "files")
    if not adapted.exists():
        shutil.copytree(plain, adapted)
        result = adapt(Library(adapted), steps=options.steps, seed=options.seed)
        print(json.dumps(result.to_dict(), indent=2), flush=True)
    before, after = (np.array(ndcg_of(Library(place, create=False), folder)) for place in (plain, adapted))
    p = compare_queries(after, before).p
    figures = f"{before.mean():.4f} plain, {after.mean():.4f} adapted (p = {p:.3f})"
    print(f"{len(before)} training queries, nDCG@10: {figures}")


def write_files(folder: DataFolder, into: Path, count: int, least: int, most: int) -> None:
    """One Markdown file per document, of those that are neither short nor long, so that it takes minutes."""
    documents = [d for d in iterate_jsonl(folder.documents_file) if least <= words(d) <= most]
    random.Random(0).shuffle(documents)
    into.mkdir(parents=True)
    for document in documents[:count]:
        parts = (f"## {section.heading}\n\n{body(document, section)}" for section in document.sections)
        text = f"# {document.title}\n\n" + "\n\n".join(parts)
        (into / f"{document.id}.md").write_text(text, encoding="utf-8")


def words(document: Document) -> int:
    """Words of the running text."""
    return sum(len(body(document, section).split()) for section in document.sections)


def body(document: Document, section: Section) -> str:
    """A section's text below its heading."""
    return "\n\n".join(paragraph.of(document.text) for paragraph in section.paragraphs)


def ndcg_of(library: Library, folder: DataFolder) -> list[float]:
    """nDCG@10 of each training query that the library holds with an answer."""
    names = {id.removesuffix(".md"): id for id in library}
    wanted: dict[str, dict[str, int]] = defaultdict(dict)
    for row in folder.judgements("train"):
        if row.grade and row.query in names and row.document in names:
            wanted[names[row.query]][names[row.document]] = row.grade
    ranked = ({hit.id: hit.score for hit in library.rank(query, k=10)} for query in wanted)
    return [nDCG(10)(rank_query(grades, hits)) for grades, hits in zip(wanted.values(), ranked, strict=True)]


if __name__ == "__main__":
    main()
