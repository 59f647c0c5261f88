"""Names of result rows that a reader understands, from the names they are stored by.

A stored name is made of a model and the settings that differ from its defaults: `colde dropout=0.1 steps=100`. Settings
of what a model is go into words; those of how long and how fast it was trained are left out unless two rows of a set
would have the same name.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from longmatch.models.registry import models

UNTRAINED = "Sentence vectors, untrained"
ORDER = (  # of the models in tables
    *("default", "phrases", "tfidf", "bm25", "colde", "sdr", "smith", "sst", "sst-dual", "mean", "first", "s-long"),
    *("smash", "han", "dssm", "arc-i", "cross", "bert-pli", "match-ignition", "opt-match", "cig", "rprs", "lda"),
    *("bertopic", "llm"),
)
PACKAGED = {"all-MiniLM-L6-v2": "MiniLM"}  # the backbone that is used where none is named, read from a folder
WORDS = {  # settings that several models have
    "preset=paper": "the paper's settings",
    "backbone=raw-lm": "from raw-lm",
    "backbone=MiniLM": "MiniLM read from a folder",
    "backbone=all-MiniLM-L6-v2": "on MiniLM",
    "readout=fresh": "fresh pooler",
    "readout=mean": "mean of states",
    "swap=True": "either order",
    "first=default": "reranking the default's best",
    "combined=True": "ranks combined",
}
TRAINING = (  # settings of how a model was trained
    *("dropout", "steps", "epochs", "learning_rate", "schedule", "weight_decay", "pairs", "documents", "negatives"),
    *("patience", "head_learning_rate", "reachable", "hard_negatives", "sentences", "opening", "max_tokens"),
    *("score_by", "loss_temperature"),
)
WORDING = {
    "steps": "{} steps",
    "epochs": "{} epochs",
    "documents": "{} documents in a batch",
    "max_tokens": "{} tokens",
    "max_blocks": "{} blocks",
    "sections": "{} sections",
    "sampling": "{} sampling",
    "schedule": "{} schedule",
    "sentences": "{} sentences",
    "combine": "combined by {}",
    "patience": "no early stopping",
    "size": "{} sentences per subtopic",
    "view_range": "the first {} of 40 views",
}


def label_of(model: str) -> str:
    """A model's label, as it is declared; its name where it is not.

    >>> label_of("colde"), label_of("new-model")
    ('CoLDE', 'new-model')
    """
    declared = models().get(model)
    return declared.label if declared else model


FAMILIES = (*map(label_of, ORDER), UNTRAINED)  # in the order of the tables


@dataclass(frozen=True)
class StoredName:
    """A stored name in its parts."""

    model: str
    rule: str  # how its vectors are read, if not by its own
    settings: tuple[str, ...]  # key=value
    trained: bool
    trained_on: str  # the set, if another

    @staticmethod
    def parse(name: str) -> "StoredName":
        """Take a name apart.

        >>> StoredName.parse("mean on trained sdr pairs=8 from wiki")
        StoredName(model='sdr', rule='mean', settings=('pairs=8',), trained=True, trained_on='wiki')
        >>> StoredName.parse("sdr@raw-lm")
        StoredName(model='sdr', rule='sdr', settings=('backbone=raw-lm',), trained=False, trained_on='')
        """
        words = name.split()
        trained_on = words[words.index("from") + 1] if "from" in words else ""
        settings = [word for word in words if "=" in word]
        rule, words = (words[0], words[2:]) if "on" in words else ("", words)
        if rule or words[0] == "trained":
            model = words[1] if words[0] == "trained" else words[0]
            return StoredName(model, rule, tuple(settings), True, trained_on)
        model, _, backbone = words[0].partition("@")
        if backbone:
            settings = [f"backbone={PACKAGED.get(backbone, backbone)}", *settings]
        rule = model if score_label(model) else ""
        return StoredName(model, rule, tuple(settings), not rule, trained_on)

    @property
    def family(self) -> str:
        """The paper or baseline it belongs to.

        >>> [StoredName.parse(name).family for name in ("colde steps=9", "sdr", "trained mean", "new-model")]
        ['CoLDE', 'Sentence vectors, untrained', 'Mean of chunks, trained', 'new-model']
        """
        return label_of(self.model) if self.trained else UNTRAINED

    @property
    def is_ablation(self) -> bool:
        """Whether a part of the method was left out in training, or its vectors are read by another rule.

        >>> names = "colde steps=9", "colde augmented=False", "first on trained sdr"
        >>> [StoredName.parse(name).is_ablation for name in names]
        [False, True, True]
        """
        declared = models().get(self.model)
        left_out = declared.ablations if declared else ()
        return self.trained and (bool(self.rule) or any(setting in left_out for setting in self.settings))

    @property
    def studied(self) -> set[str]:
        """Its settings that a study of its model varies.

        >>> [StoredName.parse(name).studied for name in ("colde sections=3 steps=9", "colde steps=9")]
        [{'sections=3'}, set()]
        """
        declared = models().get(self.model)
        keys = declared.studied if declared else ()
        return {setting for setting in self.settings if setting.partition("=")[0] in keys}

    @property
    def short(self) -> str:
        """Its family, and in words what distinguishes it from the family's plain row, however it was trained."""
        declared, words = models().get(self.model), []
        if self.rule:
            score = score_label(self.rule) or self.rule
            words.append(score.removeprefix("SDR's ") if self.trained else score)
        if self.model == "smith" and not any(s.startswith(("pretrained", "backbone")) for s in self.settings):
            words.append("not pre-trained")
        known, studied = WORDS | (dict(declared.settings) if declared else {}), self.studied
        for setting in self.settings:
            if setting.partition("=")[0] not in TRAINING or setting in studied:
                words.append(known.get(setting, setting_in_words(setting)))
        if self.trained_on:
            words.append(f"trained on {self.trained_on}")
        variant = ", ".join(filter(None, words))
        if self.family == UNTRAINED:
            return f"Sentence vectors: {variant}"
        return f"{self.family}, {variant}" if variant else self.family

    @property
    def training(self) -> dict[str, str]:
        """How it was trained."""
        settings = dict(setting.split("=", 1) for setting in self.settings)
        return {key: value for key, value in settings.items() if key in TRAINING}


