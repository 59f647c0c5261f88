"""CNSS: Chinese news in the same story or not (SST section 4.1). See `news_pairs` for layout and rule."""

from pathlib import Path

from longmatch.lab.datasets.builders import news_pairs
from longmatch.lab.datasets.writer import Summary


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    return news_pairs.build(raw, out, file="same_story_doc_pair.txt")
