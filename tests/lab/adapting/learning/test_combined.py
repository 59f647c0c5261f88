"""The combined score, against loops over pairs of documents and sentences."""

from collections.abc import Iterable

import torch

from longmatch.lab.adapting.learning.combined import (
    FLOOR,
    CombinedScore,
    Titles,
    best_partner_scores,
    mean_scores,
    told_scores,
)


def drawn() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    vectors = torch.nn.functional.normalize(torch.randn(5, 4, 8, generator=generator), dim=2)
    present = torch.arange(4) < torch.tensor([4, 3, 1, 2, 4])[:, None]
    return vectors, present


def some_titles() -> Titles:
    """The fourth of five documents has none; the first of two asked for has one telling sentence, the other two."""
    generator = torch.Generator().manual_seed(2)
    vectors = torch.nn.functional.normalize(torch.randn(8, 8, generator=generator), dim=1)
    there = torch.tensor([[True, False], [True, True]])
    return Titles(vectors[:4].view(2, 2, 8), there, vectors[4:], torch.tensor([True, True, True, False, True]), 0.5)


def slow_partners(a: torch.Tensor, b: torch.Tensor) -> float:
    forward = sum(max(float(x @ y) for y in b) for x in a) / len(a)
    backward = sum(max(float(x @ y) for x in a) for y in b) / len(b)
    return (forward + backward) / 2


def test_best_partners_are_found_among_the_sentences_that_are_there() -> None:
    vectors, present = drawn()
    found = best_partner_scores(vectors[:2], present[:2], vectors, present)
    for i in range(2):
        for j in range(5):
            expected = slow_partners(vectors[i][present[i]], vectors[j][present[j]])
            assert abs(found[i, j].item() - expected) < 1e-5


def test_means_are_over_the_sentences_that_are_there() -> None:
    vectors, present = drawn()
    means = [vectors[i][present[i]].mean(0) for i in range(5)]
    found = mean_scores(vectors, present, 2)
    for i in range(2):
        for j in range(5):
            assert abs(found[i, j] - torch.cosine_similarity(means[i], means[j], dim=0)) < 1e-5


def test_the_sum_is_of_all_sides_by_their_weights() -> None:
    vectors, present = drawn()
    lexical = torch.rand(2, 2, 5, generator=torch.Generator().manual_seed(1))
    score = CombinedScore()
    words = 2.0 * (lexical[0] + FLOOR).log() + 0.5 * (lexical[1] + FLOOR).log()
    meaning = best_partner_scores(vectors[:2], present[:2], vectors, present)
    expected = words + 12 * meaning + 4 * mean_scores(vectors, present, 2)
    assert torch.allclose(score(vectors, present, lexical), expected, atol=1e-5)


def mean_of_best(values: Iterable[float]) -> float:
    best = sorted(values, reverse=True)[:3]
    return sum(best) / len(best)


def test_told_is_the_mean_of_the_three_best_cosines_of_sentences_that_are_there_with_a_title() -> None:
    (vectors, present), titles = drawn(), some_titles()
    found = told_scores(vectors[:2], present[:2], titles)
    for i in range(2):
        sentences = [*vectors[i][present[i]], *titles.telling[i][titles.present[i]]]
        told = [mean_of_best(float(sentence @ title) for sentence in sentences) for title in titles.vectors]
        expected = [*told[:3], sum(told) / 4, told[3]]  # without a title neither before the others nor behind
        assert torch.allclose(found[i], torch.tensor(expected), atol=1e-5)


def test_titles_count_as_far_as_they_are_trusted() -> None:
    (vectors, present), titles = drawn(), some_titles()
    lexical = torch.rand(2, 2, 5, generator=torch.Generator().manual_seed(1))
    score = CombinedScore()
    more = score(vectors, present, lexical, titles) - score(vectors, present, lexical)
    assert torch.allclose(more, 0.5 * 8 * told_scores(vectors[:2], present[:2], titles), atol=1e-5)
