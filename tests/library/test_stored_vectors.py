"""Sentence vectors in the store: float16, or int8 by choice."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.errors import LongmatchError
from longmatch.library.library import Library
from longmatch.library.rows import VECTOR_TYPES, pack_vectors, unpack_vectors
from longmatch.ragged import unit_rows
from tests.library.tiny import made_up_text


@pytest.mark.parametrize("kind", VECTOR_TYPES)
@settings(deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 20))
def test_what_is_stored_comes_back_nearly_as_it_was(kind, seed, count):
    vectors = unit_rows(np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32))
    back = unpack_vectors(pack_vectors(vectors, kind), count)
    assert back.shape == vectors.shape
    cosines = (unit_rows(back.astype(np.float64)) * unit_rows(vectors.astype(np.float64))).sum(1)
    assert cosines.min() > (0.999999 if kind == "float16" else 0.9998)
    assert np.allclose(np.linalg.norm(back, axis=1), 1, atol=1e-3)


def test_a_library_keeps_float16_unless_told_otherwise(library: Library, texts: Path):
    library.add(texts)
    assert library.summary()["vectors"] == "float16"
    assert kept(library) == pa.list_(pa.float16())


def test_int8_ranks_as_float16_does_up_to_rounding(library: Library, tiny, texts: Path, tmp_path: Path):
    library.add(texts)
    small = Library(tmp_path / "small", tiny, vectors="int8")
    small.add(texts)
    assert kept(small) == pa.list_(pa.int8())
    assert Library(small.address, tiny).summary()["vectors"] == "int8"  # it is told once
    for id in library:
        ours, theirs = ({hit.id: hit.score for hit in asked.rank(id, k=7)} for asked in (library, small))
        assert ours.keys() == theirs.keys()
        assert np.allclose([ours[other] for other in ours], [theirs[other] for other in ours], atol=5e-3)
    best = [asked.rank("d001.txt", k=1, by="sdr")[0].id for asked in (library, small)]
    assert best[0] == best[1]


def test_a_library_of_one_kind_refuses_the_other_in_a_sentence(library: Library, tiny, texts: Path):
    library.add(texts)
    (texts / "new.txt").write_text(made_up_text(9))
    with pytest.raises(LongmatchError) as error:
        Library(library.address, tiny, vectors="int8").add(texts)
    assert "keeps its vectors in float16, not in int8" in str(error.value)
    assert "--reencode --vectors int8" in str(error.value)


def test_encoding_again_changes_the_kind(library: Library, tiny, texts: Path):
    library.add(texts)
    before = [hit.id for hit in library.rank("d001.txt", k=3)]
    Library(library.address, tiny, vectors="int8").reencode()
    again = Library(library.address, tiny)
    assert kept(again) == pa.list_(pa.int8())
    assert [hit.id for hit in again.rank("d001.txt", k=3)] == before


def test_a_library_says_how_its_vectors_were_computed(library: Library, texts: Path):
    library.add(texts)
    assert library.summary()["computes"] == "float32, openvino on cpu"


def kept(library: Library) -> pa.DataType:
    """The type of the column."""
    return library.store.documents.schema.field("vectors").type
