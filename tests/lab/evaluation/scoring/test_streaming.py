"""SDR over slices of a collection, and on the level of paragraphs only."""

import numpy as np
import pytest
import torch

from longmatch.documents.document import Document
from longmatch.lab.evaluation.scoring.streaming import SlicePart, combine
from longmatch.matching.sentences import Sentences
from longmatch.models.sdr.score import Paragraphs, sdr_scores, split, whole_paragraphs


def random_paragraphs(seed: int, documents: int) -> Paragraphs:
    """Documents of one to four paragraphs of one to five sentences."""
    rng = np.random.default_rng(seed)
    counts = torch.from_numpy(rng.integers(1, 5, documents))
    lengths = torch.from_numpy(rng.integers(1, 6, int(counts.sum())))
    vectors = torch.from_numpy(rng.normal(size=(int(lengths.sum()), 8))).float()
    zero = torch.zeros(1, dtype=torch.long)
    offsets = [torch.cat([zero, sizes.cumsum(0)]) for sizes in (lengths, counts)]
    return Paragraphs(torch.nn.functional.normalize(vectors, dim=1), offsets[0], offsets[1])


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("cuts", [[12], [5, 7], [1, 10, 1]])
def test_slices_score_as_the_whole_collection_does(normalise: bool, cuts: list[int]) -> None:
    source, candidates = random_paragraphs(0, 1), random_paragraphs(1, 12)
    documents = list(split(candidates))
    slices = [Paragraphs.join(documents[end - size : end]) for size, end in zip(cuts, np.cumsum(cuts), strict=True)]
    found = combine([SlicePart.of(source, part) for part in slices], normalise)
    torch.testing.assert_close(found, sdr_scores(source, candidates, normalise), atol=1e-5, rtol=1e-5)


def test_a_paragraphs_vector_is_the_mean_of_its_sentences_weighted_by_tokens() -> None:
    document = Document("a", "a", "One two. Three. Four five six.", ())
    starts, ends = np.array([0, 9, 16]), np.array([8, 15, 30])
    sentences = Sentences(document, starts, ends, np.array([3, 1, 4]), np.array([0, 0, 1]), np.array([0, 0, 0]))
    merged, vectors = whole_paragraphs(sentences, np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    assert np.allclose(vectors, [[3 / 10**0.5, 1 / 10**0.5], [0.6, 0.8]])
    assert (merged.starts.tolist(), merged.ends.tolist(), merged.lengths.tolist()) == ([0, 16], [15, 30], [4, 4])
    assert merged.paragraphs.tolist() == [0, 1, 2]
