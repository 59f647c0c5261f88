"""A library by token vectors keeps tokens instead of vectors, and answers as memory does."""

from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read, read_text_string
from longmatch.encoders.pretrained import TOKEN_VECTORS
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.library.library import Library
from longmatch.library.rows import ENCODING_COLUMNS
from longmatch.models.sdr.matcher import SdrMatcher
from tests.library.tiny import write_texts


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("texts"), range(16))


@pytest.fixture(scope="module")
def library(texts: Path) -> Library:
    made = Library(texts.parent / "library", backbone=TOKEN_VECTORS)
    made.add(texts)
    return Library(texts.parent / "library")  # opened as a user does who has forgotten how it was made


def test_it_opens_with_the_backbone_that_it_was_made_with(library):
    assert isinstance(library.matcher.backbone, TokenVectors)
    assert library.summary()["backbone"] == TOKEN_VECTORS and library.summary()["vectors"] == "none"


def test_no_vectors_of_sentences_are_stored(library):
    names = library.store.documents.schema.names
    assert {"tokens", "word_tokens"} <= set(names) and not {"vectors", "expectations"} & set(names)


def test_the_order_and_the_scores_are_those_of_memory(library, texts):
    matcher = HybridMatcher(TokenVectors.load())
    encodings = matcher.encode([read(path) for path in sorted(texts.iterdir())])
    query, scores = encodings[0], matcher.collect(encodings).scores(encodings[0])
    order = [i for i in np.argsort(-scores, kind="stable").tolist() if i][:5]
    found = library.rank(query.document.id, k=5)
    assert [hit.document.id for hit in found] == [encodings[i].document.id for i in order]
    assert [hit.score for hit in found] == pytest.approx([scores[i] for i in order], abs=1e-5)


def test_the_index_and_the_store_make_the_same_vectors(library):
    id = next(iter(library))
    (kept,) = library.searcher().encodings([id])
    (row,) = library.store.fetch([id], ENCODING_COLUMNS)
    stored = row.encoding()
    fresh = library.matcher.encode([library.show(id)])[0]
    for one in (kept, stored):
        assert np.array_equal(one.sentence_vectors.vectors, fresh.sentence_vectors.vectors)
        assert np.array_equal(one.sentence_vectors.expectations, fresh.sentence_vectors.expectations)
        assert np.allclose(one.vector, fresh.vector, atol=1e-6)


def test_sections_pairs_and_sdr_read_the_vectors_too(library):
    first = next(iter(library))
    assert library.rank_sections(read_text_string("the river flood at the harbour crane"), k=3)
    assert library.pairs(minimum=0.0).pairs
    by_sdr = [hit.id for hit in library.rank(first, k=3, by="sdr")]
    matcher = SdrMatcher(library.matcher.backbone)
    others = [library.show(id) for id in library if id != first]
    assert by_sdr == [hit.document.id for hit in matcher.rank(library.show(first), others, 3)]


def test_a_renamed_file_keeps_its_tokens(tmp_path):
    folder = write_texts(tmp_path / "texts", range(3))
    library = Library(tmp_path / "library", backbone=TOKEN_VECTORS)
    library.add(folder)
    before = library.searcher().encodings(["d001.txt"])[0].sentence_vectors.vectors
    (folder / "d001.txt").rename(folder / "e001.txt")
    library.add(folder, prune=True)
    assert np.array_equal(library.searcher().encodings(["e001.txt"])[0].sentence_vectors.vectors, before)


def test_a_library_of_vectors_can_be_encoded_again_by_token_vectors_and_back(tmp_path, tiny_bert):
    folder = write_texts(tmp_path / "texts", range(4))
    Library(tmp_path / "library", backbone=str(tiny_bert)).add(folder)
    for backbone, vectors in ((TOKEN_VECTORS, "none"), (str(tiny_bert), "float16")):
        library = Library(tmp_path / "library", backbone=backbone)
        library.reencode()
        again = Library(tmp_path / "library")
        assert again.summary()["vectors"] == vectors and len(again.rank("d000.txt", k=2)) == 2
