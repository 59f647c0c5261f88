"""Data sets in one common format on disk, and builders that create it from upstream files."""

from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Judgement, Pair, Part, RawDocument
from longmatch.lab.datasets.writer import CollectionWriter, Summary

__all__ = ["CollectionWriter", "DataFolder", "Judgement", "Pair", "Part", "RawDocument", "Summary"]
