"""Merge segments into one, in slices of the hash range or of the documents, so that memory is bounded."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

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
    signed_width,
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
    for name in PER_DOCUMENT:
        parts = [s[name][keep] for s, keep in zip(segments, live, strict=True) if len(s)]
        _write(folder, name, parts or [np.empty(0)])
    starts = np.cumsum([0, *(keep.sum() for keep in live)])
    numbers = [np.where(keep, n + np.cumsum(keep) - 1, -1) for keep, n in zip(live, starts[:-1], strict=True)]
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
    _write(folder, "records", merged)
    by_folder = {segment.folder: segment.checksums for segment in segments}
    return {name: by_folder[path.parent][path.name] for name, path in writer.linked.items()}


def _merge_frequencies(folder: Path, kind: str, segments: Sequence[Segment], complete: bool, size: int) -> list[Path]:
    """Also writes, for each segment, the new position of each of its terms; those of dropped terms mean nothing."""
    names = [f"{kind}.{part}" for part in ("terms", "frequencies")]
    width = signed_width(sum(int(np.abs(s[names[1]].astype(np.int64)).max(initial=0)) for s in segments))
    for name in names:  # where nothing is kept, nothing is written
        (folder / name).touch()
    positions = [folder / f"{kind}.positions.{number}" for number in range(len(segments))]
    written = 0
    for parts in _slices([s[names[0]] for s in segments], size):
        found, counts = (np.concatenate([s[name][p] for s, p in zip(segments, parts, strict=True)]) for name in names)
        terms, position = np.unique(found, return_inverse=True)
        total = np.bincount(position, counts, len(terms)).astype(np.int64)
        kept = (total != 0) | (not complete)
        _write(folder, names[0], [terms[kept]])
        _write(folder, names[1], [total[kept].astype(width)])
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
    for part in names:  # where no document is live, nothing is written
        (folder / part).touch()
    width = np.result_type(*(s[names[1]] for s in segments))
    lengths = [np.diff(s[names[2]])[keep] for s, keep in zip(segments, live, strict=True)]
    _write(folder, names[2], [offsets_of(np.concatenate(lengths))])
    for number, (segment, keep) in enumerate(zip(segments, live, strict=True)):
        offsets = segment[names[2]]
        ends = np.searchsorted(offsets, np.arange(0, offsets[-1] + size, size))
        bounds = np.unique(ends.clip(max=len(keep)))
        for start, end in pairwise(bounds.tolist()):  # documents of about `size` rows together
            chosen = np.repeat(keep[start:end], np.diff(offsets[start : end + 1]))
            rows = offsets[start] + np.flatnonzero(chosen)
            held = segment[names[0]][rows]
            _write(folder, names[0], [held if positions is None else positions[number][held]])
            _write(folder, names[1], [segment[names[1]][rows].astype(width)])


def _merge_postings(folder: Path, kind: str, segments: Sequence[Segment], numbers: Sequence[Ints], size: int) -> None:
    names = [f"{kind}.{part}" for part in ("kept", "starts", "documents", "weights")]
    _write(folder, names[1], [np.zeros(1)])
    written = 0
    total = sum(len(s[names[2]]) for s in segments)
    for parts in _slices([s[names[0]] for s in segments], size, total):
        postings = []
        for segment, part, new in zip(segments, parts, numbers, strict=True):
            terms, starts, documents, weights = (segment[name] for name in names)
            bounds = starts[part.start : part.stop + 1].astype(np.int64)
            rows = slice(int(bounds[0]), int(bounds[-1]))
            number = new[documents[rows]]
            live = number >= 0
            postings.append((np.repeat(terms[part], np.diff(bounds))[live], number[live], weights[rows][live]))
        term, document, weight = (np.concatenate(column) for column in zip(*postings, strict=True))
        order = np.argsort(term, kind="stable")  # documents stay in ascending order
        terms, counts = np.unique(term, return_counts=True)
        columns = (terms, written + np.cumsum(counts), document[order], weight[order])
        for name, column in zip(names, columns, strict=True):
            _write(folder, name, [column])
        written += len(term)


def _slices(sorted_terms: Sequence[Array], size: int, total: int | None = None) -> Iterator[list[slice]]:
    """Slices of each array that cover the same ranges of hashes, of about `size` of the `total` entries together."""
    count = max(1, (sum(map(len, sorted_terms)) if total is None else total) // size)
    bits = 8 * sorted_terms[0].itemsize
    inner = np.array([(i << bits) // count for i in range(1, count)], dtype=sorted_terms[0].dtype)
    bounds = [[0, *np.searchsorted(terms, inner).tolist(), len(terms)] for terms in sorted_terms]
    for i in range(count):
        yield [slice(b[i], b[i + 1]) for b in bounds]


def _write(folder: Path, name: str, parts: Sequence[Array]) -> None:
    with (folder / name).open("ab") as file:
        for part in parts:
            write_array(file, part, DTYPES[name])
