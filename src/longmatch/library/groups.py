"""Groups of documents that belong together: most of a group's members are paired with each other.

Chains are no groups: that a is like b and b like c says nothing about a and c. In a folder on one subject, every
document is linked with every other through some others.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

LINKED = 2 / 3  # least share of the possible pairs between two groups that makes them one


def grouped(pairs: Iterable[tuple[str, str]], linked: float = LINKED) -> tuple[tuple[str, ...], ...]:
    """The groups that pairs form, given strongest first; the largest groups first, each of at least two.

    >>> grouped([("a", "b"), ("b", "c"), ("c", "d")])
    (('a', 'b'), ('c', 'd'))
    >>> grouped([("a", "b"), ("b", "c"), ("a", "c")])
    (('a', 'b', 'c'),)
    """
    ordered = list(dict.fromkeys(pairs))
    groups = _Groups(ordered)
    merged = True
    while merged:  # two groups may be close enough only after one of them has grown
        merged = sum(groups.merge(a, b, linked) for a, b in ordered) > 0
    found = (tuple(sorted(members)) for members in groups.members.values() if len(members) > 1)
    return tuple(sorted(found, key=lambda group: (-len(group), group)))


class _Groups:
    """The members of each group, and the number of pairs between any two groups that have some."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.links: dict[str, Counter[str]] = defaultdict(Counter)  # groups are named by a member
        for a, b in pairs:
            self.links[a][b] += 1
            self.links[b][a] += 1
        self.members = {id: [id] for id in self.links}
        self.home = {id: id for id in self.links}

    def merge(self, a: str, b: str, linked: float) -> bool:
        """Make the groups of two documents one if enough pairs link them; returns whether it did."""
        large, small = sorted((self.home[a], self.home[b]), key=lambda name: -len(self.members[name]))
        possible = len(self.members[large]) * len(self.members[small])
        if large == small or self.links[large][small] < linked * possible:
            return False
        for id in self.members[small]:
            self.home[id] = large
        self.members[large] += self.members.pop(small)
        for other, count in self.links.pop(small).items():
            del self.links[other][small]
            if other != large:
                self.links[large][other] += count
                self.links[other][large] += count
        return True
