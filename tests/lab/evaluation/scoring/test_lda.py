"""LDA's row over stored words is the model's own."""

import numpy as np

from longmatch.lab.baselines.topics.lda import LdaMatcher
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.scoring.lexical import LdaScorer
from longmatch.lab.evaluation.scoring.pairs import scorer_of
from longmatch.lab.evaluation.scoring.scorer import InMemoryScorer
from longmatch.lab.store.store import LayerStore
from longmatch.models.loading import load


def test_stored_scores_are_the_models_own(example_corpus: Corpus, tmp_path) -> None:
    matcher = LdaMatcher(counts=(5,))
    scorer, plain = scorer_of(matcher), InMemoryScorer(matcher)
    assert isinstance(scorer, LdaScorer)
    scorer.open(LayerStore.of(tmp_path, example_corpus.source).build(scorer.layers), example_corpus)
    plain.open([], example_corpus)
    for (_, mine), (_, theirs) in zip(scorer.scores([0, 7]), plain.scores([0, 7]), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)


def test_lda_shares_the_words_of_the_lexical_rows() -> None:
    assert scorer_of(load("lda")).layers[0].key == scorer_of(load("tfidf")).layers[0].key
