"""Where everything that goes by a name lives: public names, models, recipes, commands.

The one file that knows both the product and the laboratory. It imports nothing itself: an address is opened when its
name is used, and one in the laboratory needs `pip install 'longmatch[lab]'`.
"""

from importlib import import_module
from typing import Any

from longmatch.errors import LongmatchError

PUBLIC = {
    "Document": "longmatch.documents.document:Document",
    "Hit": "longmatch.matching.hits:Hit",
    "Hits": "longmatch.matching.hits:Hits",
    "Library": "longmatch.library.library:Library",
    "LongmatchError": "longmatch.errors:LongmatchError",
    "Match": "longmatch.matching.match:Match",
    "evaluate": "longmatch.lab.evaluation.evaluate:evaluate",
    "load": "longmatch.models.loading:load",
    "rank_text": "longmatch.library.rank_text:rank_text",
    "read": "longmatch.documents.read:read",
    "read_all": "longmatch.documents.read:read_all",
    "train": "longmatch.lab.training.train:train",
}

TORCH_BACKBONE = "longmatch.lab.encoders.backbone:TorchBackbone"  # for GPUs and other architectures

MODELS = {  # a rule over a backbone, or over words alone: nothing has to be trained
    "default": "longmatch.default.matcher:HybridMatcher",
    "sdr": "longmatch.models.sdr.matcher:SdrMatcher",
    "sdr-plain": "longmatch.models.sdr.matcher:plain_matcher",
    "sdr-section": "longmatch.models.sdr.matcher:section_matcher",
    "sdr-paragraph": "longmatch.models.sdr.matcher:paragraph_matcher",
    "sdr-centred": "longmatch.lab.baselines.pooled.centred:CentredSdrMatcher",
    "rprs": "longmatch.lab.baselines.rprs.matcher:RprsMatcher",
    "rprs-frequency": "longmatch.lab.baselines.rprs.matcher:frequency_matcher",
    "first": "longmatch.lab.baselines.pooled.matcher:first_matcher",
    "cls": "longmatch.lab.baselines.pooled.matcher:cls_matcher",
    "mean": "longmatch.lab.baselines.pooled.matcher:mean_matcher",
    "mean-centred": "longmatch.lab.baselines.pooled.centred:CentredMeanMatcher",
    "tfidf": "longmatch.lexical.matcher:tfidf_matcher",
    "phrases": "longmatch.lexical.matcher:phrase_matcher",
    "bm25": "longmatch.lexical.matcher:bm25_matcher",
    "llm": "longmatch.models.llm.matcher:LlmMatcher",  # a language model behind an address: nothing is sent without one
    "lda": "longmatch.lab.baselines.topics.lda_matcher:LdaMatcher",
    "bertopic": "longmatch.lab.baselines.topics.bertopic_matcher:BertopicMatcher",
}

SIAMESE = ("dssm", "arc-i", "han", "smash", "s-long")
TRAINED = {  # trained networks: opened from the folder that training wrote
    "colde": "longmatch.lab.papers.colde.matcher:ColdeMatcher",
    "colde-sections": "longmatch.lab.papers.colde.readouts:SectionMeanMatcher",
    "colde-chunks": "longmatch.lab.papers.colde.readouts:ColdeChunksMatcher",
    "colde-shuffled": "longmatch.lab.papers.colde.readouts:ShuffledSectionsMatcher",
    "colde-undivided": "longmatch.lab.papers.colde.readouts:UndividedMatcher",
    "colde-unprojected": "longmatch.lab.papers.colde.readouts:UnprojectedMatcher",
    "smith": "longmatch.lab.papers.smith.matcher:SmithMatcher",
    "smith-pretrain": "longmatch.lab.papers.smith.matcher:SmithMatcher",
    "cross": "longmatch.lab.baselines.cross.matcher:CrossMatcher",
    "sst": "longmatch.lab.papers.sst.matcher:SstMatcher",
    "sst-dual": "longmatch.lab.papers.sst.matcher:SstMatcher",
    "bert-pli": "longmatch.lab.baselines.pli.matcher:PliMatcher",
    "match-ignition": "longmatch.lab.baselines.filtering.matcher:IgnitionMatcher",
    "opt-match": "longmatch.lab.baselines.filtering.matcher:TransportMatcher",
    "cig": "longmatch.lab.baselines.cig.matcher:CigMatcher",
    "mean": "longmatch.lab.baselines.pooled.chunks:ChunkMeanMatcher",
    **dict.fromkeys(SIAMESE, "longmatch.lab.baselines.siamese.matcher:VectorMatcher"),
}

RECIPES = {  # how `longmatch train` makes them
    "colde": "longmatch.lab.papers.colde.training:ColdeRecipe",
    "sdr": "longmatch.lab.papers.sdr.training:SdrRecipe",
    "smith": "longmatch.lab.papers.smith.training:SmithRecipe",
    "smith-pretrain": "longmatch.lab.papers.smith.pretraining:SmithPretrainRecipe",
    "cross": "longmatch.lab.baselines.cross.training:CrossRecipe",
    "sst": "longmatch.lab.papers.sst.training:SstRecipe",
    "sst-dual": "longmatch.lab.papers.sst.dual_training:DualRecipe",
    "sst-clusters": "longmatch.lab.papers.sst.cluster_training:ClusterRecipe",
    "bert-pli": "longmatch.lab.baselines.pli.training:PliRecipe",
    "match-ignition": "longmatch.lab.baselines.filtering.training:IgnitionRecipe",
    "opt-match": "longmatch.lab.baselines.filtering.training:TransportRecipe",
    "cig": "longmatch.lab.baselines.cig.training:CigRecipe",
    "first": "longmatch.lab.baselines.pooled.training:FirstTokensRecipe",
    "mean": "longmatch.lab.baselines.pooled.training:ChunkMeanRecipe",
    "dssm": "longmatch.lab.baselines.siamese.training:DssmRecipe",
    "arc-i": "longmatch.lab.baselines.siamese.training:ArcRecipe",
    "han": "longmatch.lab.baselines.siamese.training:HanRecipe",
    "smash": "longmatch.lab.baselines.siamese.training:SmashRecipe",
    "s-long": "longmatch.lab.baselines.siamese.training:LongRecipe",
}

COMMANDS = {  # of the command line, those of the laboratory; the product's own are in `cli`
    "train": "longmatch.lab.cli.train:train",
    "evaluate": "longmatch.lab.cli.evaluate:evaluate",
    "data": "longmatch.lab.cli.data:data_app",
}


LIBRARIES_OF_LAB = ("accelerate", "networkx", "sklearn", "threadpoolctl", "torch", "transformers")


def resolve(address: str) -> Any:
    """The object at `package.module:attribute`.

    >>> resolve("longmatch.errors:LongmatchError").__name__
    'LongmatchError'
    """
    module, _, attribute = address.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise lab_is_missing(error) from error


def lab_is_missing(error: ModuleNotFoundError) -> Exception:
    """One sentence where a library of the laboratory is not installed; any other error as it is."""
    missing = (error.name or "").partition(".")[0]
    if missing not in LIBRARIES_OF_LAB:
        return error
    return LongmatchError(
        f"This needs {missing}, which comes with the laboratory. Install it: pip install 'longmatch[lab]'."
    )
