"""Questions to the example collection: the sections that answer them, and whether anything does."""

from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.documents.read import read_text_string
from longmatch.errors import LongmatchError
from longmatch.library.library import Library, rank_text
from longmatch.library.search.encode import QUESTION_WORDS
from longmatch.library.search.sections import READ, find_sections
from longmatch.library.settings import LibrarySettings
from longmatch.matching.hits import SectionHits
from longmatch.matching.levels import SentenceVectors
from longmatch.render.json import to_dict
from tests.library.tiny import KeenReader, made_up_text, write_texts

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


def test_documents_for_a_question_are_in_the_order_of_the_score_and_of_their_best_sections(
    example_library: Library,
) -> None:
    question, searcher = read_text_string("Why does lime mortar suit soft old bricks?"), example_library.searcher()
    query = searcher.query(example_library.matcher.encode([question])[0])
    by_score = [encoding.document.id for encoding in searcher.rank(query, 40).candidates]
    by_section = find_sections(searcher, query).documents
    mixed = {id: 1 / (10 + place) + 1 / (10 + by_section.index(id)) for place, id in enumerate(by_score)}
    expected = sorted(by_score, key=lambda id: -mixed[id])
    assert [hit.id for hit in example_library.rank(question, 40)] == expected != by_score


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


MORTAR = "Why does lime mortar suit soft old bricks better than cement?"


def test_a_reader_puts_the_sections_it_finds_good_first_and_their_documents(example_library: Library) -> None:
    query = read_text_string(MORTAR)
    before, keen = example_library.rank_sections(query, 20), KeenReader("frost")
    sections = example_library.rank_sections(query, 20, deep=keen)
    good = [hit for hit in sections if hit.score > 0.5]
    assert 0 < len(good) < len(sections) and good == sections[: len(good)]
    assert {(hit.id, hit.number) for hit in sections} == {(hit.id, hit.number) for hit in before}
    assert [(h.id, h.number) for h in good] == [(h.id, h.number) for h in before if (h.id, h.number) in places(good)]
    hits = example_library.rank(query, 5, deep=keen)
    of_sections = list(dict.fromkeys(hit.id for hit in sections))
    assert hits[0].id == sections[0].id
    assert {hit.id for hit in hits[: len(of_sections)]} == set(of_sections)
    assert hits.reader == sections.reader == "keen-reader" and before.reader is None
    assert sections.remarks == ["The best sections were read by keen-reader."] == hits.remarks[:1]
    assert to_dict(sections)["reader"] == to_dict(hits)["reader"] == "keen-reader"


def places(hits: SectionHits) -> set[tuple[str, int]]:
    return {(hit.id, hit.number) for hit in hits}


def test_a_reader_that_tells_nothing_apart_leaves_the_order(example_library: Library) -> None:
    query = read_text_string(MORTAR)
    sections = example_library.rank_sections(query, 8, deep=KeenReader("no such word"))
    before = example_library.rank_sections(query, 8)
    assert [(hit.id, hit.number, hit.passage) for hit in sections] == [(h.id, h.number, h.passage) for h in before]


def test_a_reader_reads_the_best_chunk_of_some_sections_and_of_all_that_are_asked_for(example_library: Library) -> None:
    query, few, many = read_text_string(MORTAR), KeenReader(""), KeenReader("")
    example_library.rank(query, 3, deep=few)
    example_library.rank_sections(query, 25, deep=many)
    assert len(few.read) == READ and len(many.read) == 25 and many.read[:READ] == few.read
    hits = example_library.rank_sections(query, 25, deep=many)
    assert all(any(hit.passage.shown in passage for passage in many.read) for hit in hits)


def test_documents_without_a_section_that_was_read_come_after_those_with_one(example_library: Library) -> None:
    query = read_text_string(MORTAR)
    hits = example_library.rank(query, 40, deep=KeenReader("lime"))
    assert sorted(hit.id for hit in hits) == sorted(hit.id for hit in example_library.rank(query, 40))


def test_what_a_reader_does_not_know_is_answered_without_it(example_library: Library, tmp_path: Path) -> None:
    query, keen = read_text_string("石灰砂浆为什么适合旧砖？"), KeenReader("")
    sections = example_library.rank_sections(query, 5, deep=keen)
    assert sections.reader is None and keen.read == []
    assert [hit.id for hit in sections] == [hit.id for hit in example_library.rank_sections(query, 5)]


def test_deep_reading_is_for_questions(example_library: Library) -> None:
    keen, words = KeenReader(""), read_text_string("The wall was built of soft brick and of lime. " * 9)
    for ask in (example_library.rank, example_library.rank_sections):
        for query in (words, "tower-repair-report.pdf"):
            with pytest.raises(LongmatchError, match="Deep reading is for questions of at most 40 words"):
                ask(query, deep=keen)
    with pytest.raises(LongmatchError, match="Leave out the other model"):
        example_library.rank(read_text_string(MORTAR), by="sdr", deep=keen)
    with pytest.raises(LongmatchError, match="Deep reading needs a library"):
        rank_text(MORTAR, [], deep=keen)


def test_the_candidates_of_a_large_library_are_read_too(tmp_path: Path, tiny: HybridMatcher) -> None:
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(candidates=4))
    library.add(write_texts(tmp_path / "texts", range(40)))
    query = read_text_string(made_up_text(7).partition(".")[0])
    hits = library.rank(query, 3, deep=KeenReader("no such word"))
    assert hits[0].id == "d007.txt" and len(hits) == 3


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
