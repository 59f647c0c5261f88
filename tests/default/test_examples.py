"""The default matcher on the example collection: what belongs together, by the answer key."""

import json
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from longmatch.default.explanation import Explanation
from longmatch.default.rarity import Rarity
from longmatch.documents.read import read
from longmatch.lexical.matcher import tfidf_matcher
from longmatch.matching.matcher import Encoder
from tests.conftest import EXAMPLES


def places(matcher: Encoder, encodings: dict, key: dict) -> float:
    """The share of the first places of each ranking (as many as the query's group has others) that its group holds."""
    collection = matcher.collect(list(encodings.values()))
    right = total = 0
    for query, encoding in encodings.items():
        scores = zip(-matcher.score(encoding, collection), encodings, strict=True)
        ranking = [name for _, name in sorted(scores) if name != query]
        group = {name for name in ranking if key[name]["group"] == key[query]["group"]}
        right += sum(name in group for name in ranking[: len(group)])
        total += len(group)
    return right / total


@pytest.fixture(scope="module")
def pairs(matcher, encodings, answer_key) -> dict[str, np.ndarray]:
    """The scores of all lone pairs, by how the answer key sees them."""
    scores: dict[str, list[float]] = {"related": [], "near miss": [], "unrelated": []}
    for a, b in combinations(encodings, 2):
        same = answer_key[a]["group"] == answer_key[b]["group"]
        near = b in answer_key[a]["near_misses"] or a in answer_key[b]["near_misses"]
        both = encodings[a], encodings[b]
        score = Explanation.of(*both, Rarity.of(both, matcher.statistics)).score
        scores["related" if same else "near miss" if near else "unrelated"].append(score)
    return {kind: np.array(found) for kind, found in scores.items()}


def test_groups_hold_nine_of_ten_first_places_and_more_than_by_tfidf(matcher, examples, encodings, answer_key):
    words = tfidf_matcher()
    by_words = places(words, dict(zip(examples, words.encode(list(examples.values())), strict=True)), answer_key)
    assert places(matcher, encodings, answer_key) >= max(0.9, by_words + 0.05)


def test_half_of_the_unrelated_pairs_score_under_a_fifteenth_and_nine_of_ten_under_a_quarter(pairs):
    assert np.median(pairs["unrelated"]) < 1 / 15
    assert (pairs["unrelated"] < 0.25).mean() > 0.9 and pairs["unrelated"].max() < 0.45


def test_seven_of_eight_related_pairs_score_above_a_tenth_and_nearly_all_above_the_unrelated(pairs):
    assert (pairs["related"] > 0.1).mean() > 0.875 and np.median(pairs["related"]) > 0.25
    assert (pairs["related"][:, None] > pairs["unrelated"]).mean() > 0.98


def test_near_misses_score_below_the_related(pairs):
    assert np.median(pairs["near miss"]) < 0.09 < np.median(pairs["related"]) / 3
    assert (pairs["related"][:, None] > pairs["near miss"]).mean() > 0.95


def test_the_score_of_a_rank_is_that_of_the_explanation_within_the_collection(matcher, encodings):
    query, *others = encodings.values()
    collection = matcher.collect(others)
    explained = [matcher.explain(query, other, collection).score for other in others]
    assert matcher.score(query, collection).tolist() == pytest.approx(explained, abs=1e-6)


def test_the_german_key_names_exactly_the_files_of_its_folder_three_per_subject():
    folder = EXAMPLES / "german"
    key = json.loads((folder / "answer-key.json").read_text(encoding="utf-8"))
    documents = sorted(path.name for path in folder.iterdir() if path.name != "answer-key.json")
    assert [row["file"] for row in key] == documents
    assert list(Counter(row["group"] for row in key).values()) == [3] * 4
    assert all(500 <= len(read(folder / name).text.split()) <= 800 for name in documents)
