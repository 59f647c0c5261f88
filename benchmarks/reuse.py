"""How well and how fast text that stands in two documents is found.

    python -m benchmarks.reuse DATA/wiki DATA/legal ... [--trials 60] [--words 200000]

Quality: a passage of one document is pasted into another, with a share of its words replaced, left out or added to.
Recall is the share of the pasted words that are found, precision the share of the found words that were pasted; what
the two documents share anyway counts against it. Speed: two books made of real text, unrelated, and one with its edited
copy.
"""

import argparse
import random
import resource
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.documents.language import words_of
from longmatch.reuse.reuse import find_reuse
from longmatch.reuse.revision import revise
from longmatch.reuse.words import Vocabulary, running_words
from longmatch.units.tokens import Ints

EDITS = (0.0, 0.05, 0.15)
LENGTHS = (40, 100, 300)  # words of a pasted passage; of Chinese, twice as many characters
DOCUMENTS = 300  # read of each collection


def edited(words: Sequence[str], share: float, other: Sequence[str], chance: random.Random) -> Iterator[str]:
    """The words with a share of them replaced by others, left out, or followed by others."""
    for word in words:
        if chance.random() >= share:
            yield word
            continue
        way = chance.random()
        if way < 0.6:
            yield chance.choice(other)
        elif way < 0.8:
            yield from (word, chance.choice(other))


def trial(a: Document, b: Document, length: int, share: float, chance: random.Random) -> Ints:
    """Paste a passage of a into b and look for it: words pasted, found, and both."""
    joint = "" if a.language == "zh" else " "
    own, host = (_pieces(document) for document in (a, b))
    length = min(length * (1 if joint else 2), len(own) // 2)
    start = chance.randrange(len(own) - length)
    passage = joint.join(edited(own[start : start + length], share, host, chance))
    place = chance.randrange(len(host))
    parts = [joint.join(host[:place]), passage, joint.join(host[place:])]
    draft = Draft()
    for part in parts:
        draft.paragraph(part)
    pasted = draft.document("pasted")
    begin = len(parts[0]) + 2 if parts[0] else 0
    words = running_words(pasted, Vocabulary())
    inside = (words.starts >= begin) & (words.ends <= begin + len(passage))
    found = inside & False
    for hit in find_reuse(a, pasted).passages:
        found |= (words.starts >= hit.b.start) & (words.ends <= hit.b.end)
    return np.array([inside.sum(), found.sum(), (inside & found).sum()])


def _pieces(document: Document) -> list[str]:
    """The words of a document with their punctuation, or its characters."""
    text = " ".join(paragraph.of(document.readable) for paragraph in document.running)
    return list("".join(text.split())) if document.language == "zh" else text.split()


def measure_quality(folder: Path, trials: int, console: Console) -> None:
    """One table a collection: recall and precision by length and share of edits."""
    documents = [
        document
        for document in islice(iterate_jsonl(folder / "documents.jsonl.xz"), DOCUMENTS)
        if len(words_of(document.text)) > 1000
    ]
    table = Table(title=f"{folder.name}: {trials} passages a cell, recall / precision of words, in percent")
    for name in ("words pasted", *(f"{share:.0%} changed" for share in EDITS)):
        table.add_column(name, justify="right")
    for length in LENGTHS:
        cells = []
        for share in EDITS:
            chance, counts = random.Random(f"{length} {share}"), np.zeros(3, dtype=np.int64)
            for _ in range(trials):
                a, b = chance.sample(documents, 2)
                counts += trial(a, b, length, share, chance)
            pasted, found, both = counts.tolist()
            cells.append(f"{100 * both / max(1, pasted):.1f} / {100 * both / max(1, found):.1f}")
        table.add_row(str(length), *cells)
    console.print(table)


def book(documents: Sequence[Document], words: int, share: float, id: str) -> Document:
    """A document of so many words of real text, edited."""
    chance, draft, count = random.Random(id), Draft(), 0
    for document in documents:
        for section in document.sections:
            draft.heading(section.heading or document.title)
            for paragraph in section.paragraphs:
                text = paragraph.of(document.readable).split()
                count += len(text)
                draft.paragraph(" ".join(edited(text, share, text, chance)))
        if count >= words:
            break
    return draft.document(id)


def measure_speed(folder: Path, words: int, console: Console) -> None:
    """Two books: unrelated, and one with its edited copy."""
    documents = list(islice(iterate_jsonl(folder / "documents.jsonl.xz"), 2000))
    a, other = book(documents[::2], words, 0.0, "a"), book(documents[1::2], words, 0.0, "other")
    copy = book(documents[::2], words, 0.05, "copy")
    table = Table(title=f"Two books of {a.words:,} and {other.words:,} words of {folder.name}")
    for name in ("", "seconds", "words a second", "peak memory, MB"):
        table.add_column(name, justify="right" if name else "left")
    steps = (
        ("reuse, unrelated", lambda: find_reuse(a, other), a.words + other.words),
        ("reuse, 5% changed", lambda: find_reuse(a, copy), a.words + copy.words),
        ("changes, 5% changed", lambda: revise(a, copy), a.words + copy.words),
    )
    for name, run, read in steps:
        start = time.process_time()
        run()
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        table.add_row(name, f"{seconds:.2f}", f"{read / seconds:,.0f}", f"{peak:,.0f}")
    console.print(table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="folders with documents.jsonl.xz")
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--words", type=int, default=200_000, help="of each book; 0 leaves speed out")
    options = parser.parse_args()
    console = Console()
    if options.words:
        measure_speed(options.folders[0], options.words, console)
    for folder in options.folders:
        measure_quality(folder, options.trials, console)


if __name__ == "__main__":
    main()
