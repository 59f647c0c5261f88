"""Which sentences say what a title says: those that share its rare tokens."""

import numpy as np
import numpy.typing as npt

from longmatch.lab.adapting.learning.material import Ints, Material


def telling_sentences(material: Material, anchors: Ints, chosen: Ints, drawn: Ints, most: int) -> Ints:
    """Of each anchor the sentences that come nearest to a title of the chosen documents, at most so many, best first.

    The first of the chosen are the anchors. For each title but the anchor's own, the best sentence stands for it. Those
    that are `drawn` already (anchors, sentences) are passed over. Places that stay empty hold -1: (anchors, most).
    """
    sentences, titles = material.rare_tokens
    asked = titles[chosen].T.tocsr()
    found = np.full((len(anchors), most), -1, dtype=np.int64)
    for place, anchor in enumerate(anchors.tolist()):
        first, last = material.documents[anchor : anchor + 2]
        shared = (sentences[first:last] @ asked).toarray()  # (sentences of the anchor, chosen)
        shared[:, place] = 0
        shared[drawn[place][drawn[place] >= 0] - first] = 0
        best = highest_rows(shared, most)
        found[place, : len(best)] = best + first
    return found


def highest_rows(values: npt.NDArray[np.float32], most: int) -> Ints:
    """The rows that have the highest value of some column, by that value; those without a value above 0 are left out.

    >>> highest_rows(np.array([[0.1, 0, 0], [0.2, 0.5, 0], [0, 0.4, 0.9]], dtype=np.float32), 2).tolist()
    [2, 1]
    """
    if not values.size:
        return np.empty(0, dtype=np.int64)
    rows, highest = values.argmax(0), values.max(0)
    order = np.argsort(-highest, kind="stable")
    order = order[highest[order] > 0]
    _, earliest = np.unique(rows[order], return_index=True)
    return np.asarray(rows[order[np.sort(earliest)[:most]]], dtype=np.int64)
