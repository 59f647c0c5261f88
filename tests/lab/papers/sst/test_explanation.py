"""The subtopics of two documents."""

import numpy as np
import pytest

from longmatch.documents import Draft
from longmatch.lab.papers.sst.clustering import Clusters
from longmatch.lab.papers.sst.explanation import find_subtopics


def made(id, *sentences):
    draft = Draft()
    draft.paragraph(" ".join(sentences))
    return draft.document(id, id.title())


RIVER = [
    "The river floods the lower meadow.",
    "A flooded meadow keeps river silt.",
    "River silt makes the meadow rich.",
    "Floods leave silt along the river.",
]
KILN = [
    "Potters fire clay in a kiln.",
    "The kiln cracks cold clay pots.",
    "Clay pots dry before the kiln.",
    "A potter stacks pots inside the kiln.",
]
BIRD = ["Cranes nest among tall reeds.", "Reeds hide the cranes and eggs.", "Crane eggs hatch within reeds."]


@pytest.fixture(scope="module")
def pair():
    a = made("a", *RIVER[:2], *KILN, *RIVER[2:3])
    return find_subtopics(a, made("b", *BIRD, *RIVER[3:], RIVER[0]), size=4.0)


def texts(document, spans):
    return [span.of(document.text) for span in spans]


def test_what_both_speak_of_comes_first_then_a_s_own_then_b_s(pair):
    assert [topic.place for topic in pair.topics] == ["both", "a", "b"]
    shared, kiln, bird = pair.topics
    assert texts(pair.a, shared.a) == RIVER[:3] and texts(pair.b, shared.b) == [RIVER[3], RIVER[0]]
    assert texts(pair.a, kiln.a) == KILN and texts(pair.b, bird.b) == BIRD


def test_a_subtopic_s_words_tell_it_from_the_others_as_they_are_written(pair):
    shared, kiln, bird = (topic.words for topic in pair.topics)
    assert set(shared[:4]) == {"river", "meadow", "floods", "silt"}
    assert set(kiln[:3]) == {"kiln", "clay", "pots"} and set(bird[:3]) == {"reeds", "cranes", "eggs"}


def test_the_share_of_each_document_in_shared_subtopics(pair):
    assert pair.overlap == (3 / 7, 2 / 5)


def test_similarities_are_ordered_by_subtopic_and_within_it_a_before_b(pair):
    sizes = [len(t.a) + len(t.b) for t in pair.topics]
    assert pair.similarity.shape == (12, 12) and sizes == [5, 4, 3]
    home = np.repeat(np.arange(3), sizes)
    within, between = (pair.similarity[np.equal.outer(home, home) == same].mean() for same in (True, False))
    assert within > 0.3 > 5 * between
    assert pair.similarity[0, 4] == pytest.approx(1.0)  # a's first sentence, and b's copy of it


def test_a_model_s_own_clusters_and_similarities_are_shown():
    a, b = made("a", *RIVER), made("b", *KILN)
    similarity = np.arange(25.0).reshape(5, 5) / 25
    found = find_subtopics(a, b, Clusters.of([1, 0, 1, 0, 2], 3), similarity)
    assert [texts(a, t.a) for t in found.topics] == [[RIVER[1]], [RIVER[0], RIVER[2]], []]
    assert [texts(b, t.b) for t in found.topics] == [[KILN[0]], [], [KILN[1]]]
    order = [1, 3, 0, 2, 4]
    assert (found.similarity == similarity[np.ix_(order, order)]).all()


def test_only_the_first_sentences_are_read_where_asked():
    found = find_subtopics(made("a", *RIVER), made("b", *KILN), sentences=2)
    assert sum(len(t.a) for t in found.topics) == sum(len(t.b) for t in found.topics) == 2


def test_chinese_sentences_find_each_other_by_pairs_of_characters():
    a = made("a", "被告人盗窃手机一部。", "法院判处有期徒刑。", "被告人盗窃现金。")
    b = made("b", "上诉人盗窃手机。", "本案判处有期徒刑一年。")
    found = find_subtopics(a, b, size=2.5)
    assert [(texts(a, t.a), texts(b, t.b)) for t in found.topics] == [
        (["被告人盗窃手机一部。", "被告人盗窃现金。"], ["上诉人盗窃手机。"]),
        (["法院判处有期徒刑。"], ["本案判处有期徒刑一年。"]),
    ]


def test_a_document_without_sentences_has_no_subtopics_of_its_own():
    found = find_subtopics(made("a", *RIVER), Draft().document("b"))
    assert {t.place for t in found.topics} == {"a"} and found.overlap == (0.0, 0.0)
