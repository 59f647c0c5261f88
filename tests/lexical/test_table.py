"""Terms found by their slots: the same as by a plain dictionary, however their hashes fall."""

import numpy as np
import pytest

from longmatch.lexical.table import TermTable


def by_dictionary(ids, terms):
    positions = {id: position for position, id in enumerate(ids.tolist())}
    return [(place, positions[term]) for place, term in enumerate(terms.tolist()) if term in positions]


@pytest.mark.parametrize(("count", "shift"), [(0, 0), (1, 0), (300, 0), (40_000, 0), (300, 40)])
def test_all_terms_of_the_table_are_found_and_no_others(count: int, shift: int) -> None:
    """Shifted hashes end in zeros, so that all want the same slot."""
    random = np.random.default_rng(count)
    numbers = random.choice(1 << 20, 2 * count + 10, replace=False).astype(np.uint64) << np.uint64(shift)
    ids, terms = np.unique(numbers[:count]), random.choice(numbers, 5_000)
    where, position = TermTable.of(ids).find(terms)
    assert sorted(zip(where.tolist(), position.tolist(), strict=True)) == by_dictionary(ids, terms)


def test_no_terms_are_found_among_none() -> None:
    where, position = TermTable.of(np.array([3, 8], np.uint64)).find(np.empty(0, np.uint64))
    assert len(where) == len(position) == 0
