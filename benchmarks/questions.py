"""Questions in other words than the texts', asked of five collections by the code that `longmatch rank --text` runs.

    python -m benchmarks.questions ask OUT.json DATA [--deep] [--documents 240] [--libraries FOLDER]
    python -m benchmarks.questions show OUT.json [--beside BEFORE.json]

`DATA` holds the collections and `questions/questions.tsv`. Of each collection a library is made of the documents that
answer and of others drawn at random, `--documents` in all (0: the whole collection); `--libraries` keeps them. Each
question is asked of the documents (`rank --text`) and of the sections (`--by section`), and where the answer stands is
written down, with the seconds it took in a process that has answered before; with `--deep` as users ask for it.
`--collections peps,wiki` asks some, `--half odd` those questions alone that settings are chosen by.

`show` prints success among the first one and five and the mean reciprocal rank of the first ten, odd question numbers,
on which settings are chosen, apart from even ones, which judge; beside another run, the differences pooled over the
collections with 95 % intervals of a paired bootstrap. Judgments have one section, and count by document alone.
"""

import argparse
import csv
import json
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.documents.read import read_text_string
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.evaluation.significance import Interval, bootstrap_means
from longmatch.library.library import Library

COLLECTIONS = "peps", "wiki", "acl", "papers", "legal"
UNSECTIONED = "legal"  # whole judgments are one section
UNNAMED = "(start)"
DEPTH = 10  # results looked at
SEED = 7


@dataclass(frozen=True)
class Question:
    """A question, the documents that answer it, and the sections of the first of them that do."""

    collection: str
    id: str
    text: str
    documents: tuple[str, ...]
    headings: tuple[str, ...]

    @property
    def is_odd(self) -> bool:
        """Whether settings may be chosen by it."""
        return int(self.id.rpartition("-")[2]) % 2 == 1


@dataclass(frozen=True)
class Asked:
    """Where the answer stood among the first DEPTH, from 1; 0 where it did not."""

    collection: str
    id: str
    odd: bool
    document: int
    section: int
    seconds: float  # of `rank --text`
    section_seconds: float  # of `rank --by section`


def read_questions(data: Path) -> list[Question]:
    """All questions."""
    with (data / "questions" / "questions.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Question(
            row["collection"],
            row["query_id"],
            row["question"],
            (row["document"], *(row["also_acceptable"] or "").split()),
            tuple(row["sections"].split(" | ")),
        )
        for row in rows
    ]


def library_of(name: str, questions: Sequence[Question], data: Path, documents: int, place: Path) -> Library:
    """The documents that answer, and others drawn at random."""
    library = Library(place / f"{name}-{documents}")
    if not len(library):
        folder = DataFolder(data / name)
        answering = {id for question in questions for id in question.documents}
        others = sorted(set(folder.ids) - answering)
        random.Random(SEED).shuffle(others)
        chosen = answering | set(others[: max(0, documents - len(answering)) if documents else None])
        file = place / f"{name}-{documents}.jsonl"
        file.write_text("".join(f"{r.line()}\n" for r in folder.records() if r.id in chosen), encoding="utf-8")
        library.add(file)
    return library


def ask(library: Library, questions: Sequence[Question], deep: bool) -> list[Asked]:
    """Every question, after one that warms up."""
    asked: list[Asked] = []
    for warm, question in enumerate([questions[0], *questions]):
        query = read_text_string(question.text, "text")
        times = [time.perf_counter()]
        hits = library.rank(query, DEPTH, deep=deep)
        times.append(time.perf_counter())
        sections = library.rank_sections(query, DEPTH, deep=deep)
        times.append(time.perf_counter())
        if warm:
            document = [hit.id in question.documents for hit in hits]
            section = [
                hit.id == question.documents[0] and (hit.section.heading or UNNAMED) in question.headings
                for hit in sections
            ]
            places = (found.index(True) + 1 if True in found else 0 for found in (document, section))
            seconds = np.diff(times).tolist()
            asked.append(Asked(question.collection, question.id, question.is_odd, *places, *seconds))
    return asked


