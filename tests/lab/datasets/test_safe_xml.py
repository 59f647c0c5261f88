"""XML from strangers."""

import tracemalloc
from io import BytesIO

import pytest

from longmatch.errors import ReadError
from longmatch.lab.datasets.safe_xml import MAX_DEPTH, iterate_elements, read_xml, text_of

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {c} "{f"&{p};" * 10}">' for p, c in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><x><page>&i;</page></x>"
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x><page>&f;</page></x>'


def elements(xml: str, tag: str | None = "page") -> list[str]:
    return [text_of(element) for element in iterate_elements(BytesIO(xml.encode()), tag, "x.xml")]


@pytest.mark.parametrize("xml", [LAUGHS, OUTSIDE], ids=["billion laughs", "outside file"])
def test_entities_of_the_files_own_are_refused(xml):
    with pytest.raises(ReadError, match=r"x\.xml declares custom entities"):
        elements(xml)


def test_a_quadratic_blow_up_is_refused_too():
    xml = f'<!DOCTYPE x [<!ENTITY a "{"a" * 50_000}">]><x><page>{"&a;" * 10_000}</page></x>'
    with pytest.raises(ReadError, match="declares custom entities"):
        elements(xml)


def test_a_document_type_without_entities_is_read():
    assert elements('<!DOCTYPE x SYSTEM "x.dtd" [ ]><x><page>a &amp; b&nbsp;c</page></x>') == ["a & b c"]


def test_only_the_wanted_elements_are_given():
    assert elements("<x><other><deep>no</deep></other><page>one <b>two</b></page><page/></x>") == ["one two", ""]
    assert elements("<x>all <b>of</b> it</x>", None) == ["all of it"]


@pytest.mark.parametrize("xml", ["<x><page>cut", "<x></y>", "no xml"])
def test_broken_xml_is_said_to_be(xml):
    with pytest.raises(ReadError, match=r"x\.xml is not well-formed XML"):
        elements(xml)


def test_deep_nesting_is_refused():
    with pytest.raises(ReadError, match="nests elements"):
        elements("<page>" * (MAX_DEPTH + 1))


def test_what_is_not_wanted_is_not_held(tmp_path):
    path = tmp_path / "big.xml"
    with path.open("w") as file:
        file.write("<x>" + "<skip>some words</skip>\n" * 200_000 + "<page>kept</page></x>")
    tracemalloc.start()
    with path.open("rb") as stream:
        assert [text_of(e) for e in iterate_elements(stream, "page", path)] == ["kept"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    assert read_xml(path).tag == "x"
