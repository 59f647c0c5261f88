"""TF-IDF and BM25 rows rank as scikit-learn and bm25s do, given the same tokens."""

import os
from pathlib import Path

import bm25s
import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from longmatch.documents.language import words_of
from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.scoring.pairs import scorer_of
from longmatch.lab.store.store import LayerStore
from longmatch.models.loading import load

DATA = os.environ.get("LONGMATCH_DATA")


@pytest.fixture(params=["examples", "peps"] if DATA else ["examples"])
def corpus(request: pytest.FixtureRequest, example_corpus: Corpus) -> Corpus:
    return example_corpus if request.param == "examples" else Corpus(DataFolder(Path(str(DATA)) / "peps"))


def ours(name: str, corpus: Corpus, folder: Path, numbers: list[int]) -> list[np.ndarray]:
    scorer = scorer_of(load(name))
    scorer.open(LayerStore.of(folder, corpus.source).build(scorer.layers), corpus)
    return [scores for _, scores in scorer.scores(numbers) if scores is not None]


def tokens(corpus: Corpus) -> list[list[str]]:
    """The words of every sentence, as the models read them."""
    documents = corpus.documents(corpus.ids)
    return [
        [word for s in documents[id].sentences for word in words_of(s.of(documents[id].readable))] for id in corpus.ids
    ]


def numbers_of(corpus: Corpus) -> list[int]:
    return sorted({corpus.number[query] for query in corpus.folder.qrels("test")})


def assert_same_ranking(mine: np.ndarray, theirs: np.ndarray) -> None:
    """Equal up to rounding, and so in the same order wherever scores differ by more than that."""
    np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-7)
    order = np.argsort(-theirs, kind="stable")
    gaps = theirs[order[:-1]] - theirs[order[1:]]
    steps = mine[order[:-1]] - mine[order[1:]]
    assert (steps[gaps > 1e-5 * abs(theirs).max()] > 0).all()


def test_tfidf_is_scikit_learns(corpus: Corpus, tmp_path: Path) -> None:
    vectorizer = TfidfVectorizer(analyzer=lambda words: words, sublinear_tf=True)
    matrix = vectorizer.fit_transform(tokens(corpus))
    numbers = numbers_of(corpus)
    for number, mine in zip(numbers, ours("tfidf", corpus, tmp_path, numbers), strict=True):
        assert_same_ranking(mine, np.asarray((matrix @ matrix[[number]].T).todense()).ravel())


def test_bm25_is_bm25s(corpus: Corpus, tmp_path: Path) -> None:
    words = tokens(corpus)
    vocabulary = {word: i for i, word in enumerate(sorted({word for document in words for word in document}))}
    ids = [[vocabulary[word] for word in document] for document in words]
    retriever = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64")
    retriever.index((ids, vocabulary), show_progress=False)
    numbers = numbers_of(corpus)
    for number, mine in zip(numbers, ours("bm25", corpus, tmp_path, numbers), strict=True):
        theirs = retriever.get_scores_from_ids(ids[number])
        assert_same_ranking(mine * theirs[number], theirs)  # ours is a share of the query's score with itself
