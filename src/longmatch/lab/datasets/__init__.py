"""Data sets in one common form on disk, and the builders that make it from the public upstream files."""

from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Judgement, Pair, Part, Record
from longmatch.lab.datasets.writer import CollectionWriter, Summary

__all__ = ["CollectionWriter", "DataFolder", "Judgement", "Pair", "Part", "Record", "Summary"]
