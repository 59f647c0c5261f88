"""What models learn from: the tokens of documents, and pairs, classes or links between them, by split."""

from longmatch.lab.training.data.data import TrainingData
from longmatch.lab.training.data.labels import PairTable

__all__ = ["PairTable", "TrainingData"]
