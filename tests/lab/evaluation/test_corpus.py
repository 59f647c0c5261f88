"""The documents of a data folder."""

from longmatch.lab.evaluation.corpus import Corpus
from longmatch.parallel import use_processes


def test_documents_read_in_two_processes_are_those_read_in_one(example_corpus: Corpus) -> None:
    alone = example_corpus.documents(example_corpus.ids)
    use_processes(2)
    together = example_corpus.documents(example_corpus.ids)
    use_processes(1)
    assert together == alone
