"""How well the words of a topic go together: by this the number of topics is chosen."""

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]


def coherence(topics: Floats, texts: sp.csr_array, words: int = 10) -> float:
    """The mean over topics of the mean NPMI of every two of their heaviest words.

    G. Bouma: "Normalized (Pointwise) Mutual Information in Collocation Extraction", GSCL 2009. With p the share of
    texts that hold a word or both,

        NPMI(v, w) = ln(p(v, w) / (p(v) p(w))) / -ln p(v, w)

    which is 1 for words that only occur together, 0 for independent ones (and for two that are in every text), -1 for
    words that never meet. `topics` is (topics, words), `texts` (texts, words).
    """
    held = sp.csc_array(texts > 0).astype(np.float64)
    return float(np.mean([_topic(held[:, np.argsort(-topic, kind="stable")[:words]]) for topic in topics]))


def _topic(held: sp.csc_array) -> float:
    """Of one topic's words: (texts, words)."""
    together: Floats = (held.T @ held).toarray() / held.shape[0]
    single = np.diag(together)
    first, second = np.triu_indices(len(single), 1)
    both, apart = together[first, second], single[first] * single[second]
    if not len(both):
        return 0.0
    npmi = np.full(len(both), -1.0)
    npmi[both == 1] = 0.0
    some = (both > 0) & (both < 1)
    npmi[some] = np.log(both[some] / apart[some]) / -np.log(both[some])
    return float(npmi.mean())
