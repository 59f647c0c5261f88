"""Open a matcher: by name, from the folder of a trained model, or from the hub."""

import json
import os
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

from longmatch.encoders.pretrained import find_file, hub_folder
from longmatch.errors import LongmatchError
from longmatch.matching.matcher import Matcher
from longmatch.models.registry import MODELS, TRAINED, resolve

if TYPE_CHECKING:
    from longmatch.encoders.backbone import Backbone

STAGES = {"sst-clusters": "Train sst on it: --set clustering=adaptive --set clusters=FOLDER."}  # trained for others
LEXICAL = ("tfidf", "phrases", "bm25")  # the line every evaluation begins with
JUDGE = "llm"  # llm@MODEL names one of the language models behind its address
WITHOUT_BACKBONE = (*LEXICAL, "lda", JUDGE)
FIXED = ("default", *WITHOUT_BACKBONE)  # measured with the packaged backbone, or without any
RECORD = "longmatch.json"  # in the folder of a trained model: which model it is, and what made it


def load(name: str | os.PathLike[str] = "default", backbone: "Backbone | None" = None) -> Matcher:
    """The matcher of that name, one of MODELS; or the trained model in a folder or of a Hugging Face id.

    `sdr@FOLDER` takes the rule `sdr` whatever the folder was trained for, and any backbone's folder or hub id at all. A
    backbone that is open already can be handed over, so that several matchers share it. `llm@MODEL` asks that language
    model.
    """
    name = os.fspath(name)
    rule, _, place = name.partition("@")
    if rule == JUDGE and (place or rule == name):
        matcher: Matcher = resolve(MODELS[rule])(model=place or None)
    elif rule in MODELS and (place or rule == name):
        matcher = _with_backbone(rule, place, backbone)
    elif rule in TRAINED and place:
        matcher = _own(rule, _folder(place))
    else:
        matcher = _trained(name)
    matcher.name = name
    return matcher


def _with_backbone(rule: str, place: str, backbone: "Backbone | None") -> Matcher:
    if place and rule in WITHOUT_BACKBONE:
        raise LongmatchError(f"The model {rule} takes no backbone; default@{place} and sdr@{place} do.")
    if place and backbone is None:
        from longmatch.encoders.backbone import Backbone

        backbone = Backbone.load(place)
    make: Callable[..., Matcher] = resolve(MODELS[rule])
    return make(backbone=backbone) if backbone is not None and "backbone" in signature(make).parameters else make()


def _trained(place: str) -> Matcher:
    """What `longmatch train` made, by what its record says it is."""
    if place in TRAINED:
        raise LongmatchError(
            f"The model {place} is trained first: longmatch train {place} --data DIR --out FOLDER. Then name FOLDER."
        )
    rule = _model_of(place)
    if rule in TRAINED:
        return _own(rule, _folder(place))
    _check_whole(place, rule)
    if rule not in MODELS or rule in FIXED:
        known = ", ".join([*TRAINED, *(name for name in MODELS if name not in FIXED)])
        raise LongmatchError(f"{place}/{RECORD} names the model {rule!r}, which is none of {known}.")
    return _with_backbone(rule, str(_folder(place)), None)


def check_trained(place: str | os.PathLike[str]) -> None:
    """Raise the error that opening the folder of a trained model would, without opening it."""
    _check_whole(os.fspath(place), _model_of(os.fspath(place)))


def _check_whole(place: str, rule: str) -> None:
    if rule in STAGES:
        raise LongmatchError(f"{place} is one stage of a model and matches nothing by itself. {STAGES[rule]}")


def _model_of(place: str) -> str:
    """The model that a folder or hub id is opened as: the rule its record names, else the model that was trained."""
    path = _record(place)
    if path is None and (Path(place) / "training" / "run.json").is_file():
        raise LongmatchError(f"{place} is not trained to the end. Run its command again: it goes on where it stopped.")
    if path is None and (Path(place) / "config.json").is_file():
        raise LongmatchError(
            f"{place} holds a backbone and no {RECORD}, so how to match with it is open. Name a rule: sdr@{place}."
        )
    if path is None:
        names = ", ".join(MODELS)
        hint = f"; a backbone of the hub takes a rule, sdr@{place}" if _may_be_id(place) else ""
        raise LongmatchError(f"There is no model {place}. Name one of {names}, or the folder of a trained model{hint}.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return str(record.get("rule") or record["model"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LongmatchError(f"{path} does not say which model it is. Train it again, or name sdr@{place}.") from error


def _record(place: str) -> Path | None:
    """The record in a folder or among a hub id's files; None where there is none."""
    if not _may_be_id(place):
        path = Path(place) / RECORD
        return path if path.is_file() else None
    return find_file(place, RECORD)


def _may_be_id(place: str) -> bool:
    """Whether a name has the form of a hub id, owner/model, and is no path here: then alone the network is asked."""
    owner, _, model = place.partition("/")
    return bool(owner and model) and "/" not in model and owner[0] not in ".~" and not Path(owner).is_dir()


def _folder(place: str) -> Path:
    """The folder itself, or where a hub id's files are kept."""
    if not _may_be_id(place):
        return Path(place)
    return hub_folder(place, ["*.json", "*.txt", "*.model", "*.safetensors"], ignored=["training/*"])


def _own(model: str, folder: Path) -> Matcher:
    """A model that opens its folder itself."""
    matcher: Matcher = resolve(TRAINED[model]).load(folder)
    return matcher
