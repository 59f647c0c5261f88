"""Prepare data sets and backbones for a machine without a network, on which `benchmarks.train` then runs.

    python -m benchmarks.papers.prepare DATA OUT [--sets acl papers wiki] [--backbones all-MiniLM-L6-v2 FOLDER]
        [--words]

OUT/SET holds the labels and tokens of a set, without its text; OUT/models the backbones, in float16. All backbones must
share a tokenizer. Character positions are left out: the sets serve for training and measuring, not for explanations.
With `--words` the hashed words are there too, and lexical models and LDA can be measured.
"""

import argparse
import io
import json
import lzma
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from benchmarks.common import bytes_on_disk
from longmatch.documents.language import count_words
from longmatch.encoders.pretrained import DEFAULT_NAME, locate
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.prepared import ORIGIN, documents_digest
from longmatch.lab.datasets.records import Part, RawDocument
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import WordLayer
from longmatch.lab.store.documents import RecordLayer
from longmatch.lab.store.files import LayerWriter, StoredLayer
from longmatch.lab.store.layer import Array, Arrays, Layer, Unhandled
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenLayer
from longmatch.parallel import use_processes

Packed = Mapping[str, Array]
Unpacked = tuple[list[Arrays], Mapping[int, str]]  # the arrays of each document; those that could not be handled
Unpack = Callable[[Packed], Sequence[Unpacked]]
MODELS = "models"  # the folder of the backbones
TOKENS, WORDS = "tokens.npz.xz", "words.npz.xz"
WORD = "w"  # in place of every word
SHARD = 256  # documents


def prepare_set(folder: DataFolder, tokenizer: Tokenizer, out: Path, cache: Path, words: bool = False) -> Path:
    """Write a prepared set into a folder of its name below `out`; the full stores are kept in `cache`."""
    place = out / folder.name
    place.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.path.glob("*.tsv")):
        shutil.copyfile(path, place / path.name)
    with lzma.open(place / "documents.jsonl.xz", "wt", encoding="utf-8") as file:
        for record in folder.records():
            placeholders = " ".join([WORD] * sum(count_words(part.text) for part in record.parts))
            file.write(f"{RawDocument(record.id, record.title, (Part('', placeholders),)).line()}\n")
    layer = TokenLayer(tokenizer)
    tokens, records, *stored = LayerStore.of(cache, Corpus(folder).source).build(
        [layer, RecordLayer(), *([WordLayer()] if words else [])]
    )
    _save(place / TOKENS, pack_tokens(tokens, records))
    for each in stored:
        _save(place / WORDS, pack_words(each))
    origin = {"documents": documents_digest(folder.documents_file), "tokenizer": layer.tokenizer.to_str()}
    (place / ORIGIN).write_text(json.dumps(origin), encoding="utf-8")
    return place


def restore_layers(place: Path, parents: Sequence[Path]) -> None:
    """Write the stores of a prepared set below each of these folders, unless they are there."""
    corpus = Corpus(DataFolder(place))
    tokens = TokenLayer(Tokenizer.from_str(json.loads((place / ORIGIN).read_text("utf-8"))["tokenizer"]))
    stores = [LayerStore.of(parent, corpus.source).folder for parent in parents]
    _restore(place / TOKENS, stores, (tokens, RecordLayer()), unpack_tokens)
    if (place / WORDS).is_file():
        _restore(place / WORDS, stores, (WordLayer(),), unpack_words)


def prepare_backbone(name: str, out: Path) -> Path:
    """Copy a backbone, its weights in float16."""
    from safetensors.torch import load_file, save_file

    source = Path(locate(name))
    place = out / MODELS / (DEFAULT_NAME if name == DEFAULT_NAME else source.resolve().name)
    shutil.copytree(
        source, place, ignore=shutil.ignore_patterns("*.bin", "*.onnx", "*.xml", "*.h5"), dirs_exist_ok=True
    )
    weights = place / "model.safetensors"
    halved = {name: w.half() if w.is_floating_point() else w for name, w in load_file(weights).items()}
    weights.unlink()  # the source may be read-only
    save_file(halved, weights, {"format": "pt"})
    return place


def _save(path: Path, arrays: dict[str, Array]) -> None:
    with lzma.open(path, "wb") as file:
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        file.write(buffer.getvalue())


def _restore(path: Path, stores: Sequence[Path], layers: Sequence[Layer], unpack: Unpack) -> None:
    """Write layers that were packed together into the stores that lack one of them."""
    missing = [store for store in stores if not all((store / layer.key).is_dir() for layer in layers)]
    if not missing:
        return
    with lzma.open(path, "rb") as file:
        packed = dict(np.load(io.BytesIO(file.read())))
    for store in missing:
        for layer, (arrays, unhandled) in zip(layers, unpack(packed), strict=True):
            results: list[Arrays | Unhandled] = [*arrays]
            for number, why in unhandled.items():
                results[number] = Unhandled(why)
            writer = LayerWriter(store / layer.key, layer)
            for first in range(writer.documents, len(results), SHARD):
                writer.add(results[first : first + SHARD], 0.0)
            writer.finish()


