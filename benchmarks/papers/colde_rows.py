"""The stored names of CoLDE's rows, by the labels of its tables."""

from collections.abc import Mapping, Sequence

Names = Sequence[str]  # rows that differ in the way their budget was given: their seeds are pooled


def _budget(settings: str, epochs: str = "epochs=1.5 learning_rate=0.0001", rest: str = "") -> Names:
    """A row of CoLDE's tables, its budget given in epochs (acl) or in steps."""
    names = " ".join(f"{settings} dropout=0.1 {epochs} {rest}".split()), f"{settings} dropout=0.1 {rest} steps=100"
    return [names[0], " ".join(names[1].split())]


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
