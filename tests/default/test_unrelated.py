"""What unrelated documents have in common, by their collection and by kinds of text in general."""

import json
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.default.calibration import Curve, Probability
from longmatch.default.collection import LEAST_DOCUMENTS, Collection, sampled_unrelated
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import KnownVectors
from longmatch.default.rarity import Rarity, known_of
from longmatch.default.sides import BY_NAME
from longmatch.default.statistics import shipped_statistics
from longmatch.default.unrelated import (
    BOTH_WAYS,
    FOREIGN,
    LEAST_SPREAD,
    MOST,
    MOST_DOUBT,
    PRIOR_DOCUMENTS,
    SAMPLED,
    SAMPLED_SIDES,
    USUAL_WORDS,
    Kinds,
    Known,
    Level,
    Prior,
    Sample,
    Style,
    Unrelated,
    on_scale,
    root_frequencies,
    usual_length,
)
from longmatch.documents import read_text_string
from longmatch.lab.default.background import fit_style
from longmatch.lexical.terms import Counts, terms_of
from longmatch.matching.levels import SentenceVectors
from tests.library.tiny import foreign_text, made_up_text, tiny_matcher

USUAL = np.array([USUAL_WORDS])
FLOOR = BY_NAME["words"].floor
PRIOR = Prior(
    known={"words": Level(-3.0, 0.4), "meaning": Level(0.05, 0.03)},
    general={"words": Level(-3.5, 0.3), "meaning": Level(0.01, 0.02)},
    unknown={"words": Level(-2.0, 0.8), "meaning": Level(0.08, 0.05)},
    slopes={"words": (0.5, -0.25)},
)
WORDS = np.arange(100, 120, dtype=np.uint64)
REST = np.array([7], dtype=np.uint64)  # stands for all other words


def sampled(mean: float, spread: float, documents: int = 40, pairs: int = 4_000) -> Sample:
    """Random pairs whose words share so much, and which are of usual length."""
    drawn = np.random.default_rng(0).normal(mean, spread, pairs)
    lengths = np.full(pairs, USUAL_WORDS)
    return Sample({"words": np.exp(drawn) - FLOOR}, lengths, lengths, documents)


def test_a_level_is_the_mean_and_the_spread_of_random_pairs() -> None:
    found = Level.of(np.random.default_rng(1).normal(-3.0, 0.5, 40_000), least=0.01)
    assert (found.mean, found.spread) == pytest.approx((-3.0, 0.5), abs=0.02)


@pytest.mark.parametrize("related", [0.02, 0.05])
def test_a_few_related_pairs_hardly_move_a_level(related: float) -> None:
    rng = np.random.default_rng(2)
    random = rng.normal(-3.0, 0.5, 4_000)
    few = rng.normal(0.0, 0.5, int(related * len(random)))
    found = Level.of(np.append(random, few), least=0.01)
    assert found.mean == pytest.approx(-3.0, abs=0.08)
    assert found.spread == pytest.approx(0.5, rel=0.2)
    assert np.std(np.append(random, few)) > 0.5 * 1.2  # which a plain standard deviation would not have borne


def test_random_pairs_that_share_nothing_at_all_leave_a_spread() -> None:
    assert Level.of(np.full(50, -4.6), least=0.25) == Level(-4.6, 0.25)


def test_a_level_between_two_worked_by_hand() -> None:
    found = Level(-3.0, 0.3).blend(Level(-1.0, 0.5), share=0.25)
    assert (found.mean, found.spread) == pytest.approx((-2.5, math.sqrt(0.75 * 0.09 + 0.25 * 0.25)))
    assert Level(-3.0, 0.3).blend(Level(-1.0, 0.5), share=0.0) == Level(-3.0, 0.3)


def test_a_collection_and_what_is_known_of_its_kind_are_blended_as_worked_by_hand() -> None:
    assert (PRIOR_DOCUMENTS, MOST_DOUBT) == (6, 0.4)
    found = PRIOR.unrelated(Known(0.6, kind=0.6), sampled(-1.0, 0.3, documents=6))  # half its own pairs, half the prior
    words, doubtful = found.levels["words"], found.doubtful["words"]
    assert words.mean == pytest.approx(0.5 * (0.6 * -3.0 + 0.4 * -3.5) + 0.5 * -1.0, abs=0.01)
    assert words.spread == pytest.approx((0.5 * (0.6 * 0.16 + 0.4 * 0.09) + 0.5 * 0.09) ** 0.5, abs=0.01)
    assert doubtful.mean == pytest.approx(0.5 * -2.0 + 0.5 * -1.0, abs=0.01)
    assert doubtful.spread == pytest.approx((0.5 * 0.64 + 0.5 * 0.09) ** 0.5, abs=0.01)
    meaning = found.levels["meaning"]  # which nobody sampled
    assert (meaning.mean, meaning.spread) == pytest.approx((0.034, (0.6 * 0.0009 + 0.4 * 0.0004) ** 0.5))
    assert found.doubt == pytest.approx(0.4 * 0.4 * 0.5)


