"""Sections that became each other: mostly one of each version, more where a section was split or some were merged."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from longmatch.reuse.section_matching import match_sections
from longmatch.reuse.shingles import Ints
from longmatch.reuse.version import Version


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
    """Each matched section by itself."""
    return [Group((i,), (j,), (i, i), (j, j), likeness) for i, j, likeness in match_sections(a, b)]


def joined_groups(a: Version, b: Version, groups: Sequence[Group], a_partner: Ints) -> list[Group]:
    """The groups with what was split off or merged: sections left over most of whose words stand in one of the other.

    `a_partner` is where each word of the first version is in the second, or -1.
    """
    if min(len(a.worded), len(b.worded)) < 2:
        return list(groups)  # one version is not divided: its text is no section that others came from
    mains = [(group.a[0], group.b[0], group.likeness) for group in groups]
    owner_a = {i: n for n, (i, _, _) in enumerate(mains)}
    owner_b = {j: n for n, (_, j, _) in enumerate(mains)}
    for words, i, j in _flows(a, b, a_partner):
        gave, took = 2 * words >= len(a.words(i)), 2 * words >= len(b.words(j))
        if i not in owner_a and j not in owner_b and (gave or took):
            owner_a[i] = owner_b[j] = len(mains)
            mains.append((i, j, words / min(len(a.words(i)), len(b.words(j)))))
        elif gave and i not in owner_a:
            owner_a[i] = owner_b[j]
        elif took and j not in owner_b:
            owner_b[j] = owner_a[i]
    if len(owner_a) == len(owner_b) == len(groups):
        return list(groups)
    a_parts, b_parts, a_runs, b_runs = _parts(owner_a), _parts(owner_b), _runs(owner_a), _runs(owner_b)
    joined = [Group(a_parts[n], b_parts[n], a_runs[i], b_runs[j], likeness) for n, (i, j, likeness) in enumerate(mains)]
    return sorted(joined, key=lambda group: group.a_run)


def _flows(a: Version, b: Version, a_partner: Ints) -> list[tuple[int, int, int]]:
    """How many words of a section of the first version are in one of the second; most first."""
    paired = np.flatnonzero(a_partner >= 0)
    codes = a.home[paired] * len(b.headings) + b.home[a_partner[paired]]
    found, counts = np.unique(codes, return_counts=True)
    flows = zip(counts.tolist(), *(side.tolist() for side in np.divmod(found, len(b.headings))), strict=True)
    return sorted(flows, key=lambda flow: (-flow[0], flow[1:]))


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
