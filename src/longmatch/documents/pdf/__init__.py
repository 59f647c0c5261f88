"""PDF files in reading order: columns, headings, captions and footnotes, without running heads."""

from longmatch.documents.pdf.reader import read_pdf

__all__ = ["read_pdf"]
