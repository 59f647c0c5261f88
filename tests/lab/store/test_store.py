"""A layer is made once, whole or not at all, by one of several processes; what is stale or damaged is made again."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from longmatch.encoders.pretrained import default_folder
from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.store import store
from longmatch.lab.store.files import LayerWriter, StoredLayer
from longmatch.lab.store.layer import Layer, Unhandled
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenCollection, TokenLayer
from longmatch.units import tokenize
from tests.lab.store.essays import essay, essay_or_nothing, source_of


@dataclass
class Repeated(Layer):
    """Each document's length in tokens, `times` over; essay 3 is beyond it."""

    base: TokenLayer  # type: ignore[assignment]
    times: int = 2
    name = "repeated"
    reads_documents = False
    shapes = {"lengths": (np.int32, (2,))}  # noqa: RUF012

    @property
    def facts(self):
        return {"times": self.times}

    def make(self, documents, below):
        if any(document.id == "essay-3" for document in documents):
            raise Unhandled("it is too hard")
        return [{"lengths": np.full((self.times, 2), len(arrays["ids"]))} for arrays in below]


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHARACTERS", 1000)


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.npy")}


def counted(taken: list[int], count: int = 5) -> Iterator[int]:
    for number in range(count):
        taken.append(number)
        yield number


def build(folder: Path, tokenizer: Tokenizer, count: int = 12) -> tuple[LayerStore, StoredLayer]:
    found = LayerStore(folder, source_of(range(count), essay_or_nothing))
    return found, found.build([TokenLayer(tokenizer)])[0]


@pytest.mark.usefixtures("small_shards")
def test_a_store_is_the_same_whatever_the_number_of_processes(wordpiece, tmp_path):
    source = source_of(range(50), essay_or_nothing)
    for processes in (1, 2):
        tokens = TokenCollection.build(tmp_path / str(processes), source, wordpiece, processes=processes)
    assert content(tmp_path / "1") == content(tmp_path / "2")
    assert tokens[20].ids.tolist() == tokenize(essay(21), wordpiece).ids.tolist()  # 7 is missing


@pytest.mark.usefixtures("small_shards")
def test_a_layer_gives_every_document_its_rows_and_ranges_of_documents_theirs(wordpiece, tmp_path):
    _, tokens = build(tmp_path, wordpiece)
    expected = [[] if n == 7 else tokenize(essay(n), wordpiece).ids.tolist() for n in range(12)]
    assert len(tokens) == 12 and len(tokens.shards) > 3 and tokens.unhandled == {7: "it is blank"}
    assert [arrays["ids"].tolist() for arrays in tokens.documents("ids")] == expected
    assert tokens.array("ids", 3, 9).tolist() == [id for ids in expected[3:9] for id in ids]
    assert tokens.array("ids").tolist() == [id for ids in expected for id in ids]
    assert [last for _, last in tokens.ranges] == [shard.end for shard in tokens.shards]
    assert tokens.document(2, "ids")["ids"].flags.writeable


@pytest.mark.usefixtures("small_shards")
def test_a_layer_is_derived_from_another_without_the_documents(wordpiece, tmp_path):
    whole, tokens = build(tmp_path, wordpiece)
    (repeated,) = LayerStore(tmp_path).build([Repeated(TokenLayer(wordpiece))])
    lengths = [[] if n in {3, 7} else [[len(tokenize(essay(n), wordpiece))] * 2] * 2 for n in range(12)]
    assert [arrays["lengths"].tolist() for arrays in repeated.documents()] == lengths
    assert repeated.unhandled == {3: "it is too hard", 7: "it is blank"}
    assert repeated.ranges == tokens.ranges
    assert whole.seconds([Repeated(TokenLayer(wordpiece))]) == tokens.seconds + repeated.seconds


def test_a_layer_that_needs_documents_is_not_made_without_any(wordpiece, tmp_path):
    with pytest.raises(ValueError, match="there are no documents"):
        LayerStore(tmp_path).build([TokenLayer(wordpiece)])


def test_tokens_are_made_once_for_a_source_and_a_tokenizer(wordpiece, tiny_bert, tmp_path):
    other = Tokenizer.from_file(str(tiny_bert / "tokenizer.json"))
    taken: list[int] = []
    made = []
    for fingerprint, tokenizer in [("a", wordpiece), ("a", wordpiece), ("b", wordpiece), ("b", other), ("a", other)]:
        TokenCollection.build(tmp_path, source_of(counted(taken), essay, fingerprint), tokenizer)
        made.append(len(taken))
    assert made == [5, 5, 10, 15, 20]


@pytest.mark.parametrize("damage", [lambda whole: whole[:-40], lambda whole: whole + b"more"])
def test_a_damaged_layer_is_refused_by_open_and_made_again_by_build(wordpiece, tmp_path, damage):
    found, first = build(tmp_path, wordpiece)
    path = first.folder / "ids.npy"
    expected = path.read_bytes()
    path.write_bytes(damage(expected))
    with pytest.raises(ReadError, match=r"is not a complete layer\. Remove it"):
        found.open(TokenLayer(wordpiece))
    found.build([TokenLayer(wordpiece)])
    assert path.read_bytes() == expected


def test_a_layer_whose_facts_are_missing_is_made_again(wordpiece, tmp_path):
    found, first = build(tmp_path, wordpiece)
    (first.folder / "layer.json").write_text('{"arrays": ')
    assert found.build([TokenLayer(wordpiece)])[0].unhandled == {7: "it is blank"}


