"""How well documents are read: headings against known outlines, what survives a change of format, and scans.

    python -m benchmarks.reading outlines [FOLDER] [-v]
    python -m benchmarks.reading formats documents.jsonl.xz [...] [--count 40]
    python -m benchmarks.reading facts FOLDER
    python -m benchmarks.reading speed FOLDER documents.jsonl.xz [...] [--count 100]
    python -m benchmarks.reading scans [--count 3]

`outlines`: the headings found, and pages of PDF a second. FOLDER (or the environment variable LONGMATCH_PDFS) holds PDF
files and outlines.json, made by another parser: {file: {"headings": [...]}}. Without it, only the documents of
benchmarks.written are read: contracts with gaps in their numbering, books with unnumbered and odd chapters, judgments
of numbered paragraphs, and papers and reports with lists, each as TXT, DOCX and PDF, against the outline it was written
from. A title that the reader of text files gives as the first heading is not counted.

Headings are compared by their letters and digits alone, in order (longest common subsequence). A heading of ours that
the outline lacks counts as right only under one of these rules, else as wrong:
  - its name is one the outlines leave out by habit (abstract, references, acknowledgments, appendix, supplement);
  - it is in OUTLINE_MISSES below, looked up in the file.

"Mixed" counts sentences that may be made of two columns: two places or more where neighbouring words are no neighbours
in the order in which the file writes them (columns are written one after the other, whatever the reader makes of the
places on the page). One such place is right where a sentence goes on over a column's end; formulas, whose parts are
written out of order, make the rest, which -v shows.

`formats` writes documents of JSON Lines files as HTML, has LibreOffice (`soffice`) convert them, reads the results, and
compares the sections, paragraph by paragraph. `facts` counts the PDF files of a folder with an author, a year and a
DOI, and the years that are those in the names of the files (`acl_2017-18.pdf`).

`speed`: processor time of reading a document, sentences and all, and how much of it finding the language and splitting
into sentences take; of the files of folders, and of lines of JSON Lines files (unpacked before the clock starts). To
compare two versions, run it by turns with the one and the other first in PYTHONPATH.

`scans` needs the extra `ocr`. PDF files of examples/collection are drawn page by page, turned by up to 0.6 degrees,
given grain, and put back into PDF files that hold pictures alone. A word of the text counts as found if it stands in
the scan's text at its place (longest common subsequence of the words, without regard to case and punctuation). Then
every other document of the collection is a query to a library of all documents and the scan, and the places of text and
scan are compared: where one of them is among the first ten, and, far down the list where scores hardly differ, in all.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from html import escape
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import longmatch
from benchmarks.common import COLLECTION
from benchmarks.written.documents import written_documents
from benchmarks.written.formats import FORMATS
from benchmarks.written.scanning import save_scan
from longmatch.documents import read as read_document
from longmatch.documents.document import Document, Sentence
from longmatch.documents.draft import split_sentences
from longmatch.documents.jsonl import iterate_jsonl, numbered_lines, parse_line
from longmatch.documents.language import detect_language
from longmatch.documents.pdf.reader import read_pdf
from longmatch.documents.read import find_files
from longmatch.errors import ReadError

OFFICE_FORMATS = ("html", "odt", "rtf", "docx")
FIRST = 10  # of a ranking

# What the outlines hold that is no heading, and what they miss that is one: (file, text) -> reason.
NOT_A_HEADING: dict[tuple[str, str], str] = {
    (
        "iclr_2017-366.pdf",
        "1. write article get thanks like anyone please know look one",
    ): "first row of a list in a table",
}
OUTLINE_MISSES: dict[tuple[str, str], str] = {
    ("acl_2017-239.pdf", "3.4 Learnable Similarity and Analogy tasks"): "the outline goes from 3.3 to 3.5",
    ("iclr_2017-366.pdf", "3.1 COLLAPSING z’S"): "the outline goes from 3 to 3.2",
    ("iclr_2017-378.pdf", "E VARIANCE OF IMPORTANCE WEIGHTS"): "the outline goes from D to F",
    ("iclr_2017-512.pdf", "4.1 FEED-FORWARD NETWORKS WITH NPF(T, L) ACTIVATIONS"): "the outline goes from 4 to 5",
    ("iclr_2017-512.pdf", "A.1 LIPSCHITZ CONSTANT"): "the outline has no subsections of the appendices",
    ("iclr_2017-512.pdf", "A.3 GENERALIZABILITY"): "the outline has no subsections of the appendices",
    ("iclr_2017-512.pdf", "B RESULTS FOR FUNCTIONS OVER Rn"): "the outline goes from A to C",
    ("iclr_2017-670.pdf", "1 INTRODUCTION"): "the outline begins at 2",
}

HABIT = re.compile(
    r"(\d+ )?(abstract|references|bibliography|acknowledge?ments?|appendix|appendices|supplement(ary|al) materials?)",
    re.I,
)


@dataclass
class Result:
    """One file's reading against its outline."""

    name: str
    pages: int
    seconds: float
    expected: list[str]
    found: list[str]
    right: list[str] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    sentences: int = 0
    mixed: list[str] = field(default_factory=list)


