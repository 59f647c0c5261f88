"""Ties are cut by id: the order in which documents came, and the path that a question takes, change no answer."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.documents.read import read_text_string
from longmatch.library.library import Library
from longmatch.library.pairs import nearest_documents
from longmatch.library.search.candidates import highest
from longmatch.library.search.encode import indexed_query
from longmatch.library.settings import LibrarySettings
from longmatch.render.json import to_dict
from tests.library.tiny import made_up_text

COPIES, TEXTS = 7, 5


@given(st.lists(st.sampled_from([0.1, 0.2, 0.2 + 1e-9, 0.3]), max_size=12), st.integers(1, 12), st.randoms())
def test_the_highest_are_those_of_a_sort_by_score_and_name(scores: list[float], count: int, chance: random.Random):
    names = [f"n{number:02}" for number in range(len(scores))]
    chance.shuffle(names)
    sorted_by_both = sorted(range(len(scores)), key=lambda place: (-round(scores[place], 6), names[place]))
    assert highest(np.array(scores), count, names.__getitem__).tolist() == sorted(sorted_by_both[:count])


def texts() -> dict[str, str]:
    """Five texts, seven times each under names that are mixed."""
    return {f"{copy}{number}": made_up_text(number, 20) for copy in "gcaebfd"[:COPIES] for number in range(TEXTS)}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory, tiny: HybridMatcher) -> list[Library]:
    """The same documents, which came in three orders and in steps of different sizes; most are tied with others."""
    made = []
    for seed, step in ((0, 35), (1, 6), (2, 11)):
        place = tmp_path_factory.mktemp("ties")
        ids = sorted(texts())
        random.Random(seed).shuffle(ids)
        library = Library(place / "library", tiny, settings=LibrarySettings(candidates=4))
        for start in range(0, len(ids), step):
            rows = [json.dumps({"id": id, "text": texts()[id]}) for id in ids[start : start + step]]
            (place / f"{start}.jsonl").write_text("\n".join(rows))
            library.add(place / f"{start}.jsonl")
        made.append(library)
    return made


def same(libraries: list[Library], ask) -> list[object]:
    """The answers, of which all are the first."""
    answers = [ask(library) for library in libraries]
    assert answers[1:] == answers[:-1]
    return answers[0]


def test_candidates_rankings_and_sections_do_not_depend_on_the_order_of_adding(libraries: list[Library]):
    asked = read_text_string(made_up_text(53, 8), "asked")
    for query in ("g0", "a3", "d4", asked):
        found = same(libraries, lambda library, query=query: [(hit.id, hit.score) for hit in library.rank(query, k=9)])
        assert found and found == sorted(found, key=lambda hit: (-hit[1], hit[0]))
        same(libraries, lambda library, query=query: [hit.document.id for hit in library.rank_sections(query, k=9)])


def test_what_a_search_finds_is_cut_by_id(libraries: list[Library]):
    every = libraries[0].find_ids("river", 100)  # all in one commit, so that copies have one score
    for number in range(TEXTS):
        copies = [id for id in every if id.endswith(str(number))]
        assert copies == sorted(copies)
    assert len(every) > COPIES and all(libraries[0].find_ids("river", k) == every[:k] for k in (1, 3, 5, 8))


def test_neighbours_are_cut_by_id(libraries: list[Library]):
    def near(library: Library) -> list[set[str]]:
        searcher = library.searcher()
        queries = [indexed_query(id, searcher.index) for id in ("g0", "a3")]
        return nearest_documents(queries, searcher.index, searcher.scope(), 3)

    first = same(libraries, near)[0]
    assert {"a0", "b0", "c0"} <= first


def test_pairs_and_groups_do_not_depend_on_the_order_of_adding(libraries: list[Library], tiny: HybridMatcher):
    settings = LibrarySettings(nearest=3, pair_block=4)
    libraries = [Library(library.address, tiny, settings=settings) for library in libraries]
    for minimum in (0.3, 0.9, 1.1):
        same(libraries, lambda library, minimum=minimum: to_dict(library.pairs(minimum)))


def test_a_collection_in_memory_is_ranked_as_a_library(libraries: list[Library], tiny: HybridMatcher, tmp_path: Path):
    exact = Library(libraries[1].address, tiny)  # few enough that all are scored
    documents: list[Document] = list(exact.documents)
    (query,) = (document for document in documents if document.id.endswith("a3"))
    ranked = [hit.id for hit in exact.rank(query.id, k=20)]
    for seed in range(3):
        random.Random(seed).shuffle(documents)
        assert [hit.id for hit in tiny.rank(query, documents, k=20)] == ranked
