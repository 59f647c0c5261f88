"""The stored names of the rows of the papers' tables, by the labels that the tables give them."""

from collections.abc import Mapping, Sequence

Names = Sequence[str]  # rows that differ in the way their budget was given: their seeds are pooled
Rows = Mapping[str, Names]  # by label


def _budget(settings: str, epochs: str = "epochs=1.5 learning_rate=0.0001", rest: str = "") -> Names:
    """A row of CoLDE's tables, its budget given in epochs (acl) or in steps."""
    names = f"{settings} dropout=0.1 {epochs} {rest}", f"{settings} dropout=0.1 {rest} steps=100"
    return [" ".join(name.split()) for name in names]


def colde_rows(backbone: str = "") -> dict[str, Names]:
    """CoLDE, its ablations and siamese baselines, from the packaged backbone or another."""
    of = f" {backbone}".rstrip()
    return {
        "CoLDE": _budget(f"colde{of}"),
        "-Aug": _budget(f"colde augmented=False{of}"),
        "-LSTM": _budget(f"colde{of}", rest="recurrent=False"),
        "-CL": _budget(f"colde{of} contrastive=False", "epochs=0.75 learning_rate=0.0001"),
        "`--preset paper`": [
            f"colde{of} dropout=0.1 epochs=1.5 preset=paper",
            f"colde{of} dropout=0.1 preset=paper steps=100",
        ],
        "mean of chunks, the same loss": _budget(f"trained mean{of}"),
        "first 512 tokens": [f"trained first{of} dropout=0.1 epochs=1.5", f"trained first{of} dropout=0.1 steps=312"],
        "S-LONG": [f"s-long{of} dropout=0.1 learning_rate=0.0001 steps=156"],
        "HAN": [f"han{of} opening=2048 steps=312"],
        "SMASH": [f"smash{of} opening=2048 steps=312"],
        "TF-IDF": ["tfidf"],
    }


def readouts(names: Names) -> dict[str, Names]:
    """One model's document vectors, and its documents read in other ways."""
    ways = {
        "mean of the chunk vectors": "chunks",
        "mean of the section vectors": "sections",
        "shuffled sections": "shuffled",
        "not cut into sections": "undivided",
    }
    return {"CoLDE": names, **{label: [f"colde-{way} on {name}" for name in names] for label, way in ways.items()}}


COLDE = colde_rows()["CoLDE"]  # batches of 100 documents, read whole, in two sections
STUDIES: Mapping[str, Mapping[str, Names]] = {  # the setting varied, and the rows by its value
    "documents in a batch": {
        "50": ["colde documents=50 dropout=0.1 steps=200"],
        "100": COLDE,
        "200": ["colde documents=200 dropout=0.1 steps=50"],
    },
    "tokens read of a document in training": {
        "1,000": ["colde dropout=0.1 max_tokens=1000 steps=100"],
        "4,000": ["colde dropout=0.1 max_tokens=4000 steps=100"],
        "all": COLDE,
    },
    "sections of a document": {
        "2": COLDE,
        "3": ["colde dropout=0.1 sections=3 steps=100"],
        "5": ["colde dropout=0.1 sections=5 steps=100"],
    },
}


def colde_studies() -> dict[str, Names]:
    """CoLDE, and CoLDE trained with other batches, lengths and numbers of sections."""
    points = ((f"{value} {setting}", names) for setting, study in STUDIES.items() for value, names in study.items())
    return {"CoLDE": COLDE, **{label: names for label, names in points if names is not COLDE}}


def sdr_rows() -> dict[str, Names]:
    """SDR from a plain language model: trained, trained on words alone, untrained, and the controls."""
    trained = "trained sdr backbone=raw-lm{} learning_rate=0.0001 pairs=256 preset=paper steps=3000"
    full, words = trained.format(""), trained.format(" contrastive=False")
    return {
        "full method": [f"sdr on {full}"],
        "words only": [f"sdr on {words}"],
        "untrained": ["sdr@raw-lm"],
        "full method, by sections": [full],
        "full method, `first`": [f"first on {full}"],
        "full method, `mean`": [f"mean on {full}"],
        "full method, `sdr-plain`": [f"sdr-plain on {full}"],
        "full method, `sdr-paragraph`": [f"sdr-paragraph on {full}"],
        "words only, by sections": [words],
        "words only, `first`": [f"first on {words}"],
        "words only, `mean`": [f"mean on {words}"],
        "untrained, by sections": ["sdr-section@raw-lm"],
        "untrained, `first`": ["first@raw-lm"],
        "untrained, `mean`": ["mean@raw-lm"],
        "untrained, `sdr-centred`": ["sdr-centred@raw-lm"],
        "untrained, `mean-centred`": ["mean-centred@raw-lm"],
    }


