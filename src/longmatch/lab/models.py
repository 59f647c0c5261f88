"""The laboratory's models: the systems of the papers and the baselines, each declared once."""

from functools import partial

from longmatch.models.declaration import Model

PAPERS = "longmatch.lab.papers"
BASELINES = "longmatch.lab.baselines"
SCORING = "longmatch.lab.evaluation.scoring"
LabModel = partial(Model, needs="lab")


def _weights(weight: str) -> dict[str, str]:
    """SST's figure 9: lambda, with DMoN's own loss and without."""
    row = f"clusters=sst-clusters-lambda-{weight}"
    return {row: f"lambda {weight}, DMoN's own loss", f"{row}-plain": f"lambda {weight}"}


SST_SETTINGS = {
    "clustering=adaptive": "adaptive clusters",
    "clusters=sst-clusters": "",
    "clusters=sst-clusters-modularity": "DMoN's own loss",
    **_weights("0.1"),
    **_weights("1"),
    **_weights("10"),
    "clusters=sst-clusters-no-agreement": "without agreement loss",
    "clusters=sst-clusters-no-separation": "without separation loss",
    "clusters=sst-clusters-no-losses": "without either loss",
    "attention=True": "with attention",
    "temporal=False": "not temporal",
    "views=1": "one view",
}

