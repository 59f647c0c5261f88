"""The documents of benchmarks/reading.py are read with the outlines they were written from."""

import pytest
from benchmarks.written.documents import written_documents
from benchmarks.written.formats import FORMATS

from longmatch.documents import read


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_heading_is_found_and_nothing_else(tmp_path, suffix):
    for written in written_documents():
        path = tmp_path / f"{written.name}.{suffix}"
        FORMATS[suffix](written, path)
        document = read(path)
        found = [section.heading for section in document.sections if section.heading]
        assert document.title == written.title
        assert [name for name in found if name != document.title] == written.outline, path.name
