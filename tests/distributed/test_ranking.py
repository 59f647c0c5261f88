"""Many questions answered on a cluster are answered as here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.distributed.indexing import RayBackend
from longmatch.distributed.ranking import RankOptions, rank_on_ray
from longmatch.documents.document import Document
from longmatch.documents.read import read_all, read_text_string
from longmatch.library.library import Library
from longmatch.matching.hits import Hit
from tests.library.tiny import made_up_text, write_texts


@pytest.fixture(scope="module")
def filled(make: Callable[[], HybridMatcher], tmp_path_factory: pytest.TempPathFactory) -> Library:
    place = tmp_path_factory.mktemp("filled")
    library = Library(place / "library", make())
    texts = write_texts(place / "texts", range(30))
    for number in range(0, 30, 4):  # copies: ties in every ranking
        (texts / f"c{30 - number:03}.txt").write_text(made_up_text(number), encoding="utf-8")
    library.add(texts)
    return library


@pytest.fixture
def queries(filled: Library) -> list[Document]:
    """Some of the library, some from elsewhere."""
    texts = Path(filled.address).parent / "texts"
    known = list(read_all([texts], lambda error: None))[::3]
    return [*known, *(read_text_string(made_up_text(seed), f"new {seed}") for seed in range(500, 512))]


def assert_alike(ours: list[Hit], theirs: list[Hit]) -> None:
    """The same documents for the same reasons; scores to what the batch changes in a vector."""
    assert [hit.id for hit in ours] == [hit.id for hit in theirs]
    assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-5)
    assert [[p.b.text for p in hit.why] for hit in ours] == [[p.b.text for p in hit.why] for hit in theirs]


def test_many_queries_are_answered_as_one_at_a_time(filled: Library, queries: list[Document]) -> None:
    for query, hits in filled.rank_many(queries, k=5, where="words > 50"):
        assert_alike(hits, filled.rank(query, k=5, where="words > 50"))


@pytest.mark.slow
def test_a_cluster_answers_in_the_order_of_the_queries_and_as_one_machine(
    cluster: Any, filled: Library, queries: list[Document], make: Callable[[], HybridMatcher]
) -> None:
    backend = RayBackend(make_matcher=make)
    found = list(rank_on_ray(filled.address, queries, RankOptions(k=5, batch=3), backend))
    assert [query.id for query, _ in found] == [query.id for query in queries]
    for (_, ours), (_, theirs) in zip(found, filled.rank_many(queries, k=5), strict=True):
        assert_alike(ours, theirs)
