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
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from benchmarks.papers.packed_layers import Unpack, pack_tokens, pack_words, unpack_tokens, unpack_words
from longmatch.documents.language import count_words
from longmatch.encoders.pretrained import DEFAULT_NAME, locate
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.prepared import ORIGIN, documents_digest
from longmatch.lab.datasets.records import Part, Record
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import WordLayer
from longmatch.lab.store.documents import RecordLayer
from longmatch.lab.store.files import LayerWriter
from longmatch.lab.store.layer import Array, Arrays, Layer, Unhandled
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenLayer
from longmatch.parallel import use_processes

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
        file.writelines(f"{_without_text(record).line()}\n" for record in folder.records())
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


def _without_text(record: Record) -> Record:
    words = sum(count_words(part.text) for part in record.parts)
    return Record(record.id, record.title, (Part("", " ".join([WORD] * words)),))


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
            _write(store / layer.key, layer, arrays, unhandled)


def _write(folder: Path, layer: Layer, arrays: Sequence[Arrays], unhandled: Mapping[int, str]) -> None:
    results: list[Arrays | Unhandled] = [
        Unhandled(unhandled[n]) if n in unhandled else each for n, each in enumerate(arrays)
    ]
    writer = LayerWriter(folder, layer)
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
        print(f"{place}: {_megabytes(place):.1f} MB", flush=True)
    for name in options.backbones:
        place = prepare_backbone(name, options.out)
        print(f"{place}: {_megabytes(place):.1f} MB", flush=True)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


if __name__ == "__main__":
    main()