def judge(result: Result) -> None:
    """Sort the headings into right, missed, excused (real though not in the outline) and extra."""
    expected = [heading for heading in result.expected if (result.name, heading) not in NOT_A_HEADING]
    a, b = (["".join(filter(str.isalnum, h.casefold())) for h in headings] for headings in (expected, result.found))
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    matched_a = {i for block in blocks for i in range(block.a, block.a + block.size)}
    matched_b = {i for block in blocks for i in range(block.b, block.b + block.size)}
    result.expected = expected
    result.right = [heading for i, heading in enumerate(expected) if i in matched_a]
    result.misses = [heading for i, heading in enumerate(expected) if i not in matched_a]
    for place, heading in enumerate(result.found):
        if place not in matched_b:
            is_real = HABIT.fullmatch(heading.strip()) or (result.name, heading) in OUTLINE_MISSES
            (result.excused if is_real else result.extras).append(heading)


def letters(text: str) -> str:
    return "".join(filter(str.isalpha, unicodedata.normalize("NFKC", text).casefold()))


def find_mixed(result: Result, document: Document, source: str) -> None:
    """Count the running sentences, and keep those with two joints or more that the file does not have: `source` are its
    letters in the order it writes them.
    """
    for sentence in document.sentences:
        words = [word for word in map(letters, sentence.of(document.text).split()) if word]
        if len(words) < 6:
            continue
        result.sentences += 1
        joints = [place for place, (a, b) in enumerate(pairwise(words)) if a + b not in source]
        apart = [place for place in joints if place - 1 not in joints]  # a word in two halves makes two in a row
        if len(apart) > 1:
            where = ", ".join(" ".join(words[place : place + 2]) for place in apart[:4])
            result.mixed.append(f"{sentence.of(document.text)[:160]} ({where})")


def read(path: Path, headings: list[str]) -> Result:
    import pypdfium2

    with pypdfium2.PdfDocument(path) as pdf:
        pages, source = len(pdf), "|".join(letters(page.get_textpage().get_text_range()) for page in pdf)
    start = time.process_time()
    draft = read_pdf(path)
    seconds = time.process_time() - start
    document = draft.document(path.stem)
    found = [section.heading for section in document.sections if section.heading]
    result = Result(path.name, pages, seconds, headings, found)
    judge(result)
    find_mixed(result, document, source)
    return result


def show(result: Result, verbose: bool) -> None:
    called = len(result.found)
    precision = (called - len(result.extras)) / called if called else 1.0
    print(
        f"{result.name:24} {result.pages:4} pages {result.pages / result.seconds:6.1f}/s   "
        f"found {len(result.right):3}/{len(result.expected):3}   right {precision:6.1%} of {called:3}   "
        f"mixed {len(result.mixed):2} of {result.sentences} sentences"
    )
    if verbose:
        lists = {
            "missed": result.misses,
            "extra": result.extras,
            "not in the outline, but real": result.excused,
            "mixed": result.mixed,
        }
        for label, entries in lists.items():
            for entry in entries:
                print(f"    {label}: {entry}")


def total(results: list[Result]) -> None:
    pages, seconds = sum(r.pages for r in results), sum(r.seconds for r in results)
    expected, right = sum(len(r.expected) for r in results), sum(len(r.right) for r in results)
    called, extras = sum(len(r.found) for r in results), sum(len(r.extras) for r in results)
    real = sum(len(r.excused) for r in results)
    mixed, sentences = sum(len(r.mixed) for r in results), sum(r.sentences for r in results)
    print(f"\n{len(results)} files, {pages} pages, {pages / seconds:.1f} pages a second on one core")
    print(f"headings of the outlines found: {right}/{expected} = {right / max(expected, 1):.1%}")
    listed = called - extras - real
    print(f"called a heading: {called}; in the outline {listed}, real but not in it {real}, wrong {extras}")
    print(f"right of what is called a heading: {(called - extras) / max(called, 1):.1%}")
    print(f"sentences with two joints or more: {mixed} of {sentences}")
    for (name, heading), reason in (NOT_A_HEADING | OUTLINE_MISSES).items():
        print(f"the outline is wrong: {name}: {heading!r}: {reason}")