def main() -> None:
    """Prepare sets and backbones."""
    from longmatch.lab.encoders.checkpoint import open_tokenizer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", default=["acl", "wiki", "papers"])
    parser.add_argument("--backbones", nargs="+", default=[DEFAULT_NAME])
    parser.add_argument("--cache", type=Path, default=None, help="a folder of token stores to share with other runs")
    parser.add_argument("--words", action="store_true", help="the words too, for lexical models and LDA")
    parser.add_argument("--readers", type=int, default=1, help="processes that read documents")
    options = parser.parse_args()
    use_processes(options.readers)
    tokenizers = [open_tokenizer(locate(name)).backend_tokenizer for name in options.backbones]
    if len({TokenLayer(tokenizer).key for tokenizer in tokenizers}) > 1:
        raise SystemExit("The backbones have different tokenizers; prepare each in its own folder.")
    for name in options.sets:
        cache = options.cache or options.out / "cache"
        place = prepare_set(DataFolder(options.data / name), tokenizers[0], options.out, cache, options.words)
        print(f"{place}: {bytes_on_disk(place) / 2**20:.1f} MB", flush=True)
    for name in options.backbones:
        place = prepare_backbone(name, options.out)
        print(f"{place}: {bytes_on_disk(place) / 2**20:.1f} MB", flush=True)


if __name__ == "__main__":
    main()


def pack_tokens(tokens: StoredLayer, records: StoredLayer) -> dict[str, Array]:
    """Tokens and records, without character positions."""
    ids, sentences = tokens.array("ids"), tokens.array("sentences")
    return {
        "ids": _small(ids),
        "word_starts": np.packbits(tokens.array("word_starts")),
        "lengths": sentences[:, 0],
        "paragraphs": np.diff(sentences[:, 2], prepend=0),
        "sections": np.diff(sentences[:, 3], prepend=0),
        "records": records.array("records"),
        "tokens_of": np.diff(tokens.bounds("ids")),
        "sentences_of": np.diff(tokens.bounds("sentences")),
        "bytes_of": np.diff(records.bounds("records")),
        "unhandled": np.array(json.dumps(tokens.unhandled)),
    }


def unpack_tokens(packed: Packed) -> list[Unpacked]:
    """Tokens, and records, which documents without tokens have too."""
    lengths = packed["lengths"]
    places = packed["paragraphs"].cumsum(), packed["sections"].cumsum()
    sentences = np.stack([lengths, np.zeros_like(lengths), *places], axis=1).astype(np.int32)
    count = len(packed["ids"])
    of_tokens = {
        "ids": packed["ids"].astype(np.int32),
        "starts": np.zeros(count, dtype=np.int32),
        "word_starts": np.unpackbits(packed["word_starts"], count=count).astype(bool),
    }
    parts = {name: _split(array, packed["tokens_of"]) for name, array in of_tokens.items()}
    parts["sentences"] = _split(sentences, packed["sentences_of"])
    records: list[Arrays] = [{"records": record} for record in _split(packed["records"], packed["bytes_of"])]
    return [(_by_document(parts), _restored(packed)), (records, {})]


def pack_words(words: StoredLayer) -> dict[str, Array]:
    """Hashed words as numbers of a vocabulary."""
    vocabulary, numbers = np.unique(words.array("words"), return_inverse=True)
    return {
        "vocabulary": vocabulary,
        "numbers": _small(numbers),
        "lengths": np.diff(words.array("bounds"), prepend=0),
        "words_of": np.diff(words.bounds("words")),
        "bounds_of": np.diff(words.bounds("bounds")),
        "unhandled": np.array(json.dumps(words.unhandled)),
    }


def unpack_words(packed: Packed) -> list[Unpacked]:
    """The words of each sentence."""
    parts = {
        "words": _split(packed["vocabulary"][packed["numbers"]], packed["words_of"]),
        "bounds": _split(packed["lengths"].cumsum(), packed["bounds_of"]),
    }
    return [(_by_document(parts), _restored(packed))]


def _small(numbers: Array) -> Array:
    return numbers.astype(np.uint16 if numbers.max(initial=0) < 2**16 else np.uint32)


def _split(array: Array, counts: Array) -> list[Array]:
    return np.split(array, counts.cumsum()[:-1])


def _by_document(parts: Mapping[str, Sequence[Array]]) -> list[Arrays]:
    return [dict(zip(parts, each, strict=True)) for each in zip(*parts.values(), strict=True)]


def _restored(packed: Packed) -> dict[int, str]:
    return {int(number): why for number, why in json.loads(str(packed["unhandled"])).items()}
