"""What a library may use: how much it scores, keeps in memory and writes at a time."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LibrarySettings:
    """How a library searches, remembers and stores; the defaults suit a laptop and up to a million documents.

    >>> LibrarySettings(candidates=100).exact_below
    100000
    """

    # what is searched: more costs time and finds a little more
    candidates: int = 60  # documents of each kind (words, phrases, vector) that are scored exactly
    exact_below: int = 100_000  # documents; from there on, document vectors are searched by an approximate index
    heaviest_words: int = 256  # of each document, by which candidates are found; exact scores use all words
    heaviest_phrases: int = 512
    stale: float = 0.002  # share of documents added or removed before the norms of all are computed again

    # pairs: how many neighbours of each document are looked at, by words, by phrases and by vector
    nearest: int = 12
    most_nearest: int = 48  # the same for a document that belongs with most of its nearest, none of them a copy
    nearly_copies: float = 0.8  # likeness from which on two documents may be copies, and all of them are found
    pair_block: int = 64  # documents searched with together

    # memory, in bytes
    document_bytes: int = 512 << 20  # documents as they are shown: a thousand of two thousand words
    text_bytes: int = 256 << 20  # texts whose shared passages are looked for

    # disk
    commit_documents: int = 64  # at most in one commit
    commit_seconds: float = 20.0  # of work, about, in one commit: what an interrupt may lose
    first_characters: int = 30_000  # in one commit, before the speed is known
    query_batch: int = 32  # queries encoded at a time
    merge_entries: int = 4_000_000  # of the index, merged at a time
    record_bytes: int = 64 << 20  # of a file of records, from which on it is linked instead of copied
    fragments: int = 24  # small parts of a table before they are joined
    reopened_after: int = 64  # commits, after which the caches of old versions are dropped
    index_folder: Path | None = None  # of a library in object storage; None for one in the user's cache


DEFAULTS = LibrarySettings()
