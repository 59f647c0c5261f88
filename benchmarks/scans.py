"""How well scans are read: the words of scans whose text is known, and where a scan ranks beside its text.

    python -m benchmarks.scans [--count 3]

Needs the extra `ocr`. PDF files of examples/collection are drawn page by page, turned by up to 0.6 degrees, given
grain, and put back into PDF files that hold pictures alone. A word of the text counts as found if it stands in the
scan's text at its place (longest common subsequence of the words, without regard to case and punctuation). Then every
other document of the collection is a query to a library of all documents and the scan, and the places of text and scan
are compared: where one of them is among the first ten, and, far down the list where scores hardly differ, in all.
"""

import argparse
import re
import tempfile
import time
from difflib import SequenceMatcher
from pathlib import Path

import longmatch
from benchmarks.common import COLLECTION
from benchmarks.written.scanning import save_scan
from longmatch.documents.document import Document

FIRST = 10


def share_found(original: Document, scan: Document) -> float:
    """The share of the words that are read, in order."""
    words, read = (re.findall(r"\w+", document.text.casefold()) for document in (original, scan))
    blocks = SequenceMatcher(None, words, read, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(len(words), 1)


def distances(library: longmatch.Library, text: str, scan: str) -> tuple[list[int], list[int]]:
    """How many places apart a text and its scan are: in rankings with one of them among the first, and in all."""
    near, every = [], []
    for query in library:
        if query not in (text, scan):
            places = {hit.id: place for place, hit in enumerate(library.rank(query, k=len(library)))}
            every.append(abs(places[text] - places[scan]))
            if min(places[text], places[scan]) < FIRST:
                near.append(every[-1])
    return near, every


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=3, help="scans")
    options = parser.parse_args()
    originals = sorted(COLLECTION.glob("*.pdf"))[: options.count]
    with tempfile.TemporaryDirectory() as folder:
        library = longmatch.Library(Path(folder) / "library")
        library.add(COLLECTION)
        for seed, original in enumerate(originals):
            scan = Path(folder) / f"scan-of-{original.name}"
            save_scan(original, scan, seed=seed)
            start = time.process_time()
            read = longmatch.read(scan)
            seconds = time.process_time() - start
            pages = read.metadata["ocr_pages"]
            found = share_found(longmatch.read(original), read)
            library.add(scan)
            near, every = distances(library, original.name, scan.name)
            library.remove(scan.name)
            headings = [section.heading for section in read.sections if section.heading]
            apart = f"{max(near, default=0)} in {len(near)} rankings with one of them among the first {FIRST}"
            print(f"{original.name}: {pages} pages, {seconds / pages:.1f} s a page of one core")
            print(
                f"  confidence {read.metadata['ocr_confidence']:.3f}, words found {found:.1%}, {len(headings)} headings"
            )
            print(
                f"  at most {apart}, {max(every)} in all {len(every)}, {sum(every) / len(every):.1f} on average",
                flush=True,
            )


if __name__ == "__main__":
    main()
