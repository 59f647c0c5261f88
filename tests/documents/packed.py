"""Small files of the packed formats, written part by part."""

import io
import zipfile
from collections.abc import Mapping


def zipped(members: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return made.getvalue()


ODF = "urn:oasis:names:tc:opendocument:xmlns"
ODF_NAMES = f'xmlns:office="{ODF}:office:1.0" xmlns:text="{ODF}:text:1.0" xmlns:style="{ODF}:style:1.0" ' + (
    f'xmlns:table="{ODF}:table:1.0" xmlns:draw="{ODF}:drawing:1.0" xmlns:fo="{ODF}:xsl-fo-compatible:1.0" '
    f'xmlns:meta="{ODF}:meta:1.0" xmlns:svg="{ODF}:svg-compatible:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def odt(body: str, styles: str = "", meta: str = "") -> bytes:
    """An OpenDocument text."""
    content = (
        f"<office:document-content {ODF_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    about = f"<office:document-meta {ODF_NAMES}><office:meta>{meta}</office:meta></office:document-meta>"
    kind = "application/vnd.oasis.opendocument.text"
    return zipped({"mimetype": kind, "content.xml": content, "meta.xml": about})


def epub(
    chapters: Mapping[str, str], metadata: str = "", contents: str = "", extra: Mapping[str, str | bytes] | None = None
) -> bytes:
    """An EPUB of some pages, in order; `contents` is the body of its navigation document."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    nav = '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>' if contents else ""
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        f'xmlns:opf="http://www.idpf.org/2007/opf"><metadata>{metadata}</metadata>'
        f"<manifest>{nav}{items}</manifest><spine>{order}</spine></package>"
    )
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    pages = {f"OEBPS/{name}": f"<html><body>{page}</body></html>" for name, page in chapters.items()}
    members = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": package}
    if contents:
        pages["OEBPS/nav.xhtml"] = (
            f'<html xmlns:epub="urn:epub"><body><nav epub:type="toc">{contents}</nav></body></html>'
        )
    return zipped({**members, **pages, **(extra or {})})


def pptx(*slides: str, core: str = "", notes: Mapping[int, str] | None = None) -> bytes:
    """A presentation; each slide is given as its shapes, notes by the number of their slide."""
    names = (
        'xmlns:p="urn:p" xmlns:a="urn:a" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
        'xmlns:mc="urn:mc"'
    )
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts: dict[str, str | bytes] = {}
    listed, related = "", ""
    for number, slide in reversed(list(enumerate(slides, 1))):  # the order of the parts is not that of the slides
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {names}><p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>"
        listed = f'<p:sldId r:id="r{number}" id="{250 + number}"/>' + listed
        related += f'<Relationship Id="r{number}" Type="{kind}/slide" Target="slides/slide{number}.xml"/>'
    for number, text in (notes or {}).items():
        parts[f"ppt/notesSlides/n{number}.xml"] = (
            f"<p:notes {names}>{shape(text, 'body')}{shape('7', 'sldNum')}</p:notes>"
        )
        rel = f'<Relationship Id="n" Type="{kind}/notesSlide" Target="../notesSlides/n{number}.xml"/>'
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = f"<Relationships>{rel}</Relationships>"
    parts["ppt/presentation.xml"] = f"<p:presentation {names}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    parts["ppt/_rels/presentation.xml.rels"] = f"<Relationships>{related}</Relationships>"
    if core:
        parts["docProps/core.xml"] = core_properties(core)
    return zipped(parts)


def shape(text: str, placeholder: str = "") -> str:
    """A shape of a slide; lines are paragraphs."""
    mark = f'<p:ph type="{placeholder}"/>' if placeholder else ""
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f"<p:sp><p:nvSpPr><p:nvPr>{mark}</p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>"


def core_properties(content: str) -> str:
    """docProps/core.xml of an office file."""
    return (
        '<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        f'xmlns:dcterms="http://purl.org/dc/terms/">{content}</cp:coreProperties>'
    )


JATS = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.2 20190208//EN" "JATS.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><journal-meta><journal-title-group><journal-title>Tides
</journal-title></journal-title-group></journal-meta><article-meta>
<article-id pub-id-type="pmid">123</article-id><article-id pub-id-type="doi">10.1000/Tide.7</article-id>
<title-group><article-title>Why <italic>ferries</italic> run late</article-title></title-group>
<contrib-group>
<contrib contrib-type="author"><name><surname>Doe</surname><given-names>Jane</given-names></name></contrib>
<contrib contrib-type="author"><collab>The Harbour Group</collab></contrib>
<contrib contrib-type="editor"><name><surname>Red</surname><given-names>E.</given-names></name></contrib>
</contrib-group>
<pub-date pub-type="ppub"><year>2020</year></pub-date><pub-date pub-type="epub"><year>2019</year></pub-date>
<abstract><p>Ferries wait for&nbsp;water.</p></abstract></article-meta></front>
<body><sec><label>1</label><title>Background</title><p>The tide<xref ref-type="bibr">1</xref> decides.</p>
<sec><title>Numbers</title><p>See below.
<list><list-item><p>Wind.</p></list-item><list-item><p>Rain.</p></list-item></list>
That is all.</p><table-wrap><label>Table 1.</label><caption><title>Delays</title><p>By month.</p></caption>
<table><tr><th>month</th><th>delay</th></tr><tr><td>May</td><td>7 min</td></tr></table>
<table-wrap-foot><p>Rounded.</p></table-wrap-foot></table-wrap>
<fig><label>Figure 1</label><caption><p>A ferry.</p></caption><graphic xlink:href="a.png"/></fig></sec></sec></body>
<back><ack><p>We thank the harbour.</p></ack><ref-list><title>References</title><ref><label>1</label>
<element-citation><name><surname>Roe</surname><given-names>R</given-names></name><year>2001</year></element-citation></ref>
<ref><mixed-citation>Poe P. <source>Boats</source>. 1999.</mixed-citation></ref></ref-list></back></article>"""

MAIL = b"""From: =?utf-8?q?Jane_D=C3=B6e?= <jane@example.org>
To: crew@example.org
Subject: =?utf-8?b?RmVycmllcyBydW4gbGF0ZQ==?=
Date: Tue, 12 Mar 2019 10:00:00 +0100
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

--outer
Content-Type: multipart/alternative; boundary="inner"

--inner
Content-Type: text/html; charset=utf-8

<p>The <b>HTML</b> side.</p>
--inner
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

The tide decides when the ferry to F=F8r sails.

Nobody can help it.
--inner--
--outer
Content-Type: text/plain; name="log.txt"
Content-Disposition: attachment; filename="log.txt"

attached words
--outer--
"""
