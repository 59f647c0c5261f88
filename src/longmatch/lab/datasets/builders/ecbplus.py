"""news: ECB+, news articles on the same event or on another of the same kind (the CNSE protocol of SST section 4.1).

Reads the corpus as released: `<topic>/<topic>_<n>ecb.xml` and `<topic>/<topic>_<n>ecbplus.xml`, each a Document of
`<token t_id= sentence= number=>` elements. In each topic the ecb files report one event, the ecbplus files another.

Rule: all pairs of a topic, same event 1, other event 0; the split is that of the topic. The first sentence of an
ecbplus file is its URL and is dropped; four sentences make a paragraph; tokens are detokenised.
"""

import re
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from xml.etree.ElementTree import Element

from longmatch.lab.datasets.raw_files import open_raw
from longmatch.lab.datasets.records import Part, RawDocument
from longmatch.lab.datasets.safe_xml import read_xml
from longmatch.lab.datasets.splits import NEWS
from longmatch.lab.datasets.writer import CollectionWriter, Summary

_PARAGRAPH_SENTENCES = 4
_NAME = re.compile(r"([0-9]+)_[0-9]+(ecb(?:plus)?)")


def build(raw: Path, out: Path) -> Summary:
    """Build the set."""
    with open_raw(raw) as files, CollectionWriter(out) as writer:
        topics: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for path in files.require("*_*ecb.xml", "*_*ecbplus.xml"):
            name = _NAME.fullmatch(path.stem)
            if name and writer.add(RawDocument(path.stem, "", (Part("", _text(read_xml(path))),))):
                topics[name[1]].append((path.stem, name[2]))
        for topic, articles in topics.items():
            split = NEWS.of(f"t{topic}")
            for (a, event_a), (b, event_b) in combinations(sorted(articles), 2):
                writer.pair(split, a, b, int(event_a == event_b))
        return writer.finish()


def _text(document: Element) -> str:
    sentences: dict[int, list[str]] = defaultdict(list)
    for token in document.iter("token"):
        sentences[int(token.get("sentence", "0"))].append(token.text or "")
    paragraphs: dict[int, list[str]] = defaultdict(list)
    for number, tokens in sorted(sentences.items()):
        if not (number == 0 and re.match(r"https?\b", tokens[0])):
            paragraphs[number // _PARAGRAPH_SENTENCES].append(detokenise(tokens))
    return "\n\n".join(" ".join(paragraph) for paragraph in paragraphs.values())


def detokenise(tokens: list[str]) -> str:
    """Join tokens into a sentence.

    >>> detokenise(["``", "We", "'re", "here", ",", '"', "said", "Reid", "'s", "rep", "(", "her", "friend", ")", "."])
    '"We\\'re here," said Reid\\'s rep (her friend).'
    """
    words: list[str] = []
    quoted = False
    attached = True  # no space before the next token
    for token in tokens:
        mark = '"' if token in {"``", "''", '"', "“", "”"} else token
        opens = mark in {"(", "[", "$", "£"} or (mark == '"' and not quoted)
        closes = bool(re.fullmatch(r"[.,;:!?%)\]]+|['’](?:s|re|ve|ll|d|m|t)?", mark)) or (mark == '"' and quoted)
        words.append(mark if attached or closes else f" {mark}")
        quoted ^= mark == '"'
        attached = opens
    return "".join(words)
