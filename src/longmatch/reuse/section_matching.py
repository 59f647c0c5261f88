"""Which section of the later version each section of the first one became, by heading and text together.

Sections that are the same in both, in the same order, are matched at once. The others are assigned to each other so
that their likenesses are largest together; among sections equally alike, those between the same neighbours win.

How alike the sections of two versions are, for those that share rare words, headings or their place.

Texts are compared by their words and pairs of words, headings by their words without the number: both by Dice's
coefficient, each word weighted by how few sections have it. A heading that many sections have says little.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.reuse.align import equal_places
from longmatch.reuse.version import Version
from longmatch.reuse.words import WORD, Ints, numbered, occurrence_ranks

Scores = npt.NDArray[np.float64]

LEAST = 0.2  # of two sections that may be one
HEADING = 0.25  # the heading's part in a likeness
NEAREST = 16  # candidates of a section by what rare words they share
ROOM = 1 << 22  # pairs of sections with a word in common that are looked at
BLOCK = 1 << 10  # pairs of sections whose words are laid side by side at once
NEIGHBOUR, ORDER = 0.1, 0.02  # what each neighbour that is matched alike, and the place, add to a likeness


@dataclass(frozen=True)
class Group:
    """The sections `a` of the first version became the sections `b` of the second.

    The words of `a_run` and `b_run` (first and last section) are aligned with each other: runs that no section of
    another group interrupts, around the pair that is most alike.
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    a_run: tuple[int, int]
    b_run: tuple[int, int]
    likeness: float


def matched_groups(a: Version, b: Version) -> list[Group]:
    """The sections that stand in both versions, each by itself, in the order of the first."""
    if len(a.worded) == len(b.worded) == 1:
        pairs = [(a.worded[0], b.worded[0], 1.0)]  # nothing divides either text
    else:
        # sections in the same order whose heading and words are the same; first with their numbers, then without
        own, other = ([version.key(section) for section in version.worded] for version in (a, b))
        own_numbered = [(a.headings[section], key) for section, key in zip(a.worded, own, strict=True)]
        other_numbered = [(b.headings[section], key) for section, key in zip(b.worded, other, strict=True)]
        same = dict(equal_places(own_numbered, other_numbered))
        places = {j: i for i, j in same.items()}
        own_keys: list[Hashable] = [i if i in same else key for i, key in enumerate(own)]
        other_keys: list[Hashable] = [places.get(j, key) for j, key in enumerate(other)]
        settled = {a.worded[i]: b.worded[j] for i, j in equal_places(own_keys, other_keys)}
        taken = set(settled.values())
        open_a = np.array([i for i in a.worded if i not in settled])
        open_b = np.array([j for j in b.worded if j not in taken])
        pairs = [(i, j, 1.0) for i, j in settled.items()]
        if len(open_a) and len(open_b):
            pairs += _assigned(a, b, open_a, open_b, settled)
    return [Group((i,), (j,), (i, i), (j, j), likeness) for i, j, likeness in sorted(pairs)]


def _assigned(
    a: Version, b: Version, open_a: Ints, open_b: Ints, settled: Mapping[int, int]
) -> list[tuple[int, int, float]]:
    """Pairs of the sections that are left; the second time round the neighbours' partners are known too."""
    ends = [(-1, -1), *sorted(settled.items()), (len(a.headings), len(b.headings))]
    expected = np.interp(open_a, [own for own, _ in ends], [other for _, other in ends])
    rows, columns, likeness = _candidates(a, b, open_a, open_b, expected)
    i, j = open_a[rows], open_b[columns]
    placed = likeness + ORDER * (1 - np.abs(j - expected[rows]) / len(b.headings))
    partners = np.full(len(a.headings) + 2, -9)  # by section + 1
    for own, other in ends:
        partners[own + 1] = other
    for _ in range(2):
        neighbours = (partners[i] + 1 == j).astype(float) + (partners[i + 2] - 1 == j)
        chosen = _heaviest(rows, columns, (placed + NEIGHBOUR * neighbours) ** 2, len(open_a), len(open_b))
        partners[open_a + 1] = -9
        partners[i[chosen] + 1] = j[chosen]
    return list(zip(i[chosen].tolist(), j[chosen].tolist(), likeness[chosen].tolist(), strict=True))


