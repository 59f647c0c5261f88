"""What an assistant can ask of a library. It names documents by id or passes a text; it can neither name files nor
change anything. Every answer says where a passage stands, so that it can be cited, and fits its budget.
"""

import json
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from longmatch.documents.document import Document, Section
from longmatch.documents.pdf.numbering import read_number
from longmatch.documents.read import read_text_string
from longmatch.errors import LongmatchError
from longmatch.library.finding import Wanted, snippets
from longmatch.library.library import Library
from longmatch.matching.match import Alignment, Passage
from longmatch.matching.wording import label
from longmatch.render.json import to_dict
from longmatch.render.wording import remarks, shared_text, verdict

MOST = 50  # results of any kind
ANSWER = 24_000  # characters of JSON: an assistant reads all of an answer, so none carries a whole book
PASSAGE = 600  # characters of one quoted passage
NAME = 200  # of a title, a heading or a value of the metadata
PAGE = 8_000  # characters of a document read at a time

_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?])\s"), re.compile(r"\s"))

Answer = dict[str, Any]


class Tools:
    """The tools over one library; one question is answered at a time."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._lock = threading.Lock()

    def search(self, question: str, k: int = 5, where: str | None = None, deep: bool = False) -> Answer:
        """Find the sections of the library that answer a question or take up a topic, best first.

        Each has the id and title of its document, its heading and number (for `read`), the headings above that
        (`parents`), the page where there are pages, and the sentence that answers best. `stands_out` is false where
        nothing in the library answers the question: then say so. `where` is a condition on the documents as in SQL,
        such as: year > 2019 AND author contains 'doe'. With `deep` a model made for questions reads the best sections,
        which takes a second or two and finds answers in other words than the question's; `reader` names it.
        """
        with self._lock:
            hits = self.library.rank_sections(read_text_string(question, "text"), _count(k), where, deep)
            found = [
                _place(hit.document)
                | {"section": shortened(hit.heading), "number": section_numbers(hit.document)[hit.number]}
                | ({"parents": [shortened(heading) for heading in hit.parents]} if hit.parents else {})
                | {"page": hit.page, "passage": shortened(hit.passage.shown, PASSAGE)}
                for hit in hits
            ]
            return {
                "stands_out": hits.stands_out,
                "reader": hits.reader,
                "remarks": hits.remarks,
                **_listed("sections", found),
            }

    def rank(
        self, document: str | None = None, text: str | None = None, k: int = 5, where: str | None = None
    ) -> Answer:
        """Find the documents that belong with a document of the library (by its id) or with a text, best first.

        Each has the probability that the two belong together, and its verdict in words, where they can be known
        (`remarks` say why where not: then tell the order alone), and the pairs of passages that say most about the two
        (`other_words`: the same in other words); `relation` is `copy` where its text is the same. For a question rather
        than a document use `search`.
        """
        with self._lock:
            hits = self.library.rank(self._query(document, text), _count(k), where)
            found = [
                _place(hit.document)
                | {"verdict": hit.verdict, "probability": _rounded(hit.probability), "relation": hit.relation}
                | {"passages": [_pair(pair, None, hit.document) for pair in hit.why]}
                for hit in hits
            ]
            return {"remarks": hits.remarks, **_listed("documents", found)}

    def compare(self, document: str, other: str | None = None, text: str | None = None, k: int = 5) -> Answer:
        """Compare a document of the library (a) with another one or with a text (b): how much they share, and why.

        Says whether they belong together, where that can be known (`remarks` say why where not), and gives the sections
        of both that are most alike and the pairs of passages that say most about the two; `other_words` marks one that
        says the same in other words.
        """
        with self._lock:
            match = self.library.compare(self._query(document, None), self._query(other, text, "other"))
            pairs = [_pair(pair, match.a, match.b) for pair in match.best(_count(k))]
            sections = match.sections
            order = sections.scores.ravel().argsort(kind="stable")[::-1][: _count(k)].tolist()
            alike = [
                {"a": shortened(sections.rows[row]), "b": shortened(sections.columns[column])}
                for row, column in (divmod(place, len(sections.columns)) for place in order)
            ]
            return {
                "a": _place(match.a),
                "b": _place(match.b),
                "probability": _rounded(match.probability),
                "verdict": verdict(match),
                "remarks": [*shared_text(match), *remarks(match)],
                "shared_words": [term.text for term in match.terms[:20]],
                "sections": alike,
                **_listed("passages", pairs),
            }

    def read(
        self, document: str, section: str | int | None = None, page: int | None = None, start: int | None = None
    ) -> Answer:
        """Read a document of the library: its outline, or a piece of its text.

        With the id alone: title, metadata and the sections with their numbers. With a section's number as listed
        ("3.1" where its heading says so, else "#7"), a page or the position of a character: the text from there, a few
        pages at most; `next` is the `start` to go on with.
        """
        with self._lock:
            found = self._stored(document)
        if section is None and page is None and start is None:
            return _outline(found)
        begin, end = _piece(found, section, page, start)
        stop = begin + cut(found.text[begin : min(end, begin + PAGE + 1)])
        inside = next((s for s in reversed(found.sections) if s.start <= begin), None)
        return {
            **_place(found),
            "section": _heading(found, inside) if inside else None,
            "page": found.page_at(begin),
            "start": begin,
            "end": stop,
            "text": found.text[begin:stop],
            "next": stop if stop < end else None,
        }

    def find(self, words: str, k: int = 10) -> Answer:
        """Find the documents that contain all of some words, in any form, and "exact phrases" in quotation marks.

        Each comes with the sentences that have most of them.
        """
        with self._lock:
            wanted = Wanted.of(words)
            documents = self.library.find(words, _count(k))
        found = [
            _place(document) | {"passages": [_quote(hit.passage, document) for hit in snippets(document, wanted)]}
            for document in documents
        ]
        return _listed("documents", found)

    def documents(self, where: str | None = None, offset: int = 0, k: int = 25) -> Answer:
        """List the documents of the library by id, with title, words, language, author and year.

        `where` is a condition as in SQL on id, title, language, words, source and metadata. `offset` pages on.
        """
        with self._lock:
            records = self.library.records(where)
        rows = [
            {"id": row["id"], "title": shortened(row["title"]), "words": row["words"], "language": row["language"]}
            | {name: shortened(str(row["metadata"][name])) for name in ("author", "year") if row["metadata"].get(name)}
            for row in records[max(0, offset) : max(0, offset) + _count(k)]
        ]
        return {"total": len(records), "offset": max(0, offset), **_listed("documents", rows)}

    def pairs(self, minimum: float = 0.5, k: int = 20) -> Answer:
        """Find copies, versions, forms of one template, reused text and documents that probably belong together.

        `minimum` is the probability from which a pair is listed that shares no text.
        """
        with self._lock:
            found = self.library.pairs(min(max(minimum, 0.0), 1.0), k=_count(k))
        rows = [
            {name: value for name, value in to_dict(pair).items() if name != "score"}
            | {"title_a": shortened(pair.title_a), "title_b": shortened(pair.title_b)}
            | {"passages": [_quote(passage, None) for passage in pair.passages or ()]}
            for pair in found.pairs
        ]
        return {"total": found.total, "remarks": list(found.remarks), **_listed("pairs", rows)}

    def _query(self, id: str | None, text: str | None, name: str = "document") -> str | Document:
        """An id of the library, never a file of that name; or a text."""
        if (id is None) == (text is None):
            raise LongmatchError(f"Name either {name}, the id of a document of the library, or pass a text.")
        if text is not None:
            return read_text_string(text, "text")
        return self._stored(str(id)).id

    def _stored(self, id: str) -> Document:
        if id not in self.library:
            raise LongmatchError(
                f"The library has no document {shortened(id)}. List them with `documents`, or `find` it."
            )
        return self.library.show(id)


def _rounded(probability: float | None) -> float | None:
    return None if probability is None else round(probability, 2)


def _count(k: int) -> int:
    return min(max(k, 1), MOST)


def _listed(name: str, items: Iterable[Mapping[str, Any]]) -> Answer:
    """The items that fit, and how many do not, if any."""
    kept, left_out = fitted(items)
    return {name: kept, **({"left_out": left_out} if left_out else {})}


def _place(document: Document) -> Answer:
    return {"id": document.id, "title": shortened(document.title)}


def _quote(passage: Passage, document: Document | None) -> Answer:
    """A passage and where it stands; a text that was passed has no pages."""
    page = document.page_at(passage.start) if document else None
    place = {"section": shortened(passage.section), "page": page, "start": passage.start}
    return {"text": shortened(passage.shown, PASSAGE), **place}


def _pair(pair: Alignment, a: Document | None, b: Document) -> Answer:
    marked = {"other_words": True} if pair.paraphrase else {}
    return {"a": _quote(pair.a, a), "b": _quote(pair.b, b), "share_of_score": round(pair.contribution, 3), **marked}


def _heading(document: Document, section: Section) -> str:
    return shortened(label(section.heading, section.of(document.readable)))


def _outline(document: Document) -> Answer:
    sections = [
        {"number": number, "heading": _heading(document, section), "level": section.level}
        | {"page": document.page_at(section.start), "start": section.start, "characters": section.end - section.start}
        for number, section in zip(section_numbers(document), document.sections, strict=True)
    ]
    metadata, _ = fitted(({name: shortened(str(value))} for name, value in document.metadata.items()), ANSWER // 8)
    known = {name: value for item in metadata for name, value in item.items()}
    facts = {"language": document.language, "words": document.words, "characters": len(document.text)}
    return {**_place(document), **facts, "metadata": known, **_listed("sections", sections)}


def _piece(document: Document, section: str | int | None, page: int | None, start: int | None) -> tuple[int, int]:
    """Where to begin and where to end at the latest: with the section that was named, or with the document."""
    end = len(document.text)
    if section is not None:
        number = str(section).strip().rstrip(".")
        places = dict(zip(section_numbers(document), document.sections, strict=True))
        if number not in places:
            raise LongmatchError(f"{document.id} has no section {section}. Take a `number` of its outline.")
        named = places[number]
        begin = named.start if start is None else start
        return min(max(begin, named.start), named.end), named.end
    if start is not None:
        return min(max(start, 0), end), end
    first = next(
        (p.start for p in document.paragraphs if p.page is not None and page is not None and p.page >= page), None
    )
    if first is None:
        raise LongmatchError(f"{document.id} has no page {page}. Read it by section, or from a start.")
    return first, end


def section_numbers(document: Document) -> list[str]:
    """By which numbers an assistant names sections, as people say "section 3".

    No two are the same: "3.1" of the first heading that begins so, in Arabic numbers, else "#7" for the seventh.
    """
    found: dict[str, None] = {}
    for place, section in enumerate(document.sections, 1):
        number = read_number(section.heading.strip())
        own = ".".join(map(str, number.parts)) if number and number.series == "arabic" else ""
        found[own if own and own not in found else f"#{place}"] = None
    return list(found)


def shortened(text: str, most: int = NAME) -> str:
    """A text in one line, cut at a word where it is longer than `most` characters.

    >>> shortened("one  two three", 9)
    'one two …'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rpartition(" ")[0][: most - 2] + " …"


def cut(text: str, most: int = PAGE) -> int:
    """Where to end a piece of at most `most` characters: after a paragraph, else a sentence, else a word."""
    if len(text) <= most:
        return len(text)
    for end in _ENDS:
        places = [match.end() for match in end.finditer(text, most // 2, most)]
        if places:
            return places[-1]
    return most


def fitted(items: Iterable[Mapping[str, Any]], room: int = ANSWER) -> tuple[list[Mapping[str, Any]], int]:
    """The first items that fit together, and how many were left out.

    >>> fitted([{"a": 1}, {"a": 22}], room=12)
    ([{'a': 1}], 1)
    """
    offered = list(items)
    for number, item in enumerate(offered):
        room -= len(json.dumps(item, ensure_ascii=False, default=str))
        if room < 0:
            return offered[:number], len(offered) - number
    return offered, 0
