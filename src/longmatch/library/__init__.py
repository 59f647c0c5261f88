"""A collection of documents on disk: incremental, kill-safe indexing and two-stage search.

Importing this package loads nothing heavy, as the processes that read files import it too; `longmatch.Library` is
`longmatch.library.library.Library`.
"""