COLDE = (
    LabModel(
        name="colde",
        label="CoLDE",
        network=f"{PAPERS}.colde.matcher:ColdeMatcher",
        recipe=f"{PAPERS}.colde.training:ColdeRecipe",
        settings={
            "augmented=False": "without sections",
            "recurrent=False": "without LSTM",
            "contrastive=False": "without contrastive loss",
        },
        ablations=("augmented=False", "recurrent=False", "contrastive=False"),
        studied=("documents", "max_tokens", "sections"),
    ),
    *(
        LabModel(
            name=f"colde-{readout}",
            label=f"CoLDE, {label}",
            network=f"{PAPERS}.colde.matcher:{matcher}",
            score_label=label,
        )
        for readout, matcher, label in (
            ("sections", "SectionMeanMatcher", "mean of section vectors"),
            ("chunks", "ColdeChunksMatcher", "mean of chunk vectors"),
            ("shuffled", "ShuffledSectionsMatcher", "sections shuffled"),
            ("undivided", "UndividedMatcher", "not cut into sections"),
            ("unprojected", "UnprojectedMatcher", "before the projection"),
        )
    ),
)
SMITH = (
    LabModel(
        name="smith",
        label="SMITH",
        network=f"{PAPERS}.smith.matcher:SmithMatcher",
        recipe=f"{PAPERS}.smith.training:SmithRecipe",
        from_scratch=True,
        settings={
            "pretrained=smith-pretrain-wp": "pre-trained on words",
            "pretrained=smith-pretrain-wp-sp": "pre-trained on words and blocks",
            "pretrained=smith-pretrain-2-layers": "pre-trained, 2 layers",
            "pretrained=smith-pretrain-4-layers": "pre-trained, 4 layers",
            "pretrained=smith-pretrain-minilm-sp": "MiniLM, pre-trained on blocks",
            "pretrained=smith-pretrain-minilm-wp-sp": "MiniLM, pre-trained on words and blocks",
            "pretrained=smith-pretrain-1-epochs": "pre-trained for 1 epoch",
            "pretrained=smith-pretrain-4-epochs": "pre-trained for 4 epochs",
            "pretrained=smith-pretrain-32-epochs": "pre-trained for 32 epochs",
            "pretrained=smith-pretrain-wp-32-epochs": "pre-trained on words for 32 epochs",
            "centred=True": "",
            "document_pooling=mean": "mean of blocks",
        },
    ),
    LabModel(
        name="smith-pretrain",
        label="SMITH, pre-trained",
        network=f"{PAPERS}.smith.matcher:SmithMatcher",
        recipe=f"{PAPERS}.smith.pretraining:SmithPretrainRecipe",
        stage="Train smith from it: --set pretrained=FOLDER.",
        from_scratch=True,
    ),
)
SST = (
    *(
        Model(
            name=name,
            label=label,
            network=f"{PAPERS}.sst.matcher:SstMatcher",
            recipe=f"{PAPERS}.sst.{recipe}",
            needs="sst",
            reads_pairs=True,
            settings=SST_SETTINGS,
            ablations=("temporal=False", "views=1"),
            studied=studied,
        )
        for name, label, recipe, studied in (
            ("sst", "SST", "training:SstRecipe", ("size", "view_range", "patience")),
            ("sst-dual", "SST, dual encoder", "training:DualRecipe", ()),
        )
    ),
    LabModel(
        name="sst-clusters",
        label="SST's clusters",
        recipe=f"{PAPERS}.sst.cluster_training:ClusterRecipe",
        stage="Train sst on it: --set clustering=adaptive --set clusters=FOLDER.",
    ),
)
PAIR_NETWORKS = (
    LabModel(
        name="cross",
        label="Cross-encoder",
        network=f"{BASELINES}.cross.matcher:CrossMatcher",
        recipe=f"{BASELINES}.cross.training:CrossRecipe",
        reads_pairs=True,
        settings={"readout=fresh": "fresh pooler", "readout=mean": "mean of states", "swap=True": "either order"},
        studied=("head_learning_rate", "patience"),
    ),
    *(
        LabModel(
            name=name,
            label=label,
            network=f"{BASELINES}.{matcher}",
            recipe=f"{BASELINES}.{recipe}",
            reads_pairs=True,
        )
        for name, label, matcher, recipe in (
            ("bert-pli", "BERT-PLI", "cross.bert_pli:PliMatcher", "cross.bert_pli:PliRecipe"),
            (
                "match-ignition",
                "Match-Ignition",
                "cross.sentence_filters:IgnitionMatcher",
                "cross.sentence_filters:IgnitionRecipe",
            ),
            (
                "opt-match",
                "OPT-Match",
                "cross.sentence_filters:TransportMatcher",
                "cross.sentence_filters:TransportRecipe",
            ),
        )
    ),
    LabModel(
        name="cig",
        label="CIG",
        network=f"{BASELINES}.cig.matcher:CigMatcher",
        recipe=f"{BASELINES}.cig.training:CigRecipe",
        reads_pairs=True,
        settings={"siamese=False": "similarities alone"},
        ablations=("siamese=False",),
    ),
)
SIAMESE = (
    *(
        LabModel(
            name=name,
            label=label,
            network=f"{BASELINES}.siamese.matcher:VectorMatcher",
            recipe=f"{BASELINES}.siamese.training:{recipe}",
        )
        for name, label, recipe in (
            ("dssm", "DSSM", "DssmRecipe"),
            ("arc-i", "ARC-I", "ArcRecipe"),
            ("han", "HAN", "HanRecipe"),
            ("smash", "SMASH", "SmashRecipe"),
            ("s-long", "S-LONG", "LongRecipe"),
        )
    ),
)
POOLED = (
    Model(
        name="mean",
        label="Mean of chunks, trained",
        summary="The mean of the sentence vectors.",
        rule=f"{BASELINES}.pooled.matcher:mean_matcher",
        network=f"{BASELINES}.pooled.training:ChunkMeanMatcher",
        recipe=f"{BASELINES}.pooled.training:ChunkMeanRecipe",
        scorer=f"{SCORING}.sentences:PooledScorer",
        code=("models/sdr",),
        score_label="mean vector",
    ),
    Model(
        name="first",
        label="First 512 tokens, trained",
        rule=f"{BASELINES}.pooled.matcher:first_matcher",
        recipe=f"{BASELINES}.pooled.training:FirstTokensRecipe",
        scorer=f"{SCORING}.sentences:PooledScorer",
        code=("models/sdr",),
        score_label="mean of the first tokens",  # 256 or 512, as many as the backbone reads
        settings={"loss=contrastive": "contrastive loss"},
    ),
    Model(
        name="cls",
        label="CLS vector",
        rule=f"{BASELINES}.pooled.matcher:cls_matcher",
        scorer=f"{SCORING}.sentences:PooledScorer",
        code=("models/sdr",),
        score_label="CLS vector",
    ),
    Model(
        name="mean-centred",
        label="Mean vector, centred",
        rule=f"{BASELINES}.pooled.matcher:CentredMeanMatcher",
        scorer=f"{SCORING}.sentences:CentredMeanScorer",
        code=("models/sdr",),
        score_label="mean vector, centred",
    ),
    Model(
        name="sdr-centred",
        label="SDR's score of centred vectors",
        rule=f"{BASELINES}.pooled.matcher:CentredSdrMatcher",
        scorer=f"{SCORING}.sentences:CentredSdrScorer",
        score_label="SDR's score of centred vectors",
    ),
)
OTHER_RULES = (
    LabModel(
        name="rprs",
        label="RPRS",
        rule=f"{BASELINES}.rprs.matcher:RprsMatcher",
        scorer=f"{SCORING}.sentences:RprsScorer",
    ),
    LabModel(
        name="rprs-frequency",
        label="RPRS with frequencies",
        rule=f"{BASELINES}.rprs.matcher:frequency_matcher",
        scorer=f"{SCORING}.sentences:RprsScorer",
    ),
    LabModel(
        name="lda",
        label="LDA",
        rule=f"{BASELINES}.topics.lda:LdaMatcher",
        place="",
        scorer=f"{SCORING}.lexical:LdaScorer",
        code=("lexical",),
    ),
    LabModel(
        name="bertopic",
        label="BERTopic",
        rule=f"{BASELINES}.topics.bertopic:BertopicMatcher",
    ),
)
MODELS = (*COLDE, *SMITH, *SST, *PAIR_NETWORKS, *SIAMESE, *POOLED, *OTHER_RULES)
