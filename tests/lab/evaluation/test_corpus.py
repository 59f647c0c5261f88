"""The documents of a data folder, in file order or with shuffled sections: every span still points at its text."""

from hypothesis import given
from hypothesis import strategies as st

from longmatch.documents import Document
from longmatch.documents.draft import Draft
from longmatch.lab.evaluation.corpus import Corpus, shuffle_sections
from longmatch.parallel import use_processes

words = st.text("abc de.", min_size=1, max_size=30).filter(str.strip)
sections = st.lists(st.tuples(words, st.lists(words, max_size=3)), min_size=1, max_size=6)


def test_documents_read_in_two_processes_are_those_read_in_one(example_corpus: Corpus) -> None:
    alone = example_corpus.documents(example_corpus.ids)
    use_processes(2)
    together = example_corpus.documents(example_corpus.ids)
    use_processes(1)
    assert together == alone


def drafted(parts: list[tuple[str, list[str]]]) -> Document:
    draft = Draft()
    for heading, paragraphs in parts:
        draft.heading(heading)
        for paragraph in paragraphs:
            draft.paragraph(paragraph)
    return draft.document("drafted")


def content(document: Document) -> list[tuple[str, str, list[str], list[list[str]]]]:
    text = document.text
    return [
        (
            s.heading,
            s.of(text),
            [p.of(text) for p in s.paragraphs],
            [[x.of(text) for x in p.sentences] for p in s.paragraphs],
        )
        for s in document.sections
    ]


@given(sections, st.integers(0, 5))
def test_every_section_paragraph_and_sentence_is_found_again_at_its_span(parts, seed) -> None:
    document = drafted(parts)
    moved = shuffle_sections(document, seed)
    assert sorted(map(repr, content(moved))) == sorted(map(repr, content(document)))
    edges = [(s.start, s.end) for s in moved.sections]
    assert edges == sorted(edges)
    assert edges[0][0] == 0
    assert edges[-1][1] == len(moved.text)


def test_the_order_comes_from_the_seed_and_the_documents_id() -> None:
    document = drafted([(letter, [f"Text of {letter}."]) for letter in "ABCDEFGH"])
    first, again, other = (shuffle_sections(document, seed).text for seed in (1, 1, 2))
    assert first == again
    assert len({first, other, document.text}) == 3


def test_blanked_markup_moves_with_its_text() -> None:
    text = "# One\n\nBold *one*.\n\n# Two\n\nBold *two*."
    document = Document("m", "m", text, drafted([("x", ["y"])]).sections, plain=text.replace("*", " "))
    halves = [
        s.__class__(a, b, "", 1, ()) for s, (a, b) in zip(document.sections * 2, [(0, 19), (21, 40)], strict=True)
    ]
    moved = shuffle_sections(Document("m", "m", text, tuple(halves), plain=document.plain), 3)
    assert moved.plain == moved.text.replace("*", " ")
