"""Every side of the default score, defined once: names, labels, and what its flags promise."""

import numpy as np
import pytest

from longmatch.default.collection import Collection
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import Rarity
from longmatch.default.sides import BY_NAME, NAMES, SIDES, Side, labels
from longmatch.default.statistics import shipped_statistics
from longmatch.render.wording import shares

SHIPPED = shipped_statistics()


@pytest.fixture(scope="module")
def four(encodings: dict[str, Encoding]) -> list[Encoding]:
    return list(encodings.values())[:4]


def value(side: Side, a: Encoding, b: Encoding, rarity: Rarity) -> float:
    return float(Collection([b], rarity).similarities(a, [side.name])[side.name][0])


def test_calibration_and_probability_know_no_other_sides() -> None:
    assert set(SHIPPED.calibration.scales) == set(NAMES)
    assert set(SHIPPED.probability.sides) <= set(NAMES)
    for levels in (SHIPPED.prior.known, SHIPPED.prior.general, SHIPPED.prior.unknown):
        assert set(levels) == {*SHIPPED.probability.sides, "title", "query_title"}


def test_floors_of_the_shipped_scales_are_those_of_the_sides() -> None:
    scales = SHIPPED.calibration.scales
    assert {name: scale.floor for name, scale in scales.items()} == {name: BY_NAME[name].floor for name in scales}


def test_no_side_is_shown_to_people_by_its_internal_name() -> None:
    shown = [label for label, _ in shares(dict.fromkeys(NAMES, 1.0), labels())]
    assert len(set(shown)) == len(SIDES)
    assert not [label for label in shown if "_" in label or label in {"named", "told", "titled"}]


@pytest.mark.parametrize("side", SIDES, ids=NAMES)
def test_only_a_directed_side_depends_on_which_document_is_the_query(
    side: Side, matcher: HybridMatcher, four: list[Encoding]
) -> None:
    rarity = Collection.of(four, matcher.statistics).rarity
    a, b = four[:2]
    there, back = (value(side, *pair, rarity) for pair in ((a, b), (b, a)))
    if not side.directed:
        assert there == pytest.approx(back, abs=1e-6)


@pytest.mark.parametrize("side", SIDES, ids=NAMES)
def test_a_copy_has_all_of_a_side_that_promises_it(side: Side, matcher: HybridMatcher, four: list[Encoding]) -> None:
    rarity = Collection.of(four, matcher.statistics).rarity
    found = value(side, four[0], four[0], rarity)
    assert found == pytest.approx(1, abs=1e-3) if side.full_for_copies else found <= 1


def test_a_pair_and_a_collection_give_the_same_similarities(matcher: HybridMatcher, four: list[Encoding]) -> None:
    query, *others = four
    collection = Collection.of(others, matcher.statistics)
    together = collection.similarities(query, list(BY_NAME))
    for place, other in enumerate(others):
        alone = Collection([other], collection.rarity).similarities(query, list(BY_NAME))
        assert {name: values[0] for name, values in alone.items()} == pytest.approx(
            {name: values[place] for name, values in together.items()}, abs=1e-6
        )
    assert all(np.isfinite(values).all() for values in together.values())
