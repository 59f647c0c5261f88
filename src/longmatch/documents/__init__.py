"""Documents: structured texts, and readers for every supported file format."""

from longmatch.documents.document import Document, Paragraph, Section, Sentence, Span
from longmatch.documents.draft import Draft
from longmatch.documents.read import find_files, read, read_all, read_text_string

__all__ = [
    "Document",
    "Draft",
    "Paragraph",
    "Section",
    "Sentence",
    "Span",
    "find_files",
    "read",
    "read_all",
    "read_text_string",
]
