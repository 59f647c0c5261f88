"""Three documents of the example collection."""

import pytest

from longmatch.documents import Document

NAMES = ("coming-back-slowly.md", "the-stream-that-turned.md", "parish-council-minutes-march.txt")


@pytest.fixture(scope="session")
def three(examples: dict[str, Document]) -> list[Document]:
    return [examples[name] for name in NAMES]
