"""Reading PDF files as a person does: columns in order, headings, captions, footnotes, no running heads."""

from longmatch.documents.pdf.reader import read_pdf

__all__ = ["read_pdf"]
