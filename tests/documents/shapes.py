"""A document in short, for comparing."""

from longmatch.documents import Document


def outline(document: Document) -> list[tuple[int, str, list[str]]]:
    """Level, heading and paragraphs of each section."""
    return [(s.level, s.heading, [p.of(document.text) for p in s.paragraphs]) for s in document.sections]


def kinds(document: Document) -> list[tuple[str, str]]:
    """Kind and text of each paragraph."""
    return [(p.kind, p.of(document.text)) for p in document.paragraphs]


def sentences(document: Document) -> list[str]:
    """All sentences of the running text."""
    return [s.of(document.text) for s in document.sentences]