def test_the_more_documents_the_more_their_own_pairs_count_and_the_less_doubt() -> None:
    found = [PRIOR.unrelated(Known(0.6, kind=0.6), sampled(-1.0, 0.2, documents)) for documents in (4, 12, 100, 10_000)]
    means, doubts = [each.levels["words"].mean for each in found], [each.doubt for each in found]
    assert means == sorted(means) and means[0] < -1.8 and means[-1] == pytest.approx(-1.0, abs=0.01)
    assert doubts == sorted(doubts, reverse=True) and doubts[-1] < 0.001


def test_without_random_pairs_the_prior_holds() -> None:
    for knowledge, levels in ((1.0, PRIOR.known), (0.0, PRIOR.general)):
        found = PRIOR.unrelated(Known(knowledge, kind=0.25))
        assert {side: vars(level) for side, level in found.levels.items()} == {
            side: pytest.approx(vars(level)) for side, level in levels.items()
        }
        assert found.doubt == 0.75 * MOST_DOUBT
        assert replace(found, doubt=0.0) == PRIOR.unrelated(Known(knowledge))


def test_in_a_language_without_vocabulary_common_words_pass_for_rare_ones_until_the_collection_tells() -> None:
    foreign = PRIOR.unrelated(Known(vocabulary=0.0))
    assert foreign.ignorance == 1.0 and foreign.levels["words"].mean == pytest.approx(FOREIGN["words"].mean)
    assert foreign.levels["meaning"] == PRIOR.unrelated(Known()).levels["meaning"]
    sample = sampled(-1.0, 0.2, 3 * PRIOR_DOCUMENTS)
    assert PRIOR.unrelated(Known(vocabulary=0.5), sample).ignorance == pytest.approx(0.5 / 4)
    assert PRIOR.unrelated(Known(vocabulary=1.0)).ignorance == 0.0


def test_surprise_is_0_at_what_is_expected_and_1_a_spread_above() -> None:
    unrelated = PRIOR.unrelated(Known())
    similarity = np.exp([-3.0, -2.6, -3.4]) - FLOOR
    words = np.full(3, USUAL_WORDS)
    assert unrelated.surprise({"words": similarity}, words, words)["words"] == pytest.approx([0.0, 1.0, -1.0])
    assert unrelated.chance("words") == pytest.approx(similarity[0])


def test_a_linear_side_is_measured_as_it_is_below_0_too() -> None:
    words = np.full(3, USUAL_WORDS)
    found = PRIOR.unrelated(Known()).surprise({"meaning": np.array([0.05, 0.11, -0.01])}, words, words)["meaning"]
    assert found == pytest.approx([0.0, 2.0, -2.0])
    assert PRIOR.unrelated(Known()).chance("meaning") == pytest.approx(0.05)


def test_what_is_far_above_all_that_random_pairs_share_surprises_little_more() -> None:
    spreads = np.array([MOST, MOST + 2, -2 * MOST])
    words = np.full(3, USUAL_WORDS)
    found = PRIOR.unrelated(Known()).surprise({"meaning": 0.05 + 0.03 * spreads}, words, words)["meaning"]
    assert found == pytest.approx([MOST, MOST + 1, -2 * MOST])


@given(st.floats(0, 0.98), st.floats(1, 1e5), st.floats(1, 1e5))
def test_surprise_rises_with_the_similarity(similarity: float, first: float, second: float) -> None:
    lengths = np.full(2, min(first, second)), np.full(2, max(first, second))
    both = {"words": np.array([similarity, similarity + 0.01])}
    low, high = PRIOR.unrelated(Known()).surprise(both, *lengths)["words"]
    assert low < high


def test_a_side_without_a_level_surprises_nobody() -> None:
    assert set(PRIOR.unrelated(Known()).surprise({"words": USUAL, "length": USUAL}, USUAL, USUAL)) == {"words"}


