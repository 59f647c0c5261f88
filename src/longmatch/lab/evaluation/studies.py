"""Studies of one setting (CoLDE sections 4.4 and 4.5.4): a model is trained and evaluated for each value."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import set_name
from longmatch.lab.evaluation.model_spec import ModelSpec, StudyPoint, portable_path
from longmatch.models.loading import RECORD

FORM = "Write MODEL:KEY=VALUE,VALUE, for example colde:documents=50,100,200 or colde:sections=2,3,4,5:epochs=1."


@dataclass(frozen=True)
class Study:
    """A model, the setting to vary with its values, and fixed settings; several seeds make one row."""

    model: str
    key: str
    values: tuple[str, ...]
    fixed: Mapping[str, str]
    seeds: tuple[str, ...] = ("0",)

    @staticmethod
    def parse(text: str) -> "Study":
        """From `MODEL:KEY=V1,V2,...[:KEY=V ...]`; seed may have several values too.

        >>> Study.parse("colde:documents=8,16:epochs=1").values
        ('8', '16')
        """
        model, *parts = text.split(":")
        pairs = [part.partition("=") for part in parts]
        settings = {key.strip(): tuple(v.strip() for v in values.split(",") if v.strip()) for key, _, values in pairs}
        if not model or not pairs or not all(key.strip() and values for key, values in settings.items()):
            raise LongmatchError(f"--study {text} cannot be read. {FORM}")
        seeds = settings.pop("seed", ("0",))
        varied = [key for key, values in settings.items() if len(values) > 1]
        if len(varied) != 1:
            raise LongmatchError(f"--study {text} must give one setting several values. {FORM}")
        fixed = {key: values[0] for key, values in settings.items() if len(values) == 1}
        return Study(model, varied[0], settings[varied[0]], fixed, seeds)

    def __str__(self) -> str:
        values = ",".join(map(_portable, self.values))
        parts = [f"{self.key}={values}", *(f"{key}={_portable(value)}" for key, value in self.fixed.items())]
        parts += [f"seed={','.join(self.seeds)}"] if self.seeds != ("0",) else []
        return ":".join([self.model, *parts])

    @property
    def name(self) -> str:
        """The same for all values: `colde documents, epochs=1`."""
        fixed = (f"{key}={Path(value).name}" for key, value in self.fixed.items())
        return ", ".join([f"{self.model} {self.key}", *fixed])

    def folder(self, out: Path, data: str, value: str, seed: str) -> Path:
        """The folder of the model trained for one value and seed."""
        settings = {**self.fixed, self.key: value, "seed": seed}
        words = "-".join([self.model, *(f"{key}-{Path(settings[key]).name}" for key in sorted(settings))])
        return out / "studies" / data / re.sub(r"[^\w.-]+", "_", words)

    def train_models(self, out: Path, data: Path) -> Iterator[ModelSpec]:
        """The models of all values and seeds, trained on a data folder unless they exist already."""
        from longmatch.lab.training.train import train

        for value, seed in product(self.values, self.seeds):
            folder = self.folder(out, set_name(data), value, seed)
            if not (folder / RECORD).is_file():
                settings = {"cache": str(out / "studies" / "tokens"), **self.fixed, self.key: value, "seed": seed}
                train(self.model, [data], folder, **settings)
            yield ModelSpec.of(str(folder), StudyPoint(self.name, self.key, to_number(value)))


def parse_studies(texts: Sequence[str]) -> list[Study]:
    """Several studies, without repetitions."""
    return list({str(study): study for study in map(Study.parse, texts)}.values())


def to_number(value: str) -> Any:
    """A value as a number where it is one, for the axis of a plot.

    >>> to_number("8"), to_number("0.5"), to_number("none")
    (8, 0.5, 'none')
    """
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _portable(value: str) -> str:
    """A value as given; a path as a portable one."""
    return portable_path(Path(value)) if "/" in value else value
