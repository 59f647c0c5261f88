"""A cluster is named by words of content."""

from longmatch.default.statistics import shipped_statistics
from longmatch.documents.read import read_text_string
from longmatch.web.mapping.chart import weightiest

TEXTS = (
    ("Der Mieter zahlt die Miete und die Kosten.", "Die Miete ist von dem Mieter zu zahlen."),
    ("The tenant pays the rent of the house.", "The rent of the house is paid by the tenant."),
)


def test_function_words_of_any_language_name_no_cluster():
    clusters = [[read_text_string(text, text) for text in texts] for texts in TEXTS]
    named = weightiest(clusters, shipped_statistics().terms.words)
    assert "miete" in named[0] and "rent" in named[1]
    assert not {"die", "der", "und", "the", "of", "is"} & {word for words in named for word in words}
