"""Can one believe what is said about a pair? Prints all of docs/scoring.md's figures on belief.

    python -m benchmarks.belief OUT [--pdfs FOLDER] [--folder examples/german] [--data DATA] [--foreign DATA/legal-zh]

OUT is the folder of `longmatch train default` (steps features and weights): each set's pairs are measured with a
background that lacks the set's kind of text, and the curves are learnt without the set. `--pdfs` compares all
documents of a folder of papers, hardly any of which are related, in the folder and by themselves; `--folder` those of a
folder with an answer-key.json; `--data` ranks small folders cut out of acl and peps by phrases alone; `--foreign`
measures the answers of a set's test queries, in a language that the backbone does not know, among random documents.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.default.collection import Collection, sampled_unrelated
from longmatch.default.encoding import Encoding
from longmatch.default.explanation import Explanation
from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import KnownVectors
from longmatch.default.rarity import LITTLE_DOUBT, Rarity
from longmatch.default.statistics import shipped_statistics
from longmatch.documents.document import Document
from longmatch.documents.read import read
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.default.background import combine, read_kinds
from longmatch.lab.default.calibration import believability, left_out, lone_probabilities
from longmatch.lab.default.features import UNRELATED, read_pairs
from longmatch.lab.default.pipeline import belief_table
from longmatch.lab.evaluation.measures import Floats, QueryResult, nDCG
from longmatch.lexical.terms import terms_of
from longmatch.lexical.weights import TermMatrix, tfidf
from longmatch.matching.levels import SentenceVectors
from longmatch.matching.sentences import Sentences

FOLDER_DOCUMENTS = 36
FOLDER_QUERIES = 150


def lone_table(folder: Path) -> Table:
    """Each set's test pairs by themselves, where the background has their kind of text and where it has not.

    Which of them get a verdict; of these the probabilities, and how many of all random pairs are told that they belong
    together.
    """
    train, test = read_pairs(folder, "train"), read_pairs(folder, "test")
    columns = ("verdict", "median", "verdict", "median", "0.7 or more")
    names = (f"{kind}: {column}" for kind, column in zip(["related"] * 2 + ["random"] * 3, columns, strict=True))
    table = Table("set", "kind of text", *names, title="two documents by themselves, learnt without the set")
    for name, pairs in test.items():
        curves = left_out(train, name)
        for knowledge in ("known", "unknown"):
            cells: list[float] = []
            for kind in ("related", "random"):
                likely, doubt = lone_probabilities(*curves, pairs.lone[f"{knowledge} {kind}"])
                judged = likely[doubt <= LITTLE_DOUBT]
                cells += [len(judged) / len(likely), float(np.median(judged)) if len(judged) else np.nan]
            table.add_row(name, knowledge, *(f"{cell:.2f}" for cell in [*cells, (judged >= 0.7).sum() / len(likely)]))
    return table


def folder_table(paths: Sequence[Path], groups: Sequence[frozenset[str]], console: Console) -> None:
    """All pairs of a folder's documents: how likely they belong together, in the folder and by themselves."""
    matcher = HybridMatcher()
    encodings = matcher.encode([read(path) for path in paths])
    rarity = Collection.of(encodings, matcher.statistics).rarity
    for title, known in (("in the folder", rarity), ("by themselves", None)):
        found = [
            (a, b, Explanation.of(a, b, known or Rarity.of([a, b], matcher.statistics)))
            for a, b in combinations(encodings, 2)
        ]
        files = [{Path(encoding.document.source).name for encoding in (a, b)} for a, b, _ in found]
        related = [any(pair <= group for group in groups) for pair in files]
        table = Table("pairs", "number", "median", "95 %", "at 0.7 or more", "median score", title=title)
        for kind, wanted in (("related", True), ("the others", False)):
            some = [why for (_, _, why), is_related in zip(found, related, strict=True) if is_related == wanted]
            if some:
                likely = np.array([why.probability for why in some])
                scores = np.array([why.score for why in some])
                values = (np.median(likely), np.quantile(likely, 0.95), (likely >= 0.7).mean(), np.median(scores))
                table.add_row(kind, str(len(some)), *(f"{value:.3f}" for value in values))
        console.print(table)
        for a, b, why in sorted(found, key=lambda row: -row[2].probability)[:12]:
            console.print(f"{why.probability:.2f} {why.score:.2f} {_shared_terms(a, b, why)}")
    lowest = sorted(found, key=lambda row: row[2].probability)
    for a, b, why in random.Random(0).sample(lowest[: len(lowest) // 2], min(10, len(lowest) // 2)):
        console.print(f"{why.probability:.2f} {_shared_terms(a, b, why)}", style="dim")


def _shared_terms(a: Encoding, b: Encoding, why: Explanation) -> str:
    names = " | ".join(encoding.document.title[:50] or encoding.document.id for encoding in (a, b))
    return f"{names}: {', '.join(term.text for term in why.terms()[:10])}"


def small_folders(data: Path, name: str) -> tuple[float, float]:
    """nDCG@10 of phrases alone, for queries among all documents and among FOLDER_DOCUMENTS, their answers included."""
    folder, statistics = DataFolder(data / name), shipped_statistics()
    encodings = {document.id: _terms_alone(document) for document in folder.documents()}
    rng, answers = random.Random(0), folder.qrels("train")
    queries = rng.sample(sorted(answers), min(FOLDER_QUERIES, len(answers)))
    whole = Rarity.of(list(encodings.values()), statistics)
    results: dict[str, list[QueryResult]] = {"whole": [], "folder": []}
    for query in queries:
        others = rng.sample(sorted(set(encodings) - {query, *answers[query]}), FOLDER_DOCUMENTS)
        members = sorted([*answers[query], *others[: max(1, FOLDER_DOCUMENTS - len(answers[query]))]])
        some = [encodings[id] for id in members]
        for where, rarity in (("whole", whole), ("folder", Rarity.of([encodings[query], *some], statistics))):
            matrix = TermMatrix.of([tfidf(e.terms.phrases.counts, rarity.phrases) for e in some])
            scores = matrix.scores(tfidf(encodings[query].terms.phrases.counts, rarity.phrases))
            right = np.array([answers[query].get(id, 0) > 0 for id in members])[np.argsort(-scores, kind="stable")]
            places = np.flatnonzero(right)
            ones = np.ones(len(places), dtype=np.int64)
            results[where].append(QueryResult(places + 1, ones, ones[:10], len(members)))
    whole_mean, folder_mean = (100 * float(np.mean(nDCG(10).each(results[where]))) for where in ("whole", "folder"))
    return whole_mean, folder_mean


def _terms_alone(document: Document) -> Encoding:
    nothing = KnownVectors(SentenceVectors(np.empty((0, 1)), np.empty(0)))
    return Encoding(Sentences.of_document(document), terms_of(document), nothing)


def foreign_table(data: Path, out: Path | None) -> Table:
    """Answers of test queries and random documents of a set that only words and phrases are read of.

    The shipped background has this kind of text. With OUT there is a row for a background that lacks it.
    """
    folder, shipped = DataFolder(data), shipped_statistics()
    backgrounds = {"known": shipped}
    if out and (kinds := read_kinds(out, without=folder.name)):
        backgrounds["unknown"] = replace(shipped, terms=combine(kinds)[0])
    encodings = [_terms_alone(document) for document in folder.documents()]
    rows = {}
    for name, statistics in backgrounds.items():
        rarity = Rarity.of(encodings, statistics)
        rarity = replace(rarity, unrelated=sampled_unrelated(encodings, rarity))
        found = list(_judged(folder, Collection(encodings, rarity)))
        related, unrelated = (np.concatenate([pair[kind] for pair in found]) for kind in (0, 1))
        ranked = float(np.mean(nDCG(10).each([pair[2] for pair in found])))
        rows[name] = {**believability(related, unrelated), "nDCG@10": ranked}
    title = f"{folder.name}: answers of its test queries and random documents"
    table = Table("kind of text", *rows["known"], title=title)
    for name, row in rows.items():
        table.add_row(name, *(f"{value:.3f}" for value in row.values()))
    return table


def _judged(folder: DataFolder, collection: Collection) -> Iterator[tuple[Floats, Floats, QueryResult]]:
    """The probabilities of each test query's answers, and of random documents that no label names; its ranking."""
    number = {encoding.document.id: i for i, encoding in enumerate(collection.encodings)}
    rng = random.Random(0)
    for query, grades in sorted(folder.qrels("test").items()):
        scores, likely = collection.judge(collection.encodings[number[query]])
        answers = {id: grade for id, grade in grades.items() if grade > 0}
        drawn = set(rng.sample(range(len(number)), UNRELATED)) - {number[query], *(number[id] for id in grades)}
        order = sorted(((scores[number[id]], id) for id in folder.pool(query) if id != query), reverse=True)
        gains = np.array([answers.get(id, 0) for _, id in order])
        places = np.flatnonzero(gains)
        ideal = np.array(sorted(answers.values(), reverse=True)[:10])
        result = QueryResult(places + 1, gains[places], ideal, len(order))
        yield likely[[number[id] for id in answers]], likely[sorted(drawn)], result


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--pdfs", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--foreign", type=Path)
    options = parser.parse_args()
    console = Console(width=150)
    if options.out:
        console.print(belief_table(options.out))
        console.print(lone_table(options.out))
    if options.pdfs:
        folder_table(sorted(options.pdfs.glob("*.pdf")), (), console)
    if options.folder:
        key = json.loads((options.folder / "answer-key.json").read_text(encoding="utf-8"))
        names = {group: [row["file"] for row in key if row["group"] == group] for group in {r["group"] for r in key}}
        groups = [frozenset(files) for files in names.values()]
        root = options.folder / "collection" if (options.folder / "collection").is_dir() else options.folder
        folder_table([root / row["file"] for row in key], groups, console)
    if options.foreign:
        console.print(foreign_table(options.foreign, options.out))
    for name in ("acl", "peps") if options.data else ():
        whole, folder = small_folders(options.data, name)
        console.print(f"{name}, phrases alone: weighed by the whole set {whole:.1f}, by 36 documents {folder:.1f}")


if __name__ == "__main__":
    main()
