"""PAT: matching patents (CoLDE section 4.1.1).

Reads USPTO full-text grants as published weekly: `ipg*.xml`, zipped or not. A file is a concatenation of XML documents,
each a us-patent-grant: us-bibliographic-data-grant (publication-reference, invention-title, classifications-cpc),
abstract, description (heading, p), claims (claim, claim-text).

Rule: the claims are one section, followed by the sections of the description; the abstract is dropped. CoLDE's labels
came from three annotators and were not released. Put your own next to the patents as `labels.tsv` (source, target,
label); without it two patents match if the Jaccard similarity of their CPC symbols is above 0.5 and both have at least
two symbols, and a negative shares the source's CPC subclass but no symbol. The symbols are written to `cpc.tsv`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from random import Random
from xml.etree.ElementTree import Element

import numpy as np

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument, open_binary, read_table
from longmatch.lab.datasets.safe_xml import MAX_ELEMENT, iterate_elements, text_of
from longmatch.lab.datasets.sections import clean_parts
from longmatch.lab.datasets.similar_sets import similar_pairs
from longmatch.lab.datasets.splits import PAPERS, label_similar
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_MAX_SAMPLE = 50  # patents examined as negatives of one patent


def build(raw: Path, out: Path, *, threshold: float = 0.5, seed: int = 0) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        symbols: dict[str, set[str]] = {}
        for path in files.require("*.xml", "*.XML"):
            for grant in iterate_grants(path):
                record, codes = _patent(grant)
                if record.id and writer.add(record):
                    symbols[record.id] = codes
        labels = files.find("labels.tsv")
        if labels:
            for source, target, label in read_table(labels[0], ("source", "target", "label")):
                writer.pair(PAPERS.of_pair(source, target), source, target, int(label == "1"))
                if label == "1":
                    writer.judge(PAPERS.of(source), source, target)
        else:
            index = {code: n for n, code in enumerate(sorted({code for codes in symbols.values() for code in codes}))}
            ids = sorted(id for id, codes in symbols.items() if len(codes) >= 2)
            sets = [np.array(sorted(index[code] for code in symbols[id]), dtype=np.int64) for id in ids]
            similar = ((ids[i], ids[j]) for i, j, _ in similar_pairs(sets, threshold))
            label_similar(writer, similar, _same_subclass(symbols, seed), PAPERS, seed)
        writer.table(
            "cpc.tsv", ("document", "symbol"), ((id, c) for id in sorted(symbols) for c in sorted(symbols[id]))
        )
        return writer.finish()


def iterate_grants(path: Path) -> Iterator[Element]:
    """The patents of a file of concatenated XML documents, one in memory at a time."""
    with open_binary(path) as stream:
        lines: list[bytes] = []
        size = 0
        for line in stream:
            if line.startswith(b"<?xml") and lines:
                yield from iterate_elements(BytesIO(b"".join(lines)), "us-patent-grant", path)
                lines, size = [], 0
            if line.strip() or lines:
                lines.append(line)
                size += len(line)
            if size > MAX_ELEMENT:
                raise ReadError(path, f"holds a patent of more than {MAX_ELEMENT:,} bytes", "Nothing was read from it.")
        if lines:
            yield from iterate_elements(BytesIO(b"".join(lines)), "us-patent-grant", path)


def _patent(grant: Element) -> tuple[RawDocument, set[str]]:
    front = grant.find("us-bibliographic-data-grant")
    if front is None:
        return RawDocument("", "", ()), set()
    number = text_of(front.find("publication-reference/document-id/doc-number"))
    country = text_of(front.find("publication-reference/document-id/country"))
    claims = "\n\n".join(filter(None, (text_of(claim) for claim in grant.findall("claims/claim"))))
    parts = (Part("Claims", claims), *_description(grant.find("description")))
    codes = set()
    for code in front.findall("classifications-cpc//classification-cpc"):  # A01B63/008
        names = ("section", "class", "subclass", "main-group", "subgroup")
        section, class_, subclass, group, subgroup = (text_of(code.find(name)) for name in names)
        codes.add(f"{section}{class_}{subclass}{group}/{subgroup}")
    id, title = (country + number if number else ""), text_of(front.find("invention-title"))
    return RawDocument(id, title, clean_parts(parts)), codes


def _description(description: Element | None) -> Iterator[Part]:
    heading, texts = "Description", list[str]()
    for child in description if description is not None else ():
        if child.tag == "heading":
            yield Part(heading, "\n\n".join(texts))
            heading, texts = text_of(child), []
        elif child.tag == "p":
            texts.append(text_of(child))
    yield Part(heading, "\n\n".join(filter(None, texts)))


def _same_subclass(symbols: dict[str, set[str]], seed: int) -> dict[str, list[str]]:
    """For each patent a sample of others that share a subclass (A01B) with it, but no symbol."""
    by_subclass: dict[str, list[str]] = defaultdict(list)
    for id in sorted(symbols):
        for subclass in sorted({subclass_of(code) for code in symbols[id]}):
            by_subclass[subclass].append(id)
    samples = {}
    for id, codes in symbols.items():
        random = Random(f"{seed}:{id}")
        pool = [other for code in sorted({subclass_of(code) for code in codes}) for other in by_subclass[code]]
        sample = random.sample(pool, min(_MAX_SAMPLE, len(pool)))
        samples[id] = [other for other in dict.fromkeys(sample) if other != id and not codes & symbols[other]]
    return samples


def subclass_of(symbol: str) -> str:
    """The subclass of a symbol.

    >>> subclass_of("A01B63/008")
    'A01B'
    """
    match = re.match(r"[A-Z][0-9]{2}[A-Z]", symbol)
    return match.group() if match else symbol
