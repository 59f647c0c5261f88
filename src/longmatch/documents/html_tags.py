"""What HTML elements are for: which run along in a line, which are no part of the page's text, which show a kind."""

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
    "whole": "html body main article h1 h2 h3 h4 h5 h6",
}
_NAMES = {kind: frozenset(names.split()) for kind, names in _TAGS.items()}
VOID, INLINE, SKIPPED, WHOLE = (_NAMES[kind] for kind in ("void", "inline", "skipped", "whole"))

CLOSES: Mapping[str, frozenset[str]] = {  # an opening tag that ends, unsaid, these elements just before it
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
_SKIPPED_NAMES = re.compile(  # whole names: a section on cookies, or beside a sidebar, is text
    r"[\w-]*(?:cookie|consent|gdpr)[\w-]*(?:banner|bar|notice|popup|modal|overlay|message|dialog|consent)[\w-]*|"
    r"breadcrumbs?|(?:main-?|top-?|site-?)?nav(?:bar|igation)?|sidebar|skip-?(?:link|nav|to-content)|mw-editsection|"
    r"noprint|visually-hidden|sr-only|screen-reader-text|social-(?:links|media|icons|share)|share-(?:buttons|links|bar)|"
    r"newsletter-(?:signup|form|box)|advert(?:isement)?s?|toc|table-of-contents|related-(?:articles|posts|links)",
    re.IGNORECASE,
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NOTES = re.compile(r"footnotes?|endnotes?|doc-footnote|doc-endnotes?", re.IGNORECASE)
_REFERENCES = re.compile(r"references|reflist|bibliography|doc-bibliography|csl-bib-body", re.IGNORECASE)


def is_skipped(tag: str, values: Mapping[str, str]) -> bool:
    """Whether an element is no part of the text: menus, banners, scripts, hidden parts.

    >>> is_skipped("div", {"class": "cookie-banner"}), is_skipped("section", {"id": "cookies"}), is_skipped("nav", {})
    (True, False, True)
    """
    if "hidden" in values or values.get("aria-hidden") == "true" or _HIDDEN_STYLE.search(values.get("style", "")):
        return True
    if tag in WHOLE or _named(_NOTES, values):
        return False
    return (
        tag in SKIPPED
        or _SKIPPED_ROLES.fullmatch(values.get("role", "")) is not None
        or any(_SKIPPED_NAMES.fullmatch(name) for name in [*values.get("class", "").split(), values.get("id", "")])
    )


def kind_of(tag: str, values: Mapping[str, str]) -> Kind | None:
    """The kind of the paragraphs in an element, where the element shows one."""
    if tag == "pre":
        return "code"
    if tag in {"figcaption", "caption"}:
        return "caption"
    if tag in INLINE:
        return None
    if _named(_NOTES, values):
        return "footnote"
    return "reference" if _named(_REFERENCES, values) else None


def _named(names: re.Pattern[str], values: Mapping[str, str]) -> bool:
    given = [*values.get("class", "").split(), values.get("id", ""), *values.get("role", "").split()]
    return any(names.fullmatch(name) for name in given)
