"""Training data: the tokens of documents, and pairs, classes or links between them, by split."""

from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.data.training_data import TrainingData

__all__ = ["PairTable", "TrainingData"]
