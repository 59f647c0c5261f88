"""The index stays true to the store, and is made again where it does not fit."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.lexical.terms import KINDS, Counts, Kind
from longmatch.lexical.weights import Frequencies, QueryTerms
from longmatch.library.index.index import FORMAT, Index
from longmatch.library.index.records import record_files
from longmatch.library.index.segment import DTYPES, TITLE_WORDS, Occurrences, take_runs, write_array
from longmatch.library.library import Library
from longmatch.library.rows import ENCODING_COLUMNS
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import made_up_text, write_texts


def assert_true(library: Library) -> None:
    """The index holds what is counted from the documents themselves."""
    searcher = library.searcher()
    rows = library.store.fetch(list(library), ENCODING_COLUMNS)
    index, encodings = searcher.index, [row.encoding() for row in rows]
    assert set(index.content_hashes()) == set(library)
    for kind in KINDS:
        counted = Frequencies.of(e.terms.of(kind).counts for e in encodings)
        kept = index.frequencies(kind)
        assert kept.documents == counted.documents
        assert kept(counted.ids).tolist() == counted.counts.tolist()
        assert all(set(counted.frequent(count)) <= set(kept.frequent(count)) for count in (1.0, 1.5, 3.0))
    documents = {kind: Counter(id for e in encodings for id in e.terms.of(kind).counts.ids.tolist()) for kind in KINDS}
    for encoding in encodings:
        assert_holds(index, encoding, documents)
    for segment in index.segments:
        named = {*DTYPES, "segment.json", *record_files(segment.folder)}
        assert not [path.name for path in segment.folder.iterdir() if path.name not in named]


def assert_holds(index: Index, encoding: Encoding, documents: dict[Kind, Counter[int]]) -> None:
    """The index holds the terms of a document, in how many documents each is, its title and its vectors."""
    id = encoding.document.id
    selected = index.select([id])
    for name, counts in {
        "words": encoding.terms.words.counts,
        "phrases": encoding.terms.phrases.counts,
        TITLE_WORDS: encoding.title_words,
    }.items():
        held = selected.counts(name)
        assert held.ids.tolist() == counts.ids.tolist() and held.counts.tolist() == counts.counts.tolist()
    for kind in KINDS:
        counts = encoding.terms.of(kind).counts
        counted = index.counted_terms(id, kind)
        assert counted.counts.ids.tolist() == counts.ids.tolist()
        assert counted.counts.counts.tolist() == counts.counts.tolist()
        assert counted.documents.tolist() == [documents[kind][id] for id in counts.ids.tolist()]
        assert counted.background.tolist() == index.statistics.terms.frequencies(kind)(counts.ids).tolist()
        weights = (1 + np.log(counts.counts)) * index.rarity.idf(kind).idf(counts.ids)
        assert selected.column(f"{kind}.norms") == pytest.approx([np.linalg.norm(weights)], rel=1e-5)
    assert selected.column("lengths").tolist() == [encoding.words]
    assert selected.column("titles")[0].tolist() == encoding.title_terms.tolist()
    assert selected.column("title_vectors")[0].tolist() == encoding.title_vector.tolist()
    placed = (encoding.vector - index.rarity.space.centre) / index.rarity.space.spread
    assert selected.column("means")[0].tolist() == encoding.vector.tolist()
    assert selected.column("means.norms") == pytest.approx([np.linalg.norm(placed)], rel=1e-5)


def test_frequencies_stay_true_through_additions_replacements_and_removals(library: Library, texts: Path) -> None:
    library.add(texts)
    assert_true(library)
    (texts / "d003.txt").write_text(made_up_text(42))
    (texts / "d004.txt").unlink()
    write_texts(texts, range(20, 25))
    library.add(texts, prune=True)
    assert_true(library)
    library.remove(["d000.txt", "d021.txt"])
    assert_true(library)


def test_a_term_of_removed_documents_only_is_forgotten(library: Library, texts: Path) -> None:
    (texts / "d000.txt").write_text("Xylophones zigzag quixotically. " + made_up_text(0))
    library.add(texts)
    term = library.searcher().encodings(["d000.txt"])[0].terms.words.ids[:1]
    assert library.searcher().index.frequencies("words")(term).tolist() == [1]
    library.remove("d000.txt")
    assert library.searcher().index.frequencies("words")(term).tolist() == [0]


@pytest.mark.parametrize(
    "harm", ["missing", "behind", "cut short", "record cut short", "other statistics", "older format"]
)
def test_an_index_that_does_not_fit_is_made_again(
    library: Library, texts: Path, opened: Callable[[], Library], harm: str
) -> None:
    library.add(texts)
    before = [(hit.id, hit.score, hit.probability) for hit in library.rank("d001.txt")]
    place = Path(library.address) / "index"
    manifest = place / "manifest.json"
    facts = json.loads(manifest.read_text())
    if harm == "missing":
        shutil.rmtree(place)
    elif harm == "behind":
        manifest.write_text(json.dumps(facts | {"version": 1, "segments": [], "dead": []}))
    elif harm == "cut short":
        (place / facts["segments"][0] / "phrases.terms").write_bytes(b"12345678")
    elif harm == "record cut short":
        (place / facts["segments"][0] / "records.0").write_bytes(b"12345678")
    elif harm == "older format":
        for name in DTYPES:
            if name.endswith((".held", ".counts", ".offsets")):
                (place / facts["segments"][0] / name).unlink()
        manifest.write_text(json.dumps({name: x for name, x in facts.items() if name != "unrelated"} | {"format": 6}))
    else:
        manifest.write_text(json.dumps(facts | {"background": "other"}))
    again = opened()
    assert [(hit.id, hit.score, hit.probability) for hit in again.rank("d001.txt")] == before
    assert_true(again)
    assert json.loads(manifest.read_text())["format"] == FORMAT


def test_merging_in_many_slices_gives_what_one_slice_gives(tmp_path: Path, tiny: HybridMatcher, texts: Path) -> None:
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(merge_entries=50))
    library.add(texts)
    write_texts(texts, range(30, 40))
    library.add(texts)
    library.remove("d002.txt")
    assert_true(library)
    searcher = library.searcher()
    for segment in searcher.index.segments:
        for kind in KINDS:
            assert (np.diff(segment[f"{kind}.terms"].astype(object)) > 0).all()
            assert segment[f"{kind}.starts"][-1] == len(segment[f"{kind}.documents"])
            assert segment[f"{kind}.offsets"][-1] == len(segment[f"{kind}.held"])


@given(st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=30), min_size=1, max_size=6), st.integers(1, 8))
def test_the_heaviest_terms_are_those_of_the_largest_weight(documents: list[list[int]], most: int) -> None:
    counts = [Counts.of(np.array(terms, dtype=np.uint64)) for terms in documents]
    found = Occurrences.of(counts)
    idf = 1.0 + (found.term % np.uint64(5)).astype(float)
    kept = found.heaviest(idf, most)
    weight = found.frequency * idf
    for number in range(len(documents)):
        mine = found.document == number
        assert kept[mine].sum() == min(most, mine.sum())
        if (mine & ~kept).any():
            assert weight[mine & kept].min() >= weight[mine & ~kept].max()


def test_a_reader_goes_on_when_a_writer_joins_commits_and_drops_old_ones(
    tmp_path: Path, tiny: HybridMatcher, texts: Path, opened: Callable[[], Library]
) -> None:
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(fragments=0))
    library.add(texts)
    write_texts(texts, range(40, 44))
    library.add(texts)
    reader = opened()
    before = [hit.id for hit in reader.rank("d001.txt")]
    data = Path(library.address) / "documents.lance" / "data"
    files = set(data.iterdir())
    write_texts(texts, range(50, 54))
    library.add(texts)
    assert files - set(data.iterdir())
    assert reader.show("d001.txt").text == made_up_text(1)
    assert set(before) < {hit.id for hit in reader.rank("d001.txt", k=20)}


@pytest.mark.parametrize("kind", KINDS)
def test_postings_give_the_same_cosines_in_small_and_large_segments(
    library: Library, texts: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    library.add(texts)
    index = library.searcher().index
    query = QueryTerms.of(index.select(["d003.txt"]).counts(kind), index.rarity.idf(kind))
    (segment,) = index.segments
    small = segment.scores(kind, query)
    monkeypatch.setattr("longmatch.library.index.segment.MANY", 1)
    large = segment.scores(kind, query)
    assert large == pytest.approx(small, rel=1e-5, abs=1e-6)
    assert small.max() == pytest.approx(1.0, rel=1e-3)  # with the query itself


@pytest.mark.parametrize("kind", KINDS)
def test_postings_are_those_of_the_terms_asked_for_whatever_their_number(
    library: Library, texts: Path, kind: Kind
) -> None:
    library.add(texts)
    (segment,) = library.searcher().index.segments
    parts = [segment[f"{kind}.{part}"] for part in ("weights", "documents", "starts")]
    every = csr_array(tuple(parts), shape=(len(parts[2]) - 1, len(segment))).toarray()
    for place in (np.arange(len(every)), np.array([5, 2]), np.empty(0, dtype=np.int64)):
        found = segment.postings(kind, place)
        assert np.array_equal(found.toarray(), every[place]) and found.indices.dtype == np.int32


@pytest.mark.parametrize("length", [1, 3, 400])
def test_runs_are_taken_one_after_another_whether_short_or_long(length: int) -> None:
    values, first = np.arange(1000), np.array([500, 0, 7])
    expected = [*range(500, 500 + length), *range(length), *range(7, 7 + length)]
    assert take_runs(values, first, first + length).tolist() == expected


def test_postings_beyond_two_billion_have_offsets() -> None:
    file = BytesIO()
    write_array(file, np.array([0, 3_000_000_000]), DTYPES["words.starts"])
    assert np.frombuffer(file.getvalue(), DTYPES["words.starts"]).tolist() == [0, 3_000_000_000]


@pytest.mark.parametrize(
    ("numbers", "dtype"), [([2**31], "int32"), ([-1], "uint32"), ([70_000.0], "uint16"), ([np.nan], "int32")]
)
def test_a_number_that_its_column_cannot_hold_is_refused(numbers: list[float], dtype: str) -> None:
    file = BytesIO()
    with pytest.raises(OverflowError, match=f"do not fit into {dtype}"):
        write_array(file, np.array(numbers), dtype)
    assert not file.getvalue()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no file that is always full")
def test_a_column_that_does_not_fit_on_the_disk_is_an_error() -> None:
    with pytest.raises(OSError, match="No space left"), Path("/dev/full").open("wb") as file:
        write_array(file, np.arange(1000), "uint32")
