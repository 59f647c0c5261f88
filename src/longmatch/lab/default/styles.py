"""The style of each kind of text, from its training documents: what `longmatch.default.kinds` knows kinds by."""

from collections.abc import Sequence

import numpy as np

from longmatch.default.kinds import Floats, Style, by_length, root_frequencies
from longmatch.lexical.frequencies import Frequencies
from longmatch.lexical.terms import Counts, Hashes
from longmatch.ragged import unit_rows

COMMON_WORDS = 100  # of general text
USUAL_LENGTHS = (0.02, 0.98)  # quantiles of the documents' lengths
SHRINKAGE = 0.1  # of the covariance of words towards none
HELD_OUT = 4  # every so many-th document says how far documents deviate that the style was not learnt from
WITHIN = 0.98  # share of a kind's documents that are within its range
APART = 0.97  # share of its random pairs that do not deviate together
PAIRS = 20_000  # of the documents held out


def common_words(general: Frequencies) -> Hashes:
    """The words that most documents of general text have, sorted."""
    order = np.lexsort((general.ids, -general.counts.astype(np.float32)))  # as they are written
    return np.sort(general.ids[order[:COMMON_WORDS]])


def fit_style(words: Hashes, documents: Sequence[Counts]) -> Style:
    """How often documents of one kind, given by their words, have each of `words`."""
    frequencies, totals = root_frequencies(words, documents)
    lengths = np.quantile(np.log(np.maximum(totals, 1.0)), USUAL_LENGTHS)
    held_out = np.arange(len(documents)) % HELD_OUT == 0
    learnt = by_length(totals[~held_out], lengths)
    usual = np.linalg.lstsq(learnt, frequencies[~held_out], rcond=None)[0]
    covariance = np.cov((frequencies[~held_out] - learnt @ usual).T)
    shrunk = (1 - SHRINKAGE) * covariance + SHRINKAGE * np.diag(np.diag(covariance))
    spreads, axes = np.linalg.eigh(shrunk)
    style = Style(lengths, usual, axes / np.sqrt(np.maximum(spreads, 1e-12)), np.zeros(1), np.zeros(1))
    return _with_limits(style, style.deviations(frequencies[held_out], totals[held_out]))


def _with_limits(style: Style, deviations: Floats) -> Style:
    """With the limits that most documents of the kind keep, and most pairs of them."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, len(deviations), (2, PAIRS))
    apart = first != second
    directions = unit_rows(deviations)
    cosines = (directions[first[apart]] * directions[second[apart]]).sum(axis=1)
    limits = np.quantile(np.linalg.norm(deviations, axis=1), [WITHIN]), np.quantile(cosines, [APART])
    return Style(style.lengths, style.usual, style.scaling, *limits)
