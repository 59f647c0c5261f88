"""Sentences that say what titles say, against a loop over sentences and titles."""

import numpy as np

from longmatch.lab.adapting.learning.material import Ints, Material
from longmatch.lab.adapting.learning.telling import telling_sentences


def weights(tokens: Ints, material: Material) -> dict[int, float]:
    """TF-IDF of some tokens, of length 1."""
    runs = material.tokens.reshape(-1, 6).tolist()
    idf = {t: np.log((1 + len(runs)) / (1 + sum(t in run for run in runs))) for t in tokens.tolist()}
    found = {t: (1 + np.log((tokens == t).sum())) * rarity for t, rarity in idf.items()}
    length = np.sqrt(sum(value**2 for value in found.values()))
    return {t: value / length for t, value in found.items()}


def slow_telling(material: Material, anchor: int, others: list[int], drawn: list[int], most: int) -> list[int]:
    """The best sentence of each title, in the order of how near they are."""
    best = []
    for other in others:
        title = weights(material.title_tokens[slice(*material.titles[other : other + 2])], material)
        near = []
        for sentence in range(5 * anchor, 5 * anchor + 5):
            held = weights(material.tokens[slice(*material.sentences[sentence : sentence + 2])], material)
            shared = sum(held[token] * title[token] for token in held.keys() & title.keys())
            near.append((0.0 if sentence in drawn else shared, -sentence))
        best.append(max(near))
    ranked = [-sentence for shared, sentence in sorted(best, key=lambda pair: -pair[0]) if shared > 0]
    return list(dict.fromkeys(ranked))[:most]


def test_telling_sentences_are_those_that_share_rare_tokens_with_a_title(titled: Material) -> None:
    anchors, chosen = np.array([4, 0]), np.array([4, 0, 5, 23, 8, 16])
    drawn = np.array([[20, 22, -1], [0, 1, 2]])
    for most in (1, 3, 9):
        found = telling_sentences(titled, anchors, chosen, drawn, most)
        for place, anchor in enumerate(anchors.tolist()):
            others = [number for number in chosen.tolist() if number != anchor]
            expected = slow_telling(titled, anchor, others, drawn[place].tolist(), most)
            assert found[place].tolist() == expected + [-1] * (most - len(expected))


def test_the_sentence_with_the_rare_tokens_comes_first(titled: Material) -> None:
    nothing = np.full((1, 1), -1)
    assert telling_sentences(titled, np.array([6]), np.array([6, 7, 0]), nothing, 2)[0, 0] == 6 * 5 + 1


def test_a_documents_own_title_is_not_looked_for(titled: Material) -> None:
    nothing = np.full((1, 1), -1)
    assert (telling_sentences(titled, np.array([6]), np.array([6, 23]), nothing, 2) == -1).all()
