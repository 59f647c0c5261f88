"""Groups of documents, most of which are paired with each other."""

import random
from itertools import combinations, pairwise

from longmatch.library.groups import grouped


def test_a_chain_is_no_group():
    names = [f"d{n:02}" for n in range(36)]
    groups = grouped(pairwise(names))
    assert max(map(len, groups)) == 2


def test_a_clique_is_one_and_a_stray_pair_does_not_join_two():
    one, two = [f"a{n}" for n in range(6)], [f"b{n}" for n in range(4)]
    pairs = [*combinations(one, 2), *combinations(two, 2), ("a0", "b0")]
    random.Random(0).shuffle(pairs)
    assert grouped(sorted(pairs, key=lambda pair: pair == ("a0", "b0"))) == (tuple(one), tuple(two))


def test_a_member_that_lacks_few_pairs_still_belongs():
    names = [f"a{n}" for n in range(8)]
    pairs = [pair for pair in combinations(names, 2) if pair not in {("a0", "a7"), ("a1", "a6")}]
    assert grouped(pairs) == (tuple(names),)


def test_members_of_every_group_are_mostly_paired():
    chance = random.Random(3)
    names = [f"n{n:02}" for n in range(30)]
    pairs = [pair for pair in combinations(names, 2) if chance.random() < 0.4]
    for group in grouped(pairs):
        possible = len(group) * (len(group) - 1) / 2
        assert sum(pair in set(pairs) for pair in combinations(group, 2)) >= possible / 2
