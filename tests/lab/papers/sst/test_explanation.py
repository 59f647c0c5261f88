"""The subtopics of two documents."""

import re

import numpy as np
import pytest

from longmatch.documents import Draft
from longmatch.documents.document import Span
from longmatch.lab.papers.sst.clustering import Clusters
from longmatch.lab.papers.sst.explanation import CELLS, Subtopic, Subtopics, SubtopicsView, find_subtopics, reduced
from tests.render.html_page import Page
from tests.render.render_matches import made

BAD = "<script>alert(1)</script>"


def paragraph(id, *sentences):
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
    a = paragraph("a", *RIVER[:2], *KILN, *RIVER[2:3])
    return find_subtopics(a, paragraph("b", *BIRD, *RIVER[3:], RIVER[0]), size=4.0)


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
    a, b = paragraph("a", *RIVER), paragraph("b", *KILN)
    similarity = np.arange(25.0).reshape(5, 5) / 25
    found = find_subtopics(a, b, Clusters.of([1, 0, 1, 0, 2], 3), similarity)
    assert [texts(a, t.a) for t in found.topics] == [[RIVER[1]], [RIVER[0], RIVER[2]], []]
    assert [texts(b, t.b) for t in found.topics] == [[KILN[0]], [], [KILN[1]]]
    order = [1, 3, 0, 2, 4]
    assert (found.similarity == similarity[np.ix_(order, order)]).all()


def test_only_the_first_sentences_are_read_where_asked():
    found = find_subtopics(paragraph("a", *RIVER), paragraph("b", *KILN), sentences=2)
    assert sum(len(t.a) for t in found.topics) == sum(len(t.b) for t in found.topics) == 2


def test_chinese_sentences_find_each_other_by_pairs_of_characters():
    a = paragraph("a", "被告人盗窃手机一部。", "法院判处有期徒刑。", "被告人盗窃现金。")
    b = paragraph("b", "上诉人盗窃手机。", "本案判处有期徒刑一年。")
    found = find_subtopics(a, b, size=2.5)
    assert [(texts(a, t.a), texts(b, t.b)) for t in found.topics] == [
        (["被告人盗窃手机一部。", "被告人盗窃现金。"], ["上诉人盗窃手机。"]),
        (["法院判处有期徒刑。"], ["本案判处有期徒刑一年。"]),
    ]


def test_a_document_without_sentences_has_no_subtopics_of_its_own():
    found = find_subtopics(paragraph("a", *RIVER), Draft().document("b"))
    assert {t.place for t in found.topics} == {"a"} and found.overlap == (0.0, 0.0)


def example():
    a = made("Rivers", {"One": ["The river rose. The kiln burned. A bird came."]}, "a")
    b = made(f"Kilns {BAD}", {"Two": ["Kilns burn clay. The river fell. Cats sleep."]}, "b")
    (a0, a1, a2), (b0, b1, b2) = a.sentences, b.sentences
    topics = (
        Subtopic(("river", BAD), (a0,), (b1,)),
        Subtopic(("kiln",), (a1,), (b0,)),
        Subtopic(("bird",), (a2,), ()),
        Subtopic((), (), (b2,)),
    )
    similarity = np.eye(6)
    similarity[0, 1] = similarity[1, 0] = 0.8
    similarity[2, 3] = similarity[3, 2] = 0.4
    return Subtopics(a, b, topics, similarity)


def page(tmp_path, subtopics):
    return subtopics.to_html(tmp_path / "page.html").read_text(encoding="utf-8")


def test_every_subtopic_is_listed_with_its_words_and_where_it_is_found(tmp_path):
    listed = [e.text for e in Page.of(page(tmp_path, example())).find("label", class_="topic")]
    assert listed == [
        "All subtopics",
        f"1river, {BAD}1 of A, 1 of B",
        "2kiln1 of A, 1 of B",
        "3birdonly in A: 1",
        "4(no words)only in B: 1",
    ]


def test_sentences_are_marked_with_their_subtopic_and_whether_it_is_shared(tmp_path):
    marks = Page.of(page(tmp_path, example())).find("mark")
    assert [(m.text, m.attributes["class"]) for m in marks] == [
        ("The river rose.", "topic-0 shared"),
        ("The kiln burned.", "topic-1 shared"),
        ("A bird came.", "topic-2 own"),
        ("Kilns burn clay.", "topic-1 shared"),
        ("The river fell.", "topic-0 shared"),
        ("Cats sleep.", "topic-3 own"),
    ]


def test_the_summary_counts_subtopics_and_shared_sentences(tmp_path):
    told = "4 subtopics: 2 in both texts, 1 only in A, 1 only in B. 67% of the sentences of A and 67% of those"
    assert told in page(tmp_path, example())


def test_text_is_escaped_and_nothing_is_loaded_or_run(tmp_path):
    found = page(tmp_path, example())
    assert "<script" not in found and not re.search(r"(src|href|style)=", found)
    assert not Page.of(found).unmatched


def test_the_picture_shades_cells_by_how_alike_sentences_are():
    view = SubtopicsView(example())
    paths = dict(view.shades)
    assert paths[20] == "".join(
        ["M0 0h2v1h-2z", "M0 1h2v1h-2z", "M2 2h1v1h-1z", "M3 3h1v1h-1z", "M4 4h1v1h-1z", "M5 5h1v1h-1z"]
    )
    assert paths[10] == "M3 2h1v1h-1zM2 3h1v1h-1z"  # 0.4 is half of 0.8, the most alike of two sentences


def test_a_box_covers_its_subtopic_s_sentences_those_of_a_first():
    boxes = [(box.start, box.size, box.of_a) for box in SubtopicsView(example()).boxes]
    assert boxes == [(0, 2, 1), (2, 2, 1), (4, 1, 1), (5, 1, 0)]


def test_a_document_read_in_part_is_said_to_be(tmp_path):
    whole = example()
    part = Subtopics(whole.a, whole.b, whole.topics[:2], whole.similarity[:4, :4])
    assert "Only the first 2 of 3 sentences of “Rivers” were read." in page(tmp_path, part)
    assert "Only the first" not in page(tmp_path, whole)


def test_many_sentences_make_a_picture_of_bounded_size():
    values = np.random.default_rng(0).random((1000, 1000))
    small = reduced(values, CELLS)
    edges = np.linspace(0, 1000, CELLS + 1).astype(int)
    assert small.shape == (CELLS, CELLS)
    np.testing.assert_allclose(small[7, 100], values[edges[7] : edges[8], edges[100] : edges[101]].mean())


def test_subtopics_are_told_as_json():
    told = example().to_dict()
    assert [topic["in"] for topic in told["subtopics"]] == ["both", "both", "a", "b"]
    assert told["a"]["shared"] == 0.6667 and told["subtopics"][2]["a"] == [[38, 50]]
    assert Span(38, 50).of(example().a.text) == "A bird came."


def test_documents_without_sentences_have_a_page_too(tmp_path):
    empty = made("Empty", {"One": []})
    assert "There are no sentences" in page(tmp_path, Subtopics(empty, empty, (), np.zeros((0, 0))))