def score_label(rule: str) -> str:
    """How vectors become a score by a rule; empty for a model that is not read from vectors."""
    return declared.score_label if (declared := models().get(rule)) else ""


def setting_in_words(setting: str) -> str:
    """A setting for which there is no better word.

    >>> setting_in_words("max_blocks=16"), setting_in_words("epochs=1"), setting_in_words("margin=2")
    ('16 blocks', '1 epoch', 'margin 2')
    """
    key, _, value = setting.partition("=")
    words = WORDING.get(key, key.replace("_", " ") + " {}").format(value)
    return words.removesuffix("s") if value == "1" and key in WORDING else words


def readable_names(stored: Iterable[str]) -> dict[str, str]:
    """The names of a set's rows by those they are stored by; no two are the same.

    >>> readable_names(["colde dropout=0.1 steps=100"])
    {'colde dropout=0.1 steps=100': 'CoLDE'}
    >>> list(readable_names(["sst sampling=hard epochs=3", "sst sampling=hard epochs=5", "sdr@raw-lm"]).values())
    ['SST, hard sampling (3 epochs)', 'SST, hard sampling (5 epochs)', "Sentence vectors: SDR's score, from raw-lm"]
    """
    parts = {name: StoredName.parse(name) for name in stored}
    trainings: dict[str, list[dict[str, str]]] = defaultdict(list)  # of the rows with one short name
    for parsed in parts.values():
        trainings[parsed.short].append(parsed.training)
    names = {}
    for name, parsed in parts.items():
        same, training = trainings[parsed.short], parsed.training
        differing = [key for key in training if any(other.get(key) != training[key] for other in same)]
        words = ", ".join(setting_in_words(f"{key}={training[key]}") for key in differing) or "default training"
        names[name] = f"{parsed.short} ({words})" if len(same) > 1 else parsed.short
    return names
