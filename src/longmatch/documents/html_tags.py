"""HTML as tags and text, and the roles of its elements: inline, skipped, or of a kind of paragraph."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import NamedTuple

from longmatch.documents.document import Kind

_TAGS = {
    "void": "area base br col embed hr img input link meta param source track wbr",
    "inline": "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math mfrac mi mn "
    "mo mrow ms msub msup mtext nobr q rb rp rt ruby s samp semantics small span strike strong sub sup time tt u "
    "var wbr",
    "skipped": "annotation aside audio button canvas del dialog footer iframe menu nav noscript object rp rt script "
    "select style svg template textarea video",
    "kept": "html body main article h1 h2 h3 h4 h5 h6",
}
VOID, INLINE, _SKIPPED, _KEPT = (frozenset(_TAGS[name].split()) for name in ("void", "inline", "skipped", "kept"))

CLOSES: Mapping[str, frozenset[str]] = {  # start tag -> elements it closes implicitly
    "li": frozenset({"li"}),
    "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}),
    "tr": frozenset({"tr", "td", "th"}),
    "td": frozenset({"td", "th"}),
    "th": frozenset({"td", "th"}),
    "tbody": frozenset({"thead", "tbody", "tr", "td", "th"}),
    "body": frozenset({"head"}),
}

_SKIPPED_ROLES = re.compile(
    r"navigation|banner|contentinfo|search|complementary|dialog|alertdialog|menu|menubar|doc-toc|doc-pagelist"
)
_SKIPPED_NAMES = re.compile(  # matched in full: a section about cookies is text
    r"(?>[\w-]*?(?:cookie|consent|gdpr))(?>[\w-]*?(?:banner|bar|notice|popup|modal|overlay|message|dialog|consent))[\w-]*|"
    r"breadcrumbs?|(?:main-?|top-?|site-?)?nav(?:bar|igation)?|sidebar|skip-?(?:link|nav|to-content)|mw-editsection|"
    r"noprint|visually-hidden|sr-only|screen-reader-text|social-(?:links|media|icons|share)|share-(?:buttons|links|bar)|"
    r"newsletter-(?:signup|form|box)|advert(?:isement)?s?|toc|table-of-contents|related-(?:articles|posts|links)",
    re.IGNORECASE,
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NOTES = re.compile(r"footnotes?|endnotes?|rearnotes?|doc-footnote|doc-endnotes?", re.IGNORECASE)
_REFERENCES = re.compile(r"references|reflist|bibliography|doc-bibliography|csl-bib-body", re.IGNORECASE)
_MARKUP = re.compile(  # what has no end goes on to that of the page
    r"""<(?:
      !--(?:-?>|.*?(?:--!?>|\Z))                        # a comment
    | (?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)                 # a document type, an instruction, an end tag without a name
    | (?P<end>/?)(?P<name>[a-z][^\t\n\r\f />]*+)
      (?P<attributes>(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>]*+))*+)(?:>|\Z)
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"?|'([^']*+)'?|([^\s>]*+)))?""")
_RAW = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}  # their end tags
_HUGE_REFERENCE = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9a-fA-F]{7,}+);?")  # to no character


def is_skipped(tag: str, values: Mapping[str, str]) -> bool:
    """Whether an element is not part of the text: menus, banners, scripts, hidden elements.

    >>> is_skipped("div", {"class": "cookie-banner"}), is_skipped("section", {"id": "cookies"}), is_skipped("nav", {})
    (True, False, True)
    """
    if "hidden" in values or values.get("aria-hidden") == "true" or _HIDDEN_STYLE.search(values.get("style", "")):
        return True
    if tag in _KEPT or _is_named(_NOTES, values):
        return False
    return (
        tag in _SKIPPED
        or _SKIPPED_ROLES.fullmatch(values.get("role", "")) is not None
        or any(_SKIPPED_NAMES.fullmatch(name) for name in [*values.get("class", "").split(), values.get("id", "")])
    )


def kind_of(tag: str, values: Mapping[str, str]) -> Kind | None:
    """The kind of paragraph an element marks, if any."""
    if tag == "pre":
        return "code"
    if tag in {"figcaption", "caption"}:
        return "caption"
    if tag in INLINE:
        return None
    if _is_named(_NOTES, values):
        return "footnote"
    return "reference" if _is_named(_REFERENCES, values) else None


def _is_named(pattern: re.Pattern[str], values: Mapping[str, str]) -> bool:
    words = " ".join(values.get(name, "") for name in ("class", "role", "epub:type"))
    names = [*words.split(), values.get("id", "")]
    return any(pattern.fullmatch(name) for name in names)


class Tag(NamedTuple):
    """A start or end tag; `is_empty` is one that XHTML closes at once, as `<p/>`."""

    name: str
    attributes: dict[str, str]
    is_end: bool = False
    is_empty: bool = False


def tokens(source: str) -> Iterator[Tag | str]:
    """The tags and the text of a page, with character references resolved; comments and scripts are left out.

    >>> [token if isinstance(token, str) else token[:2] for token in tokens("&amp; <b class=x hidden>b<!-- c -->1 < 2")]
    ['& ', ('b', {'class': 'x', 'hidden': ''}), 'b', '1 <', ' 2']
    """
    position = 0
    while (start := source.find("<", position)) >= 0:
        markup = _MARKUP.match(source, start)
        end = markup.end() if markup else start + 1  # a `<` that begins no tag is text
        if text := source[position : start if markup else end]:
            yield plain(text)
        position = end
        if markup and markup["name"]:
            tag = _tag(markup)
            yield tag
            if tag.name in _RAW and not tag.is_end and not tag.is_empty:
                closing = _RAW[tag.name].search(source, position)
                position = closing.start() if closing else len(source)
    if position < len(source):
        yield plain(source[position:])


def plain(text: str) -> str:
    """The text with its character references resolved.

    >>> plain("&lt;&#x41;&nbsp;&#999999999999;") == "<A\\xa0\\ufffd"
    True
    """
    return unescape(_HUGE_REFERENCE.sub("\ufffd", text)) if "&" in text else text


def _tag(markup: re.Match[str]) -> Tag:
    given, values, end = markup["attributes"], {}, 0
    for attribute in _ATTRIBUTE.finditer(given):
        values[attribute[1].lower()] = plain(attribute[2] or attribute[3] or attribute[4] or "")
        end = attribute.end()
    return Tag(markup["name"].lower(), values, bool(markup["end"]), given.endswith("/") and end < len(given))
