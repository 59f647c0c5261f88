"""Which kinds of text are known, by how often documents have the commonest words."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.kinds import Kinds, Style, root_frequencies
from longmatch.default.statistics import shipped_statistics
from longmatch.documents.read import read_text_string
from longmatch.lab.default.styles import fit_style
from longmatch.lexical.terms import Counts, terms_of

WORDS = np.arange(100, 120, dtype=np.uint64)
REST = np.array([7], dtype=np.uint64)  # stands for all other words


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