def show_written(verbose: bool) -> None:
    """Save the written documents in every format and read them; print recall and precision by format, and of each
    document the misses and extras.
    """
    with tempfile.TemporaryDirectory() as folder:
        results: dict[str, list[Result]] = {suffix: [] for suffix in FORMATS}
        for written in written_documents():
            for suffix, save in FORMATS.items():
                path = Path(folder) / f"{written.name}.{suffix}"
                save(written, path)
                document = read_document(path)
                found = [section.heading for section in document.sections if section.heading]
                if found[:1] == [document.title] == [written.title]:
                    del found[0]
                results[suffix].append(Result(path.name, 0, 0.0, written.outline, found))
                judge(results[suffix][-1])
    print("\nWritten documents: headings found (recall), and right of what is called a heading (precision)")
    for suffix, read_as in results.items():
        expected, right = sum(len(r.expected) for r in read_as), sum(len(r.right) for r in read_as)
        called, extras = sum(len(r.found) for r in read_as), sum(len(r.extras) for r in read_as)
        print(
            f"{suffix:5} {len(read_as)} documents   found {right}/{expected} = {right / expected:.1%}   "
            f"right {called - extras}/{called} = {(called - extras) / max(called, 1):.1%}"
        )
        for result in read_as:
            for label, entries in {"missed": result.misses, "extra": result.extras}.items():
                for entry in entries if verbose else ():
                    print(f"    {result.name}: {label}: {entry}")


def as_html(document: Document) -> str:
    parts = [f"<html><head><meta charset='utf-8'><title>{escape(document.title)}</title></head><body>"]
    for section in document.sections:
        parts += [f"<h1>{escape(section.heading)}</h1>"] if section.heading else []
        parts += [f"<p>{escape(paragraph.of(document.text))}</p>" for paragraph in section.paragraphs]
    return "\n".join([*parts, "</body></html>"])


def shape(document: Document) -> list[tuple[str, list[str]]]:
    """Headings and paragraphs, whatever the white space."""
    return [
        (section.heading, [" ".join(p.of(document.text).split()) for p in section.paragraphs])
        for section in document.sections
    ]


def measure_format(folder: Path, documents: Sequence[Document], suffix: str) -> str:
    same = sections = megabytes = 0.0
    seconds = time.monotonic()
    for number, document in enumerate(documents):
        path = folder / f"{number}.{suffix}"
        megabytes += path.stat().st_size / 1e6
        expected = shape(document)
        sections += len(expected)
        try:
            found = shape(read_document(path))
        except ReadError as error:
            print(error)
            continue
        same += sum(a == b for a, b in zip(expected, found, strict=False)) if len(found) == len(expected) else 0
    seconds = time.monotonic() - seconds
    return (
        f"| `.{suffix}` | {same:,.0f} of {sections:,.0f} | {megabytes / seconds:.1f} | {len(documents) / seconds:.0f} |"
    )


def count_facts(folder: Path) -> None:
    """Print how many files have an author, a year and a DOI."""
    known = {path.name: read_document(path).metadata for path in sorted(folder.glob("*.pdf"))}
    counts = {key: sum(key in facts for facts in known.values()) for key in ("author", "year", "doi")}
    right = sum(str(facts.get("year", "?")) in name for name, facts in known.items())
    print(f"{len(known)} files: {counts}, {right} years as in the name")


def show_speed(paths: Sequence[Path], count: int) -> None:
    """Print a row for each folder and file."""
    print("| documents of | documents | words | ms | language | sentences |\n|---|---|---|---|---|---|")
    for path in paths:
        if path.is_dir():
            readings = [partial(read_document, file) for file in find_files(path)[:count]]
        else:
            readings = [partial(parse_line, line, path, number) for number, line in islice(numbered_lines(path), count)]
        readings[0]()
        documents, whole = timed(readings)
        _, language = timed([partial(detect_language, document.text) for document in documents])
        _, sentences = timed([partial(split_again, document) for document in documents])
        words = sum(document.words for document in documents) / len(documents)
        parts = " | ".join(f"{1000 * part / len(documents):.1f}" for part in (whole, language, sentences))
        print(f"| {path} | {len(documents)} | {words:,.0f} | {parts} |", flush=True)


