"""acl: ScisummNet / CL-SciSumm, papers of the ACL Anthology and their citations (the AAN protocol of CoLDE and SMITH).

Reads the scisumm-corpus repository or the ScisummNet release; papers are in any of

    <id>/Documents_xml/<id>.xml, <id>/Reference_XML/<id>.xml, <id>/Citance_XML/<id>.xml
        PAPER: S (sid 0: the title), ABSTRACT with S sentences, SECTION title="..." number="..." with S sentences
    <id>/citing_sentences*.json
        [{citing_paper_id, citing_paper_authors: "First, Last | First, Last", raw_text, ...}]: who cites paper <id>

Rule: abstract, references and acknowledgements are dropped; five sentences make a paragraph; papers under 400 words are
skipped. A citation is a citing id, or a mention "Author et al., YEAR" in the text that identifies exactly one Anthology
paper (first authors come from the citing-sentences files, the year from the id).
"""

import html
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import RawFiles, open_raw
from longmatch.lab.datasets.records import Part, RawDocument
from longmatch.lab.datasets.safe_xml import read_xml, text_of
from longmatch.lab.datasets.sections import BACK_MATTER, clean_parts, collapse_spaces, group_sentences
from longmatch.lab.datasets.splits import DEFAULT, label_citations
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_PARAGRAPH_SENTENCES = 5
_ID = re.compile(r"[A-Z][0-9]{2}-[0-9]{4}")
_MENTION = re.compile(
    r"([A-Z][^\W\d_]+(?:-[^\W\d_]+)*)(?:\s+et\s+al\.?|\s+(?:and|&)\s+[A-Z][^\W\d_]+(?:-[^\W\d_]+)*)?,?\s*\(?((?:19|20)[0-9]{2})\b"
)


def build(raw: Path, out: Path, *, min_words: int = 400, seed: int = 0) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        mentions: dict[str, set[tuple[str, str]]] = {}
        paths = files.require("Documents_xml/*.xml", "Reference_XML/*.xml", "Citance_XML/*.xml")
        for path in sorted(paths, key=lambda path: path.stem):
            if not _ID.fullmatch(path.stem) or path.stem in writer.ids:
                continue
            record = _paper(path)
            if record is None or record.words < min_words:
                writer.skip()
            elif writer.add(record):
                found = (match for part in record.parts for match in _MENTION.finditer(part.text))
                mentions[record.id] = {(match[1].lower(), match[2]) for match in found}
        cited, authors = _citing_sentences(files)
        papers: dict[tuple[str, str], set[str]] = defaultdict(set)  # all Anthology papers by surname and year
        for id, surname in authors.items():
            if surname and _ID.fullmatch(id):
                papers[surname, year_of(id)].add(id)
        only = {mention: min(ids) for mention, ids in papers.items() if len(ids) == 1 and ids <= writer.ids}
        for source, mentioned in mentions.items():
            cited.setdefault(source, set()).update(only[mention] for mention in mentioned if mention in only)
        label_citations(writer, cited, DEFAULT, seed)
        return writer.finish()


def _paper(path: Path) -> RawDocument | None:
    try:
        root = read_xml(path)
    except ReadError:  # some files of the corpus are broken XML: counted and skipped
        return None
    title = next((_text(s) for s in root.findall("S")), "")
    parts = []
    for section in root.findall("SECTION"):
        text = group_sentences([_text(s) for s in section.iter("S")], _PARAGRAPH_SENTENCES)
        parts.append(Part(section.get("title", ""), text))
    return RawDocument(path.stem, title, clean_parts(parts, BACK_MATTER))


def _text(element: Element) -> str:
    return html.unescape(text_of(element))  # escaped twice: &amp;quot;


def _citing_sentences(files: RawFiles) -> tuple[dict[str, set[str]], dict[str, str]]:
    """The papers cited by each paper, and the first author of every citing paper."""
    cited: dict[str, set[str]] = defaultdict(set)
    authors: dict[str, str] = {}
    for path in files.find("citing_sentences*.json"):
        try:
            rows: list[dict[str, Any]] = json.loads(path.read_bytes())
        except ValueError as error:
            raise ReadError(path, "is not JSON", "Fetch it again.") from error
        for row in rows:
            citing = str(row.get("citing_paper_id", ""))
            cited[citing].add(path.parent.name)
            first = html.unescape(str(row.get("citing_paper_authors", ""))).split("|")[0]
            authors.setdefault(citing, collapse_spaces(first.rpartition(",")[2]).lower())
    return cited, authors


def year_of(id: str) -> str:
    """The year of an Anthology id.

    >>> year_of("P98-1001"), year_of("W04-3250")
    ('1998', '2004')
    """
    short = int(id[1:3])
    return str(short + (1900 if short > 50 else 2000))
