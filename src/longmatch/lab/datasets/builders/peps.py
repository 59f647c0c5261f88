"""peps: Python Enhancement Proposals and their references to each other (small and fast, for trying things out).

Reads the repository python/peps: `peps/pep-0001.rst` and so on, a header block (`PEP: 1`, `Title: ...`), then
reStructuredText.

Rule: the proposals a text refers to are relevant (`:pep:`8``, `PEP 8`, `pep-0008`); references are masked as [PEP], so
that numbers give nothing away; abstract, references and copyright are dropped; proposals under 300 words are skipped.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument
from longmatch.lab.datasets.sections import clean_parts, collapse_spaces
from longmatch.lab.datasets.splits import DEFAULT, label_citations
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_DROPPED = re.compile(r"abstract|references?(?: and footnotes)?|footnotes|bibliography|copyright", re.IGNORECASE)
_MENTION = re.compile(
    r":pep:`[^`]*?([0-9]{1,4})(?:#[^`>]*)?>?`"
    r"|\bPEPs?[\s-]+0*([0-9]{1,4})\b(?:[#:][\w-]+)?"
    r"|(?:https?://[\w./]*/|\b)pep-0*([0-9]{1,4})\b(?:\.rst|\.txt|\.html|/)?",
    re.IGNORECASE,
)
_RULE = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}\s*")
_FIELD = re.compile(r"([A-Za-z-]+):\s*(.*)")
_ROLE = re.compile(r":[\w:+.-]+:`([^`<]*?)\s*(?:<[^`>]*>)?`")
_LITERAL = re.compile(r"``(.+?)``")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(\S(?:[^*\n]*\S)?)\1(?![\w*])")
_LINK = re.compile(r"`([^`<]+?)\s*(?:<[^`>]*>)?`_{1,2}")
_NOTE_MARK = re.compile(r"\s*\[(?:#[\w-]*|[0-9]+)\]_")
_COMMENT = re.compile(r"\.\. (?!\[)|\.\.$|__ |\.\. \[")


def build(raw: Path, out: Path, *, min_words: int = 300, seed: int = 0) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        cited: dict[str, set[str]] = {}
        for path in files.require("pep-*.rst"):
            text = path.read_bytes().decode("utf-8", errors="replace")
            fields, body = _header(text)
            parts = clean_parts(_sections(body), _DROPPED)
            record = RawDocument(f"PEP{fields.get('pep', '')}", fields.get("title", ""), parts)
            if not fields.get("pep", "").isdigit() or record.words < min_words:
                writer.skip()
            elif writer.add(record):
                numbers = (next(filter(None, match.groups())) for match in _MENTION.finditer(body))
                cited[record.id] = {f"PEP{int(number)}" for number in numbers}
        label_citations(writer, cited, DEFAULT, seed)
        return writer.finish()


def _header(text: str) -> tuple[dict[str, str], str]:
    """The fields of the header block, by lower-case name, and the body."""
    header, _, body = text.replace("\r\n", "\n").partition("\n\n")
    fields = (_FIELD.match(line) for line in header.split("\n"))
    return {field[1].lower(): collapse_spaces(field[2]) for field in fields if field}, body


def _sections(body: str) -> Iterator[Part]:
    heading, content = "", list[str]()
    for line, below in pairwise([*body.split("\n"), ""]):
        if line and not line[0].isspace() and _RULE.fullmatch(below) and len(below.rstrip()) >= len(line.rstrip()) - 1:
            yield Part(_plain(heading), _paragraphs(content))
            heading, content = line.strip(), []
        elif not _RULE.fullmatch(line):
            content.append(line)
    yield Part(_plain(heading), _paragraphs(content))


def _paragraphs(lines: list[str]) -> str:
    """Blocks separated by blank lines, without directives, comments and footnotes; literal blocks are kept."""
    blocks = re.split(r"\n\s*\n", "\n".join(lines))
    texts = (_plain(block) for block in blocks if not _COMMENT.match(block.strip()))
    return "\n\n".join(text for text in texts if text not in {"", "::"})


def _plain(block: str) -> str:
    """A block without markup, with references to other proposals masked."""
    text = _MENTION.sub("[PEP]", block)
    text = _NOTE_MARK.sub("", _LINK.sub(r"\1", _ROLE.sub(r"\1", text)))
    text = _EMPHASIS.sub(r"\2", _LITERAL.sub(r"\1", text))
    return collapse_spaces(re.sub(r"::\s*$", ":", text))
