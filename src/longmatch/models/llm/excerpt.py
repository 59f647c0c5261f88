"""A long document within a budget: title, headings, opening, and the passages most like the other document."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from longmatch.documents.document import Document, Span
from longmatch.lexical.background import shipped_background
from longmatch.lexical.links import RatedTerms, link_pair
from longmatch.lexical.matcher import LexicalEncoding
from longmatch.matching.align import Evidence, Ints, merge
from longmatch.matching.sentences import Sentences

BYTES_PER_TOKEN = 4  # of UTF-8: about right for English, on the safe side for most other languages
PIECE = 400  # characters; longer sentences are cut into pieces of this length
HEADINGS, OPENING = 0.15, 0.25  # shares of the budget, at most
GAP = "\n[…]\n"


@dataclass(frozen=True)
class Excerpt:
    """What is read of a document, and the share of its running text that this is."""

    text: str
    coverage: float


def excerpt(document: Document, passages: Sequence[Span], budget: int) -> Excerpt:
    """A document within about `budget` tokens; of the passages, the most important first.

    What passages leave of the budget goes to the text after the opening. The same input gives the same excerpt.
    """
    pieces = [
        Span(start, min(start + PIECE, sentence.end))
        for sentence in document.sentences
        for start in range(sentence.start, sentence.end, PIECE)
    ]
    title = clip(clean(document.title), budget // 10)
    headings = clip("; ".join(filter(None, (clean(s.heading) for s in document.sections))), int(HEADINGS * budget))
    chosen = _choose(document, pieces, passages, budget - tokens(title) - tokens(headings))
    lines = [f"Title: {title}" if title else "", f"Sections: {headings}" if headings else "", "Text:"]
    read = sum(pieces[i].end - pieces[i].start for i in chosen)
    whole = sum(piece.end - piece.start for piece in pieces)
    return Excerpt("\n".join([*filter(None, lines), _join(document, pieces, chosen)]), read / whole if whole else 1.0)


def _choose(document: Document, pieces: Sequence[Span], passages: Sequence[Span], budget: int) -> list[int]:
    """The pieces to read, in order: the opening, each passage with its neighbours, then whatever comes first."""
    sizes = [tokens(clean(piece.of(document.readable))) + 1 for piece in pieces]
    starts = [piece.start for piece in pieces]
    chosen: set[int] = set()
    left = _take(chosen, range(len(pieces)), sizes, int(OPENING * budget)) + budget - int(OPENING * budget)
    for passage in passages:
        first, end = bisect_left(starts, passage.start), bisect_left(starts, passage.end)
        around = [i for i in (first - 1, end) if 0 <= i < len(pieces)]
        left = _take(chosen, [*range(first, end), *around], sizes, left)
    _take(chosen, range(len(pieces)), sizes, left)
    return sorted(chosen)


def _take(chosen: set[int], wanted: Iterable[int], sizes: Sequence[int], left: int) -> int:
    """Add pieces until one does not fit; what is left of the budget."""
    for i in wanted:
        if i not in chosen:
            if sizes[i] > left:
                break
            chosen.add(i)
            left -= sizes[i]
    return left


def _join(document: Document, pieces: Sequence[Span], chosen: Sequence[int]) -> str:
    """The text of pieces, with a mark where something is left out; what lies between sentences, as a table, is not."""
    if not chosen:
        return ""
    parts = [pieces[chosen[0]].of(document.readable)]
    for before, after in pairwise(chosen):
        separator = GAP
        if after == before + 1:  # nothing within a sentence that was cut, a line break between paragraphs, else a space
            between = Span(pieces[before].end, pieces[after].start).of(document.readable)
            separator = "\n" if between.count("\n") > 1 else " " if between else ""
        parts += [separator, pieces[after].of(document.readable)]
    text = "\n".join(filter(None, map(clean, "".join(parts).split("\n"))))
    return text + (GAP.rstrip() if chosen[-1] + 1 < len(pieces) else "")


def tokens(text: str) -> int:
    """About how many tokens a text has.

    >>> tokens("twelve chars"), tokens("")
    (3, 0)
    """
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def clip(text: str, budget: int) -> str:
    """The beginning of a text, within a budget of tokens.

    >>> clip("one two three", 2)
    'one two …'
    """
    if tokens(text) <= budget:
        return text
    kept = text.encode("utf-8", "replace")[: budget * BYTES_PER_TOKEN].decode("utf-8", "ignore")
    return f"{kept.rstrip()} …"


def clean(text: str) -> str:
    """A text on one line, with nothing in it that JSON cannot carry."""
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def linked_passages(a: LexicalEncoding, b: LexicalEncoding) -> tuple[list[Span], list[Span]]:
    """Sentences of each document, those that share most first: the alignments of TF-IDF without their scores."""
    frequencies = shipped_background().frequencies("words")
    shared = link_pair(RatedTerms.of(a.stream, frequencies), b.stream)
    pairs = merge(*([Evidence(links.partner, links.mass)] for links in (shared.forward, shared.backward)))
    best = pairs.strongest()
    return _spans(a.sentences, pairs.a[best]), _spans(b.sentences, pairs.b[best])


def _spans(sentences: Sentences, places: Ints) -> list[Span]:
    """The sentences at some places, each once."""
    distinct = list(dict.fromkeys(places.tolist()))
    return [Span(int(sentences.starts[i]), int(sentences.ends[i])) for i in distinct]
