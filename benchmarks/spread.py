"""Some documents of a data set, spread over all of it."""

from itertools import islice
from pathlib import Path

from longmatch.documents.document import Document
from longmatch.documents.jsonl import numbered_lines, parse_line
from longmatch.lab.datasets.collection import DataFolder


def spread_documents(place: Path, count: int) -> list[Document]:
    """So many documents, or all there are, of a data folder or a JSON Lines file, at even distances."""
    file = DataFolder(place).documents_file if place.is_dir() else place
    every = max(1, sum(1 for _ in numbered_lines(file)) // count)
    chosen = islice(numbered_lines(file), 0, every * count, every)  # the others are not taken apart
    return [document for number, line in chosen if (document := parse_line(line, file, number))]
