"""A library keeps the page of every passage; one made before it did is asked and grows."""

from pathlib import Path

from benchmarks.written.formats import PdfWriter

from longmatch.library.library import Library
from longmatch.render.json import to_dict
from tests.library.tiny import made_up_text


def write_pdf(path: Path) -> None:
    writer = PdfWriter()
    writer.paragraph(made_up_text(3, 120), "Times-Roman", 12)
    writer.save(path)


def test_passages_of_hits_name_the_page_their_document_gives(library: Library, texts: Path) -> None:
    write_pdf(texts / "long.pdf")
    library.add(texts)
    document = library.show("long.pdf")
    assert document.page_breaks
    pairs = [pair for hit in library.rank("long.pdf", k=5) for pair in hit.why]
    assert pairs
    for pair in pairs:
        assert to_dict(pair)["a"]["page"] == document.page_at(pair.a.start)
        assert to_dict(pair)["b"]["page"] is None


def test_a_library_made_before_pages_were_kept_is_asked_and_grows(library: Library, texts: Path) -> None:
    write_pdf(texts / "long.pdf")
    library.add(texts)
    library.store.documents.drop_columns(["page_breaks"])
    old = Library(library.address, library.matcher)
    assert len(old.rank("long.pdf", k=3)) == 3
    write_pdf(texts / "new.pdf")
    assert old.add(texts).added == ["new.pdf"]
    assert old.show("new.pdf").page_breaks == () and old.show("new.pdf").page_at(0) == 1
    assert old.rank("new.pdf", k=3)[0].why
