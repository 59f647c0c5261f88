"""A backbone that reads no piece of text twice, also if another process of the test run has read it."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Self

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from longmatch.encoders.backbone import Backbone, TokenProgress, Vectors

Piece = npt.NDArray[np.int64]


class RememberingBackbone(Backbone):
    """Where what is read together matters, take a plain one: here a vector is that of the piece's first reading."""

    folder: Path

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """The packaged model; what it reads is kept in the folder, which several processes may share."""
        folder.mkdir(parents=True, exist_ok=True)
        backbone = cls.__new__(cls)
        backbone.__dict__ |= vars(Backbone.load())
        backbone.folder, backbone._opened, backbone._known = folder, set(), {}
        return backbone

    def encode(self, pieces: Sequence[Piece], progress: TokenProgress | None = None) -> Vectors:
        keys = [np.asarray(piece, dtype=np.int64).tobytes() for piece in pieces]
        if not self._known.keys() >= set(keys):
            with FileLock(self.folder / "lock"):
                self._open_others()
                self._read({key: piece for key, piece in zip(keys, pieces, strict=True) if key not in self._known})
        if progress:
            progress(sum(map(len, pieces)))
        return np.array([self._known[key] for key in keys], dtype=np.float32).reshape(len(keys), self.width)

    def _open_others(self) -> None:
        """What other processes have read since."""
        for path in set(self.folder.glob("*.npz")) - self._opened:
            with np.load(path) as kept:
                pieces = np.split(kept["ids"], np.cumsum(kept["lengths"])[:-1])
                self._known |= {piece.tobytes(): vector for piece, vector in zip(pieces, kept["vectors"], strict=True)}
            self._opened.add(path)

    def _read(self, unknown: dict[bytes, Piece]) -> None:
        if not unknown:
            return
        vectors = super().encode(list(unknown.values()))
        with NamedTemporaryFile(dir=self.folder, suffix=".npz", delete=False) as file:
            ids, lengths = np.concatenate(list(unknown.values())), [len(piece) for piece in unknown.values()]
            np.savez(file, ids=ids.astype(np.int64), lengths=lengths, vectors=vectors)
        self._opened.add(Path(file.name))
        self._known |= dict(zip(unknown, vectors, strict=True))
