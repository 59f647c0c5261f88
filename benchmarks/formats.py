"""How much of a document survives each format: real documents, saved by an office suite, and read again.

`python -m benchmarks.formats documents.jsonl.xz --count 40` writes documents of JSON Lines files as HTML, has
LibreOffice (`soffice`) convert them, reads the results, and compares the sections, paragraph by paragraph.

`python -m benchmarks.formats --pdfs FOLDER` counts the PDF files of a folder with an author, a year and a DOI, and the
years that are those in the names of the files (`acl_2017-18.pdf`).
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Sequence
from html import escape
from itertools import islice
from pathlib import Path

from longmatch.documents import Document, read
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.errors import ReadError

FORMATS = ("html", "odt", "rtf", "docx")


def page(document: Document) -> str:
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


def measure(folder: Path, documents: Sequence[Document], suffix: str) -> str:
    same = sections = megabytes = 0.0
    seconds = time.monotonic()
    for number, document in enumerate(documents):
        path = folder / f"{number}.{suffix}"
        megabytes += path.stat().st_size / 1e6
        expected = shape(document)
        sections += len(expected)
        try:
            found = shape(read(path))
        except ReadError as error:
            print(error)
            continue
        same += sum(a == b for a, b in zip(expected, found, strict=False)) if len(found) == len(expected) else 0
    seconds = time.monotonic() - seconds
    return (
        f"| `.{suffix}` | {same:,.0f} of {sections:,.0f} | {megabytes / seconds:.1f} | {len(documents) / seconds:.0f} |"
    )


def count_facts(folder: Path) -> None:
    known = {path.name: read(path).metadata for path in sorted(folder.glob("*.pdf"))}
    counts = {key: sum(key in facts for facts in known.values()) for key in ("author", "year", "doi")}
    right = sum(str(facts.get("year", "?")) in name for name, facts in known.items())
    print(f"{len(known)} files: {counts}, {right} years as in the name")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path, nargs="*")
    parser.add_argument("--count", type=int, default=40, help="documents of each file")
    parser.add_argument("--pdfs", type=Path, help="a folder of PDF files")
    options = parser.parse_args()
    if options.pdfs:
        count_facts(options.pdfs)
    if not options.documents:
        return
    documents: list[Document] = []
    for file in options.documents:
        documents += islice(iterate_jsonl(file), options.count)
    print("| format | sections equal to the source | MB per s | documents per s |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, document in enumerate(documents):
            (folder / f"{number}.html").write_text(page(document), encoding="utf-8")
        for suffix in FORMATS:
            if suffix != "html":
                command = ["soffice", "--headless", "--infilter=HTML (StarWriter)", "--convert-to", suffix]
                pages = sorted(map(str, folder.glob("*.html")))
                command += ["--outdir", name, *pages]
                subprocess.run(command, check=True, capture_output=True, timeout=900)
            print(measure(folder, documents, suffix), flush=True)


if __name__ == "__main__":
    main()
