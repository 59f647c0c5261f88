"""Sentence splitting with spans, for the many languages sentencex knows."""

from collections.abc import Iterator

from longmatch.documents.document import Sentence, Span


def split_sentences(text: str, span: Span, language: str = "en") -> Iterator[Sentence]:
    """The sentences of text[span], without the white space around them.

    >>> text = "Dr. Smith came. He left."
    >>> [s.of(text) for s in split_sentences(text, Span(0, len(text)))]
    ['Dr. Smith came.', 'He left.']
    """
    from sentencex import get_sentence_boundaries

    piece = span.of(text)
    for found in get_sentence_boundaries(language, piece):
        start, end = found["start_index"], found["end_index"]
        raw = piece[start:end]
        stripped = raw.strip()
        if stripped:
            start += len(raw) - len(raw.lstrip())
            yield Sentence(span.start + start, span.start + start + len(stripped))
