"""Who is ranked, what an unhandled document costs, and where the threshold comes from."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from longmatch.documents import Document
from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import parse
from longmatch.lab.evaluation.protocols import EvaluationTask, TaskOutcome, score_task
from longmatch.lab.evaluation.scoring.scorer import InMemoryScorer
from longmatch.matching.matcher import Encoder, Progress, Scores

Make = Callable[..., Path]


class Alphabet(Encoder[str, list[str]]):
    """Scores by how far apart the ids' first letters are; cannot handle documents that hold `cannot`."""

    name = "alphabet"

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[str]:
        if any("cannot" in document.text for document in documents):
            raise ValueError("a word I do not know")
        return [document.id for document in documents]

    def collect(self, encodings: Sequence[str]) -> list[str]:
        return list(encodings)

    def score(self, query: str, collection: list[str]) -> Scores:
        return np.array([-abs(ord(query[0]) - ord(id[0])) for id in collection], dtype=np.float64)

    def explain(self, a: str, b: str, collection: list[str] | None = None):
        raise NotImplementedError


def answered(folder: Path, **options: object) -> tuple[TaskOutcome, EvaluationTask, InMemoryScorer]:
    corpus = Corpus(DataFolder(folder))
    task = EvaluationTask.of(corpus, "test", **options)
    scorer = InMemoryScorer(Alphabet())
    scorer.open([], corpus)
    return score_task(task, corpus, scorer), task, scorer


LETTERS = dict.fromkeys("abcdef", "Some text here.")


def test_the_whole_collection_is_ranked_but_never_the_query_itself(make_data: Make) -> None:
    outcome, _, _ = answered(make_data(LETTERS, qrels=[("test", "a", "b", 1), ("test", "a", "a", 1)]))
    found = outcome.answers["a"]
    assert (found.ranks.tolist(), found.ideal.tolist(), found.ranked) == ([1], [1], 5)


def test_only_candidates_are_ranked_where_there_are_any(make_data: Make) -> None:
    folder = make_data(LETTERS, qrels=[("test", "a", "f", 1)], candidates=[("d",), ("f",), ("a",)])
    assert answered(folder)[0].answers["a"].ranks.tolist() == [2]
    assert answered(folder)[0].answers["a"].ranked == 2


def test_only_the_querys_own_pool_is_ranked_where_there_is_one(make_data: Make) -> None:
    pools = [("a", "e"), ("a", "f"), ("b", "c")]
    folder = make_data(LETTERS, qrels=[("test", "a", "f", 1), ("test", "b", "f", 1)], pools=pools)
    outcome, _, _ = answered(folder)
    assert outcome.answers["a"].ranks.tolist() == [2]
    assert outcome.answers["b"].ranks.tolist() == []  # outside its pool: not found, but wanted
    assert outcome.answers["b"].ideal.tolist() == [1]


def test_an_unhandled_document_ranks_last_and_is_counted(make_data: Make) -> None:
    texts = LETTERS | {"b": "This one cannot be done."}
    outcome, _, scorer = answered(make_data(texts, qrels=[("test", "a", "b", 1)]))
    assert outcome.answers["a"].ranks.tolist() == [5]
    assert scorer.unhandled == {1: "ValueError: a word I do not know"}


def test_an_unhandled_query_scores_zero_and_stays_in_the_mean(make_data: Make) -> None:
    texts = LETTERS | {"a": "This one cannot be done."}
    outcome, _, _ = answered(make_data(texts, qrels=[("test", "a", "b", 1), ("test", "c", "d", 1)]))
    values = parse("MRR").each(list(outcome.answers.values()))  # type: ignore[union-attr]
    assert values.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("text", ["", "   \n\n  "])
def test_a_document_without_a_sentence_is_unhandled_not_dropped(make_data: Make, text: str) -> None:
    outcome, _, scorer = answered(make_data(LETTERS | {"c": text}, qrels=[("test", "d", "c", 1)]))
    assert list(scorer.unhandled) == [2]
    assert outcome.answers["d"].ranks.tolist() == [5]


def test_the_threshold_is_chosen_on_validation_pairs_and_used_on_test_pairs(make_data: Make) -> None:
    validation = [("validation", "a", "b", 1), ("validation", "a", "c", 1), ("validation", "a", "d", 0)]
    test = [("test", "b", "c", 1), ("test", "b", "d", 1), ("test", "b", "f", 1), ("test", "a", "f", 0)]
    outcome, task, _ = answered(make_data(LETTERS, pairs=[*validation, *test]))
    verdicts = outcome.predictions(task)
    assert verdicts.threshold == -2.5  # between c (-2, belongs) and d (-3, does not)
    assert parse("F1")(verdicts) == pytest.approx(4 / 5)  # type: ignore[arg-type]  # b-f, at -4, is missed


def test_without_validation_pairs_the_training_pairs_give_the_threshold(make_data: Make) -> None:
    pairs = [("train", "a", "b", 1), ("train", "a", "d", 0), ("test", "a", "c", 1), ("test", "a", "e", 0)]
    outcome, task, _ = answered(make_data(LETTERS, pairs=pairs))
    assert outcome.predictions(task).threshold == -2.0


def test_a_pair_with_an_unhandled_document_is_said_not_to_belong(make_data: Make) -> None:
    texts = LETTERS | {"b": "This one cannot be done."}
    pairs = [("validation", "c", "d", 1), ("validation", "c", "f", 0), ("test", "a", "b", 1), ("test", "c", "d", 1)]
    outcome, task, _ = answered(make_data(texts, pairs=pairs))
    assert outcome.pairs == [-np.inf, -1.0]
    assert parse("recall")(outcome.predictions(task)) == 0.5  # type: ignore[arg-type]


def test_a_limit_takes_the_same_queries_for_the_same_seed(make_data: Make) -> None:
    folder = make_data(LETTERS, qrels=[("test", q, d, 1) for q, d in ("ab", "bc", "cd", "de", "ef")])
    corpus = Corpus(DataFolder(folder))
    first, again, other = (list(EvaluationTask.of(corpus, "test", limit=2, seed=seed).qrels) for seed in (1, 1, 2))
    assert len(first) == 2
    assert first == again != other
