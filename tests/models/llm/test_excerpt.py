"""Long documents within a budget."""

from longmatch.documents.document import Span
from longmatch.documents.read import read, read_text_string
from longmatch.lexical.matcher import tfidf_matcher
from longmatch.models.llm.excerpt import GAP, excerpt, linked_passages, tokens

SENTENCES = [f"Sentence number {i} tells of subject {i * 7}." for i in range(400)]
LONG = read_text_string("\n\n".join(SENTENCES), "long")


def test_a_short_document_is_read_whole():
    document = read_text_string("Ferries cross the strait. Bread needs flour.", "short")
    found = excerpt(document, [], 500)
    assert "Ferries cross the strait. Bread needs flour." in found.text
    assert found.coverage == 1 and GAP.strip() not in found.text


def test_a_long_document_keeps_to_the_budget():
    for budget in (50, 200, 1000):
        found = excerpt(LONG, [], budget)
        assert tokens(found.text) <= budget * 1.2 and 0 < found.coverage < 1
        assert SENTENCES[0] in found.text and found.text.endswith("[…]")


def test_the_passages_are_in_it_with_their_neighbours_and_gaps_are_marked():
    start = LONG.readable.index(SENTENCES[300])
    text = excerpt(LONG, [Span(start, start + len(SENTENCES[300]))], 300).text
    assert all(SENTENCES[i] in text for i in (0, 299, 300, 301)) and SENTENCES[298] not in text
    assert text.index(SENTENCES[0]) < text.index(GAP) < text.index(SENTENCES[300])


def test_a_text_without_sentences_is_cut_to_the_budget():
    found = excerpt(read_text_string("word " * 20_000, "words"), [], 1000)
    assert 700 < tokens(found.text) <= 1100


def test_the_same_document_gives_the_same_excerpt():
    assert excerpt(LONG, [Span(0, 10)], 300) == excerpt(LONG, [Span(0, 10)], 300)


def test_title_and_headings_are_listed(tmp_path):
    (tmp_path / "boats.md").write_text("# Boats\n\nThey float.\n\n## Ferries\n\nThey cross.\n")
    text = excerpt(read(tmp_path / "boats.md"), [], 500).text
    assert text.startswith("Title: Boats\nSections: ") and "Ferries" in text.splitlines()[1]


def test_a_table_between_two_sentences_is_not_sent(tmp_path):
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 300
    (tmp_path / "table.md").write_text(f"# Boats\n\nThey float.\n\n{table}\nThey cross.\n")
    text = excerpt(read(tmp_path / "table.md"), [], 500).text
    assert text.endswith("They float.\nThey cross.")


def test_a_word_that_a_cut_divides_stays_whole():
    text = "Unbroken" * 200
    assert text in excerpt(read_text_string(text, "word"), [], 1000).text


def test_they_are_those_of_tfidfs_alignments_in_their_order(examples):
    matcher, documents = tfidf_matcher(), list(examples.values())[:4]
    first, *rest = matcher.encode(documents)
    for other in rest:
        aligned = matcher.explain(first, other).alignments
        a, b = linked_passages(first, other)
        assert [span.start for span in a] == list(dict.fromkeys(link.a.start for link in aligned))
        assert [span.start for span in b] == list(dict.fromkeys(link.b.start for link in aligned))