MEASURES = {
    "document @1": lambda one: float(one.document == 1),
    "document @5": lambda one: float(1 <= one.document <= 5),
    "document MRR": lambda one: 1 / one.document if one.document else 0.0,
    "section @1": lambda one: float(one.section == 1),
    "section @5": lambda one: float(1 <= one.section <= 5),
    "section MRR": lambda one: 1 / one.section if one.section else 0.0,
}


def counted(asked: Iterable[Asked], measure: str) -> list[Asked]:
    """Those that a measure counts."""
    return [one for one in asked if one.collection != UNSECTIONED or measure.startswith("document")]


def table(asked: Sequence[Asked], title: str) -> Table:
    """A row for each collection."""
    rows = Table("collection", "questions", *MEASURES, "s", "s by section", title=title)
    groups = {name: [one for one in asked if one.collection == name] for name in COLLECTIONS}
    for name, group in {**groups, "all": asked}.items():
        if group:
            values = [
                f"{np.mean([of(one) for one in counted(group, measure)]):.2f}" if counted(group, measure) else ""
                for measure, of in MEASURES.items()
            ]
            seconds = (median(one.seconds for one in group), median(one.section_seconds for one in group))
            rows.add_row(name, str(len(group)), *values, *(f"{value:.3f}" for value in seconds))
    return rows


def differences(asked: Sequence[Asked], before: Sequence[Asked], title: str) -> Table:
    """Pooled over the collections, on the questions of both runs."""
    rows = Table("measure", "questions", "before", "now", "difference", "95 % interval", title=title)
    known = {one.id: one for one in before}
    for name, of in MEASURES.items():
        pairs = [(of(known[one.id]), of(one)) for one in counted(asked, name) if one.id in known]
        if pairs:
            old, new = np.array(pairs).T
            interval = Interval.of(bootstrap_means(new - old))
            means = f"{old.mean():.3f}", f"{new.mean():.3f}", f"{(new - old).mean():+.3f}"
            rows.add_row(name, str(len(pairs)), *means, f"{interval.low:+.3f} to {interval.high:+.3f}")
    return rows


def main() -> None:
    """Ask, or show what was asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    asking = verbs.add_parser("ask")
    asking.add_argument("out", type=Path)
    asking.add_argument("data", type=Path)
    asking.add_argument("--documents", type=int, default=240)
    asking.add_argument("--libraries", type=Path)
    asking.add_argument("--deep", action="store_true")
    asking.add_argument("--half", choices=("odd", "even"))
    asking.add_argument("--collections", default=",".join(COLLECTIONS))
    showing = verbs.add_parser("show")
    showing.add_argument("out", type=Path)
    showing.add_argument("--beside", type=Path)
    options = parser.parse_args()
    if options.verb == "ask":
        asked: list[Asked] = []
        with TemporaryDirectory() as temporary:
            place = options.libraries or Path(temporary)
            place.mkdir(parents=True, exist_ok=True)
            for name in options.collections.split(","):
                questions = [question for question in read_questions(options.data) if question.collection == name]
                library = library_of(name, questions, options.data, options.documents, place)
                chosen = [q for q in questions if options.half is None or q.is_odd == (options.half == "odd")]
                asked += ask(library, chosen, options.deep)
                options.out.write_text(json.dumps([asdict(one) for one in asked], indent=1), encoding="utf-8")
    show(options.out, getattr(options, "beside", None))


def show(out: Path, beside: Path | None) -> None:
    """Print the tables of a run, and of its differences from another."""
    console = Console(width=160)
    run = read_run(out)
    for odd, said in ((True, "odd numbers: settings are chosen by them"), (False, "even numbers: they judge")):
        half = [one for one in run if one.odd == odd]
        if half:
            console.print(table(half, said))
        if half and beside:
            console.print(differences(half, read_run(beside), said))


def read_run(path: Path) -> list[Asked]:
    """What `ask` wrote."""
    return [Asked(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    main()
