"""Open a matcher: by name, from the folder of a trained model, or from the hub."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmatch.addresses import resolve
from longmatch.encoders.pretrained import find_file, hub_folder
from longmatch.errors import LongmatchError
from longmatch.matching.matcher import Matcher
from longmatch.models.declaration import Model
from longmatch.models.registry import models, names_of

if TYPE_CHECKING:
    from longmatch.default.meaning import AnyBackbone

RECORD = "longmatch.json"  # in the folder of a trained model: which model it is, and what made it


def load(name: str | os.PathLike[str] = "default", backbone: "AnyBackbone | None" = None) -> Matcher:
    """The declared model of that name; or the trained model in a folder or of a Hugging Face id.

    `sdr@FOLDER` takes the rule `sdr` whatever the folder was trained for, and any backbone's folder or hub id at all. A
    backbone that is open already can be handed over, so that several matchers share it. `llm@MODEL` asks that language
    model.
    """
    name = os.fspath(name)
    declared, at, place = name.partition("@")
    model = models().get(declared)
    if model and model.rule and (place or not at):
        matcher = _by_rule(model, place, backbone)
    elif model and model.network and place:
        matcher = resolve(model.network).load(_folder(place))
    elif model and not at:
        raise LongmatchError(
            f"The model {name} is trained first: longmatch train {name} --data DIR --out FOLDER. Then name FOLDER."
        )
    else:
        model = check_trained(name)
        folder = _folder(name)
        matcher = resolve(model.network).load(folder) if model.network else _by_rule(model, str(folder), None)
    matcher.name, matcher.declared_as = name, model.name
    return matcher


def _by_rule(model: Model, place: str, backbone: "AnyBackbone | None") -> Matcher:
    """A model of which nothing is trained, unless its backbone is."""
    if place and not model.place:
        raise LongmatchError(f"The model {model.name} takes no backbone; default@{place} and sdr@{place} do.")
    options: dict[str, Any] = {}
    if model.place == "backbone" and place and backbone is None:
        from longmatch.default.meaning import load_backbone

        backbone = load_backbone(place)
    if model.place == "backbone" and backbone is not None:
        options["backbone"] = backbone
    elif place:
        options[model.place] = place
    matcher: Matcher = resolve(model.rule)(**options)
    return matcher


def check_trained(place: str | os.PathLike[str]) -> Model:
    """What the folder or hub id of a trained model is opened as: the rule its record names, else what was trained.

    Raises the error that opening it would, without opening it.
    """
    place = os.fspath(place)
    local = Path(place) / RECORD
    path = find_file(place, RECORD) if _may_be_id(place) else local if local.is_file() else None
    if path is None:
        if (Path(place) / "training" / "run.json").is_file():
            raise LongmatchError(
                f"{place} is not trained to the end. Run its command again: it goes on where it stopped."
            )
        if (Path(place) / "config.json").is_file():
            raise LongmatchError(
                f"{place} holds a backbone and no {RECORD}, so how to match with it is open. Name a rule: sdr@{place}."
            )
        names = ", ".join(names_of("rule"))
        hint = f"; a backbone of the hub takes a rule, sdr@{place}" if _may_be_id(place) else ""
        raise LongmatchError(f"There is no model {place}. Name one of {names}, or the folder of a trained model{hint}.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        name = str(record.get("rule") or record["model"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LongmatchError(f"{path} does not say which model it is. Train it again, or name sdr@{place}.") from error
    model = models().get(name)
    if model and model.stage and not model.network:
        raise LongmatchError(f"{place} is one stage of a model and matches nothing by itself. {model.stage}")
    known = {name: each for name, each in models().items() if each.network or (each.rule and each.place == "backbone")}
    if name not in known:
        raise LongmatchError(f"{place}/{RECORD} names the model {name!r}, which is none of {', '.join(known)}.")
    return known[name]


def _may_be_id(place: str) -> bool:
    """Whether a name has the form of a hub id, owner/model, and is no path here: then alone the network is asked."""
    owner, _, model = place.partition("/")
    return bool(owner and model) and "/" not in model and owner[0] not in ".~" and not Path(owner).is_dir()


def _folder(place: str) -> Path:
    """The folder itself, or where a hub id's files are kept."""
    if not _may_be_id(place):
        return Path(place)
    return hub_folder(place, ["*.json", "*.txt", "*.model", "*.safetensors"], ignored=["training/*"])
