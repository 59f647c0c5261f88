"""Layers on disk: one safetensors file a shard of documents, written whole or not at all."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from longmatch.documents.document import Document
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layer import Array, Arrays, Layer, Unhandled, make_each
from longmatch.matching.matcher import Progress


@dataclass(frozen=True)
class Shard:
    """A run of documents in a file; arrays are read when asked for, whole or of one document."""

    path: Path
    first: int  # the number of the first document
    offsets: dict[str, list[int]]  # of each array, where each document's rows begin, and the end
    unhandled: dict[int, str]
    seconds: float

    @staticmethod
    def open(path: Path) -> "Shard":
        """Read what the file says of itself; no arrays."""
        with safe_open(path, framework="np") as file:
            facts = json.loads(file.metadata()["facts"])
            offsets = {name.removesuffix("/offsets"): file.get_tensor(name).tolist() for name in _offsets(file)}
        return Shard(
            path, facts["first"], offsets, {int(k): v for k, v in facts["unhandled"].items()}, facts["seconds"]
        )

    def __len__(self) -> int:
        return len(next(iter(self.offsets.values()))) - 1

    def array(self, name: str) -> Array:
        """An array of all the shard's documents."""
        with safe_open(self.path, framework="np") as file:
            found: Array = file.get_tensor(name)
        return found

    def of(self, number: int, names: Sequence[str]) -> dict[str, Array]:
        """Arrays of one document, by its number in the corpus."""
        place = number - self.first
        with safe_open(self.path, framework="np") as file:
            return {n: file.get_slice(n)[self.offsets[n][place] : self.offsets[n][place + 1]] for n in names}

    def each(self, names: Sequence[str] | None = None) -> Iterator[dict[str, Array]]:
        """Arrays of every document, as views into the shard's."""
        whole = {name: self.array(name) for name in names or self.offsets}
        for place in range(len(self)):
            yield {n: a[self.offsets[n][place] : self.offsets[n][place + 1]] for n, a in whole.items()}


def _offsets(file: Any) -> list[str]:
    return [name for name in file.keys() if name.endswith("/offsets")]  # noqa: SIM118 - not a dict


@dataclass(frozen=True)
class Stored:
    """A finished layer of a corpus."""

    layer: Layer
    shards: tuple[Shard, ...]

    @cached_property
    def unhandled(self) -> dict[int, str]:
        """The numbers of the documents that could not be handled, and why."""
        return {number: why for shard in self.shards for number, why in shard.unhandled.items()}

    def of(self, number: int, *names: str) -> dict[str, Array]:
        """Arrays of one document."""
        shard = self.shards[int(np.searchsorted([s.first for s in self.shards], number, side="right")) - 1]
        return shard.of(number, names)

    def each(self, *names: str) -> Iterator[dict[str, Array]]:
        """Arrays of all documents, in order; one shard's in memory at a time unless they are kept."""
        for shard in self.shards:
            yield from shard.each(names)


class Store:
    """The layers of one corpus under a folder. What is there is not made again."""

    def __init__(self, folder: Path, corpus: Corpus) -> None:
        self.folder = folder / f"{corpus.name}-{corpus.fingerprint}"
        self.corpus = corpus

    def build(self, layers: Sequence[Layer], progress: Progress | None = None) -> list[Stored]:
        """Make the shards that are missing, in one pass over the documents, and open them all."""
        missing = [layer for layer in _with_bases(layers) if not self._complete(layer).exists()]
        if missing:
            count = 0
            for index, shard in enumerate(self._shards(missing)):
                for layer in missing:
                    if not self._path(layer, index).exists():
                        self._write(layer, index, shard)
                count = index + 1
                if progress:
                    progress(len(shard))
            for layer in missing:
                _replace(self._complete(layer), json.dumps({"shards": count, "facts": dict(layer.facts)}))
        return [self._open(layer) for layer in layers]

    def seconds(self, layers: Sequence[Layer]) -> float:
        """What making them and all below them took."""
        return sum(shard.seconds for layer in _with_bases(layers) for shard in self._open(layer).shards)

    def _shards(self, layers: Sequence[Layer]) -> Iterator[list[tuple[int, Any]]]:
        """The documents, as far as the layers need them: where all stand on what is stored, ids alone."""
        base = layers[0].base
        if base is None or any(layer.reads_documents for layer in layers):
            yield from self.corpus.shards()
            return
        for shard in self._open(base).shards:
            numbers = range(shard.first, shard.first + len(shard))
            yield [(number, Document(self.corpus.ids[number], "", "", ())) for number in numbers]

    def _open(self, layer: Layer) -> Stored:
        count = json.loads(self._complete(layer).read_text(encoding="utf-8"))["shards"]
        return Stored(layer, tuple(Shard.open(self._path(layer, index)) for index in range(count)))

    def _path(self, layer: Layer, index: int) -> Path:
        return self.folder / layer.key / f"{index:05d}.safetensors"

    def _complete(self, layer: Layer) -> Path:
        return self.folder / layer.key / "layer.json"

    def _write(self, layer: Layer, index: int, shard: list[tuple[int, Any]]) -> None:
        """Make one shard. A document the layer below could not handle is not handled here either."""
        base = Shard.open(self._path(layer.base, index)) if layer.base else None
        below = list(base.each()) if base else [{} for _ in shard]
        unhandled = dict(base.unhandled) if base else {}
        unhandled |= {number: str(found) for number, found in shard if not isinstance(found, Document)}
        readable = [i for i, (number, _) in enumerate(shard) if number not in unhandled]
        started = time.perf_counter()
        made = make_each(layer, [shard[i][1] for i in readable], [below[i] for i in readable]) if readable else []
        seconds = time.perf_counter() - started
        arrays: list[Arrays] = [layer.empty()] * len(shard)
        for i, result in zip(readable, made, strict=True):
            if isinstance(result, Unhandled):
                unhandled[shard[i][0]] = str(result)
            else:
                arrays[i] = result
        facts = {"first": shard[0][0], "unhandled": unhandled, "seconds": seconds}
        path = self._path(layer, index)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        save_file(_flat(arrays), part, metadata={"facts": json.dumps(facts)})
        part.replace(path)


def _with_bases(layers: Sequence[Layer]) -> list[Layer]:
    """The layers and those they stand on, each once, the lower before the higher."""
    found: dict[str, Layer] = {}
    for layer in layers:
        for one in _with_bases([layer.base]) if layer.base else []:
            found.setdefault(one.key, one)
        found.setdefault(layer.key, layer)
    return list(found.values())


def _flat(arrays: Sequence[Arrays]) -> dict[str, Array]:
    """The documents' arrays end to end, with where each begins."""
    flat: dict[str, Array] = {}
    for name in arrays[0]:
        parts = [one[name] for one in arrays]
        flat[name] = np.ascontiguousarray(np.concatenate(parts))
        flat[f"{name}/offsets"] = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return flat


def _replace(path: Path, text: str) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
