"""A document with its sections in another order, for CoLDE's study of perturbed texts (section 4.4.3)."""

import random
from collections.abc import Sequence
from dataclasses import replace

from longmatch.documents.document import Document, Paragraph, Section

GAP = "\n\n"


def shuffled(document: Document, seed: int) -> Document:
    """The same sections in random order, drawn from the seed and the document's id; every span is moved along.

    >>> from longmatch.documents.draft import Draft
    >>> draft = Draft()
    >>> for heading in "ABC":
    ...     draft.heading(heading)
    ...     draft.paragraph(f"Text of {heading}.")
    >>> moved = shuffled(draft.document("d"), seed=4)
    >>> [(s.heading, s.paragraphs[0].of(moved.text)) for s in moved.sections]
    [('C', 'Text of C.'), ('A', 'Text of A.'), ('B', 'Text of B.')]
    """
    order = list(document.sections)
    random.Random(f"{seed} {document.id}").shuffle(order)
    return replace(
        document,
        text=_joined(document.text, order),
        plain=_joined(document.plain, order) if document.plain else "",
        sections=tuple(_placed(order)),
    )


def _joined(text: str, order: Sequence[Section]) -> str:
    return GAP.join(section.of(text) for section in order)


def _placed(order: Sequence[Section]) -> list[Section]:
    """The sections one after the other, from the start of the text."""
    placed: list[Section] = []
    start = 0
    for section in order:
        by = start - section.start
        paragraphs = tuple(_moved(paragraph, by) for paragraph in section.paragraphs)
        placed.append(replace(section, start=start, end=section.end + by, paragraphs=paragraphs))
        start = placed[-1].end + len(GAP)
    return placed


def _moved(paragraph: Paragraph, by: int) -> Paragraph:
    sentences = tuple(replace(s, start=s.start + by, end=s.end + by) for s in paragraph.sentences)
    return replace(paragraph, start=paragraph.start + by, end=paragraph.end + by, sentences=sentences)
