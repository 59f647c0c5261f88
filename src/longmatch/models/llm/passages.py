"""The passages of two documents that are most like the other document, by the words they share."""

from longmatch.documents.document import Span
from longmatch.lexical.background import shipped_background
from longmatch.lexical.links import RatedTerms, link_pair
from longmatch.lexical.matcher import LexicalEncoding
from longmatch.matching.align import Evidence, Ints, merge
from longmatch.matching.sentences import Sentences


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