def split_again(document: Document) -> list[Sentence]:
    """The sentences of a document, split as its reader did."""
    text, language = document.readable, document.language
    return [sentence for paragraph in document.paragraphs for sentence in split_sentences(text, paragraph, language)]


def timed(works: Sequence[Callable[[], Any]]) -> tuple[list[Any], float]:
    """What each of some works gives, and the least processor time that all took of three times, in seconds."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        results = [work() for work in works]
        best = min(best, time.process_time() - start)
    return results, best


def show_formats(files: Sequence[Path], count: int) -> None:
    """Print a row for each format."""
    documents: list[Document] = []
    for file in files:
        documents += islice(iterate_jsonl(file), count)
    print("| format | sections equal to the source | MB per s | documents per s |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for number, document in enumerate(documents):
            (Path(folder) / f"{number}.html").write_text(as_html(document), encoding="utf-8")
        for suffix in OFFICE_FORMATS:
            if suffix != "html":
                command = ["soffice", "--headless", "--infilter=HTML (StarWriter)", "--convert-to", suffix]
                pages = sorted(map(str, Path(folder).glob("*.html")))
                command += ["--outdir", folder, *pages]
                subprocess.run(command, check=True, capture_output=True, timeout=900)
            print(measure_format(Path(folder), documents, suffix), flush=True)


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


def show_scans(count: int) -> None:
    """Print how each scan was read, and where it ranks."""
    originals = sorted(COLLECTION.glob("*.pdf"))[:count]
    with tempfile.TemporaryDirectory() as folder:
        library = longmatch.Library(Path(folder) / "library")
        library.add(COLLECTION)
        for seed, original in enumerate(originals):
            scan = Path(folder) / f"scan-of-{original.name}"
            save_scan(original, scan, seed=seed)
            start = time.process_time()
            scanned = longmatch.read(scan)
            seconds = time.process_time() - start
            facts, pages = scanned.metadata, scanned.metadata["ocr_pages"]
            words, found = (re.findall(r"\w+", d.text.casefold()) for d in (longmatch.read(original), scanned))
            blocks = SequenceMatcher(None, words, found, autojunk=False).get_matching_blocks()
            share = sum(block.size for block in blocks) / max(len(words), 1)
            library.add(scan)
            near, every = distances(library, original.name, scan.name)
            library.remove(scan.name)
            headings = [section.heading for section in scanned.sections if section.heading]
            print(f"{original.name}: {pages} pages, {seconds / pages:.1f} s a page of one core")
            print(f"  confidence {facts['ocr_confidence']:.3f}, words found {share:.1%}, {len(headings)} headings")
            apart = f"{max(near, default=0)} in {len(near)} rankings with one of them among the first {FIRST}"
            average = sum(every) / len(every)
            print(f"  at most {apart}, {max(every)} in all {len(every)}, {average:.1f} on average", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    names = ("outlines", "formats", "facts", "speed", "scans")
    outlines, formats, facts, speed, scans = map(verbs.add_parser, names)
    outlines.add_argument("folder", nargs="?", default=os.environ.get("LONGMATCH_PDFS"), type=Path)
    outlines.add_argument("-v", "--verbose", action="store_true", help="show misses, extras and mixed sentences")
    formats.add_argument("documents", type=Path, nargs="+")
    formats.add_argument("--count", type=int, default=40, help="documents of each file")
    facts.add_argument("folder", type=Path, help="a folder of PDF files")
    speed.add_argument("paths", type=Path, nargs="+", help="folders, and files of JSON Lines")
    speed.add_argument("--count", type=int, default=100, help="documents of each")
    scans.add_argument("--count", type=int, default=3, help="scans")
    options = parser.parse_args()
    if options.verb == "formats":
        show_formats(options.documents, options.count)
    elif options.verb == "facts":
        count_facts(options.folder)
    elif options.verb == "speed":
        show_speed(options.paths, options.count)
    elif options.verb == "scans":
        show_scans(options.count)
    else:
        if options.folder is not None:
            known = json.loads((options.folder / "outlines.json").read_text(encoding="utf-8"))
            results = []
            for name, entry in sorted(known.items()):
                results.append(read(options.folder / name, entry["headings"]))
                show(results[-1], options.verbose)
            total(results)
        show_written(options.verbose)


if __name__ == "__main__":
    main()
