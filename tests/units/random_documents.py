"""Documents no one would write: markup, many scripts, endless words, no spaces, control characters."""

from hypothesis import strategies as st

from longmatch.documents import Document, Draft
from longmatch.documents.markdown import draft_markdown
from longmatch.documents.text import draft_text

PLAIN = "The bridge is old. It rains! Why? e.g. counter-revolutionary 1,234.5 don't naïve Grüße. … — ½ ﬁ"
OTHER_SCRIPTS = "Ürünler Это правда. 本院认为 銀行。 これは ペンです。 한국어 नमस्ते مرحبا שלום "
MARKS = "[SEP] <s> **bold** `code` [link](http://a.b/c) \\"
FAMILY, FLAG, ACCENTS = "👩\u200d👩\u200d👧", "🏳\ufe0f\u200d🌈", "e\u0301 a\u0323\u0307"
UNSEEN = ["\x00", "\x07", "\u200b", "\ufeff", "\u00ad", "\ufffd"]
LONG = ["x" * 150, "Donaudampfschifffahrt" * 12, "亀" * 90]
WORDS = st.sampled_from([*f"{PLAIN} {OTHER_SCRIPTS} {MARKS} 😀 {FAMILY} {FLAG} {ACCENTS}".split(), *UNSEEN, *LONG])
GAPS = st.sampled_from([" ", " ", " ", "", "  ", "\t", "\u3000", "\u00a0", "\n"])
BREAKS = st.sampled_from(
    ["\n\n", "\n\n# Head\n\n", "\n\n## Sub\n\n", "\n\n1 METHODS\n\n", "\n\n| a | b |\n|---|---|\n| c | d |\n\n"]
)
PARAGRAPHS = st.lists(st.tuples(WORDS | st.text(max_size=8), GAPS), min_size=1, max_size=25).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)
TEXTS = st.lists(st.tuples(PARAGRAPHS, BREAKS), min_size=1, max_size=6).map(
    lambda parts: "".join(paragraph + gap for paragraph, gap in parts)
)
KINDS = st.sampled_from(["text", "text", "text", "caption", "table", "reference"])


@st.composite
def built(draw: st.DrawFn) -> Document:
    """From headings and paragraphs of every kind."""
    draft = Draft()
    for paragraph in draw(st.lists(PARAGRAPHS, min_size=1, max_size=6)):
        if draw(st.booleans()):
            draft.heading("A heading")
        draft.paragraph(paragraph, draw(KINDS))
    return draft.document("built")


DOCUMENTS = built() | TEXTS.map(lambda t: draft_text(t).document("text")) | TEXTS.map(
    lambda t: draft_markdown(t).document("markdown")
)  # fmt: skip
