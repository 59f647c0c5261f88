"""How alike the sections of two versions are, for those that share rare words, headings or their place.

Texts are compared by their words and pairs of words, headings by their words without the number: both by Dice's
coefficient, each word weighted by how few sections have it. A heading that many sections have says little.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.reuse.shingles import Flags, Ints, occurrence_ranks
from longmatch.reuse.version import Version
from longmatch.reuse.words import WORD

LEAST = 0.2  # of two sections that may be one
HEADING = 0.25  # the heading's part in a likeness
NEAREST = 16  # candidates of a section by what rare words they share
ROOM = 1 << 22  # pairs of sections with a word in common that are looked at
BLOCK = 1 << 10  # pairs of sections whose words are laid side by side at once

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """Pairs of sections that may be one, sorted by row, then column."""

    rows: Ints
    columns: Ints
    likeness: Scores


def candidates(a: Version, b: Version, open_a: Ints, open_b: Ints, expected: Scores) -> Candidates:
    """Pairs of some sections of both that are alike enough; `expected` is where each of a would stand in b."""
    texts = _features(_words_and_pairs(a), _words_and_pairs(b), len(a.headings), len(b.headings))
    titles = _features(*_title_words(a, b), len(a.headings), len(b.headings))
    text_a, text_b, title_a, title_b = texts[0][open_a], texts[1][open_b], titles[0][open_a], titles[1][open_b]
    codes = [
        _likest(text_a, text_b),
        _likest(title_a, title_b),
        _nearby(open_b, expected),
    ]
    rows, columns = np.divmod(np.unique(np.concatenate(codes)), len(open_b))
    text = _dice(text_a, text_b, rows, columns)
    title = _dice(title_a, title_b, rows, columns) / _holders(a, b, open_a[rows], open_b[columns])
    worded = (_sizes(text_a) > 0)[rows] | (_sizes(text_b) > 0)[columns]
    titled = (_sizes(title_a) > 0)[rows] & (_sizes(title_b) > 0)[columns]
    likeness = np.where(titled, np.where(worded, HEADING * title + (1 - HEADING) * text, title), text)
    likeness[_same(a, b, open_a[rows], open_b[columns])] = 1.0
    kept = likeness >= LEAST
    return Candidates(rows[kept], columns[kept], likeness[kept])


def _words_and_pairs(version: Version) -> tuple[Ints, Ints]:
    """The section of each word and of each two words in a row below a heading, and a number for it."""
    bodies = [version.body(section) for section in range(len(version.headings))]
    words = [version.units.ids[body.start : body.stop] for body in bodies]
    pairs = [(ids[:-1] + 1) * (1 << 31) + ids[1:] for ids in words]
    homes = [np.repeat(np.arange(len(parts)), [len(part) for part in parts]) for parts in (words, pairs)]
    return np.concatenate(homes), np.concatenate([*words, *pairs])


def _title_words(a: Version, b: Version) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """The section of each word of a heading, and its number."""
    numbers: dict[str, int] = {}
    found = []
    for version in (a, b):
        words = [(n, word) for n, title in enumerate(version.titles) for word in WORD.findall(title.casefold())]
        ids = [numbers.setdefault(word, len(numbers)) for _, word in words]
        found.append((np.array([n for n, _ in words], np.int64), np.array(ids, np.int64)))
    return found[0], found[1]


def _features(a: tuple[Ints, Ints], b: tuple[Ints, Ints], a_sections: int, b_sections: int) -> tuple[Any, Any]:
    """What each section holds, as often as it does, by its weight: (sections, features), sparse."""
    from scipy.sparse import csr_array

    names, places = np.unique(np.concatenate([a[1], b[1]]), return_inverse=True)
    counted = []
    for home, columns, sections in ((a[0], places[: len(a[0])], a_sections), (b[0], places[len(a[0]) :], b_sections)):
        matrix = csr_array((np.ones(len(home)), (home, columns)), shape=(sections, len(names)))
        matrix.sum_duplicates()
        counted.append(matrix)
    holders = np.maximum(*(np.bincount(matrix.indices, minlength=len(names)) for matrix in counted))
    weights = np.log((max(a_sections, b_sections) + 1) / np.maximum(holders, 1))
    for matrix in counted:
        matrix.data *= weights[matrix.indices]
    return counted[0], counted[1]


def _sizes(matrix: Any) -> Scores:
    return np.asarray(matrix.sum(axis=1)).ravel()


def _likest(a: Any, b: Any) -> Ints:
    """The best pairs by the rarest features they share, as many as there is room for: as row * width + column."""
    work = np.bincount(a.indices, minlength=a.shape[1]) * np.bincount(b.indices, minlength=b.shape[1])
    order = np.argsort(work, kind="stable")
    rare = order[(work[order] > 0) & (np.cumsum(work[order]) <= ROOM)]
    shared = (a[:, rare].sqrt() @ b[:, rare].sqrt().T).tocoo()
    rows, columns = shared.coords
    value = shared.data / (_sizes(a)[rows] + _sizes(b)[columns])
    best = np.zeros(len(rows), dtype=bool)
    for side in (rows, columns):
        ranked = np.lexsort((-value, side))
        best[ranked[occurrence_ranks(side[ranked]) < NEAREST]] = True
    codes: Ints = rows[best].astype(np.int64) * b.shape[0] + columns[best]
    return codes


def _nearby(open_b: Ints, expected: Scores) -> Ints:
    """Each row with the sections around its expected place."""
    nearest = np.searchsorted(open_b, expected)
    columns = np.clip(nearest[:, None] + np.array([-1, 0, 1]), 0, len(open_b) - 1)
    codes: Ints = np.arange(len(expected))[:, None] * len(open_b) + columns
    return codes.ravel()


def _dice(a: Any, b: Any, rows: Ints, columns: Ints) -> Scores:
    """Twice what two sections share over what they hold."""
    blocks = [slice(start, start + BLOCK) for start in range(0, len(rows), BLOCK)]
    parts = [_sizes(a[rows[block]].minimum(b[columns[block]])) for block in blocks]
    shared = np.concatenate([np.zeros(0), *parts])
    return 2 * shared / np.maximum(_sizes(a)[rows] + _sizes(b)[columns], 1e-9)


def _holders(a: Version, b: Version, i: Ints, j: Ints) -> Ints:
    """How many sections of one version have the heading of either section of a pair."""
    held: list[Ints] = []
    for version, sections in ((a, i), (b, j)):
        titles = [title.casefold() for title in version.titles]
        counts = Counter(titles)
        held.append(np.array([counts[title] for title in titles])[sections])
    return np.maximum(*held)


def _same(a: Version, b: Version, i: Ints, j: Ints) -> Flags:
    """Whether heading and words of each pair are the same, numbers aside."""
    numbers: dict[tuple[str, bytes], int] = {}
    own, other = (
        np.array([numbers.setdefault(key, len(numbers)) for key in map(version.key, range(len(version.headings)))])
        for version in (a, b)
    )
    same: Flags = own[i] == other[j]
    return same
