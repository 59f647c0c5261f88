"""The combined score, against loops over pairs of documents and sentences."""

import torch

from longmatch.training.default.combined import FLOOR, CombinedScore, best_partner_scores, mean_scores


def drawn() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    vectors = torch.nn.functional.normalize(torch.randn(5, 4, 8, generator=generator), dim=2)
    present = torch.arange(4) < torch.tensor([4, 3, 1, 2, 4])[:, None]
    return vectors, present


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
