"""The scores of the default's best documents by a trained model that reads two documents together."""

from collections.abc import Sequence

import numpy as np
import torch

from longmatch.documents.document import Document
from longmatch.lab.evaluation.measures.query_result import Floats
from longmatch.lab.matchers import TokenPairMatcher
from longmatch.lab.reranking.candidates import CandidateLists
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.tokens import restore_tokens


def pair_scores(matcher: TokenPairMatcher, lists: CandidateLists, tokens: StoredLayer, depth: int) -> Floats:
    """Of the first `depth` candidates of each query; minus infinity for the others: (candidates,)."""
    scores = np.full(len(lists.documents), -np.inf)
    wanted = np.flatnonzero(lists.places < depth)
    pairs = lists.pairs
    for start in range(0, len(wanted), matcher.pairs_per_batch):
        part = wanted[start : start + matcher.pairs_per_batch].tolist()
        scores[part] = _score(matcher, [pairs[candidate] for candidate in part], tokens)
    return scores


@torch.no_grad()
def _score(matcher: TokenPairMatcher, pairs: Sequence[tuple[int, int]], stored: StoredLayer) -> Floats:
    numbers = {number for pair in pairs for number in pair}
    tokens = {n: restore_tokens(stored.document(n), Document(str(n), "", "", ())) for n in numbers}
    return np.asarray(matcher.score_tokens([(tokens[a], tokens[b]) for a, b in pairs], for_ranking=True))