def test_lengths_move_what_is_expected_worked_by_hand() -> None:
    unrelated = PRIOR.unrelated(Known())
    found = unrelated.expected("words", np.array([USUAL_WORDS, USUAL_WORDS / 4]), np.array([USUAL_WORDS * 2] * 2))
    assert found == pytest.approx([-3.0 - 0.25 * math.log(2), -3.0 - 0.5 * math.log(4) - 0.25 * math.log(2)])
    assert unrelated.expected("meaning", USUAL / 9, USUAL * 9) == pytest.approx([0.05])


def test_lengths_are_taken_out_of_random_pairs() -> None:
    rng = np.random.default_rng(3)
    shorter, longer = np.exp(rng.uniform(7, 8, 5_000)), np.exp(rng.uniform(8, 9, 5_000))
    logs = PRIOR.unrelated(Known()).expected("words", shorter, longer) + rng.normal(0, 0.3, 5_000)
    found = Sample({"words": np.exp(logs) - FLOOR}, shorter, longer, 100).levels(PRIOR.slopes)["words"]
    assert (found.mean, found.spread) == pytest.approx((-3.0, 0.3), abs=0.02)


@pytest.mark.parametrize(("share", "left_out"), [(0.0, 0), (0.2, 80), (0.5, 200), (0.6, 0)])
def test_versions_of_one_text_are_no_random_pairs_unless_most_pairs_are(share: float, left_out: int) -> None:
    """Of 400 pairs, some share nine tenths of their phrases; one is in two languages, and says nothing of phrases."""
    phrases = np.where(np.arange(400) < share * 400, 0.9, 0.01)
    phrases[-1] = np.nan
    words = np.where(phrases > 0.5, 0.9, 0.05)
    lengths = np.full(400, USUAL_WORDS)
    sample = Sample({"words": words, "phrases": phrases}, lengths, lengths, 40)
    kept = sample.without_versions
    assert len(kept.shorter) == len(kept.similarities["words"]) == 400 - left_out
    if 0 < share <= 0.5:
        level = PRIOR.unrelated(Known(), sample).levels["words"]
        alone = Sample({"words": words[words < 0.5]}, lengths[words < 0.5], lengths[words < 0.5], 40)
        assert level == PRIOR.unrelated(Known(), alone).levels["words"]


def test_titles_have_one_level_both_ways() -> None:
    rng = np.random.default_rng(4)
    there, back, lengths = rng.random(40) ** 3, rng.random(40) ** 2, np.full(40, USUAL_WORDS)
    found, turned = (
        Sample(dict(zip(BOTH_WAYS, sides, strict=True)), lengths, lengths, 100).levels({})
        for sides in ((there, back), (back, there))
    )
    assert found["title"] == found["query_title"] == turned["title"]
    assert found["title"] == Level.of(on_scale("title", np.append(there, back)), LEAST_SPREAD["title"])


def test_what_is_known_of_a_collection_survives_json() -> None:
    unrelated = PRIOR.unrelated(Known(0.7, vocabulary=0.5), sampled(-2.0, 0.3))
    assert Unrelated.from_dict(json.loads(json.dumps(unrelated.to_dict()))) == unrelated


def test_the_prior_comes_back_from_disk(tmp_path: Path) -> None:
    PRIOR.write(tmp_path / "unrelated.json")
    assert Prior.read(tmp_path / "unrelated.json") == PRIOR


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_doubt_lowers_a_probability_and_never_raises_it(words: float, meaning: float, doubt: float) -> None:
    curve = Curve({"words": 1.0, "meaning": 0.5}, length=0.0, bias=-3.0)
    probability = Probability(curve, curve)
    sides = {"words": np.array([words]), "meaning": np.array([meaning])}
    unrelated = PRIOR.unrelated(Known())
    sure, doubted, wholly = (
        probability.of(sides, (USUAL, USUAL), replace(unrelated, doubt=share))[0] for share in (0.0, doubt, 1.0)
    )
    assert wholly - 1e-12 <= doubted <= sure + 1e-12
    assert doubted == pytest.approx((1 - doubt) * sure + doubt * wholly)


def test_what_ships_is_the_same_both_ways() -> None:
    shipped = shipped_statistics()
    for levels in (shipped.prior.known, shipped.prior.general, shipped.prior.unknown):
        assert levels["title"] == levels["query_title"]
    for curve in (shipped.probability.plain, shipped.probability.titled):
        assert curve.weights.get("title") == curve.weights.get("query_title")
    assert len({shipped.prior.slopes.get(side, (0.0, 0.0)) for side in BOTH_WAYS}) == 1


