"""What models learn from: documents on a shelf of tokens, and pairs, classes or links between them, by split."""

from longmatch.training.data.data import TrainingData
from longmatch.training.data.labels import PairTable

__all__ = ["PairTable", "TrainingData"]
