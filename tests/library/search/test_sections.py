"""Questions to the example collection: the sections that answer them, and whether anything does."""

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.documents.read import read_text_string
from longmatch.library.library import Library, rank_text
from longmatch.library.search.encode import QUESTION_WORDS
from longmatch.library.settings import LibrarySettings
from longmatch.matching.hits import SectionHits
from longmatch.matching.levels import SentenceVectors
from longmatch.render.json import to_dict
from tests.library.tiny import made_up_text, write_texts

ANSWERED = {  # and a group of documents that answers
    "Why does lime mortar suit soft old bricks better than cement?": "masonry",
    "How can mercury be taken out of waste water?": "mercury",
    "When do pear trees need water?": "irrigation",
    "Does a higher step rate lower the load on a runner's tibia?": "running",
    "Can a weather radar count migrating birds at night?": "migration",
    "Why did depositors queue to take out their savings?": "banking",
    "How are quay cranes assigned to the bays of a ship?": "port",
    "What is the core of the planet Mercury made of?": "planet",
    "Was the warehouse supervisor unfairly dismissed?": "dismissal",
    "Where do wheatears spend the winter?": "migration",
}
UNANSWERED = (
    "Who won the football world cup in 1998?",
    "How do I bake sourdough bread?",
    "Which programming language is best for web development?",
    "What is the history of the Ottoman Empire?",
    "How do electric guitars amplify sound?",
    "Which vaccines does a puppy need?",
    "Who painted the Mona Lisa?",
    "How do I file for divorce?",
    "recipe for tomato soup",
    "quantum error correction with surface codes",
)


def asked(library: Library, question: str, k: int = 3) -> SectionHits:
    return library.rank_sections(read_text_string(question), k)


@pytest.mark.parametrize("question", ANSWERED)
def test_a_question_with_an_answer_finds_its_group_and_stands_out(
    example_library: Library, answer_key: dict[str, dict], question: str
) -> None:
    hits = asked(example_library, question)
    assert hits.stands_out and hits.remarks == []
    assert ANSWERED[question] in answer_key[hits[0].document.id]["group"]
    hits_of_documents = rank_text(question, example_library, 3)
    assert {hit.no_verdict for hit in hits_of_documents} == {"question"}
    assert len(hits_of_documents.remarks) == 1 and hits_of_documents.remarks[0].endswith(
        "a text this short says too little."
    )


@pytest.mark.parametrize("question", UNANSWERED)
def test_a_question_without_an_answer_is_said_to_have_none(example_library: Library, question: str) -> None:
    hits = asked(example_library, question)
    assert not hits.stands_out and len(hits.remarks) == 1 and "stands out" in hits.remarks[0]
    assert rank_text(question, example_library, 3).remarks == hits.remarks


def test_a_hit_names_document_heading_page_and_a_passage_of_that_section(example_library: Library) -> None:
    hit = next(
        hit for hit in asked(example_library, "step rate and load on the tibia", 10) if hit.document.id.endswith(".pdf")
    )
    assert hit.section.start <= hit.passage.start < hit.passage.end <= hit.section.end
    assert hit.passage.text == hit.document.text[hit.passage.start : hit.passage.end]
    assert hit.heading == hit.section.heading and hit.page == hit.document.page_at(hit.passage.start) >= 1
    assert to_dict(hit)["section"] == hit.heading


def test_hits_are_sorted_and_no_section_comes_twice(example_library: Library) -> None:
    hits = asked(example_library, "mercury in water", 40)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({(hit.document.id, hit.number) for hit in hits}) == len(hits) == 40
    assert all(0 <= hit.score <= 1 for hit in hits)


def test_a_sentence_of_a_document_finds_its_own_section(example_library: Library) -> None:
    document = example_library.show("pointing-old-walls.md")
    section = document.sections[2]
    sentence = section.paragraphs[0].sentences[0].of(document.readable)
    best = asked(example_library, sentence, 1)[0]
    assert (best.document.id, best.number) == (document.id, 2)
    assert best.passage.shown.split() == sentence.split()


def test_a_stored_document_finds_sections_of_others(example_library: Library) -> None:
    hits = example_library.rank_sections("tower-repair-report.pdf", 5)
    assert "pointing-old-walls.md" in {hit.document.id for hit in hits}
    assert "tower-repair-report.pdf" not in {hit.document.id for hit in hits}


def test_a_condition_restricts_the_documents(example_library: Library) -> None:
    hits = example_library.rank_sections(read_text_string("mercury in water"), 5, "id LIKE '%.html'")
    assert hits and all(hit.document.id.endswith(".html") for hit in hits)


def test_only_the_candidates_of_a_large_library_are_read(tmp_path, tiny: HybridMatcher) -> None:
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(candidates=4))
    library.add(write_texts(tmp_path / "texts", range(40)))
    question = made_up_text(7).partition(".")[0]
    best = asked(library, question, 1)[0]
    assert best.document.id == "d007.txt"


def test_a_document_longer_than_a_question_is_judged_by_its_probability(example_library: Library) -> None:
    text = " ".join(["The council met and the minutes were read out aloud to all."] * 8)
    assert len(text.split()) > QUESTION_WORDS
    assert rank_text(text, example_library, 1).stands_out is None


def test_an_empty_library_answers_nothing(library: Library, tmp_path) -> None:
    library.add(write_texts(tmp_path / "texts", range(1)))
    library.remove("d000.txt")
    hits = asked(library, "Is there anything?")
    assert hits == [] and not hits.stands_out


def test_a_question_of_common_words_finds_nothing_that_stands_out(example_library: Library) -> None:
    assert not asked(example_library, "what is it and of which").stands_out


def test_directed_scores_are_the_plain_loop() -> None:
    from longmatch.matching.levels import corrected, directed_group_scores, interpolation
    from longmatch.ragged import unit_rows

    chance = np.random.default_rng(0)
    a, b = (SentenceVectors(unit_rows(chance.normal(size=(n, 8))), chance.uniform(0, 0.5, size=(n, 8))) for n in (5, 7))
    a_offsets, b_offsets = np.array([0, 2, 5]), np.array([0, 3, 4, 7])
    found = directed_group_scores(a, b, a_offsets, b_offsets)
    for row in range(2):
        for column in range(3):
            mine = range(a_offsets[row], a_offsets[row + 1])
            theirs = b.vectors[b_offsets[column] : b_offsets[column + 1]]
            weights = interpolation(np.array([len(theirs)]))[0]
            each = [corrected((theirs @ a.vectors[i]).max(), a.expectations[i] @ weights) for i in mine]
            assert found[row, column] == pytest.approx(np.mean(each))


def test_pages_are_those_of_paragraphs() -> None:
    assert Document("a", "A", "text", ()).page_at(0) is None
