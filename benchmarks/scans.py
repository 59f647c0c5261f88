"""How well scans are read: the words of scans whose text is known, and where a scan ranks beside its text.

    python benchmarks/scans.py [--count 3] [--pages 3]

Needs the extra `ocr`. PDF files of examples/collection are drawn page by page, turned by up to 0.6 degrees, given grain,
and put back into PDF files that hold pictures alone. A word of the text counts as found if it stands in the scan's text
at its place (longest common subsequence of the words, without regard to case and punctuation). Then every other document
of the collection is a query to a library of all documents and the scan: the places of text and scan are compared.
"""

import argparse
import re
import tempfile
import time
from difflib import SequenceMatcher
from pathlib import Path

import longmatch
from longmatch.documents.document import Document
from longmatch.lab.benchmarks.written.scanning import save_scan

COLLECTION = Path(__file__).parents[1] / "examples" / "collection"


def words_of(document: Document, last_page: int) -> list[str]:
    """The words of the first pages, as they are compared."""
    paragraphs = [p for p in document.paragraphs if (p.page or 1) <= last_page]
    return re.findall(r"\w+", " ".join(p.of(document.text) for p in paragraphs).casefold())


def share_found(words: list[str], read: list[str]) -> float:
    """The share of the words that are read, in order."""
    blocks = SequenceMatcher(None, words, read, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(len(words), 1)


def largest_distance(library: longmatch.Library, text: str, scan: str) -> tuple[int, int]:
    """The largest difference between the places of a text and its scan, over all queries, and the number of queries."""
    largest = queries = 0
    for query in library:
        if query not in (text, scan):
            places = {hit.id: place for place, hit in enumerate(library.rank(query, k=len(library)))}
            largest = max(largest, abs(places[text] - places[scan]))
            queries += 1
    return largest, queries


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=3, help="scans")
    parser.add_argument("--pages", type=int, default=3, help="pages of each")
    options = parser.parse_args()
    originals = sorted(COLLECTION.glob("*.pdf"))[: options.count]
    with tempfile.TemporaryDirectory() as folder:
        for seed, original in enumerate(originals):
            scan = Path(folder) / f"scan-of-{original.name}"
            save_scan(original, scan, seed=seed, pages=options.pages)
            start = time.process_time()
            read = longmatch.read(scan)
            seconds = time.process_time() - start
            pages = read.metadata["ocr_pages"]
            found = share_found(words_of(longmatch.read(original), pages), words_of(read, pages))
            library = longmatch.Library(Path(folder) / f"library-{seed}")
            library.add([COLLECTION, scan])
            distance, queries = largest_distance(library, original.name, scan.name)
            headings = [section.heading for section in read.sections if section.heading]
            print(
                f"{original.name:36} {pages} pages, {seconds / pages:4.1f} s a page of one core, "
                f"confidence {read.metadata['ocr_confidence']:.3f}, words found {found:.1%}, {len(headings)} headings, "
                f"at most {distance} places from its text in {queries} rankings",
                flush=True,
            )


if __name__ == "__main__":
    main()
