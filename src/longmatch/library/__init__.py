"""A collection on disk that grows, survives and answers fast: documents, their encodings, and two-stage search.

`longmatch.library.library.Library` is imported as `longmatch.Library`: nothing heavy loads with this package, as the
processes that read files import it too.
"""
