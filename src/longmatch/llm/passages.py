"""The passages of two documents that are most like the other document, by the words they share."""

from longmatch.documents.document import Span
from longmatch.lexical.background import shipped_background
from longmatch.lexical.links import link_sentences, shared_terms
from longmatch.lexical.matcher import LexicalEncoding
from longmatch.lexical.weights import tfidf
from longmatch.matching.align import Evidence, Ints, merge
from longmatch.matching.sentences import Sentences


def linked_passages(a: LexicalEncoding, b: LexicalEncoding) -> tuple[list[Span], list[Span]]:
    """Sentences of each document, those that share most first: the alignments of TF-IDF without their scores."""
    frequencies = shipped_background().frequencies("words")
    shared = shared_terms(*(tfidf(document.stream.counts, frequencies) for document in (a, b)))
    forward, backward = link_sentences([(a.stream, b.stream)], [shared], [1.0])
    pairs = merge([Evidence(forward.partner, forward.mass)], [Evidence(backward.partner, backward.mass)])
    best = pairs.strongest()
    return _spans(a.sentences, pairs.a[best]), _spans(b.sentences, pairs.b[best])


def _spans(sentences: Sentences, places: Ints) -> list[Span]:
    """The sentences at some places, each once."""
    distinct = list(dict.fromkeys(places.tolist()))
    return [Span(int(sentences.starts[i]), int(sentences.ends[i])) for i in distinct]
