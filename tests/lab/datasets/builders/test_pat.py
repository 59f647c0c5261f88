"""PAT from USPTO full text."""

import io
import zipfile

import pytest

from longmatch.errors import ReadError
from longmatch.lab.datasets.builders import pat


def cpc(symbol: str, main: bool = False) -> str:
    group, _, subgroup = symbol[4:].partition("/")
    return (
        f"<classification-cpc><cpc-version-indicator><date>20130101</date></cpc-version-indicator>"
        f"<section>{symbol[0]}</section><class>{symbol[1:3]}</class><subclass>{symbol[3]}</subclass>"
        f"<main-group>{group}</main-group><subgroup>{subgroup}</subgroup>"
        f"<symbol-position>{'F' if main else 'L'}</symbol-position></classification-cpc>"
    )


def grant(number: str, *symbols: str) -> str:
    main, *further = symbols
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE us-patent-grant SYSTEM "us-patent-grant-v45-2014-04-03.dtd" [ ]>
<us-patent-grant lang="EN" dtd-version="v4.5 2014-04-03" file="US{number}-20200107.XML" id="us-patent-grant">
<us-bibliographic-data-grant>
<publication-reference>
<document-id><country>US</country><doc-number>{number}</doc-number><kind>B2</kind><date>20200107</date></document-id>
</publication-reference>
<classifications-cpc><main-cpc>{cpc(main, True)}</main-cpc>
<further-cpc>{"".join(map(cpc, further))}</further-cpc></classifications-cpc>
<invention-title id="d2e53">Plough &#x2014; <i>improved</i></invention-title>
<us-references-cited><us-citation><patcit num="00001"><document-id><country>US</country><doc-number>1</doc-number>
</document-id></patcit></us-citation></us-references-cited>
</us-bibliographic-data-grant>
<abstract id="abstract"><p id="p-0001" num="0000">An abstract to leave out.</p></abstract>
<description id="description">
<p id="p-0002" num="0001">First words of {number}.</p>
<?BRFSUM description="Brief Summary" end="lead"?>
<heading id="h-0001" level="1">BACKGROUND</heading>
<p id="p-0003" num="0002">A plough <b>10</b> turns soil.</p>
<p id="p-0004" num="0003">It is old.</p>
</description>
<us-claim-statement>What is claimed is:</us-claim-statement>
<claims id="claims">
<claim id="CLM-00001" num="00001"><claim-text>1. A plough, comprising:
<claim-text>a share.</claim-text></claim-text></claim>
<claim id="CLM-00002" num="00002">
<claim-text>2. The plough of <claim-ref idref="CLM-00001">claim 1</claim-ref>.</claim-text></claim>
</claims>
</us-patent-grant>
"""


PATENTS = [
    ("10000001", "A01B63/008", "A01B3/02", "A01B5/10"),
    ("10000002", "A01B63/008", "A01B3/02"),
    ("10000003", "A01B79/005", "G06F17/30"),
    ("10000004", "H04L9/08"),
]
WEEK = "".join(grant(*patent) for patent in PATENTS[:2]) + "<?xml version='1.0'?>\n<sequence-cwu/>\n"
WEEK += "".join(grant(*patent) for patent in PATENTS[2:])


def zipped(content: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ipg200107.xml", content)
    return packed.getvalue()


@pytest.mark.parametrize("files", [{"ipg200107.xml": WEEK}, {"ipg200107.zip": zipped(WEEK)}], ids=["xml", "zip"])
def test_a_weeks_file_of_many_documents_is_read(built, files):
    data = built(pat.build, files)
    assert data.ids == tuple(f"US{patent[0]}" for patent in PATENTS)
    first = next(data.records())
    assert first.title == "Plough — improved"
    assert [tuple(part) for part in first.parts] == [
        ("Claims", "1. A plough, comprising: a share.\n\n2. The plough of claim 1."),
        ("Description", "First words of 10000001."),
        ("BACKGROUND", "A plough 10 turns soil.\n\nIt is old."),
    ]


def test_patents_match_by_cpc_symbols_and_near_ones_do_not(built):
    data = built(pat.build, {"ipg200107.xml": WEEK})
    assert [(p.source, p.target, p.label) for p in data.pairs()] == [
        ("US10000001", "US10000002", 1),
        ("US10000001", "US10000003", 0),
    ]
    assert "US10000003\tG06F17/30" in (data.path / "cpc.tsv").read_text().splitlines()


def test_labels_of_ones_own_take_the_place_of_cpc(built):
    labels = "source\ttarget\tlabel\nUS10000003\tUS10000004\t1\nUS10000001\tUS10000002\t0\n"
    data = built(pat.build, {"ipg200107.xml": WEEK, "labels.tsv": labels})
    assert {(p.source, p.label) for p in data.pairs()} == {("US10000003", 1), ("US10000001", 0)}
    assert data.qrels() == {"US10000003": {"US10000004": 1}}


def test_a_patent_that_declares_entities_is_refused(lay_out, tmp_path):
    laughs = WEEK.replace("[ ]", '[ <!ENTITY a "ha"><!ENTITY b "&a;&a;"> ]', 1).replace("It is old", "&b;", 1)
    with pytest.raises(ReadError, match="declares custom entities"):
        pat.build(lay_out({"ipg200107.xml": laughs}), tmp_path / "out")
