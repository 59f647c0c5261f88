"""The passages that two documents share."""

from longmatch.lexical.matcher import tfidf_matcher
from longmatch.models.llm.passages import linked_passages


def test_they_are_those_of_tfidfs_alignments_in_their_order(examples):
    matcher, documents = tfidf_matcher(), list(examples.values())[:4]
    first, *rest = matcher.encode(documents)
    for other in rest:
        aligned = matcher.explain(first, other).alignments
        a, b = linked_passages(first, other)
        assert [span.start for span in a] == list(dict.fromkeys(link.a.start for link in aligned))
        assert [span.start for span in b] == list(dict.fromkeys(link.b.start for link in aligned))
