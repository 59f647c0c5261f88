"""AAN: papers of the ACL Anthology Network and their citations (CoLDE section 4.1.1, SMITH section 5.1.2).

Reads the unpacked network corpus:

    papers_text/<id>.txt        the text of a paper, as extracted from its PDF
    release/<year>/acl.txt      one citation per line: `A00-1001 ==> J82-3002`, the citing paper first
    release/<year>/acl-metadata.txt   blocks of `id = {A00-1001}`, `title = {...}` (optional, for titles)

Rule: a paper and each one it cites are a match, a random paper is the negative. The abstract (from its heading to the
first numbered heading or the introduction) and the references (from the last such heading) are removed, and papers
without remaining text. The files of the latest release are used.
"""

import re
from collections import defaultdict
from pathlib import Path

from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, iterate_lines
from longmatch.lab.datasets.sections import clean_parts, collapse_spaces, unwrap
from longmatch.lab.datasets.splits import PAPERS, label_citations
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_EDGE = re.compile(r"\s*(\S+)\s*==>\s*(\S+)\s*")
_FIELD = re.compile(r"\s*(\w+)\s*=\s*\{(.*)\}\s*")
_ABSTRACT = re.compile(r"^[ \t]*(?:Abstract|ABSTRACT)\b", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")
_MAX_FRONT = 5000  # characters before the abstract
_REFERENCES = re.compile(r"^\s*(?:[0-9]+\.?\s+)?(?:references?|bibliography)\s*[:.]?\s*$", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(
    r"^[ \t]*((?:[0-9]{1,2}(?:\.[0-9]{1,2}){0,2}\.?[ \t]+[A-Z][^\n.!?]{2,70})"
    r"|(?:[0-9]\.?[ \t]*)?(?:[Ii]ntroduction|INTRODUCTION))[ \t]*$",
    re.MULTILINE,
)


def build(raw: Path, out: Path, *, seed: int = 0) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        metadata = files.find("acl-metadata.txt")
        titles = _titles(metadata[-1]) if metadata else {}
        for path in files.require("papers_text/*.txt"):
            text = path.read_bytes().decode("utf-8", errors="replace")
            writer.add(RawDocument(path.stem, titles.get(path.stem, ""), paper_parts(text)))
        cited: dict[str, set[str]] = defaultdict(set)
        for _, line in iterate_lines(files.require("acl.txt")[-1]):
            if edge := _EDGE.fullmatch(line):
                cited[edge[1]].add(edge[2])
        label_citations(writer, cited, PAPERS, seed)
        return writer.finish()


def _titles(path: Path) -> dict[str, str]:
    titles: dict[str, str] = {}
    id = ""
    for line in path.read_bytes().decode("utf-8", errors="replace").splitlines():
        if field := _FIELD.fullmatch(line):
            if field[1] == "id":
                id = field[2].strip()
            elif field[1] == "title":
                titles[id] = collapse_spaces(field[2])
    return titles


def paper_parts(text: str) -> tuple[Part, ...]:
    """The sections of a paper's plain text, without abstract and references.

    >>> text = "Title\\nAbstract\\nShort.\\n1 Introduction\\nWe parse.\\n2 Model\\nA tree.\\nReferences\\nBrill. 1995."
    >>> paper_parts(text)
    (Part(heading='1 Introduction', text='We parse.'), Part(heading='2 Model', text='A tree.'))
    """
    ends = [match.start() for match in _REFERENCES.finditer(text)]
    if ends and ends[-1] > len(text) // 3:  # a heading in the first third is a table of contents
        text = text[: ends[-1]]
    if abstract := _ABSTRACT.search(text, 0, _MAX_FRONT):
        after = _HEADING.search(text, abstract.end()) or _BLANK.search(text, abstract.end() + 1)
        text = text[after.start() :] if after else text
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings), len(text)]
    parts = [Part("", text[: ends[0]])]
    parts += [Part(heading[1], text[heading.end() : end]) for heading, end in zip(headings, ends[1:], strict=True)]
    return clean_parts(Part(part.heading, unwrap(part.text)) for part in parts)
