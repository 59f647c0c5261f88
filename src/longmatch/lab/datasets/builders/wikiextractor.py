"""pretrain: Wikipedia articles without labels, from WikiExtractor (SMITH section 5.1.3, SDR section 4.1).

Reads its output folder (`AA/wiki_00`, also packed), which consists of blocks

    <doc id="12" url="..." title="Anarchism">
    Anarchism

    the text, one paragraph per line; a section's title is a separate line that ends in a full stop
    </doc>

Rule: articles of at least 400 words; `without` excludes those whose title occurs in another data folder.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, iterate_lines
from longmatch.lab.datasets.sections import clean_parts, collapse_spaces
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_OPEN = re.compile(r'<doc id="([^"]*)"(?: url="[^"]*")?(?: title="(.*)")?\s*>')
_HEADING = re.compile(r"<h[1-6]>(.*)</h[1-6]>|#{1,6} (.*)|([A-Z0-9\"“(][^.!?;]{0,60})\.")


def build(
    raw: Path, out: Path, *, without: Path | None = None, prefix: str = "enwiki2015", min_words: int = 400
) -> Summary:
    """Build the set; ids are the prefix and the article's number."""
    taken = {record.title for record in DataFolder(without).records()} if without else set()
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        for path in files.require("wiki_*"):
            for number, title, lines in _articles(path):
                record = RawDocument(f"{prefix}:{number}", title, clean_parts(_sections(title, lines)))
                if title in taken or record.words < min_words:
                    writer.skip()
                else:
                    writer.add(record)
        return writer.finish()


def _articles(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    number, title, lines = "", "", list[str]()
    for _, line in iterate_lines(path):
        if start := _OPEN.fullmatch(line):
            number, title, lines = start[1], html.unescape(start[2] or ""), []
        elif line == "</doc>":
            yield number, title, lines
        else:
            lines.append(line)


def _sections(title: str, lines: list[str]) -> Iterator[Part]:
    heading, texts = "", list[str]()
    for line in map(collapse_spaces, lines):
        if not line or (line == title and not texts and not heading):
            continue
        match = _HEADING.fullmatch(line)
        if match and len(line.split()) <= 8:
            yield Part(heading, "\n\n".join(texts))
            heading, texts = next(filter(None, match.groups()), ""), []
        else:
            texts.append(line)
    yield Part(heading, "\n\n".join(texts))
