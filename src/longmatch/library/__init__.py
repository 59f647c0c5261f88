"""A collection on disk that grows, survives and answers fast: documents, their encodings, and two-stage search."""

from longmatch.library.library import Library

__all__ = ["Library"]