def _heaviest(rows: Ints, columns: Ints, weights: Scores, height: int, width: int) -> Ints:
    """The pairs, each row and column in one at most, that weigh most together."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    every = np.arange(height)  # each row may also stay alone, for next to nothing
    entries = np.concatenate([weights, np.full(height, 1e-6)])
    places = np.concatenate([rows, every]), np.concatenate([columns, width + every])
    matched_rows, matched_columns = min_weight_full_bipartite_matching(
        csr_array((entries, places), shape=(height, width + height)), maximize=True
    )
    paired = matched_columns < width
    codes: Ints = matched_rows[paired] * width + matched_columns[paired]
    return np.searchsorted(rows * width + columns, codes).astype(np.int64)


def _candidates(a: Version, b: Version, open_a: Ints, open_b: Ints, expected: Scores) -> tuple[Ints, Ints, Scores]:
    """Pairs of some sections of both that may be one, sorted by row, then column, and how alike they are.

    `expected` is where each of a would stand in b.
    """
    texts = _features(_words_and_pairs(a), _words_and_pairs(b), len(a.headings), len(b.headings))
    title_words = _title_words(a, b)
    titles = _features(title_words[0], title_words[1], len(a.headings), len(b.headings))
    text_a, text_b, title_a, title_b = texts[0][open_a], texts[1][open_b], titles[0][open_a], titles[1][open_b]
    around = np.searchsorted(open_b, expected)[:, None] + np.array([-1, 0, 1])  # the sections at the expected place
    nearby = np.arange(len(open_a))[:, None] * len(open_b) + np.clip(around, 0, len(open_b) - 1)
    codes = [_likest(text_a, text_b), _likest(title_a, title_b), nearby.ravel()]
    rows, columns = np.divmod(np.unique(np.concatenate(codes)), len(open_b))
    i, j = open_a[rows], open_b[columns]
    holders = []  # of each heading, in its version
    for version in (a, b):
        counts = Counter(map(str.casefold, version.titles))
        holders.append(np.array([counts[title.casefold()] for title in version.titles]))
    text = _dice(text_a, text_b, rows, columns)
    title = _dice(title_a, title_b, rows, columns) / np.maximum(holders[0][i], holders[1][j])
    worded = (_sizes(text_a) > 0)[rows] | (_sizes(text_b) > 0)[columns]
    titled = (_sizes(title_a) > 0)[rows] & (_sizes(title_b) > 0)[columns]
    likeness = np.where(titled, np.where(worded, HEADING * title + (1 - HEADING) * text, title), text)
    own_keys, other_keys = numbered(*(map(version.key, range(len(version.headings))) for version in (a, b)))
    likeness[own_keys[i] == other_keys[j]] = 1.0  # the same but for their numbers
    kept = likeness >= LEAST
    return rows[kept], columns[kept], likeness[kept]


def _words_and_pairs(version: Version) -> tuple[Ints, Ints]:
    """The section of each word and of each two words in a row below a heading, and a number for it."""
    words = [version.body(section) for section in range(len(version.headings))]
    pairs = [(ids[:-1] + 1) * (1 << 31) + ids[1:] for ids in words]
    homes = [np.repeat(np.arange(len(parts)), [len(part) for part in parts]) for parts in (words, pairs)]
    return np.concatenate(homes), np.concatenate([*words, *pairs])


def _title_words(a: Version, b: Version) -> list[tuple[Ints, Ints]]:
    """The section of each word of a heading, and its number, of both."""
    words = [
        [(n, word) for n, title in enumerate(version.titles) for word in WORD.findall(title.casefold())]
        for version in (a, b)
    ]
    numbers = numbered(*([word for _, word in side] for side in words))
    return [(np.array([n for n, _ in side], np.int64), ids) for side, ids in zip(words, numbers, strict=True)]


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


def _dice(a: Any, b: Any, rows: Ints, columns: Ints) -> Scores:
    """Twice what two sections share over what they hold."""
    blocks = [slice(start, start + BLOCK) for start in range(0, len(rows), BLOCK)]
    parts = [_sizes(a[rows[block]].minimum(b[columns[block]])) for block in blocks]
    shared = np.concatenate([np.zeros(0), *parts])
    return 2 * shared / np.maximum(_sizes(a)[rows] + _sizes(b)[columns], 1e-9)


def joined_groups(a: Version, b: Version, groups: Sequence[Group], a_partner: Ints) -> list[Group]:
    """The groups with what was split off or merged: sections left over most of whose words stand in one of the other.

    `a_partner` is where each word of the first version is in the second, or -1.
    """
    if min(len(a.worded), len(b.worded)) < 2:
        return list(groups)  # one version is not divided: its text is no section that others came from
    mains = [(group.a[0], group.b[0], group.likeness) for group in groups]
    owner_a = {i: n for n, (i, _, _) in enumerate(mains)}
    owner_b = {j: n for n, (_, j, _) in enumerate(mains)}
    paired = np.flatnonzero(a_partner >= 0)
    flows = Counter(zip(a.home[paired].tolist(), b.home[a_partner[paired]].tolist(), strict=True))
    for (i, j), words in sorted(flows.items(), key=lambda flow: (-flow[1], flow[0])):  # most words first
        own, other = len(a.run(i)), len(b.run(j))
        gave, took = 2 * words >= own, 2 * words >= other
        if i not in owner_a and j not in owner_b and (gave or took):
            owner_a[i] = owner_b[j] = len(mains)
            mains.append((i, j, words / min(own, other)))
        elif gave and i not in owner_a:
            owner_a[i] = owner_b[j]
        elif took and j not in owner_b:
            owner_b[j] = owner_a[i]
    if len(owner_a) == len(owner_b) == len(groups):
        return list(groups)
    a_parts, b_parts, a_runs, b_runs = _parts(owner_a), _parts(owner_b), _runs(owner_a), _runs(owner_b)
    joined = [Group(a_parts[n], b_parts[n], a_runs[i], b_runs[j], likeness) for n, (i, j, likeness) in enumerate(mains)]
    return sorted(joined, key=lambda group: group.a_run)


def _parts(owner: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """The sections of each owner."""
    parts: dict[int, list[int]] = defaultdict(list)
    for section in sorted(owner):
        parts[owner[section]].append(section)
    return {number: tuple(sections) for number, sections in parts.items()}


def _runs(owner: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """For each section the first and last of its owner's sections around it, up to those of others."""
    runs: dict[int, tuple[int, int]] = {}
    for _, together in groupby(sorted(owner), key=owner.__getitem__):
        sections = list(together)
        runs.update(dict.fromkeys(sections, (sections[0], sections[-1])))
    return runs
