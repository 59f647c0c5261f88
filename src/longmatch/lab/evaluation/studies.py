"""Studies of one setting (CoLDE sections 4.4 and 4.5.4): a model trained once for each value, and evaluated."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.entrants import Entrant, Study, told_path
from longmatch.loading import RECORD

FORM = "Write MODEL:KEY=VALUE,VALUE, for example colde:documents=50,100,200 or colde:sections=2,3,4,5:epochs=1."


@dataclass(frozen=True)
class StudyPlan:
    """A model, the setting to try out, its values, and the settings that stay; several seeds make one row."""

    model: str
    key: str
    values: tuple[str, ...]
    fixed: Mapping[str, str]
    seeds: tuple[str, ...] = ("0",)

    @staticmethod
    def parse(text: str) -> "StudyPlan":
        """From `MODEL:KEY=V1,V2,...[:KEY=V ...]`; seed may have several values too.

        >>> StudyPlan.parse("colde:documents=8,16:epochs=1").values
        ('8', '16')
        """
        model, *parts = text.split(":")
        pairs = [part.partition("=") for part in parts]
        given = {key.strip(): tuple(v.strip() for v in values.split(",") if v.strip()) for key, _, values in pairs}
        if not model or not pairs or not all(key.strip() and values for key, values in given.items()):
            raise LongmatchError(f"--study {text} cannot be read. {FORM}")
        seeds = given.pop("seed", ("0",))
        several = [key for key, values in given.items() if len(values) > 1]
        if len(several) != 1:
            raise LongmatchError(f"--study {text} must give one setting several values. {FORM}")
        fixed = {key: values[0] for key, values in given.items() if len(values) == 1}
        return StudyPlan(model, several[0], given[several[0]], fixed, seeds)

    def __str__(self) -> str:
        values = ",".join(map(_told, self.values))
        parts = [f"{self.key}={values}", *(f"{key}={_told(value)}" for key, value in self.fixed.items())]
        parts += [f"seed={','.join(self.seeds)}"] if self.seeds != ("0",) else []
        return ":".join([self.model, *parts])

    @property
    def name(self) -> str:
        """The same for all values: `colde documents, epochs=1`."""
        fixed = (f"{key}={Path(value).name}" for key, value in self.fixed.items())
        return ", ".join([f"{self.model} {self.key}", *fixed])

    def folder(self, out: Path, data: str, value: str, seed: str) -> Path:
        """Where the model of one value is trained to."""
        told = {**self.fixed, self.key: value, "seed": seed}
        words = "-".join([self.model, *(f"{key}-{Path(told[key]).name}" for key in sorted(told))])
        return out / "studies" / data / re.sub(r"[^\w.-]+", "_", words)

    def entrants(self, out: Path, data: Path) -> Iterator[Entrant]:
        """The models of all values and seeds, trained on the set; what is trained already is not trained again."""
        from longmatch.lab.training.train import train

        for value, seed in product(self.values, self.seeds):
            folder = self.folder(out, data.resolve().name, value, seed)
            if not (folder / RECORD).is_file():
                told = {"cache": str(out / "studies" / "tokens"), **self.fixed, self.key: value, "seed": seed}
                train(self.model, [data], folder, **told)
            yield Entrant.of(str(folder), Study(self.name, self.key, number(value)))


def _told(value: str) -> str:
    """A value as it was given, but of a path elsewhere the last part."""
    return told_path(Path(value)) if "/" in value else value


def number(value: str) -> Any:
    """A value as a number where it is one, for the axis of a plot.

    >>> number("8"), number("0.5"), number("none")
    (8, 0.5, 'none')
    """
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def parse_studies(texts: Sequence[str]) -> list[StudyPlan]:
    """Several studies, each once."""
    return list({str(plan): plan for plan in map(StudyPlan.parse, texts)}.values())
