"""A training run and its folder: new, interrupted or finished."""

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

RECORD = "longmatch.json"  # identifies a model's folder to longmatch.load; written last, so a folder with it is whole
IRRELEVANT = ("workers", "keep", "cache")  # settings that do not affect the result


@dataclass(frozen=True)
class TrainingRun:
    """What the user asked for: a model, its data, the output folder, and all settings."""

    model: str
    data: tuple[str, ...]
    out: Path
    settings: TrainingSettings
    options: Any  # the model's own settings, a dataclass
    overrides: Mapping[str, Any]  # the settings that were given explicitly

    @property
    def work_folder(self) -> Path:
        """The folder of checkpoints, logs and prepared data."""
        return self.out / "training"

    @property
    def cache(self) -> Path:
        """The folder of prepared data."""
        return Path(self.settings.cache) if self.settings.cache else self.work_folder / "data"

    @property
    def all_settings(self) -> dict[str, Any]:
        """The shared settings and the model's own."""
        return asdict(self.settings) | asdict(self.options)

    @property
    def command(self) -> str:
        """The command line that trains the same model again."""
        words = ["longmatch", "train", self.model]
        for path in self.data:
            words += ["--data", path]
        words += ["--out", str(self.out)]
        for key, value in self.overrides.items():
            words += ["--set", f"{key}={value}"]
        return shlex.join(words)

    @property
    def is_done(self) -> bool:
        """Whether the trained model is complete."""
        return (self.out / RECORD).is_file()

    @contextmanager
    def locked(self, processes: int) -> Iterator[None]:
        """Lock the folder for this run; raise an error if it holds another run or other files."""
        facts = {"model": self.model, "data": list(self.data), "settings": self.all_settings, "processes": processes}
        wanted = json.loads(json.dumps(facts))
        try:
            self._check(wanted)
            self.work_folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.work_folder / "lock", timeout=0):
                self._check(wanted)
                if not self._has_begun:
                    write_atomically(
                        self.work_folder / "run.json", json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
                    )
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

    def _check(self, wanted: dict[str, Any]) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise LongmatchError(f"{self.out} is a file. Name a folder with --out.")
        record = self.work_folder / "run.json"
        if not self._has_begun:
            if self.out.is_dir() and any(path.name != "training" for path in self.out.iterdir()):
                raise LongmatchError(f"{self.out} holds other files. Name a new folder with --out.")
            return
        stored = json.loads(record.read_text(encoding="utf-8"))
        for key, now, then in _differences(wanted, stored):
            raise LongmatchError(
                f"{self.out} holds a training run with {key} {then}, not {now}. "
                "Name another folder with --out, or use the same settings to resume it."
            )

    @property
    def _has_begun(self) -> bool:
        """Whether the folder holds a run that got further than its settings: to prepared data, weights, checkpoints."""
        if not (self.work_folder / "run.json").is_file():
            return False
        return self.is_done or any(path.name not in ("run.json", "lock") for path in self.work_folder.iterdir())

    def finish(self, folder: Path) -> None:
        """Move the trained model's files from `folder` into place, the record last."""
        names = sorted((path.name for path in folder.iterdir()), key=lambda name: name == RECORD)
        for name in names:
            target = self.out / name
            if target.is_dir():
                shutil.rmtree(target)
            (folder / name).replace(target)
        folder.rmdir()


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that readers never see part of it."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _differences(wanted: dict[str, Any], stored: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The keys in which two runs differ, with both values."""
    for key in ("model", "data", "processes"):
        if wanted[key] != stored.get(key):
            yield key, wanted[key], stored.get(key)
    then = stored.get("settings", {})
    for key, now in wanted["settings"].items():
        if key not in IRRELEVANT and now != then.get(key):
            yield key, now, then.get(key)
