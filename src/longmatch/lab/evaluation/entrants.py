"""Who takes part: models by name, and trained models by the folder they were written to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import DOCUMENT_FILES
from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.defaults import differing
from longmatch.loading import LEXICAL, RECORD
from longmatch.registry import MODELS, TRAINED


@dataclass(frozen=True)
class Trained:
    """What the record in a trained model's folder says of it."""

    model: str
    seed: int
    data: tuple[str, ...]  # the names of the folders it learned from
    settings: Mapping[str, Any]  # those that differ from the model's defaults; neither seed nor paths

    @staticmethod
    def read(folder: Path) -> "Trained":
        """From longmatch.json."""
        path = folder / RECORD
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            model, seed = str(found["model"]), int(found["seed"])
            data = found.get("data", ())
            names = tuple(_set_name(Path(place)) for place in ([data] if isinstance(data, str) else data))
            return Trained(model, seed, names, differing(model, found.get("settings", {})))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LongmatchError(
                f"{path} does not say which model and seed it is of. Train the model again."
            ) from error


@dataclass(frozen=True)
class Study:
    """One value of a setting that a study tries out."""

    name: str  # the same for all values
    key: str
    value: Any


@dataclass(frozen=True)
class Entrant:
    """A model that takes part: what opens it, and what its row is called."""

    word: str  # as `longmatch.load` takes it
    trained: Trained | None = None
    study: Study | None = None

    @staticmethod
    def of(word: str, study: Study | None = None) -> "Entrant":
        """From `tfidf`, `FOLDER` or `rule@FOLDER`."""
        folder = Path(rule_and_place(word)[1])
        if word in MODELS or not (folder / RECORD).is_file():
            return Entrant(word)
        return Entrant(word, Trained.read(folder), study)

    @property
    def seed(self) -> int | None:
        """Of its training."""
        return self.trained.seed if self.trained else None

    def name(self, data: str = "") -> str:
        """What the row is called on a set: model and rule, settings that are not the defaults, data if it is another.

        Models that differ in nothing but the seed have one name. A folder's path is no part of it.

        >>> Entrant("out/a", Trained("colde", 1, ("acl",), {"contrastive": False})).name("acl")
        'colde contrastive=False'
        >>> Entrant("sdr-plain@out/b", Trained("sdr", 2, ("acl",), {})).name("wiki")
        'sdr-plain on trained sdr from acl'
        """
        rule, place = rule_and_place(self.word)
        if self.trained is None:
            elsewhere = rule and place and Path(place).is_dir()
            return f"{rule}@{Path(place).resolve().name}" if elsewhere else self.word
        own = f"trained {self.trained.model}" if self.trained.model in MODELS else self.trained.model
        words = [own if rule in ("", self.trained.model) else f"{rule} on {own}"]
        shown = dict(self.trained.settings) | ({self.study.key: self.study.value} if self.study else {})
        words += [f"{key}={_told(shown[key])}" for key in sorted(shown)]
        learned = "+".join(self.trained.data)
        if learned and data and learned != data.removesuffix(SHUFFLED):
            words.append(f"from {learned}")
        return " ".join(words)


def _set_name(place: Path) -> str:
    """The set's: the name of its folder, though only the documents in it were named."""
    return place.parent.name if place.name in DOCUMENT_FILES and place.parent.name else place.name


def _told(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def rule_and_place(word: str) -> tuple[str, str]:
    """What stands before and behind the @ of `rule@FOLDER`; no rule where a folder stands alone.

    >>> rule_and_place("sdr@out/a"), rule_and_place("out/a@b")
    (('sdr', 'out/a'), ('', 'out/a@b'))
    """
    rule, _, place = word.partition("@")
    return (rule, place) if rule in MODELS or (place and rule in TRAINED) else ("", word)


def told_path(path: Path) -> str:
    """A path below this folder as it was given, any other by its name.

    >>> told_path(Path("out/colde-1")), told_path(Path("/somewhere/else/colde-1"))
    ('out/colde-1', 'colde-1')
    """
    near = not path.is_absolute() and ".." not in path.parts
    return str(path) if near else path.resolve().name


def entrants_of(words: Sequence[str]) -> list[Entrant]:
    """All that are named, after the lexical rows: a model that loses to words should be seen to.

    Two folders of one model, data and seed would be counted as one, and are refused.
    """
    entrants = [Entrant.of(word) for word in dict.fromkeys([*LEXICAL, *words])]
    seen: dict[tuple[str, tuple[str, ...], int], str] = {}
    for entrant in entrants:
        if entrant.trained:
            key = entrant.name(), entrant.trained.data, entrant.trained.seed
            if key in seen:
                raise LongmatchError(
                    f"{seen[key]} and {entrant.word} hold the same model trained with the same seed. Name one of them."
                )
            seen[key] = entrant.word
    return entrants
