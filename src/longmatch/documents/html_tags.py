"""Roles of HTML elements: which are inline, which are skipped, which set the kind of their paragraphs."""

import re
from collections.abc import Mapping

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
