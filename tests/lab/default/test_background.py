"""Background statistics of several kinds of text, from training documents alone."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.space import Space
from longmatch.default.statistics import background_from_bytes, read_space
from longmatch.default.unrelated import Style, root_frequencies
from longmatch.documents import Document, read_text_string
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.errors import LongmatchError
from longmatch.lab.datasets import DataFolder
from longmatch.lab.default import background
from longmatch.lab.default.background import (
    APART,
    FOLDER,
    FOREIGN,
    GENERAL,
    HELD_OUT,
    UNIT,
    WITHIN,
    KindOfText,
    combine,
    common_words,
    document_shares,
    fit_style,
    read_kinds,
    training_documents,
    unrelated_sentences,
    write_background,
)
from longmatch.lab.default.pipeline import matcher_of
from longmatch.lexical.terms import hash_word, terms_of
from longmatch.lexical.weights import Frequencies, read_term_background
from tests.default.test_unrelated import WORDS, drawn, usual

LEGAL, NEWS = "legal", "news"


def hashes(*words: str) -> "np.typing.NDArray[np.uint64]":
    return np.array([hash_word(word) for word in words], dtype=np.uint64)


def shares(**words: float) -> Frequencies:
    """The share of the documents that have each word."""
    ids, order = np.unique(hashes(*words), return_index=True)
    return Frequencies(1.0, ids, np.array(list(words.values()))[order])


def kind(sentences: Sequence[Sequence[float]] = (), phrases: Frequencies | None = None, **words: float) -> KindOfText:
    vectors = np.array(sentences, dtype=np.float16).reshape(-1, 2)
    space = Space(np.array([len(words), 0.0]), np.ones(2)) if len(vectors) else None
    style = Style(*(np.full(shape, 0.5) for shape in ((2,), (3, 2), (2, 2), (1,), (1,)))) if len(vectors) else None
    return KindOfText({"words": shares(**words), "phrases": phrases or shares()}, vectors, style, space)


@pytest.fixture
def kinds() -> dict[str, KindOfText]:
    return {
        GENERAL: kind([(1, 0), (0.6, 0.8)], the=0.9, river=0.4, court=0.1, model=0.05),
        LEGAL: kind([(0, 1), (0.8, 0.6), (1, 0)], the=1.0, court=0.95, phrases=shares(x=0.5)),
        FOREIGN[0]: kind(法=0.8, the=0.3),
    }


def test_a_document_that_only_test_or_validation_labels_name_is_not_counted(make_data: Callable[..., Path]) -> None:
    pairs = [("train", "boats", "ships", 1), ("test", "bread", "boats", 1), ("validation", "stars", "ships", 0)]
    folder = DataFolder(make_data(pairs=pairs, qrels=[("train", "cakes", "boats", 1), ("test", "stars", "bread", 1)]))
    assert {document.id for document in training_documents(folder)} == {"boats", "ships", "cakes"}


def test_all_documents_of_a_set_without_labels_are_counted(make_data: Callable[..., Path]) -> None:
    folder = DataFolder(make_data())
    assert len(list(training_documents(folder))) == len(list(folder.documents())) == 5


def test_shares_are_of_the_documents_and_terms_of_few_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["The river rose.", "The river fell. The river rose.", "The court sat.", "The judge sat."]
    documents = [read_text_string(text, str(n)) for n, text in enumerate(texts)]
    monkeypatch.setattr(background, "LEAST_DOCUMENTS", {"words": 2, "phrases": 3})
    found = document_shares(documents, TokenVectors.load())[0]
    the, river, court = found["words"].share(hashes("the", "river", "court")).tolist()
    assert (the, river, court) == (1.0, 0.5, 0.0)
    assert len(found["phrases"].ids) == 0  # "the river" and "river rose" are in two
    monkeypatch.setattr(background, "LEAST_DOCUMENTS", {"words": 2, "phrases": 2})
    phrases = document_shares(documents, TokenVectors.load())[0]["phrases"]
    wanted = terms_of(read_text_string("The river rose.", "asked")).phrases.counts.ids
    assert set(phrases.ids.tolist()) == set(wanted.tolist())
    assert phrases.counts.tolist() == [0.5] * 3


def test_a_term_counts_as_in_the_kind_that_has_it_most(kinds: dict[str, KindOfText]) -> None:
    terms, _, _ = combine(kinds)
    asked = "the", "river", "court", "model", "法", "unheard"
    assert terms.words.documents == UNIT
    assert terms.words.share(hashes(*asked)) == pytest.approx([1.0, 0.4, 0.95, 0.05, 0.8, 0.0])
    assert terms.phrases.share(hashes("x")).tolist() == [0.5]
    assert (np.diff(terms.words.ids.astype(object)) > 0).all()


def test_everyday_words_are_those_of_general_text(kinds: dict[str, KindOfText]) -> None:
    terms, _, _ = combine(kinds)
    assert set(terms.everyday.tolist()) == set(hashes("the", "river").tolist())  # though every judgment has "court"


def test_foreign_words_are_known_and_not_familiar_unless_another_kind_has_them(kinds: dict[str, KindOfText]) -> None:
    terms, _, _ = combine(kinds)
    assert terms.foreign.tolist() == hashes("法").tolist()
    assert terms.known(hashes("法", "the", "court")).all()
    assert terms.familiar(hashes("法", "the", "court")).tolist() == [False, True, True]


def test_each_kind_gives_equally_many_sentences_and_a_foreign_one_none(kinds: dict[str, KindOfText]) -> None:
    _, sentences, space = combine(kinds)
    assert sentences.kinds == 2
    assert space.centre.tolist() == [3.0, 0.0]  # the mean of both
    expected = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.8, 0.6]])
    assert np.allclose(sentences.vectors, expected, atol=1e-3)


def test_without_general_text_there_is_no_background(kinds: dict[str, KindOfText]) -> None:
    del kinds[GENERAL]
    with pytest.raises(LongmatchError, match="needs general text"):
        combine(kinds)


@pytest.fixture
def written(kinds: dict[str, KindOfText], tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    for name, each in kinds.items():
        each.write(tmp_path / FOLDER / f"{name}.safetensors")
    return tmp_path


def test_kinds_come_back_from_disk_and_one_can_be_left_out(written: Path, kinds: dict[str, KindOfText]) -> None:
    found = read_kinds(written)
    assert list(found) == list(kinds)
    for name, each in kinds.items():
        assert np.array_equal(found[name].sentences, each.sentences)
        assert (found[name].space is None) == (each.space is None)
        if each.space:
            assert np.array_equal(found[name].space.centre, each.space.centre)
        assert found[name].terms["words"].ids.tolist() == each.terms["words"].ids.tolist()
        assert found[name].terms["words"].counts == pytest.approx(each.terms["words"].counts)
    assert list(read_kinds(written, without=LEGAL)) == [GENERAL, FOREIGN[0]]
    terms, sentences, _ = combine(read_kinds(written, without=LEGAL))
    assert terms.words.share(hashes("court")) == pytest.approx([0.1])
    assert sentences.kinds == 1


def test_a_matcher_without_a_kind_of_text_does_not_know_it(written: Path) -> None:
    found = [matcher_of(written, without).statistics for without in (None, LEGAL)]
    assert [x.terms.words.share(hashes("court"))[0] for x in found] == pytest.approx([0.95, 0.1])
    assert [x.sentences.kinds for x in found] == [2, 1]


def test_what_is_written_is_what_the_package_holds(written: Path, kinds: dict[str, KindOfText]) -> None:
    write_background(written)
    terms, sentences, space = combine(kinds)
    again = read_term_background(written / "frequencies.safetensors")
    assert again.words.share(terms.words.ids) == pytest.approx(terms.words.share(terms.words.ids))
    vectors = background_from_bytes((written / "sentences.safetensors").read_bytes())
    assert vectors.kinds == sentences.kinds and np.allclose(vectors.vectors, sentences.vectors, atol=1e-3)
    assert read_space(written / "space.safetensors").centre == pytest.approx(space.centre)


def test_unrelated_sentences_are_as_many_as_asked_for_from_all_documents(
    examples: dict[str, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    documents, table = list(examples.values())[:5], TokenVectors.load()
    for asked in (5, 8, 100):
        monkeypatch.setattr(background, "SENTENCES_OF_KIND", asked)
        vectors = unrelated_sentences(documents, table, np.random.default_rng(0))
        assert len(vectors) == len(np.unique(vectors, axis=0)) == asked
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(asked), abs=1e-3)


def test_common_words_are_those_of_most_documents_whatever_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "COMMON_WORDS", 3)
    ids = np.array([2, 3, 5, 8, 9], dtype=np.uint64)
    assert common_words(Frequencies(1.0, ids, np.array([0.2, 0.9, 0.5, 0.5, 1.0]))).tolist() == [3, 5, 9]


def test_deviations_are_independent_of_each_other_and_of_spread_1() -> None:
    documents = drawn(usual(1), 2_000, 1)
    style = fit_style(WORDS, documents)
    found = style.deviations(*root_frequencies(WORDS, drawn(usual(1), 2_000, 2)))
    assert np.abs(found.mean(axis=0)).max() < 0.15
    assert np.cov(found.T) == pytest.approx(np.eye(len(WORDS)), abs=0.3)


def test_most_documents_that_it_was_not_learnt_from_are_within_its_limits() -> None:
    documents = drawn(usual(1), 1_200, 1)
    style = fit_style(WORDS, documents)
    frequencies, words = root_frequencies(WORDS, documents[::HELD_OUT])
    within = np.linalg.norm(style.deviations(frequencies, words), axis=1) <= style.range
    assert within.mean() == pytest.approx(WITHIN, abs=0.01)
    pairs = style.of_kind(frequencies, words)
    assert pairs[np.triu_indices(len(words), 1)].mean() == pytest.approx(WITHIN**2 * APART, abs=0.03)


def test_short_documents_count_like_long_ones() -> None:
    style = fit_style(WORDS, drawn(usual(1), 1_200, 1))
    lengths = [
        [np.linalg.norm(style.deviations(*root_frequencies(WORDS, [each]))[0]) for each in part] for part in halves()
    ]
    assert np.median(lengths[0]) == pytest.approx(np.median(lengths[1]), rel=0.25)


def halves():
    """The shorter and the longer half of some documents."""
    documents = sorted(drawn(usual(1), 200, 3), key=lambda counts: counts.counts.sum())
    return documents[:100], documents[100:]