LENGTHS = (2_048, 1_024, 512, 256)  # tokens; from scratch the first is the default
NOT_PRETRAINED = "smith centred=True document_pooling=mean learning_rate=0.0002 steps=416"
FIRST_BLOCK = "smith centred=True learning_rate=0.0002 pretrained=smith-pretrain-wp-sp steps=416"
ON_MINILM = (
    "smith backbone=all-MiniLM-L6-v2 block_pooling=mean centred=True document_pooling=mean head_learning_rate=0.0001"
    " learning_rate=2e-05 max_blocks={} steps=416"
)


def pretrained(name: str = "wp-sp", combine: str = "", changed: str = "") -> Sequence[str]:
    """A row of SMITH from scratch, the mean of its blocks as the document.

    >>> pretrained("wp")
    ['smith centred=True document_pooling=mean learning_rate=0.0002 pretrained=smith-pretrain-wp steps=416']
    """
    settings = f"{combine} document_pooling=mean learning_rate=0.0002 {changed} pretrained=smith-pretrain-{name}"
    return [" ".join(f"smith centred=True {settings} steps=416".split())]


def length_rows() -> Rows:
    """SMITH's figure 4, with HAN and SMASH: how many tokens of a document are read."""
    blocks = {tokens: f"max_blocks={tokens // 32}" for tokens in LENGTHS[1:]}
    return (
        {f"SMITH on MiniLM, {tokens:,}": [ON_MINILM.format(tokens // 128)] for tokens in LENGTHS}
        | {f"SMASH, {tokens:,}": [f"smash opening={tokens} steps=416"] for tokens in LENGTHS}
        | {f"HAN, {tokens:,}": [f"han opening={tokens} steps=416"] for tokens in LENGTHS}
        | {f"SMITH-WP+SP, {tokens:,}": pretrained(changed=blocks.get(tokens, "")) for tokens in LENGTHS}
    )


SMITH_TABLES: Mapping[str, Rows] = {
    "From scratch": {
        "SMITH-WP+SP": pretrained(),
        "SMITH-WP": pretrained("wp"),
        "SMITH-NP": [NOT_PRETRAINED],
        "SMITH-WP+SP, first block": [FIRST_BLOCK],
    },
    "By length of pre-training": {
        "32 epochs": pretrained("32-epochs"),
        "16 epochs": pretrained(),
        "4 epochs": pretrained("4-epochs"),
        "1 epoch": pretrained("1-epochs"),
        "none": [NOT_PRETRAINED],
        "words alone, 32 epochs": pretrained("wp-32-epochs"),
        "words alone, 16 epochs": pretrained("wp"),
    },
    "By layers": {
        "6 layers": pretrained(),
        "4 layers": pretrained("4-layers"),
        "2 layers": pretrained("2-layers"),
    },
    "On MiniLM": {
        "SMITH on MiniLM": [ON_MINILM.format(16)],
        "SMASH": ["smash opening=2048 steps=416"],
        "HAN": ["han opening=2048 steps=416"],
        "SMASH, 312 steps": ["smash opening=2048 steps=312"],
        "HAN, 312 steps": ["han opening=2048 steps=312"],
        "first 512 tokens (MatchBERT), 312 steps": [
            "trained first dropout=0.1 epochs=1.5",
            "trained first dropout=0.1 steps=312",
        ],
        "SMITH-WP+SP": pretrained(),
        "TF-IDF": ["tfidf"],
    },
    "By tokens read": length_rows(),
    "Ways to combine": {
        "normal": pretrained(),
        "sum-concat": pretrained(combine="combine=sum-concat"),
        "mean-concat": pretrained(combine="combine=mean-concat"),
        "mean-concat, normalised parts": pretrained(combine="combine=mean-concat", changed="normalise_parts=True"),
        "attention": pretrained(combine="combine=attention"),
    },
}


SWAPPED = "readout=fresh swap=True"
ADAPTIVE = "clustering=adaptive clusters=sst-clusters"  # trained with DMoN's own loss too
WHOLE = "patience=None"  # no early stopping


def trained(settings: str) -> Names:
    """The same row on acl (6 epochs) and on papers (4)."""
    return [settings.format(f"epochs={epochs}") for epochs in (6, 4)]


def of_sst(clustering: str = "{}", inside: str = "", after: str = "") -> Names:
    """A row of SST: `inside` and `after` are the settings whose names come before and after `sentences` and `swap`."""
    return trained(f"sst {clustering} readout=fresh{inside} sentences=120 swap=True{after}")


def near_rows() -> dict[str, Names]:
    """Models that read both documents together, on near pairs: trained with the documents exchanged at random.

    CIG's score is symmetric, so it needs no exchange. BERT-PLI, which reads three times as much, has half the epochs.
    """
    return {
        "cross-encoder": trained(f"cross {{}} {SWAPPED}"),
        "cross-encoder, mean of states": trained("cross {} readout=mean swap=True"),
        "SST, direct, soft": of_sst(),
        "SST, direct, hard": of_sst(inside=" sampling=hard"),
        "SST, random sentences": of_sst(inside=" sampling=random"),
        "SST, adaptive": [*of_sst(f"{ADAPTIVE} {{}}"), *of_sst(f"{ADAPTIVE}-modularity {{}}")],
        "SST, adaptive, uniform": of_sst(f"{ADAPTIVE} {{}}", " sampling=uniform"),
        "SST, adaptive, attention over views": of_sst(f"attention=True {ADAPTIVE} {{}}"),
        "SST, adaptive, not temporal": of_sst(f"{ADAPTIVE} {{}}", after=" temporal=False"),
        "SST, adaptive, one view": of_sst(f"{ADAPTIVE} {{}}", after=" views=1"),
        "SST, adaptive, negative": of_sst(f"{ADAPTIVE} {{}}", " sampling=negative"),
        "SST's dual encoder": trained("sst-dual {} sentences=120"),
        "Match-Ignition": trained(f"match-ignition {{}} {SWAPPED}"),
        "OPT-Match": trained(f"opt-match {{}} {SWAPPED}"),
        "BERT-PLI": [f"bert-pli epochs={epochs} {SWAPPED}" for epochs in (3, 2)],
        "CIG": trained("cig {}"),
        "CIG, similarities alone": trained("cig {} siamese=False"),
        "TF-IDF": ["tfidf"],
        "phrases": ["phrases"],
        "RPRS": ["rprs", "rprs@all-MiniLM-L6-v2"],
        "default": ["default"],
        "cross-encoder, in order": ["cross epochs=6", "cross epochs=2"],
        "BERT-PLI, in order": trained("bert-pli {}"),
        "SST, in order": ["sst epochs=3 sentences=120", "sst epochs=2 sentences=120"],
    }


def near_studies() -> Mapping[str, Mapping[str, Names]]:
    """Tables of one setting each; the first row is the one that the others are compared with."""

    def by_epochs(epochs: str) -> Mapping[str, Names]:
        return {
            "cross-encoder": [f"cross {epochs}{WHOLE} {SWAPPED}"],
            "SST, adaptive": [f"sst {ADAPTIVE} {epochs}{WHOLE} readout=fresh sentences=120 swap=True"],
        }

    def of_head(rate: str) -> Names:
        return trained(f"cross {{}} head_learning_rate={rate} {SWAPPED}")

    def of_pool(width: int, sampling: str = "") -> Names:
        return [f"sst {ADAPTIVE} {WHOLE} readout=fresh{sampling} sentences=120 swap=True view_range={width}"]

    main = near_rows()
    return {
        "3 epochs": by_epochs("epochs=3 "),
        "10 epochs": by_epochs(""),
        "20 epochs": by_epochs("epochs=20 "),
        "SST after 20 epochs": {
            "SST, 20 epochs": by_epochs("epochs=20 ")["SST, adaptive"],
            "SST, 10 epochs": by_epochs("")["SST, adaptive"],
            "SST, 6 or 4 epochs": main["SST, adaptive"],
            "cross-encoder, 20 epochs": by_epochs("epochs=20 ")["cross-encoder"],
            "cross-encoder, 10 epochs": by_epochs("")["cross-encoder"],
            "cross-encoder, 6 or 4 epochs": main["cross-encoder"],
        },
        "Head of the cross-encoder": {
            "fresh pooler, 20 times the rate": main["cross-encoder"],
            "fresh pooler, the backbone's rate": of_head("5e-05"),
            "fresh pooler, 50 times the rate": of_head("0.0025"),
            "the backbone's own pooler": trained("cross {} swap=True"),
            "mean of states": main["cross-encoder, mean of states"],
        },
        "Losses of the cluster network": {
            "lambda 1, DMoN's loss": main["SST, adaptive"],
            "lambda 0.1, DMoN's loss": of_sst(f"{ADAPTIVE}-lambda-0.1 {{}}"),
            "lambda 10, DMoN's loss": of_sst(f"{ADAPTIVE}-lambda-10 {{}}"),
            "lambda 1": of_sst(f"{ADAPTIVE}-lambda-1-plain {{}}"),
            "lambda 0.1": of_sst(f"{ADAPTIVE}-lambda-0.1-plain {{}}"),
            "lambda 10": of_sst(f"{ADAPTIVE}-lambda-10-plain {{}}"),
        },
        "Sentences of a document (figure 5)": {
            "120": main["SST, direct, soft"],
            **{str(n): trained(f"sst {{}} readout=fresh sentences={n} swap=True") for n in (20, 80, 200)},
        },
        "Sentences of a subtopic (figure 6)": {
            "6": main["SST, direct, soft"],
            **{str(n): trained(f"sst {{}} readout=fresh sentences=120 size={n} swap=True") for n in (3, 12, 24)},
        },
        "Views reordered by likelihood (figure 7)": {
            "as drawn": by_epochs("")["SST, adaptive"],
            **{f"soft, the first {width}": of_pool(width) for width in (10, 20, 40)},
            **{f"uniform, the first {width}": of_pool(width, " sampling=uniform") for width in (10, 20, 40)},
        },
    }
