"""papers: PeerRead, arXiv papers and their citations (the AAN protocol of CoLDE and SMITH on a larger scale).

Reads the repository allenai/PeerRead:

    data/<venue>/{train,dev,test}/parsed_pdfs/<id>.pdf.json
        metadata: title, authors [name], sections [{heading, text}], references [{title, author [name], year, venue}]
    data/<venue>/{train,dev,test}/reviews/<id>.json    title and authors, if missing in the PDF

Rule: abstract and references are dropped (they are separate fields); 1,000 to 15,000 words. A citation is a reference
with the normalised title of a paper of the set and a surname in common, or with its arXiv id; papers cited more than
60 times are dropped as targets because they match everything.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument
from longmatch.lab.datasets.sections import BACK_MATTER, clean_parts, collapse_spaces
from longmatch.lab.datasets.splits import DEFAULT, label_citations
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_ARXIV = re.compile(r"[0-9]{4}\.[0-9]{4,5}")


def build(
    raw: Path, out: Path, *, min_words: int = 1000, max_words: int = 15_000, most_cited: int = 60, seed: int = 0
) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        titles: dict[str, str] = {}  # normalised title -> id
        surnames: dict[str, set[str]] = {}
        references: dict[str, list[dict[str, Any]]] = {}
        for path in files.require("parsed_pdfs/*.pdf.json"):
            metadata = _json(path).get("metadata") or {}
            stem = path.name.removesuffix(".pdf.json")  # the arXiv id, if the paper has one
            id = stem if _ARXIV.match(stem) else f"{path.parents[2].name}:{stem}"
            authors, title = metadata.get("authors") or [], metadata.get("title") or ""
            review = path.parent.parent / "reviews" / path.name.replace(".pdf.json", ".json")
            if review.is_file() and not (authors and title):
                fallback = _json(review)
                authors, title = authors or fallback.get("authors") or [], title or fallback.get("title") or ""
            record = RawDocument(id, collapse_spaces(title), _parts(metadata.get("sections") or []))
            if not min_words <= record.words <= max_words:
                writer.skip()
            elif writer.add(record):
                titles.setdefault(normalise_title(title), id)
                surnames[id] = _surnames(authors)
                references[id] = metadata.get("references") or []
        cited: dict[str, set[str]] = defaultdict(set)
        for source, entries in references.items():
            for entry in entries:
                title = entry.get("title") or ""
                normalised = normalise_title(title)
                target = titles.get(normalised) if len(normalised) > 10 else None
                if target and _surnames(entry.get("author") or []) & surnames[target]:
                    cited[source].add(target)
                arxiv_ids = _ARXIV.findall(f"{title} {entry.get('venue') or ''}")
                cited[source].update(writer.ids.intersection(arxiv_ids))
        counts = Counter(target for targets in cited.values() for target in targets)
        specific = {source: {t for t in targets if counts[t] <= most_cited} for source, targets in cited.items()}
        label_citations(writer, specific, DEFAULT, seed)
        return writer.finish()


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise ReadError(path, "is not JSON", "Fetch it again.") from error
    return content if isinstance(content, dict) else {}


def _parts(sections: Iterable[Mapping[str, Any]]) -> tuple[Part, ...]:
    lines = ((s.get("heading") or "", (s.get("text") or "").splitlines()) for s in sections)
    return clean_parts(
        (Part(heading, "\n\n".join(filter(None, map(collapse_spaces, text)))) for heading, text in lines), BACK_MATTER
    )


def normalise_title(title: str) -> str:
    """The lower-case letters and digits of a title, without accents.

    >>> normalise_title("Naïve  Bayes: a Study"), normalise_title("NAIVE BAYES - A STUDY.")
    ('naivebayesastudy', 'naivebayesastudy')
    """
    return "".join(c for c in unicodedata.normalize("NFKD", title).lower() if c.isalnum())


def _surnames(authors: Iterable[str]) -> set[str]:
    return {normalise_title(name.split()[-1]) for name in authors if name and name.split()}
