"""Merge segments into one, in slices of the hash range or of the documents, so that memory is bounded."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from longmatch.lexical.terms import KINDS, Ints
from longmatch.library.index.records import FIELDS, RecordWriter, file_name
from longmatch.library.index.segment import (
    DTYPES,
    PER_DOCUMENT,
    TITLE_WORDS,
    Array,
    Segment,
    memory_map,
    seal,
    write_array,
)
from longmatch.library.settings import DEFAULTS, LibrarySettings
from longmatch.ragged import offsets_of


def merge_segments(
    folder: Path,
    segments: Sequence[Segment],
    deleted: Sequence[frozenset[int]],
    complete: bool,
    settings: LibrarySettings = DEFAULTS,
) -> Segment:
    """Write one segment with the live documents of several and the sum of their document frequencies.

    Only of a `complete` index can terms be dropped whose frequencies add up to 0. Among some segments that may also
    mean that one document has the term and that another, of an older segment, was removed.
    """
    folder.mkdir(parents=True)
    size = settings.merge_entries
    live = [
        np.array([i not in numbers for i in range(len(s))], dtype=bool)
        for s, numbers in zip(segments, deleted, strict=True)
    ]
    numbers = _renumber(live)
    for name in PER_DOCUMENT:
        parts = [s[name][keep] for s, keep in zip(segments, live, strict=True) if len(s)]
        _write(folder, name, parts or [np.empty(0)], "wb")
    checksums = _merge_records(folder, segments, live, settings.record_bytes)
    for kind in KINDS:
        positions = _merge_frequencies(folder, kind, segments, complete, size)
        _merge_postings(folder, kind, segments, numbers, size)
        _merge_held(folder, kind, segments, live, size, [memory_map(path, "uint32") for path in positions])
        for path in positions:
            path.unlink()
    _merge_held(folder, TITLE_WORDS, segments, live, size)
    ids, hashes = (
        [x for s, keep in zip(segments, live, strict=True) for x, k in zip(getattr(s, name), keep, strict=True) if k]
        for name in ("ids", "hashes")
    )
    return seal(folder, ids, hashes, checksums)


def _renumber(live: Sequence[Array]) -> list[Ints]:
    """The new number of each document, -1 for deleted ones."""
    numbers, start = [], 0
    for keep in live:
        numbers.append(np.where(keep, start + np.cumsum(keep) - 1, -1))
        start += int(keep.sum())
    return numbers


def _merge_records(folder: Path, segments: Sequence[Segment], live: Sequence[Array], full: int) -> dict[str, int]:
    """Returns the checksums of files that were taken over as they are."""
    merged = [np.zeros((0, len(FIELDS)), dtype=np.int64)]
    with RecordWriter(folder, full) as writer:
        for segment, keep in zip(segments, live, strict=True):
            table = segment["records"][keep]
            moved = table.copy()
            for number in np.unique(table[:, 0][table[:, 0] >= 0]).tolist():
                here = table[:, 0] == number
                name = file_name(number)
                moved[here] = writer.take(segment.folder / name, segment[name], table[here])
            merged.append(moved)
    _write(folder, "records", merged, "wb")
    by_folder = {segment.folder: segment.checksums for segment in segments}
    return {name: by_folder[path.parent][path.name] for name, path in writer.linked.items()}


def _merge_frequencies(folder: Path, kind: str, segments: Sequence[Segment], complete: bool, size: int) -> list[Path]:
    """Also writes, for each segment, the new position of each of its terms; those of dropped terms mean nothing."""
    names = [f"{kind}.{part}" for part in ("terms", "frequencies", "background")]
    positions = [folder / f"{kind}.positions.{number}" for number in range(len(segments))]
    _clear(folder, [*names, *(path.name for path in positions)])
    written = 0
    for parts in _slices([s[names[0]] for s in segments], size):
        found, counts, known = (
            np.concatenate([s[name][p] for s, p in zip(segments, parts, strict=True)]) for name in names
        )
        terms, position = np.unique(found, return_inverse=True)
        background = np.zeros(len(terms))
        background[position] = known  # the same in every segment
        total = np.bincount(position, counts, len(terms)).astype(np.int64)
        kept = (total != 0) | (not complete)
        for name, column in zip(names, (terms, total, background), strict=True):
            _write(folder, name, [column[kept]])
        new = (written + np.cumsum(kept) - 1).clip(min=0)[position]
        ends = np.cumsum([part.stop - part.start for part in parts])
        for path, moved in zip(positions, np.split(new, ends[:-1]), strict=True):
            with path.open("ab") as file:
                write_array(file, moved, "uint32")
        written += int(kept.sum())
    return positions


def _merge_held(
    folder: Path,
    name: str,
    segments: Sequence[Segment],
    live: Sequence[Array],
    size: int,
    positions: Sequence[Array] | None = None,
) -> None:
    """`positions` are the new ones of each segment's terms, where terms are held by position."""
    names = [f"{name}.{part}" for part in ("held", "counts", "offsets")]
    _clear(folder, names)
    width = np.result_type(*(s[names[1]] for s in segments))
    lengths = [np.diff(s[names[2]])[keep] for s, keep in zip(segments, live, strict=True)]
    _write(folder, names[2], [offsets_of(np.concatenate(lengths))])
    for number, (segment, keep) in enumerate(zip(segments, live, strict=True)):
        for rows in _live_rows(segment[names[2]], keep, size):
            held = segment[names[0]][rows]
            _write(folder, names[0], [held if positions is None else positions[number][held]])
            _write(folder, names[1], [segment[names[1]][rows].astype(width)])


def _live_rows(offsets: Array, live: Array, size: int) -> Iterator[Array]:
    """The rows of the live documents, those of about `size` rows at a time."""
    ends = np.searchsorted(offsets, np.arange(0, offsets[-1] + size, size))
    bounds = np.unique(ends.clip(max=len(live)))
    for start, end in pairwise(bounds.tolist()):
        chosen = np.repeat(live[start:end], np.diff(offsets[start : end + 1]))
        yield offsets[start] + np.flatnonzero(chosen)


def _merge_postings(folder: Path, kind: str, segments: Sequence[Segment], numbers: Sequence[Ints], size: int) -> None:
    names = [f"{kind}.{part}" for part in ("kept", "starts", "documents", "weights")]
    _clear(folder, names)
    _write(folder, names[1], [np.zeros(1)])
    written = 0
    total = sum(len(s[names[2]]) for s in segments)
    for parts in _slices([s[names[0]] for s in segments], size, total):
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


def _slices(sorted_terms: Sequence[Array], size: int, total: int | None = None) -> Iterator[list[slice]]:
    """Slices of each array that cover the same ranges of hashes, of about `size` of the `total` entries together."""
    count = max(1, (sum(map(len, sorted_terms)) if total is None else total) // size)
    inner = np.array([(i << 64) // count for i in range(1, count)], dtype=np.uint64)
    bounds = [[0, *np.searchsorted(terms, inner).tolist(), len(terms)] for terms in sorted_terms]
    for i in range(count):
        yield [slice(b[i], b[i + 1]) for b in bounds]


def _clear(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        (folder / name).write_bytes(b"")


def _write(folder: Path, name: str, parts: Sequence[Array], mode: Literal["ab", "wb"] = "ab") -> None:
    with (folder / name).open(mode) as file:
        for part in parts:
            write_array(file, part, DTYPES[name])
