"""SDR's Wikipedia wines: 1,635 articles, 94 queries (SDR section 4.1). Layout and rule: `sdr_articles`."""

from pathlib import Path

from longmatch.lab.datasets.builders import sdr_articles
from longmatch.lab.datasets.writer import Summary


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    return sdr_articles.build(raw, out, name="wines")
