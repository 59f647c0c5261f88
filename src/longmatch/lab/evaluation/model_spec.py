"""The models of an evaluation: by name, or by the folder of a trained one."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import set_name
from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.models.loading import RECORD
from longmatch.models.registry import models

RUNTIME_SETTINGS = (  # how a training runs, not what it learns: no part of a model's name
    *("seed", "tokens_at_once", "precision", "validate_every", "validation_pairs", "validation_documents"),
    *("save_every", "keep", "workers", "device", "cache"),
)
LEXICAL = ("tfidf", "phrases", "bm25")  # the line every evaluation begins with
FORM = "Write MODEL:KEY=VALUE,VALUE, for example colde:documents=50,100,200 or colde:sections=2,3,4,5:epochs=1."


@dataclass(frozen=True)
class TrainingRecord:
    """The record in the folder of a trained model."""

    model: str
    seed: int
    data: tuple[str, ...]  # the names of the data folders
    settings: Mapping[str, Any]  # those that differ from the defaults; neither seed nor paths
    rule: str = ""  # by which it is opened, if not by its name

    @staticmethod
    def read(folder: Path) -> "TrainingRecord":
        """From longmatch.json."""
        path = folder / RECORD
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            model, seed = str(record["model"]), int(record["seed"])
            data = record.get("data", ())
            names = tuple(set_name(Path(place)) for place in ([data] if isinstance(data, str) else data))
            changed = changed_settings(model, record.get("settings", {}))
            return TrainingRecord(model, seed, names, changed, str(record.get("rule", "")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LongmatchError(f"{path} does not name its model and seed. Train the model again.") from error


@dataclass(frozen=True)
class StudyPoint:
    """One value of the setting that a study varies."""

    name: str  # of the study, the same for all values
    key: str
    value: Any


@dataclass(frozen=True)
class ModelSpec:
    """A model to evaluate: how to load it, and what its row is called."""

    source: str  # as `longmatch.load` takes it
    training: TrainingRecord | None = None
    study: StudyPoint | None = None

    @staticmethod
    def of(source: str, study: StudyPoint | None = None) -> "ModelSpec":
        """From `tfidf`, `FOLDER` or `rule@FOLDER`."""
        folder = Path(split_rule(source)[1])
        if source in models() or not (folder / RECORD).is_file():
            return ModelSpec(source)
        return ModelSpec(source, TrainingRecord.read(folder), study)

    @property
    def seed(self) -> int | None:
        """Of its training."""
        return self.training.seed if self.training else None

    def name(self, data: str = "") -> str:
        """The row's name on a set: rule and model, settings that differ from the defaults, training data if other.

        Models that differ only in the seed share a name. A folder's path is no part of it.

        >>> ModelSpec("out/a", TrainingRecord("colde", 1, ("acl",), {"contrastive": False})).name("acl")
        'colde contrastive=False'
        >>> ModelSpec("sdr-plain@out/b", TrainingRecord("sdr", 2, ("acl",), {})).name("wiki")
        'sdr-plain on trained sdr from acl'
        >>> ModelSpec("sdr-section@out/c", TrainingRecord("sdr", 1, ("acl",), {}, "sdr-section")).name("acl")
        'trained sdr'
        """
        rule, place = split_rule(self.source)
        if self.training is None:
            is_folder = rule and place and Path(place).is_dir()
            return f"{rule}@{Path(place).resolve().name}" if is_folder else self.source
        model = self.training.model
        declared = models().get(model)
        base = f"trained {model}" if declared and declared.rule else model
        words = [base if rule in ("", self.training.rule or model) else f"{rule} on {base}"]
        settings = dict(self.training.settings) | ({self.study.key: self.study.value} if self.study else {})
        for key, value in sorted(settings.items()):
            words.append(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}")
        trained_on = "+".join(self.training.data)
        if trained_on and data and trained_on != data.removesuffix(SHUFFLED):
            words.append(f"from {trained_on}")
        return " ".join(words)


def resolve_models(sources: Sequence[str]) -> list[ModelSpec]:
    """The lexical baselines, which every evaluation includes, then the models named.

    Two folders of the same model, data and seed would count as one, and are refused.
    """
    specs = [ModelSpec.of(source) for source in dict.fromkeys([*LEXICAL, *sources])]
    seen: dict[tuple[str, tuple[str, ...], int], str] = {}
    for spec in specs:
        if spec.training:
            key = spec.name(), spec.training.data, spec.training.seed
            if key in seen:
                raise LongmatchError(
                    f"{seen[key]} and {spec.source} hold the same model trained with the same seed. Name one of them."
                )
            seen[key] = spec.source
    return specs


def split_rule(source: str) -> tuple[str, str]:
    """Rule and folder of `rule@FOLDER`; no rule for a folder alone.

    >>> split_rule("sdr@out/a"), split_rule("out/a@b")
    (('sdr', 'out/a'), ('', 'out/a@b'))
    """
    rule, _, place = source.partition("@")
    declared = models().get(rule)
    return (rule, place) if declared and (declared.rule or (declared.network and place)) else ("", source)


def portable_path(path: Path) -> str:
    """A path below the working directory as given; of any other only the name.

    >>> portable_path(Path("out/colde-1")), portable_path(Path("/somewhere/else/colde-1"))
    ('out/colde-1', 'colde-1')
    """
    below = not path.is_absolute() and ".." not in path.parts
    return str(path) if below else path.resolve().name


def portable_source(source: str) -> str:
    """A model as it was named, its folder as a portable path."""
    rule, place = split_rule(source)
    shown = portable_path(Path(place)) if Path(place).is_dir() else place
    return f"{rule}@{shown}" if rule and place else rule or shown


def changed_settings(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from a model's defaults, in the order given; of a path its last part.

    A path that ends in the model's own seed loses that too: models that differ in nothing else share a name.

    >>> changed_settings("colde", {"seed": 3, "weight_decay": 0.01, "learning_rate": 0.5, "cache": "tokens"})
    {'learning_rate': 0.5}
    >>> changed_settings("sst", {"seed": 3, "clusters": "out/news/sst-clusters-3"})
    {'clusters': 'sst-clusters'}
    >>> changed_settings("smith", {"tokenizer": "models/all-MiniLM-L6-v2", "pretrained": None})
    {}
    """
    defaults = default_settings(model, settings.get("preset"))
    declared = models().get(model)
    if not (declared and declared.from_scratch) and Path(str(settings.get("backbone"))).name == DEFAULT_NAME:
        settings = {**settings, "backbone": None}  # a copy of the packaged one
    changed = {k: v for k, v in settings.items() if k not in RUNTIME_SETTINGS and defaults.get(k) != v}
    if Path(str(changed.get("tokenizer"))).name == DEFAULT_NAME:
        del changed["tokenizer"]
    seed = f"-{settings.get('seed')}"
    return {key: Path(v).name.removesuffix(seed) if isinstance(v, str) else v for key, v in changed.items()}


@cache
def default_settings(model: str, preset: str | None = None) -> dict[str, Any]:
    """The defaults shared by all models, overridden and extended by those of the model's recipe and of a preset."""
    from longmatch.lab.training.settings import TrainingSettings
    from longmatch.lab.training.train import find_recipe

    shared = _field_defaults(TrainingSettings)
    try:
        recipe = find_recipe(model)
    except LongmatchError:  # a record of another version may name a model that no longer exists
        return shared
    return shared | _field_defaults(recipe.Settings) | {**recipe.defaults, **recipe.presets.get(preset or "", {})}


def _field_defaults(kind: Any) -> dict[str, Any]:
    return {field.name: field.default for field in fields(kind)} if is_dataclass(kind) else {}


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
