"""Which section of the later version each section of the first one became, by heading and text together.

Sections that are the same in both, in the same order, are matched at once. The others are assigned to each other so
that their likenesses are largest together; among sections equally alike, those between the same neighbours win.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from longmatch.reuse.align import align
from longmatch.reuse.section_likeness import Candidates, Scores, candidates
from longmatch.reuse.shingles import Ints
from longmatch.reuse.version import Version

NEIGHBOUR, ORDER = 0.1, 0.02  # what each neighbour that is matched alike, and the place, add to a likeness


class SectionPair(NamedTuple):
    """A section of the first version, what it became, and how alike the two are."""

    i: int
    j: int
    likeness: float


def match_sections(a: Version, b: Version) -> list[SectionPair]:
    """The sections that stand in both versions, in the order of the first; no section is in two pairs."""
    if len(a.worded) == len(b.worded) == 1:
        return [SectionPair(a.worded[0], b.worded[0], 1.0)]  # nothing divides either text
    settled = dict(_unchanged(a, b))
    taken = set(settled.values())
    open_a, open_b = [i for i in a.worded if i not in settled], [j for j in b.worded if j not in taken]
    pairs = [SectionPair(i, j, 1.0) for i, j in settled.items()]
    if open_a and open_b:
        pairs += _assigned(a, b, np.array(open_a), np.array(open_b), settled)
    return sorted(pairs)


def _unchanged(a: Version, b: Version) -> Iterator[tuple[int, int]]:
    """Sections in the same order whose heading and words are the same; first with their numbers, then without."""
    own, other = ([version.key(section) for section in version.worded] for version in (a, b))
    own_numbered = [(a.headings[section], key) for section, key in zip(a.worded, own, strict=True)]
    other_numbered = [(b.headings[section], key) for section, key in zip(b.worded, other, strict=True)]
    numbered = dict(_in_order(own_numbered, other_numbered))
    places = {j: i for i, j in numbered.items()}
    own_keys = [i if i in numbered else key for i, key in enumerate(own)]
    other_keys = [places.get(j, key) for j, key in enumerate(other)]
    yield from ((a.worded[i], b.worded[j]) for i, j in _in_order(own_keys, other_keys))


def _in_order(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """The places of equal keys, in step."""
    numbers: dict[Hashable, int] = {}
    own, other = (np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64) for keys in (a, b))
    for i, j, length in align(own, other):
        yield from zip(range(i, i + length), range(j, j + length), strict=True)


def _assigned(a: Version, b: Version, open_a: Ints, open_b: Ints, settled: Mapping[int, int]) -> list[SectionPair]:
    """Pairs of the sections that are left; the second time round the neighbours' partners are known too."""
    ends = [(-1, -1), *sorted(settled.items()), (len(a.headings), len(b.headings))]
    expected = np.interp(open_a, [own for own, _ in ends], [other for _, other in ends])
    found = candidates(a, b, open_a, open_b, expected)
    i, j = open_a[found.rows], open_b[found.columns]
    placed = found.likeness + ORDER * (1 - np.abs(j - expected[found.rows]) / len(b.headings))
    partners = np.full(len(a.headings) + 2, -9)  # by section + 1
    for own, other in ends:
        partners[own + 1] = other
    for _ in range(2):
        neighbours = (partners[i] + 1 == j).astype(float) + (partners[i + 2] - 1 == j)
        chosen = _heaviest(found, (placed + NEIGHBOUR * neighbours) ** 2, len(open_a), len(open_b))
        partners[open_a + 1] = -9
        partners[i[chosen] + 1] = j[chosen]
    columns = (i[chosen].tolist(), j[chosen].tolist(), found.likeness[chosen].tolist())
    return [SectionPair(*pair) for pair in zip(*columns, strict=True)]


def _heaviest(found: Candidates, weights: Scores, height: int, width: int) -> Ints:
    """The pairs, each row and column in one at most, that weigh most together."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    every = np.arange(height)  # each row may also stay alone, for next to nothing
    entries = np.concatenate([weights, np.full(height, 1e-6)])
    places = np.concatenate([found.rows, every]), np.concatenate([found.columns, width + every])
    rows, columns = min_weight_full_bipartite_matching(
        csr_array((entries, places), shape=(height, width + height)), maximize=True
    )
    paired = columns < width
    codes: Ints = rows[paired] * width + columns[paired]
    return np.searchsorted(found.rows * width + found.columns, codes).astype(np.int64)
