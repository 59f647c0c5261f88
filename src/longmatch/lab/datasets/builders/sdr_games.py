"""SDR's Wikipedia video games: 21,935 articles, 90 queries (SDR section 4.1). Layout and rule: `sdr_articles`."""

from pathlib import Path

from longmatch.lab.datasets.builders import sdr_articles
from longmatch.lab.datasets.writer import Summary


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    return sdr_articles.build(raw, out, name="video_games")
