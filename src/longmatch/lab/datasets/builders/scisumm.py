"""acl: ScisummNet / CL-SciSumm, papers of the ACL Anthology and who cites them (the AAN protocol of CoLDE and SMITH).

Reads the scisumm-corpus repository or the ScisummNet release; papers lie in any of

    <id>/Documents_xml/<id>.xml, <id>/Reference_XML/<id>.xml, <id>/Citance_XML/<id>.xml
        PAPER: S (sid 0: the title), ABSTRACT with S sentences, SECTION title="..." number="..." with S sentences
    <id>/citing_sentences*.json
        [{citing_paper_id, citing_paper_authors: "First, Last | First, Last", raw_text, ...}]: who cites paper <id>

Rule: abstract, references and acknowledgements are dropped; five sentences make a paragraph; papers under 400 words are
left out. A citation is a citing id, or a mention "Author et al., YEAR" in the text that names exactly one Anthology
paper (first authors are those of the citing-sentences files, the year is in the id).
"""

import html
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from longmatch.errors import ReadError
from longmatch.lab.datasets.labelling import label_citations
from longmatch.lab.datasets.raw_files import RawFiles, opened
from longmatch.lab.datasets.records import Part, Record
from longmatch.lab.datasets.safe_xml import read_xml, text_of
from longmatch.lab.datasets.sections import BACK_MATTER, grouped, joined, kept
from longmatch.lab.datasets.splits import DEFAULT
from longmatch.lab.datasets.writer import CollectionWriter, Summary

SENTENCES = 5  # in a paragraph
_ID = re.compile(r"[A-Z][0-9]{2}-[0-9]{4}")
_MENTION = re.compile(
    r"([A-Z][^\W\d_]+(?:-[^\W\d_]+)*)(?:\s+et\s+al\.?|\s+(?:and|&)\s+[A-Z][^\W\d_]+(?:-[^\W\d_]+)*)?,?\s*\(?((?:19|20)[0-9]{2})\b"
)


def build(raw: Path, out: Path, *, min_words: int = 400, seed: int = 0) -> Summary:
    """Build the set."""
    with opened(raw) as files, CollectionWriter(out) as writer:
        mentions: dict[str, set[tuple[str, str]]] = {}
        papers = files.some("Documents_xml/*.xml", "Reference_XML/*.xml", "Citance_XML/*.xml")
        for path in sorted(papers, key=lambda path: path.stem):
            if not _ID.fullmatch(path.stem) or path.stem in writer.ids:
                continue
            record = _paper(path)
            if record is None or record.words < min_words:
                writer.skip()
            elif writer.add(record):
                mentions[record.id] = set(_mentions(record))
        cited, authors = _citing(files)
        named = _named_once(authors, writer.ids)
        for source, seen in mentions.items():
            cited.setdefault(source, set()).update(named[mention] for mention in seen if mention in named)
        label_citations(writer, cited, DEFAULT, seed)
        return writer.finish()


def _paper(path: Path) -> Record | None:
    try:
        root = read_xml(path)
    except ReadError:  # some of the corpus' files are broken XML: counted, and left out
        return None
    title = next((_text(s) for s in root.findall("S")), "")
    parts = (Part(section.get("title", ""), _sentences(section)) for section in root.findall("SECTION"))
    return Record(path.stem, title, kept(parts, BACK_MATTER))


def _sentences(section: Element) -> str:
    return grouped([_text(s) for s in section.iter("S")], SENTENCES)


def _text(element: Element) -> str:
    return html.unescape(text_of(element))  # the files escape twice: &amp;quot;


def _mentions(record: Record) -> Iterator[tuple[str, str]]:
    for part in record.parts:
        for match in _MENTION.finditer(part.text):
            yield match[1].lower(), match[2]


def _citing(files: RawFiles) -> tuple[dict[str, set[str]], dict[str, str]]:
    """Who cites whom, and the first author of every citing paper, by the citing-sentences files."""
    cited: dict[str, set[str]] = defaultdict(set)
    authors: dict[str, str] = {}
    for path in files.each("citing_sentences*.json"):
        try:
            rows: list[dict[str, Any]] = json.loads(path.read_bytes())
        except ValueError as error:
            raise ReadError(path, "is not JSON", "Fetch it again.") from error
        for row in rows:
            citing = str(row.get("citing_paper_id", ""))
            cited[citing].add(path.parent.name)
            first = html.unescape(str(row.get("citing_paper_authors", ""))).split("|")[0]
            authors.setdefault(citing, joined(first.rpartition(",")[2]).lower())
    return cited, authors


def _named_once(authors: Mapping[str, str], ids: set[str]) -> dict[tuple[str, str], str]:
    """(surname, year) of each paper of the set, where no other paper of the Anthology has the same."""
    by_name: dict[tuple[str, str], set[str]] = defaultdict(set)
    for id, surname in authors.items():
        if surname and _ID.fullmatch(id):
            by_name[surname, year_of(id)].add(id)
    return {name: min(found) for name, found in by_name.items() if len(found) == 1 and found <= ids}


def year_of(id: str) -> str:
    """The year an Anthology id names.

    >>> year_of("P98-1001"), year_of("W04-3250")
    ('1998', '2004')
    """
    short = int(id[1:3])
    return str(short + (1900 if short > 50 else 2000))
