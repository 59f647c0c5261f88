"""All models by name: the product's, declared here; the laboratory's; and those of other packages.

A package adds its own by an entry point of the group `longmatch.models`, which names a `Model` or several. What this
file names in the laboratory is opened when it is used.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from longmatch.addresses import resolve
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.models.declaration import Model

GROUP = "longmatch.models"  # of entry points
LABORATORY = "longmatch.lab.models:MODELS"
SCORING = "longmatch.lab.evaluation.scoring"

PRODUCT = (
    Model(
        name="default",
        label="Default",
        summary="Words, phrases and the meaning of sentences, measured against chance.",
        rule="longmatch.default.matcher:HybridMatcher",
        calibrated=True,
        scorer=f"{SCORING}.default:CorpusScorer",
        code=("lexical", "default/data/calibration.json", "lexical/data/frequencies.safetensors"),
    ),
    Model(
        name="sdr",
        label="SDR",
        summary="Sentences by meaning, paragraph by paragraph (SDR).",
        rule="longmatch.models.sdr.matcher:SdrMatcher",
        recipe="longmatch.lab.papers.sdr.training:SdrRecipe",
        scorer=f"{SCORING}.sentences:SdrScorer",
        score_label="SDR's score",
        settings={
            "contrastive=False": "without contrastive loss",
            "word_weight=0": "without words",
            "masked_pairs=True": "masked pairs",
            "unit=paragraph": "paragraphs",
        },
        ablations=("contrastive=False", "word_weight=0"),
    ),
    *(
        Model(
            name=f"sdr-{variant}",
            label=label,
            rule=f"longmatch.models.sdr.matcher:{variant}_matcher",
            scorer=f"{SCORING}.sentences:SdrScorer",
            score_label=label,
        )
        for variant, label in (
            ("plain", "SDR's score, not normalised"),
            ("section", "SDR's score by sections"),
            ("paragraph", "SDR's score of paragraph vectors"),
        )
    ),
    *(
        Model(
            name=name,
            label=label,
            summary=summary,
            rule=f"longmatch.lexical.matcher:{function}",
            place="",
            scorer=f"{SCORING}.lexical:LexicalScorer",
        )
        for name, label, summary, function in (
            ("tfidf", "TF-IDF", "Shared words, rare ones first (TF-IDF).", "tfidf_matcher"),
            ("phrases", "TF-IDF of phrases", "Shared phrases of two and three words.", "phrase_matcher"),
            ("bm25", "BM25", "Shared words, by BM25.", "bm25_matcher"),
        )
    ),
    Model(  # behind an address that the user gives: nothing is sent without one
        name="llm",
        label="Language model",
        rule="longmatch.models.llm.matcher:LlmMatcher",
        place="model",
        reads_pairs=True,
    ),
)


@cache
def models() -> Mapping[str, Model]:
    """All declared models by their names."""
    known = {model.name: model for model in (*PRODUCT, *resolve(LABORATORY))}
    for model in _of_other_packages():
        if model.name in known:
            warnings.warn(f"There are two models {model.name}; the first one is used.", LongmatchWarning, stacklevel=2)
        known.setdefault(model.name, model)
    return MappingProxyType(known)


def _of_other_packages() -> Iterator[Model]:
    for point in entry_points(group=GROUP):
        try:
            declared: Model | Iterable[Model] = point.load()
            yield from [declared] if isinstance(declared, Model) else declared
        except Exception as error:  # another package's code: the models of all others still open
            place = f"{point.dist.name if point.dist else 'a package'} ({point.value})"
            warnings.warn(f"The models of {place} cannot be read: {error}.", LongmatchWarning, stacklevel=2)


def names_of(kind: str) -> list[str]:
    """The names of the models that have a `rule`, a `network`, a `recipe` or a `summary`."""
    return [model.name for model in models().values() if getattr(model, kind)]


def find_model(name: str) -> Model:
    """The declaration of a model."""
    if name not in models():
        raise LongmatchError(f"There is no model {name}. Name one of {', '.join(models())}.")
    return models()[name]


def declaration_of(matcher: object) -> Model | None:
    """The declaration that a matcher was opened by; for one made by hand, that of its name."""
    return models().get(getattr(matcher, "declared_as", "") or getattr(matcher, "name", ""))
