from hypothesis import given
from hypothesis import strategies as st

from longmatch.documents import Span
from longmatch.render.view import cut, mark_words

TEXT = "abcdefghijklmnopqrstuvwxyz"
spans = st.tuples(st.integers(0, 26), st.integers(0, 26)).map(lambda ends: Span(min(ends), max(ends)))


@given(st.lists(spans, max_size=8), st.integers(0, 26))
def test_each_character_belongs_to_exactly_the_passages_around_it(passages, middle):
    blocks = [Span(0, middle), Span(middle, 26)]
    at = 0
    for block, runs in zip(blocks, cut(TEXT, blocks, passages), strict=True):
        assert "".join(run.text for run in runs) == block.of(TEXT)
        for run in runs:
            for place in range(at, at + len(run.text)):
                assert run.passages == tuple(n for n, p in enumerate(passages) if p.start <= place < p.end)
            at += len(run.text)


@given(st.text("ab c.本", max_size=30), st.lists(st.text("ab本", min_size=1, max_size=3), max_size=4))
def test_marking_words_loses_no_text(text, words):
    assert "".join(piece for piece, _ in mark_words(text, words)) == " ".join(text.split())


def test_only_whole_words_are_marked():
    assert [p for p, shared in mark_words("A cat in category, CAT's cat.", ["cat"]) if shared] == ["cat", "CAT", "cat"]


def test_a_phrase_is_marked_across_a_line_end():
    assert [p for p, shared in mark_words("the silt\n loam here", ["silt loam"]) if shared] == ["silt loam"]


def test_chinese_characters_are_marked_without_spaces_around_them():
    assert [p for p, shared in mark_words("本院认为水", ["水"]) if shared] == ["水"]


def test_words_with_signs_are_taken_literally():
    assert [p for p, shared in mark_words("c++ and (c)", ["(c)"]) if shared] == ["(c)"]