@pytest.fixture(scope="module")
def tiny(tiny_bert: Path) -> HybridMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def many(tiny: HybridMatcher) -> list[Encoding]:
    """As many documents as are sampled, of different lengths."""
    return tiny.encode([read_text_string(made_up_text(n, 6 + n % 9), f"d{n}") for n in range(SAMPLED)])


def test_the_sample_of_a_collection_is_all_its_pairs_compared_one_by_one(
    tiny: HybridMatcher, many: list[Encoding]
) -> None:
    collection = tiny.collect(many)
    sides = [side for side in tiny.statistics.probability.sides if side in SAMPLED_SIDES]
    pairs = list(combinations(many, 2))
    rows = [Collection([b], collection.rarity).similarities(a, sides) for a, b in pairs]
    values = {side: np.array([row[side][0] for row in rows]) for side in sides}
    words = np.array([sorted((a.words, b.words)) for a, b in pairs], dtype=float)
    sample = Sample(values, words[:, 0], words[:, 1], len(many))
    expected = tiny.statistics.prior.unrelated(known_of(many, tiny.statistics), sample)
    found = collection.rarity.unrelated
    assert found.doubt == pytest.approx(expected.doubt)
    for levels, wanted in ((found.levels, expected.levels), (found.doubtful, expected.doubtful)):
        assert {side: vars(level) for side, level in levels.items()} == {
            side: pytest.approx(vars(level), abs=1e-5) for side, level in wanted.items()
        }


def test_a_collection_larger_than_its_sample_counts_for_all_its_documents(
    tiny: HybridMatcher, many: list[Encoding]
) -> None:
    rarity = Rarity.of(many, tiny.statistics)
    small, large = (sampled_unrelated(many, rarity, n) for n in (None, 100_000))
    assert small == tiny.collect(many).rarity.unrelated
    assert large.doubt <= small.doubt
    kind_known = tiny.statistics.kinds.known([encoding.terms.words.counts for encoding in many])
    assert large.doubt == pytest.approx(MOST_DOUBT * (1 - kind_known) * PRIOR_DOCUMENTS / (100_000 + PRIOR_DOCUMENTS))


def test_too_few_documents_say_nothing_about_their_collection(tiny: HybridMatcher, many: list[Encoding]) -> None:
    few = many[: LEAST_DOCUMENTS - 1]
    words = usual_length(np.array([encoding.words for encoding in few], dtype=np.float64))
    alone = tiny.statistics.prior.unrelated(known_of(few, tiny.statistics), words=words)
    assert tiny.collect(few).rarity.unrelated == alone == Rarity.of(few, tiny.statistics).unrelated
    assert tiny.collect(many[:LEAST_DOCUMENTS]).rarity.unrelated != alone


def test_in_a_language_that_the_backbone_does_not_know_no_sentence_is_compared(tiny: HybridMatcher) -> None:
    documents = [read_text_string(foreign_text(number), f"d{number}") for number in range(8)]
    encodings = tiny.encode(documents)
    nothing = KnownVectors(SentenceVectors(np.empty((0, tiny.backbone.width)), np.empty(0)))
    without = [replace(encoding, vectors=nothing, known_vector=0 * encoding.vector) for encoding in encodings]
    rarity = Rarity.of(encodings, tiny.statistics)
    assert "meaning" not in rarity.sides and {"words", "phrases"} <= {*rarity.sides}
    unrelated = sampled_unrelated(encodings, rarity)
    assert unrelated == sampled_unrelated(without, rarity)
    with_sentences, by_terms = (
        Collection(some, replace(rarity, unrelated=unrelated)).judge(some[0]) for some in (encodings, without)
    )
    assert [x.tolist() for x in with_sentences] == [x.tolist() for x in by_terms]


