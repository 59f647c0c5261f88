"""Merge segments into one, in slices of the hash range, so that memory is bounded."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from longmatch.lexical.terms import KINDS, Ints
from longmatch.library.index.segment import DTYPES, PER_DOCUMENT, Array, Segment, seal

SLICE = 4_000_000  # entries


def merge_segments(folder: Path, segments: Sequence[Segment], deleted: Sequence[frozenset[int]]) -> Segment:
    """Write one segment with the live documents of several and the sum of their document frequencies."""
    folder.mkdir(parents=True)
    live = [
        np.array([i not in numbers for i in range(len(s))], dtype=bool)
        for s, numbers in zip(segments, deleted, strict=True)
    ]
    numbers = _renumber(live)
    for name in PER_DOCUMENT:
        parts = [s[name][keep] for s, keep in zip(segments, live, strict=True) if len(s)]
        _write(folder, name, parts or [np.empty(0)], "wb")
    for kind in KINDS:
        _merge_frequencies(folder, kind, segments)
        _merge_postings(folder, kind, segments, numbers)
    ids, hashes = (
        [x for s, keep in zip(segments, live, strict=True) for x, k in zip(getattr(s, name), keep, strict=True) if k]
        for name in ("ids", "hashes")
    )
    return seal(folder, ids, hashes)


def _renumber(live: Sequence[Array]) -> list[Ints]:
    """The new number of each document, -1 for deleted ones."""
    numbers, start = [], 0
    for keep in live:
        numbers.append(np.where(keep, start + np.cumsum(keep) - 1, -1))
        start += int(keep.sum())
    return numbers


def _merge_frequencies(folder: Path, kind: str, segments: Sequence[Segment]) -> None:
    names = (f"{kind}.terms", f"{kind}.frequencies")
    _clear(folder, names)
    for parts in _slices([s[names[0]] for s in segments]):
        terms, position = np.unique(
            np.concatenate([s[names[0]][p] for s, p in zip(segments, parts, strict=True)]), return_inverse=True
        )
        counts = np.concatenate([s[names[1]][p] for s, p in zip(segments, parts, strict=True)])
        total = np.bincount(position, counts, len(terms)).astype(np.int64)
        nonzero = total != 0
        _write(folder, names[0], [terms[nonzero]])
        _write(folder, names[1], [total[nonzero]])


def _merge_postings(folder: Path, kind: str, segments: Sequence[Segment], numbers: Sequence[Ints]) -> None:
    names = [f"{kind}.{part}" for part in ("kept", "starts", "documents", "weights")]
    _clear(folder, names)
    _write(folder, names[1], [np.zeros(1)])
    written = 0
    sizes = sum(len(s[names[2]]) for s in segments)
    for parts in _slices([s[names[0]] for s in segments], sizes):
        slices = [_read_slice(s, part, names, new) for s, part, new in zip(segments, parts, numbers, strict=True)]
        term, document, weight = (np.concatenate([s[i] for s in slices]) for i in range(3))
        order = np.argsort(term, kind="stable")  # documents stay in ascending order
        terms, counts = np.unique(term, return_counts=True)
        for name, column in zip(
            names, (terms, written + np.cumsum(counts), document[order], weight[order]), strict=True
        ):
            _write(folder, name, [column])
        written += len(term)


def _read_slice(segment: Segment, part: slice, names: Sequence[str], numbers: Ints) -> tuple[Array, Array, Array]:
    """Term, document and weight of each posting of a slice of terms, without deleted documents."""
    terms, starts, documents, weights = (segment[name] for name in names)
    bounds = starts[part.start : part.stop + 1]
    if part.stop <= part.start:
        return np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.float32)
    rows = slice(int(bounds[0]), int(bounds[-1]))
    document = numbers[documents[rows]]
    live = document >= 0
    return np.repeat(terms[part], np.diff(bounds))[live], document[live], weights[rows][live]


def _slices(sorted_terms: Sequence[Array], size: int | None = None) -> Iterator[list[slice]]:
    """Slices of each array that cover the same ranges of hashes, of about SLICE entries together."""
    total = sum(map(len, sorted_terms)) if size is None else size
    count = max(1, total // SLICE)
    inner = np.array([(i << 64) // count for i in range(1, count)], dtype=np.uint64)
    bounds = [[0, *np.searchsorted(terms, inner).tolist(), len(terms)] for terms in sorted_terms]
    for i in range(count):
        yield [slice(b[i], b[i + 1]) for b in bounds]


def _clear(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        (folder / name).write_bytes(b"")


def _write(folder: Path, name: str, parts: Sequence[Array], mode: str = "ab") -> None:
    with (folder / name).open(mode) as file:
        for part in parts:
            np.ascontiguousarray(part, dtype=DTYPES[name]).tofile(file)