def test_progress_counts_every_document_once(wordpiece, tmp_path):
    counts: list[int] = []
    found = LayerStore(tmp_path, source_of(range(20), essay), processes=2)
    found.build([Repeated(TokenLayer(wordpiece))], counts.append)
    assert sum(counts) == 20


def test_two_documents_of_one_id_are_refused_and_nothing_is_left(wordpiece, tmp_path):
    with pytest.raises(LongmatchError, match=r"More than one document has the id 'essay-3'\."):
        LayerStore(tmp_path, source_of([1, 2, 3, 3], essay)).build([TokenLayer(wordpiece)])
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


@pytest.mark.usefixtures("small_shards")
def test_two_documents_of_one_id_are_refused_after_an_interruption_too(wordpiece, tmp_path, monkeypatch):
    interrupt_after(3, monkeypatch)
    source = source_of([*range(12), 1], essay)
    with pytest.raises(KeyboardInterrupt):
        LayerStore(tmp_path, source).build([TokenLayer(wordpiece)])
    monkeypatch.undo()
    with pytest.raises(LongmatchError, match=r"More than one document has the id 'essay-1'\."):
        LayerStore(tmp_path, source).build([TokenLayer(wordpiece)])


def interrupt_after(shards: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Interrupt the writing after so many shards of tokens; gives the documents from which shards were written."""
    written: list[int] = []
    add = LayerWriter.add

    def stop(self: LayerWriter, *args) -> None:
        if self._layer.name == "tokens":
            if len(written) == shards:
                raise KeyboardInterrupt
            written.append(self.documents)
        add(self, *args)

    monkeypatch.setattr(LayerWriter, "add", stop)
    return written


@pytest.mark.usefixtures("small_shards")
def test_an_interrupted_build_goes_on_after_the_last_complete_shard(wordpiece, tmp_path, monkeypatch):
    build(tmp_path / "whole", wordpiece)
    with monkeypatch.context() as patch:
        written = interrupt_after(2, patch)
        with pytest.raises(KeyboardInterrupt):
            build(tmp_path / "stopped", wordpiece)
    (partial,) = (tmp_path / "stopped").glob("tokens-*.partial")
    with (partial / "ids.npy").open("ab") as file:
        file.write(b"\0" * 13)  # of a shard that was not completed
    with (partial / "shards.jsonl").open("ab") as file:
        file.write(b'{"end": 12, "ro')
    with monkeypatch.context() as patch:
        later = interrupt_after(100, patch)
        _, tokens = build(tmp_path / "stopped", wordpiece)
    assert written + later == [first for first, _ in tokens.ranges]
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


@pytest.mark.usefixtures("small_shards")
def test_what_was_left_in_part_and_damaged_is_not_gone_on_with(wordpiece, tmp_path, monkeypatch):
    build(tmp_path / "whole", wordpiece)
    with monkeypatch.context() as patch:
        interrupt_after(2, patch)
        with pytest.raises(KeyboardInterrupt):
            build(tmp_path / "stopped", wordpiece)
    (partial,) = (tmp_path / "stopped").glob("tokens-*.partial")
    (partial / "ids.npy").write_bytes((partial / "ids.npy").read_bytes()[:150])
    build(tmp_path / "stopped", wordpiece)
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_build_leaves_no_layer_and_the_next_one_makes_it(wordpiece, tmp_path, processes):
    tokenizer = default_folder() / "tokenizer.json"
    command = [sys.executable, "-m", "tests.lab.store.essays", str(tmp_path), str(tokenizer), str(processes)]
    process = subprocess.run(command, cwd=Path(__file__).parents[3], check=False, timeout=300)
    assert process.returncode == -9
    assert {path.suffix for path in tmp_path.glob("*/tokens-*")} == {".partial", ".lock"}
    tokens = TokenCollection.build(tmp_path, source_of(range(40), essay), wordpiece)
    expected = TokenCollection.build(tmp_path / "whole", source_of(range(40), essay), wordpiece)
    assert [each.ids.tolist() for each in tokens] == [each.ids.tolist() for each in expected]
    assert not list(tmp_path.glob("*/*.partial"))


def test_of_several_that_need_a_layer_one_makes_it(wordpiece, tmp_path):
    taken: list[int] = []
    sources = [source_of(counted(taken, 20), essay) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda source: TokenCollection.build(tmp_path, source, wordpiece), sources))
    assert len(taken) == 20
    assert {tuple(tokens.lengths.tolist()) for tokens in found} == {tuple(found[0].lengths.tolist())}


def test_documents_are_taken_only_a_bounded_number_ahead(wordpiece, tmp_path):
    taken: list[int] = []
    ahead: list[int] = []
    done = 0

    def progress(count: int) -> None:
        nonlocal done
        done += count
        ahead.append(len(taken) - done)

    TokenCollection.build(tmp_path, source_of(counted(taken, 300), essay), wordpiece, progress, 2)
    assert done == 300 and max(ahead) <= 72


def test_a_folder_that_cannot_be_written_is_named(wordpiece, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LongmatchError, match="cannot be written"):
        LayerStore(tmp_path / "file" / "store", source_of([essay(1)])).build([TokenLayer(wordpiece)])