def drawn(usual: np.ndarray, documents: int, seed: int, own: float = 0.15) -> list[Counts]:
    """Documents of a kind whose usual frequencies of WORDS these are, each with `own` ways to use them."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(documents):
        words = int(rng.integers(1_000, 6_000))
        shares = usual * np.exp(rng.normal(0, own, len(usual)))
        counts = rng.multinomial(words, [*shares, 1 - shares.sum()])
        ids = np.concatenate([REST, WORDS])
        kept = np.concatenate([counts[-1:], counts[:-1]])
        found.append(Counts(ids[kept > 0], kept[kept > 0]))
    return found


def usual(seed: int) -> np.ndarray:
    shares = np.random.default_rng(seed).uniform(0.005, 0.05, len(WORDS))
    return np.asarray(shares / (3 * shares.sum()))


@pytest.fixture(scope="module")
def kinds() -> Kinds:
    return Kinds(
        WORDS, {name: fit_style(WORDS, drawn(usual(seed), 1_500, seed)) for name, seed in (("a", 1), ("b", 2))}
    )


def test_documents_of_a_kind_that_was_shown_are_known(kinds: Kinds) -> None:
    for seed in (1, 2):
        assert kinds.known(drawn(usual(seed), 100, 10 + seed)) > 0.85


def test_documents_of_a_kind_that_was_not_shown_are_not(kinds: Kinds) -> None:
    assert kinds.known(drawn(usual(3), 40, 13)) < 0.05


def test_a_kind_between_two_that_were_shown_deviates_together_though_it_is_within_reach() -> None:
    wide = Kinds(WORDS, {"wide": fit_style(WORDS, drawn(usual(1), 1_500, 1, own=0.4))})
    near = usual(1) * np.exp(np.random.default_rng(5).normal(0, 0.35, len(WORDS)))
    few = drawn(near, 40, 15)
    style = wide.styles["wide"]
    within = np.linalg.norm(style.deviations(*root_frequencies(WORDS, few)), axis=1) <= style.range
    assert within.mean() > 0.9 and wide.known(few) < 0.05
    assert wide.known(drawn(usual(1), 100, 16, own=0.4)) > 0.8


def test_two_documents_of_different_kinds_are_of_no_kind_together(kinds: Kinds) -> None:
    a, b = drawn(usual(1), 1, 21)[0], drawn(usual(2), 1, 22)[0]
    assert kinds.known([a, b]) == 0.0


def test_it_is_the_share_of_pairs_that_are_within_a_kinds_range_and_do_not_deviate_together(kinds: Kinds) -> None:
    documents = [*drawn(usual(1), 6, 31), *drawn(usual(2), 6, 32), *drawn(usual(3), 3, 33)]
    found = []
    for pair in combinations(documents, 2):
        found.append(any(of_kind(style, *pair) for style in kinds.styles.values()))
        assert kinds.known(pair) == float(found[-1])
    assert 0 < np.mean(found) < 1
    assert kinds.known(documents) == pytest.approx(np.mean(found))


def of_kind(style: Style, *pair: Counts) -> bool:
    """Word by word."""
    deviations = []
    for counts in pair:
        total = counts.counts.sum()
        has = dict(zip(counts.ids.tolist(), counts.counts.tolist(), strict=True))
        log = min(max(np.log(total), style.lengths[0]), style.lengths[1])
        above = [
            np.sqrt((has.get(int(word), 0) + 0.375) / total) - style.usual[:, n] @ [1, log, np.exp(-log / 2)]
            for n, word in enumerate(WORDS)
        ]
        deviations.append(np.array(above) @ style.scaling)
    a, b = deviations
    lengths = np.linalg.norm(a), np.linalg.norm(b)
    return bool(max(lengths) <= style.range[0] and a @ b <= style.together[0] * lengths[0] * lengths[1])


def test_of_fewer_than_two_documents_nothing_is_doubted(kinds: Kinds) -> None:
    assert kinds.known([]) == kinds.known(drawn(usual(3), 1, 41)) == 1.0


def test_where_no_kind_is_known_nothing_is(kinds: Kinds) -> None:
    assert Kinds(WORDS, {}).known(drawn(usual(1), 3, 42)) == 0.0


def test_kinds_come_back_from_disk(kinds: Kinds, tmp_path: Path) -> None:
    kinds.write(tmp_path / "styles.safetensors")
    again = Kinds.read(tmp_path / "styles.safetensors")
    assert again.words.tolist() == WORDS.tolist() and list(again.styles) == ["a", "b"]
    for seed in (1, 2, 3):
        documents = drawn(usual(seed), 20, 50 + seed)
        assert again.known(documents) == pytest.approx(kinds.known(documents), abs=0.02)


def test_word_lists_and_another_language_are_of_no_shipped_kind() -> None:
    kinds = shipped_statistics().kinds
    assert set(kinds.styles) == {"pretrain", "acl", "legal", "news", "papers", "peps"}
    lists = [" ".join(f"{word}{n}" for n in range(800)) for word in ("bolt", "screw")]
    spanish = [
        "La casa del pueblo tiene una puerta y dos ventanas que dan al río. " * 60,
        "El tribunal dictó auto. " * 99,
    ]
    for texts in (lists, spanish):
        assert kinds.known([terms_of(read_text_string(text, text[:5])).words.counts for text in texts]) == 0.0
