"""What models learn from: documents on a shelf of tokens, and pairs, classes or links between them, by split."""

from longmatch.lab.training.data.data import TrainingData
from longmatch.lab.training.data.labels import PairTable

__all__ = ["PairTable", "TrainingData"]
