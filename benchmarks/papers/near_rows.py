"""The stored names of the rows on near pairs: models that read both documents together, and SST's studies."""

from collections.abc import Mapping

from benchmarks.papers.colde_rows import Names

SWAPPED = "readout=fresh swap=True"
NETWORK = "clustering=adaptive clusters=sst-clusters"  # trained with DMoN's own loss too
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
        "SST, adaptive": [*of_sst(f"{NETWORK} {{}}"), *of_sst(f"{NETWORK}-modularity {{}}")],
        "SST, adaptive, uniform": of_sst(f"{NETWORK} {{}}", " sampling=uniform"),
        "SST, adaptive, attention over views": of_sst(f"attention=True {NETWORK} {{}}"),
        "SST, adaptive, not temporal": of_sst(f"{NETWORK} {{}}", after=" temporal=False"),
        "SST, adaptive, one view": of_sst(f"{NETWORK} {{}}", after=" views=1"),
        "SST, adaptive, negative": of_sst(f"{NETWORK} {{}}", " sampling=negative"),
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
            "SST, adaptive": [f"sst {NETWORK} {epochs}{WHOLE} readout=fresh sentences=120 swap=True"],
        }

    def of_head(rate: str) -> Names:
        return trained(f"cross {{}} head_learning_rate={rate} {SWAPPED}")

    def of_pool(width: int, sampling: str = "") -> Names:
        return [f"sst {NETWORK} {WHOLE} readout=fresh{sampling} sentences=120 swap=True view_range={width}"]

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
            "lambda 0.1, DMoN's loss": of_sst(f"{NETWORK}-lambda-0.1 {{}}"),
            "lambda 10, DMoN's loss": of_sst(f"{NETWORK}-lambda-10 {{}}"),
            "lambda 1": of_sst(f"{NETWORK}-lambda-1-plain {{}}"),
            "lambda 0.1": of_sst(f"{NETWORK}-lambda-0.1-plain {{}}"),
            "lambda 10": of_sst(f"{NETWORK}-lambda-10-plain {{}}"),
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
