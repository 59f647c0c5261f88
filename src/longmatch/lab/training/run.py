"""The folder a model is trained into: one run each, begun, gone on with, or done."""

import json
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from longmatch.errors import LongmatchError
from longmatch.lab.training.settings import TrainingSettings

RECORD = "longmatch.json"  # as longmatch.load knows it; written last, so a folder that has it is whole
FREE = ("workers", "keep", "cache")  # settings that change nothing about the result


@dataclass(frozen=True)
class Run:
    """What was asked for: the model, its data, the folder it goes into, and all settings."""

    model: str
    data: tuple[str, ...]
    out: Path
    settings: TrainingSettings
    own: Any  # the model's own settings, a dataclass
    given: Mapping[str, Any]  # the settings that were not left as they are by default

    @property
    def place(self) -> Path:
        """Where checkpoints, logs and prepared data are kept."""
        return self.out / "training"

    @property
    def cache(self) -> Path:
        """Where the data are prepared."""
        return Path(self.settings.cache) if self.settings.cache else self.place / "data"

    @property
    def all_settings(self) -> dict[str, Any]:
        """The model's own settings and the shared ones."""
        return asdict(self.settings) | asdict(self.own)

    @property
    def command(self) -> str:
        """What to type to train the same model again."""
        words = ["longmatch", "train", self.model]
        for path in self.data:
            words += ["--data", path]
        words += ["--out", str(self.out)]
        for key, value in self.given.items():
            words += ["--set", f"{key}={value}"]
        return shlex.join(words)

    @property
    def is_done(self) -> bool:
        """Whether the model is there."""
        return (self.out / RECORD).is_file()

    @contextmanager
    def begun(self, processes: int) -> Iterator[None]:
        """Hold the folder for this run alone; that of another run, or with other files in it, is an error."""
        facts = {"model": self.model, "data": list(self.data), "settings": self.all_settings, "processes": processes}
        asked = json.loads(json.dumps(facts))
        try:
            self._check(asked)
            self.place.mkdir(parents=True, exist_ok=True)
            with FileLock(self.place / "lock", timeout=0):
                self._check(asked)
                if not (self.place / "run.json").is_file():
                    write_whole(self.place / "run.json", json.dumps(asked, indent=2, ensure_ascii=False) + "\n")
                yield
        except Timeout:
            raise LongmatchError(
                f"Another process is training into {self.out}. Wait, or name another folder."
            ) from None
        except OSError as error:
            if error.filename is None or not str(error.filename).startswith(str(self.out)):
                raise
            why = error.strerror
            raise LongmatchError(f"{self.out} cannot be written ({why}). Name a folder you may write to.") from error

    def _check(self, asked: dict[str, Any]) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise LongmatchError(f"{self.out} is a file. Name a folder with --out.")
        record = self.place / "run.json"
        if not record.is_file():
            if self.out.is_dir() and any(path.name != "training" for path in self.out.iterdir()):
                raise LongmatchError(f"{self.out} holds other files. Name a new folder with --out.")
            return
        before = json.loads(record.read_text(encoding="utf-8"))
        for key, now, then in _differences(asked, before):
            raise LongmatchError(
                f"{self.out} holds a training run with {key} {then}, not {now}. "
                "Name another folder with --out, or give the same settings to go on with it."
            )

    def finish(self, folder: Path) -> None:
        """Move the files of the trained model into place, the record last."""
        names = sorted((path.name for path in folder.iterdir()), key=lambda name: name == RECORD)
        for name in names:
            target = self.out / name
            if target.is_dir():
                shutil.rmtree(target)
            (folder / name).replace(target)
        folder.rmdir()


def write_whole(path: Path, text: str) -> None:
    """Write a file such that it is never seen in part."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _differences(asked: dict[str, Any], before: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in ("model", "data", "processes"):
        if asked[key] != before.get(key):
            yield key, asked[key], before.get(key)
    then = before.get("settings", {})
    for key, now in asked["settings"].items():
        if key not in FREE and now != then.get(key):
            yield key, now, then.get(key)
