"""The models a comparison may be asked of: a closed list, so that no request opens a folder or an address."""

from collections.abc import Mapping
from pathlib import Path

from longmatch.library.library import Library
from longmatch.matching.matcher import Matcher
from longmatch.models.registry import models, names_of
from longmatch.web.problems import Problem
from longmatch.web.schema import ModelName

DEFAULT = "default"
OFFERED = {name: models()[name].summary for name in names_of("summary")}


class ModelShelf:
    """Opens a model when it is first asked for and keeps it. Used in the scoring thread only."""

    def __init__(self, library: Library, trained: Mapping[str, Path] | None = None) -> None:
        self._library, self._trained = library, dict(trained or {})
        self._open: dict[str, Matcher] = {}

    def names(self) -> list[ModelName]:
        """What may be asked for."""
        offered = OFFERED | dict.fromkeys(self._trained, "A trained model, named when the server was started.")
        return [ModelName(name=name, description=words) for name, words in offered.items()]

    def check(self, name: str) -> None:
        """Refuse a model that is not on the list."""
        if name not in OFFERED and name not in self._trained:
            names = ", ".join([*OFFERED, *self._trained])
            raise Problem(422, f"There is no model {name} here. Ask for one of {names}.")

    def get(self, name: str) -> Matcher:
        """The model of that name; all rules share the library's backbone."""
        self.check(name)
        if name not in self._open:
            from longmatch.models.loading import load

            if name == DEFAULT:
                self._open[name] = self._library.matcher
            elif name in self._trained:
                self._open[name] = load(self._trained[name])
                self._open[name].name = name  # not where it lies
            else:
                self._open[name] = load(name, self._library.matcher.backbone)
        return self._open[name]
